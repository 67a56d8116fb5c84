"""Arrays on CUDA devices: taken by DLPack where they lie, results by the library of the first array on the same device.

Work is put on a stream and calls do not wait for it: on PyTorch's or CuPy's current stream where the first array is
theirs, on the stream of a Batch or Simulation where it is an array of one, else on the default stream. JAX, and other
libraries of the array API standard, know no stream of ours: with these a call waits until its results are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import _featherstorm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from .typing import Array

HOST = -1  # the engine's number of the CPU
CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13  # DLPack's device types
LEGACY_STREAM = 1  # DLPack's name for CUDA's default stream, whose number is 0
NO_WAIT = -1  # DLPack: the consumer sees to the order of the work itself


def device_of(x: Array) -> int:
    """The number of the CUDA device an array lies on, HOST for all else."""
    if type(x) is np.ndarray or not hasattr(x, "__dlpack_device__"):
        return HOST
    kind, number = x.__dlpack_device__()
    return int(number) if int(kind) in (CUDA, CUDA_MANAGED) else HOST


def on_cpu(x: Array) -> bool:
    """Return whether an array lies on the CPU, as far as DLPack tells."""
    return not hasattr(x, "__dlpack_device__") or int(x.__dlpack_device__()[0]) in (CPU, CUDA_HOST)


def device_number(device: object, what: str) -> int:
    """HOST for "cpu"; the number of "cuda", "cuda:1", or what prints like these. ValueError for all else."""
    text = str(device)
    if text == "cpu":
        return HOST
    kind, colon, number = text.partition(":")
    if kind != "cuda" or (colon and not number.isdigit()):
        raise ValueError(f"{what}: device is {device!r}, expected 'cpu', 'cuda' or 'cuda:NUMBER'")
    return int(number) if colon else 0


def device_name(number: int) -> str:
    """Return the name of a device number, the inverse of device_number: "cpu", "cuda:1"."""
    return "cpu" if number == HOST else f"cuda:{number}"


def place(number: int) -> str:
    """A device in a message."""
    return "the CPU" if number == HOST else f"CUDA device {number}"


class Stream:
    """A stream of a CUDA device, for a Batch or Simulation (stream=stream.number) and for graphs of what they do.

        stream = fs.device.Stream()
        sim = fs.Simulation(model, 4096, dt=2e-3, device="cuda", stream=stream.number)
        sim.step(tau)                                 # once, so that memory is there and kernels are loaded
        graph = stream.capture(lambda: [sim.step(tau) for _ in range(20)])
        graph.launch()                                # the same again, as one launch

    A simulation goes back and forth between two states: capture an even number of its steps, else each launch begins with the
    state that the first one began with.
    Raises ValueError with CUDA's words.
    """

    def __init__(self, device: object = "cuda") -> None:
        number = device if isinstance(device, int) else device_number(device, "Stream")
        if number == HOST:
            raise ValueError("Stream: device is 'cpu', expected 'cuda' or 'cuda:NUMBER'")
        self.device = number
        self.handle = _featherstorm.DeviceStream(self.device)
        self.number = self.handle.number

    def synchronise(self) -> None:
        """Waits until everything given to the stream is done, and raises what went wrong there."""
        _featherstorm.synchronise(self.device, self.number)

    def capture(self, work: Callable[[], object]) -> Graph:
        """A Graph of what work() gives to the stream, which is kept instead of done. Arrays of these calls must stay."""
        return Graph(self, work)

    def elapsed(self, work: Callable[[], object]) -> float:
        """Seconds that what work() gives to the stream takes on the device; waits for it."""
        return _featherstorm.elapsed(self.device, self.number, work)


class Graph:
    """The work that Stream.capture recorded."""

    def __init__(self, stream: Stream, work: Callable[[], object]) -> None:
        self.stream, self.work = stream, work  # and with it the arrays
        self.handle = _featherstorm.DeviceGraph(stream.device, stream.number, work)

    def launch(self, stream: Stream | None = None) -> None:
        """Gives all of it to the stream it was captured from, or to another of the same device."""
        self.handle.launch((stream or self.stream).number)


class DeviceArray:
    """An array in the engine's memory on a CUDA device, taken whole by any library with DLPack.

    torch.from_dlpack(x), cupy.from_dlpack(x), jax.numpy.from_dlpack(x)   the same memory, not for JAX's own use
    numpy.asarray(x), x.numpy()                                          a copy on the CPU; it waits
    x[:] = y                                                             copies what broadcasts to it, from the CPU or the device

    first   the number of its first component in the buffer; None: it is the whole buffer
    axis    that of the instances; 0: the first one
    """

    def __init__(
        self,
        buffer: _featherstorm.Buffer,
        tail: Sequence[int],
        instances: int,
        dtype: npt.DTypeLike,
        device: int,
        stream: int,
        first: int | None = None,
        axis: int = 0,
    ) -> None:
        self.buffer, self.first, self.axis = buffer, first, axis
        self.tail, self.instances = list(tail), instances
        self.shape = (*tail[:axis], instances, *tail[axis:])
        self.dtype, self.device, self.stream = np.dtype(dtype), device, stream

    def __dlpack_device__(self) -> tuple[int, int]:
        return (CUDA, self.device)

    def __dlpack__(self, *, stream: int | None = None, **_: object) -> Any:
        self.settle(stream)
        return self.capsule()

    def settle(self, stream: int | None) -> None:
        """Waits for the work on our stream, unless the reader's is the same or sees to the order itself."""
        if stream != NO_WAIT and (stream or LEGACY_STREAM) != (self.stream or LEGACY_STREAM):
            _featherstorm.synchronise(self.device, self.stream)

    def capsule(self) -> Any:
        if self.first is None:
            return self.buffer.view(self.tail, self.axis)
        return self.buffer.columns(self.first, self.tail, self.axis)

    @property
    def memory(self) -> Any:
        """(instances, n) as the engine takes it."""
        size = int(np.prod(self.tail))
        return self.buffer if self.first is None else self.buffer.columns(self.first, [size])

    def part(self, first: int, tail: Sequence[int]) -> DeviceArray:
        """Some of its components, from number `first` on, as an array (instances, *tail) in the same memory."""
        first += self.first or 0
        return DeviceArray(self.buffer, tail, self.instances, self.dtype, self.device, self.stream, first)

    def numpy(self) -> npt.NDArray[Any]:
        """A copy on the CPU, a numpy array of the same shape."""
        host = _featherstorm.Buffer(self.dtype.name, self.instances, int(np.prod(self.tail)))
        _featherstorm.copy(self.memory, host, self.stream)
        copy: Array = host.view(self.tail, self.axis)
        return copy

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError(f"an array on {place(self.device)} cannot become a numpy array without a copy")
        return self.numpy().astype(dtype or self.dtype, copy=False)

    def __getitem__(self, index: object) -> NoReturn:
        raise TypeError(
            "an array in the engine's memory on a device is taken whole: convert it first, as by torch.from_dlpack"
        )

    def __setitem__(self, index: object, value: Array) -> None:
        if index is not Ellipsis and index != slice(None):
            raise TypeError(
                "an array in the engine's memory on a device is written whole, by x[:] = ...: convert it first, as by torch.from_dlpack"
            )
        self.assign(np.asarray(value, self.dtype) if device_of(value) == HOST else value, "what is assigned")

    def assign(self, value: Array, what: str) -> None:
        """Copies an array that broadcasts to this one's shape, from the CPU or the same device. Raises ValueError."""
        if self.axis:
            raise ValueError(f"{what}: an array with its instances on axis {self.axis} is read, not written")
        device = device_of(value)
        if device == HOST:
            try:
                value = np.broadcast_to(value, self.shape).reshape(self.instances, int(np.prod(self.tail)))
            except ValueError:
                raise ValueError(f"{what} has shape {np.shape(value)}, expected {self.shape}") from None
        elif device != self.device:
            raise ValueError(f"{what} is on {place(device)}, expected {place(self.device)} or the CPU")
        elif tuple(value.shape) != self.shape:
            raise ValueError(f"{what} has shape {tuple(value.shape)}, expected {self.shape}")
        elif dtype_name(value) != self.dtype.name:
            raise TypeError(f"{what} is {dtype_name(value)}, expected {self.dtype}")
        elif isinstance(value, DeviceArray):
            value.settle(self.stream)
            value = value.memory
        else:
            value = value.reshape((self.instances, int(np.prod(self.tail)))).__dlpack__(
                stream=self.stream or LEGACY_STREAM
            )
        _featherstorm.copy(value, self.memory, self.stream)

    def __repr__(self) -> str:
        return f"<featherstorm.DeviceArray {self.shape} {self.dtype} on {place(self.device)}>"


class ComponentRows(DeviceArray):
    """The memory of a Buffer as it lies: (components, stride), contiguous."""

    def __init__(
        self, buffer: _featherstorm.Buffer, components: int, dtype: npt.DTypeLike, device: int, stream: int
    ) -> None:
        super().__init__(buffer, [buffer.stride], components, dtype, device, stream)

    def capsule(self) -> Any:
        return self.buffer.rows()


def dtype_name(x: Array) -> str:
    """'float32' of any library's dtype."""
    return str(x.dtype).rpartition(".")[2]
