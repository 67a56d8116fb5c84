"""What the engine needs of an array library on a CUDA device: its stream, memory for results, and a few functions."""

import sys

from .. import _featherstorm
from ..device import LEGACY_STREAM, NO_WAIT, ComponentRows, DeviceArray, dtype_name, place


class Library:
    """An array library with a namespace of the array API standard: its results are views, and wait."""

    def __init__(self, lead, device):
        self.xp, self.lead, self.device, self.stream = self.namespace(lead), lead, device, 0

    def namespace(self, lead):
        return lead.__array_namespace__()

    def own(self, x):
        return type(x) is type(self.lead)

    def read(self, x):
        """A capsule of an array that the work on our stream may read."""
        return x.__dlpack__(stream=self.stream or LEGACY_STREAM)

    def output(self, instances, n):
        """What the engine writes (instances, n) to, and a function from the rows' shape to the user's array."""
        dtype = dtype_name(self.lead)
        buffer = _featherstorm.Buffer(dtype, instances, n, self.device, self.stream)

        def result(tail):
            return self.take(DeviceArray(buffer, tail, instances, dtype, self.device, self.stream))

        return buffer, result

    def take(self, array):
        _featherstorm.synchronise(self.device, self.stream)
        return self.xp.from_dlpack(array)

    def columns(self, x, index):
        """x[:, index]"""
        return self.xp.take(x, self.xp.asarray(index), axis=1)

    def stack(self, arrays):
        """Arrays (B, n) side by side as (B, n, k)."""
        return self.xp.stack(arrays, axis=2)

    def beside(self, x, y):
        return self.xp.concat([x, y], axis=1)


class Jax(Library):
    """JAX's arrays lie row by row: its results are copies on the device."""

    def namespace(self, lead):
        import jax

        if isinstance(lead, jax.core.Tracer):
            raise TypeError("values under jax.jit, grad or vmap lie nowhere: call featherstorm outside of it")
        return jax.numpy

    def output(self, instances, n):
        dtype = dtype_name(self.lead)
        buffer = _featherstorm.Buffer(dtype, instances, n, self.device, self.stream)

        def result(tail):
            rows = self.take(ComponentRows(buffer, n, dtype, self.device, self.stream))
            return self.xp.moveaxis(rows.reshape((*tail, buffer.stride)), -1, 0)[:instances]

        return buffer, result


class Torch(Library):
    """PyTorch: memory is torch's own, and the work goes to its current stream."""

    def __init__(self, lead, device):
        super().__init__(lead, device)
        self.stream = self.current_stream()

    def namespace(self, lead):
        return sys.modules["torch"]

    def current_stream(self):
        return int(self.xp.cuda.current_stream(self.lead.device).cuda_stream)

    def empty(self, shape):
        return self.xp.empty(shape, dtype=self.lead.dtype, device=self.lead.device)

    def read(self, x):
        return x.__dlpack__(stream=NO_WAIT) if self.own(x) else super().read(x)

    def output(self, instances, n):
        stride = (instances + 15) // 16 * 16
        memory = self.empty((n, stride))

        def result(tail):
            return self.xp.moveaxis(memory.reshape((*tail, stride)), -1, 0)[:instances]

        return memory.T[:instances].__dlpack__(stream=NO_WAIT), result

    def columns(self, x, index):
        return x[:, index.tolist()]

    def stack(self, arrays):
        return self.xp.stack(arrays, 2)

    def beside(self, x, y):
        return self.xp.cat([x, y], 1)


class CuPy(Torch):
    """CuPy: as PyTorch."""

    def namespace(self, lead):
        return sys.modules["cupy"]

    def current_stream(self):
        with self.xp.cuda.Device(self.device):
            return int(self.xp.cuda.get_current_stream().ptr)

    def empty(self, shape):
        with self.xp.cuda.Device(self.device):
            return self.xp.empty(shape, dtype=self.lead.dtype)

    def beside(self, x, y):
        return self.xp.concatenate([x, y], 1)


class Engine(Library):
    """The engine's own arrays: results are DeviceArrays on the first one's stream."""

    def __init__(self, lead, device):
        super().__init__(lead, device)
        self.stream = lead.stream

    def namespace(self, lead):
        return None

    def take(self, array):
        return array


def library_for(lead, device, what):
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
