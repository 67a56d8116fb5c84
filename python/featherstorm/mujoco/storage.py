"""The arrays of a batch in the engine's memory, on the host or on a device: states, fields, and results of kernels."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .._fields.sensors import rows_of
from .._fields.table import INTEGERS, Layout
from .._memory.arrays import check_memory
from .._memory.named_buffers import Columns, NamedBuffers, columns_of_array
from ..device import HOST
from .programs import CLOCK, WARNING, causes_in, warnings_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from ..typing import NumpyArray as Array


UNTOUCHED = 4.0  # steps on the clock of a simulation on the host before a step; a reset sets them to zero


class Storage(NamedBuffers):
    """The simulations of a batch.

    live     state (instances, layout.size), clock, warning (programs.py) as they are between calls
    begun    the same within a step, again: where a step that went wrong begins again
    fields   name -> place of a bound field
    inputs   name -> place of a field of the model that differs between simulations

    Only on the host, where programs run for the simulations with bad numbers alone:

    time     (instances,) in double, because the time in the state is rounded: start + passed timestep
    start    (instances,) the time at the beginning of a call or after a reset, passed: the number of steps since
    counted  (instances, mjNWARNING, 2) last information and number of each warning
    """

    def __init__(
        self, m: Any, dtype: str, instances: int, device: int = HOST, stream: int = 0, layout: Layout | None = None
    ) -> None:
        super().__init__(dtype, instances, device, stream)
        self.m, self.layout = m, layout or Layout(m)
        if self.readable:  # three copies of each state
            numbers = 3 * (self.layout.size + CLOCK + WARNING)
            check_memory(
                f"Batch: {instances} simulations", np.dtype(dtype).itemsize * instances * numbers, "make fewer"
            )
        self.fields: dict[str, Columns] = {}
        self.inputs: dict[str, Columns] = {}
        self.bound: dict[str, Any] = {}
        self.masks: dict[int, bytes] = {}
        self.time, self.start, self.passed = (np.zeros(instances if self.readable else 0) for _ in range(3))
        self.counted = np.zeros((len(self.time), int(mujoco.mjtWarning.mjNWARNING), 2), np.int32)
        self.live_state = self.columns_for("state", self.layout.size)
        self.state: Any = self.array(self.live_state)

    def columns_of_states(self, when: str) -> dict[str, Columns]:
        sizes = {"state": self.layout.size, "clock": CLOCK, "warning": WARNING}
        return {name: self.columns_for(name + when, n) for name, n in sizes.items()}

    @cached_property
    def live(self) -> dict[str, Columns]:
        return self.columns_of_states("")

    @cached_property
    def begun(self) -> dict[str, Columns]:
        return self.columns_of_states("_begun")

    @cached_property
    def again(self) -> dict[str, Columns]:
        return self.columns_of_states("_again")

    @cached_property
    def one(self) -> Columns:
        """The mask of all simulations: numbers above zero."""
        return self.sent(np.ones((self.instances, 1)))

    def mask(self, number: int, sims: Array) -> Columns:
        """Return the mask of some simulations, in the memory of this number; sending another one waits."""
        place, mask = self.columns_for(f"mask {number}", 1), np.zeros((self.instances, 1))
        mask[sims] = 1
        key = mask.astype(bool).tobytes()
        if self.masks.get(number) != key:
            self.send(mask, place)
            self.masks[number] = key
        return place

    # fields

    def field_of_state(self, name: str) -> Columns:
        columns = self.layout.columns[name]
        return Columns(self.live_state.buffer, columns.start, columns.stop - columns.start)

    def component(self, name: str, shape: tuple[int, ...]) -> Any:
        """Return a field of the state, a live array."""
        return self.array(self.field_of_state(name), shape)

    def bind(self, name: str, shape: tuple[int, ...], unknown: dict[int, str]) -> Any:
        """Return a field that calls write, read only on the host; `unknown` sensors are NaN."""
        if name in self.bound:
            return self.bound[name]
        size = int(np.prod(shape))
        place = self.fields[name] = Columns(self.buffer(size), 0, size)
        if name == "sensordata" and (rows := rows_of(self.m, unknown)):
            numbers = np.zeros((self.instances, size))
            for some in rows:
                numbers[:, some] = np.nan
            self.send(numbers, place)
        whole = self.readable and name in INTEGERS
        self.bound[name] = np.zeros((self.instances, *shape), np.int32) if whole else self.array(place, shape)
        if self.readable:
            self.bound[name].flags.writeable = False
        return self.bound[name]

    def renew_integers(self) -> None:
        """Copy computed fields of whole numbers to their integer arrays on the host."""
        for name in INTEGERS if self.readable else ():
            if name in self.bound:
                self.bound[name].flags.writeable = True
                self.bound[name][:] = np.round(self.array(self.fields[name])).reshape(self.bound[name].shape)
                self.bound[name].flags.writeable = False

    def names(self) -> list[str]:
        """Return the names of bound fields that have numbers."""
        return [name for name, place in self.fields.items() if place.size]

    # parts of a batch on the host

    def taken(self, rows: Array) -> Storage:
        """Return copies of some simulations."""
        some = Storage(self.m, self.dtype, len(rows), layout=self.layout)
        some.take(self, rows)
        return some

    def take(self, whole: Storage, rows: Array) -> None:
        """Copy some simulations of another storage, as many as there are here."""
        self.state[...], self.time[...], self.counted[...] = whole.state[rows], whole.time[rows], whole.counted[rows]
        for ours, theirs in ((self.inputs, whole.inputs), (self.fields, whole.fields)):
            for name, place in theirs.items():
                if name not in ours:
                    ours[name] = Columns(self.buffer(place.size), 0, place.size)
                self.array(ours[name])[...] = whole.array(place)[rows]

    def put(self, rows: Array, some: Storage) -> None:
        """Write back what `taken` returned."""
        self.state[rows], self.time[rows], self.counted[rows] = some.state, some.time, some.counted
        self.start[rows], self.passed[rows] = some.time, 0
        for name, place in some.fields.items():
            self.array(self.fields[name])[rows] = some.array(place)

    def on_host(self, timesteps: Iterable[float]) -> Storage:
        """Return copies of all states on the host; on a device it waits."""
        copies = Storage(self.m, self.dtype, self.instances, layout=self.layout)
        copies.state[...] = self.numpy(self.live_state)
        copies.time[...] = self.times(timesteps)
        copies.inputs = {name: columns_of_array(self.numpy(place)) for name, place in self.inputs.items()}
        return copies

    # times and warnings

    def read_time(self) -> None:
        """Read times that the user wrote to the state, on the host."""
        if not self.readable:
            return
        written = self.state[:, 0] != self.time.astype(self.dtype)
        if written.any():
            self.time[written] = self.state[written, 0]

    def start_clocks(self) -> None:
        """Begin to count steps, on the host."""
        self.start[...], self.passed[...] = self.time, 0

    def advance_time(self, nstep: int, step_length: Any) -> None:
        """Advance times by some steps, on the host."""
        self.passed += nstep
        self.time[...] = self.start + self.passed * step_length
        self.state[:, 0] = self.time

    def fill_clocks(self, step_length: Any) -> None:
        """Prepare clocks and warnings for programs on the host."""
        clock = self.array(self.live["clock"])
        clock[:, 0] = clock[:, 2] = self.state[:, 0]
        clock[:, 1], clock[:, 3] = UNTOUCHED, step_length
        self.array(self.live["warning"])[...] = causes_in(self.counted)

    def read_clocks(self, step_length: Any) -> None:
        """Advance times by a step on the host, and read the warnings that programs counted."""
        anew = self.array(self.live["clock"])[:, 1] < UNTOUCHED
        self.start[anew] = self.passed[anew] = 0
        self.advance_time(1, step_length)
        self.counted[anew] = 0
        self.read_warnings(self.live["warning"])

    def read_warnings(self, place: Columns) -> None:
        warnings_of(self.array(place), self.counted)

    @property
    def warning(self) -> npt.NDArray[np.int32]:
        if self.readable:
            return self.counted
        counted = np.zeros((self.instances, *self.counted.shape[1:]), np.int32)
        return warnings_of(self.numpy(self.live["warning"]), counted)

    def times(self, timesteps: Iterable[float]) -> Array:
        """Return times (instances,) in double. timesteps: those of the engines, which are rounded in clocks."""
        if self.readable:
            return self.time
        base, passed, shown, rounded = self.numpy(self.live["clock"]).astype(np.float64).T
        time = self.numpy(self.live_state)[:, 0].astype(np.float64)
        h = rounded.copy()
        for timestep in timesteps:
            h[rounded == np.dtype(self.dtype).type(timestep)] = timestep
        exact: Array = np.where(time == shown, base + passed * h, time)
        return exact

    def set_rows(self, sims: Any, row: Array) -> None:
        """Write rows of states in double on the host."""
        self.state[sims], self.time[sims] = row, row[..., 0]
