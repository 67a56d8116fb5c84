"""Memory of the engine by name, on the host or on a device, for arrays that live as long as a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _featherstorm
from ..device import HOST, DeviceArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..typing import NumpyArray as Array


class Columns(NamedTuple):
    """Columns of memory (instances, n): of a buffer, or of a NumPy array that is taken whole."""

    buffer: Any
    first: int
    size: int

    def named(self, name: str) -> tuple[str, Any, int, int, bool]:
        """Return the columns as an array of a sequence."""
        return (name, self.buffer, self.first, self.size, False)

    def part(self, first: int, size: int) -> Columns:
        return Columns(self.buffer, self.first + first, size)


def columns_of_array(x: Array) -> Columns:
    """Return a NumPy array (instances, n) as columns."""
    return Columns(x, 0, x.shape[1])


class NamedBuffers:
    """Memory (instances, n) by name, allocated once and kept, so that warm calls allocate nothing.

    readable  True on the host, where numbers can be read without waiting
    """

    def __init__(self, dtype: str, instances: int, device: int = HOST, stream: int = 0) -> None:
        self.dtype, self.instances, self.device, self.stream = dtype, instances, device, stream
        self.readable = device == HOST
        self.kept: dict[tuple[str, int], _featherstorm.Buffer] = {}

    def buffer(self, n: int, rows: int | None = None) -> _featherstorm.Buffer:
        return _featherstorm.Buffer(self.dtype, self.instances if rows is None else rows, n, self.device, self.stream)

    def columns_for(self, name: str, n: int) -> Columns:
        """Return the memory (instances, n) of a name."""
        if (name, n) not in self.kept:
            self.kept[name, n] = self.buffer(n)
        return Columns(self.kept[name, n], 0, n)

    def array(self, place: Columns, tail: Sequence[int] | None = None) -> Any:
        """Return the view (instances, *tail) of a place: NumPy's on the host, a DeviceArray on a device."""
        tail = [place.size] if tail is None else tail
        if not self.readable:
            return DeviceArray(
                place.buffer, tail, self.instances, self.dtype, self.device, self.stream, place.first
            )  # fmt: skip
        if isinstance(place.buffer, np.ndarray):
            return place.buffer[:, place.first : place.first + place.size].reshape(-1, *tail)
        return place.buffer.columns(place.first, tail)

    def numpy(self, place: Columns) -> Array:
        """Return the numbers of a place on the CPU: a view on the host, a copy that waits on a device."""
        found = self.array(place)
        return found if self.readable else found.numpy()

    def send(self, numbers: Array, to: Columns) -> None:
        """Write numbers of the CPU; on a device it waits."""
        if self.readable:
            self.array(to)[...] = numbers
        elif to.size:
            _featherstorm.copy(np.asarray(numbers, self.dtype), to.buffer.columns(to.first, [to.size]), self.stream)

    def sent(self, numbers: Array) -> Columns:
        """Return new memory (rows, n) with numbers of the CPU."""
        rows, n = numbers.shape
        buffer = self.buffer(n, rows)
        if self.readable:
            buffer.view([n])[...] = numbers
        else:
            _featherstorm.copy(np.asarray(numbers, self.dtype), buffer, self.stream)
        return Columns(buffer, 0, n)

    def copy(self, source: Columns, target: Columns) -> None:
        if self.readable:
            self.array(target)[...] = self.array(source)
        else:
            columns = [place.buffer.columns(place.first, [place.size]) for place in (source, target)]
            _featherstorm.copy(columns[0], columns[1], self.stream)
