"""Samples of planners on workers: a worker draws its own, simulates them, and returns their costs."""

from __future__ import annotations

import copy
import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from .._horizon.prepared import PreparedRollout
from .._memory.arguments import place_of
from .._memory.arrays import shape_error
from .._optional import ray
from ..noise import Noise
from ..planning import PredictiveSampling
from ..rollout import Rollout

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ..learning.ppo import Chunks
    from ..planning import Planner
    from ..typing import Array

    Plan = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], int]

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
