"""Steps and fields of all simulations of a batch on a device: kernels on one stream, none of which is waited for.

begin   what was written is taken, bad states begin anew             programs.py
step    equations, the contact solver, integration                   host/rollout/cuda_stages.h
end     bad accelerations begin anew, clocks go on
fields  of the state at the beginning of the last step

If all simulations have one model, a step from the defaults is known. If they have fields of their own, it goes
again, for those with bad accelerations, between `step` and `end`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _featherstorm
from ..advance import NO_AUTORESET, room
from ..engine import ARRAYS, LAST_STAGE, MOVED
from ..fields.kernels import SOLVED
from ..fields.table import ACC, parts_of
from ..inputs import OF_STATE, array_name
from ..observing import OF_THE_FIRST, solved_at
from .fields import ALL, DeviceFields, comes_from_cpu, run_kernel
from .from_cpu import FieldsFromCpu
from .memory import Place
from .programs import begin, begin_again, choose, end, last_of_runge_kutta, moved_size, put

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..engine import Engine
    from .memory import DeviceMemory

    Array = npt.NDArray[Any]
    Places = dict[str, Place]


class Steps:
    """Steps of one engine.

    run   memory (nsim, 1) of numbers above zero for the simulations of a call; None: all
    at    places of the state in the middle of a step, by name
    """

    def __init__(self, engine: Engine, memory: DeviceMemory) -> None:
        self.engine, self.memory, self.fields = engine, memory, DeviceFields(engine)
        self.at, self.from_cpu = memory.begun, FieldsFromCpu(engine, memory, self.fields)
        self.elsewhere: dict[str, bool] = {}  # fields that come from the CPU
        self.goes_again = bool(engine.varied) and engine.moves and not int(engine.m.opt.disableflags) & NO_AUTORESET
        self.begins: dict[bytes, _featherstorm.Sequence] = {}
        self.puts: dict[bool, _featherstorm.Sequence] = {}
        self.chosen: dict[int, _featherstorm.Sequence] = {}
        self.rows: dict[int, _featherstorm.Buffer] = {}  # of keyframes, -1 of the defaults
        self.zero = memory.sent(np.zeros((1, 1)))
        m = engine.m
        self.q, self.ctrl = memory.room("q", m.nq), memory.room("ctrl", m.nu)
        self.moved = memory.room("moved", moved_size(engine))
        self.anew, self.going = memory.room("anew", 1), memory.room("going", 1)

    def sequence(self, trace: _featherstorm.Trace) -> _featherstorm.Sequence:
        return _featherstorm.traced_sequence(self.engine.model.evaluator, self.engine.dtype, trace)

    def launch(
        self,
        sequence: Any,
        given: Places,
        written: Places,
        run: Any = None,
        uniforms: dict[str, list[float]] | None = None,
    ) -> None:
        memory = self.memory
        inputs = [place.named(name) for name, place in given.items() if place.size]
        if run is not None:
            inputs.append(("run", run, 0, 1, False))
        outputs = [place.named(name) for name, place in written.items() if place.size]
        sequence.run(1, memory.nsim, inputs, uniforms or {}, outputs, stream=memory.stream)

    @cached_property
    def ending(self) -> _featherstorm.Sequence:
        engine = self.engine
        if self.goes_again:
            return self.sequence(end(engine, None))
        row = np.array(engine.initial[None], engine.dtype, order="F")
        if not engine.varied:
            engine.step(row, {}, 1)
        return self.sequence(end(engine, row[0]))

    @cached_property
    def beginning_again(self) -> _featherstorm.Sequence:
        return self.sequence(begin_again(self.engine))

    @cached_property
    def last_stage(self) -> _featherstorm.Sequence:
        return self.sequence(last_of_runge_kutta(self.engine))

    def live(self) -> Places:
        return dict(self.memory.live)

    def begun(self) -> Places:
        return {f"{name}_begun": place for name, place in self.at.items()}

    def differing(self, *names: str) -> Places:
        """Fields of the model that programs take where simulations have their own."""
        return {array_name(name): self.memory.inputs[name] for name in names if name in self.engine.varied}

    def of_defaults(self) -> Places:
        """Fields of the model that the defaults of the state follow, where simulations have their own."""
        return self.differing(*(name for name, *_ in self.engine.layout.defaults()))

    # parts of a step

    def begin(
        self,
        run: Any = None,
        resets: bool = True,
        counts: int = 0,
        driven: Array | None = None,
        control: Place | None = None,
    ) -> None:
        """counts: how often bad controls are counted; driven: columns of the state that are `control` from now on."""
        columns = np.zeros(0, np.intp) if driven is None else driven
        key = columns.tobytes()
        if key not in self.begins:
            self.begins[key] = self.sequence(begin(self.engine, columns))
        self.at = self.memory.begun
        given = {**self.live(), **self.of_defaults()}
        if control is not None:
            given["control"] = control
        written = {**self.begun(), "q": self.q, "ctrl": self.ctrl}
        uniforms = {"resets": [float(resets)], "counts": [float(counts)]}
        self.launch(self.begins[key], given, written, self.all(run), uniforms)

    def all(self, run: Any) -> Any:
        return self.memory.one if run is None else run

    def state(self, name: str) -> Place:
        """A field of the state in the middle of a step."""
        columns = self.engine.layout.columns[name]
        return Place(self.at["state"].buffer, columns.start, columns.stop - columns.start)

    def changed(self, name: str, moved: Place | None = None) -> Place:
        """A field of the state at the end of a step."""
        moved = self.moved if moved is None else moved
        at = 0
        for other in MOVED:
            if other == name:
                break
            at += self.engine.layout.width(other)
        return Place(moved.buffer, at, self.engine.layout.width(name))

    def inputs(self) -> list[tuple[str, Any, int, int, bool]]:
        """Return the inputs of a step, after `begin`."""
        tables = self.engine.tables
        places = {array_name(name): self.state(name) for name in tables if name in OF_STATE}
        places.update(self.differing(*tables))
        places.update({ARRAYS[name]: self.state(name) for name in ARRAYS})
        places.update(q=self.q, ctrl=self.ctrl)
        return [place.named(name) for name, place in places.items() if place.size]

    def step(self, found: Places, moved: Place) -> None:
        """Run a step.

        found   array of the sequence (host/simulation/world_sequence.h) -> place of its value at the end
        moved   place of the state's new numbers
        """
        outputs = [self.changed(name, moved).named(ARRAYS[name]) for name in MOVED if self.changed(name).size]
        outputs += [place.named(name) for name, place in found.items() if place.size]
        if (sequence := self.engine.sequence_for(outputs)) is not None:
            sequence.run(1, self.memory.nsim, self.inputs(), {}, outputs, stream=self.memory.stream)

    def again(self, found: Places, run: Any = None) -> None:
        """Takes a step from the defaults for simulations with a bad acceleration, behind `step`."""
        memory = self.memory
        given = {**self.begun(), **self.of_defaults(), "moved": self.moved}
        written = {f"{name}_again": place for name, place in memory.again.items()}
        self.launch(
            self.beginning_again, given, {**written, "q": self.q, "ctrl": self.ctrl, "anew": self.anew}, self.all(run)
        )
        self.at = memory.again
        others = {name: memory.room(f"again {name}", place.size) for name, place in found.items()}
        moved = memory.room("again", self.moved.size)
        self.step(others, moved)
        self.keep({"": moved, **others}, {"": self.moved, **found}, self.anew.buffer)

    def end(self, run: Any = None) -> None:
        given = {**self.begun(), **self.differing("opt.timestep"), "moved": self.moved}
        written = {**self.live(), "going": self.going}
        if not self.goes_again:
            written["anew"] = self.anew
        self.launch(self.ending, given, written, run=self.all(run))

    def solve(self, sizes: dict[str, int]) -> Places:
        """Compute the solver's results at states, after `begin`."""
        found = {name: self.memory.room(f"solved {name}", size) for name, size in sizes.items()}
        outputs = [place.named(name) for name, place in found.items() if place.size]
        if outputs and (sequence := self.engine.solver_for(outputs)) is not None:
            sequence.run(1, self.memory.nsim, self.inputs(), {}, outputs, stream=self.memory.stream)
        return found

    def given(self) -> Places:
        """Return the inputs of field kernels from states, after `begin`."""
        states = {name: self.state(name) for name in self.engine.layout.columns}
        own = {name: self.memory.inputs[name] for name in self.engine.varied}
        return {**states, **own, "qpos": self.q, "ctrl": self.ctrl}

    # calls

    def advance(
        self, nstep: int, names: list[str], run: Any = None, driven: Array | None = None, control: Place | None = None
    ) -> None:
        """nstep steps, then the fields `names` of the last one."""
        engine = self.engine
        counts = 4 if engine.runs_rk4 else 1
        names, others = self.apart(names)
        sizes = self.fields.solved(parts_of(names, ALL)) if names else None
        if others:
            sizes = {**(sizes or {}), **engine.fields.solved(parts_of(others, ALL))}
        found: Places = {}
        for k in range(nstep):
            self.begin(run, counts=counts, driven=driven, control=control)
            if sizes is not None and k == nstep - 1:
                widths = {name: x.shape[1] for name, x in room(engine, 0, sizes).items()}
                found = {name: self.memory.room(f"found {name}", n) for name, n in widths.items()}
            named = {LAST_STAGE.get(name, name): place for name, place in found.items()}
            self.step(named, self.moved)
            if self.goes_again:
                self.again(named, run)
            self.end(run)
        if names:
            self.observe_step(names, found, run)
        if others:
            self.from_cpu.observe_step(self.at["state"], None if engine.varied else self.anew, others, found, run)

    def apart(self, names: list[str]) -> tuple[list[str], list[str]]:
        """Fields that kernels give, and those that come from the CPU."""
        for name in names:
            if name not in self.elsewhere:
                self.elsewhere[name] = comes_from_cpu(self.engine, name)
        return [name for name in names if not self.elsewhere[name]], [name for name in names if self.elsewhere[name]]

    def observe(self, stages: tuple[int, ...], names: list[str], run: Any = None) -> None:
        """Renews fields of some stages at states as mj_forward does."""
        counts = (4 if self.engine.runs_rk4 else 1) if ACC in stages else 0
        self.begin(run, resets=False, counts=counts)
        if counts:
            self.memory.copy(self.memory.begun["warning"].buffer, self.memory.live["warning"].buffer)
        names, others = self.apart(names)
        self.compute(names, stages, {}, self.zero, run)
        if others:
            self.from_cpu.observe(self.at["state"], stages, others, run)

    def observe_step(self, names: list[str], found: Places, run: Any) -> None:
        """Renews fields with what the last step went through; of Runge-Kutta's method see observing.observe_step."""
        engine, anew = self.engine, self.anew.buffer
        if engine.runs_rk4 and (first := [name for name in names if name in OF_THE_FIRST]):
            self.compute(first, ALL, {}, anew, run)
            names = [name for name in names if name not in first]
        if not names:
            return
        arrays = {name: place for name, place in found.items() if name in SOLVED}
        if engine.moves:
            arrays["qacc"] = self.changed("qacc_warmstart")
        if engine.runs_rk4 and engine.moves:
            nv, nq = engine.m.nv, engine.m.nq
            given = {"a": arrays["qacc"], "v_0": self.state("qvel"), "v_1": self.changed("qvel"), "q_i": found["qpos"]}
            given.update(
                {name: found.get(name, self.memory.room(name, n)) for name, n in (("mass", engine.model.nh), ("b", nv))}
            )
            given.update(self.differing("opt.timestep"))
            last = {"qfrc_constraint": nv, "qacc": nv, "qpos": nq}
            written = {name: self.memory.room(f"last {name}", n) for name, n in last.items()}
            self.launch(self.last_stage, given, written)
            arrays.update(written, qvel=found["qvel"], act=found["act"])
        self.compute(names, ALL, arrays, anew, run, solved=True)

    def compute(
        self, names: list[str], stages: tuple[int, ...], arrays: Places, anew: Any, run: Any, solved: bool = False
    ) -> None:
        """Run the kernels of fields, after `begin`.

        arrays   additional or replaced inputs
        solved   True: they contain the solver's results
        """
        memory = self.memory
        parts = parts_of(names, stages)
        if not self.fields.kernels(parts):
            return
        given = self.given()
        if not solved and (sizes := solved_at(self.fields, parts, stages)):
            given.update(self.solve(sizes))
        given.update(arrays)
        fields = {name: memory.fields[name] for name in names if memory.fields[name].size}
        places = fields
        if run is not None:  # others keep theirs
            places = {name: memory.room(f"new {name}", place.size) for name, place in fields.items()}
            for name, place in fields.items():
                memory.copy(place.buffer, places[name].buffer)
        for kernel in self.fields.kernels(parts):
            run_kernel(kernel, given, None if self.engine.varied else anew, places, memory)
        if run is not None:
            self.keep(places, fields, run)

    def keep(self, new: Places, fields: Places, run: Any) -> None:
        """Takes new numbers of fields where simulations run."""
        for name, place in fields.items():
            n = place.size
            if not n:
                continue
            if n not in self.chosen:
                self.chosen[n] = self.sequence(choose(n))
            chosen = self.memory.room("chosen", n)
            self.launch(self.chosen[n], {"new": new[name], "old": place}, {"chosen": chosen}, run=run)
            self.memory.copy(chosen.buffer, place.buffer)

    def keyframe(self, key: int) -> None:
        """Sends the state of a keyframe, that of the defaults for -1.

        Errors: ValueError where the model does not have it.
        """
        if key not in self.rows:
            self.rows[key] = self.memory.sent(self.engine.keyframe(key, {})[None])

    def put(self, key: int, run: Any = None) -> None:
        """Sets simulations to a keyframe that has been sent."""
        if (usual := key < 0) not in self.puts:
            self.puts[usual] = self.sequence(put(self.engine, key))
        self.at = self.memory.begun
        given = {**self.live(), "row": Place(self.rows[key], 0, self.engine.layout.size)}
        if usual:
            given.update(self.of_defaults())
        self.launch(self.puts[usual], given, self.begun(), run=self.all(run))
        for name, place in self.memory.begun.items():
            self.memory.copy(place.buffer, self.memory.live[name].buffer)
