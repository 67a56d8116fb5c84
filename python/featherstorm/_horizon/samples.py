"""The samples of a planner's iteration, on their device: the best one, and sums over them.

An iteration waits once, for the new plan (horizon, nu), which is on the CPU; CEM waits also for the costs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._memory.arrays import shape_error

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._memory.library import Library
    from ..typing import Array


class Samples:
    """Samples U (samples, horizon, nu) of a dtype and their costs, on the device of `library`.

    name      for messages
    threads   for sums on the CPU
    """

    U: Array

    def __init__(self, name: str, library: Library, shape: tuple[int, int, int], dtype: str, threads: int) -> None:
        self.name, self.library, self.shape, self.dtype = name, library, shape, dtype
        self.count, self.size = shape[0], math.prod(shape[1:])
        self.reduction = _featherstorm.Reduction(threads, library.device)
        self.sums = library.cost_dtype(dtype)
        self.costs = library.column(self.sums, self.count)
        self.weights = library.column("float64", self.count)
        self.result = library.column(dtype, self.size)
        self.center = library.column(dtype, self.size)

    def take(self, costs: Array, U: Array) -> None:
        """Store the samples of an iteration. Raises ValueError for other shapes."""
        for what, x, shape in (("costs", costs, (self.count,)), ("controls", U, self.shape)):
            found = x.shape if hasattr(x, "shape") else np.shape(x)
            if found != shape:
                raise shape_error(self.name, f"{what} of the rollout", found, shape)
        self.library.fill(self.costs, costs, self.name, "costs")
        self.U = U

    def release(self) -> None:
        """Return the memory of the controls for the next rollout."""
        self.U = None

    def best(self) -> _featherstorm.Least:
        """Return the least finite cost and its index, -1 where no cost is finite."""
        return self.reduction.least(self.costs, self.library.stream)

    def lowest(self, count: int) -> npt.NDArray[np.intp]:
        """Return the indices of the `count` samples of least cost, among those of finite cost."""
        costs = self.library.numbers(self.costs, self.sums, self.count).astype(float)
        costs[~np.isfinite(costs)] = np.inf
        best = np.argpartition(costs, count - 1)[:count]
        return np.sort(best[np.isfinite(costs[best])])

    def softmax_mean(self, temperature: float) -> npt.NDArray[np.float64]:
        """Return the mean (horizon, nu) weighted by exp(-cost / temperature)."""
        self.reduction.softmax_weights(self.costs, temperature, self.weights, self.library.stream)
        return self.weighted_mean()

    def sample(self, index: int) -> npt.NDArray[np.floating]:
        """Return one of the samples (horizon, nu)."""
        self.library.send((np.arange(self.count) == index).astype(float), self.weights)
        return self.weighted_mean()

    def moments(self, chosen: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]:
        """Return the mean and the standard deviation (horizon, nu) of the chosen samples."""
        weights = np.zeros(self.count)
        weights[chosen] = 1 / len(chosen)
        self.library.send(weights, self.weights)
        mean = self.weighted_mean()
        self.library.send(mean.astype(self.dtype).ravel(), self.center)
        return mean, np.sqrt(self.weighted_mean(self.center))

    def weighted_mean(self, center: Any = None) -> npt.NDArray[np.float64]:
        """Return the weighted mean (horizon, nu), or the weighted mean of the squared distances from a center."""
        U, _ = self.library.array(self.U, self.name, "U", np.dtype(self.dtype))
        memory = self.library.memory(U, self.shape)
        self.reduction.weighted_mean(memory, self.weights, self.result, self.library.stream, center)
        return self.library.numbers(self.result, self.dtype, self.size).reshape(self.shape[1:]).astype(float)


class ReadableSamples(Samples):
    """Samples whose numbers can be read: chosen samples are extracted instead of weighted."""

    def sample(self, index: int) -> npt.NDArray[np.floating]:
        sample: Array = np.asarray(self.U)[index].copy()
        return sample

    def moments(self, chosen: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]:
        samples = np.asarray(self.U).transpose(1, 2, 0)[:, :, chosen]
        return samples.mean(axis=2), samples.std(axis=2)


def samples_in(name: str, library: Library, shape: tuple[int, int, int], dtype: str, threads: int) -> Samples:
    """Make Samples on the device of a library."""
    kind = ReadableSamples if library.readable else Samples
    return kind(name, library, shape, dtype, threads)
