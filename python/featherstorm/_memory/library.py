"""Interface of a call to an array library on the CPU or on a device.

`host_libraries` has the implementations for the CPU, `device_libraries` those for devices. Callers need not know the
device of the arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..device import HOST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import numpy.typing as npt

    from .. import _featherstorm
    from ..typing import Array


class Library:
    """The library of a call's first array, and the device of all its arrays.

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
        raise NotImplementedError

    def memory(self, array: Array, shape: tuple[int, ...]) -> Any:
        """Return the memory of `array` that the engine reads, in another shape of equal size."""
        raise NotImplementedError

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
        raise NotImplementedError

    def output(self, dtype: str, instances: int, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
        """Allocate an output (instances, n): return its memory, and a function from a row's shape to a view."""
        raise NotImplementedError

    def result(self, view: Array) -> Array:
        """Return a view, or a part of one, in the form that the user receives."""
        return view

    def stack(self, arrays: Sequence[Array]) -> Array:
        """Stack arrays (B, n) to (B, n, k)."""
        raise NotImplementedError

    def spread(self, x: Array, index: npt.NDArray[np.intp]) -> Array:
        """Return x[:, index] for an index of any shape; an index behind the last column gives zeros."""
        raise NotImplementedError

    def buffer(self, dtype: str, instances: int, n: int) -> _featherstorm.Buffer:
        """Allocate memory of the engine on this device."""
        raise NotImplementedError

    def cost_dtype(self, dtype: str) -> str:
        """Return the dtype of costs in reductions over samples of `dtype`."""
        raise NotImplementedError

    def column(self, dtype: str, n: int) -> Any:
        """Allocate memory for numbers (n, 1) on this device."""
        raise NotImplementedError

    def fill(self, column: Any, x: Array, op: str, name: str) -> None:
        """Write numbers (n,) on this device to a column."""
        raise NotImplementedError

    def cast(self, x: Array, op: str, name: str, dtype: np.dtype[Any]) -> Array:
        """Return x in a dtype: the CPU converts, on a device x must have the dtype already."""
        raise NotImplementedError

    def placed(self, numbers: npt.NDArray[Any]) -> Array:
        """Return numbers (n,) or (n, k) on the CPU as an array of the library on this device."""
        raise NotImplementedError

    def assign(self, view: Array, value: Array, op: str, name: str) -> None:
        """Copy `value`, broadcast, from the CPU or this device to an array of the engine.

        Raises ValueError for other shapes and devices.
        """
        raise NotImplementedError
