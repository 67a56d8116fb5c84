"""An environment's functions as stages of a sequence."""

from __future__ import annotations

import inspect
import math
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _featherstorm
from .._robot.steps import pass_count
from .._world.state import SolveQuantities
from .._world.values import parameter_sizes
from ..symbols import State, Symbols, is_symbol, symbols, values_of
from .draws import Draws, Memory, Parameters, columns_of, is_changed, numbers_of, shapes_of, size_of
from .state import EnvironmentState, beginning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model import Model
    from .networks import Network
    from .task import Task

# Numbers beyond count as not finite (mjMAXVAL). Test by `<` alone, which is false for NaN.
MOST = 1e10
# functions with independent random numbers, by their index in the counter
FUNCTIONS = {"reset": 1, "after": 2, "observe": 3, "policy": 4}
# arrays of a sequence; arrays of the step have no prefix
ACTION, TAKEN, BAD = "env_action", "env_taken", "env_bad"
MEMORY, SUMS = "env_memory", "env_sums"
LAST_RETURN, LAST_LENGTH, LAST_TERMS = "env_last_return", "env_last_length", "env_last_terms"
STEP, EPISODE, KEY = "env_step", "env_episode", "env_key"
REWARD, TERMINATED, TRUNCATED, DONE, LOST = "env_reward", "env_terminated", "env_truncated", "env_done", "env_lost"
TERMS = "env_terms"
PENDING, MASK = "env_pending", "env_mask"
RESULTS = (REWARD, TERMINATED, TRUNCATED, DONE, LOST)


def after_of(name: str) -> str:
    return f"{name}_next"


def observation(group: str) -> str:
    return f"env_obs_{group}"


def final(group: str) -> str:
    return f"env_final_{group}"


def metric(name: str) -> str:
    return f"env_metric_{name}"


class Stage(NamedTuple):
    """A stage: its trace, its arrays that swap names, the instances it is for, its draws, and its networks.

    A draw is (function, array, count).
    """

    trace: _featherstorm.Trace
    swaps: list[tuple[str, str]]
    needed: str = ""
    draws: tuple[tuple[str, str, int], ...] = ()
    networks: tuple[Network, ...] = ()


