"""Substeps of a control step, run again and differentiated: of a model file's world, or of an operation that steps.

begin(now, at)        inputs of the first substep, where these are not the state itself
move(now, last, at)   outputs of a substep; last: it keeps the quantities at the solve
of_move(then, ...)    cotangents of a substep's outputs -> of its inputs, and of its drives
of_begin(...)         the same for `begin`

Programs are those of a task that are run again, and their derivatives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import _featherstorm
from ..._world.gradients import sequence_of
from ..._world.passes import STATE, state_sizes
from ...device import HOST
from ...symbols import symbols
from ..recording import ACTION, MEMORY, REWARD, STEP, TAKEN, Stage, after_of, final
from .parts import Part, arithmetic_of, bar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..kernels import Kernels
    from .parts import Arithmetic, Arrays, Place

MOVED = ("q", "v", "act")
OF_QUANTITIES = (*MOVED, "ctrl", "qacc")
READ = ("env_at_solve_in_", "env_at_last_stage_in_")  # what `at_solve` and `at_last_stage` were made of


class WorldPasses:
    """Substeps of a model file's world, by the implicit form of its solver's equations (featherstorm.world.gradients).

    state, drive   names of arrays: the state of a substep, and its drives
    quantities     names of the quantities at the solve
    """

    state, drive = STATE, "ctrl"

    def __init__(self, kernels: Kernels, arithmetic: Arithmetic, on_device: bool, pulled: Any) -> None:
        model, r, dtype = kernels.model, kernels.recording, kernels.dtype
        if kernels.law is not None:
            raise ValueError(
                f"{type(r.env).__name__}: its law is rigid, whose steps have no derivatives, expected MuJoCo's"
            )
        self.arithmetic = arithmetic
        sizes = {**state_sizes(model), "ctrl": model.n_ctrl, **r.parameters}
        before = (r.substeps - 1) * r.pass_time
        at_solve, at_last_stage = (kept.record(before, r.clock) for kept in (r.at_solve, r.at_last_stage))  # type: ignore[union-attr]
        # what they were made of is kept too, for their cotangents
        at_solve, at_last_stage = (
            None if p is None else p.with_inputs(prefix) for p, prefix in zip((at_solve, at_last_stage), READ)
        )
        kept = {n: size for p in (at_solve, at_last_stage) if p for n, size in p.outputs.items()}
        clocks = {
            n: size for p in (at_solve, at_last_stage) if p for n, size in p.inputs.items() if n.startswith("env_")
        }
        clock = _featherstorm.Trace()  # for the sequence to have the array
        clock.output("env_clock", clock.input(STEP, 1))
        clock.close()

        def move(at_solve: Any, at_last_stage: Any) -> Any:
            return kernels.made([Stage(clock, [])], [], [], at_solve, at_last_stage, True)

        self.moving = Part(move(None, None), sizes, state_sizes(model))
        self.last = Part(move(at_solve, at_last_stage), {**sizes, **clocks}, {**state_sizes(model), **kept})
        cotangents = {bar(after_of(name)): n for name, n in state_sizes(model).items()}
        self.of_moving = Part(
            sequence_of(model, dtype, True, on_device, is_solved=True),  # Runge-Kutta's stages are solved all the same
            {**sizes, **cotangents},
            {bar(name): n for name, n in sizes.items() if name in (*MOVED, "ctrl")},
        )
        self.left_apart = (
            self.of_moving.sequence.components(bar("q_left")) >= 0
        )  # Runge-Kutta's last stage has a state of its own
        if self.left_apart:
            self.of_moving.reads.update(
                {bar(f"{name}_left"): n for name, n in state_sizes(model).items() if name in MOVED and n}
            )
        self.names = [list(kept.functions) for kept in (r.at_solve, r.at_last_stage)]  # type: ignore[union-attr]
        self.quantities = [name for names in self.names for name in names]
        self.of_solved = [
            None if p is None else pulled(Stage(p, []), names, OF_QUANTITIES)
            for p, names in zip((at_solve, at_last_stage), self.names)
        ]

    def begin(self, now: Arrays, at: Place) -> Arrays:
        return {}

    def of_begin(self, now: Arrays, bars: Arrays, at: Place) -> None:
        pass

    def move(self, now: Arrays, is_last: bool, at: Place) -> Arrays:
        found = (self.last if is_last else self.moving)(now, at)
        return {**found, "solution": found["qacc"]}

    def of_move(self, then: Arrays, is_last: bool, bars: Arrays, at: Place) -> None:
        """Add the cotangents of a substep's inputs to `bars`.

        then   inputs, drives, and further outputs of the substep
        bars   cotangents of the state, of the quantities at the solve, and of the drives, by name
        """
        begun, left = self.of_quantities(then, bars, at) if is_last else ({}, {})
        drive = bars.pop("ctrl", None)
        given = {bar(after_of(name)): bars.pop(name) for name in (*MOVED, "qacc") if name in bars}
        add = self.arithmetic.add_to
        add(bars, self.of_moving({**then, "qacc": then["solution"], **given, **left}, at), at)
        add(bars, begun, at)
        if drive is not None:
            add(bars, {bar("ctrl"): drive}, at)

    def of_quantities(self, then: Arrays, bars: Arrays, at: Place) -> tuple[Arrays, Arrays]:
        """Return the cotangents of the inputs of quantities at the solve in the last substep.

        The first part is for the state at its beginning and its drives, by name. The second part is for the state at
        its end, by the arrays of a substep. Cotangents of the solution are added to `bars`.
        """
        begun, left, add = dict[str, Any](), dict[str, Any](), self.arithmetic.add_to
        for part, names, prefix, apart in zip(self.of_solved, self.names, READ, (False, self.left_apart)):
            given = {bar(name): bars.pop(name) for name in names if name in bars}
            if part is None or not given:
                continue
            made_of = {name.removeprefix(prefix): x for name, x in then.items() if name.startswith(prefix)}
            found = part({**made_of, **given}, at)
            of_solution = found.pop(bar("qacc"), None)
            if of_solution is not None and (apart or not self.left_apart):
                add(bars, {bar("qacc"): of_solution}, at)
            if apart:
                add(begun, {bar("ctrl"): found.pop(bar("ctrl"))} if bar("ctrl") in found else {}, at)
                left = {f"{name.removesuffix('_bar')}_left_bar": x for name, x in found.items()}
            else:
                add(begun, found, at)
        return begun, left


class Pick:
    """Columns of an array as another one: linear, and its cotangents put them back."""

    def __init__(self, kernels: Kernels, of: str, n: int, columns: Sequence[int], to: str) -> None:
        self.reads, self.writes = {of: of}, {to: to}
        there, back = _featherstorm.Trace(), _featherstorm.Trace()
        x, y = there.input(of, n), back.input(bar(to), len(columns))
        spread: list[Any] = [0.0] * n
        for k, c in enumerate(columns):
            spread[c] = y[k]
        there.output(to, [x[c] for c in columns])
        back.output(bar(of), symbols(spread).tolist())
        self.there, self.back = (
            Part(_featherstorm.traced_sequence(kernels.model.evaluator, kernels.dtype, t), t.inputs, t.outputs)
            for t in (there, back)
        )
        for t in (there, back):
            t.close()

    def __call__(self, now: Arrays, at: Place) -> Arrays:
        return self.there(now, at)

    def pulled(self, then: Arrays, given: Arrays, at: Place) -> Arrays:
        return self.back(given, at)


class Row:
    """An operation of the table on arrays of an environment.

    called   the array for an argument of another name
    """

    def __init__(self, kernels: Kernels, op: str, called: Mapping[str, str], uniforms: Sequence[float] = ()) -> None:
        self.model, self.op, self.uniforms = kernels.model, op, list(uniforms)
        row, self.derivative = self.model.row(op), self.model.row(f"{op}_vjp")  # refuse what the robot cannot have
        self.called = {name: called.get(name, name) for name, _ in (*row.inputs, *row.outputs)}
        self.inputs, self.outputs = row.inputs, row.outputs
        self.reads = {self.called[name]: name for name, _ in row.inputs}
        self.writes = {self.called[name]: name for name, _ in row.outputs}

    def __call__(self, now: Arrays, at: Place) -> Arrays:
        found = self.run(self.op, [(now.get(self.called[name]), n) for name, n in self.inputs], self.outputs, at)
        return {self.called[name]: x for name, x in found.items()}

    def pulled(self, then: Arrays, given: Arrays, at: Place) -> Arrays:
        own = {name for name, _ in self.inputs}
        arrays = [
            (then.get(self.called[name]) if name in own else given.get(bar(self.called[name.removesuffix("_bar")])), n)
            for name, n in self.derivative.inputs
        ]
        found = self.run(f"{self.op}_vjp", arrays, self.derivative.outputs, at)
        return {bar(self.called[name.removesuffix("_bar")]): x for name, x in found.items()}

    def run(self, op: str, arrays: Sequence[tuple[Any, int]], outputs: Sequence[tuple[str, int]], at: Place) -> Arrays:
        given = [at.memory(at.zeros(n) if x is None else x) for x, n in arrays]
        found = {name: at.output(n) for name, n in outputs}
        self.model.evaluator.run(
            op, given, [m for m, _ in found.values()], self.uniforms, 0, 1, at.library.stream, at.instances
        )
        return {name: view for name, (_, view) in found.items()}


class RowPasses:
    """Substeps of a robot without a world: the operation that steps, and the operations that adjust coupled joints.

    chain   calls of a substep, in order; each array has a name of its own
    """

    drive = "tau"

    def __init__(self, kernels: Kernels, arithmetic: Arithmetic) -> None:
        model, op, self.arithmetic = kernels.model, kernels.op, arithmetic
        numbers = [x for name, _ in model.row(op).uniforms for x in kernels.uniforms[name]]
        self.quantities: list[str] = []  # no quantities at the solve
        self.state: tuple[str, ...] = ("q", "v", "impulse") if op == "contact_step" else ("q", "v")
        self.starts: list[Any] = []
        if op != "coupled_step":
            self.chain: list[Any] = [Row(kernels, op, {}, numbers)]
            return
        columns = [model.v_names.index(name) for name in model.u_names]
        self.chain = [
            Pick(kernels, "v", model.nv, columns, "u"),
            Row(kernels, op, {}, numbers),
            Row(kernels, "coupled_velocity", {"u": "u_next", "v": "v_next"}),
        ]
        self.starts = [
            Row(kernels, "coupled_position", {"q_coupled": "q_next"}),
            Pick(kernels, "v", model.nv, columns, "u"),
            Row(kernels, "coupled_velocity", {"v": "v_next"}),
        ]

    def begin(self, now: Arrays, at: Place) -> Arrays:
        return self.run(self.starts, now, at)

    def of_begin(self, now: Arrays, bars: Arrays, at: Place) -> None:
        self.pull(self.starts, now, bars, at)

    def move(self, now: Arrays, is_last: bool, at: Place) -> Arrays:
        return self.run(self.chain, now, at)

    def of_move(self, then: Arrays, is_last: bool, bars: Arrays, at: Place) -> None:
        self.pull(self.chain, then, bars, at)

    def run(self, chain: Sequence[Any], now: Arrays, at: Place) -> Arrays:
        """Return the outputs of the calls, and the state by its own names."""
        found: Arrays = {}
        for call in chain:
            found.update(call({**now, **found}, at))
        return {**found, **{name: found[after_of(name)] for name in self.state if after_of(name) in found}}

    def pull(self, chain: Sequence[Any], then: Arrays, bars: Arrays, at: Place) -> None:
        if not chain:
            return
        names = [name for name in self.state if any(after_of(name) in call.writes for call in chain)]
        of = {after_of(name): bars.pop(name) for name in names if name in bars}
        for call in reversed(chain):
            given = {bar(name): of.pop(name) for name in call.writes if name in of}
            if not given:
                continue
            found = call.pulled(then, given, at)
            self.arithmetic.add_to(of, {bar(name): found[bar(name)] for name in call.reads if bar(name) in found}, at)
        # parameters and targets of drives are held
        self.arithmetic.add_to(bars, {bar(name): of[name] for name in (*self.state, self.drive) if name in of}, at)


def passes_of(kernels: Kernels, arithmetic: Arithmetic, on_device: bool, pulled: Any) -> WorldPasses | RowPasses:
    if kernels.recording.world:
        return WorldPasses(kernels, arithmetic, on_device, pulled)
    return RowPasses(kernels, arithmetic)


class Programs:
    """Programs of a task that are run again and differentiated.

    take, drive, passes   the action of a step, the drives of a substep, and the substeps
    of_take, of_drive, of_finish   their cotangents, None where there are none
    """

    def __init__(self, kernels: Kernels, at: Place) -> None:
        r = kernels.recording
        self.kernels = kernels
        self.arithmetic = arithmetic_of(at, kernels.model, kernels.dtype)
        self.passes = passes_of(kernels, self.arithmetic, at.library.device != HOST, self.pulled)
        (take,), (drive,), finish = r.before, r.each_pass, r.after[0]
        self.take, self.drive = self.of(take), self.of(drive)
        self.groups = {final(group): group for group in r.groups}
        self.written = [name for name in (*MOVED, MEMORY) if after_of(name) in finish.trace.outputs]
        self.of_take = self.pulled(take, [TAKEN], (ACTION,))
        remembers = [after_of(MEMORY)] if after_of(MEMORY) in drive.trace.outputs else []
        driven = [self.passes.drive] if self.passes.drive in drive.trace.outputs else []
        self.drive_remembers = bool(remembers)
        # what cotangents are taken by: the state, the memory, what drives; parameters, times and draws are held
        by = (*MOVED, self.passes.drive, TAKEN, MEMORY)
        self.of_drive = self.pulled(drive, [*driven, *remembers], by)
        of = [REWARD, *self.groups, *map(after_of, self.written)]
        self.of_finish = self.pulled(finish, of, (*by, *self.passes.quantities))

    def of(self, stage: Stage) -> Part:
        """A stage run alone. Arrays that change places are read by the first name, and written by it."""
        there = {new: old for old, new in stage.swaps}
        writes = {there.get(name, name): n for name, n in stage.trace.outputs.items()}
        return Part(self.kernels.made([], [], [stage]), stage.trace.inputs, writes)

    def pulled(self, stage: Stage, of: list[str], by: Iterable[str]) -> Part | None:
        taken = [name for name in by if name in stage.trace.inputs]
        if not of or not taken:
            return None
        trace = stage.trace.vjp(of, taken)
        # numbers that are drawn are drawn again, by the counters of the step
        alone = Stage(trace, [], draws=stage.draws)
        drawn = {name for _, name, _ in stage.draws}
        counters = {"env_key": 6, "env_episode": 1, "env_step": 1} if drawn else {}
        reads = {name: n for name, n in {**trace.inputs, **counters}.items() if name not in drawn}
        return Part(self.kernels.made([], [], [alone]), reads, trace.outputs)
