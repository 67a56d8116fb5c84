"""Exciting motions for identification: Fourier series with a low condition number of the base regressor."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._names import expect
from ..planning import CEM
from .base import Columns, base_parameters, chosen, regressor
from .checks import on_one_thread, positive

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    from typing_extensions import Unpack

    from ..model import Model
    from ..typing import Doubles as Floats

FINER = 4  # limits are checked at so many times between two that are evaluated
PENALTY = 1e3  # of a motion that is not allowed, on the logarithm of the condition number


class Excitation(NamedTuple):
    """A periodic motion, a Fourier series.

        q(t) = centre + sum_l sine_l / (w l) sin(w l t) - cosine_l / (w l) cos(w l t),  w = 2 pi / period

    centre (nv,), sine and cosine (harmonics, nv) [rad/s | m/s], period [s]
    condition   of the base regressor over one period, columns scaled to length 1
    """

    centre: Floats
    sine: Floats
    cosine: Floats
    period: float
    condition: float

    def __call__(self, t: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Return q, v, a, (B, nv) each, at times (B,) [s]."""
        return series(self.centre, self.sine, self.cosine, self.period, np.asarray(t, float))


def series(centre: Floats, sine: Floats, cosine: Floats, period: float, t: Floats) -> tuple[Floats, Floats, Floats]:
    """Return q, v, a (..., T, nv) of coefficients (..., harmonics, nv) at times (T,)."""
    w = 2 * np.pi / period * np.arange(1, sine.shape[-2] + 1)
    s, c = np.sin(t[:, None] * w), np.cos(t[:, None] * w)
    q = centre[..., None, :] + (s / w) @ sine - (c / w) @ cosine
    return q, c @ sine + s @ cosine, -(s * w) @ sine + (c * w) @ cosine


class Limits(NamedTuple):
    """Limits of coordinates, (nv,) each: |q - centre| <= room, |v| <= fastest, |a| <= strongest."""

    centre: Floats
    room: Floats
    fastest: Floats
    strongest: Floats

    def motions(self, x: Floats, period: float, t: Floats) -> tuple[Floats, ...]:
        """Return motions within the limits.

        in   x (K, 2 harmonics + 1, nv)  sines, cosines and middle of each candidate, in units of the limits
        in   period [s]; t (T,) [s] times at which the limits are checked
        out  centre (K, nv), sine and cosine (K, harmonics, nv); q, v, a (K, T / FINER, nv) at each FINER-th time
        """
        H, speeds = len(x[0]) // 2, x * self.fastest
        q, v, a = series(np.zeros_like(x[:, 0]), speeds[:, :H], speeds[:, H : 2 * H], period, t)
        # the middle of each joint's range of motion is within the room that the motion leaves
        reach = (q.max(axis=1) - q.min(axis=1)) / 2
        excess = [reach / self.room, np.abs(v).max(axis=1) / self.fastest, np.abs(a).max(axis=1) / self.strongest]
        scale = 1 / np.maximum(np.max(excess, axis=0), 1)
        shift = np.clip(x[:, 2 * H], -1, 1) * (self.room - reach * scale)
        middle, scaled = self.centre + shift - scale * (q.max(axis=1) + q.min(axis=1)) / 2, scale[:, None]
        few = np.s_[:, ::FINER]
        return (
            middle, speeds[:, :H] * scaled, speeds[:, H : 2 * H] * scaled,
            middle[:, None] + q[few] * scaled, v[few] * scaled, a[few] * scaled,
        )  # fmt: skip


