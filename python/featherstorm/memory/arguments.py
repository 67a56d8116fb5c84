"""The arrays of one call: one place, one dtype, one library for the results.

An argument is (n,) for one instance or (B, n) for a batch; where the others are batches, (n,) and (1, n) stand for all
instances (no copy). The first array says what the others are expected to be; the first one on a device, where one lies there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..device import HOST, device_of
from .arrays import FLOATS, library_of, shape_error
from .device_libraries import device_library
from .host_libraries import NUMPY, host_library

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

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
        self.lead_array: Array = None
        self.lead = leading(arguments)
        if self.lead is not None:
            x, self.first = arguments[self.lead], rows[self.lead][0]
            device = device_of(x)
            self.library = host_library(x) if device == HOST else device_library(x, device, op, self.first)
            self.lead_array, self.dtype = self.library.array(x, op, self.first, dtype)

    def array(self, x: Array, name: str) -> Array:
        """x as an array of the call. Raises for one of another place or dtype."""
        array, dtype = self.library.array(x, self.op, name, self.dtype)
        if dtype != self.dtype:
            raise TypeError(f"{self.op}: {name} is {dtype}, expected {self.dtype} as {self.first} is")
        return array

    def output(self, instances: int, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
        """What the engine writes (instances, n) to, and a function from the rows' shape to a view of it."""
        return self.library.output(self.dtype.name, instances, n)


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
        memory, lead, found = self.library.memory, self.lead, []
        for k, (name, n) in enumerate(rows):
            array = self.lead_array if k == lead else self.array(arguments[k], name)
            count = self.count(array.shape, name, n, tails)
            if count is None:
                count = 1
            else:
                self.batched = True
                if self.instances == 1:
                    self.instances = count
            found.append((array, count))
        self.arrays: list[Any] = []
        for (array, count), (name, n) in zip(found, rows):
            if count not in (1, self.instances):
                raise shape_error(op, name, array.shape, (self.instances, *tails.get(name, (n,))))
            self.arrays.append(memory(array, (count, n)))

    def count(self, shape: tuple[int, ...], name: str, n: int, tails: Mapping[str, tuple[int, ...]]) -> int | None:
        """How many instances an array of (n,), (B, n), or the public shape of either, is of; None for one alone."""
        if len(shape) == 2 and shape[1] == n:
            return shape[0]
        tail = tails.get(name, (n,))
        if shape in ((n,), tail):
            return None
        if shape[1:] == tail:
            return shape[0]
        batch = shape[:1] if len(shape) in (2, 1 + len(tail)) else () if len(shape) == 1 else ("batch",)
        raise shape_error(self.op, name, shape, (*batch, *tail))

    def result(self, view: Array) -> Array:
        """A view (instances, ...) as the user gets it."""
        return self.library.result(view if self.batched else view[0])
