"""Array libraries on the CPU: inputs are numpy views of the same memory, results belong to the first library.

Those on devices (device_libraries.py) override what differs there; callers need not know the device of the arrays.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._optional import jax
from ..device import HOST
from .arrays import EngineArray, library_of, to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from ..typing import Array


class Library:
    """The library of a call's first array, and the device of all its arrays: here NumPy on the CPU.

    Results are views of the engine's memory.

    device     the engine's number of the device
    stream     the stream that the work is put on
    readable   True if numbers can be read without waiting for them
    """

    device: int = HOST
    stream: int = 0
    readable: bool = True

    def array(self, x: Array, op: str, name: str, dtype: np.dtype[Any]) -> tuple[Array, np.dtype[Any]]:
        """Return an array of this device, with the shape and the dtype of x; lists become numpy arrays of `dtype`.

        Raises for an array on another device, for a dtype that is not floating, and for objects that are no arrays. op
        and name are for messages ("rnea: q ...").
        """
        array = to_numpy(x, op, name, dtype)
        return array, array.dtype

    def memory(self, array: Array, shape: tuple[int, ...]) -> Any:
        """Return the memory of `array` that the engine reads, in another shape of equal size."""
        if type(array) is EngineArray and array.memory is not None:
            return array.memory
        return array if array.shape == shape else array.reshape(shape)

    def kept(
        self,
        array: Array,
        shape: tuple[int, ...],
        name: str,
        sent: dict[tuple[Any, ...], tuple[npt.NDArray[Any], _featherstorm.Buffer]],
    ) -> Any:
        """Like memory(), for an array that stays from call to call.

        Numbers on the CPU are sent to a device when they have changed; `sent` stores these copies by name and device.
        """
        return self.memory(array, shape)

    def written(self, array: Array, what: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """Return the memory of an array that is given for a result.

        Raises ValueError where the engine cannot write to it.
        """
        array = array if type(array) is EngineArray else np.asarray(array)
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(f"{what} is {array.dtype} of shape {array.shape}, expected {dtype} of shape {shape}")
        if not array.flags.writeable:
            raise ValueError(f"{what} cannot be written")
        return array

    def output(self, dtype: str, instances: int, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
        """Allocate an output (instances, n): return its memory, and a function from a row's shape to a view."""
        buffer = self.buffer(dtype, instances, n)
        return buffer, lambda tail: self.view(buffer, dtype, instances, tail)

    def view(self, buffer: _featherstorm.Buffer, dtype: str, instances: int, tail: Sequence[int]) -> Array:
        """Return the engine's memory as an array (instances, *tail)."""
        return buffer.view(tail)

    def result(self, view: Array) -> Array:
        """Return a view, or a part of one, in the form that the user receives."""
        return view

    def stack(self, arrays: Sequence[Array]) -> Array:
        """Stack arrays (B, n) to (B, n, k)."""
        return np.stack(arrays, axis=2)

    def spread(self, x: Array, index: npt.NDArray[np.intp]) -> Array:
        """Return x[:, index] for an index of any shape; an index behind the last column gives zeros."""
        instances, width = x.shape
        buffer = self.buffer(x.dtype.name, instances, index.size)
        columns: Array = buffer.view([index.size])
        for k, c in enumerate(index.ravel().tolist()):
            if c < width:
                columns[:, k] = x[:, c]
        return buffer.view(list(index.shape))

    def buffer(self, dtype: str, instances: int, n: int) -> _featherstorm.Buffer:
        """Allocate memory of the engine on this device."""
        return _featherstorm.Buffer(dtype, instances, n)

    def cost_dtype(self, dtype: str) -> str:
        """Return the dtype of costs in reductions over samples of `dtype`."""
        return "float64"

    def column(self, dtype: str, n: int) -> Any:
        """Allocate memory for numbers (n, 1) on this device."""
        return np.zeros((n, 1), dtype)

    def fill(self, column: Any, x: Array, op: str, name: str) -> None:
        """Write numbers (n,) on this device to a column."""
        column[:, 0] = x

    def cast(self, x: Array, op: str, name: str, dtype: np.dtype[Any]) -> Array:
        """Return x in a dtype: the CPU converts, on a device x must have the dtype already."""
        return np.asarray(x, dtype=dtype)

    def placed(self, numbers: npt.NDArray[Any]) -> Array:
        """Return numbers (n,) or (n, k) on the CPU as an array of the library on this device."""
        return numbers

    def assign(self, view: Array, value: Array, op: str, name: str) -> None:
        """Copy `value`, broadcast, from the CPU or this device to an array of the engine.

        Raises ValueError for other shapes and devices.
        """
        array = to_numpy(value, op, name, view.dtype)
        try:
            view[:] = array
        except ValueError:
            raise ValueError(f"{op}: {name} has shape {array.shape}, expected {view.shape}") from None


class Torch(Library):
    """Results are PyTorch's views of the engine's memory."""

    def result(self, view: npt.NDArray[Any]) -> Array:
        return sys.modules["torch"].from_numpy(view)


class Jax(Library):
    """Results are copies."""

    def result(self, view: npt.NDArray[Any]) -> Array:
        return jax.numpy.asarray(view)


class Standard(Library):
    """A library with a namespace of the array API standard, whose results are views; without one they are numpy's."""

    def __init__(self, lead: Array) -> None:
        self.lead = lead

    def result(self, view: npt.NDArray[Any]) -> Array:
        has_namespace = hasattr(self.lead, "__array_namespace__")
        return self.lead.__array_namespace__().from_dlpack(view) if has_namespace else view


NUMPY = Library()
ALONE: dict[str | None, Library] = {None: NUMPY, "numpy": NUMPY, "torch": Torch(), "jax": Jax()}


def host_library(lead: Array) -> Library:
    """Return the library of an array on the CPU; numpy's for a list."""
    kind = library_of(lead)
    return ALONE[kind] if kind in ALONE else Standard(lead)


def named_library(name: str, op: str) -> Library:
    """Import a library on the CPU by its name. Errors: ImportError where it is missing."""
    if name not in ALONE or name is None:
        raise ValueError(f"{op}: arrays is {name!r}, expected 'numpy', 'torch' or 'jax'")
    try:
        importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{op}: arrays is {name!r}, which is not installed: python -m pip install {name}") from error
    return ALONE[name]
