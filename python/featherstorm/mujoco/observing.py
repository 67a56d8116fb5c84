"""Fields and the solver's results at the states of a batch, on the host or on a device."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .._fields.constraints import is_reading
from .._fields.kernels import SOLVED
from .._fields.table import ACC, POS, VEL, parts_of
from .._memory.named_buffers import Columns, columns_of_array
from .programs import choose, last_of_runge_kutta
from .states import BEFORE, States

if TYPE_CHECKING:
    from .._fields.kernels import FieldKernels
    from .._memory.named_buffers import NamedBuffers
    from ..typing import NumpyArray as Array
    from .engine import Engine
    from .storage import Storage

    NamedColumns = dict[str, Columns]

ALL = (POS, VEL, ACC)
OF_THE_FIRST = ("sensordata", "cacc")  # fields that belong to the first evaluation of Runge-Kutta's method
NO_CONTACT = 1e10  # the gap without a contact (core/collision/contact_point.h)


class Observations(States):
    """Fields and results at the states that `when` names."""

    def __init__(self, engine: Engine, memory: Storage) -> None:
        super().__init__(engine, memory)
        self.from_host: dict[str, bool] = {}  # fields of a device -> True if no kernel computes them

    def solve(self, sizes: dict[str, int]) -> NamedColumns:
        """Return the solver's results at the states, by name."""
        found = {name: self.memory.columns_for(f"solved {name}", size) for name, size in sizes.items()}
        outputs = [place.named(name) for name, place in found.items() if place.size]
        if outputs and (sequence := self.engine.solver_for(outputs, self.looks)) is not None:
            sequence.run(1, self.memory.instances, self.inputs(), {}, outputs, stream=self.memory.stream)
        return found

    def solved_at(self, parts: tuple[str, ...], stages: tuple[int, ...]) -> dict[str, int]:
        """Return the sizes of results that fields need at some stages; before accelerations contacts alone."""
        sizes = self.fields.solved(parts)
        return sizes if ACC in stages else {name: size for name, size in sizes.items() if is_reading(name)}

    def report(self) -> dict[str, Array]:
        """Return residual and gap (instances,) of the current states, on the host."""
        self.prepare()
        found = {name: self.memory.columns_for(name, 1) for name in ("residual", "gap")}
        numbers = {name: self.memory.array(place)[:, 0] for name, place in found.items()}
        numbers["residual"][...], numbers["gap"][...] = 0, NO_CONTACT
        if self.engine.reporter is not None:
            outputs = [place.named(name) for name, place in found.items()]
            self.engine.reporter.run(1, self.memory.instances, self.inputs(), {}, outputs)
        return numbers

    def geom_poses(self) -> tuple[Array, Array]:
        """Return positions (n, ngeom, 3) and rotations (n, ngeom, 3, 3) of geoms in double, on the host."""
        self.prepare()
        found = poses(self.engine, self.given(), ["geom_xpos", "geom_xmat"], self.memory)
        return found["geom_xpos"], found["geom_xmat"]

    def jacobians(self, body: int, point: Array) -> list[Array]:
        """Return Jacobians (n, 3, nv) of world points (n, 3) on a body, on the host.

        The first is of their velocity, the second of their angular velocity.
        """
        self.prepare()
        memory, nv = self.memory, self.engine.m.nv
        found = {name: memory.columns_for(name, 3 * nv) for name in ("jacp", "jacr")}
        self.engine.fields.jacobian(body).run({**self.given(), "point": columns_of_array(point)}, found, memory)
        return [memory.array(place, [3, nv]) for place in found.values()]

    def compute(
        self,
        names: list[str],
        stages: tuple[int, ...],
        arrays: NamedColumns,
        anew: Columns | None = None,
        run: Columns | None = None,
        solved: bool = False,
    ) -> None:
        """Run the kernels of fields at the states.

        arrays   additional or replaced inputs
        solved   True: they contain the solver's results
        """
        memory, parts = self.memory, parts_of(names, stages)
        if not self.fields.kernels(parts) and not (self.host and measures_apart(self.engine, parts)):
            return
        given = self.given()
        if not solved and (sizes := self.solved_at(parts, stages)):
            given.update(self.solve(sizes))
        given.update(arrays)
        fields = {name: memory.fields[name] for name in names if memory.fields[name].size}
        places = fields
        if run is not None:  # the others keep their numbers
            places = {name: memory.columns_for(f"new {name}", place.size) for name, place in fields.items()}
            for name, place in fields.items():
                memory.copy(place, places[name])
        compute(self.engine, self.fields, parts, given, places, memory, anew if self.fields.after_defaults else None)
        if run is not None:
            self.keep(places, fields, run)

    def keep(self, new: NamedColumns, fields: NamedColumns, run: Columns) -> None:
        """Replace fields by new numbers where simulations run."""
        for name, place in fields.items():
            if n := place.size:
                chosen, program = (
                    self.memory.columns_for("chosen", n),
                    self.engine.program(("choose", n), lambda: choose(n)),
                )
                self.launch(program, {"new": new[name], "old": place}, {"chosen": chosen}, run=run)
                self.memory.copy(chosen, place)

    def columns_for_fields(self, names: list[str]) -> NamedColumns:
        """Return memory for the results of a step that fields read.

        These are the solver's results, and the state of the last evaluation of Runge-Kutta's method.
        """
        engine = self.engine
        if not engine.moves:
            return {}
        kernels, others = self.apart(names)
        sizes = {**self.fields.solved(parts_of(kernels, ALL)), **engine.fields.solved(parts_of(others, ALL))}
        sizes.pop("qacc", None)
        if engine.runs_rk4:
            if sizes.pop("qfrc_constraint", 0):
                sizes.update(mass=engine.model.nh, b=engine.m.nv)
            sizes.update(qpos=engine.m.nq, qvel=engine.m.nv, act=engine.m.na)
        return {name: self.memory.columns_for(f"found {name}", n) for name, n in sizes.items()}

    def apart(self, names: list[str]) -> tuple[list[str], list[str]]:
        """Return the fields that kernels compute here, and on a device those that the host computes."""
        if self.host:
            return names, []
        for name in names:
            if name not in self.from_host:
                self.from_host[name] = comes_from_host(self.engine, name)
        return [name for name in names if not self.from_host[name]], [name for name in names if self.from_host[name]]

    def observe(self, stages: tuple[int, ...], names: list[str], run: Columns | None = None) -> None:
        """Compute fields of some stages at the states, as mj_forward does."""
        self.prepare(run, (4 if self.engine.runs_rk4 else 1) if ACC in stages else 0)
        names, others = self.apart(names)
        self.compute(names, stages, {}, None if self.host else self.zero, run)
        if others:
            self.compute_on_host(others, run, stages)

    @cached_property
    def zero(self) -> Columns:
        """The input `anew` where no simulation was reset."""
        return self.memory.sent(np.zeros((1, 1)))

    def observe_step(self, names: list[str], found: NamedColumns, run: Columns | None = None) -> None:
        """Compute fields from the results of the last step.

        With Runge-Kutta's method MuJoCo's sensors belong to the first evaluation of the equations, qacc is the mean of
        all, and the rest belongs to the last.
        """
        engine = self.engine
        if engine.runs_rk4 and (first := [name for name in names if name in OF_THE_FIRST]):
            self.compute(first, ALL, {}, self.anew, run)
            names = [name for name in names if name not in first]
        if not names:
            return
        arrays = {name: place for name, place in found.items() if name in SOLVED}
        if engine.moves:
            arrays["qacc"] = self.changed("qacc_warmstart")
        if engine.runs_rk4 and engine.moves:
            arrays.update(self.last_evaluation(found, arrays["qacc"]))
        self.compute(names, ALL, arrays, self.anew, run, solved=True)

    def last_evaluation(self, found: NamedColumns, qacc: Columns) -> NamedColumns:
        """Return the inputs of fields at the last evaluation of Runge-Kutta's method."""
        engine, memory, nv = self.engine, self.memory, self.engine.m.nv
        given = {"a": qacc, "v_0": self.state("qvel"), "v_1": self.changed("qvel"), "q_i": found["qpos"]}
        given.update(
            {name: found.get(name, memory.columns_for(name, n)) for name, n in (("mass", engine.model.nh), ("b", nv))}
        )
        given.update(self.differing("opt.timestep"))
        last = {"qfrc_constraint": nv, "qacc": nv, "qpos": engine.m.nq}
        written = {name: memory.columns_for(f"last {name}", n) for name, n in last.items()}
        self.launch(engine.program("last evaluation", lambda: last_of_runge_kutta(engine)), given, written)
        return {**written, "qvel": found["qvel"], "act": found["act"]}

    def compute_on_host(
        self, names: list[str], run: Columns | None, stages: tuple[int, ...], found: NamedColumns | None = None
    ) -> None:
        """Compute fields of a device that no kernel computes (range finders, distances) on the host; this waits.

        found   results of the last step, None for fields of the current states
        """
        memory, engine = self.memory, self.engine
        host = memory.on_host([engine.timestep])
        steps, begun = type(self)(engine, host), memory.numpy(self.whole(self.when))
        for name in names:
            host.fields[name] = host.sent(memory.numpy(memory.fields[name]))
        old = {name: host.numpy(place).copy() for name, place in host.fields.items()}
        if found is None:
            host.set_rows(slice(None), begun)
            steps.prepare()
            steps.compute(names, stages, {})
        else:
            steps.begin_from(begun, memory.numpy(self.q), memory.numpy(self.ctrl))
            steps.observe_step(names, {name: host.sent(memory.numpy(place)) for name, place in found.items()})
        anew = found is not None and self.fields.after_defaults is not None
        for name in names:
            x = host.numpy(host.fields[name])
            if anew:
                x[memory.numpy(self.anew)[:, 0] > 0] = self.fields.after_defaults(name)  # type: ignore[misc]  # it is set
            if run is not None:  # the others keep their numbers
                still = ~(memory.numpy(run)[:, 0] > 0)
                x[still] = old[name][still]
            memory.send(x, memory.fields[name])

    def begin_from(self, begun: Array, q: Array, ctrl: Array) -> None:
        """Go on, on the host, from the beginning of a step that a device has run."""
        self.before_numbers[...] = begun[:, : self.before_numbers.shape[1]]
        self.memory.send(q, self.q)
        self.memory.send(ctrl, self.memory.field_of_state("ctrl"))
        self.when = BEFORE


