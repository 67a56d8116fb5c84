"""Arrays on CUDA devices: taken by DLPack where they lie, results by the library of the first array on the same device.

Work is put on a stream and calls do not wait for it: on PyTorch's or CuPy's current stream where the first array is
theirs, on the stream of a Batch or Simulation where it is an array of one, else on the default stream. JAX, and other
libraries of the array API standard, know no stream of ours: with these a call waits until its results are there.
"""

import sys

import numpy as np

from . import _featherstorm
from .arrays import Arguments, shape_error

CUDA, CUDA_MANAGED = 2, 13  # DLPack's device types
LEGACY_STREAM = 1  # DLPack's name for CUDA's default stream, whose number is 0
NO_WAIT = -1  # DLPack: the consumer sees to the order of the work itself


def device_of(x):
    """The number of the CUDA device an array lies on, None for all else."""
    if type(x) is np.ndarray or not hasattr(x, "__dlpack_device__"):
        return None
    kind, number = x.__dlpack_device__()
    return int(number) if int(kind) in (CUDA, CUDA_MANAGED) else None


def device_number(device, what):
    """None for "cpu"; the number of "cuda", "cuda:1", or what prints like these. ValueError for all else."""
    text = str(device)
    if text == "cpu":
        return None
    kind, colon, number = text.partition(":")
    if kind != "cuda" or (colon and not number.isdigit()):
        raise ValueError(f"{what}: device is {device!r}, expected 'cpu', 'cuda' or 'cuda:NUMBER'")
    return int(number) if colon else 0


def place(number):
    return "the CPU" if number is None else f"CUDA device {number}"


class DeviceArray:
    """An array in the engine's memory on a CUDA device, taken whole by any library with DLPack.

    torch.from_dlpack(x), cupy.from_dlpack(x), jax.numpy.from_dlpack(x)   the same memory, not for JAX's own use
    numpy.asarray(x), x.numpy()                                          a copy on the CPU; it waits
    """

    def __init__(self, buffer, tail, instances, dtype, device, stream):
        self.buffer = buffer
        self.tail, self.shape = list(tail), (instances, *tail)
        self.dtype, self.device, self.stream = np.dtype(dtype), device, stream

    def __dlpack_device__(self):
        return (CUDA, self.device)

    def __dlpack__(self, *, stream=None, **_):
        if stream != NO_WAIT and (stream or LEGACY_STREAM) != (self.stream or LEGACY_STREAM):
            _featherstorm.synchronise(self.device, self.stream)
        return self.capsule()

    def capsule(self):
        return self.buffer.view(self.tail)

    def numpy(self):
        """A copy on the CPU, a numpy array of the same shape."""
        host = _featherstorm.Buffer(self.dtype.name, self.shape[0], int(np.prod(self.tail)))
        _featherstorm.copy(self.buffer, host, self.stream)
        return host.view(self.tail)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError(f"an array on {place(self.device)} cannot become a numpy array without a copy")
        return self.numpy().astype(dtype or self.dtype, copy=False)

    def __getitem__(self, index):
        raise TypeError(
            "an array in the engine's memory on a device is taken whole: convert it first, as by torch.from_dlpack"
        )

    def assign(self, value, what):
        """Copies an array that broadcasts to this one's shape, from the CPU or the same device. Raises ValueError."""
        device = device_of(value)
        if device is None:
            try:
                value = np.broadcast_to(value, self.shape).reshape(self.shape[0], -1)
            except ValueError:
                raise ValueError(f"{what} has shape {np.shape(value)}, expected {self.shape}") from None
        elif device != self.device:
            raise ValueError(f"{what} is on {place(device)}, expected {place(self.device)} or the CPU")
        elif tuple(value.shape) != self.shape:
            raise ValueError(f"{what} has shape {tuple(value.shape)}, expected {self.shape}")
        elif dtype_name(value) != self.dtype.name:
            raise TypeError(f"{what} is {dtype_name(value)}, expected {self.dtype}")
        elif isinstance(value, DeviceArray):
            value = value.buffer
        else:
            value = value.reshape((self.shape[0], -1)).__dlpack__(stream=self.stream or LEGACY_STREAM)
        _featherstorm.copy(value, self.buffer, self.stream)

    def __repr__(self):
        return f"<featherstorm.DeviceArray {self.shape} {self.dtype} on {place(self.device)}>"


