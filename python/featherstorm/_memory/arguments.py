"""The arrays of one call: one device, one dtype, one library for the results.

An argument is (n,) for one instance or (B, n) for a batch; where the others are batches, (n,) and (1, n) apply to all
instances (no copy). The leading array decides the device and dtype of the others: the first one on a device, else the
first one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._names import expect
from ..device import HOST, DeviceArray, device_number, device_of, place
from .arrays import FLOATS, NAMES, EngineArray, library_of, shape_error
from .device_libraries import Engine, device_library
from .host_libraries import NUMPY, Library, host_library

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from .. import _featherstorm
    from ..typing import Array


def leading(arguments: Sequence[Array]) -> int | None:
    """Return the index of the leading argument, which decides the device and dtype of the others; None for lists."""
    first = None
    for k, x in enumerate(arguments):
        if device_of(x) != HOST:
            return k
        if first is None and library_of(x) is not None:
            first = k
    return first


def if_on_device(x: Array) -> Array:
    """Return x, or None where it is on the CPU."""
    return None if device_of(x) == HOST else x


def place_of(x: Array, op: str, name: str) -> Library:
    """Return the library of an array on its device; on the CPU numpy's."""
    device = device_of(x)
    return NUMPY if device == HOST else device_library(x, device, op, name)


def engine_in(device: int, stream: int) -> Library:
    """Return the engine's own memory on a device."""
    return NUMPY if device == HOST else Engine(device, stream)


def zeros(shape: tuple[int, ...], dtype: npt.DTypeLike = "float32", device: object = "cpu", stream: int = 0) -> Any:
    """Return an array of zeros in the engine's memory, [component][instance], which the engine reads and writes fastest.

        q, v, tau, a = (fs.zeros((4096, n)) for n in (model.nq, model.nv, model.nv, model.nv))
        q[:] = model.q0
        fs.run(model, "fd", q, v, tau, out=a, check=False)       # copies and allocates nothing

    shape    (B, ...), the instances first
    device   "cpu": a NumPy array. "cuda" or "cuda:1": a device.DeviceArray; torch.from_dlpack(q) shares its memory
    stream   the number of the CUDA stream for all work with the array, such as torch.cuda.Stream().cuda_stream, which
             must outlive it; 0 is the default stream
    Errors: ValueError for a shape or device, TypeError for a dtype.
    """
    number, kind = device_number(device, "zeros"), np.dtype(dtype)
    if kind not in FLOATS:
        raise TypeError(f"zeros: dtype is {kind}, expected float32 or float64")
    expect(shape and min(shape) >= 0, "zeros: shape", shape, "(B, ...) of 0 or more")
    memory, view = engine_in(number, stream).output(kind.name, shape[0], math.prod(shape[1:]))
    array = view(shape[1:])
    if number == HOST:
        array = array.view(EngineArray)
        array.memory = memory
    return array


class Call:
    """The device, library and dtype of a call's arrays: those of the leading one.

    rows    each begins with the name of an argument
    dtype   of lists where no argument is an array
    """

    def __init__(
        self, op: str, rows: Sequence[tuple[Any, ...]], arguments: Sequence[Array], dtype: np.dtype[Any] = FLOATS[1]
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
        """Return x as an array of the call. Raises for an array on another device or of another dtype."""
        if x is self.lead and x is not None:
            return self.lead_array
        array, dtype = self.library.array(x, self.op, name, self.dtype)
        if dtype != self.dtype:
            raise TypeError(f"{self.op}: {name} is {dtype}, expected {self.dtype} as {self.first} is")
        return array

    def count(
        self, shape: tuple[int, ...], name: str, n: int, tails: Mapping[str, tuple[int, ...]]
    ) -> tuple[int, bool]:
        """Return the number of rows of an array, and True if it is one row without a batch axis.

        The array is (n,), (B, n), or has the public shape of either.
        """
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
        """Return the memory that the engine reads for numbers (n,) or (instances, n) that stay from call to call.

        The numbers may have any dtype on the CPU. `sent` stores the copies on devices until the numbers change.
        """
        array = np.asarray(value, self.dtype) if device_of(value) == HOST else self.array(value, name)
        count, _ = self.count(array.shape, name, n, tails)
        if count not in (1, instances):
            raise shape_error(self.op, name, array.shape, (instances, *tails.get(name, (n,))))
        return self.library.kept(array, (count, n), name, sent)

    def numbers(self, x: Array, name: str, n: str, instances: int, steps: int = 0) -> tuple[Array, bool]:
        """Return x as shared numbers (n,) on the CPU (True), or as an array (n,) or (instances, n) of the call (False).

        With steps also numbers for each step: shared (1, steps, n) as (steps, n), or (instances, steps, n). Shared
        numbers may have any dtype. An array on the CPU with a row for each instance is accepted only where the call
        runs on the CPU. None: no numbers.
        """
        here = device_of(x) == HOST
        values = self.array(x, name) if not here else np.zeros(0) if x is None else np.asarray(x, dtype=self.dtype)
        sizes = tuple(values.shape)
        each = steps > 0 and len(sizes) == 3
        shared = here and (len(sizes) == 1 or (each and sizes[0] == 1))
        if here and not shared and self.library.device != HOST:
            where = f"{place(self.library.device)} as {self.first} is"
            raise ValueError(f"{self.op}: {name} is on the CPU, expected {where}, or shape ({n},)")
        expected = (instances, steps, n) if each else (instances, n)
        rows = len(sizes) == 1 or sizes[0] in (1, instances)
        if len(sizes) not in (1, len(expected)) or not rows or (each and sizes[1] != steps):
            raise shape_error(self.op, name, sizes, expected)
        if here and len(sizes) > 1 and (shared or sizes[0] != instances):
            values = values[0]
        return values, here and (shared or values.ndim == 1)

    def output(self, instances: int, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
        """Allocate an output (instances, n): return its memory, and a function from a row's shape to a view."""
        return self.library.output(NAMES[self.dtype.itemsize], instances, n)


class Arguments(Call):
    """The arrays of one call as (instances, n) or as one row for all instances.

    rows   (name, n) of each
    tails  the public shape of arrays that have one, such as (nb, 6) of 6 nb numbers
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

    def written(self, x: Array, name: str, n: int, tail: tuple[int, ...]) -> Any:
        """Return the memory (instances, n) of an array that is given for an output. Errors: ValueError."""
        what, shape, device = f"{self.op}: out {name}", (self.instances, *tail) if self.batched else tail, device_of(x)
        if device != self.library.device or (device != HOST and not isinstance(x, DeviceArray)):
            raise ValueError(
                f"{what} is a {type(x).__name__} on {place(device)}, expected an array on {place(self.library.device)}"
                + ("" if self.library.device == HOST else ", made by featherstorm.zeros")
            )
        if isinstance(x, DeviceArray):
            if x.shape != shape or x.dtype != self.dtype:
                raise ValueError(f"{what} is {x.dtype} of shape {x.shape}, expected {self.dtype} of shape {shape}")
            return x.memory
        array = self.library.written(x, what, self.dtype, shape)
        if type(array) is EngineArray and array.memory is not None:
            return array.memory
        rows = array.reshape((self.instances, n))
        if rows.size and not np.may_share_memory(rows, array):  # a copy
            raise ValueError(f"{what} has strides {array.strides}, expected numbers of an instance in order")
        return rows

    def result(self, view: Array) -> Array:
        """Return a view (instances, ...) in the form that the user receives."""
        return self.library.result(view if self.batched else view[0])
