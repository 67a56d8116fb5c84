"""Cotangents of control steps, from the last to the first: of rewards and observations, by actions.

A step of `collect(..., keep=True)` is run again from the state that it began with, its passes one by one, and pulled back: what follows the
passes, each pass by the implicit form of its solver's equations (featherstorm.world.gradients), what drives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from ..world.gradients import sequence_of
from ..world.passes import STATE, solver, state_sizes
from .kernels import stages
from .recording import ACTION, KEY, MEMORY, REWARD, STEP, TAKEN, Stage, after_of, final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from .collecting import Collected
    from .kernels import Kernels

    Array = npt.NDArray[Any]
    Arrays = dict[str, Array]

MOVED = ("q", "v", "act")
# what cotangents are taken by: the state, the memory, what drives; parameters, times and draws are held
BY = (*MOVED, "ctrl", TAKEN, MEMORY)
OF_FELT = (*MOVED, "ctrl", "qacc")
READ = ("env_felt_in_", "env_left_in_")  # what `felt` and `remains` were made of


def bar(name: str) -> str:
    return f"{name}_bar"


class Part:
    """A sequence with what it reads and writes.

    reads, writes   numbers of arrays by name
    """

    def __init__(self, sequence: Any, reads: Mapping[str, int], writes: Mapping[str, int]) -> None:
        self.sequence, self.reads = sequence, {name: n for name, n in reads.items() if n}
        self.writes = {name: n for name, n in writes.items() if n}

    def __call__(self, arrays: Mapping[str, Array], instances: int, dtype: Any) -> Arrays:
        """What it writes, of arrays (B, n) by name; what is not among them is zero."""
        inputs = [(name, arrays[name], 0, n, False) for name, n in self.reads.items() if name in arrays]
        found = {name: np.empty((instances, n), dtype) for name, n in self.writes.items()}
        self.sequence.run(1, instances, inputs, {}, [(name, x, 0, x.shape[1], False) for name, x in found.items()])
        return found


class Programs:
    """What of a task is run again and pulled back.

    take, drive, moves   a step's action, what drives a pass, and its passes; the last of them keeps what is felt
    of_take, of_drive, of_finish   their cotangents, None where there are none
    """

    def __init__(self, kernels: Kernels) -> None:
        model, r, dtype = kernels.model, kernels.recording, kernels.dtype
        name = type(r.env).__name__
        if not r.world:
            raise ValueError(f"{name}: gradients of environments are those of robots of model files, this one has none")
        if kernels.law is not None:
            raise ValueError(f"{name}: its law is rigid, whose steps have no derivatives, expected MuJoCo's")
        self.kernels, self.model, self.dtype = kernels, model, np.dtype(dtype)
        (take,), (drive,), finish = r.before, r.each_pass, r.after[0]
        self.take, self.drive = self.of(take), self.of(drive)
        sizes = {**state_sizes(model), "ctrl": model.n_ctrl, **r.parameters}
        before = (r.substeps - 1) * r.pass_time
        felt, remains = (kept.record(before, r.clock) for kept in (r.felt, r.remains))  # type: ignore[union-attr]
        # what they were made of is kept too, for their cotangents
        felt, remains = (None if p is None else p.with_inputs(prefix) for p, prefix in zip((felt, remains), READ))
        kept = {n: size for p in (felt, remains) if p for n, size in p.outputs.items()}
        clocks = {n: size for p in (felt, remains) if p for n, size in p.inputs.items() if n.startswith("env_")}
        clock = _featherstorm.Trace()  # for the sequence to have the array
        clock.output("env_clock", clock.input(STEP, 1))
        clock.close()

        def move(felt: Any, remains: Any) -> Any:
            begins = stages([Stage(clock, [])])
            return _featherstorm.environment_sequence(
                model.evaluator, dtype, "world", 1, begins, [], [], felt, remains, True, **solver(model, dtype)
            )

        self.move = Part(move(None, None), sizes, state_sizes(model))
        self.last = Part(move(felt, remains), {**sizes, **clocks}, {**state_sizes(model), **kept})
        cotangents = {bar(after_of(name)): n for name, n in state_sizes(model).items()}
        self.of_move = Part(
            sequence_of(model, dtype, True, False, is_solved=True),  # Runge-Kutta's stages are solved all the same
            {**sizes, **cotangents},
            {bar(name): n for name, n in sizes.items() if name in (*MOVED, "ctrl")},
        )
        self.left_apart = (
            self.of_move.sequence.components(bar("q_left")) >= 0
        )  # Runge-Kutta's last stage has a state of its own
        if self.left_apart:
            self.of_move.reads.update(
                {bar(f"{name}_left"): n for name, n in state_sizes(model).items() if name in MOVED and n}
            )
        self.texts = [list(f.texts) for f in (r.felt, r.remains)]  # type: ignore[union-attr]
        self.of_felt = [
            None if p is None else self.pulled(Stage(p, []), names, OF_FELT)
            for p, names in zip((felt, remains), self.texts)
        ]
        self.groups = {final(group): group for group in r.groups}
        self.written = [name for name in (*MOVED, MEMORY) if after_of(name) in finish.trace.outputs]
        self.of_take = self.pulled(take, [TAKEN], (ACTION,))
        remembers = [after_of(MEMORY)] if after_of(MEMORY) in drive.trace.outputs else []
        self.drive_remembers = bool(remembers)
        self.of_drive = self.pulled(drive, [*(["ctrl"] if model.n_ctrl else []), *remembers])
        felt_by = (name for names in self.texts for name in names)
        self.of_finish = self.pulled(finish, [REWARD, *self.groups, *map(after_of, self.written)], (*BY, *felt_by))

    def sequence(self, stage: Stage) -> Any:
        model = self.model
        return _featherstorm.environment_sequence(
            model.evaluator, self.dtype.name, "world", 1, [], [], stages([stage]), None, None, False, **solver(model, self.dtype.name)
        )  # fmt: skip

    def of(self, stage: Stage) -> Part:
        """A stage run alone. Arrays that change places are read by the first name, and written by it."""
        there = {new: old for old, new in stage.swaps}
        writes = {there.get(name, name): n for name, n in stage.trace.outputs.items()}
        return Part(self.sequence(stage), stage.trace.inputs, writes)

    def pulled(self, stage: Stage, of: list[str], by: Iterable[str] = BY) -> Part | None:
        taken = [name for name in by if name in stage.trace.inputs]
        if not of or not taken:
            return None
        trace = stage.trace.vjp(of, taken)
        # numbers that are drawn are drawn again, by the counters of the step
        alone = Stage(trace, [], draws=stage.draws)
        drawn = {name for _, name, _ in stage.draws}
        counters = {"env_key": 6, "env_episode": 1, "env_step": 1} if drawn else {}
        reads = {name: n for name, n in {**trace.inputs, **counters}.items() if name not in drawn}
        return Part(self.sequence(alone), reads, trace.outputs)


class PullBack:
    """Cotangents of the steps of one `collect(..., keep=True)`, from the last to the first.

    back = env.pull_back(got)
    for t in reversed(range(T)):
        actions_bar = back.step(reward_bar[t], observation_bar, final_bar)       # observation_bar: of got.observations[t + 1]

    t      the step that comes next
    lost   how many cotangents of states were not finite, and were set to zero, with all of their environment
    state  cotangents of the state and the memory where step t + 1 begins, by name (B, n)
    """

    def __init__(self, env: Any, got: Collected) -> None:
        if got.kept is None:
            raise ValueError("pull_back: expected what collect(..., keep=True) returned")
        if got.reward.shape[1] != env.num_envs:
            raise ValueError(
                f"pull_back: what was collected has {got.reward.shape[1]} environments, expected {env.num_envs}"
            )
        if env.kernels.programs is None:
            env.kernels.programs = Programs(env.kernels)
        self.programs: Programs = env.kernels.programs
        self.kept = got.kept
        self.env, self.got, self.t, self.lost = env, got, len(got.reward) - 1, 0
        self.state: Arrays = {}
        self.key = np.array(env.view(KEY))

    def step(self, reward_bar: Array | None = None, observation_bar: Any = None, final_bar: Any = None) -> Array:
        """actions_bar (B, actions) of step t, the one before that of the last call.

        reward_bar        (B,) of its reward; None: zero, as of the others
        observation_bar   (B, n), or groups by name: of the observation that followed it; where an episode ended, of nothing
        final_bar         of its last observation, where its episode ended

        What is drawn, times, parameters and forces of contacts are held; with Runge-Kutta's method also accelerations of the last pass's
        beginning.
        """
        if self.t < 0:
            raise ValueError("pull_back: all steps have been pulled back")
        p, got, t = self.programs, self.got, self.t
        self.t -= 1
        B, dtype, r = self.env.num_envs, p.dtype, p.kernels.recording
        going = ~(got.terminated[t] | got.truncated[t])[:, None]
        now: Arrays = {**{name: x[t] for name, x in self.kept.items()}, KEY: self.key, ACTION: got.actions[t]}
        now.update(p.take(now, B, dtype))
        passes = []
        for k in range(r.substeps):
            begun = {name: now[name] for name in (*STATE, MEMORY) if name in now}
            now.update(p.drive(now, B, dtype))
            move = p.last if k + 1 == r.substeps else p.move
            now.update(move(now, B, dtype))
            passes.append({**now, **begun, "solution": now["qacc"]})
        bars = {name: np.where(going, x, 0) for name, x in self.state.items()}
        given = {bar(after_of(name)): bars[name] for name in p.written if name in bars}
        if reward_bar is not None:
            given[bar(REWARD)] = np.asarray(reward_bar, dtype).reshape(B, 1)
        for array, group in p.groups.items():
            after, last = (x[group] if hasattr(x, "keys") else x for x in (observation_bar, final_bar))
            if after is not None or last is not None:
                parts = (np.zeros((1, r.groups[group]), dtype) if x is None else x for x in (after, last))
                given[bar(array)] = np.where(going, *parts).astype(dtype)
        found = p.of_finish({**now, **given}, B, dtype) if p.of_finish else {}
        # what is not written stays as it is
        bars = {name: x for name, x in bars.items() if name not in p.written}
        taken = add(bars, found).pop(TAKEN, None)
        begun, left = self.of_felt(now, bars)
        driven = [bars.pop("ctrl", None), begun.pop("ctrl", None)]
        for at in reversed(passes):
            given = {bar(after_of(name)): bars.pop(name) for name in (*MOVED, "qacc") if name in bars}
            add(bars, p.of_move({**at, "qacc": at["solution"], **given, **left}, B, dtype))
            add(bars, {bar(name): x for name, x in begun.items()})
            given = {bar("ctrl"): x} if (x := total([bars.pop("ctrl", None), *driven])) is not None else {}
            begun, left, driven = {}, {}, []
            if p.drive_remembers and MEMORY in bars:
                given[bar(after_of(MEMORY))] = bars.pop(MEMORY)
            if p.of_drive:
                add(bars, p.of_drive({**at, **given}, B, dtype))
                taken = total([taken, bars.pop(TAKEN, None)])
        self.state = self.finite(bars)
        if taken is None or p.of_take is None:
            return np.zeros((B, r.actions), dtype)
        fine = np.isfinite(taken).all(1, keepdims=True)
        return p.of_take({**now, bar(TAKEN): np.where(fine, taken, 0)}, B, dtype)[bar(ACTION)]

    def of_felt(self, now: Arrays, bars: Arrays) -> tuple[Arrays, Arrays]:
        """Cotangents of what was felt, as those of the state that the last pass began with by name, and of the state that it was left at by the
        arrays of a pass; those of the solution are added to `bars`."""
        p, begun, left = self.programs, dict[str, "Array"](), dict[str, "Array"]()
        for part, names, prefix, apart in zip(p.of_felt, p.texts, READ, (False, p.left_apart)):
            given = {bar(name): bars.pop(name) for name in names if name in bars}
            if part is None or not given:
                continue
            made_of = {name.removeprefix(prefix): x for name, x in now.items() if name.startswith(prefix)}
            found = part({**made_of, **given}, self.env.num_envs, p.dtype)
            of_solution = found.pop(bar("qacc"), None)
            if of_solution is not None and (apart or not p.left_apart):
                add(bars, {bar("qacc"): of_solution})
            if apart:
                add(begun, {bar("ctrl"): found.pop(bar("ctrl"))} if bar("ctrl") in found else {})
                left = {f"{name.removesuffix('_bar')}_left_bar": x for name, x in found.items()}
            else:
                add(begun, found)
        return begun, left

    def shorten(self, times: float) -> None:
        """Shortens the cotangents of environments' states that are longer than so many times their median."""
        norm = np.sqrt(sum(np.square(x, dtype=float).sum(1) for x in self.state.values()))
        factor = np.minimum(1, times * np.median(norm) / np.maximum(norm, 1e-30))
        self.state = {name: (x * factor[:, None]).astype(x.dtype) for name, x in self.state.items()}

    def finite(self, bars: Arrays) -> Arrays:
        fine = np.logical_and.reduce([np.isfinite(x).all(1) for x in bars.values()])
        self.lost += int(np.count_nonzero(~fine))
        return {name: np.where(fine[:, None], x, 0) for name, x in bars.items()}


def add(bars: Arrays, found: Mapping[str, Array]) -> Arrays:
    """Adds cotangents "NAME_bar" to those of NAME."""
    for called, x in found.items():
        name = called.removesuffix("_bar")
        bars[name] = bars[name] + x if name in bars else x
    return bars


def total(arrays: Iterable[Array | None]) -> Array | None:
    """The sum of those that are there."""
    there = [x for x in arrays if x is not None]
    return sum(there[1:], there[0]) if there else None
