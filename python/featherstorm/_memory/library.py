"""Services of an array library on one device: the CPU, or a GPU.

`host_libraries` has those of the CPU, `device_libraries` those of devices. Whoever asks need not know where the arrays lie.
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
    """The library of a call's first array, and the place of all its arrays.

    device     the engine's number of the place
    stream     the stream that the work is put on
    readable   whether numbers can be looked at without waiting for them
    """

    device: int = HOST
    stream: int = 0
    readable: bool = True

    def array(self, x: Array, op: str, name: str, dtype: np.dtype[Any]) -> tuple[Array, np.dtype[Any]]:
        """An array of this place, with the shape and the dtype of x; lists become numpy's, of `dtype`. Raises for what lies
        elsewhere, is of no floating type, or is no array; op and name are for messages ("rnea: q ...")."""
        raise NotImplementedError

    def memory(self, array: Array, shape: tuple[int, ...]) -> Any:
        """Return the engine's view of `array` in another shape with as many numbers."""
        raise NotImplementedError

    def kept(
        self,
        array: Array,
        shape: tuple[int, ...],
        name: str,
        sent: dict[tuple[Any, ...], tuple[npt.NDArray[Any], _featherstorm.Buffer]],
    ) -> Any:
        """As memory(), of an array that stays from call to call. Numbers of the CPU are sent to a device when they have
        changed; `sent` has what is there by name and place."""
        return self.memory(array, shape)

    def written(self, array: Array, what: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """The memory of an array that is given for a result. Raises ValueError where it cannot be written there."""
        raise NotImplementedError

    def output(self, dtype: str, instances: int, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
        """Return memory for an output (instances, n), and a function from the shape of a row to a view of it."""
        raise NotImplementedError

    def result(self, view: Array) -> Array:
        """A view, or a part of one, as the user gets it."""
        return view

    def stack(self, arrays: Sequence[Array]) -> Array:
        """Arrays (B, n) side by side as (B, n, k)."""
        raise NotImplementedError

    def spread(self, x: Array, index: npt.NDArray[np.intp]) -> Array:
        """x[:, index] for an index of any shape, with zeros where the index is that of a column behind the last."""
        raise NotImplementedError

    def buffer(self, dtype: str, instances: int, n: int) -> _featherstorm.Buffer:
        """Memory of the engine in this place."""
        raise NotImplementedError

    def cost_dtype(self, dtype: str) -> str:
        """The dtype in which reductions over samples of `dtype` take costs."""
        raise NotImplementedError

    def column(self, dtype: str, n: int) -> Any:
        """Memory for numbers (n, 1) in this place."""
        raise NotImplementedError

    def fill(self, column: Any, x: Array, op: str, name: str) -> None:
        """Writes numbers (n,) of this place to a column."""
        raise NotImplementedError

    def send(self, numbers: npt.NDArray[Any], column: Any) -> None:
        """Writes numbers (n,) of the CPU to a column of the same dtype."""
        raise NotImplementedError

    def numbers(self, column: Any, dtype: str, n: int) -> npt.NDArray[Any]:
        """The numbers (n,) of a column on the CPU; it waits."""
        raise NotImplementedError

    def cast(self, x: Array, op: str, name: str, dtype: np.dtype[Any]) -> Array:
        """x in a dtype: the CPU converts, on a device it has to have it."""
        raise NotImplementedError

    def placed(self, numbers: npt.NDArray[Any]) -> Array:
        """Numbers (n,) of the CPU as an array of the library in this place."""
        raise NotImplementedError

    def assign(self, view: Array, value: Array, op: str, name: str) -> None:
        """Copies an array that broadcasts to it, from the CPU or this place, to an array of the engine's. Raises ValueError
        for other shapes and places."""
        raise NotImplementedError
