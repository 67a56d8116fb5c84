"""Logs of robots: velocities and accelerations of logged positions, without delay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..operations import difference
from .checks import expect

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..model import Model
    from .parameters import Floats


class Motion(NamedTuple):
    """A motion with its derivatives: q (B, nq), v (B, nv), a (B, nv), tau (B, nv) or None, and the rows of the log."""

    q: Floats
    v: Floats
    a: Floats
    tau: Any
    rows: npt.NDArray[np.int64]


def low_pass(x: npt.ArrayLike, dt: float, cutoff: float, order: int = 4) -> Floats:
    """Return signals (T, n) without what is above a frequency, and without delay.

        amplitude at f times 1 / (1 + (f / cutoff)^(2 order))

    This is a Butterworth filter that runs forward and backward: the phase is zero, the amplitude at the cutoff halved.
    It is applied to the Fourier transform of the signal, continued at both ends by its mirror image about the end.

    in   x (T, n), dt [s] between rows, cutoff [Hz]
    Errors: ValueError for shapes, numbers that are not finite, a dt or order that is not positive, a cutoff that is not
    between 0 and half the sampling rate, and a log shorter than 1 / cutoff.
    """
    x = np.asarray(x, float)
    expect(0 < dt < np.inf, "low_pass: dt", dt, "a positive finite number")
    expect(order >= 1, "low_pass: order", order, "1 or more")
    if not 0 < cutoff < 0.5 / dt:
        raise ValueError(f"low_pass: cutoff is {cutoff} Hz, expected more than 0, less than {0.5 / dt:g} Hz")
    if x.ndim != 2 or not np.isfinite(x).all():
        raise ValueError(f"low_pass: x has shape {x.shape}, expected finite numbers (T, n)")
    if len(x) <= 1 / (cutoff * dt):
        raise ValueError(f"low_pass: the log has {len(x)} rows, expected more than {1 / (cutoff * dt):.0f}")
    ends = len(x) - 1
    longer = np.concatenate([2 * x[:1] - x[ends:0:-1], x, 2 * x[-1:] - x[-2 : -ends - 2 : -1]])
    frequency = np.fft.rfftfreq(len(longer), dt)
    gain = 1 / (1 + (frequency / cutoff) ** (2 * order))
    # the line between the ends stays as it is, so that the transform's period has no jump
    line = longer[:1] + (longer[-1:] - longer[:1]) * np.linspace(0, 1, len(longer))[:, None]
    smooth = line + np.fft.irfft(np.fft.rfft(longer - line, axis=0) * gain[:, None], len(longer), axis=0)
    found: Floats = smooth[ends : ends + len(x)]
    return found


def differentiate(
    model: Model, q: npt.ArrayLike, dt: float, *, tau: npt.ArrayLike | None = None, cutoff: float | None = None
) -> Motion:
    """Return velocities and accelerations of logged positions by central differences.

        v_k = (q_k+1 (-) q_k-1) / (2 dt),  a_k = (d_k+1/2 - d_k-1/2) / dt,  d_k+1/2 = (q_k+1 (-) q_k) / dt

    With a cutoff q and tau pass `low_pass` first, both through the same filter: the regressor is then that of the
    filtered motion, and forces above the cutoff are in neither side. Choose it above the motion's highest frequency,
    five to ten times as high, and far below half the sampling rate. A few periods of the cutoff at each end are best
    left out: the filter does not know what was before. Quaternions are filtered by components and normalised.

    in   q (T, nq), dt [s] between rows, tau (T, nv) [N m | N], cutoff [Hz]; None: no filter
    out  Motion of the rows 1 to T - 2
    Source: Gautier 1997; Swevers, Verdonck and De Schutter 2007.
    Errors: ValueError for shapes, dt and the cutoff.
    """
    expect(0 < dt < np.inf, "differentiate: dt", dt, "a positive finite number")
    q = np.asarray(q, float)
    if q.ndim != 2 or q.shape[1] != model.nq or len(q) < 3:
        raise ValueError(f"differentiate: q has shape {q.shape}, expected (T, {model.nq}) with three rows or more")
    bad = ~np.isfinite(q).all(axis=1)
    if bad.any():
        raise ValueError(f"differentiate: {bad.sum()} rows of q are not finite, first row {np.flatnonzero(bad)[0]}")
    if tau is not None:
        tau = np.asarray(tau, float)
        if tau.shape != (len(q), model.nv):
            raise ValueError(f"differentiate: tau has shape {tau.shape}, expected {(len(q), model.nv)}")
    if cutoff is not None:
        q = continuous(model, q)
        q = low_pass(q, dt, cutoff)
        for _, c in model.quaternions:
            q[:, c : c + 4] /= np.linalg.norm(q[:, c : c + 4], axis=1, keepdims=True)
        tau = tau if tau is None else low_pass(tau, dt, cutoff)
    v = np.asarray(difference(model, q[:-2], q[2:])) / (2 * dt)
    half = np.asarray(difference(model, q[:-1], q[1:])) / dt
    rows = np.arange(1, len(q) - 1)
    return Motion(q[1:-1], v, (half[1:] - half[:-1]) / dt, tau if tau is None else tau[1:-1], rows)


def continuous(model: Model, q: Floats) -> Floats:
    """Return positions (T, nq) whose quaternions do not change sign from row to row."""
    q = q.copy()
    for _, c in model.quaternions:
        quaternion = q[:, c : c + 4]
        turns = np.sum(quaternion[1:] * quaternion[:-1], axis=1) < 0
        quaternion[1:][np.cumsum(turns) % 2 == 1] *= -1
    return q
