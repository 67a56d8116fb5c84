"""Proximal policy optimisation (Schulman and others 2017), in numpy on all cores.

An iteration has three parts:
1. T steps of B environments under the policy, in one call of the engine;
2. advantages by GAE;
3. some epochs of minibatches.
A run is a function of its seed, bit for bit, for any number of threads, and of workers (featherstorm.distributed): the
environments are split into chunks. A minibatch has an equal share of the samples of each chunk, and sums over samples are
sums over those of each chunk, added in the order of the chunks.
"""

from __future__ import annotations

import itertools
import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from .acting import Moments, Normaliser, moments_of
from .learner import CHUNK, Learner, flat, rows_of

if TYPE_CHECKING:
    from ..environment.batch import EnvBatch
    from ..environment.collecting import Collected
    from ..environment.fleet import EnvFleet
    from ..typing import NumpyArray as Array
    from .settings import Settings


FASTER, WITHIN = 1.5, (1e-5, 1e-2)  # factor and bounds of the actor's controlled rate
LEAST_AIM = 0.1  # final fraction of the KL target if it falls


class Chunks(NamedTuple):
    """Chunks number `begin` to `end` - 1 of a run.

    bounds   first environment of each chunk of the run, and the number of environments
    """

    bounds: tuple[int, ...]
    begin: int
    end: int

    @property
    def first(self) -> int:
        """Number of the first environment."""
        return self.bounds[self.begin]

    @property
    def size(self) -> int:
        """Number of environments."""
        return self.bounds[self.end] - self.first

    @property
    def rows(self) -> list[slice]:
        """Rows of each chunk in a batch of these environments."""
        ends = [x - self.first for x in self.bounds[self.begin : self.end + 1]]
        return [slice(a, b) for a, b in itertools.pairwise(ends)]


