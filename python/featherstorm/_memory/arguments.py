"""The arrays of one call: one place, one dtype, one library for the results.

An argument is (n,) for one instance or (B, n) for a batch; where the others are batches, (n,) and (1, n) stand for all
instances (no copy). The first array says what the others are expected to be; the first one on a device, where one lies there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..device import HOST, device_of, place
from .arrays import FLOATS, NAMES, library_of, shape_error
from .device_libraries import Engine, device_library
from .host_libraries import NUMPY, host_library

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from .. import _featherstorm
    from ..typing import Array
    from .library import Library


def leading(arguments: Sequence[Array]) -> int | None:
    """Which argument says what the others are expected to be; None where all are lists."""
    first = None
    for k, x in enumerate(arguments):
        if device_of(x) != HOST:
            return k
        if first is None and library_of(x) is not None:
            first = k
    return first


def if_on_device(x: Array) -> Array:
    """x, or None where it lies on the CPU."""
    return None if device_of(x) == HOST else x


def place_of(x: Array, op: str, name: str) -> Library:
    """The place of an array: with its library on a device, numpy's on the CPU."""
    device = device_of(x)
    return NUMPY if device == HOST else device_library(x, device, op, name)


def engine_in(device: int, stream: int) -> Library:
    """The engine's own memory in a place."""
    return NUMPY if device == HOST else Engine(device, stream)


class Call:
    """The place, library and dtype of a call's arrays: those of the leading one.

    rows    begin with the names of the arguments
    dtype   of lists where there is no array
    """

    def __init__(
        self,
        op: str,
        rows: Sequence[tuple[Any, ...]],
        arguments: Sequence[Array],
        dtype: np.dtype[Any] = FLOATS[1],
    ) -> None:
        self.op, self.dtype, self.first = op, dtype, ""
        self.library: Library = NUMPY
        self.lead: Array = None
        self.lead_array: Array = None
        at = leading(arguments)
        if at is not None:
            self.lead, self.first = arguments[at], rows[at][0]
            device = device_of(self.lead)
            self.library = (
                host_library(self.lead) if device == HOST else device_library(self.lead, device, op, self.first)
            )
            self.lead_array, self.dtype = self.library.array(self.lead, op, self.first, dtype)

    def array(self, x: Array, name: str) -> Array:
        """x as an array of the call. Raises for one of another place or dtype."""
        if x is self.lead and x is not None:
            return self.lead_array
        array, dtype = self.library.array(x, self.op, name, self.dtype)
        if dtype != self.dtype:
            raise TypeError(f"{self.op}: {name} is {dtype}, expected {self.dtype} as {self.first} is")
        return array

    def count(
        self, shape: tuple[int, ...], name: str, n: int, tails: Mapping[str, tuple[int, ...]]
    ) -> tuple[int, bool]:
        """Return the number of rows of an array (n,), (B, n), or of the public shape of either, and whether it is a single row."""
        if len(shape) == 2 and shape[1] == n:
            return shape[0], False
        tail = tails.get(name, (n,))
        if shape in ((n,), tail):
            return 1, True
        if shape[1:] == tail:
            return shape[0], False
        batch = shape[:1] if len(shape) in (2, 1 + len(tail)) else () if len(shape) == 1 else ("batch",)
        raise shape_error(self.op, name, shape, (*batch, *tail))

    def kept(
        self,
        value: Array,
        name: str,
        n: int,
        tails: Mapping[str, tuple[int, ...]],
        instances: int,
        sent: dict[tuple[Any, ...], tuple[npt.NDArray[Any], _featherstorm.Buffer]],
    ) -> Any:
        """Return the engine's copy of numbers (n,) or (instances, n) that stay from call to call, of any dtype on the CPU.
        `sent` keeps what was sent to devices until the numbers change."""
        array = np.asarray(value, self.dtype) if device_of(value) == HOST else self.array(value, name)
        count, _ = self.count(array.shape, name, n, tails)
        if count not in (1, instances):
            raise shape_error(self.op, name, array.shape, (instances, *tails.get(name, (n,))))
        return self.library.kept(array, (count, n), name, sent)

    def numbers(self, x: Array, name: str, n: str, instances: int) -> tuple[Array, bool]:
        """x as numbers (n,) of the CPU, of any dtype, that are the same for all instances (True), or as an array (n,) or
        (instances, n) of the call. Arrays of the CPU may have a row each only where the call is; None: no numbers."""
        here = device_of(x) == HOST
        values = self.array(x, name) if not here else np.zeros(0) if x is None else np.asarray(x, dtype=self.dtype)
        sizes = tuple(values.shape)
        if here and len(sizes) != 1 and self.library.device != HOST:
            where = f"{place(self.library.device)} as {self.first} is"
            raise ValueError(f"{self.op}: {name} is on the CPU, expected {where}, or shape ({n},)")
        if len(sizes) not in (1, 2) or (len(sizes) == 2 and sizes[0] not in (1, instances)):
            raise shape_error(self.op, name, sizes, (instances, n))
        if here and len(sizes) == 2 and sizes[0] != instances:
            values = values[0]
        return values, here and values.ndim == 1

    def output(self, instances: int, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
        """Return memory for an output (instances, n), and a function from the shape of a row to a view of it."""
        return self.library.output(NAMES[self.dtype.itemsize], instances, n)


class Arguments(Call):
    """The arrays of one call as (instances, n) or as one row that stands for all.

    rows: (name, n) of each; tails: the public shape of those that have one, such as (nb, 6) of 6 nb numbers.
    """

    def __init__(
        self,
        op: str,
        arguments: Sequence[Array],
        rows: Sequence[tuple[str, int]],
        tails: Mapping[str, tuple[int, ...]] = {},
    ) -> None:
        super().__init__(op, rows, arguments)
        self.batched, self.instances = False, 1
        memory, found = self.library.memory, []
        for x, (name, n) in zip(arguments, rows):
            array = self.array(x, name)
            count, alone = self.count(array.shape, name, n, tails)
            if not alone:
                self.batched = True
                if self.instances == 1:
                    self.instances = count
            found.append((array, count))
        self.arrays: list[Any] = []
        for (array, count), (name, n) in zip(found, rows):
            if count not in (1, self.instances):
                raise shape_error(op, name, array.shape, (self.instances, *tails.get(name, (n,))))
            self.arrays.append(memory(array, (count, n)))

    def result(self, view: Array) -> Array:
        """A view (instances, ...) as the user gets it."""
        return self.library.result(view if self.batched else view[0])