def poses(engine: Engine, given: NamedColumns, names: list[str], buffers: NamedBuffers) -> dict[str, Array]:
    """Return fields of positions (n, count, 3) and rotations (n, count, 3, 3) in double, on the host."""
    found = {
        name: buffers.columns_for(f"pose {name}", int(np.size(getattr(engine.fields.data, name)))) for name in names
    }
    for kernel in engine.fields.kernels(tuple(sorted(names))):
        kernel.run(given, found, buffers)
    tails = {name: (3,) if name.endswith("xpos") else (3, 3) for name in names}
    return {
        name: buffers.array(x).astype(np.float64).reshape(-1, x.size // int(np.prod(tails[name])), *tails[name])
        for name, x in found.items()
    }


def measures_apart(engine: Engine, parts: tuple[str, ...]) -> bool:
    """Return whether requested sensors are range finders, or measure distances that loops find."""
    return bool(engine.apart.some) and f"sensordata {POS}" in parts


def comes_from_host(engine: Engine, name: str) -> bool:
    """Return True if no kernel computes a field."""
    return measures_apart(engine, parts_of([name], ALL))


def compute(
    engine: Engine,
    kernels: FieldKernels,
    parts: tuple[str, ...],
    given: NamedColumns,
    fields: NamedColumns,
    buffers: NamedBuffers,
    anew: Columns | None = None,
) -> None:
    """Run the kernels of fields; anew: see Kernel.run."""
    for kernel in kernels.kernels(parts):
        kernel.run(given, fields, buffers, anew)
    if buffers.readable and measures_apart(engine, parts):
        posed = lambda names: poses(engine, given, names, buffers)  # noqa: E731
        sizes = buffers.array(given["geom_size"]) if "geom_size" in given else None
        engine.apart.measure(posed, buffers.array(fields["sensordata"]), sizes)