def chunks_of(settings: Settings, envs: int) -> Chunks:
    """Return all chunks of a run with `envs` environments."""
    count = min(settings.chunks or max(1, round(settings.minibatch / CHUNK)), envs)
    return Chunks(tuple(k * envs // count for k in range(count + 1)), 0, count)


class Samples(NamedTuple):
    """Samples of an iteration from the environments of a chunk, N = T B.

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


class Sums(NamedTuple):
    """Sums over samples: gradients of the actor's and of the critic's loss, and figures.

    The figures are the KL, the number of clipped ratios, the critic's loss, and the number of samples.
    """

    actor: Array
    critic: Array
    figures: Array

    def plus(self, other: Sums) -> Sums:
        return Sums(self.actor + other.actor, self.critic + other.critic, self.figures + other.figures)


NOTHING = Sums(np.zeros(1, np.float32), np.zeros(1, np.float32), np.zeros(4))


class PPO(Learner):
    """Proximal policy optimisation. Its figures are "kl" and the fraction "clipped", means over minibatches.

    chunks    of the environments of `env`; None: those of a run that has no others
    samples   of the iteration, for each chunk
    """

    name = "PPO"

    def __init__(
        self,
        env: EnvBatch | EnvFleet,
        settings: Settings,
        seed: int = 0,
        threads: int | None = None,
        chunks: Chunks | None = None,
    ) -> None:
        super().__init__(cast("EnvBatch", env), settings, seed, threads)
        self.chunks = chunks or chunks_of(settings, env.num_envs)
        self.samples: list[Samples] = []
        self.orders: tuple[Any, list[list[Array]]] = (None, [])  # of the samples in an epoch, by its number

    def learn(self, got: Collected) -> dict[str, Any]:
        start = time.perf_counter()
        advantages = Normaliser(1)
        for moments in self.prepare(got, self.scale):
            advantages.add(moments)
        mean, deviation = float(advantages.mean[0]), math.sqrt(float(advantages.variance[0]))
        valued = time.perf_counter()
        told = self.update(mean, deviation + 1e-8)
        self.seconds["values"] += valued - start
        self.seconds["update"] += time.perf_counter() - valued
        return told

    @property
    def left(self) -> float:
        """Remaining fraction of the run, from 1 to 0; always 1 without `anneal`."""
        return max(0.0, 1 - self.steps / self.settings.steps) if self.settings.anneal else 1.0

    @property
    def minibatch_count(self) -> int:
        """Number of minibatches in an epoch."""
        return max(1, round(self.settings.horizon * self.chunks.bounds[-1] / self.settings.minibatch))

    def update(self, mean: float, deviation: float) -> dict[str, float]:
        """Run the epochs of minibatches. The KL of each minibatch adjusts the actor's rate.

        mean, deviation   of the advantages
        """
        s, left = self.settings, self.left
        aim = s.kl * max(left, LEAST_AIM)
        sums = np.zeros(4)
        for epoch, part in itertools.product(range(s.epochs), range(self.minibatch_count)):
            actor, critic, figures = NOTHING
            for found in self.gradients(epoch, part, mean, deviation):
                actor, critic, figures = Sums(actor, critic, figures).plus(found)
            rows = int(figures[3])
            kl = figures[0] / rows
            if s.kl:
                if kl > 2 * aim:
                    self.rate /= FASTER
                elif kl < aim / 2:
                    self.rate *= FASTER
                self.rate = min(max(self.rate, WITHIN[0]), WITHIN[1])
            self.actor_adam.rate, self.critic_adam.rate = self.rate if s.kl else self.rate * left, s.critic_rate * left
            self.actor_adam.step(actor / rows, s.gradient)
            np.maximum(self.log_std, np.float32(s.least_noise), out=self.log_std)
            self.critic_adam.step(critic / rows, s.gradient)
            sums += figures
        kl, clipped, loss = (sums[:3] / sums[3]).tolist()
        return {"kl": kl, "clipped": clipped, "loss": loss, "rate": self.rate}

    # -- computed for each chunk

    def see(self, got: Collected) -> None:
        for moments in self.moments_of_chunks(got):
            self.look(moments)

    def moments_of_chunks(self, got: Collected) -> list[dict[str, list[Moments]]]:
        """Return the moments of the observations of each chunk, by group."""
        return [self.moments(of_envs(got, rows)) for rows in self.chunks.rows]

    def prepare(self, got: Collected, scale: Any) -> list[Moments]:
        """Make the samples of an iteration, and return the moments of the advantages of each chunk.

        scale   factor of the rewards
        """
        self.samples = [self.samples_of(of_envs(got, rows), scale) for rows in self.chunks.rows]
        return [moments_of(samples.advantage[:, None]) for samples in self.samples]

    def samples_of(self, got: Collected, scale: Any) -> Samples:
        T, B = got.reward.shape
        actor_x = self.seen(self.group_of(got.observations, self.group)[:-1])
        xc, advantage, target = self.advantages(got, scale)
        wide = (rows_of(x) for x in (actor_x, xc[:-1], got.more["chosen"].reshape(T, B, -1)))
        return Samples(*wide, *(x.ravel() for x in (got.more["log_prob"], advantage, target)))

    def gradients(self, epoch: int, part: int, mean: float, deviation: float) -> list[Sums]:
        """Return the sums over the samples of a minibatch, for each chunk; see `gradient`.

        epoch, part       numbers of the epoch and of the minibatch in it
        mean, deviation   of all advantages
        """
        rows = [order[part] for order in self.order(epoch)]
        pieces = [(k, at[i : i + CHUNK]) for k, at in enumerate(rows) for i in range(0, max(len(at), 1), CHUNK)]
        found = [NOTHING] * len(rows)
        normal = np.float32(mean), np.float32(deviation)
        for (k, _), sums in zip(
            pieces, self.pool.map(lambda x: self.gradient(self.samples[x[0]], x[1], normal), pieces)
        ):
            found[k] = found[k].plus(sums)
        return found

    def order(self, epoch: int) -> list[list[Array]]:
        """Return the rows of each minibatch of an epoch, for each chunk. Each sample occurs once."""
        key = self.iterations, epoch
        if self.orders[0] != key:
            numbers = range(self.chunks.begin, self.chunks.end)
            shuffled = [
                np.random.default_rng([self.seed, 2, *key, k]).permutation(len(samples.x))
                for k, samples in zip(numbers, self.samples)
            ]
            self.orders = key, [np.array_split(x, self.minibatch_count) for x in shuffled]
        return self.orders[1]

    def gradient(self, samples: Samples, at: Array, normal: tuple[Any, Any]) -> Sums:
        """Return sums over rows: gradients of the actor's and of the critic's loss, and figures.

        r = p(u | x) / p_old(u | x),   L = -min(r A, clip(r, 1 - c, 1 + c) A) - entropy sum log_std
        LV = (V - target)^2 / 2
        normal: mean and deviation that normalise the advantages
        """
        s = self.settings
        x, xc, chosen, old, advantage, target = (part[at] for part in samples)
        advantage = (advantage - normal[0]) / normal[1]
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
        return Sums(actor, critic, np.array([kl, np.count_nonzero(clipped), 0.5 * float(error @ error), len(at)]))


def of_envs(got: Collected, rows: slice) -> Collected:
    """Return the collected steps (T, B, ...) of some environments."""

    def cut(x: Any) -> Any:
        return {name: y[:, rows] for name, y in x.items()} if isinstance(x, dict) else x[:, rows]

    found = {name: cut(x) for name, x in got._asdict().items() if x is not None}
    return got._replace(**found)
