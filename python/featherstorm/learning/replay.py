"""Replay memory of past steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Array = npt.NDArray[Any]


class Replay:
    """Ring buffer with the last `capacity` rows of some arrays, float32.

    arrays   name -> (capacity, n), allocated at construction
    count    number of stored rows
    next     index of the next row to write

    Errors: MemoryError if the memory cannot be allocated.
    """

    def __init__(self, capacity: int, sizes: Mapping[str, int]) -> None:
        self.capacity, self.count, self.next = capacity, 0, 0
        try:
            self.arrays = {name: np.zeros((capacity, n), np.float32) for name, n in sizes.items()}
        except MemoryError:
            size = 4e-9 * capacity * sum(sizes.values())
            raise MemoryError(
                f"memory of {capacity} steps needs {size:.1f} GB, which cannot be allocated; use a smaller memory"
            ) from None

    def add(self, rows: Mapping[str, Array]) -> None:
        """Add rows (N, n) of each array. If N exceeds the capacity, only the last rows are stored."""
        n = min(len(next(iter(rows.values()))), self.capacity)
        at = (self.next + np.arange(n)) % self.capacity
        for name, x in self.arrays.items():
            x[at] = rows[name][-n:]
        self.next = (self.next + n) % self.capacity
        self.count = min(self.count + n, self.capacity)

    def sample(self, rng: np.random.Generator, n: int) -> dict[str, Array]:
        """Draw n rows, with replacement, from all stored rows with equal probability."""
        at = rng.integers(0, self.count, n)
        return {name: x[at] for name, x in self.arrays.items()}

    # -- checkpoints

    def state(self) -> tuple[dict[str, int], dict[str, Array]]:
        """Return the counters, and views of the stored rows (count, n)."""
        return {"count": self.count, "next": self.next}, {name: x[: self.count] for name, x in self.arrays.items()}

    def restore(self, numbers: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Continue from a result of `state`. Errors: ValueError for the state of another memory."""
        count, at = int(numbers["count"]), int(numbers["next"])
        if not (0 <= count <= self.capacity and 0 <= at < self.capacity and (count == self.capacity or at == count)):
            raise ValueError(f"memory has {count} rows, the next at {at}, expected {self.capacity} rows at most")
        for name, x in self.arrays.items():
            if arrays[name].shape != (count, x.shape[1]):
                raise ValueError(f"memory/{name} has shape {arrays[name].shape}, expected {(count, x.shape[1])}")
        for name, x in self.arrays.items():
            x[:count] = arrays[name]
        self.count, self.next = count, at
