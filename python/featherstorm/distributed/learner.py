"""PPO whose steps and gradients are computed on workers, with the bits of a run in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..environment.collecting import Collected
from ..learning.evaluation import Evaluation
from ..learning.ppo import PPO
from .batch import key_of
from .share import message_of

if TYPE_CHECKING:
    from ..environment.batch import EnvBatch
    from ..learning.acting import Moments
    from ..learning.ppo import Chunks, Sums
    from ..learning.settings import Settings
    from .batch import ShardedBatch
    from .share import Call


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
        if settings.algorithm != "ppo":
            raise ValueError(f"Workers: algorithm is {settings.algorithm}, expected ppo")
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
