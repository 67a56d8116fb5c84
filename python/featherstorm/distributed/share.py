"""The environments and samples of one worker, the computations of a learner on them, and the calls of a driver."""

from __future__ import annotations

import copy
import hashlib
import pickle
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from .._featherstorm import __version__  # type: ignore[attr-defined]  # a stub has none
from .._horizon.prepared import PreparedRollout
from .._memory.arguments import place_of
from .._memory.arrays import shape_error
from .._optional import ray
from ..learning.evaluation import Evaluation
from ..learning.ppo import PPO, Chunks, Sums
from ..noise import Noise
from ..planning import PredictiveSampling
from ..rollout import Rollout

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from ..environment.collecting import Collected, Policy
    from ..environment.task import Task
    from ..learning.settings import Settings
    from ..planning import Planner
    from ..typing import Array

    Plan = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], int]
    Arrays = Mapping[str, Any]

BLOCK, BLOCKS = 16, 64  # samples of a block, which is on one worker: at most; and least number of blocks
# options of a planner that decide its samples and their costs
OPTIONS = ("rollout", "horizon", "nu", "knots", "interpolation", "lower", "upper", "seed", "dtype", "robots", "models")


class ShardedSamples:
    """The samples of a planner on workers.

    A call sends the state, and of each plan its knots, their noise and the number of the draw. A worker draws the
    samples of its numbers, which are counters, and returns their costs. The planner draws all samples itself, so that
    its sums over them have the order and the bits that they have without workers.
    """

    def __init__(self, workers: Any, planner: Planner) -> None:
        self.workers, self.planner = workers, planner
        step = max(1, min(BLOCK, planner.samples // BLOCKS))
        self.bounds = (*range(0, planner.samples, step), planner.samples)
        options = {name: getattr(planner, name) for name in OPTIONS}
        key = hashlib.sha256(ray.cloudpickle.dumps(options)).hexdigest()
        self.setup = workers.to_all("sampler", key, options, own=lambda chunks: (chunks,))

    def costs(self, x: Array, given: dict[str, Any]) -> npt.NDArray[Any]:
        """Return the costs (robots models samples,) of the samples that the plans draw at present.

        x       (nx,), or (R, nx) for planners of robots
        given   further arguments of the rollout
        Errors: ValueError for a row of p or warm for each sample; those of the rollout.
        """
        P, w = self.planner, self.workers
        given = {name: value if np.ndim(value) == 0 else np.asarray(value) for name, value in given.items()}
        for name, value in given.items():
            if P.robots is None and np.ndim(value) > 1 and len(value) != 1:
                raise shape_error(type(P).__name__, f"{name} (samples are on workers)", value.shape, (1, f"n{name}"))
        plans = [(np.array(plan.knots), np.array(plan.sigma), plan.draws) for plan in P._plans]
        w.begin(self.bounds, [self.setup], self)
        parts = w.call(w.to_all("costs", np.asarray(x), given, plans))
        return np.concatenate([part.reshape(len(plans) * P.models, -1) for part in parts], 1).ravel()


class Sampler:
    """Some samples of a planner, in the process of a worker.

    options   of the planner, OPTIONS
    chunks    blocks of samples
    """

    def __init__(self, options: dict[str, Any], threads: int, chunks: Chunks) -> None:
        options = dict(options)
        rollout = options.pop("rollout")
        if isinstance(rollout, Rollout):
            rollout = with_threads(rollout, threads)
        self.chunks = chunks
        self.planner = PredictiveSampling(rollout, samples=chunks.size, **options)

    def costs(self, x: npt.NDArray[Any], given: dict[str, Any], plans: Sequence[Plan]) -> npt.NDArray[Any]:
        """Return the costs (robots models samples,) of these samples; see ShardedSamples.costs.

        plans   of each robot: knots (K nu), their noise (K nu), number of the draw
        """
        P = self.planner
        samples = P.samples_in(place_of(x, type(P).__name__, "x"))
        if P.robots is not None:
            x, given = samples.of_robots(x, given)
        drawn = [
            Noise(
                P.samples, mean.reshape(P.knots, P.nu), sigma.reshape(P.knots, P.nu), seed=P.seed + k, draw=draw,
                lower=P.lower, upper=P.upper, first=self.chunks.first, keep_mean=True,
            ).controls(P.dtype, P.threads)
            for k, (mean, sigma, draw) in enumerate(plans)
            for _ in range(P.models)
        ]  # fmt: skip
        for k, knots in enumerate(drawn):
            samples.knots[k * P.samples : (k + 1) * P.samples] = knots
        simulate = P.simulation(x, samples, given)
        result = simulate.run() if isinstance(simulate, PreparedRollout) else simulate()
        return np.array(getattr(result, "costs", result))


def with_threads(rollout: Rollout, threads: int) -> Rollout:
    """Return a rollout with kernels of its own, which use this number of threads."""
    make, (robot, options, *others) = rollout.model.__reduce__()
    result = copy.copy(rollout)
    vars(result).update(model=make(robot, {**options, "threads": threads}, *others), made={}, sent={}, _terms=None)
    return result


class Call(NamedTuple):
    """A call of all workers.

    shared   arguments that all workers get: pickled, or a reference to them
    own      function of a worker's chunks that returns its own further arguments; None: none
    size     bytes of the shared arguments, pickled
    """

    name: str
    shared: Any
    own: Callable[[Chunks], tuple[Any, ...]] | None
    size: int


def message_of(ppo: PPO) -> dict[str, Any]:
    """Return the numbers of a learner that an iteration on a worker depends on."""
    normalisers = [(x.mean, x.variance) for _, x in ppo.observed]
    return {
        "actor": ppo.actor_adam.numbers, "critic": ppo.critic_adam.numbers, "normalisers": normalisers,
        "steps": ppo.steps, "iterations": ppo.iterations,
    }  # fmt: skip


def receive(ppo: PPO, message: Mapping[str, Any]) -> None:
    """Take over the numbers of `message_of`."""
    ppo.actor_adam.numbers[:] = message["actor"]
    ppo.critic_adam.numbers[:] = message["critic"]
    for (_, x), (mean, variance) in zip(ppo.observed, message["normalisers"]):
        x.mean, x.variance = mean, variance
    ppo.steps, ppo.iterations = message["steps"], message["iterations"]


def size_of(x: Any) -> int:
    """Return the size [bytes] of all arrays in tuples, lists and dicts."""
    if isinstance(x, np.ndarray):
        return x.nbytes
    if isinstance(x, dict):
        return sum(map(size_of, x.values()))
    return sum(map(size_of, x)) if isinstance(x, (tuple, list)) else 0


KEPT = 8  # planners of which a worker keeps the kernels


def software() -> tuple[str, ...]:
    """Return the versions and the kind of processor on which the bits of a learner depend."""
    blas = {
        f"{x.get('internal_api')} {x.get('version')} {x.get('architecture')}"
        for x in threadpool_info()
        if x.get("user_api") == "blas"
    }
    return (f"featherstorm {__version__}", f"numpy {np.__version__}", *sorted(blas))


class Share:
    """Environments of some chunks of a run, in a process of their own.

    threads   of the process
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.limits = threadpool_limits(1, "blas")  # the learner's threads run products in parallel
        self.key = ""
        self.chunks: Chunks | None = None
        self.env: Any = None
        self.ppo: Any = None
        self.got: Any = None
        self.judged: Any = None  # key, first, size and environments of evaluations
        self.policies: dict[str, Policy] = {}
        self.samplers: dict[str, Sampler] = {}
        self.planned: Any = None

    def run(self, name: str, shared: bytes | tuple[Any, ...], *own: Any) -> Any:
        """Return the result of a method for arguments of all workers, pickled or not, and further ones of this worker."""
        given = pickle.loads(shared) if isinstance(shared, bytes) else shared
        return getattr(self, name)(*given, *own)

    def ready(self) -> tuple[str, ...]:
        return software()

    def batch(self, key: str, task: Task, options: dict[str, Any], chunks: Chunks) -> None:
        """Make the environments of some chunks; `key` names the task and its options."""
        if key != self.key or self.env is None:
            self.env = task.batch(chunks.size, first=chunks.first, threads=self.threads, **options)  # type: ignore[attr-defined]
        elif chunks != self.chunks:
            self.env = self.env.resized(chunks.size, options["seed"], chunks.first)
        if chunks != self.chunks:
            self.ppo = None
        if self.ppo:
            self.ppo.env = self.env
        self.key, self.chunks = key, chunks

    def reset(self, mask: Any, seed: Any) -> tuple[None, Arrays]:
        if mask.any():
            self.env.reset(seed=seed, mask=mask)
        return None, self.env.snapshot()

    def restore(self, snapshot: Arrays) -> None:
        self.env.restore(snapshot)

    def collect(self, steps: int, key: str, policy: Policy, weights: Arrays, finals: bool) -> tuple[Collected, Arrays]:
        """Run control steps; `key` names the policy, which is compiled once."""
        got = self.env.collect(steps, self.policies.setdefault(key, policy), weights, finals)
        return type(got)(*map(packed, got)), self.env.snapshot()

    # -- PPO

    def learner(self, settings: Settings, seed: int) -> None:
        if self.ppo is None or (self.ppo.settings, self.ppo.seed) != (settings, seed):
            self.ppo = PPO(self.env, settings, seed, self.threads, self.chunks)

    def steps(self, message: Arrays) -> tuple[dict[str, Any], Arrays]:
        """Run the control steps of an iteration: the numbers of all environments, and moments of each chunk."""
        receive(self.ppo, message)
        self.got = got = self.ppo.collect()
        found = {name: packed(getattr(got, name)) for name in ("reward", "terminated", "truncated")}
        return {**found, "moments": self.ppo.moments_of_chunks(got)}, self.env.snapshot()

    def prepare(self, scale: Any) -> list[Any]:
        return self.ppo.prepare(self.got, scale)

    def gradients(self, actor: Any, critic: Any, epoch: int, part: int, mean: float, deviation: float) -> list[Sums]:
        self.ppo.actor_adam.numbers[:] = actor
        self.ppo.critic_adam.numbers[:] = critic
        return self.ppo.gradients(epoch, part, mean, deviation)

    def evaluation(
        self, message: Arrays, key: str, task: Task, options: dict[str, Any], seed: int, first: int, size: int
    ) -> Evaluation:
        """Evaluate the policy in environments `first` to `first` + `size` - 1 of a batch for it."""
        if size == 0:
            return Evaluation(np.zeros(0), np.zeros(0, int), np.zeros(0, bool))
        receive(self.ppo, message)
        if self.judged is None or self.judged[:3] != (key, first, size):
            if key == self.key:
                env = self.env.resized(size, options["seed"], first)
            else:
                env = task.batch(size, first=first, threads=self.threads, **options)  # type: ignore[attr-defined]
            self.judged = key, first, size, env
        return self.ppo.evaluate(self.judged[3], seed)

    # -- planners

    def sampler(self, key: str, options: dict[str, Any], chunks: Chunks) -> None:
        """Make the samples of some blocks; `key` names the planner."""
        kept = self.samplers.pop(key, None)
        while len(self.samplers) >= KEPT:
            del self.samplers[next(iter(self.samplers))]
        self.planned = kept if kept and kept.chunks == chunks else Sampler(options, self.threads, chunks)
        self.samplers[key] = self.planned

    def costs(self, x: Any, given: dict[str, Any], plans: Any) -> Any:
        return self.planned.costs(x, given, plans)

    def wait(self, seconds: float) -> None:
        """Do nothing for a time; for tests of slow workers."""
        time.sleep(seconds)


def packed(x: Any) -> Any:
    """Return contiguous copies, which are sent without another one."""
    if isinstance(x, dict):
        return {name: packed(y) for name, y in x.items()}
    return np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x
