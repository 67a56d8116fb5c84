"""Steps and fields of all simulations of a storage, on the host or on a device.

    begin   written numbers are read, simulations with bad states are reset          programs.py
    step    equations, the contact solver, integration
    again   on the host, and where fields of the model differ: simulations with bad accelerations step from the defaults
    end     bad accelerations are counted, clocks advance
    fields  of the state at the beginning of the last step

On a device these are kernels on one stream, and nothing waits for them. On the host the programs run only where a
number is bad: steps look for bad numbers themselves, and several run as one (`fused`). A simulation with a bad number
runs again from its old state, step by step.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._fields.kernels import FieldKernels
from .engine import ARRAYS, LAST_STAGE
from .observing import ALL, Observations
from .programs import (
    MOVED,
    NO_AUTORESET,
    begin_again,
    end,
    look_after,
    put,
)  # fmt: skip
from .states import AGAIN, BEFORE, BEGUN, LIVE, NEXT, next_history, of_sensors
from .storage import Storage

if TYPE_CHECKING:
    from .._memory.named_buffers import Columns
    from ..typing import NumpyArray as Array
    from .engine import Engine

    NamedColumns = dict[str, Columns]


class Steps(Observations):
    """Steps of one engine."""

    def __init__(self, engine: Engine, memory: Storage) -> None:
        super().__init__(engine, memory)
        self.resets = engine.moves and not int(engine.m.opt.disableflags) & NO_AUTORESET
        self.goes_again = self.resets and (self.host or bool(engine.varied))
        own = engine.fields
        if not self.host and not engine.varied:  # which knows the fields of a step from the defaults
            self.fields = FieldKernels(
                engine.m, own.model, own.sensors, own.active, own.dtype, after_defaults=self.after_defaults
            )
        self.rows: dict[int, Columns] = {}  # of keyframes on a device, -1 of the defaults
        # of simulations on the host whose last steps ran again, and their storage
        self.repeated: tuple[Array, Storage] | None = None

    @cached_property
    def going(self) -> Columns:
        """1 for simulations that ran in the last step and had no warning."""
        return self.memory.columns_for("going", 1)

    # steps from the defaults, on a device

    def from_defaults(self, name: str | None = None) -> tuple[Array, Array]:
        """Return the state, and a field, after a step of one simulation from the defaults."""
        engine = self.engine
        one = Storage(engine.m, engine.dtype, 1)
        one.set_rows(slice(None), engine.initial)
        names = [] if name is None else [name]
        for name in names:
            one.bind(name, (int(np.size(getattr(engine.fields.data, name))),), engine.unknown)
        Steps(engine, one).advance(1, names)
        return one.state[0], one.array(one.fields[names[0]])[0] if names else np.zeros(0)

    def after_defaults(self, name: str) -> Array:
        """Return the numbers (n,) of a field after a step from the defaults."""
        if name not in self.first:
            self.first[name] = self.from_defaults(name)[1]
        return self.first[name]

    @cached_property
    def first(self) -> dict[str, Array]:
        return {}

    @cached_property
    def ending(self) -> Any:
        engine = self.engine
        if self.goes_again:
            return engine.program("end", lambda: end(engine, None))
        row = self.from_defaults()[0] if self.resets else engine.initial
        return engine.program("end with a step from the defaults", lambda: end(engine, row))

    # parts of a step

    def step(self, found: NamedColumns, moved: Columns) -> None:
        """Run a step.

        found   array of the sequence (host/simulation/world_sequence.h) -> place of its value at the end
        moved   place of the new numbers of the state
        """
        if not self.engine.moves:
            return
        outputs = [self.changed(name, moved).named(ARRAYS[name]) for name in MOVED if self.changed(name).size]
        outputs += [place.named(name) for name, place in found.items() if place.size]
        if self.engine.has_histories:
            self.advance_histories(self.changed("history", moved))
        memory, sequence = self.memory, self.engine.sequence_for(outputs, self.looks)
        sequence.run(1, memory.instances, self.inputs(), {}, outputs, stream=memory.stream)  # type: ignore[union-attr]  # it moves

    def advance_histories(self, to: Columns) -> None:
        """Compute the histories after a step from the current states."""
        engine, given = self.engine, self.given()
        kernel = next_history(engine)
        if of_sensors(engine.m) and (sizes := engine.fields.solved((NEXT,))):
            given.update(self.solve(sizes))
        kernel.run(given, {NEXT: to}, self.memory)

    def again(self, found: NamedColumns, run: Columns | None) -> None:
        """Step from the defaults for simulations with a bad acceleration, after `step`."""
        memory, engine = self.memory, self.engine
        if self.host:
            program = engine.program("look after", lambda: look_after(engine))
            qacc = [self.changed("qacc_warmstart").named("qacc")]
            program.run(1, memory.instances, qacc, {}, [self.odd.named("odd_next")])
            if not self.odd_numbers.any():
                return
        given = {f"{name}_begun": place for name, place in memory.begun.items()}
        given.update(self.of_defaults(), moved=self.moved)
        written = {f"{name}_again": place for name, place in memory.again.items()}
        written.update(q=self.q, ctrl=self.ctrl, anew=self.anew)
        program = engine.program("begin again", lambda: begin_again(engine))
        self.launch(program, given, written, self.all(run))
        self.when = AGAIN
        self.delay_controls()
        others = {name: memory.columns_for(f"again {name}", place.size) for name, place in found.items()}
        moved = memory.columns_for("again", self.moved.size)
        self.step(others, moved)
        self.keep({"": moved, **others}, {"": self.moved, **found}, self.anew)

    def end(self, run: Columns | None) -> None:
        memory = self.memory
        states = memory.begun if self.when == BEGUN else memory.again
        given = {f"{name}_begun": place for name, place in states.items()}
        given.update(self.differing("opt.timestep"), moved=self.moved)
        written = {**memory.live, "going": self.going}
        if not self.goes_again:
            written["anew"] = self.anew
        self.launch(self.ending, given, written, self.all(run))

    def one_step(
        self,
        found: NamedColumns,
        run: Columns | None = None,
        driven: Array | None = None,
        control: Columns | None = None,
    ) -> None:
        """Run a step with all its programs."""
        if self.host:
            self.memory.fill_clocks(self.step_length())
        self.begin(run, counts=4 if self.engine.runs_rk4 else 1, driven=driven, control=control)
        self.step(found, self.moved)
        if self.goes_again:
            self.again(found, run)
        self.end(run)
        if self.host:
            self.memory.read_clocks(self.step_length())

    # steps on the host

    def fused(self, nstep: int, found: NamedColumns, names: list[str]) -> int:
        """Run steps in place on the host; return their number, 0 if they have to run one by one."""
        memory, engine = self.memory, self.engine
        if engine.has_histories or not engine.moves:
            nstep = 1 if engine.has_histories else nstep
            if not self.looks_fine():
                return 0
        self.when = LIVE
        self.before_numbers[...] = memory.state[:, : self.before_numbers.shape[1]]
        try:
            bad = engine.moves and self.step_in_place(nstep, found)
        except BaseException:  # Ctrl-C: some simulations have done the steps
            memory.state[:, : self.before_numbers.shape[1]] = self.before_numbers
            raise
        self.repeated = self.repeat(np.flatnonzero(self.odd_numbers), nstep, names) if bad else None
        memory.advance_time(nstep, self.step_length())
        if self.repeated is not None:
            memory.put(*self.repeated)
        self.when = BEFORE
        return nstep

    def step_in_place(self, nstep: int, found: NamedColumns) -> bool:
        """Run steps; return True if a number was bad before or after one of them. `odd` has their simulations."""
        memory, engine = self.memory, self.engine
        if "outputs" not in self.arrays_of:
            places = [(name, place) for name in MOVED if (place := memory.field_of_state(name)).size]
            self.arrays_of["outputs"] = [place.named(ARRAYS[name]) for name, place in places] + self.looked("odd")
        if self.engine.has_histories:
            self.advance_histories(self.changed("history"))
        outputs = self.arrays_of["outputs"] + [place.named(name) for name, place in found.items() if place.size]
        sequence = engine.sequence_for(outputs, self.looks)
        sequence.run(nstep, memory.instances, self.inputs_before_look(), {}, outputs)  # type: ignore[union-attr]  # it moves
        if self.engine.has_histories:
            memory.copy(self.changed("history"), memory.field_of_state("history"))
        return bool(self.odd_numbers.any())

    def repeat(self, rows: Array, nstep: int, names: list[str]) -> tuple[Array, Storage]:
        """Run steps of some simulations again from their old states, one by one; return them with their storage."""
        self.memory.state[rows, : self.before_numbers.shape[1]] = self.before_numbers[rows]
        some = self.memory.taken(rows)
        Steps(self.engine, some).advance(nstep, names, one_by_one=True)
        return rows, some

    # calls

    def advance(
        self,
        nstep: int,
        names: list[str],
        run: Columns | None = None,
        driven: Array | None = None,
        control: Columns | None = None,
        one_by_one: bool = False,
    ) -> None:
        """Run nstep steps, and compute the fields `names` of the last one.

        driven      columns of the state that become `control` before each step, on a device
        one_by_one  on the host: check numbers at each step
        """
        watched = bool(names)
        kernels, others = self.apart(names)
        self.take(nstep - watched, {}, [], run, driven, control, one_by_one)
        if not watched:
            return
        found = self.columns_for_fields(names)
        arrays = {LAST_STAGE.get(name, name): place for name, place in found.items()}
        self.take(1, arrays, names, run, driven, control, one_by_one)
        self.observe_step(kernels, found, run)
        if others:
            self.compute_on_host(others, run, ALL, found)
        if self.repeated is not None:
            rows, some = self.repeated
            for name in names:
                self.memory.array(self.memory.fields[name])[rows] = some.array(some.fields[name])

    def take(
        self,
        nstep: int,
        found: NamedColumns,
        names: list[str],
        run: Columns | None,
        driven: Array | None,
        control: Columns | None,
        one_by_one: bool,
    ) -> None:
        self.repeated = None
        if self.host:
            self.memory.start_clocks()
        while nstep > 0:
            taken = self.fused(nstep, found, names) if self.host and not one_by_one else 0
            if not taken:
                self.one_step(found, run, driven, control)
            nstep -= taken or 1
            if self.engine.has_histories:  # whose samples are compared with sums of timesteps, as MuJoCo's times are
                self.memory.start_clocks()

    # resets on a device

    def keyframe(self, key: int) -> None:
        """Send the state of a keyframe, or the defaults for -1. Errors: ValueError where the model does not have it."""
        if key not in self.rows:
            self.rows[key] = self.memory.sent(self.engine.keyframe(key, {})[None])

    def put(self, key: int, run: Columns | None = None) -> None:
        """Set simulations to a keyframe that has been sent."""
        memory = self.memory
        given = {**memory.live, "row": self.rows[key]}
        if key < 0:
            given.update(self.of_defaults())
        program = self.engine.program(("put", key < 0), lambda: put(self.engine, key))
        self.launch(program, given, {f"{name}_begun": x for name, x in memory.begun.items()}, self.all(run))
        for name, place in memory.begun.items():
            memory.copy(place, memory.live[name])