class Recording:
    """An environment's functions, recorded.

    groups    name -> size of an observation; one group "" where it is one array
    terms     names of the reward's terms; none where it is a number
    metrics   name -> size of each result of `metrics`
    """

    def __init__(self, env: Task, model: Model, op: str) -> None:
        self.env, self.model, self.op = env, model, op
        self.world = self.op == "world"
        self.dt, self.substeps = pass_count(type(env).__name__, model, self.op, env.dt, env.substeps)
        self.pass_time = self.dt / self.substeps
        self.shapes = shapes_of(env.memory)
        self.size = size_of(self.shapes)
        self.driven = model.n_ctrl if self.world else model.nv
        self.actions = self.driven if env.actions is None else int(env.actions)
        if env.actuate is None and self.actions != self.driven:
            raise ValueError(
                f"{type(env).__name__}: actions is {self.actions}, expected {self.driven}, or a method `actuate`"
            )
        self.low, self.high = self.action_range()
        self.parameters = parameter_sizes(model) if self.world else self.plain_parameters()
        self.groups: dict[str, int] = {}
        self.terms: list[str] = []
        self.metrics: dict[str, int] = {}
        self.at_solve, self.at_last_stage = (SolveQuantities(model) if self.world else None for _ in range(2))
        self.before = [self.take_action()]
        self.each_pass = [self.record_pass()]
        self.after = [self.finish()]

    def plain_parameters(self) -> dict[str, int]:
        row = self.model.row(self.op)
        return {name: n for name, n in row.inputs if name in self.model.parameters}

    def action_range(self) -> tuple[Any, Any]:
        env, own = self.env, self.env.actuate is None and self.world
        low: Any
        high: Any
        low, high = (self.model.ctrl_lower, self.model.ctrl_upper) if own else (-1.0, 1.0)
        if env.action_range is not None:
            low, high = env.action_range
        both = [np.array(np.broadcast_to(np.asarray(x, float), (self.actions,))) for x in (low, high)]
        if not (both[0] <= both[1]).all():
            raise ValueError(f"{type(env).__name__}: action_range is {low} to {high}, the lowest action first")
        return both[0], both[1]

    # -- inputs of traces

    def state(self, trace: _featherstorm.Trace, steps: Any, has_ctrl: bool = True) -> Any:
        if not self.world:
            return State(self.model, trace, trace.input("q", self.model.nq), trace.input("v", self.model.nv))
        time = np.asarray(steps * self.dt, dtype=object)
        x = EnvironmentState.of(self.model, trace, time.view(Symbols), self.at_solve, has_ctrl)  # type: ignore[arg-type]
        return x.begin(steps, self.at_last_stage)  # type: ignore[arg-type]

    def memory(self, trace: _featherstorm.Trace) -> Memory:
        return Memory(self.shapes, trace.input(MEMORY, self.size) if self.size else [])

    def keep(self, trace: _featherstorm.Trace, numbers: list[Any], swaps: list[tuple[str, str]]) -> None:
        if self.size:
            trace.output(after_of(MEMORY), numbers)
            swaps.append((MEMORY, after_of(MEMORY)))

    def call(self, name: str, *arguments: Any) -> Any:
        function = getattr(self.env, name)
        return None if function is None else function(*arguments)

    # -- stages

    def take_action(self) -> Stage:
        """Return the stage that clips the action to its range; an action that is not finite becomes zero."""
        trace = _featherstorm.Trace()
        a = symbols(trace.input(ACTION, self.actions) if self.actions else [])
        fine = np.abs(a) < MOST
        taken = np.where(fine, a, 0.0)
        if self.env.clip and self.actions:
            taken = np.minimum(np.maximum(taken, self.low), self.high)
        bad = 1.0 - np.where(np.logical_and.reduce(fine), 1.0, 0.0) if self.actions else 0.0
        trace.output(TAKEN, values_of(taken, "action"))
        trace.output(BAD, values_of(bad, "action", 1))
        trace.close()
        return Stage(trace, [])

    def record_pass(self) -> Stage:
        swaps: list[tuple[str, str]] = []
        drive = "ctrl" if self.world else "tau"
        x, m = None, None
        with closing(_featherstorm.Trace()) as trace:
            found = a = symbols(trace.input(TAKEN, self.actions) if self.actions else [])
            if self.env.actuate is not None or self.env.adapt is not None:
                m = self.memory(trace)
                x = self.state(trace, symbols(trace.input(STEP, 1))[0], has_ctrl=False)
            if self.env.actuate is not None:
                found = self.call("actuate", x, a, m)
            changed = {} if self.env.adapt is None else self.changed("adapt", self.call("adapt", x, m), self.parameters)
            for name, value in changed.items():
                trace.output(after_of(name), value)
                swaps.append((name, after_of(name)))
            if m is not None and is_changed(m):
                self.keep(trace, numbers_of(m), swaps)
            trace.output(drive, values_of(found, f"actuate: {drive}", self.driven))
        return Stage(trace, swaps)

    def finish(self) -> Stage:
        """Return the stage of terminations, rewards, `after`, and observations."""
        env = self.env
        swaps: list[tuple[str, str]] = []
        with closing(_featherstorm.Trace()) as trace:
            steps = symbols(trace.input(STEP, 1))[0] + 1.0
            x, m = self.state(trace, steps), self.memory(trace)
            was = numbers_of(m)
            a = symbols(trace.input(TAKEN, self.actions) if self.actions else [])
            reward, terms = self.rewards(env.reward(x, a, m))
            fine = np.logical_and(self.is_finite(x), symbols(trace.input(BAD, 1))[0] < 0.5)
            fine = np.logical_and(fine, np.abs(reward) < MOST)
            ends = self.call("terminate", x, m)
            ends = 0.0 if ends is None else number_of(ends, "terminate")
            terminated = np.where(np.logical_and(fine, np.logical_not(ends)), 0.0, 1.0)
            truncated = 0.0 if env.steps is None else np.where(steps >= float(env.steps), 1.0, 0.0)
            done = np.maximum(terminated, truncated)
            if env.reward_floor is not None:
                reward = np.maximum(reward, env.reward_floor)
            reward, *terms = (np.where(fine, value, 0.0) for value in (reward, *terms))
            for name, value in (self.call("metrics", x, a, m) or {}).items():
                numbers = values_of(value, f"metrics: {name}")
                self.metrics[name] = len(numbers)
                trace.output(metric(name), numbers)
            if terms:
                trace.output(TERMS, values_of(tuple(terms), "reward"))
            draws = {name: Draws(trace, f"env_draw_{name}") for name in ("after", "observe")}
            x = self.moved(self.call("after", x, a, m, draws["after"]), x, trace, swaps)
            seen = self.observations(env.observe(x, m, draws["observe"]))
            for group, numbers in seen.items():
                numbers = [chosen(fine, y, 0.0) for y in numbers]
                trace.output(observation(group), values_of(tuple(numbers), "observe"))
                trace.output(final(group), values_of(tuple(numbers), "observe"))
            kept = self.kept()
            numbers = [chosen(fine, new, was[k]) if k in kept else new for k, new in enumerate(numbers_of(m))]
            self.keep(trace, values_of(tuple(numbers), "memory"), swaps)
            sums = symbols(trace.input(SUMS, 1 + len(terms))) + symbols(values_of((reward, *terms), "reward"))
            told = {
                after_of(STEP): steps, REWARD: reward, TERMINATED: terminated, TRUNCATED: truncated, DONE: done,
                LOST: np.where(fine, 0.0, 1.0), after_of(SUMS): sums, LAST_RETURN: sums[0], LAST_LENGTH: steps,
                LAST_TERMS: sums[1:],
            }  # fmt: skip
            for name, value in told.items():
                if numbers := values_of(value, name):
                    trace.output(name, numbers)
            swaps += [(STEP, after_of(STEP)), (SUMS, after_of(SUMS))]
        drawn = tuple((name, f"env_draw_{name}", d.count) for name, d in draws.items() if d.count)
        return Stage(trace, swaps, draws=drawn)

    def restart(self, needed: str, randomises: bool) -> Stage:
        """Return the stage that begins an episode, for the instances of a mask.

        randomises: whether parameters are drawn.
        """
        env, model = self.env, self.model
        swaps: list[tuple[str, str]] = []
        with closing(_featherstorm.Trace()) as trace:
            rng = Draws(trace, "env_draw_reset")
            zeros: list[Any] = [0.0] * self.size
            kept = self.kept()
            if kept:
                before = trace.input(MEMORY, self.size)
                zeros = [before[k] if k in kept else 0.0 for k in range(self.size)]
            m = Memory(self.shapes, zeros)
            parameters = self.drawn_parameters(trace, rng, m, swaps, randomises)
            q, v, act = self.first_state(self.call("reset", m, rng))
            x: Any
            x = beginning(model, trace, [*q, *v, *act], parameters) if self.world else State(model, trace, q, v)
            self.call("begin", x, m, rng)
            seen = self.observations(env.observe(x, m, rng))
            arrays = {"q": q, "v": v, EPISODE: [*(symbols(trace.input(EPISODE, 1)) + 1.0)], STEP: [0.0]}
            arrays[SUMS] = [0.0] * (1 + len(self.terms))
            if self.world:
                arrays.update(act=act, qacc=[0.0] * model.nv)
            if self.size:
                arrays[MEMORY] = numbers_of(m)
            arrays.update({observation(group): numbers for group, numbers in seen.items()})
            if needed == PENDING:
                arrays.update({name: [0.0] for name in RESULTS}, **{TERMS: [0.0] * len(self.terms)})
            for name, value in arrays.items():
                if len(value):
                    trace.output(after_of(name), values_of(value, name))
                    swaps.append((name, after_of(name)))
        drawn = (("reset", "env_draw_reset", rng.count),) if rng.count else ()
        return Stage(trace, swaps, needed, drawn)

    # -- parts of stages

    def kept(self) -> set[int]:
        """Indices of the memory that stay when an episode ends."""
        columns = columns_of(self.shapes)
        names = (self.env.kept,) if isinstance(self.env.kept, str) else tuple(self.env.kept)
        if strange := [name for name in names if name not in columns]:
            raise ValueError(f"{type(self.env).__name__}: kept has {strange[0]!r}, which is not in its memory")
        return {k for name in names for k in range(columns[name].start, columns[name].stop)}

    def is_finite(self, x: Any) -> Any:
        return np.logical_and.reduce(np.abs(np.asarray(x).view(Symbols)) < MOST)

    def rewards(self, found: Any) -> tuple[Any, list[Any]]:
        """Return the reward, and its terms where they have names."""
        env, terms = self.env, {}
        if hasattr(found, "items"):
            terms = {name: number_of(value, f"reward: {name}") for name, value in found.items()}
            total = sum(terms.values())
        else:
            total = number_of(found, "reward")
        self.terms = list(terms)
        scaled = [env.reward_scale * value for value in (total, *terms.values())]
        return scaled[0], scaled[1:]

    def moved(self, found: Any, x: Any, trace: _featherstorm.Trace, swaps: list[tuple[str, str]]) -> Any:
        """Return the state after `after`."""
        if found is None:
            return x
        changed = self.changed("after", found, {"q": self.model.nq, "v": self.model.nv, **self.parameters})
        for name, value in changed.items():
            trace.output(after_of(name), value)
            swaps.append((name, after_of(name)))
        parts = [*changed.get("q", np.ravel(x.q).tolist()), *changed.get("v", np.ravel(x.v).tolist())]
        if not self.world:
            return State(self.model, trace, parts[: self.model.nq], parts[self.model.nq :])
        parts += np.ravel(x.act).tolist()
        inputs = {**x.inputs, **{name: symbols(changed[name]) for name in self.parameters if name in changed}}
        moved = EnvironmentState.made(self.model, trace, parts, x.time, x.at_solve, True, inputs)
        return moved.begin(x.steps, x.at_last_stage)

    def changed(self, function: str, found: Any, sizes: Mapping[str, int]) -> dict[str, list[Any]]:
        """Return the numbers in a function's result by name, with the expected sizes."""
        if not hasattr(found, "items") or set(found) - set(sizes):
            none = "None or " if function == "after" else ""
            raise TypeError(
                f"{function} returned {found!r}, expected {none}a dict of {', '.join(sizes) or 'no parameter'}"
            )
        changed = {}
        for name, value in found.items():
            shape = self.parameter_shape(name) if name in self.parameters else (sizes[name],)
            spread = np.broadcast_to(np.asarray(value, dtype=object), shape)
            changed[name] = values_of(spread, f"{function}: {name}", sizes[name])
        return changed

    def observations(self, found: Any) -> dict[str, list[Any]]:
        named = hasattr(found, "items")
        groups = {
            str(name): values_of(value, f"observe: {name}" if name else "observe")
            for name, value in (found.items() if named else [("", found)])
        }
        sizes = {name: len(value) for name, value in groups.items()}
        if not sizes or not all(sizes.values()):
            raise ValueError("observe returned no numbers")
        if self.groups and sizes != self.groups:
            raise ValueError(f"observe returned {sizes} numbers at a reset, after a step {self.groups}")
        self.groups = sizes
        return groups

    def first_state(self, found: Any) -> tuple[list[Any], list[Any], list[Any]]:
        model = self.model
        compiled = model.compiled if self.world else None
        home = (model.q0 if compiled is None else np.array(compiled.qpos0), np.zeros(model.nv))
        parts = list(home if found is None else found)
        n_act = model.n_act if self.world else 0
        if len(parts) not in (2, 3):
            raise ValueError(f"reset returned {len(parts)} arrays, expected q and v, or q, v and act")
        if len(parts) == 2:
            parts.append(np.zeros(n_act))
        sizes = {"q": model.nq, "v": model.nv, "act": n_act}
        q, v, act = (
            values_of(x if isinstance(x, (list, tuple)) else np.asarray(x), f"reset: {name}", n) if n else []
            for x, (name, n) in zip(parts, sizes.items())
        )
        for _, first in model.quaternions:  # to unit length
            turn = symbols(q[first : first + 4])
            q[first : first + 4] = values_of(turn / np.sqrt((turn * turn).sum()), "reset: q")
        return q, v, act

    def drawn_parameters(
        self, trace: _featherstorm.Trace, rng: Draws, m: Memory, swaps: list[tuple[str, str]], randomises: bool
    ) -> dict[str, Symbols]:
        """Return the parameters of a new episode, by name."""
        env, model = self.env, self.model
        shapes = {name: self.parameter_shape(name) for name in self.parameters}
        nominal = {name: nominal_parameter(model, name, shape) for name, shape in shapes.items()}
        drawn: Mapping[str, Any] = {}
        if randomises and env.randomise is not None:
            asked = (rng, Parameters(nominal), m)
            drawn = env.randomise(*asked[: len(inspect.signature(env.randomise).parameters)])
            if not hasattr(drawn, "items"):
                raise TypeError(f"randomise returned a {type(drawn).__name__}, expected parameters by name")
            if strange := sorted(set(drawn) - set(shapes)):
                raise ValueError(
                    f"randomise returned {strange[0]!r}, which is not among the environment's parameters: "
                    f"{', '.join(shapes) or 'none'}"
                )
        found = {}
        for name, shape in shapes.items():
            n = math.prod(shape)
            if name not in drawn:
                found[name] = symbols(trace.input(name, n))
                continue
            spread = np.broadcast_to(np.asarray(drawn[name], dtype=object), shape)
            values = values_of(spread, f"randomise: {name}", n)
            trace.output(after_of(name), values)
            swaps.append((name, after_of(name)))
            found[name] = symbols(values)
        return found

    def parameter_shape(self, name: str) -> tuple[int, ...]:
        return tuple(_featherstorm.parameter_shape(self.model.robot, name))

    def clock(self, trace: _featherstorm.Trace) -> Any:
        """Return the time at the beginning of a control step, of shape (1,)."""
        return symbols(trace.input(STEP, 1)) * self.dt


def nominal_parameter(model: Model, name: str, shape: tuple[int, ...]) -> Any:
    return np.reshape(np.asarray(_featherstorm.parameter_values(model.robot, name), float), shape)


def number_of(x: Any, what: str) -> Any:
    """Return one number, symbolic or not, of shape ()."""
    (value,) = values_of(x, what, 1)
    return symbols([value])[0] if is_symbol(value) else value


def chosen(condition: Any, a: Any, b: Any) -> Any:
    """Return a where the condition holds, else b, for single numbers."""
    return np.where(condition, symbols([a])[0], symbols([b])[0])
