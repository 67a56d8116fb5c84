"""EnvBatch: environments of one task side by side, with their state in the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from ..device import HOST, device_name, device_number
from ..memory.arguments import engine_in
from ..memory.arrays import to_numpy
from ..memory.host_libraries import NUMPY, host_library, named_library
from ..model import Model
from ..robot.law import law_of
from ..robot.steps import step_numbers, step_op
from ..table.evaluation import tell_notices
from ..world.passes import refuse_law, solver
from .memory import columns_of
from .recording import (
    ACTION,
    DONE,
    EPISODE,
    FUNCTIONS,
    KEY,
    LAST_SUMS,
    LOST,
    MASK,
    MEMORY,
    PENDING,
    REWARD,
    STEP,
    SUMS,
    TERMINATED,
    TERMS,
    TRUNCATED,
    Recording,
    final,
    metric,
    nominal_parameter,
    observation,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ..memory.library import Library
    from ..typing import Array
    from .recording import Stage
    from .task import Task

AUTORESET = ("same_step", "next_step", "disabled")
MOST_COUNT = 2**24  # whole numbers below are exact in float32


class EnvBatch:
    """`num_envs` environments of one task.

    obs, info = env.reset(seed=1)
    obs, reward, terminated, truncated, info = env.step(actions)

    obs, reward      (B, n), or groups of them by name; (B,). Views of the engine's memory, which the next step overwrites; observations,
                     which learners keep beside those that follow, are overwritten by the step after it
    terminated, truncated   (B,) of bool; both may be set
    info             "final_obs" and "_final_obs": the last observations of the episodes that ended with this step, and where (B,);
                     "final_info": their return, length, and the sum of each term of the reward; "non_finite" (B,): where a state or an
                     action was not finite, so that the episode was ended with a reward of 0; "reward_terms": terms of this step's
                     reward (B,) by name; what `metrics` returns

    All of these are arrays of `arrays` ("numpy", "torch", "jax"), None: of the library of the actions; numpy's after reset(). What is numpy's
    or torch's lies in the engine's memory, jax's arrays are copies.

    model            the robot of the environments
    dt, substeps     time of a control step [s], and its passes
    time limit, terms of the reward, groups of the observation: `task.steps`, `terms`, `groups`
    """

    def __init__(
        self,
        task: Task,
        num_envs: int,
        seed: int = 0,
        device: object = "cpu",
        dtype: npt.DTypeLike = "float32",
        autoreset: str = "same_step",
        threads: int | None = None,
        arrays: str | None = None,
    ) -> None:
        name = type(task).__name__
        if int(num_envs) != num_envs or num_envs < 1:
            raise ValueError(f"{name}: num_envs is {num_envs}, expected 1 or more")
        if autoreset not in AUTORESET:
            raise ValueError(f"{name}: autoreset is {autoreset!r}, expected one of {', '.join(AUTORESET)}")
        self.dtype = np.dtype(dtype)
        if self.dtype.name not in ("float32", "float64"):
            raise TypeError(f"{name}: dtype is {self.dtype}, expected float32 or float64")
        number = device_number(device, name)
        if number != HOST:
            raise ValueError(f"{name}: device is {device!r}, expected 'cpu': environments run there alone as yet")
        self.task, self.num_envs, self.autoreset = task, int(num_envs), autoreset
        self.device = device_name(number)
        self.library = engine_in(number, 0)
        self.given = None if arrays is None else named_library(arrays, name)
        self.model = engine_of(task, threads)
        self.op = step_op(self.model, name)
        self.law = law_of(task.law, name)
        if self.op != "world":
            refuse_law(name, task.law)
        self.recording = Recording(task, self.model, self.op)
        self.dt, self.substeps = self.recording.dt, self.recording.substeps
        self.groups, self.terms = self.recording.groups, self.recording.terms
        self.arrays: dict[str, tuple[Any, Any, int]] = {}  # name -> (memory, view (B, n), n)
        self.needed = {"same_step": DONE, "next_step": PENDING, "disabled": ""}[autoreset]
        self.beginning = self.recording.restart(MASK, True)
        again = task.randomise_at == "reset"
        if task.randomise_at not in ("reset", "start"):
            raise ValueError(f"{name}: randomise_at is {task.randomise_at!r}, expected 'reset' or 'start'")
        self.again = self.recording.restart(self.needed, again) if self.needed else None
        self.declare()
        self.uniforms = self.step_uniforms()
        self.stepping = self.sequence(True)
        self.restarting = self.sequence(False)
        self.begun = False
        self.key(seed)

    # -- the engine's arrays

    def declare(self) -> None:
        r, model = self.recording, self.model
        sizes = {"q": model.nq, "v": model.nv}
        if r.world:
            sizes.update(act=model.n_act, qacc=model.nv)
        elif self.op == "contact_step":
            sizes["impulse"] = 3 * model.nc
        sizes.update({MEMORY: r.size, STEP: 1, EPISODE: 1, KEY: 6, SUMS: 1 + len(r.terms), **r.parameters})
        self.state = tuple(name for name, n in sizes.items() if n)
        sizes.update({ACTION: r.actions, MASK: 1, LAST_SUMS: 2 + len(r.terms)})
        sizes.update(dict.fromkeys((REWARD, TERMINATED, TRUNCATED, DONE, LOST), 1))
        sizes[TERMS] = len(r.terms)
        for group, n in r.groups.items():
            sizes.update({observation(group): n, final(group): n})
        sizes.update({metric(name): n for name, n in r.metrics.items()})
        self.sizes = sizes
        for name, n in sizes.items():
            if n:
                memory, view = self.library.output(self.dtype.name, self.num_envs, n)
                self.arrays[name] = memory, view([n]), n
        self.spare = {}  # of observations; the two change places with each step
        for name in map(observation, r.groups):
            memory, view = self.library.output(self.dtype.name, self.num_envs, sizes[name])
            self.spare[name] = memory, view([sizes[name]]), sizes[name]
        for name in r.parameters:
            shape = tuple(_featherstorm.parameter_shape(model.robot, name))
            self.view(name)[:] = nominal_parameter(model, name, shape).reshape(1, -1)

    def view(self, name: str) -> Any:
        return self.arrays[name][1]

    def bound(
        self, names: Sequence[str], others: Mapping[str, str] | None = None
    ) -> list[tuple[str, Any, int, int, bool]]:
        """Arrays of a sequence in the engine's memory; others: those that are called otherwise there."""
        called = {name: name for name in names if name in self.arrays} | dict(others or {})
        return [(name, self.arrays[of][0], 0, self.arrays[of][2], False) for name, of in called.items()]

    def step_uniforms(self) -> dict[str, list[float]]:
        if self.op == "world":
            return {}
        own = step_numbers(self.op, {}, self.recording.pass_time)
        flat = self.model.uniform_values(self.op, own, type(self.task).__name__)
        found = {}
        for name, n in self.model.row(self.op).uniforms:
            found[name], flat = flat[:n], flat[n:]
        return found

    def sequence(self, steps: bool) -> Any:
        """A control step, or what begins episodes alone."""
        r, model = self.recording, self.model
        felt = remains = None
        if steps and r.world:
            before = (r.substeps - 1) * r.pass_time
            felt, remains = (kept.record(before, r.clock) for kept in (r.felt, r.remains))  # type: ignore[union-attr]
        after = [*r.after, *([self.again] if self.again else [])] if steps else [self.beginning]
        more = solver(model, self.dtype.name, self.law) if r.world else {}
        return _featherstorm.environment_sequence(
            model.evaluator, self.dtype.name, self.op, r.substeps,
            stages(r.before) if steps else [], stages(r.each_pass) if steps else [], stages(after),
            felt, remains, steps, **more,
        )  # fmt: skip

    def key(self, seed: int | Sequence[int | None], rows: Any = True) -> None:
        """The counters of the numbers that are drawn: seeds of 64 bits, and which environment. rows: a mask of those that are meant."""
        seeds = [seed] * self.num_envs if np.ndim(seed) == 0 else list(seed)  # type: ignore[arg-type]
        if len(seeds) != self.num_envs:
            raise ValueError(f"reset: seed has {len(seeds)} numbers, expected one or {self.num_envs}")
        meant = np.array([s is not None for s in seeds]) & rows
        words = np.array([0 if s is None else int(s) % 2**64 for s in seeds], np.uint64)
        index = np.arange(self.num_envs, dtype=np.uint64) if np.ndim(seed) == 0 else np.zeros(self.num_envs, np.uint64)
        pieces = [words >> np.uint64(16 * k) for k in range(4)] + [index, index >> np.uint64(16)]
        self.view(KEY)[meant] = np.stack([x & np.uint64(0xFFFF) for x in pieces], axis=1)[meant]
        self.view(EPISODE)[meant] = -1

    # -- episodes

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, mask: Array = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode in each environment, or in those of a mask (B,) of bool: (obs, info).

        seed   a number: environment i draws as environment i of that seed; or a number for each, which then draw as environment 0 of
               theirs. None, for all or for one of them: the next episode. With a mask it is for those alone
        """
        chosen = self.view(MASK)
        if mask is None:
            chosen[:] = 1
        else:
            rows = np.asarray(mask)
            if rows.dtype != bool or rows.shape != (self.num_envs,):
                raise ValueError(f"reset: mask is {rows.dtype} of shape {rows.shape}, expected bool ({self.num_envs},)")
            chosen[:, 0] = rows
        if seed is not None:
            self.key(seed, chosen[:, 0] > 0)
        written = self.of(self.restarting, [*self.state, *map(observation, self.groups)])
        given = self.bound([*written, *self.of(self.restarting, [KEY, MASK])])
        self.restarting.run(1, self.num_envs, given, {}, self.bound([name for name in written if name != KEY]))
        self.begun = True
        self.view(DONE)[np.asarray(chosen[:, 0]) > 0] = 0
        tell_notices(self.model)
        return given_as(self.observed(), self.given or NUMPY), {}

    def of(self, sequence: Any, names: Sequence[str]) -> list[str]:
        """Those of arrays that a sequence has."""
        return [name for name in names if name in self.arrays and sequence.components(name) >= 0]

    def step(self, actions: Array) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """A control step: (obs, reward, terminated, truncated, info). actions (B, actions)."""
        if not self.begun:
            raise RuntimeError(f"{type(self.task).__name__}: step() before reset()")
        a = to_numpy(actions, "step", "actions", self.dtype)
        r = self.recording
        if a.shape != (self.num_envs, r.actions):
            raise ValueError(f"step: actions has shape {a.shape}, expected {(self.num_envs, r.actions)}")
        for name, before in self.spare.items():
            self.arrays[name], self.spare[name] = before, self.arrays[name]
        state = self.of(self.stepping, self.state)
        inputs = self.bound(state, {PENDING: DONE} if self.needed == PENDING else {})
        if r.actions:
            inputs.append((ACTION, a, 0, r.actions, False))
        results = [REWARD, TERMINATED, TRUNCATED, DONE, LOST, LAST_SUMS, TERMS]
        seen = [*map(observation, self.groups), *map(final, self.groups), *map(metric, r.metrics)]
        changed = [name for name in state if name != KEY]
        self.stepping.run(1, self.num_envs, inputs, self.uniforms, self.bound([*changed, *results, *seen]))
        tell_notices(self.model)
        flags = (self.view(name)[:, 0] > 0 for name in (TERMINATED, TRUNCATED))
        found = self.observed(), self.view(REWARD)[:, 0], *flags, self.info()
        return given_as(found, self.given or host_library(actions))  # type: ignore[no-any-return]

    def observed(self, named: Any = observation) -> Any:
        """Observations by group."""
        found = {group: self.view(named(group)) for group in self.groups}
        return found[""] if set(found) == {""} else found

    def info(self) -> dict[str, Any]:
        done = self.view(DONE)[:, 0] > 0
        sums = self.view(LAST_SUMS)
        ended = {"return": sums[:, 0], "length": sums[:, -1]}
        ended.update({name: sums[:, 1 + k] for k, name in enumerate(self.terms)})
        told = {name: self.view(metric(name)) for name in self.recording.metrics}
        return {
            **{name: x[:, 0] if x.shape[1] == 1 else x for name, x in told.items()},
            **(
                {"reward_terms": {name: self.view(TERMS)[:, k] for k, name in enumerate(self.terms)}}
                if self.terms
                else {}
            ),
            "final_obs": self.observed(final),
            "_final_obs": done,
            "final_info": ended,
            "_final_info": done,
            "non_finite": self.view(LOST)[:, 0] > 0,
        }

    @property
    def episode_length(self) -> Any:
        """Control steps of the episodes so far (B,): a view that may be written."""
        return self.view(STEP)[:, 0]

    def memory(self, name: str) -> Any:
        """Rows of the memory (B, ...): a view."""
        shapes = self.recording.shapes
        if name not in shapes:
            raise ValueError(f"memory: there is no {name!r}; there are {', '.join(shapes) or 'none'}")
        rows = self.view(MEMORY)[:, columns_of(shapes)[name]]
        return rows if len(shapes[name]) == 1 else rows.reshape(self.num_envs, *shapes[name])

    def parameter(self, name: str) -> Any:
        """A parameter of the model as it was drawn (B, n): a view."""
        if name not in self.recording.parameters:
            known = ", ".join(self.recording.parameters) or "none"
            raise ValueError(f"parameter: there is no {name!r}; there are {known}")
        return self.view(name)

    @property
    def q(self) -> Any:
        return self.view("q")

    @property
    def v(self) -> Any:
        return self.view("v")


def given_as(found: Any, library: Library) -> Any:
    """Arrays in a tuple or by name, as the user gets them."""
    if library is NUMPY:
        return found
    if isinstance(found, tuple):
        return tuple(given_as(x, library) for x in found)
    if isinstance(found, dict):
        return {name: given_as(x, library) for name, x in found.items()}
    return library.result(found)


def stages(all_of: Sequence[Stage]) -> list[tuple[Any, ...]]:
    return [
        (
            s.trace,
            s.swaps,
            s.needed,
            [(FUNCTIONS[name], array, count, name == "reset") for name, array, count in s.draws],
        )
        for s in all_of
    ]


def engine_of(task: Task, threads: int | None) -> Model:
    """The task's robot, with its parameters as inputs."""
    model = task.model()
    if not isinstance(model, Model):
        raise TypeError(f"{type(task).__name__}: model returned a {type(model).__name__}, expected a Model")
    names = (task.parameters,) if isinstance(task.parameters, str) else tuple(task.parameters)
    options: dict[str, Any] = dict(model._options)
    if threads is None and not set(names) - set(model.parameters):
        return model
    options["parameters"] = tuple(dict.fromkeys((*model.parameters, *names)))
    if threads is not None:
        options["threads"] = threads
    return Model(model.robot, **options, file=model.file)
