"""ShardedBatch, a batch of environments whose parts are on the workers of a cluster, and PPO on them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from .._memory.arrays import mask_of
from .._names import expect
from .._optional import ray
from ..environment.collecting import Collected
from ..environment.recording import STEP, observation
from ..learning.evaluation import Evaluation
from ..learning.ppo import PPO, Chunks, Sums
from .share import Call, message_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ..environment.batch import EnvBatch
    from ..environment.collecting import Policy
    from ..environment.task import Task
    from ..learning.acting import Moments
    from ..learning.settings import Settings

    Arrays = dict[str, npt.NDArray[Any]]


class ShardedBatch:
    """A batch of `num_envs` environments of a task, in parts on workers, with the bits of one batch of an EnvBatch.

    workers  a Workers
    bounds   first environment of each chunk, and num_envs; a chunk is on one worker. None: chunks of one environment

    This process keeps a snapshot of all environments after each call, from which a lost worker's are computed again.
    """

    def __init__(
        self,
        workers: Any,
        task: Task,
        num_envs: int,
        seed: int = 0,
        dtype: str = "float32",
        bounds: Sequence[int] | None = None,
    ) -> None:
        self.local = task.batch(1, seed, dtype=dtype)  # type: ignore[attr-defined]
        self.workers, self.task, self.num_envs, self.seed = workers, task, int(num_envs), seed
        expect(num_envs >= 1, f"{type(task).__name__}: num_envs", num_envs, "1 or more")
        self.bounds = tuple(range(self.num_envs + 1)) if bounds is None else tuple(bounds)
        self.recording, self.groups, self.terms = self.local.recording, self.local.groups, self.local.terms
        self.options = {"seed": seed, "dtype": np.dtype(dtype).name}
        self.key = key_of(task, self.options)
        self.state: Arrays | None = None
        self.token = object()  # of `state`
        self.policies: dict[Policy, str] = {}

    def __repr__(self) -> str:
        return f"<featherstorm.distributed.ShardedBatch {type(self.task).__name__}: {self.num_envs} environments>"

    # -- calls

    def ready(self, setup: Sequence[Call] = ()) -> None:
        """Give the workers the environments in their present state.

        setup   further calls that a new worker needs
        """
        w, state = self.workers, self.state
        journal = [w.to_all("batch", self.key, self.task, self.options, own=lambda chunks: (chunks,)), *setup]
        if state is not None:
            journal.append(w.to_all("restore", own=lambda chunks: (rows_of(state, chunks),)))
        w.begin(self.bounds, journal, self.token)

    def advance(self, call: Call, setup: Sequence[Call] = ()) -> list[Any]:
        """Make a call that changes the environments; return its results, and keep the snapshot that comes with them.

        setup   calls before it that a new worker needs
        """
        self.ready(setup)
        results = self.workers.call(call, keep=True)
        self.state = joined([snapshot for _, snapshot in results], 0)
        return [found for found, _ in results]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, mask: npt.ArrayLike | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in each environment, or in those of a mask (B,) of bool: (obs, {}). See EnvBatch.reset.

        Errors: ValueError for another shape of seed or mask; RuntimeError for a mask before the first reset of all.
        """
        rows = mask_of("reset", mask, self.num_envs)
        if self.state is None and not rows.all():
            raise RuntimeError(f"{type(self.task).__name__}: reset() with a mask before a reset of all environments")
        seeds = seed if self.state is not None or seed is not None else self.seed
        several = seeds is not None and not isinstance(seeds, (int, np.integer))
        if several and len(seeds) != self.num_envs:  # type: ignore[arg-type]
            raise ValueError(f"reset: seed has {len(seeds)} numbers, expected one or {self.num_envs}")  # type: ignore[arg-type]

        def own(chunks: Chunks) -> tuple[Any, ...]:
            part = slice(chunks.first, chunks.first + chunks.size)
            return rows[part], seeds[part] if several else seeds  # type: ignore[index]

        self.advance(self.workers.to_all("reset", own=own))
        return self.observed(), {}

    def collect(
        self, steps: int, policy: Policy, weights: Mapping[str, Any] | None = None, finals: bool = True
    ) -> Collected:
        """Run control steps under a policy; see EnvBatch.collect. The arrays (T, B, ...) are in this process."""
        if self.state is None:
            raise RuntimeError(f"{type(self.task).__name__}: collect() before reset()")
        if policy not in self.policies:
            self.policies[policy] = hashlib.sha256(ray.cloudpickle.dumps(policy)).hexdigest()
        arguments = int(steps), self.policies[policy], policy, dict(weights or {}), finals
        return joined_steps(self.advance(self.workers.to_all("collect", *arguments)))

    # -- the state

    def snapshot(self) -> Arrays:
        """Return all data that later steps depend on (B, n), as EnvBatch.snapshot."""
        if self.state is None:
            raise RuntimeError(f"{type(self.task).__name__}: snapshot() before reset()")
        return {name: x.copy() for name, x in self.state.items()}

    def restore(self, snapshot: Mapping[str, npt.ArrayLike]) -> None:
        """Continue from a snapshot. Errors: ValueError for one of another task, number or dtype."""
        state = {name: np.array(x) for name, x in snapshot.items()}
        if set(state) != set(self.local.lasting) or any(
            x.shape != (self.num_envs, self.local.storage.sizes[name]) or x.dtype != self.local.dtype
            for name, x in state.items()
        ):
            raise ValueError(f"restore: the snapshot is not one of {self!r}")
        self.state, self.token = state, object()

    def observed(self) -> Any:
        """Return the last observations (B, n), or groups of them by name."""
        state = self.snapshot()
        found = {group: state[observation(group)] for group in self.groups}
        return found[""] if set(found) == {""} else found

    @property
    def episode_length(self) -> Any:
        """Control steps of the current episodes (B,): a view that may be written before the next call."""
        self.restore(self.snapshot())  # a state that workers do not have
        return self.state[STEP][:, 0]  # type: ignore[index]

    def resized(self, num_envs: int, seed: int = 0, first: int = 0) -> EnvBatch:
        """Return a batch of other environments of the task in this process."""
        return self.local.resized(num_envs, seed, first)


