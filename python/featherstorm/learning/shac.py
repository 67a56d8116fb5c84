"""Short-horizon actor-critic (Xu and others 2022): the actor ascends the gradient of the simulated return.

An iteration has four parts:
1. T steps of B environments under the policy;
2. the gradient of their rewards, and of the critic's values of the last states, with respect to the actor's weights. It
   goes back through rewards, contacts, observations and networks (EnvBatch.pull_back);
3. one step of the optimiser for the actor;
4. some epochs of minibatches for the critic.
No derivative crosses the end of a horizon or of an episode. T is short, since derivatives would otherwise grow without
bound.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from .learner import CHUNK, Learner, flat, rows_of

if TYPE_CHECKING:
    from ..environment.collecting import Collected
    from ..typing import NumpyArray as Array


OUTLIER = 2.0  # times the median norm of state cotangents; longer ones, such as at a marginal contact, are shortened


class SHAC(Learner):
    """Short-horizon actor-critic.

    Its figures are "norm", of the actor's gradient, and "lost", the number of state cotangents not finite.
    """

    name = "SHAC"
    keeps = True

    def learn(self, got: Collected) -> dict[str, Any]:
        s, start = self.settings, time.perf_counter()
        xc, _, target = self.advantages(got, self.scale)
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
        """Return the gradient of J with respect to the actor and log_std, and the number of lost cotangents.

        J = 1 / (T B) sum_b [sum_t g_t r_t + g V'],  g_t = gamma^(steps since horizon or episode began)
        V' = 0 if the episode terminated, V of its last observation if it was truncated, V(x_T) if it continues
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
        """Return the cotangents of the observations at t from the critic's values with weights (B,)."""
        seen = self.normaliser_of_critic
        x = seen(self.group_of(observations, self.critic_group)[t])
        _, kept = self.critic.forward(x)
        return self.spread(self.critic_group, self.critic.pull_back(kept, weight[:, None])[1] * seen.slope(x))

    def spread(self, group: str, by: Array) -> Any:
        """Return cotangents of all groups for PullBack, from those of one group; the others are zero."""
        groups = self.env.groups
        if set(groups) == {""}:
            return by
        return {name: by if name == group else np.zeros((len(by), n), np.float32) for name, n in groups.items()}

    def held(self, by: Array, actions: Array) -> Array:
        """Return the cotangents (B, m) of actions, zero where they would push an action out of its range."""
        outward = ((actions >= self.acting.high) & (by > 0)) | ((actions <= self.acting.low) & (by < 0))
        return np.where(outward, np.float32(0), by)

    # -- the critic

    def fit(self, xc: Array, target: Array) -> float:
        """Train the critic for some epochs of minibatches. Return the mean of (V - target)^2 / 2."""
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
