"""Sequences that cotangents are found by, run on arrays by name, on the CPU or a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _featherstorm
from ...device import HOST, DeviceArray, device_of, dtype_name, place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..._memory.host_libraries import Library

    Arrays = dict[str, Any]  # (B, n) by name: numpy's, or the engine's own on a device


def bar(name: str) -> str:
    return f"{name}_bar"


class Place:
    """Device and dtype of arrays (instances, n)."""

    def __init__(self, library: Library, instances: int, dtype: Any) -> None:
        self.library, self.instances, self.dtype = library, instances, np.dtype(dtype)
        self.name = self.dtype.name  # numpy makes it anew each time

    def output(self, n: int) -> tuple[Any, Any]:
        """Memory for (instances, n), and a view of it."""
        memory, view = self.library.output(self.name, self.instances, n)
        return memory, view([n])

    def zeros(self, n: int) -> Any:
        """(1, n), which stands for all instances."""
        return np.zeros((1, n), self.dtype)

    def memory(self, x: Any) -> Any:
        """Return the memory of an array (instances, n) or (1, n) that the engine reads."""
        return self.library.memory(x, tuple(x.shape))

    def copy(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return np.array(x)
        memory, view = self.output(int(x.shape[1]))
        _featherstorm.copy(self.memory(x), memory, self.library.stream)
        return view

    def given(self, x: Any, n: int, what: str) -> Any:
        """An array that a user gave, as (instances, n).

        ValueError for one of another shape or place, TypeError for another dtype on a
        device.
        """
        found = device_of(x)
        if found == HOST:
            x = np.asarray(x, self.dtype)
        elif found != self.library.device:
            raise ValueError(f"pull_back: {what} is on {place(found)}, expected {place(self.library.device)}")
        elif dtype_name(x) != self.name:
            raise TypeError(f"pull_back: {what} is {dtype_name(x)}, expected {self.dtype}")
        shape, expected = tuple(x.shape), (self.instances, n)
        if shape != expected and not (n == 1 and shape == expected[:1]):
            raise ValueError(f"pull_back: {what} has shape {shape}, expected {expected[:1] if n == 1 else expected}")
        if isinstance(x, DeviceArray):
            return DeviceArray(x.buffer, [n], self.instances, x.dtype, x.device, x.stream, x.first)
        return x.reshape(expected)


def row_of(x: Any, t: int) -> Any:
    """x[t] of an array (T, B, n)."""
    if not isinstance(x, DeviceArray):
        return x[t]
    n = x.tail[1]
    first = (x.first or 0) + t * n
    return DeviceArray(x.buffer, [n], x.instances, x.dtype, x.device, x.stream, first)


class Part:
    """A sequence with what it reads and writes.

    reads, writes   numbers of arrays by name
    """

    def __init__(self, sequence: Any, reads: Mapping[str, int], writes: Mapping[str, int]) -> None:
        self.sequence, self.reads = sequence, {name: n for name, n in reads.items() if n}
        self.writes = {name: n for name, n in writes.items() if n}

    def __call__(self, arrays: Mapping[str, Any], at: Place) -> Arrays:
        """Return its outputs from arrays by name; missing arrays are zero."""
        inputs = [(name, at.memory(arrays[name]), 0, n, False) for name, n in self.reads.items() if name in arrays]
        found = {name: at.output(n) for name, n in self.writes.items()}
        written = [(name, memory, 0, self.writes[name], False) for name, (memory, _) in found.items()]
        self.sequence.run(1, at.instances, inputs, {}, written, None, at.library.stream)
        return {name: view for name, (_, view) in found.items()}
