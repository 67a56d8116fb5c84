"""Short-horizon actor-critic (Xu and others 2022): the actor climbs the gradient of what the simulation returns.

An iteration: T steps of B environments under the policy; the derivative of their rewards, and of the critic's values where they end, by the
actor's weights, back through rewards, contacts, observations and networks (EnvBatch.pull_back); one step of the optimiser; some epochs of
minibatches for the critic. Where a horizon or an episode ends no derivative goes on: T is short, or they would grow without bound.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from .learner import CHUNK, Learner, flat, rows_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..environment.collecting import Collected

    Array = npt.NDArray[Any]

OUTLIER = 2.0  # times the median norm of cotangents of states: longer ones are shortened, as of a contact that a hair decides on


class SHAC(Learner):
    """Tells "norm", that of the actor's gradient, and "lost", how many cotangents of states were not finite."""

    name = "SHAC"
    keeps = True

    def learn(self, got: Collected) -> dict[str, Any]:
        s, start = self.settings, time.perf_counter()
        xc, _, target = self.advantages(got)
        valued = time.perf_counter()
        fading = max(0.0, 1 - self.steps / s.steps) if s.anneal else 1.0
        gradient, lost = self.ascent(got)
        self.actor_adam.rate, self.critic_adam.rate = s.rate * fading, s.critic_rate * fading
        norm = float(np.linalg.norm(gradient))
        self.actor_adam.step(-gradient, s.gradient)
        np.maximum(self.log_std, np.float32(s.least_noise), out=self.log_std)
        loss = self.fit(rows_of(xc[:-1]), target.ravel())
        self.seconds["values"] += valued - start
        self.seconds["update"] += time.perf_counter() - valued
        return {"loss": loss, "norm": norm, "lost": lost, "rate": self.actor_adam.rate}

    # -- the actor

    def ascent(self, got: Collected) -> tuple[Array, int]:
        """The gradient of J by actor and log_std, and how many cotangents were lost.

        J = 1 / (T B) sum_b [sum_t g_t r_t + g V'],  g_t = gamma^steps since the horizon's or the episode's beginning
        V' = 0 where the episode was terminated, V of its last observation where it was truncated, of x_T where it goes on
        """
        T, B, s = *got.reward.shape, self.settings
        done = got.terminated | got.truncated
        weight = np.empty((T, B), np.float32)
        now = np.full(B, 1 / (T * B), np.float32)
        for t in range(T):
            weight[t] = now
            now = np.where(done[t], np.float32(1 / (T * B)), now * np.float32(s.discount))
        back, scale = self.env.pull_back(got), self.scale
        observation_bar = self.by_values(got.observations, T, now)
        total = np.zeros(self.actor_adam.numbers.size - self.log_std.size, np.float32)
        by_std = np.zeros(self.log_std.size, np.float32)
        x = self.seen(self.group_of(got.observations, self.group))
        for t in reversed(range(T)):
            cut = got.truncated[t] & ~got.terminated[t]
            final_bar = None
            if cut.any():
                final_bar = self.by_values(got.final_observations, t, weight[t] * np.float32(s.discount) * cut)
            by_action = back.step(weight[t] * scale, observation_bar, final_bar)
            by_chosen = self.held(by_action * self.acting.half.astype(np.float32), got.actions[t])
            mean, kept = self.actor.forward(x[t])
            gradients, by_x = self.actor.pull_back(kept, by_chosen)
            total += flat(gradients)
            by_std += (by_chosen * (got.more["chosen"].reshape(T, B, -1)[t] - mean)).sum(0)
            observation_bar = self.spread(self.group, by_x * self.seen.slope(x[t]))
            back.shorten(OUTLIER)
        return np.concatenate([total, by_std + np.float32(s.entropy)]), back.lost

    def by_values(self, observations: Any, t: int, weight: Array) -> Any:
        """Cotangents of observations at t by the critic's values with weights (B,)."""
        seen = self.normaliser_of_critic
        x = seen(self.group_of(observations, self.critic_group)[t])
        _, kept = self.critic.forward(x)
        return self.spread(self.critic_group, self.critic.pull_back(kept, weight[:, None])[1] * seen.slope(x))

    def spread(self, group: str, by: Array) -> Any:
        """Cotangents of one group of observations, as PullBack takes them."""
        groups = self.env.groups
        if set(groups) == {""}:
            return by
        return {name: by if name == group else np.zeros((len(by), n), np.float32) for name, n in groups.items()}

    def held(self, by: Array, actions: Array) -> Array:
        """Without what would push actions out of their range."""
        outward = ((actions >= self.acting.high) & (by > 0)) | ((actions <= self.acting.low) & (by < 0))
        return np.where(outward, np.float32(0), by)

    # -- the critic

    def fit(self, xc: Array, target: Array) -> float:
        """Epochs of minibatches; the mean of (V - target)^2 / 2."""
        s, total, count = self.settings, 0.0, 0
        for rows in self.minibatches(len(xc)):
            chunks = [rows[k : k + CHUNK] for k in range(0, len(rows), CHUNK)]
            gradient = np.zeros(1, np.float32)
            for part, loss in self.pool.map(lambda at: self.by_critic(xc[at], target[at]), chunks):
                gradient, total = gradient + part, total + loss
            self.critic_adam.step(gradient / len(rows), s.gradient)
            count += len(rows)
        return total / count

    def by_critic(self, xc: Array, target: Array) -> tuple[Array, float]:
        value, kept = self.critic.forward(xc)
        error = value[:, 0] - target
        return flat(self.critic.backward(kept, error[:, None])), 0.5 * float(error @ error)