@on_one_thread
def exciting(
    model: Model,
    *,
    period: float = 10.0,
    harmonics: int = 5,
    max_velocity: npt.ArrayLike | None = None,
    max_acceleration: npt.ArrayLike | None = None,
    margin: float = 0.05,
    allowed: Callable[[Floats], npt.NDArray[np.bool_]] | None = None,
    samples: int = 64,
    iterations: int = 15,
    points: int = 100,
    seed: int = 0,
    **columns: Unpack[Columns],
) -> Excitation:
    """Search a periodic motion within the limits of the joints that makes the base regressor well conditioned.

    The cross-entropy method over the coefficients; the regressors of all candidates of an iteration are one batch. Each
    joint's series is shrunk until it keeps the limits of its position, velocity and acceleration, so every candidate is
    within them.

    in   period [s], harmonics   slowest frequency 1 / period, highest harmonics / period
    in   max_velocity, max_acceleration (nv,) or numbers [rad/s, rad/s^2 | m/s, m/s^2]; None: the model's velocity
         limits, 2 where it has none; accelerations without limit
    in   margin  part of each position range that is left free at both ends; +-pi and +-1 m without limits
    in   allowed(q)  (N, nq) -> (N,) of bool: positions that may be passed, for instance without a collision
    in   samples, iterations, points  candidates of an iteration, iterations, times of a period that are evaluated
    in   columns  armature, viscous, coulomb, offset of `regressor`
    out  Excitation: call it with times for q, v, a
    Source: Swevers et al. 1997.
    Errors: ValueError for a model with quaternions, for arguments out of range, and where the best motion found passes
    positions that are not allowed.
    """
    if model.quaternions:
        raise ValueError(f"exciting: {model.name} has {model.quaternions[0][0]}, expected joints of one freedom")
    expect(0 < period < np.inf, "exciting: period", period, "a positive finite number")
    expect(0 <= margin < 0.5, "exciting: margin", margin, "0 or more, less than 0.5")
    for name, count in {"harmonics": harmonics, "iterations": iterations, "points": points}.items():
        expect(count >= 1, f"exciting: {name}", count, "1 or more")
    expect(samples >= 2, "exciting: samples", samples, "2 or more")
    nv, H = model.nv, int(harmonics)
    chosen("exciting", columns)
    low, high = ranges(model)
    own = np.where(np.isfinite(model.max_velocity) & (model.max_velocity > 0), model.max_velocity, 2.0)
    fastest = positive("exciting: max_velocity", own if max_velocity is None else max_velocity, nv)
    unlimited = np.inf if max_acceleration is None else max_acceleration
    strongest = positive("exciting: max_acceleration", unlimited, nv, infinite=True)
    limits = Limits((low + high) / 2, (high - low) * (0.5 - margin), fastest, strongest)
    independent = base_parameters(model, **columns).independent
    t = np.arange(FINER * points) * period / (FINER * points)

    def cost(_: Floats, U: Floats) -> Floats:
        K = len(U)
        _, _, _, q, v, a = limits.motions(U.reshape(K, 2 * H + 1, nv).astype(float), period, t)
        Y = regressor(model, q.reshape(-1, nv), v.reshape(-1, nv), a.reshape(-1, nv), **columns)
        W = Y[..., independent].reshape(K, -1, len(independent))
        W = W / np.maximum(np.linalg.norm(W, axis=1, keepdims=True), 1e-300)
        values = np.linalg.eigvalsh(np.swapaxes(W, 1, 2) @ W)
        found: Floats = 0.5 * np.log(values[:, -1] / np.maximum(values[:, 0], 1e-20))
        if allowed is not None:
            found += PENALTY * (1 - np.asarray(allowed(q.reshape(-1, nv)), bool).reshape(K, -1).mean(axis=1))
        return found

    n = (2 * H + 1) * nv
    planner = CEM(
        cost, 1, n, samples=samples, elites=max(2, samples // 8), iterations=iterations, sigma=0.4, sigma_min=0.02,
        seed=seed, dtype="float64",
    )  # fmt: skip
    planner.reset(np.random.default_rng(seed).normal(0, 0.3, (1, n)))
    best = planner.plan(np.zeros(1))[None]
    middle, sine, cosine, q, *_ = limits.motions(best.reshape(1, 2 * H + 1, nv).astype(float), period, t)
    if allowed is not None and not np.all(allowed(q[0])):
        raise ValueError(
            "exciting: the best motion found passes positions that are not allowed; give more samples or iterations"
        )
    return Excitation(middle[0], sine[0], cosine[0], float(period), float(np.exp(cost(best, best)[0])))


def ranges(model: Model) -> tuple[Floats, Floats]:
    """Return the ranges of coordinates, +-pi and +-1 m without limits."""
    lengths = [k for body in model.bodies for k in range(*body["lengths"])]
    wide = np.where(np.isin(model.dof_q, lengths), 1.0, np.pi)
    low = np.where(np.isfinite(model.lower), model.lower, -wide)
    return low, np.where(np.isfinite(model.upper), model.upper, wide)
