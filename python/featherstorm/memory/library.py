"""What a call asks of an array library in one place: the CPU, or a device.

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
        """What the engine reads of `array` in another shape of as many numbers."""
        raise NotImplementedError

    def output(self, dtype: str, instances: int, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
        """What the engine writes (instances, n) to, and a function from the rows' shape to a view of it."""
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
