"""Common parts of the learners: environments, networks, normalisation, and the frame of an iteration."""

from __future__ import annotations

import math
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from ..environment.mirror import SCALAR, Mirror, joined
from .acting import Actor, Moments, Normaliser, moments_of
from .evaluation import Evaluation, evaluate
from .network import Adam, Network, made_alike, of_layers, orthogonal
from .policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..environment.batch import EnvBatch
    from ..environment.collecting import Collected
    from ..typing import NumpyArray as Array
    from .settings import Settings


CHUNK = 1024  # samples that a thread processes at a time; the outputs of a layer then fit into the core's cache


class Learner:
    """Base class of the learners. A learner trains on one batch of environments; subclasses define `learn`.

    actor, critic   networks
    log_std         logarithm of the actions' standard deviations (m,), in half ranges
    seen, seen_by_critic   running normalisation of the observations of actor and critic
    steps, iterations   control steps and iterations so far
    seconds         time spent in "collect", "values", "update"
    """

    name: str
    keeps = False  # True if the learner uses EnvBatch.pull_back

    def __init__(self, env: EnvBatch, settings: Settings, seed: int = 0, threads: int | None = None) -> None:
        self.env, self.settings, self.seed = env, settings, seed
        groups = env.groups
        self.group = "actor" if "actor" in groups else next(iter(groups))
        self.critic_group = "critic" if "critic" in groups else self.group
        n, nc, m = groups[self.group], groups[self.critic_group], env.recording.actions
        self.rng = rng = np.random.default_rng([seed, 1])
        self.make(n, nc, m)
        self.seen, self.seen_by_critic, self.returns = Normaliser(n), Normaliser(nc), Normaliser(1)
        self.discounted = np.zeros(env.num_envs)  # discounted returns so far, for the reward scale
        self.episode_return = np.zeros(env.num_envs)
        self.steps = self.iterations = 0
        self.rate = settings.rate
        self.seconds = dict.fromkeys(("collect", "values", "update"), 0.0)
        self.threads = threads or os.cpu_count() or 1
        self.pool = ThreadPoolExecutor(self.threads)
        env.reset(seed=seed)
        if settings.spread and env.task.steps:
            env.episode_length[:] = rng.integers(0, env.task.steps, env.num_envs)

    def make(self, n: int, nc: int, m: int) -> None:
        """Make networks and optimisers, for n and nc numbers that actor and critic observe, and m actions."""
        s = self.settings
        log_std = np.full(m, s.noise, np.float32)
        actor, critic = orthogonal(self.rng, (n, *s.actor, m), 0.01), orthogonal(self.rng, (nc, *s.critic, 1), 1.0)
        of_actor = of_critic = None
        if s.mirror:
            mirror = self.mirror = self.env.task.mirror()
            for group, size in ((self.group, n), (self.critic_group, nc), ("action", m)):
                if (there := len(mirror.get(group, ()))) != size:
                    raise ValueError(f"mirror: {group or 'the observation'} has {there} numbers, expected {size}")
            of_actor = of_layers(mirror[self.group], s.actor, mirror["action"])
            of_critic = of_layers(mirror[self.critic_group], s.critic, SCALAR)
            actor, critic = made_alike(actor, of_actor), made_alike(critic, of_critic)
            of_actor = joined(of_actor, Mirror(mirror["action"].source))  # also for log_std
        self.actor_adam = Adam([*actor, log_std], s.rate, of_actor)
        self.critic_adam = Adam(critic, s.critic_rate, of_critic)
        *weights, self.log_std = self.actor_adam.views
        self.actor = Network(weights, s.activation)
        self.critic = Network(self.critic_adam.views, s.activation)
        self.acting = Actor(self.env, self.group, self.actor.layers, s.activation)
        if s.mirror:
            middle, half, image = self.acting.middle, self.acting.half, self.mirror["action"]
            if not (np.allclose(image(middle), middle) and np.allclose(half[image.source], half)):
                raise ValueError("mirror: the range of actions is not symmetric under the task's mirror")

    # -- an iteration

    def iteration(self) -> dict[str, Any]:
        """Collect steps, learn from them, and return the figures of the iteration.

        "episodes"   number of episodes that ended
        "return"     their mean return, None if no episode ended
        "std"        mean standard deviation of the actions, in half ranges
        and the figures of `learn`, such as the critic's "loss" and the actor's "rate".
        """
        start = time.perf_counter()
        got = self.collect()
        self.seconds["collect"] += time.perf_counter() - start
        ended = self.ends(got)
        told = self.learn(got)
        self.see(got)
        self.steps += self.settings.horizon * self.env.num_envs
        self.iterations += 1
        if not (math.isfinite(told["loss"]) and np.isfinite(self.actor_adam.numbers).all()):
            raise ValueError(
                f"{type(self.env.task).__name__}: the loss or the policy is not finite after {self.iterations} "
                "iterations; try a smaller rate"
            )
        mean = float(np.mean(ended)) if ended else None
        return {"return": mean, "episodes": len(ended), **told, "std": float(np.exp(self.log_std).mean())}

    def collect(self) -> Collected:
        """Run the control steps of an iteration under the present policy, with noise."""
        s = self.settings
        return self.acting.collect(self.env, s.horizon, self.actor, self.log_std, self.seen, True, True, self.keeps)

    def evaluate(self, env: EnvBatch, seed: int) -> Evaluation:
        """Run an episode of each environment of a batch under the present policy, without noise."""

        def collect(steps: int) -> Collected:
            return self.acting.collect(env, steps, self.actor, self.log_std, self.seen, False, False)

        return evaluate(env, collect, seed)

    def see(self, got: Collected) -> None:
        """Update the normalisations with an iteration's observations."""
        self.look(self.moments(got))

    def look(self, moments: Mapping[str, Sequence[Moments]]) -> None:
        """Update the normalisations with the moments of observations by group."""
        for group, seen in self.observed:
            for rows in moments[group]:
                seen.add(rows)

    def moments(self, got: Collected) -> dict[str, list[Moments]]:
        """Return the moments of an iteration's observations by group, and if `mirror` is set those of their images."""
        found = {}
        for group, _ in self.observed:
            rows = rows_of(self.group_of(got.observations, group)[:-1])
            images = [self.mirror[group](rows)] if self.settings.mirror else []
            found[group] = [moments_of(x) for x in (rows, *images)]
        return found

    @property
    def observed(self) -> list[tuple[str, Normaliser]]:
        """The groups of observations with their normalisations; one if actor and critic observe the same."""
        groups = {self.group: self.seen, self.critic_group: self.normaliser_of_critic}
        return list(groups.items())

    def learn(self, got: Collected) -> dict[str, Any]:
        """Learn from an iteration's steps; called before these update the normalisation."""
        raise NotImplementedError

    def ends(self, got: Collected) -> list[float]:
        """Return the returns of the episodes that ended, and update the reward scale with the discounted returns."""
        ended: list[float] = []
        discounted = np.empty(got.reward.shape)
        for k, (reward, done) in enumerate(zip(got.reward, got.terminated | got.truncated)):
            self.episode_return += reward
            self.discounted = self.discounted * self.settings.discount + reward
            discounted[k] = self.discounted
            ended += self.episode_return[done].tolist()
            self.episode_return[done] = self.discounted[done] = 0
        self.returns.update(discounted.reshape(-1, 1))
        return ended

    def group_of(self, observations: Any, group: str) -> Array:
        return observations[group] if isinstance(observations, dict) else observations

    @property
    def scale(self) -> Any:
        """Factor of the rewards."""
        return np.float32(self.settings.reward or 1 / math.sqrt(float(self.returns.variance[0]) + 1e-8))

    def advantages(self, got: Collected, scale: Any) -> tuple[Array, Array, Array]:
        """Return the critic's normalised observations (T + 1, B, n), the advantages and the targets (T, B).

        d_t = r_t + gamma V' - V(x_t),   A_t = d_t + gamma lambda A_t+1 within the episode,   target = A_t + V(x_t)
        V' = 0 if the episode terminated, V of its last observation if it was truncated, else V(x_t+1)
        scale: factor of the rewards
        """
        T, B, s = *got.reward.shape, self.settings
        seen = self.normaliser_of_critic
        xc = seen(self.group_of(got.observations, self.critic_group))
        value = self.values(xc.reshape((T + 1) * B, -1)).reshape(T + 1, B)
        after = value[1:].copy()
        after[got.terminated] = 0
        cut = got.truncated & ~got.terminated
        if cut.any():
            after[cut] = self.values(seen(self.group_of(got.final_observations, self.critic_group)[cut]))
        going = 1 - (got.terminated | got.truncated).astype(np.float32)
        delta = got.reward * scale + np.float32(s.discount) * after - value[:-1]
        advantage, last = np.empty_like(delta), np.zeros(B, np.float32)
        for t in reversed(range(T)):
            last = delta[t] + np.float32(s.discount * s.trace) * going[t] * last
            advantage[t] = last
        return xc, advantage, advantage + value[:-1]

    @property
    def normaliser_of_critic(self) -> Normaliser:
        return self.seen if self.critic_group == self.group else self.seen_by_critic

    def values(self, xc: Array) -> Array:
        """Return V (N,) of normalised observations (N, n)."""
        xc = np.ascontiguousarray(xc)  # products of other layouts have other bits
        chunks = [xc[k : k + CHUNK] for k in range(0, len(xc), CHUNK)]
        return np.concatenate([y[:, 0] for y in self.pool.map(self.critic, chunks)])

    def minibatches(self, n: int) -> Iterator[Array]:
        """Yield the sample indices of each minibatch. Each sample occurs once in an epoch."""
        count = max(1, round(n / self.settings.minibatch))
        for _ in range(self.settings.epochs):
            yield from np.array_split(self.rng.permutation(n), count)

    # -- checkpoints

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return everything that further iterations depend on: plain numbers, and arrays by name."""
        numbers = {
            "steps": self.steps, "iterations": self.iterations, "rate": self.rate, "rng": self.rng.bit_generator.state,
            "updates": [adam.t for _, adam in self.adams], "seconds": self.seconds,
        }  # fmt: skip
        arrays = {f"env/{name}": x for name, x in self.env.snapshot().items()}
        arrays.update(discounted=self.discounted.copy(), episode_return=self.episode_return.copy())
        for name, adam in self.adams:
            arrays.update({f"{name}/{key}": getattr(adam, key).copy() for key in ("numbers", "m", "v")})
        for name, x in self.normalisers:
            arrays.update({f"{name}/mean": x.mean, f"{name}/variance": x.variance, f"{name}/count": np.array(x.count)})
        return numbers, arrays

    def restore(self, numbers: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Continue from a result of `state`.

        Errors: ValueError, KeyError or TypeError for the state of another learner; this learner must not be used
        afterwards.
        """
        self.env.restore({name.removeprefix("env/"): x for name, x in arrays.items() if name.startswith("env/")})
        for name, adam in self.adams:
            for key in ("numbers", "m", "v"):
                into(getattr(adam, key), arrays[f"{name}/{key}"], f"{name}/{key}")
        for name, x in self.normalisers:
            into(x.mean, arrays[f"{name}/mean"], f"{name}/mean")
            into(x.variance, arrays[f"{name}/variance"], f"{name}/variance")
            x.count = float(arrays[f"{name}/count"])
        into(self.discounted, arrays["discounted"], "discounted")
        into(self.episode_return, arrays["episode_return"], "episode_return")
        self.steps, self.iterations = int(numbers["steps"]), int(numbers["iterations"])
        self.rate = float(numbers["rate"])
        for (_, adam), t in zip(self.adams, numbers["updates"], strict=True):
            adam.t = int(t)
        self.rng.bit_generator.state = numbers["rng"]
        self.seconds = {name: float(x) for name, x in numbers["seconds"].items()}

    @property
    def adams(self) -> list[tuple[str, Adam]]:
        return [("actor", self.actor_adam), ("critic", self.critic_adam)]

    @property
    def normalisers(self) -> list[tuple[str, Normaliser]]:
        return [("seen", self.seen), ("seen_by_critic", self.seen_by_critic), ("returns", self.returns)]

    # -- the policy

    def policy(self, task: str = "", **origin: Any) -> Policy:
        """Return the present policy, in the task's units."""
        found = self.acting.in_units(self.actor.weights, self.log_std)
        return Policy(
            found.weights, self.settings.activation, self.seen.mean, self.seen.variance, found.log_std, found.low, found.high,
            squash=found.squash, group=self.group, task=task, settings={self.settings.algorithm: self.settings.as_table()},
            origin={"seed": self.seed, "steps": self.steps, **origin},
        )  # fmt: skip


def rows_of(x: Array) -> Array:
    """Reshape (T, B, n) to (T B, n)."""
    return x.reshape(-1, x.shape[-1])


def into(there: Array, values: Array, name: str) -> None:
    """Copy values into an array. Errors: ValueError if the shapes differ."""
    if there.shape != values.shape:
        raise ValueError(f"{name} has shape {values.shape}, expected {there.shape}")
    there[...] = values


def flat(arrays: list[Array]) -> Array:
    return np.concatenate([x.ravel() for x in arrays])
