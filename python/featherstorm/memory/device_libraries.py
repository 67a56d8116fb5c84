"""What the engine needs of an array library on a CUDA device: its stream, memory for results, and a few functions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .. import _featherstorm
from ..device import LEGACY_STREAM, NO_WAIT, ComponentRows, DeviceArray, dtype_name, place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import numpy.typing as npt

    from ..typing import Array


class Library:
    """An array library with a namespace of the array API standard: its results are views, and wait."""

    def __init__(self, lead: Array, device: int) -> None:
        self.xp, self.lead, self.device, self.stream = self.namespace(lead), lead, device, 0

    def namespace(self, lead: Array) -> Any:
        return lead.__array_namespace__()

    def own(self, x: Array) -> bool:
        return type(x) is type(self.lead)

    def read(self, x: Array) -> Any:
        """A capsule of an array that the work on our stream may read."""
        return x.__dlpack__(stream=self.stream or LEGACY_STREAM)

    def output(self, instances: int, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
        """What the engine writes (instances, n) to, and a function from the rows' shape to the user's array."""
        dtype = dtype_name(self.lead)
        buffer = _featherstorm.Buffer(dtype, instances, n, self.device, self.stream)

        def result(tail: Sequence[int]) -> Array:
            return self.take(DeviceArray(buffer, tail, instances, dtype, self.device, self.stream))

        return buffer, result

    def take(self, array: DeviceArray) -> Array:
        _featherstorm.synchronise(self.device, self.stream)
        return self.xp.from_dlpack(array)

    def columns(self, x: Array, index: npt.NDArray[np.intp]) -> Array:
        """x[:, index]"""
        return self.xp.take(x, self.xp.asarray(index), axis=1)

    def stack(self, arrays: Sequence[Array]) -> Array:
        """Arrays (B, n) side by side as (B, n, k)."""
        return self.xp.stack(arrays, axis=2)

    def beside(self, x: Array, y: Array) -> Array:
        return self.xp.concat([x, y], axis=1)


class Jax(Library):
    """JAX's arrays lie row by row: its results are copies on the device."""

    def namespace(self, lead: Array) -> Any:
        import jax

        if isinstance(lead, jax.core.Tracer):
            raise TypeError("values under jax.jit, grad or vmap lie nowhere: call featherstorm outside of it")
        return jax.numpy

    def output(self, instances: int, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
        dtype = dtype_name(self.lead)
        buffer = _featherstorm.Buffer(dtype, instances, n, self.device, self.stream)

        def result(tail: Sequence[int]) -> Array:
            rows = self.take(ComponentRows(buffer, n, dtype, self.device, self.stream))
            return self.xp.moveaxis(rows.reshape((*tail, buffer.stride)), -1, 0)[:instances]

        return buffer, result


class Torch(Library):
    """PyTorch: memory is torch's own, and the work goes to its current stream."""

    def __init__(self, lead: Array, device: int) -> None:
        super().__init__(lead, device)
        self.stream = self.current_stream()

    def namespace(self, lead: Array) -> Any:
        return sys.modules["torch"]

    def current_stream(self) -> int:
        return int(self.xp.cuda.current_stream(self.lead.device).cuda_stream)

    def empty(self, shape: tuple[int, ...]) -> Array:
        return self.xp.empty(shape, dtype=self.lead.dtype, device=self.lead.device)

    def read(self, x: Array) -> Any:
        return x.__dlpack__(stream=NO_WAIT) if self.own(x) else super().read(x)

    def output(self, instances: int, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
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
    """CuPy: as PyTorch."""

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


class Engine(Library):
    """The engine's own arrays: results are DeviceArrays on the first one's stream."""

    def __init__(self, lead: Array, device: int) -> None:
        super().__init__(lead, device)
        self.stream = lead.stream

    def namespace(self, lead: Array) -> Any:
        return None

    def take(self, array: DeviceArray) -> Array:
        return array


def library_for(lead: Array, device: int, what: str) -> Library:
    root = type(lead).__module__.partition(".")[0]
    if isinstance(lead, DeviceArray):
        return Engine(lead, device)
    if root in ("jax", "jaxlib"):
        return Jax(lead, device)
    if root in ("torch", "cupy"):
        return {"torch": Torch, "cupy": CuPy}[root](lead, device)
    if hasattr(lead, "__array_namespace__"):
        return Library(lead, device)
    raise TypeError(
        f"{what} is of type {type(lead).__name__} on {place(device)}, expected an array of torch, cupy, jax "
        "or of a library with __array_namespace__"
    )