class ComponentRows(DeviceArray):
    """The memory of a Buffer as it lies: (components, stride), contiguous."""

    def __init__(self, buffer, components, dtype, device, stream):
        super().__init__(buffer, [buffer.stride], components, dtype, device, stream)

    def capsule(self):
        return self.buffer.rows()


def dtype_name(x):
    """'float32' of any library's dtype."""
    return str(x.dtype).rpartition(".")[2]


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


def collect(op, arguments, rows, tails={}):
    """The arrays of a call: DeviceArguments where one lies on a device, else Arguments."""
    on_device = any(device_of(x) is not None for x in arguments)
    return (DeviceArguments if on_device else Arguments)(op, arguments, rows, tails)


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


class DeviceArguments:
    """The arrays of one call on a device, as `arrays.Arguments` has those on the CPU: (instances, n) or one row.

    Nothing is read here: quaternions are not checked, because that would make the call wait.
    """

    def __init__(self, op, arguments, rows, tails={}):
        devices = [device_of(x) for x in arguments]
        lead = next(k for k, number in enumerate(devices) if number is not None)
        self.device, first = devices[lead], rows[lead][0]
        self.library = library_for(arguments[lead], self.device, f"{op}: {first}")
        self.stream, self.dtype = self.library.stream, np.dtype(self.checked_dtype(op, first, arguments[lead]))
        self.batched, self.arrays, counts = False, [], []
        for x, number, (name, n) in zip(arguments, devices, rows):
            tail = tails.get(name, (n,))
            if number is None and (isinstance(x, np.ndarray) or hasattr(x, "__dlpack__")):
                raise ValueError(f"{op}: {name} is on the CPU, expected {place(self.device)} as {first} is")
            if number is None:
                self.arrays.append(self.uploaded(op, name, n, x))
                counts.append(1)
                continue
            if number != self.device:
                raise ValueError(f"{op}: {name} is on {place(number)}, expected {place(self.device)} as {first} is")
            if self.checked_dtype(op, name, x) != self.dtype:
                raise TypeError(f"{op}: {name} is {dtype_name(x)}, expected {self.dtype} as {first} is")
            shape = tuple(int(k) for k in x.shape)
            alone = shape in ((n,), tail)
            if not alone and shape[1:] not in ((n,), tail):
                raise shape_error(op, name, shape, ("batch", *tail))
            self.batched = self.batched or not alone
            counts.append(1 if alone else shape[0])
            whole = isinstance(x, DeviceArray)
            self.arrays.append(x.buffer if whole else self.library.read(x.reshape((counts[-1], n))))
        self.instances = next((k for k in counts if k != 1), 1)
        for x, count, (name, n) in zip(arguments, counts, rows):
            if count not in (1, self.instances):
                raise shape_error(op, name, x.shape, (self.instances, *tails.get(name, (n,))))

    def checked_dtype(self, op, name, x):
        if getattr(x, "requires_grad", False):
            raise TypeError(
                f"{op}: {name} requires a gradient, and operations have none in PyTorch: pass it with .detach()"
            )
        if dtype_name(x) not in ("float32", "float64"):
            raise TypeError(f"{op}: {name} is {dtype_name(x)}, expected float32 or float64")
        return dtype_name(x)

    def uploaded(self, op, name, n, numbers):
        """A list of numbers as a row on the device; zeros are not sent."""
        try:
            row = np.asarray(numbers, dtype=self.dtype)
        except (TypeError, ValueError):
            raise TypeError(f"{op}: {name} is a {type(numbers).__name__} that is no array of numbers") from None
        if row.shape != (n,):
            raise shape_error(op, name, row.shape, (n,))
        buffer = _featherstorm.Buffer(self.dtype.name, 1, n, self.device, self.stream)
        if row.any():
            _featherstorm.copy(row[None], buffer, self.stream)
        return buffer

    def output(self, n):
        return self.library.output(self.instances, n)

    def spread(self, x, index):
        """x[:, index], with zeros where the index is that of a column behind the last."""
        return self.library.columns(self.library.beside(x, self.library.xp.zeros_like(x[:, :1])), index)

    def stack(self, arrays):
        return self.library.stack(arrays)

    def result(self, view):
        """An array (instances, ...) as the user gets it."""
        return view if self.batched else view[0]
