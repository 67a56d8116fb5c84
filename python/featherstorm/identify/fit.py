"""Numbers of a model from logs, by simulation: damping, friction, contacts, gains, masses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._names import expect
from .._world.values import with_inputs
from ..operations import difference, integrate
from ..planning import CEM
from ..rollout import Rollout
from .checks import on_one_thread, positive
from .levenberg import Solution, solve
from .logs import Log, LogNoise, Number, Numbers, Segments

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..model import Model
    from ..typing import Doubles as Floats


class Fit(NamedTuple):
    """Numbers that explain a log.

    model       the model with the numbers bound
    values      name -> value
    deviation   name -> standard deviation, from the residuals and the Jacobian; infinite where the log tells nothing
    rank        rank of the Jacobian; below len(values) some numbers, or combinations, cannot be told from this log
    residual    (n,) rms of q, v and readings over all segments, each over its noise or scale
    history     half the sum of squares after each iteration
    iterations  of Levenberg and Marquardt
    steps       simulated control steps
    """

    model: Model
    values: dict[str, float]
    deviation: dict[str, float]
    rank: int
    residual: Floats
    history: list[float]
    iterations: int
    steps: int


@on_one_thread
def fit(
    rollout: Rollout,
    logs: Log | Sequence[Log],
    numbers: Iterable[Number],
    *,
    segment: int = 20,
    stride: int | None = None,
    noise: LogNoise | None = None,
    starts: bool = False,
    population: int = 0,
    generations: int = 5,
    iterations: int = 50,
    step: float = 1e-4,
    tolerance: float = 1e-6,
    robust: bool = False,
    seed: int = 0,
) -> Fit:
    """Find the numbers of a model with which its simulation follows a log.

    The log is cut into segments. Each begins at a logged state and is simulated under the logged controls:

        min over numbers of 1/2 sum over segments and steps |(x_simulated (-) x_logged) / noise|^2

    by Levenberg and Marquardt's method. All segments of all candidates are instances of one rollout in float64: one for
    the Jacobian by differences, and one for several dampings. It works through contacts and for every law.

    in   rollout  a Rollout of the model, whose dt is the time between rows of the log; its `observe` predicts readings;
                  its cost is not used, and its functions get no `p`
    in   logs  a Log, or several
    in   numbers  `Number`s to be found
    in   segment  control steps of a segment; stride: control steps between their beginnings, None: `segment`
    in   noise  LogNoise, the weights; infinite for what is not compared. None: the rms changes over a segment, at least
                a tenth of the largest of q, of v and of the readings
    in   starts  True: the states at the beginnings of segments are found too, as far as `noise` allows; without it
                 noise of these states makes the numbers wrong
    in   robust  True: segments that no numbers explain, such as one with a contact that comes a step too late, lose
         their weight (Cauchy's cost)
    in   population  begin with the best of the cross-entropy method with so many candidates between the bounds, for
                 `generations`; 0: begin with the numbers' start
    in   iterations, tolerance  the most, 0 for the population alone; the relative gain that ends them
    in   step  of differences, as a part of a number's value; of its range, or of 1, where it begins at zero
    out  Fit
    Errors: ValueError for shapes, rows that are not finite, unknown names, a log without a whole segment, infinite
    bounds of a population, a `control` or `observe` that reads `p`, and a start whose simulation is not finite.
    """
    expect(iterations >= 0, "fit: iterations", iterations, "0 or more")
    expect(step > 0, "fit: step", step, "a positive number")
    expect(population == 0 or population >= 2, "fit: population", population, "0, or 2 or more")
    expect(generations >= 1, "fit: generations", generations, "1 or more")
    if starts and noise is None:
        raise ValueError("fit: starts needs a noise, the standard deviations of the logged states")
    numbers = tuple(numbers)
    model = with_inputs(rollout.model, tuple(dict.fromkeys(number.table for number in numbers)))
    chosen = Numbers(model, numbers)
    simulation = Simulated(rollout, model, chosen, Segments.of(rollout, logs, int(segment), stride), noise)
    x = chosen.start
    if population:
        x = best_of_population(simulation, chosen, population, generations, seed)
    S = len(simulation.segments.x0)
    first = np.zeros((S, 2 * model.nv if starts else 0))
    found = solve(
        simulation.residuals, x, chosen.lower, chosen.upper, chosen.scale, first, step=step, iterations=iterations,
        tolerance=tolerance, robust=robust,
    )  # fmt: skip
    rank, spread = deviations(found, chosen, simulation.count)
    final = chosen.values(found.x)
    names = [number.name for number in numbers]
    return Fit(
        model.bind(**chosen.bound(found.x)), dict(zip(names, final.tolist())), dict(zip(names, spread.tolist())),
        rank, simulation.rms(found.x, found.starts), found.history, found.iterations, simulation.steps,
    )  # fmt: skip


def deviations(found: Solution, numbers: Numbers, count: int) -> tuple[int, Floats]:
    """Return the rank of the Jacobian and the standard deviations of the numbers (n,).

        variance (J^T J)^-1,  variance = sum w_s |r_s|^2 / (count sum w_s - n)

    in   count  residuals of a segment, its start excluded
    """
    # J in units of the scales, whose singular values can be compared
    _, values, Vt = np.linalg.svd(found.J * numbers.scale, full_matrices=False)
    known = values > 1e-8 * max(values.max(initial=0), 1e-300)
    squares = float(np.sum(found.weights[:, None] * found.r**2))
    variance = squares / max(count * found.weights.sum() - len(found.x), 1)
    spread = numbers.scale * np.sqrt(variance * np.sum((Vt[known].T / values[known]) ** 2, axis=1))
    spread[(np.abs(Vt[~known]) > 1e-4).any(axis=0)] = np.inf
    # d exp(x) = exp(x) dx
    return int(known.sum()), np.where(numbers.logarithmic, spread * numbers.values(found.x), spread)


class Simulated:
    """Residuals of candidates: all segments of all candidates in one rollout."""

    def __init__(
        self, rollout: Rollout, model: Model, numbers: Numbers, segments: Segments, noise: LogNoise | None
    ) -> None:
        options = {**rollout.options, "control": rollout.control, "observe": rollout.observe}
        # made with the first numbers, which shows whether the step can take them
        made = model.bind(**numbers.bound(numbers.start))
        self.rollout = Rollout(made, rollout.dt, substeps=rollout.substeps, **options)
        self.model, self.numbers, self.segments = model, numbers, segments
        self.steps = 0
        nv, ny = model.nv, segments.readings.shape[2]
        if noise is None:
            scales = [rms(self.minus(segments.q, segments.x0[:, None, : model.nq]))]
            scales.append(rms(segments.v - segments.x0[:, None, model.nq : model.nq + nv]))
            scales.append(rms(segments.readings - segments.readings.mean(axis=(0, 1))))
            most = [max(float(s.max(initial=0)), 1e-12) for s in scales]
            scales = [np.maximum(s, 0.1 * top) for s, top in zip(scales, most)]
        else:
            sizes = zip(LogNoise._fields, noise, (nv, nv, ny))
            scales = [positive(f"fit: noise.{name}", x, n, infinite=True) for name, x, n in sizes]
        self.scales = scales
        self.scale = np.concatenate(scales)
        # residuals of a segment, its start excluded
        self.count = segments.U.shape[1] * int(np.isfinite(self.scale).sum())

    def minus(self, q: Floats, other: Floats) -> Floats:
        """Return q (-) other on the tangent space, over the last axis."""
        if not self.model.quaternions:
            return q - other
        q, other = np.broadcast_arrays(q, other)
        found = difference(self.model, other.reshape(-1, other.shape[-1]), q.reshape(-1, q.shape[-1]), check=False)
        return np.asarray(found).reshape(*q.shape[:-1], self.model.nv)

    def begin(self, D: Floats) -> Floats:
        """Return the states (K, S, nx) at the beginnings of segments, moved by D (K, S, 2 nv) in units of the noise."""
        K, S, m = D.shape
        x0 = np.broadcast_to(self.segments.x0, (K, *self.segments.x0.shape))
        if not m:
            return x0
        nq, nv = self.model.nq, self.model.nv
        x0 = x0.copy()
        size = [np.where(np.isfinite(s), s, 0) for s in self.scales]
        moved = (D[..., :nv] * size[0]).reshape(-1, nv)
        q = integrate(self.model, x0[..., :nq].reshape(-1, nq), moved, 1.0)
        x0[..., :nq] = np.asarray(q).reshape(K, S, nq)
        x0[..., nq : nq + nv] += D[..., nv:] * size[1]
        return x0

    def simulate(self, X: Floats, x0: Floats) -> tuple[Floats, Floats | None]:
        """Return the states (K, S, L, nx) from x0 (K, S, nx), and the readings (K, S, L, ny)."""
        K, S, (L, nu) = len(X), len(self.segments.x0), self.segments.U.shape[1:]
        vars(self.rollout).update(model=self.model.bind(**self.numbers.bound(X, S)))
        U = np.broadcast_to(self.segments.U, (K, S, L, nu)).reshape(K * S, L, nu)
        try:
            result = self.rollout(x0.reshape(K * S, -1), U, states=True)
        except IndexError as error:
            raise ValueError(
                f"fit: control or observe ends in IndexError ({error}), expected functions of x, {nu} controls u, and t "
                "alone: a fit has no p"
            ) from error
        states = np.asarray(result.states).reshape(K, S, L, -1)
        observed = result.observations
        return states, None if observed is None else np.asarray(observed).reshape(K, S, L, -1)

    def errors(self, X: Floats, D: Floats) -> Floats:
        """Return simulated minus logged over the noise (K, S, L, 2 nv + ny)."""
        nq, nv = self.model.nq, self.model.nv
        states, readings = self.simulate(X, self.begin(D))
        self.steps += states[..., 0].size
        parts = [self.minus(states[..., :nq], self.segments.q), states[..., nq : nq + nv] - self.segments.v]
        if readings is not None:
            parts.append(readings - self.segments.readings)
        found: Floats = np.concatenate(parts, axis=-1) / self.scale
        return found

    def residuals(self, X: Floats, D: Floats) -> Floats:
        """Return the residuals (K, S, rows), the moves of the starts among them."""
        with np.errstate(all="ignore"):
            found = self.errors(X, D)
        return np.concatenate([found.reshape(*found.shape[:2], -1), D], axis=2)

    def rms(self, x: Floats, starts: Floats) -> Floats:
        return rms(self.errors(x[None], starts[None])[0])


def rms(x: Floats) -> Floats:
    """Return the rms over all axes but the last."""
    found: Floats = np.sqrt(np.mean(x.reshape(-1, x.shape[-1]) ** 2, axis=0)) if x.size else np.zeros(x.shape[-1])
    return found


def best_of_population(simulation: Simulated, numbers: Numbers, population: int, generations: int, seed: int) -> Floats:
    """Return coordinates of low cost, by the cross-entropy method between the bounds."""
    lower, upper = numbers.lower, numbers.upper
    if not (np.isfinite(lower) & np.isfinite(upper)).all():
        raise ValueError("fit: a population needs numbers with finite bounds")
    S = len(simulation.segments.x0)

    def cost(_: Floats, U: Floats) -> Floats:
        X = lower + (upper - lower) * U[:, 0].astype(float)
        r = simulation.residuals(X, np.zeros((len(X), S, 0)))
        found: Floats = np.sum(np.where(np.isfinite(r), np.minimum(r**2, 1e12), 1e12), axis=(1, 2))
        return found

    n = len(lower)
    planner = CEM(
        cost, 1, n, samples=population, elites=max(2, population // 8), iterations=generations, sigma=0.3,
        lower=0.0, upper=1.0, seed=seed, dtype="float64",
    )  # fmt: skip
    planner.reset(((numbers.start - lower) / (upper - lower))[None])
    found: Floats = lower + (upper - lower) * np.asarray(planner.plan(np.zeros(1)), float)[0]
    return found
