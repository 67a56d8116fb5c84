"""Proximal policy optimisation (Schulman and others 2017), in numpy on all cores.

An iteration has three parts:
1. T steps of B environments under the policy, in one call of the engine;
2. advantages by GAE;
3. some epochs of minibatches.
A run is a function of its seed, bit for bit, for any number of threads: samples are split into chunks of a fixed size,
and the gradients of the chunks are added in a fixed order.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .learner import CHUNK, Learner, flat, rows_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..environment.collecting import Collected

    Array = npt.NDArray[Any]

FASTER, WITHIN = 1.5, (1e-5, 1e-2)  # factor and bounds of the actor's controlled rate
LEAST_AIM = 0.1  # final fraction of the KL target if it falls


class Samples(NamedTuple):
    """Samples of an iteration, N = T B.

    x, xc    normalised observations of actor and critic (N, n)
    chosen   actions in half ranges (N, m)
    log_prob, advantage, target   (N,)
    """

    x: Array
    xc: Array
    chosen: Array
    log_prob: Array
    advantage: Array
    target: Array


class PPO(Learner):
    """Proximal policy optimisation. Its figures are "kl" and the fraction "clipped", means over minibatches."""

    name = "PPO"

    def learn(self, got: Collected) -> dict[str, Any]:
        start = time.perf_counter()
        samples = self.samples(got)
        valued = time.perf_counter()
        told = self.update(samples)
        self.seconds["values"] += valued - start
        self.seconds["update"] += time.perf_counter() - valued
        return told

    def samples(self, got: Collected) -> Samples:
        T, B = got.reward.shape
        actor_x = self.seen(self.group_of(got.observations, self.group)[:-1])
        xc, advantage, target = self.advantages(got)
        advantage = (advantage - advantage.mean()) / (advantage.std() + np.float32(1e-8))
        flat = (rows_of(x) for x in (actor_x, xc[:-1], got.more["chosen"].reshape(T, B, -1)))
        return Samples(*flat, *(x.ravel() for x in (got.more["log_prob"], advantage, target)))

    @property
    def left(self) -> float:
        """Remaining fraction of the run, from 1 to 0; always 1 without `anneal`."""
        return max(0.0, 1 - self.steps / self.settings.steps) if self.settings.anneal else 1.0

    def update(self, samples: Samples) -> dict[str, float]:
        """Run the epochs of minibatches. The KL of each minibatch adjusts the actor's rate."""
        s, left = self.settings, self.left
        aim = s.kl * max(left, LEAST_AIM)
        sums, count = np.zeros(3), 0
        for rows in self.minibatches(len(samples.x)):
            chunks = [rows[k : k + CHUNK] for k in range(0, len(rows), CHUNK)]
            actor, critic, told = np.zeros(1, np.float32), np.zeros(1, np.float32), np.zeros(3)
            for a, c, t in self.pool.map(lambda at: self.gradients(samples, at), chunks):
                actor, critic, told = actor + a, critic + c, told + t
            kl = told[0] / len(rows)
            if s.kl:
                if kl > 2 * aim:
                    self.rate /= FASTER
                elif kl < aim / 2:
                    self.rate *= FASTER
                self.rate = min(max(self.rate, WITHIN[0]), WITHIN[1])
            self.actor_adam.rate, self.critic_adam.rate = self.rate if s.kl else self.rate * left, s.critic_rate * left
            self.actor_adam.step(actor / len(rows), s.gradient)
            np.maximum(self.log_std, np.float32(s.least_noise), out=self.log_std)
            self.critic_adam.step(critic / len(rows), s.gradient)
            sums, count = sums + told, count + len(rows)
        kl, clipped, loss = (sums / count).tolist()
        return {"kl": kl, "clipped": clipped, "loss": loss, "rate": self.rate}

    def gradients(self, samples: Samples, at: Array) -> tuple[Array, Array, Array]:
        """Return three sums over rows: gradients of the actor's and of the critic's loss, and an array of figures.

        The figures are the KL, the number of clipped ratios and the critic's loss.

        r = p(u | x) / p_old(u | x),   L = -min(r A, clip(r, 1 - c, 1 + c) A) - entropy sum log_std
        LV = (V - target)^2 / 2
        """
        s = self.settings
        x, xc, chosen, old, advantage, target = (part[at] for part in samples)
        mean, kept = self.actor.forward(x)
        deviation = np.exp(self.log_std)
        # log p = -z^2 / 2 - log_std - log(2 pi) / 2, summed over actions
        z = (chosen - mean) / deviation
        log_ratio = (-0.5 * z * z - self.log_std - np.float32(0.5 * math.log(2 * math.pi))).sum(1) - old
        ratio = np.exp(log_ratio)
        clipped = np.where(advantage > 0, ratio > 1 + s.clip, ratio < 1 - s.clip)
        # slope = dL/dlog p;   dL/dmean = slope z / deviation,   dL/dlog_std = slope (z^2 - 1)
        slope = np.where(clipped, np.float32(0), -advantage * ratio)[:, None]
        by_std = (slope * (z * z - 1)).sum(0) - np.float32(s.entropy * self.left * len(at))
        actor = flat([*self.actor.backward(kept, slope * z / deviation), by_std])
        value, kept = self.critic.forward(xc)
        error = value[:, 0] - target
        critic = flat(self.critic.backward(kept, error[:, None]))
        kl = float((ratio - 1 - log_ratio).sum())
        return actor, critic, np.array([kl, np.count_nonzero(clipped), 0.5 * float(error @ error)])
