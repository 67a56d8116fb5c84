"""Planning by sampling: predictive sampling, MPPI and the cross-entropy method, in receding horizon.

    roll = fs.Rollout(model, dt=0.02, cost=cost, control=control)
    planner = MPPI(roll, horizon=40, nu=1, sigma=2.0, temperature=0.1, lower=-5, upper=5)
    u = planner.command(x, p=target, t0=time)          # (nu,), the control until the next call

A planner needs only the function `rollout(x0, U, **given)` with x0 (nx,) and U (samples, horizon, nu). The function
returns costs (samples,), or an object with such `costs`: a featherstorm.Rollout or a function of yours.

A featherstorm.Rollout (or any function with a true `takes_noise`) receives featherstorm.Noise instead of U. It draws
the noise during the rollout, and returns U as the result's `controls`. It simulates the contacts, loops or couplings of
its model, and the world of a model file: MPPI(fs.Rollout(fs.load("scene.xml"), cost=cost), 40) plans controls of the
file's actuators, within their ranges.

Where x is on a device, the samples, noise, costs, sums over them (horizon/samples.py), and the control are there too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._horizon.samples import Samples
from ._memory.arguments import place_of
from ._memory.arrays import shape_error
from .noise import Noise, interpolation_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ._memory.library import Library
    from .typing import Array, Vector


class Planner:
    """Base of the planners: a plan U (horizon, nu), samples about it, and the shift from one call to the next.

    rollout        see the module
    horizon, nu    control steps of a plan, controls of a step; nu None: the number of actuators, for a rollout of a
                   model file's world
    samples        control sequences of an iteration; the first is the plan itself
    sigma          standard deviation of the noise, a number or (nu,)
    lower, upper   bounds of the controls, numbers or (nu,); None: the ranges of the file's actuators where U are their
                   controls, else none
    iterations     improvements of the plan in a call
    knots          the noise is drawn at this many equidistant times and interpolated; None: at each step
    interpolation  "linear", "cubic" or "hold", see featherstorm.noise.interpolation_weights
    seed           the same calls give the same plans, for any number of threads
    dtype          of U and x0
    """

    kind: str  # the update (host/rollout/plan_updater.h)
    sigma_min: npt.NDArray[np.float64]

    def __init__(
        self,
        rollout: Callable[..., Any],
        horizon: int,
        nu: int | None = None,
        *,
        samples: int = 1024,
        sigma: float | Vector = 1.0,
        lower: float | Vector | None = None,
        upper: float | Vector | None = None,
        iterations: int = 1,
        knots: int | None = None,
        interpolation: str = "linear",
        seed: int = 0,
        dtype: npt.DTypeLike = "float32",
    ) -> None:
        name = type(self).__name__
        if not callable(rollout):
            raise TypeError(f"{name}: rollout is a {type(rollout).__name__}, expected a function")
        lowest, highest = getattr(rollout, "lower", None), getattr(rollout, "upper", None)
        if nu is None:
            if lowest is None:
                raise TypeError(f"{name}: nu is missing: only rollouts of a model file's actuators say it themselves")
            nu = len(lowest)
        if lowest is not None and len(lowest) == nu:
            lower = lowest if lower is None else lower
            upper = highest if upper is None else upper
        counts = {"horizon": horizon, "nu": nu, "samples": samples, "iterations": iterations, "knots": knots or 1}
        for what, n in counts.items():
            if int(n) != n or n < 1:
                raise ValueError(f"{name}: {what} is {n}, expected 1 or more")
        self.rollout, self.horizon, self.nu, self.samples = rollout, int(horizon), int(nu), int(samples)
        self.iterations, self.seed, self.dtype = int(iterations), int(seed), np.dtype(dtype)
        self.sigma = self.row("sigma", sigma, None)
        self.lower, self.upper = self.row("lower", lower, -np.inf), self.row("upper", upper, np.inf)
        if not (self.sigma >= 0).all() or not np.isfinite(self.sigma).all():
            raise ValueError(f"{name}: sigma is {sigma}, expected numbers of 0 or more")
        if not (self.lower <= self.upper).all():
            raise ValueError(f"{name}: lower is {lower} and upper is {upper}, expected lower <= upper")
        self.knots = int(knots) if knots is not None and knots < self.horizon else None
        self.interpolation = interpolation
        interpolation_weights(self.horizon, self.knots or 1, interpolation)  # raises for unknown names
        threads = getattr(getattr(rollout, "model", None), "threads", 1)
        self.threads = threads if isinstance(threads, int) and threads > 0 else 1
        self.kept: dict[tuple[int, int], Samples] = {}  # by device and stream
        self.reset()

    def __getstate__(self) -> dict[str, Any]:
        """Support pickle: plans are included, the memory of samples is not."""
        return {**self.__dict__, "kept": {}}

    def row(self, what: str, value: npt.ArrayLike | None, default: float | None) -> npt.NDArray[np.float64]:
        value = np.asarray(default if value is None else value, dtype=float)
        if value.shape not in ((), (self.nu,)):
            name = type(self).__name__
            raise ValueError(f"{name}: {what} has shape {value.shape}, expected ({self.nu},) or a number")
        return np.broadcast_to(value, (self.nu,))

    def reset(self, U: npt.ArrayLike | None = None) -> None:
        """Restart with the plan U (horizon, nu); None: the controls nearest to zero."""
        if U is None:
            U = np.broadcast_to(np.clip(0.0, self.lower, self.upper), (self.horizon, self.nu))
        U = np.array(U, dtype=self.dtype)
        if U.shape != (self.horizon, self.nu):
            raise shape_error(type(self).__name__, "U", U.shape, (self.horizon, self.nu))
        self.U, self.calls, self.cost = U, 0, np.nan

    def command(self, x: Array, **given: Any) -> Array:
        """Return the control (nu,) for the state x (nx,), from an improved plan.

        Each call except the first shifts the plan by a step. The control belongs to the library of x and is on its
        device where x is on one.
        given   passed on to the rollout: p and t0 of featherstorm.Rollout
        """
        # warm start: shift the plan by a step and repeat its last control
        U = self.U if self.calls == 0 else np.concatenate([self.U[1:], self.U[-1:]])
        u = self.improve(U, x, given)[0].copy()
        return place_of(x, type(self).__name__, "x").placed(u)

    def plan(self, x: Array, **given: Any) -> npt.NDArray[Any]:
        """Improve the plan for the state x and return it, U (horizon, nu); self.cost is the cost of its best sample."""
        return self.improve(self.U, x, given)

    def improve(self, plan: npt.NDArray[Any], x: Array, given: dict[str, Any]) -> npt.NDArray[Any]:
        """Improve a plan, which replaces that of the planner unless an error is raised."""
        before, self.U = self.U, plan
        try:
            self.cost = self.iterate(x, given)
        except BaseException:
            self.U = before
            raise
        self.calls += 1
        return self.U

    def iterate(self, x: Array, given: dict[str, Any]) -> float:
        """Improve the plan `iterations` times and return the cost of the best sample of the last."""
        name, takes_noise = type(self).__name__, getattr(self.rollout, "takes_noise", False)
        library = place_of(x, name, "x")
        if not takes_noise and not library.readable:
            raise TypeError(f"{name}: x is on a device, for which the rollout must be a featherstorm.Rollout")
        x = library.cast(x, name, "x", self.dtype)
        if len(x.shape) != 1:
            raise shape_error(name, "x", tuple(x.shape), ("nx",))
        samples = self.samples_in(library)
        sigma = np.repeat(self.sigma[None], self.horizon, axis=0).astype(self.dtype)
        cost = float("nan")
        for iteration in range(self.iterations):
            noise = self.noise(iteration, sigma)
            if takes_noise:
                result = self.rollout(x, noise, controls=True, **given)
                U = result.controls
            else:
                U = noise.controls(self.dtype)
                result = self.rollout(x, U, **given)
            found = samples.next_plan(getattr(result, "costs", result), U)
            if found.best.index < 0:
                raise ValueError(f"{name}: no sample has a finite cost; is the state finite?")
            self.U, cost = self.clipped(np.reshape(found.mean, (self.horizon, self.nu))), found.best.value
            if found.deviation:
                spread = np.reshape(found.deviation, (self.horizon, self.nu))
                sigma = np.maximum(spread, self.sigma_min).astype(self.dtype)
        return cost

    def samples_in(self, library: Library) -> Samples:
        """Return the memory of samples on the device of a library, made at its first use."""
        key, options = (library.device, library.stream), self.options()
        if key not in self.kept or self.kept[key].options != options:
            shape = (self.samples, self.horizon, self.nu)
            name = type(self).__name__
            self.kept[key] = Samples(name, library, shape, self.dtype.name, self.threads, options)
        self.kept[key].library = library
        return self.kept[key]

    def clipped(self, plan: npt.NDArray[Any]) -> npt.NDArray[Any]:
        # a mean may exceed a bound by a rounding error
        return np.clip(plan, self.lower.astype(self.dtype), self.upper.astype(self.dtype)).astype(self.dtype)

    def options(self) -> dict[str, Any]:
        """Return the options of the update: kind, temperature and elites."""
        return {"kind": self.kind, "temperature": 1.0, "elites": 1}

    def noise(self, iteration: int, sigma: npt.NDArray[Any]) -> Noise:
        """Return the samples about the plan; they depend only on the seed, the call and the iteration."""
        return Noise(
            self.samples,
            self.U,
            sigma,
            seed=self.seed,
            draw=(self.calls * self.iterations + iteration) % 2**32,
            lower=self.lower,
            upper=self.upper,
            knots=self.knots,
            interpolation=self.interpolation,
            keep_mean=True,
        )


class PredictiveSampling(Planner):
    """The next plan is the best sample (Howell et al. 2022, "Predictive Sampling")."""

    kind = "best"


class MPPI(Planner):
    """The next plan is the mean of the samples, weighted by exp(-cost / temperature).

    Williams et al. 2017, Information Theoretic MPC.
    temperature   in the unit of the cost: a small one is greedy. The weights contain the cost alone, no term for the
                  noise
    """

    kind = "softmax_mean"

    def __init__(
        self,
        rollout: Callable[..., Any],
        horizon: int,
        nu: int | None = None,
        *,
        temperature: float = 1.0,
        **options: Any,
    ) -> None:
        if not temperature > 0:
            raise ValueError(f"MPPI: temperature is {temperature}, expected a positive number")
        self.temperature = float(temperature)
        super().__init__(rollout, horizon, nu, **options)

    def options(self) -> dict[str, Any]:
        return {**super().options(), "temperature": self.temperature}


class CEM(Planner):
    """The next plan is the mean of the best samples, whose spread is the next noise (cross-entropy method).

    elites      number of best samples
    sigma_min   the smallest noise of later iterations, a number or (nu,)
    """

    kind = "elite_mean"

    def __init__(
        self,
        rollout: Callable[..., Any],
        horizon: int,
        nu: int | None = None,
        *,
        elites: int = 64,
        sigma_min: float | Vector = 0.0,
        iterations: int = 3,
        **options: Any,
    ) -> None:
        super().__init__(rollout, horizon, nu, iterations=iterations, **options)
        if int(elites) != elites or not 1 <= elites <= self.samples:
            raise ValueError(f"CEM: elites is {elites}, expected 1 to {self.samples}, the number of samples")
        self.elites, self.sigma_min = int(elites), self.row("sigma_min", sigma_min, None)

    def options(self) -> dict[str, Any]:
        return {**super().options(), "elites": self.elites}
