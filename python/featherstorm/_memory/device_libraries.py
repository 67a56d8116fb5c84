"""Array libraries on a CUDA device: the stream for a call's work, memory for results, and a few functions.

No numbers are read here: quaternions are not checked, because the check would make the call wait.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._optional import jax
from ..device import HOST, LEGACY_STREAM, NO_WAIT, ComponentRows, DeviceArray, device_of, dtype_name, place
from .arrays import FLOATS, to_numpy
from .host_libraries import Library

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from ..typing import Array


DTYPES = {dtype.name: dtype for dtype in FLOATS}


class Device(Library):
    """An array library with a namespace of the array API standard: its results are views, and calls wait.

    lead    the call's first array on a device
    first   its name, for messages
    """

    readable = False

    def __init__(self, lead: Array, device: int, first: str) -> None:
        self.xp, self.lead, self.device, self.first = self.namespace(lead), lead, device, first

    def namespace(self, lead: Array) -> Any:
        return lead.__array_namespace__()

    def array(self, x: Array, op: str, name: str, dtype: np.dtype[Any]) -> tuple[Array, np.dtype[Any]]:
        number = device_of(x)
        if number != self.device and (number != HOST or isinstance(x, np.ndarray) or hasattr(x, "__dlpack__")):
            raise ValueError(f"{op}: {name} is on {place(number)}, expected {place(self.device)} as {self.first} is")
        if number == HOST:
            try:
                return np.asarray(x, dtype=dtype), dtype
            except (TypeError, ValueError):
                raise TypeError(f"{op}: {name} is a {type(x).__name__} that is no array of numbers") from None
        if getattr(x, "requires_grad", False):
            raise TypeError(
                f"{op}: {name} requires a gradient: call the function of featherstorm.torch, or pass it with .detach()"
            )
        own = dtype_name(x)
        if own not in DTYPES:
            raise TypeError(f"{op}: {name} is {own}, expected float32 or float64")
        return x, DTYPES[own]

    def memory(self, array: Array, shape: tuple[int, ...]) -> Any:
        if isinstance(array, DeviceArray):
            array.settle(self.stream)
            return array.memory
        if type(array) is np.ndarray:
            return self.uploaded(array.reshape(shape))
        return self.read(array if tuple(array.shape) == shape else array.reshape(shape))

    def uploaded(self, rows: npt.NDArray[Any]) -> _featherstorm.Buffer:
        """Copy numbers on the CPU to the device as rows; zeros are not sent."""
        rows = rows.reshape(rows.shape[0], math.prod(rows.shape[1:]))
        buffer = self.buffer(rows.dtype.name, *rows.shape)
        if rows.any():
            _featherstorm.copy(rows, buffer, self.stream)
        return buffer

    def kept(
        self,
        array: Array,
        shape: tuple[int, ...],
        name: str,
        sent: dict[tuple[Any, ...], tuple[npt.NDArray[Any], _featherstorm.Buffer]],
    ) -> Any:
        if device_of(array) != HOST:
            return self.memory(array, shape)
        key = (name, array.dtype.name, self.device, self.stream)
        if key not in sent or not np.array_equal(sent[key][0], array):
            rows = np.array(array).reshape(shape)
            buffer = self.buffer(array.dtype.name, *shape)
            _featherstorm.copy(rows, buffer, self.stream)
            sent[key] = rows.reshape(array.shape), buffer
        return sent[key][1]

    def written(self, array: Array, what: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
        raise ValueError(f"{what}: out is for the CPU; on a device results lie in memory that is kept between calls")

    def buffer(self, dtype: str, instances: int, n: int) -> _featherstorm.Buffer:
        return _featherstorm.Buffer(dtype, instances, n, self.device, self.stream)

    def own(self, x: Array) -> bool:
        return type(x) is type(self.lead)

    def read(self, x: Array) -> Any:
        """Return a capsule of an array, safe to read for work on our stream."""
        return x.__dlpack__(stream=self.stream or LEGACY_STREAM)

    def output(self, dtype: str, instances: int, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
        buffer = self.buffer(dtype, instances, n)
        return buffer, lambda tail: self.view(buffer, dtype, instances, tail)

    def view(self, buffer: _featherstorm.Buffer, dtype: str, instances: int, tail: Sequence[int]) -> Array:
        return self.take(DeviceArray(buffer, tail, instances, dtype, self.device, self.stream))

    def cost_dtype(self, dtype: str) -> str:
        return dtype

    def column(self, dtype: str, n: int) -> _featherstorm.Buffer:
        return self.buffer(dtype, n, 1)

    def fill(self, column: _featherstorm.Buffer, x: Array, op: str, name: str) -> None:
        array, _ = self.array(x, op, name, FLOATS[1])
        _featherstorm.copy(self.memory(array, (x.shape[0], 1)), column, self.stream)

    def cast(self, x: Array, op: str, name: str, dtype: np.dtype[Any]) -> Array:
        array, own = self.array(x, op, name, dtype)
        if own != dtype:
            raise TypeError(f"{op}: {name} is {own}, expected {dtype}")
        return array

    def placed(self, numbers: npt.NDArray[Any]) -> Array:
        rows = np.ascontiguousarray(numbers).reshape(len(numbers), -1)
        memory, result = self.output(numbers.dtype.name, *rows.shape)
        _featherstorm.copy(rows, memory, self.stream)
        return result(numbers.shape[1:])

    def take(self, array: DeviceArray) -> Array:
        _featherstorm.synchronise(self.device, self.stream)
        return self.xp.from_dlpack(array)

    def spread(self, x: Array, index: npt.NDArray[np.intp]) -> Array:
        columns = self.columns(self.beside(x, self.xp.zeros_like(x[:, :1])), index.ravel())
        return columns.reshape((x.shape[0], *index.shape))

    def columns(self, x: Array, index: npt.NDArray[np.intp]) -> Array:
        """Return x[:, index]."""
        return self.xp.take(x, self.xp.asarray(index), axis=1)

    def stack(self, arrays: Sequence[Array]) -> Array:
        return self.xp.stack(arrays, axis=2)

    def beside(self, x: Array, y: Array) -> Array:
        return self.xp.concat([x, y], axis=1)


class Jax(Device):
    """JAX's arrays are row-major: its results are copies on the device."""

    def namespace(self, lead: Array) -> Any:
        if isinstance(lead, jax.core.Tracer):
            raise TypeError("values under jax.jit, grad or vmap lie nowhere: call featherstorm outside of it")
        return jax.numpy

    def output(self, dtype: str, instances: int, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
        buffer = self.buffer(dtype, instances, n)

        def result(tail: Sequence[int]) -> Array:
            rows = self.take(ComponentRows(buffer, n, dtype, self.device, self.stream))
            return self.xp.moveaxis(rows.reshape((*tail, buffer.stride)), -1, 0)[:instances]

        return buffer, result


class Torch(Device):
    """PyTorch: memory is PyTorch's own, and the work is put on its current stream."""

    def __init__(self, lead: Array, device: int, first: str) -> None:
        super().__init__(lead, device, first)
        self.stream = self.current_stream()

    def namespace(self, lead: Array) -> Any:
        return sys.modules["torch"]

    def current_stream(self) -> int:
        return int(self.xp.cuda.current_stream(self.lead.device).cuda_stream)

    def empty(self, shape: tuple[int, ...]) -> Array:
        return self.xp.empty(shape, dtype=self.lead.dtype, device=self.lead.device)

    def read(self, x: Array) -> Any:
        return x.__dlpack__(stream=NO_WAIT) if self.own(x) else super().read(x)

    def output(self, dtype: str, instances: int, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
        stride = (instances + 15) // 16 * 16
        memory = self.empty((n, stride))

        def result(tail: Sequence[int]) -> Array:
            return self.xp.moveaxis(memory.reshape((*tail, stride)), -1, 0)[:instances]

        return memory.T[:instances].__dlpack__(stream=NO_WAIT), result

    def columns(self, x: Array, index: npt.NDArray[np.intp]) -> Array:
        return x[:, index.tolist()]

    def stack(self, arrays: Sequence[Array]) -> Array:
        return self.xp.stack(arrays, 2)

    def beside(self, x: Array, y: Array) -> Array:
        return self.xp.cat([x, y], 1)


class CuPy(Torch):
    """CuPy, treated like PyTorch."""

    def namespace(self, lead: Array) -> Any:
        return sys.modules["cupy"]

    def current_stream(self) -> int:
        with self.xp.cuda.Device(self.device):
            return int(self.xp.cuda.get_current_stream().ptr)

    def empty(self, shape: tuple[int, ...]) -> Array:
        with self.xp.cuda.Device(self.device):
            return self.xp.empty(shape, dtype=self.lead.dtype)

    def beside(self, x: Array, y: Array) -> Array:
        return self.xp.concatenate([x, y], 1)


class Engine(Device):
    """The engine's own arrays: results are DeviceArrays on a stream."""

    def __init__(self, device: int, stream: int, first: str = "") -> None:
        self.xp, self.device, self.stream, self.first = None, device, stream, first

    def take(self, array: DeviceArray) -> Array:
        return array

    def own(self, x: Array) -> bool:
        return isinstance(x, DeviceArray)

    def assign(self, view: DeviceArray, value: Array, op: str, name: str) -> None:
        if device_of(value) == HOST:
            value = to_numpy(value, op, name, view.dtype).astype(view.dtype)
        view.assign(value, f"{op}: {name}")


KNOWN: dict[str, type[Device]] = {"jax": Jax, "jaxlib": Jax, "torch": Torch, "cupy": CuPy}


def device_library(lead: Array, device: int, op: str, first: str) -> Library:
    """Return the library of an array on a device; op and first, the array's name, are for messages."""
    root = type(lead).__module__.partition(".")[0]
    if isinstance(lead, DeviceArray):
        return Engine(device, lead.stream, first)
    if root in KNOWN:
        return KNOWN[root](lead, device, first)
    if hasattr(lead, "__array_namespace__"):
        return Device(lead, device, first)
    raise TypeError(
        f"{op}: {first} is of type {type(lead).__name__} on {place(device)}, expected an array of torch, cupy, jax "
        "or of a library with __array_namespace__"
    )
