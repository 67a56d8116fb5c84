"""The inputs of kernels at the states of a batch: before a step, within it and after it; delays and histories.

Histories are ring buffers of controls and sensors, the field `history` of the state (core/actuation/histories.h).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._fields.inputs import OF_STATE, array_name
from .._fields.kernels import Output
from .._memory.named_buffers import Columns
from .engine import ARRAYS
from .programs import begin, first_bad_control, look, looks, moved_columns, moved_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._fields.instance import Instance
    from .._fields.kernels import Kernel, Outputs
    from ..typing import NumpyArray as Array
    from .engine import Engine
    from .storage import Storage

    NamedColumns = dict[str, Columns]

DELAYED, NEXT = "delayed_controls", "history_next"  # outputs of kernels


def of_sensors(m: Any) -> bool:
    """Return True if sensors have histories."""
    return bool((np.asarray(m.sensor_history)[:, 0] > 0).any())


def delayed_controls(engine: Engine) -> Kernel:
    """Return the kernel of the controls (nu) that act on actuators, from `history`, `time` and `ctrl` of a state."""

    def program(instance: Instance) -> Outputs:
        ctrl = instance.state("ctrl")
        given = instance.state("history"), ctrl, instance.state("time"), [instance.slack]
        found = instance.run("delayed_controls", *given)[0]
        values = np.where(first_bad_control(engine, ctrl) > len(ctrl) - 0.5, found, 0.0)
        return [(Output(DELAYED, DELAYED, np.arange(len(values))), values.tolist())]

    return engine.fields.recorded(DELAYED, program)


def next_history(engine: Engine) -> Kernel:
    """Return the kernel of the histories (nhistory) after a step from a state."""

    def program(instance: Instance) -> Outputs:
        found = instance.history()
        return [(Output(NEXT, NEXT, np.arange(len(found))), found.tolist())]

    return engine.fields.recorded(NEXT, program)


LIVE, BEFORE, BEGUN, AGAIN = "live", "before", "begun", "again"


class States:
    """An engine at the states of a storage.

    when     the states that kernels read: LIVE between calls, BEFORE a step on the host that has replaced them, BEGUN
             and AGAIN by programs
    fields   kernels of fields
    run      (arguments) mask of the simulations of a call on a device; None: all
    """

    def __init__(self, engine: Engine, memory: Storage) -> None:
        self.engine, self.memory, self.fields = engine, memory, engine.fields
        self.host = memory.readable
        self.looks = looks if self.host else None
        self.places_when: dict[str, NamedColumns] = {}
        self.arrays_of: dict[Any, list[tuple[str, Any, int, int, bool]]] = {}
        self.when = LIVE

    # memory, allocated when it is first needed

    @cached_property
    def q(self) -> Columns:
        """qpos as steps read it."""
        return self.memory.columns_for("q", self.engine.m.nq)

    @cached_property
    def ctrl(self) -> Columns:
        """ctrl as steps read it."""
        return self.memory.columns_for("ctrl", self.engine.m.nu)

    @cached_property
    def odd(self) -> Columns:
        """On the host, 1 for simulations with a bad number."""
        return self.memory.columns_for("odd", 1)

    def looked(self, odd: str) -> list[tuple[str, Any, int, int, bool]]:
        """Return the outputs of the program `look`, of which one is called `odd`."""
        return [self.odd.named(odd), *([self.q.named("q_seen")] if self.engine.quaternions else [])]

    @cached_property
    def odd_numbers(self) -> Array:
        return self.memory.numpy(self.odd)[:, 0]

    @cached_property
    def before(self) -> Columns:
        """On the host, the first columns of states before a step, up to the last that it changes."""
        return self.memory.columns_for("before", self.engine.layout.columns["qacc_warmstart"].stop)

    @cached_property
    def before_numbers(self) -> Array:
        return self.memory.numpy(self.before)

    @cached_property
    def moved(self) -> Columns:
        """The results of a step: the new numbers of the state (programs.moved_columns)."""
        return self.memory.columns_for("moved", moved_size(self.engine))

    @cached_property
    def anew(self) -> Columns:
        """1 for simulations that were reset within the last step."""
        return self.memory.columns_for("anew", 1)

    # places

    def state(self, name: str) -> Columns:
        """Return the place of a field of the state; `qpos` and `ctrl` as steps read them."""
        return self.all_states()[name]

    def all_states(self) -> NamedColumns:
        if self.when not in self.places_when:
            self.places_when[self.when] = self.places(self.when)
        return self.places_when[self.when]

    def whole(self, when: str) -> Columns:
        """Return the place of all fields of the state."""
        if when in (LIVE, BEFORE):
            return self.memory.live_state
        return (self.memory.begun if when == BEGUN else self.memory.again)["state"]

    def places(self, when: str) -> NamedColumns:
        """Return the places of all fields of the state."""
        whole, found = self.whole(when), {}
        for name, columns in self.engine.layout.columns.items():
            own = self.before if when == BEFORE and columns.stop <= self.before.size else whole
            found[name] = Columns(own.buffer, columns.start, columns.stop - columns.start)
        found["raw_ctrl"] = found["ctrl"]
        by_programs = when in (BEGUN, AGAIN)
        if by_programs or self.engine.quaternions:
            found["qpos"] = self.q
        if by_programs:
            found["ctrl"] = self.ctrl
        if self.engine.delays_controls:
            found["ctrl"] = self.memory.columns_for(DELAYED, self.engine.m.nu)
        return found

    def changed(self, name: str, moved: Columns | None = None) -> Columns:
        """Return the place of a field of the state at the end of a step."""
        if self.when == BEFORE:
            return self.memory.field_of_state(name)
        columns = moved_columns(self.engine)[name]
        return Columns((moved or self.moved).buffer, columns.start, columns.stop - columns.start)

    def input(self, name: str) -> Columns:
        """Return the place of a field of the model that differs between simulations."""
        return self.memory.inputs[name]

    def differing(self, *names: str) -> NamedColumns:
        """Return fields of the model that programs read where simulations differ in them."""
        return {array_name(name): self.input(name) for name in names if name in self.engine.varied}

    def of_defaults(self) -> NamedColumns:
        """Return fields of the model that decide the defaults of the state, where simulations differ in them."""
        return self.differing(*(name for name, *_ in self.engine.layout.defaults()))

    def inputs(self) -> list[tuple[str, Any, int, int, bool]]:
        """Return the inputs of a step."""
        if self.when not in self.arrays_of:
            tables = self.engine.tables
            places = {array_name(name): self.state(name) for name in tables if name in OF_STATE}
            places.update(self.differing(*tables))
            places.update({ARRAYS[name]: self.state(name) for name in ARRAYS})
            self.arrays_of[self.when] = [place.named(name) for name, place in places.items() if place.size]
        return self.arrays_of[self.when]

    def inputs_before_look(self) -> list[tuple[str, Any, int, int, bool]]:
        """Return the inputs of steps on the host that begin with the program `look`."""
        if "inputs" not in self.arrays_of:
            qpos = self.memory.field_of_state("qpos").named("q")
            self.arrays_of["inputs"] = [qpos if array[0] == "q" else array for array in self.inputs()]
        return self.arrays_of["inputs"]

    def given(self) -> NamedColumns:
        """Return the inputs of kernels of fields."""
        return {**self.all_states(), **{name: self.input(name) for name in self.engine.varied}}

    # programs

    def launch(
        self,
        sequence: Any,
        given: NamedColumns,
        written: NamedColumns,
        run: Columns | None = None,
        uniforms: Mapping[str, list[float]] | None = None,
    ) -> None:
        inputs = [place.named(name) for name, place in given.items() if place.size]
        if run is not None:
            inputs.append(run.named("run"))
        outputs = [place.named(name) for name, place in written.items() if place.size]
        memory = self.memory
        sequence.run(1, memory.instances, inputs, dict(uniforms or {}), outputs, stream=memory.stream)

    def all(self, run: Columns | None) -> Columns:
        return self.memory.one if run is None else run

    def looks_fine(self) -> bool:
        """On the host, prepare the inputs of kernels from states; return False where a number is bad."""
        engine, memory = self.engine, self.memory
        self.when = LIVE
        if "look" not in self.arrays_of:
            fields = [memory.field_of_state(name).named(ARRAYS[name]) for name in ("qpos", "qvel", "ctrl")]
            self.arrays_of["look"] = [x for x in fields if x[3]]
        if not self.arrays_of["look"]:
            return True
        program = engine.program("look", lambda: look(engine))
        program.run(1, memory.instances, self.arrays_of["look"], {}, self.looked("odd_next"))
        if self.odd_numbers.any():
            return False
        self.delay_controls()
        return True

    def begin(
        self,
        run: Columns | None = None,
        resets: bool = True,
        counts: int = 0,
        driven: Array | None = None,
        control: Columns | None = None,
    ) -> None:
        """Run the program `begin`: read written times and controls, find bad numbers, make the inputs of a step.

        resets   True: simulations with bad numbers are reset
        counts   number of times that bad controls are counted
        driven   columns of the state that become `control`
        """
        engine, memory = self.engine, self.memory
        columns = np.zeros(0, np.intp) if driven is None else driven
        program = engine.program(("begin", columns.tobytes()), lambda: begin(engine, columns))
        given = {**memory.live, **self.of_defaults()}
        if control is not None:
            given["control"] = control
        written = {f"{name}_begun": place for name, place in memory.begun.items()}
        uniforms = {"resets": [float(resets)], "counts": [float(counts)]}
        self.launch(program, given, {**written, "q": self.q, "ctrl": self.ctrl}, self.all(run), uniforms)
        self.when = BEGUN
        self.delay_controls()

    def delay_controls(self) -> None:
        """Compute the controls that act on actuators with delays."""
        if self.engine.delays_controls:
            given = {"history": self.state("history"), "time": self.state("time"), "ctrl": self.state("raw_ctrl")}
            delayed_controls(self.engine).run(given, {DELAYED: self.state("ctrl")}, self.memory)

    def prepare(self, run: Columns | None = None, counts: int = 0) -> None:
        """Prepare the inputs of kernels at the states, without resets; count bad controls `counts` times."""
        memory = self.memory
        if memory.readable and self.looks_fine():
            return
        if memory.readable:
            memory.fill_clocks(self.step_length())
        self.begin(run, resets=False, counts=counts)
        if memory.readable:
            memory.read_warnings(memory.begun["warning"])
        elif counts:
            memory.copy(memory.begun["warning"], memory.live["warning"])

    def step_length(self) -> Any:
        """Return the timestep [s] on the host, (instances,) where it differs."""
        if "opt.timestep" not in self.engine.varied:
            return self.engine.timestep
        return np.asarray(self.memory.array(self.input("opt.timestep"))[:, 0], np.float64)
