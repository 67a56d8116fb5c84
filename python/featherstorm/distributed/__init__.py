"""Environments, training and planners on several machines, by Ray: the same bits for any number of workers.

with fs.distributed.Workers("auto") as workers:           # joins the cluster of RAY_ADDRESS, or starts one here
    env = workers.batch(task, 4096, seed=1)
    env.reset()
    got = env.collect(24, policy, weights)                # (T, B, ...), as EnvBatch.collect

    training = fs.learning.Training("Go1JoystickFlat", "runs/go1", workers=workers)
    training.run()

    planner = fs.planning.MPPI(rollout, 50, samples=65536, workers=workers)

See docs/distributed.md.
"""

from .batch import ShardedBatch
from .workers import Workers

__all__ = ["ShardedBatch", "Workers"]
