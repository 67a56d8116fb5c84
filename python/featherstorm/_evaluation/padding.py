"""Arrays of groups of instances, and the same numbers in one padded array."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Array = npt.NDArray[Any]


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
