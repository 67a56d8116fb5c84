"""Planning by sampling: predictive sampling, MPPI and the cross-entropy method, in receding horizon.

    roll = fs.Rollout(model, dt=0.02, cost=cost, control=control)
    planner = MPPI(roll, horizon=40, nu=1, sigma=2.0, temperature=0.1, lower=-5, upper=5)
    u = planner.command(x, p=target, t0=time)          # (nu,), the control until the next call

A planner knows of its model only the function `rollout(x0, U, **given)` with x0 (nx,) and U (samples, horizon, nu),
which returns costs (samples,), or anything with such costs: a featherstorm.Rollout or one of yours. A
featherstorm.Rollout (any function with a true `takes_noise`) is given featherstorm.Noise instead of U, which it draws on
its way through the horizon, and returns U as the result's `controls`. It goes by the contacts, loops or couplings of its
model, so a robot is planned for on its feet.

Where x lies on a CUDA device, so do samples, noise, costs and sums over them (planning_device), and the control.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _featherstorm
from .device import HOST, device_of
from .horizon import planning_device
from .memory.arrays import shape_error
from .noise import Noise, interpolation_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from .horizon.planning_device import Samples
    from .typing import Array, Vector


class Planner:
    """What the planners share: a plan U (horizon, nu), samples about it, and the shift from one call to the next.

    rollout        see the module
    horizon, nu    control steps of a plan, controls of a step
    samples        control sequences of an iteration; the first is the plan itself
    sigma          standard deviation of the noise, a number or (nu,)
    lower, upper   bounds of the controls, numbers or (nu,); None: none
    iterations     improvements of the plan in a call
    knots          the noise is drawn at so many equidistant times and interpolated; None: at each step
    interpolation  "linear", "cubic" or "hold", see featherstorm.noise.interpolation_weights
    seed           the same calls give the same plans, whatever the number of threads
    dtype          of U and x0
    """

    def __init__(
        self,
        rollout: Callable[..., Any],
        horizon: int,
        nu: int,
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
        interpolation_weights(self.horizon, self.knots or 1, interpolation)  # raises for what it does not know
        threads = getattr(getattr(rollout, "model", None), "threads", 1)
        self.reductions = _featherstorm.Reduction(threads if isinstance(threads, int) and threads > 0 else 1)
        self.on_device: dict[tuple[int, int], Samples] = {}  # (device, stream) -> planning_device.Samples
        self.reset()

    def row(self, what: str, value: npt.ArrayLike | None, default: float | None) -> npt.NDArray[np.float64]:
        value = np.asarray(default if value is None else value, dtype=float)
        if value.shape not in ((), (self.nu,)):
            name = type(self).__name__
            raise ValueError(f"{name}: {what} has shape {value.shape}, expected ({self.nu},) or a number")
        return np.broadcast_to(value, (self.nu,))

    def reset(self, U: npt.ArrayLike | None = None) -> None:
        """Begins anew with the plan U (horizon, nu); None: the controls nearest to zero."""
        if U is None:
            U = np.broadcast_to(np.clip(0.0, self.lower, self.upper), (self.horizon, self.nu))
        U = np.array(U, dtype=self.dtype)
        if U.shape != (self.horizon, self.nu):
            raise shape_error(type(self).__name__, "U", U.shape, (self.horizon, self.nu))
        self.U, self.calls, self.cost = U, 0, np.nan

    def command(self, x: Array, **given: Any) -> Array:
        """The control (nu,) for the state x (nx,), from an improved plan; each call but the first moves on by a step.

        given   passed on to the rollout: p and t0 of featherstorm.Rollout
        Of the library and on the device of x where that is on a device.
        """
        if self.calls > 0:
            # warm start: the plan moves on by a step and holds its last control
            self.U = np.concatenate([self.U[1:], self.U[-1:]])
        u = self.plan(x, **given)[0].copy()
        return u if device_of(x) == HOST else planning_device.control(self, x, u)

    def plan(self, x: Array, **given: Any) -> npt.NDArray[Any]:
        """Improves the plan for the state x and returns it, U (horizon, nu); self.cost is that of its best sample."""
        if device_of(x) != HOST:
            return planning_device.plan(self, x, given)
        x = np.asarray(x, dtype=self.dtype)
        if x.ndim != 1:
            raise shape_error(type(self).__name__, "x", x.shape, ("nx",))
        sigma = np.repeat(self.sigma[None], self.horizon, axis=0).astype(self.dtype)
        for iteration in range(self.iterations):
            noise = self.noise(iteration, sigma)
            if getattr(self.rollout, "takes_noise", False):
                result = self.rollout(x, noise, controls=True, **given)
                U = result.controls
            else:
                U = noise.controls(self.dtype)
                result = self.rollout(x, U, **given)
            costs = np.array(getattr(result, "costs", result), dtype=float)
            if costs.shape != (self.samples,):
                raise shape_error(type(self).__name__, "costs of the rollout", costs.shape, (self.samples,))
            costs[~np.isfinite(costs)] = np.inf
            self.cost = self.reductions.least(costs).value
            if self.cost == np.inf:
                raise ValueError(f"{type(self).__name__}: no sample has a finite cost; is the state finite?")
            plan, sigma = self.update(U.transpose(1, 2, 0), costs, sigma)
            self.clip(plan)
        self.calls += 1
        return self.U

    def clip(self, plan: npt.NDArray[Any]) -> None:
        # a mean may pass a bound by a rounding error
        self.U = np.clip(plan, self.lower.astype(self.dtype), self.upper.astype(self.dtype)).astype(self.dtype)

    def noise(self, iteration: int, sigma: npt.NDArray[Any]) -> Noise:
        """The samples about the plan; they depend on the seed, the call and the iteration alone."""
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

    def update(
        self, U: npt.NDArray[Any], costs: npt.NDArray[np.float64], sigma: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The next plan and noise, (horizon, nu) each, from U (horizon, nu, samples) and costs (samples), inf if bad."""
        raise NotImplementedError

    def update_on_device(
        self, samples: Samples, best: _featherstorm.Least, sigma: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The same from planning_device.Samples and the best of their costs."""
        raise NotImplementedError


class PredictiveSampling(Planner):
    """The best sample is the plan (Howell et al. 2022, "Predictive Sampling")."""

    def update(
        self, U: npt.NDArray[Any], costs: npt.NDArray[np.float64], sigma: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        return U[:, :, self.reductions.least(costs).index].copy(), sigma

    def update_on_device(
        self, samples: Samples, best: _featherstorm.Least, sigma: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        samples.set_weights(np.arange(self.samples) == best.index)
        return samples.mean(), sigma


class MPPI(Planner):
    """The mean of the samples, weighted by exp(-cost / temperature) (Williams et al. 2017, Information Theoretic MPC).

    temperature   in the unit of the cost: small is greedy. The weights have the cost alone, no term for the noise.
    """

    def __init__(
        self, rollout: Callable[..., Any], horizon: int, nu: int, *, temperature: float = 1.0, **options: Any
    ) -> None:
        if not temperature > 0:
            raise ValueError(f"MPPI: temperature is {temperature}, expected a positive number")
        self.temperature = float(temperature)
        super().__init__(rollout, horizon, nu, **options)

    def update(
        self, U: npt.NDArray[Any], costs: npt.NDArray[np.float64], sigma: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        weights, plan = np.empty(self.samples), np.empty((self.horizon, self.nu))
        self.reductions.softmax_weights(costs, self.temperature, weights)
        self.reductions.weighted_mean(U.transpose(2, 0, 1), weights, plan)
        return plan, sigma

    def update_on_device(
        self, samples: Samples, best: _featherstorm.Least, sigma: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        samples.softmax_weights(self.temperature)
        return samples.mean(), sigma


class CEM(Planner):
    """The mean of the best samples, whose spread is the noise of the next iteration (cross-entropy method).

    elites      how many samples are the best ones
    sigma_min   the least noise of later iterations, a number or (nu,)
    """

    def __init__(
        self,
        rollout: Callable[..., Any],
        horizon: int,
        nu: int,
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

    def update(
        self, U: npt.NDArray[Any], costs: npt.NDArray[np.float64], sigma: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        chosen = U[:, :, self.chosen(costs)]
        return chosen.mean(axis=2), np.maximum(chosen.std(axis=2), self.sigma_min).astype(self.dtype)

    def chosen(self, costs: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        """The indices of the elites, those of finite costs."""
        best = np.argpartition(costs, self.elites - 1)[: self.elites]
        return np.sort(best[np.isfinite(costs[best])])

    def update_on_device(
        self, samples: Samples, best: _featherstorm.Least, sigma: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        costs, weights = samples.costs_on_cpu(), np.zeros(self.samples)
        chosen = self.chosen(np.where(np.isfinite(costs), costs, np.inf))
        weights[chosen] = 1 / len(chosen)
        samples.set_weights(weights)
        mean = samples.mean()
        deviation = np.sqrt(samples.mean(center=mean))
        return mean, np.maximum(deviation, self.sigma_min).astype(self.dtype)
