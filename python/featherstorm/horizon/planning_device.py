"""Planning where the samples lie on a CUDA device: rollouts, noise and reductions are there, the plan is on the CPU.

An iteration waits once, for the new plan (horizon, nu); CEM also for the costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .. import _featherstorm
from ..device import DeviceArray, dtype_name
from ..memory.arrays import shape_error
from .rollout_device import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from ..noise import Noise
    from ..typing import Array


class Sampler(Protocol):
    """What is asked of a Planner."""

    rollout: Callable[..., Any]
    horizon: int
    nu: int
    samples: int
    iterations: int
    calls: int
    cost: float
    dtype: np.dtype[Any]
    sigma: npt.NDArray[np.float64]
    U: npt.NDArray[Any]
    on_device: dict[tuple[int, int], Samples]

    def noise(self, iteration: int, sigma: npt.NDArray[Any]) -> Noise: ...
    def clip(self, plan: npt.NDArray[Any]) -> None: ...
    def update_on_device(
        self, samples: Samples, best: _featherstorm.Least, sigma: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]: ...


class Samples:
    """The samples U (samples, horizon, nu) of an iteration and their costs, and sums over them."""

    def __init__(self, planner: Sampler, call: Call) -> None:
        self.planner, self.call = planner, call
        self.dtype, self.count = planner.dtype.name, planner.samples
        self.reduction = _featherstorm.DeviceReduction(call.device)
        size = planner.horizon * planner.nu
        self.costs, self.weights = self.buffer(self.dtype, self.count), self.buffer("float64", self.count)
        self.result, self.center = self.buffer(self.dtype, size), self.buffer(self.dtype, size)

    def buffer(self, dtype: str, n: int) -> _featherstorm.Buffer:
        return _featherstorm.Buffer(dtype, n, 1, self.call.device, self.call.stream)

    def take(self, costs: Array, U: Array) -> None:
        shapes = (("costs of the rollout", costs, (self.count,)), ("controls of the rollout", U, self.shape_of_U()))
        for name, x, shape in shapes:
            if tuple(int(k) for k in x.shape) != shape:
                raise shape_error(type(self.planner).__name__, name, tuple(x.shape), shape)
        read = costs if isinstance(costs, DeviceArray) else costs.reshape((-1, 1))
        _featherstorm.copy(self.call.array(read, "costs"), self.costs, self.call.stream)
        self.U = U

    def shape_of_U(self) -> tuple[int, int, int]:
        return (self.count, self.planner.horizon, self.planner.nu)

    def best(self) -> _featherstorm.Least:
        """The least finite cost and its index; it waits."""
        self.reduction.least(self.costs, self.call.stream)
        return self.reduction.best(self.call.stream)

    def softmax_weights(self, temperature: float) -> None:
        self.reduction.softmax_weights(self.costs, temperature, self.weights, self.call.stream)

    def set_weights(self, weights: npt.NDArray[Any]) -> None:
        """Weights (samples,) of the CPU."""
        _featherstorm.copy(np.ascontiguousarray(weights, float)[:, None], self.weights, self.call.stream)

    def costs_on_cpu(self) -> npt.NDArray[np.float64]:
        host = _featherstorm.Buffer(self.dtype, self.count, 1)
        _featherstorm.copy(self.costs, host, self.call.stream)
        costs: Array = host.view([])
        return costs.astype(float)

    def mean(self, center: npt.NDArray[Any] | None = None) -> npt.NDArray[np.float64]:
        """The weighted mean (horizon, nu), or that of the squared distances from a center; it waits."""
        shape = self.shape_of_U()[1:]
        if center is not None:
            _featherstorm.copy(np.ascontiguousarray(center, self.dtype).reshape(-1, 1), self.center, self.call.stream)
        U, about = self.call.array(self.U, "U"), None if center is None else self.center
        self.reduction.weighted_mean(U, *shape, self.weights, self.result, self.call.stream, about)
        host = _featherstorm.Buffer(self.dtype, int(np.prod(shape)), 1)
        _featherstorm.copy(self.result, host, self.call.stream)
        mean: Array = host.view([])
        return mean.reshape(shape).astype(float)


def plan(planner: Sampler, x: Array, given: Mapping[str, Any]) -> npt.NDArray[Any]:
    """`Planner.plan` for a state x (nx,) on a device; returns the plan on the CPU."""
    name = type(planner).__name__
    if not getattr(planner.rollout, "takes_noise", False):
        raise TypeError(f"{name}: x is on a device, for which the rollout must be a featherstorm.Rollout")
    call = Call(x, "x")
    if len(x.shape) != 1:
        raise shape_error(name, "x", tuple(x.shape), ("nx",))
    if dtype_name(x) != planner.dtype.name:
        raise TypeError(f"{name}: x is {dtype_name(x)}, expected {planner.dtype}")
    key = (call.device, call.stream)
    if key not in planner.on_device:
        planner.on_device[key] = Samples(planner, call)
    samples = planner.on_device[key]
    samples.call = call
    sigma = np.repeat(planner.sigma[None], planner.horizon, axis=0).astype(planner.dtype)
    for iteration in range(planner.iterations):
        result = planner.rollout(x, planner.noise(iteration, sigma), controls=True, **given)
        samples.take(result.costs, result.controls)
        best = samples.best()
        planner.cost = best.value
        if best.index < 0:
            raise ValueError(f"{name}: no sample has a finite cost; is the state finite?")
        U, sigma = planner.update_on_device(samples, best, sigma)
        planner.clip(U)
    planner.calls += 1
    return planner.U


def control(planner: Sampler, x: Array, u: npt.NDArray[Any]) -> Array:
    """A control (nu,) of the CPU as an array of x's library on its device."""
    call = Call(x, "x")
    memory, result = call.library.output(call.dtype, planner.nu, 1)
    _featherstorm.copy(np.ascontiguousarray(u, planner.dtype)[:, None], memory, call.stream)
    return result([])
