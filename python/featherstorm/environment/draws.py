"""Random numbers of an environment's functions: symbols that a stage of the engine fills by counter.

A number is a function of (seed, environment, episode, step, function, slot). It does not depend on the batch, on
threads, on other environments, or on the draws of other functions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..symbols import symbols

if TYPE_CHECKING:
    from .. import _featherstorm

    Size = int | tuple[int, ...] | None


class Draws:
    """numpy.random.Generator's methods on symbols. Without `size` the shape is that of the parameters."""

    def __init__(self, trace: _featherstorm.Trace, array: str) -> None:
        """Make the generator. array: its name in the trace, made when the first number is drawn."""
        self._trace, self._array, self.count = trace, array, 0

    def random(self, size: Size = None) -> Any:
        """Uniform in (0, 1): odd multiples of 2^-24."""
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        n = math.prod(shape)
        if self.count == 0 and n:
            found = self._trace.input(self._array, n)
        else:
            found = self._trace.more(self._array, n) if n else []
        self.count += n
        return symbols(found).reshape(shape)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Size = None) -> Any:
        """Uniform between low and high."""
        u = self._of((low, high), size)
        return low + (np.asarray(high) - low) * u

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
        """Normal with mean `loc` and standard deviation `scale`, by Box-Muller.

        At most 5.77 deviations from the mean.
        """
        shape = self._shape((loc, scale), size)
        pairs = (math.prod(shape) + 1) // 2
        u = self.random(2 * pairs)
        radius, angle = np.sqrt(-2.0 * np.log(u[:pairs])), 2 * np.pi * u[pairs:]
        z = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[: math.prod(shape)].reshape(shape)
        return loc + scale * z

    def exponential(self, scale: Any = 1.0, size: Size = None) -> Any:
        """Exponential with mean `scale`."""
        return -scale * np.log(self._of((scale,), size))

    def integers(self, low: Any, high: Any = None, size: Size = None) -> Any:
        """Whole numbers from low to high - 1; from 0 to low - 1 without high."""
        low, high = (0, low) if high is None else (low, high)
        return low + np.floor((np.asarray(high) - low) * self._of((low, high), size))

    def bernoulli(self, p: Any, size: Size = None) -> Any:
        """True with probability p: a condition for np.where."""
        return self._of((p,), size) < p

    def choice(self, values: Any) -> Any:
        """One of the rows of `values`, with equal probabilities."""
        rows = np.asarray(values)
        if not len(rows):
            raise ValueError("choice: there are no values")
        at, found = self.random() * len(rows), rows[0]
        for k in range(1, len(rows)):
            found = np.where(at >= k, rows[k], found)
        return found

    def _shape(self, parameters: tuple[Any, ...], size: Size) -> tuple[int, ...]:
        if size is not None:
            return (size,) if isinstance(size, int) else tuple(size)
        return np.broadcast_shapes(*(np.shape(x) for x in parameters))

    def _of(self, parameters: tuple[Any, ...], size: Size) -> Any:
        return self.random(self._shape(parameters, size))
