"""EnvBatch: a batch of environments of one task, with their state in the engine."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from .. import _featherstorm
from .._evaluation.evaluation import tell_notices
from .._memory.arguments import Call, engine_in
from .._memory.arrays import mask_of, refuse_pickle, to_numpy
from .._memory.host_libraries import NUMPY, Library, host_library, named_library
from .._names import Fixed, expect, expect_one_of, expect_shape
from .._robot.steps import no_world
from .._world.passes import Reporter, WorldReport
from ..device import HOST, device_name, device_number, place
from .collecting import Collected, collect
from .draws import columns_of
from .kernels import AUTORESET, Kernels, engine_of
from .recording import (
    ACTION,
    DONE,
    EPISODE,
    KEY,
    LAST_LENGTH,
    LAST_RETURN,
    LAST_TERMS,
    MASK,
    MEMORY,
    PENDING,
    RESULTS,
    STEP,
    SUMS,
    TERMS,
    final,
    metric,
    nominal_parameter,
    observation,
)
from .storage import Results, Storage, device_giver, giver

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from ..typing import Array
    from .collecting import Policy
    from .gradients import PullBack
    from .task import Task

MOST_COUNT = 2**24  # smaller whole numbers are exact in float32
MOST_ENVS = 2**32  # environments of one seed


class Replay(NamedTuple):
    """An episode: q (T + 1, nq), v (T + 1, nv) and T + 1 observations from the first state on.

    reward, terminated, truncated (T,).
    """

    q: npt.NDArray[Any]
    v: npt.NDArray[Any]
    observations: list[Any]
    reward: npt.NDArray[Any]
    terminated: npt.NDArray[Any]
    truncated: npt.NDArray[Any]


class EnvBatch(Fixed):
    """A batch of `num_envs` environments of one task.

    obs, info = env.reset(seed=1)
    obs, reward, terminated, truncated, info = env.step(actions)

    obs, reward      (B, n), or groups of them by name; (B,). Views of the engine's memory, which the next step
                     overwrites. Observations stay valid for one more step, because learners keep them beside the next
                     ones
    terminated, truncated   (B,) of bool; both may be set
    info             "final_obs" and "_final_obs": the last observations of the episodes that ended with this step, and
                     a mask (B,) of these; "final_info": their return, length, and the sum of each term of the reward;
                     "non_finite" (B,): a state, reward or action was not finite, so that the episode ended with a
                     reward of 0; "reward_terms": terms of this step's reward (B,) by name; and the results of `metrics`

    All of these are arrays of the library `arrays` ("numpy", "torch", "jax"). None: of the library of the actions;
    after reset() NumPy's. Arrays of NumPy and PyTorch are views of the engine's memory, arrays of JAX are copies.

    model            the robot of the environments
    first            number of the first environment in the whole that the batch is a part of
    dt, substeps     time of a control step [s], and its number of substeps
    time limit, terms of the reward, groups of the observation: `task.steps`, `terms`, `groups`
    """

    _maker = "task.batch"

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
        kernels: Kernels | None = None,
        first: int = 0,
    ) -> None:
        """Make the environments; see Env.batch.

        kernels: those of another batch of the task with its dtype, autoreset and threads.
        """
        name = type(task).__name__
        expect(int(num_envs) == num_envs >= 1, f"{name}: num_envs", num_envs, "1 or more")
        if not (int(first) == first and 0 <= first <= MOST_ENVS - num_envs):
            raise ValueError(
                f"{name}: first is {first}, expected a whole number from 0 to {MOST_ENVS - num_envs}, as the numbers of environments have 32 bits"
            )
        expect_one_of(f"{name}: autoreset", autoreset, AUTORESET)
        self.dtype = np.dtype(dtype)
        if self.dtype.name not in ("float32", "float64"):
            raise TypeError(f"{name}: dtype is {self.dtype}, expected float32 or float64")
        number = device_number(device, name)
        self.task, self.num_envs, self.first, self.autoreset = task, int(num_envs), int(first), autoreset
        self.device = device_name(number)
        self.library = engine_in(number, 0)
        library = None if arrays is None else named_library(arrays, name)
        self.given, self.named = library if number == HOST else None, arrays
        if kernels is None:
            kernels = Kernels(task, engine_of(task, threads), self.dtype.name, autoreset)
        self.kernels, self.model, self.op, self.recording = kernels, kernels.model, kernels.op, kernels.recording
        self.dt, self.substeps = self.recording.dt, self.recording.substeps
        self.groups, self.terms = self.recording.groups, self.recording.terms
        self.storage = self.stored()
        self._begun, self._waiting = False, np.ones(self.num_envs, bool)  # for reset(), before they may step
        self._reporter: Reporter | None = None
        self._lone: Kernels | None = None  # of `replay`
        self.key(seed)

    def __repr__(self) -> str:
        return (
            f"<featherstorm.EnvBatch {type(self.task).__name__}: {self.num_envs} environments of {self.model.name}, "
            f"{self.dtype}, dt {self.dt:g} s in {self.substeps} substeps, {self.device}>"
        )

    def __reduce__(self) -> NoReturn:
        refuse_pickle("batch of environments", "pickle its task, and call its batch(...) there")

    # -- the engine's arrays

    def stored(self) -> Storage:
        r, model = self.recording, self.model
        sizes = {"q": model.nq, "v": model.nv}
        if r.world:
            sizes.update(act=model.n_act, qacc=model.nv)
        elif self.op == "contact_step":
            sizes["impulse"] = 3 * model.nc
        sizes.update({MEMORY: r.size, STEP: 1, EPISODE: 1, KEY: 6, SUMS: 1 + len(r.terms), **r.parameters})
        self.state = tuple(name for name, n in sizes.items() if n)
        told = {
            **dict.fromkeys((*RESULTS, LAST_RETURN, LAST_LENGTH), 1),
            **dict.fromkeys((TERMS, LAST_TERMS), len(r.terms)),
        }
        for group, n in r.groups.items():
            told.update({observation(group): n, final(group): n})
        told.update({metric(name): n for name, n in r.metrics.items()})
        self.told = tuple(name for name, n in told.items() if n)
        storage = Storage(
            self.library,
            self.dtype.name,
            self.num_envs,
            {**sizes, **told, MASK: 1},
            [DONE, *map(observation, r.groups)],
        )
        for name in r.parameters:
            shape = tuple(_featherstorm.parameter_shape(model.robot, name))
            storage.put(name, nominal_parameter(model, name, shape).reshape(1, -1))
        return storage

    def view(self, name: str) -> Any:
        """Return an array of the engine (B, n), by its name there."""
        return self.storage.view(name)

    def key(self, seed: int | Sequence[int | None], rows: Any = True) -> None:
        """Set the counters of the random numbers: seeds of 64 bits, and the environment's number.

        rows: a mask of environments.
        """
        alone = isinstance(seed, (int, np.integer))
        seeds: list[Any] = [seed] * self.num_envs if alone else list(seed)  # type: ignore[arg-type]
        if len(seeds) != self.num_envs:
            raise ValueError(f"reset: seed has {len(seeds)} numbers, expected one or {self.num_envs}")
        meant = np.array([s is not None for s in seeds]) & rows
        words = np.array([0 if s is None else int(s) % 2**64 for s in seeds], np.uint64)
        index = np.zeros(self.num_envs, np.uint64)
        if alone:
            index[:] = np.arange(self.first, self.first + self.num_envs)
        pieces = [words >> np.uint64(16 * k) for k in range(4)] + [index, index >> np.uint64(16)]
        self.storage.put(KEY, np.stack([x & np.uint64(0xFFFF) for x in pieces], axis=1)[meant], meant)
        self.storage.put(EPISODE, 0, meant)  # the first one is episode 1

    # -- episodes

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, mask: Array = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in each environment, or in those of a mask (B,) of bool: (obs, info).

        seed   a number: row i draws as environment first + i of that seed; or a number for each, which then draws as
               environment 0 of its seed. None, for all or for one of them: the next episode. With a mask, numbers
               of other environments do not count
        Before the first control step, and after an interrupted one, each environment needs a reset; they may have it one
        after the other.
        """
        rows = mask_of("reset", mask, self.num_envs)
        self.storage.put(MASK, rows[:, None])
        if seed is not None:
            self.key(seed, rows)
        written = self.of(self.kernels.restarting, [*self.state, *map(observation, self.groups)])
        given = self.storage.bound([*written, *self.of(self.kernels.restarting, [KEY, MASK])])
        written = [name for name in written if name != KEY]
        self.kernels.restarting.run(1, self.num_envs, given, {}, self.storage.bound(written), None, self.library.stream)
        self._waiting &= ~rows
        self._begun = not self._waiting.any()
        self.storage.put(DONE, 0, rows)
        tell_notices(self.model)
        return self.results(None).observed(), {}

    def of(self, sequence: Any, names: Sequence[str]) -> list[str]:
        """Return the names of arrays that a sequence has."""
        return [name for name in names if name in self.storage and sequence.components(name) >= 0]

    def step(self, actions: Array) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Advance by a control step: (obs, reward, terminated, truncated, info). actions (B, actions)."""
        self.check_begun("step")
        r = self.recording
        call = Call("step", (("actions",),), (actions,), self.dtype)
        given = call.array(actions, "actions")
        if call.library.device != self.library.device:
            raise ValueError(f"step: actions is on {place(call.library.device)}, expected {place(self.library.device)}")
        shape = tuple(given.shape)
        expect_shape("step: actions", shape, (self.num_envs, r.actions))
        if call.dtype != self.dtype:
            given = call.library.cast(given, "step", "actions", self.dtype)
        # of the previous step
        pending = self.storage.bound([], {PENDING: DONE} if self.autoreset == "next_step" else {})
        self.storage.turn()
        state = self.of(self.kernels.stepping, self.state)
        inputs = [*self.storage.bound(state), *pending]
        if r.actions:
            inputs.append((ACTION, call.library.memory(given, shape), 0, r.actions, False))
        outputs = self.storage.bound([*(name for name in state if name != KEY), *self.told])
        with self.all_or_none():
            self.kernels.stepping.run(
                1, self.num_envs, inputs, self.kernels.uniforms, outputs, None, self.stream_of(call.library)
            )
        tell_notices(self.model)
        return self.results(actions).step()

    def collect(
        self,
        steps: int,
        policy: Policy,
        weights: Mapping[str, Any] | None = None,
        finals: bool = True,
        keep: bool = False,
    ) -> Collected:
        """Run `steps` control steps in one call, under a policy that runs between them.

        policy    policy(obs, w, rng): the action, or a dict with "action" and other values, which are returned too.
                  Called once with symbols, like a task's functions: obs the observation (or its groups by name), w the
                  weights by name, rng the draws
        weights   arrays by name. They are inputs: other weights of the same shapes compile nothing
        finals    True: keep the last observations of episodes; False: they are None
        keep      True: keep the inputs of each step, for pull_back

        On the CPU a block of environments runs through all steps before the next one begins. On a device the call does
        not wait. One kernel runs all steps there unless a stage has a kernel of its own (contacts that are solved,
        random numbers, networks by loops); then kernels run one after the other. Weights are numbers on the CPU.
        Requires autoreset="same_step".
        """
        expect(self.autoreset == "same_step", "collect: autoreset", repr(self.autoreset), "'same_step'")
        expect(int(steps) == steps >= 1, "collect: steps", steps, "1 or more")
        self.check_begun("collect")
        return collect(self, int(steps), policy, weights or {}, finals, keep)

    def check_begun(self, call: str) -> None:
        """Raise RuntimeError where an environment has no episode: before its first reset, or after an interrupted run."""
        if not self._begun:
            count = np.count_nonzero(self._waiting)
            raise RuntimeError(f"{type(self.task).__name__}: {call}() before reset() of {count} environments")

    @contextlib.contextmanager
    def all_or_none(self) -> Iterator[None]:
        """Require reset() after an interrupted run, which has moved some environments and not others."""
        try:
            yield
        except BaseException:
            self._begun, self._waiting[:] = False, True
            raise

    def pull_back(self, got: Collected) -> PullBack:
        """Return the derivatives of the results of `collect(..., keep=True)` with respect to its actions.

        They go through rewards, observations, memory and contacts, step by step from the last to the first. See
        environment.gradients.PullBack. On a device the cotangents are there too.
        """
        from .gradients import PullBack  # here: the import takes 10 ms and is rarely needed

        return PullBack(self, got)

    def stream_of(self, library: Library) -> int:
        """Return the stream of the actions' library; work on it can read arrays that the engine wrote before."""
        if library.device != HOST:
            self.storage.follow(library.stream)
        return library.stream

    def results(self, lead: Any) -> Results:
        """Return the results as arrays of the user's library: that of `lead` where none was named."""
        if self.library.device == HOST:
            library = self.given or (NUMPY if lead is None else host_library(lead))
            return Results(self.recording, self.storage, giver(library))
        return Results(self.recording, self.storage, device_giver(self.named, lead))

    def snapshot(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of all data that later steps depend on, by names of the engine's arrays (B, n).

        These are states, parameters, memory, counters of random numbers, and the last observations. `restore` continues
        from there, bit for bit.
        """
        return {name: np.array(self.view(name)) for name in self.lasting}

    def restore(self, snapshot: Mapping[str, npt.ArrayLike]) -> None:
        """Continue from the result of `snapshot`, from a batch of the same task, number and dtype.

        Errors: ValueError for others.
        """
        task = type(self.task).__name__
        if set(snapshot) != set(self.lasting):
            raise ValueError(
                f"restore: arrays are {', '.join(snapshot)}, expected {', '.join(self.lasting)}, as {task} has"
            )
        arrays = {name: np.asarray(x) for name, x in snapshot.items()}
        for name, x in arrays.items():
            shape = (self.num_envs, self.storage.sizes[name])
            if x.shape != shape or x.dtype != self.dtype:
                raise ValueError(f"restore: {name} is {x.dtype} of shape {x.shape}, expected {self.dtype} {shape}")
        for name, x in arrays.items():
            self.storage.put(name, x)
        self._begun, self._waiting[:] = True, False

    @property
    def lasting(self) -> list[str]:
        """Arrays of the engine that a step reads from the previous one."""
        return [name for name in (*self.state, DONE, *map(observation, self.groups)) if name in self.storage]

    @property
    def episode_length(self) -> Any:
        """Control steps of the current episodes (B,): a view that may be written."""
        return self.storage.numbers(STEP)

    def memory(self, name: str) -> Any:
        """Return rows of the memory (B, ...): a view."""
        shapes = self.recording.shapes
        if name not in shapes:
            raise ValueError(f"memory: there is no {name!r}; there are {', '.join(shapes) or 'none'}")
        rows = self.view(MEMORY)[:, columns_of(shapes)[name]]
        return rows if len(shapes[name]) == 1 else rows.reshape(self.num_envs, *shapes[name])

    def parameter(self, name: str) -> Any:
        """Return a parameter of the model as drawn (B, n): a view."""
        if name not in self.recording.parameters:
            known = ", ".join(self.recording.parameters) or "none"
            raise ValueError(f"parameter: there is no {name!r}; there are {known}")
        return self.view(name)

    def resized(self, num_envs: int, seed: int = 0, first: int = 0) -> EnvBatch:
        """Return a batch of other environments with the same kernels: nothing is compiled."""
        return EnvBatch(
            self.task, num_envs, seed, self.device, self.dtype, self.autoreset, None, self.named, self.kernels, first
        )

    def report(self) -> WorldReport:
        """Solve the current state anew without controls.

        Report its contacts, the accuracy of their forces, and their depths.
        """
        if not self.recording.world:
            raise ValueError(f"{type(self.task).__name__}: {no_world(self.model)}, and no contacts to report")
        if self._reporter is None:
            self._reporter = Reporter(self.model, self.dtype.name, self.kernels.law)
        names = ("q", "v", "act", "qacc", *self.recording.parameters)
        given = {name: self.storage.memory(name) for name in names if name in self.storage}
        return self._reporter.of(self.num_envs, given, self.library)

    def replay(
        self, env: int, episode: int, actions: Array, *, seed: int = 0, kept: Mapping[str, Any] | None = None
    ) -> Replay:
        """Repeat one episode of one environment, alone and bit for bit: number `episode`, under its actions (T, n).

        env    its row in a batch, whose number is first + env
        seed   the seed of the batch's reset
        kept   memory that stayed from the previous episode, by name
        """
        if not 0 <= int(env) < MOST_ENVS - self.first or not 1 <= int(episode) < MOST_COUNT:
            raise ValueError(f"replay: env is {env}, episode {episode}, expected numbers from 0 and from 1 on")
        task = type(self.task).__name__
        if self._lone is None:
            self._lone = Kernels(self.task, self.model, self.dtype.name, "disabled")
        number = self.first + int(env)
        one = EnvBatch(self.task, 1, seed, "cpu", self.dtype, "disabled", None, "numpy", self._lone, number)
        one.view(EPISODE)[:] = int(episode) - 1
        for name, rows in (kept or {}).items():
            one.memory(name)[0] = rows
        a = to_numpy(actions, "replay", "actions", self.dtype)
        if a.ndim != 2 or a.shape[1] != self.recording.actions:
            raise ValueError(f"replay: actions of {task} have shape {a.shape}, expected (T, {self.recording.actions})")
        seen = [copied(one.reset()[0])]
        states, rewards, flags = [(one.q[0].copy(), one.v[0].copy())], [], []
        for row in a:
            obs, reward, terminated, truncated, _ = one.step(row[None])
            seen.append(copied(obs))
            rewards.append(reward[0])
            flags.append((terminated[0], truncated[0]))
            states.append((one.q[0].copy(), one.v[0].copy()))
            if any(flags[-1]):
                break
        q, v = (np.stack(x) for x in zip(*states))
        return Replay(q, v, seen, np.array(rewards, self.dtype), *np.array(flags, bool).reshape(-1, 2).T)

    @property
    def episode(self) -> Any:
        """Numbers of the episodes (B,), from 1 on since the seed was set."""
        return self.storage.numbers(EPISODE)

    @property
    def q(self) -> Any:
        return self.view("q")

    @property
    def v(self) -> Any:
        return self.view("v")


def copied(obs: Any) -> Any:
    """Return a copy of the observation of one environment."""
    return {name: x[0].copy() for name, x in obs.items()} if isinstance(obs, dict) else obs[0].copy()
