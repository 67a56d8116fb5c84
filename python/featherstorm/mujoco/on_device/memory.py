"""The arrays of a batch in the memory of a CUDA device: states, and the fields that were bound."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import _featherstorm
from ...device import DeviceArray
from ..state import Layout
from .programs import CLOCK, WARNING, warnings_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from ..engine import Engine

    Array = npt.NDArray[Any]


class Place(NamedTuple):
    """Columns of a buffer."""

    buffer: _featherstorm.Buffer
    first: int
    size: int

    def named(self, name: str) -> tuple[str, Any, int, int, bool]:
        """As an array of a sequence."""
        return (name, self.buffer, self.first, self.size, False)

    def columns(self, first: int, count: int) -> Any:
        """A capsule of some of them."""
        return self.buffer.columns(self.first + first, [count])


class DeviceMemory:
    """All simulations of a batch.

    live     state (nsim, layout.size), clock, warning (programs.py): as they are between calls
    begun    the same in the middle of a step
    again    the same where a step that went wrong begins again
    one      (nsim, 1) numbers above zero
    fields   name -> place of a bound field
    inputs   name -> place of a field of the model that simulations have their own numbers of

    Buffers are made once and kept, so that a warm step takes no memory.
    """

    def __init__(self, engine: Engine, nsim: int, device: int, stream: int) -> None:
        self.nsim, self.device, self.stream = nsim, device, stream
        self.dtype, self.layout = engine.dtype, Layout(engine.m)
        self.kept: dict[tuple[str, int], _featherstorm.Buffer] = {}
        self.fields: dict[str, Place] = {}
        self.inputs: dict[str, Place] = {}
        self.bound: dict[str, DeviceArray] = {}
        sizes = {"state": self.layout.size, "clock": CLOCK, "warning": WARNING}
        self.live = {name: self.room(name, n) for name, n in sizes.items()}
        self.begun = {name: self.room(f"{name}_begun", n) for name, n in sizes.items()}
        self.masks: dict[int, bytes] = {}
        self.one = self.sent(np.ones((nsim, 1)))

    def buffer(self, n: int, rows: int | None = None) -> _featherstorm.Buffer:
        return _featherstorm.Buffer(self.dtype, self.nsim if rows is None else rows, n, self.device, self.stream)

    def room(self, name: str, n: int) -> Place:
        """Memory (nsim, n) that is kept for what the name says."""
        if (name, n) not in self.kept:
            self.kept[name, n] = self.buffer(n)
        return Place(self.kept[name, n], 0, n)

    def sent(self, numbers: Array) -> _featherstorm.Buffer:
        """Numbers (rows, n) of the CPU; it waits."""
        buffer = self.buffer(numbers.shape[1], numbers.shape[0])
        self.send(numbers, buffer)
        return buffer

    @cached_property
    def again(self) -> dict[str, Place]:
        return {name: self.room(f"{name}_again", place.size) for name, place in self.begun.items()}

    def mask(self, number: int, sims: Array) -> Place:
        """(nsim, 1) numbers above zero for some simulations, in the memory of this number.

        It waits where others are there.
        """
        place, mask = self.room(f"mask {number}", 1), np.zeros((self.nsim, 1))
        mask[sims] = 1
        key = mask.astype(bool).tobytes()
        if self.masks.get(number) != key:
            self.send(mask, place.buffer)
            self.masks[number] = key
        return place

    def send(self, numbers: Array, to: _featherstorm.Buffer) -> None:
        _featherstorm.copy(np.asarray(numbers, self.dtype), to, self.stream)

    def copy(self, source: Any, target: Any) -> None:
        _featherstorm.copy(source, target, self.stream)

    def array(self, place: Place, tail: Sequence[int]) -> DeviceArray:
        return DeviceArray(place.buffer, tail, self.nsim, self.dtype, self.device, self.stream, place.first)

    def field_of_state(self, name: str) -> Place:
        columns = self.layout.columns[name]
        return Place(self.live["state"].buffer, columns.start, columns.stop - columns.start)

    def component(self, name: str, shape: tuple[int, ...]) -> DeviceArray:
        """A field of the state, live."""
        return self.array(self.field_of_state(name), shape)

    def bind(self, name: str, shape: tuple[int, ...]) -> DeviceArray:
        """A field that calls write."""
        if name not in self.bound:
            self.fields[name] = Place(self.buffer(int(np.prod(shape))), 0, int(np.prod(shape)))
            self.bound[name] = self.array(self.fields[name], shape)
        return self.bound[name]

    def names(self) -> list[str]:
        """Return the names of bound fields that have numbers."""
        return [name for name, place in self.fields.items() if place.size]

    # what waits

    @property
    def state(self) -> DeviceArray:
        return self.array(self.live["state"], [self.layout.size])

    def numbers(self, buffer: _featherstorm.Buffer) -> Array:
        """A copy of memory (nsim, 1)."""
        return self.array(Place(buffer, 0, 1), [1]).numpy()

    def numpy(self, name: str) -> Array:
        """A copy of `live`."""
        place = self.live[name]
        return self.array(place, [place.size]).numpy()

    @property
    def warning(self) -> npt.NDArray[np.int32]:
        return warnings_of(self.numpy("warning"))

    def time(self, timesteps: Iterable[float]) -> Array:
        """(nsim,) in double. timesteps: those of the engines, which are rounded in clocks."""
        base, passed, shown, rounded = self.numpy("clock").astype(np.float64).T
        time = self.numpy("state")[:, 0].astype(np.float64)
        h = rounded.copy()
        for timestep in timesteps:
            h[rounded == np.dtype(self.dtype).type(timestep)] = timestep
        exact: Array = np.where(time == shown, base + passed * h, time)
        return exact

    def write(self, state: Array) -> None:
        """States (nsim, layout.size) of the CPU."""
        self.send(state, self.live["state"].buffer)