def key_of(task: Task, options: Mapping[str, Any]) -> str:
    """Return a name of the environments of a task with its options."""
    return hashlib.sha256(ray.cloudpickle.dumps(task) + repr(options).encode()).hexdigest()


def rows_of(state: Arrays, chunks: Chunks) -> Arrays:
    """Return the environments of some chunks."""
    return {name: x[chunks.first : chunks.first + chunks.size] for name, x in state.items()}


def joined(parts: Sequence[Mapping[str, Any]], axis: int) -> Arrays:
    """Return arrays of parts, one after the other along an axis."""
    return {name: np.concatenate([part[name] for part in parts], axis) for name in parts[0]}


def joined_steps(parts: Sequence[Collected]) -> Collected:
    """Return the collected steps of all environments from those of the workers."""

    def join(values: Sequence[Any]) -> Any:
        if values[0] is None:
            return None
        return joined(values, 1) if isinstance(values[0], dict) else np.concatenate(values, 1)

    return Collected(*map(join, zip(*parts)))


class DistributedPPO(PPO):
    """PPO on the environments of workers.

    An iteration has one call of the workers for its steps, one for its advantages, and one for each minibatch. Rewards and
    ends of episodes come back to this process, and for each chunk the moments of observations and advantages and the
    gradients of the minibatches. Observations and actions stay on the workers. Evaluations are one call.

    Its further figures are "workers", their number; "retries", how often a worker was lost so far; "slowest", the time of the
    slowest worker in an iteration's calls over that of the median.
    Errors: ValueError for another algorithm.
    """

    env: ShardedBatch  # type: ignore[assignment]

    def __init__(self, env: ShardedBatch, settings: Settings, seed: int = 0, threads: int | None = None) -> None:
        expect(settings.algorithm == "ppo", "Workers: algorithm", settings.algorithm, "ppo")
        super().__init__(env, settings, seed, threads)  # type: ignore[arg-type]

    def iteration(self) -> dict[str, Any]:
        row, w = super().iteration(), self.env.workers
        return {**row, "workers": len(w.actors), "retries": w.retries, "slowest": w.slowest()}

    def collect(self) -> Collected:
        """Run the control steps of an iteration; only rewards and ends of episodes (T, B) come back."""
        w = self.env.workers
        found = self.env.advance(w.to_all("steps", message_of(self)), [self.setup()])
        self.found = [moments for part in found for moments in part["moments"]]
        reward, terminated, truncated = (
            np.concatenate([part[name] for part in found], 1) for name in ("reward", "terminated", "truncated")
        )
        return Collected(None, reward, reward, terminated, truncated, None, {})

    def evaluate(self, env: EnvBatch, seed: int) -> Evaluation:
        """Run the episodes on the workers, each with its share of the environments of `env`."""
        w, count = self.env.workers, env.num_envs

        def own(chunks: Chunks) -> tuple[int, int]:
            all_of = len(chunks.bounds) - 1
            first, end = (k * count // all_of for k in (chunks.begin, chunks.end))
            return first, end - first

        self.env.ready([self.setup()])
        key = key_of(env.task, self.env.options)
        parts = w.call(w.to_all("evaluation", message_of(self), key, env.task, self.env.options, seed, own=own))
        return Evaluation(*map(np.concatenate, zip(*parts)))

    def setup(self) -> Call:
        """Return the call that makes the learner of a worker."""
        return self.env.workers.to_all("learner", self.settings, self.seed)

    def see(self, got: Collected) -> None:
        for moments in self.found:
            self.look(moments)

    def prepare(self, got: Collected, scale: Any) -> list[Moments]:
        w = self.env.workers
        return [moments for part in w.call(w.to_all("prepare", scale), keep=True) for moments in part]

    def gradients(self, epoch: int, part: int, mean: float, deviation: float) -> list[Sums]:
        w, numbers = self.env.workers, (self.actor_adam.numbers, self.critic_adam.numbers)
        call = w.to_all("gradients", *numbers, epoch, part, mean, deviation)
        return [sums for found in w.call(call) for sums in found]
