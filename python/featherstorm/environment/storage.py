"""The arrays of environments in the engine's memory, on the host or on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._memory.free import check_memory
from .._memory.named_buffers import Columns, NamedBuffers
from ..device import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from .._memory.library import Library

    Bound = list[tuple[str, Any, int, int, bool]]  # arrays of a sequence (_featherstorm.Sequence.run)


class Storage(NamedBuffers):
    """Arrays (instances, n) by name, without arrays of size zero.

    doubled   names of arrays with two buffers, which `turn` swaps
    """

    def __init__(
        self, library: Library, dtype: str, instances: int, sizes: Mapping[str, int], doubled: Iterable[str]
    ) -> None:
        super().__init__(dtype, instances, library.device, library.stream)
        self.library = library
        self.sizes = {name: n for name, n in sizes.items() if n}
        doubled = list(doubled)
        if self.readable:
            numbers = sum(self.sizes.values()) + sum(self.sizes[name] for name in doubled)
            check_memory(f"{instances} environments", np.dtype(dtype).itemsize * instances * numbers, "make fewer")
        self.places = {name: self.place(n) for name, n in self.sizes.items()}
        self.others = {name: self.place(self.sizes[name]) for name in doubled}

    def __contains__(self, name: str) -> bool:
        return name in self.places

    def place(self, n: int) -> tuple[Columns, Any, Any]:
        """Allocate memory: return it, a view (instances, n), and one (instances,) where n is 1."""
        place = Columns(self.buffer(n), 0, n)
        return place, self.array(place), self.array(place, []) if n == 1 else None

    def turn(self) -> None:
        for name, other in self.others.items():
            self.places[name], self.others[name] = other, self.places[name]

    def follow(self, stream: int) -> None:
        """Use this stream of the device for all later work on the arrays; readers wait for it."""
        if stream == self.stream:
            return
        _featherstorm.synchronise(self.device, self.stream)
        self.stream = self.library.stream = stream
        for _, *views in (*self.places.values(), *self.others.values()):
            for view in views:
                if isinstance(view, DeviceArray):
                    view.stream = stream

    def memory(self, name: str) -> Any:
        return self.places[name][0].buffer

    def view(self, name: str) -> Any:
        """Return the view (instances, n); on the host it may be written."""
        return self.places[name][1]

    def numbers(self, name: str) -> Any:
        """Return an array of one number as (instances,)."""
        return self.places[name][2]

    def bound(self, names: Iterable[str], others: Mapping[str, str] | None = None) -> Bound:
        """Return arrays of a sequence; others: array -> its name here."""
        called = {name: name for name in names if name in self.places} | dict(others or {})
        return [self.places[of][0].named(name) for name, of in called.items()]

    def put(self, name: str, values: Any, rows: npt.NDArray[np.bool_] | None = None) -> None:
        """Write values, broadcast to the array, to all rows or to those of a mask.

        Values are on the host; writing to a device waits.
        """
        view = self.view(name)
        if isinstance(view, np.ndarray):
            view[slice(None) if rows is None else rows] = values
            return
        if isinstance(values, DeviceArray) and rows is None:
            view[:] = values
            return
        state = np.array(view)
        state[slice(None) if rows is None else rows] = values
        self.send(state, self.places[name][0])
