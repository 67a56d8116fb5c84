"""Results of environments at every step of a horizon: arrays (steps, instances, n) on the host or on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..device import DeviceArray

if TYPE_CHECKING:
    from .storage import Storage


class Rows:
    """An array (steps, B, n) on the device and of the dtype of a storage."""

    def __init__(self, storage: Storage, steps: int, n: int) -> None:
        self.all: Any = np.empty((steps, storage.instances, n), storage.dtype)

    def written(self, name: str, first: int = 0) -> tuple[str, Any, int, int, bool]:
        """Return it as an array of a sequence whose first step is number `first` here."""
        memory = self.all[first:].transpose(1, 0, 2)
        return name, memory, 0, memory.shape[2], True

    def begin(self, view: Any) -> None:
        """Copy an array (B, n) of the engine to the first step."""
        self.all[0] = view

    def last(self) -> Any:
        """The last step (B, n)."""
        return self.all[-1]

    def numbers(self) -> Any:
        """All numbers (steps, B, n)."""
        return self.all

    def column(self) -> Any:
        """All numbers (steps, B), of an array of one number."""
        return self.all[..., 0]

    def flags(self) -> Any:
        """All numbers as bool (steps, B), of an array of one number."""
        return self.column() > 0


class DeviceRows(Rows):
    """The same in the engine's memory on a device; flags there are numbers 0 and 1."""

    def __init__(self, storage: Storage, steps: int, n: int) -> None:
        self.steps, self.n = steps, n
        self.buffer = storage.buffer(steps * n)
        self.place = storage.instances, storage.dtype, storage.device, storage.stream

    def part(self, first: int, tail: list[int], axis: int = 0) -> DeviceArray:
        return DeviceArray(self.buffer, tail, *self.place, first, axis)

    def written(self, name: str, first: int = 0) -> tuple[str, Any, int, int, bool]:
        return name, self.part(first * self.n, [(self.steps - first) * self.n]).memory, 0, self.n, True

    def begin(self, view: Any) -> None:
        self.part(0, [self.n])[:] = view

    def last(self) -> Any:
        return self.part((self.steps - 1) * self.n, [self.n])

    def numbers(self) -> Any:
        return self.part(0, [self.steps, self.n], 1)

    def column(self) -> Any:
        return self.part(0, [self.steps], 1)

    def flags(self) -> Any:
        return self.column()


def rows(storage: Storage, steps: int, n: int) -> Rows:
    return (Rows if storage.readable else DeviceRows)(storage, steps, n)
