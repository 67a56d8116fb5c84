"""Arrays on CUDA devices.

Inputs are read in place by DLPack; results are arrays of the first input's library, on its device.

Work is put on a stream, and calls do not wait for it. The stream is PyTorch's or CuPy's current one where the first
array is theirs, the stream of the Simulation or of `featherstorm.zeros` where the array belongs to one, else the default stream. JAX, and
other libraries of the array API standard, have no access to our stream: with these a call waits until its results are
ready.
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
NO_WAIT = -1  # DLPack: the consumer orders the work itself


def device_of(x: Array) -> int:
    """Return the number of the CUDA device of an array, HOST for everything else."""
    if type(x) is np.ndarray or not hasattr(x, "__dlpack_device__"):
        return HOST
    kind, number = x.__dlpack_device__()
    return int(number) if int(kind) in (CUDA, CUDA_MANAGED) else HOST


def on_cpu(x: Array) -> bool:
    """Return True if an array is on the CPU; an array without DLPack counts as one."""
    return not hasattr(x, "__dlpack_device__") or int(x.__dlpack_device__()[0]) in (CPU, CUDA_HOST)


def device_number(device: object, what: str) -> int:
    """Return HOST for "cpu", and the number of "cuda" or "cuda:1", also for objects that print like these.

    Errors: ValueError for any other name.
    """
    text = str(device)
    if text == "cpu":
        return HOST
    kind, colon, number = text.partition(":")
    if kind != "cuda" or (colon and not number.isdigit()):
        raise ValueError(f"{what}: device is {device!r}, expected 'cpu', 'cuda' or 'cuda:NUMBER'")
    return int(number) if colon else 0


def device_name(number: int) -> str:
    """Return the name of a device, the inverse of device_number: "cpu", "cuda:1"."""
    return "cpu" if number == HOST else f"cuda:{number}"


def place(number: int) -> str:
    """Return the name of a device for messages."""
    return "the CPU" if number == HOST else f"CUDA device {number}"


class Stream:
    """A stream of a CUDA device, for `zeros` or a Simulation (stream=stream.number) and for CUDA graphs of their calls.

        stream = fs.device.Stream()
        sim = fs.Simulation(model, 4096, dt=2e-3, device="cuda", stream=stream.number)
        sim.step(tau)                                 # once, to allocate memory and load kernels
        graph = stream.capture(lambda: [sim.step(tau) for _ in range(20)])
        graph.launch()                                # the same again, as one launch

    A simulation alternates between two state buffers: capture an even number of its steps, else each launch begins with
    the state that the first one began with.
    Errors: ValueError with CUDA's message.
    """

    def __init__(self, device: object = "cuda") -> None:
        number = device if isinstance(device, int) else device_number(device, "Stream")
        if number == HOST:
            raise ValueError("Stream: device is 'cpu', expected 'cuda' or 'cuda:NUMBER'")
        self.device = number
        self.handle = _featherstorm.DeviceStream(self.device)
        self.number = self.handle.number

    def synchronise(self) -> None:
        """Wait until all work on the stream is done, and raise the errors of that work."""
        _featherstorm.synchronise(self.device, self.number)

    def capture(self, work: Callable[[], object]) -> Graph:
        """Record the work that work() puts on the stream, without running it, as a Graph.

        Arrays of these calls must stay alive.
        """
        return Graph(self, work)

    def elapsed(self, work: Callable[[], object]) -> float:
        """Return the device time of the work that work() puts on the stream [s]; waits for it."""
        return _featherstorm.elapsed(self.device, self.number, work)


class Graph:
    """Work that Stream.capture recorded."""

    def __init__(self, stream: Stream, work: Callable[[], object]) -> None:
        self.stream, self.work = stream, work  # keeps the arrays alive that `work` refers to
        self.handle = _featherstorm.DeviceGraph(stream.device, stream.number, work)

    def launch(self, stream: Stream | None = None) -> None:
        """Put the recorded work on the stream it was captured from, or on another stream of the same device."""
        self.handle.launch((stream or self.stream).number)


class DeviceArray:
    """An array in the engine's memory on a CUDA device, which any library with DLPack can import as a whole.

    torch.from_dlpack(x), cupy.from_dlpack(x), jax.numpy.from_dlpack(x)   share the memory; JAX must not reuse it
    numpy.asarray(x), x.numpy()                                          copy to the CPU; these wait
    x[:] = y                                                             copies y, broadcast, from the CPU or the device

    first   index of the first component in the buffer; None: the array is the whole buffer
    axis    axis of the instances; 0: the first one
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
        """Wait for the work on our stream, unless the reader uses the same stream or orders the work itself."""
        if stream != NO_WAIT and (stream or LEGACY_STREAM) != (self.stream or LEGACY_STREAM):
            _featherstorm.synchronise(self.device, self.stream)

    def capsule(self) -> Any:
        if self.first is None:
            return self.buffer.view(self.tail, self.axis)
        return self.buffer.columns(self.first, self.tail, self.axis)

    @property
    def memory(self) -> Any:
        """The array as the engine reads it, (instances, n)."""
        size = int(np.prod(self.tail))
        return self.buffer if self.first is None else self.buffer.columns(self.first, [size])

    def part(self, first: int, tail: Sequence[int]) -> DeviceArray:
        """Return the components from number `first` on as an array (instances, *tail) in the same memory."""
        first += self.first or 0
        return DeviceArray(self.buffer, tail, self.instances, self.dtype, self.device, self.stream, first)

    def numpy(self) -> npt.NDArray[Any]:
        """Return a copy on the CPU, a numpy array of the same shape."""
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
                "an array in the engine's memory on a device is written whole, by x[:] = ...: convert it first, as by "
                "torch.from_dlpack"
            )
        self.assign(np.asarray(value, self.dtype) if device_of(value) == HOST else value, "what is assigned")

    def assign(self, value: Array, what: str) -> None:
        """Copy an array, from the CPU (broadcast) or from the same device (same shape and dtype).

        Errors: ValueError, TypeError.
        """
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
    """The memory of a Buffer in its own layout: (components, stride), contiguous."""

    def __init__(
        self, buffer: _featherstorm.Buffer, components: int, dtype: npt.DTypeLike, device: int, stream: int
    ) -> None:
        super().__init__(buffer, [buffer.stride], components, dtype, device, stream)

    def capsule(self) -> Any:
        return self.buffer.rows()


def dtype_name(x: Array) -> str:
    """Return the name of any library's dtype, such as 'float32'."""
    return str(x.dtype).rpartition(".")[2]
