"""Groups of instances of different models: padded arrays, and running at the same time."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from ..typing import NumpyArray as Array


class Groups:
    """Groups of instances, one after the other in a batch of B.

    sizes   number of instances of each group
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        bounds = [0, *itertools.accumulate(self.sizes)]
        self.rows = tuple(slice(a, b) for a, b in itertools.pairwise(bounds))
        self.total = bounds[-1]

    def padded(self, arrays: Sequence[Any], axis: int = 0, width: int | None = None) -> Array:
        """Return one array of the arrays (..., n_k, w_k) of the groups, whose instances are along `axis`.

        Numbers beyond w_k are zero. width: size of the last axis; None: the largest w_k
        """
        parts = [np.asarray(x) for x in arrays]
        if parts[0].ndim == axis + 1:
            return np.concatenate(parts, axis)
        wide = max(x.shape[-1] for x in parts) if width is None else width
        shape = (*parts[0].shape[:axis], self.total, *parts[0].shape[axis + 1 : -1], wide)
        found = np.zeros(shape, parts[0].dtype)
        for x, rows in zip(parts, self.rows):
            found[(slice(None),) * axis + (rows, ..., slice(x.shape[-1]))] = x
        return found

    def mask(self, widths: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Return which numbers of a padded array exist, (B, the largest width)."""
        found = np.zeros((self.total, max(widths)), bool)
        for n, rows in zip(widths, self.rows):
            found[rows, :n] = True
        return found

    def split(self, values: Any, widths: Sequence[int], label: str, name: str) -> list[Any]:
        """Return an array for each group, from a list of these or from a padded array (B, the largest width).

        Errors: ValueError for another number of arrays, or another shape.
        """
        if values is None:
            return [None] * len(self.sizes)
        if isinstance(values, (list, tuple)):
            if len(values) != len(self.sizes):
                raise ValueError(
                    f"{label}: {name} has {len(values)} arrays, expected {len(self.sizes)}, one for each group"
                )
            return list(values)
        shape = tuple(np.shape(values))
        if shape != (self.total, max(widths)):
            raise ValueError(
                f"{label}: {name} has shape {shape}, expected {(self.total, max(widths))}, or a list with an array for "
                "each group"
            )
        return [values[rows, :n] for n, rows in zip(widths, self.rows)]


class Together:
    """Functions that are called together again and again, each with its own amount of work.

    The functions with the most work begin first. A thread without a function works on the blocks of the others.

    costs     work of each function: first an estimate in any unit, then its last time [s]
    threads   number of functions that run at the same time, at most; 1: one after the other, in their own order
    """

    def __init__(self, costs: Sequence[float], threads: int) -> None:
        self.costs, self.threads = list(costs), threads

    def __call__(self, functions: Sequence[Callable[[], Any]]) -> list[Any]:
        """Call all functions and return their results.

        After an error no other function begins. It is raised when those that have begun have ended.
        """
        if self.threads == 1 or len(functions) == 1:
            return [f() for f in functions]
        results: list[Any] = [None] * len(functions)
        times = list(self.costs)

        def timed(k: int) -> Callable[[], None]:
            def call() -> None:
                start = time.perf_counter()
                results[k] = functions[k]()
                times[k] = time.perf_counter() - start

            return call

        order = sorted(range(len(functions)), key=lambda k: -self.costs[k])
        _featherstorm.run_together([timed(k) for k in order], self.threads)
        self.costs = times
        return results
