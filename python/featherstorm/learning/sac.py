"""Soft actor-critic (Haarnoja and others 2018), in numpy: many environments, and a replay memory of their steps.

An iteration takes T steps of B environments under the policy, in one call of the engine, and stores them in the memory.
It then makes some updates, each from a minibatch drawn from the whole memory: of the critics, the actor, the
temperature, and the target critics, which follow the critics. Each step is used more than once. This takes fewer steps
than an on-policy method, but more time for each.

    action   a = tanh(u),   u = mean(x) + exp(log_std(x)) e,   e ~ N(0, 1), in half ranges about the range's middle
    target   y = r + gamma (1 - terminated) (min_i Q'_i(x', a') - alpha log p(a' | x')),   a' ~ p(. | x')
    critics  L_i = mean (Q_i(x, a) - y)^2 / 2
    actor    L = mean (alpha log p(a | x) - min_i Q_i(x, a)),   a = tanh(u) with drawn e
    alpha    L = -log(alpha) mean (log p(a | x) + H),   H = aim m: the target entropy of an action
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .acting import SquashedActor
from .learner import Learner, flat, into, rows_of
from .network import Adam, Network, orthogonal, views_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..environment.collecting import Collected
    from ..typing import NumpyArray as Array


class Replay:
    """Ring buffer with the last `capacity` rows of some arrays, float32.

    arrays   name -> (capacity, n), allocated at construction
    count    number of stored rows
    next     index of the next row to write

    Errors: MemoryError if the memory cannot be allocated.
    """

    def __init__(self, capacity: int, sizes: Mapping[str, int]) -> None:
        self.capacity, self.count, self.next = capacity, 0, 0
        try:
            self.arrays = {name: np.zeros((capacity, n), np.float32) for name, n in sizes.items()}
        except MemoryError:
            size = 4e-9 * capacity * sum(sizes.values())
            raise MemoryError(
                f"memory of {capacity} steps needs {size:.1f} GB, which cannot be allocated; use a smaller memory"
            ) from None

    def add(self, rows: Mapping[str, Array]) -> None:
        """Add rows (N, n) of each array. If N exceeds the capacity, only the last rows are stored."""
        n = min(len(next(iter(rows.values()))), self.capacity)
        at = (self.next + np.arange(n)) % self.capacity
        for name, x in self.arrays.items():
            x[at] = rows[name][-n:]
        self.next = (self.next + n) % self.capacity
        self.count = min(self.count + n, self.capacity)

    def sample(self, rng: np.random.Generator, n: int) -> dict[str, Array]:
        """Draw n rows, with replacement, from all stored rows with equal probability."""
        at = rng.integers(0, self.count, n)
        return {name: x[at] for name, x in self.arrays.items()}

    # -- checkpoints

    def state(self) -> tuple[dict[str, int], dict[str, Array]]:
        """Return the counters, and views of the stored rows (count, n)."""
        return {"count": self.count, "next": self.next}, {name: x[: self.count] for name, x in self.arrays.items()}

    def restore(self, numbers: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Continue from a result of `state`. Errors: ValueError for the state of another memory."""
        count, at = int(numbers["count"]), int(numbers["next"])
        if not (0 <= count <= self.capacity and 0 <= at < self.capacity and (count == self.capacity or at == count)):
            raise ValueError(f"memory has {count} rows, the next at {at}, expected {self.capacity} rows at most")
        for name, x in self.arrays.items():
            if arrays[name].shape != (count, x.shape[1]):
                raise ValueError(f"memory/{name} has shape {arrays[name].shape}, expected {(count, x.shape[1])}")
        for name, x in self.arrays.items():
            x[:count] = arrays[name]
        self.count, self.next = count, at


LOUDEST = 2.0  # upper bound of log_std; settings.least_noise is the lower one
# Parameters of the critics times samples from which each critic gets a thread. The handover took 0.4 ms of processor
# time in an update.
WORTHWHILE = 2**23


class Drawn(NamedTuple):
    """Actions drawn for rows x (N, n), with the values that the derivatives need.

    action      a (N, m)
    log_prob    log p(a | x) (N,)
    noise       e (N, m)
    deviation, log_std   exp(log_std), log_std (N, m)
    slope       d log_std / d output (N, m)
    kept        of the network's forward evaluation
    """

    action: Array
    log_prob: Array
    noise: Array
    deviation: Array
    log_std: Array
    slope: Array
    kept: Any


class SAC(Learner):
    """Soft actor-critic. Its figures are "alpha", the temperature, and "entropy", of an action [nat]."""

    name = "SAC"

    def make(self, n: int, nc: int, m: int) -> None:
        s, rng = self.settings, self.rng
        # initial outputs of the actor for log_std: the inverse of the mapping in `draw`
        share = np.clip(2 * (s.noise - s.least_noise) / (LOUDEST - s.least_noise) - 1, -0.99, 0.99)
        weights = orthogonal(rng, (n, *s.actor, 2 * m), 0.01)
        weights[-1][m:] = np.arctanh(share)
        self.actor_adam = Adam(weights, s.rate)
        self.actor = Network(self.actor_adam.views, s.activation)
        twins = [orthogonal(rng, (nc + m, *s.critic, 1), 1.0) for _ in range(2)]
        self.critic_adam = Adam([*twins[0], *twins[1]], s.critic_rate)
        self.critics = self.twins(self.critic_adam.views)
        self.followers = self.critic_adam.numbers.copy()
        self.targets = self.twins(views_of(self.followers, self.critic_adam.views))
        self.temperature = Adam([np.full(1, math.log(s.temperature))], s.rate)
        self.log_std = np.full(m, s.noise, np.float32)  # mean in the last minibatch, for the figures
        self.acting = SquashedActor(self.env, self.group, self.actor.layers, s.activation, s.least_noise, LOUDEST)
        sizes = {"x": n, "after": n, "action": m, "reward": 1, "going": 1}
        if self.critic_group != self.group:
            sizes.update(xc=nc, after_c=nc)
        self.memory = Replay(s.memory, sizes)

    @property
    def side_by_side(self) -> Callable[..., Iterable[Any]]:
        """Map a function over both critics, in parallel if they are large enough. The results are the same."""
        large = self.critic_adam.numbers.size * self.settings.minibatch >= WORTHWHILE
        return self.pool.map if large and self.threads > 1 else map

    def twins(self, views: list[Array]) -> list[Network]:
        half = len(views) // 2
        return [Network(views[:half], self.settings.activation), Network(views[half:], self.settings.activation)]

    # -- an iteration

    def learn(self, got: Collected) -> dict[str, Any]:
        s, start = self.settings, time.perf_counter()
        self.memory.add(self.transitions(got))
        told, count = np.zeros(2), 0
        if self.memory.count >= min(s.begin, s.memory):
            for _ in range(s.updates):
                told, count = told + self.update(), count + 1
        self.seconds["update"] += time.perf_counter() - start
        loss, entropy = (told / max(count, 1)).tolist()
        return {"loss": loss, "entropy": entropy, "alpha": self.alpha, "rate": s.rate}

    def transitions(self, got: Collected) -> dict[str, Array]:
        """Return the T B rows of an iteration's steps for the memory.

        after   the next observation, or the last one of the episode if the time limit truncated it
        going   0 if the episode terminated, in which case `after` is not used; else 1
        """
        T, B = got.reward.shape
        cut = got.truncated & ~got.terminated
        found = {
            "action": got.more["chosen"].reshape(T * B, -1),
            "reward": got.reward.reshape(-1, 1),
            "going": 1 - got.terminated.reshape(-1, 1).astype(np.float32),
        }
        groups = {
            self.group: ("x", "after"),
            **({} if "xc" not in self.memory.arrays else {self.critic_group: ("xc", "after_c")}),
        }
        for group, (now, then) in groups.items():
            x = self.group_of(got.observations, group)
            after = x[1:].copy()
            after[cut] = self.group_of(got.final_observations, group)[cut]
            found[now], found[then] = rows_of(x[:-1]), rows_of(after)
        return found

    def update(self) -> Array:
        """Make one step of each optimiser with one minibatch. Return the critics' loss and the entropy of an action."""
        s = self.settings
        rows = self.memory.sample(self.rng, s.minibatch)
        x, after = self.seen(rows["x"]), self.seen(rows["after"])
        xc, after_c = (x, after) if "xc" not in rows else map(self.seen_by_critic, (rows["xc"], rows["after_c"]))
        target = self.target(after, after_c, rows["reward"][:, 0] * self.scale, rows["going"][:, 0])
        loss, critic = self.by_critics(np.concatenate([xc, rows["action"]], 1), target)
        self.critic_adam.step(critic, s.gradient)
        drawn = self.draw(x)
        self.actor_adam.step(self.by_actor(drawn, xc)[1], s.gradient)
        # dL/d log alpha = -mean (log p + H)
        entropy = -float(drawn.log_prob.mean())
        aim = s.aim * len(self.log_std)
        self.temperature.step(np.array([entropy - aim], np.float32), math.inf)
        self.followers += np.float32(s.follow) * (self.critic_adam.numbers - self.followers)
        self.log_std[:] = drawn.log_std.mean(0)
        return np.array([loss, entropy])

    @property
    def alpha(self) -> float:
        return math.exp(float(self.temperature.numbers[0]))

    # -- the critics

    def target(self, after: Array, after_c: Array, reward: Array, going: Array) -> Array:
        """Return y (N,) from the next observations, normalised for the actor and for the critics."""
        drawn = self.draw(after)
        seen = np.concatenate([after_c, drawn.action], 1)
        least = np.minimum(*self.side_by_side(lambda q: q(seen)[:, 0], self.targets))
        worth = least - np.float32(self.alpha) * drawn.log_prob
        return reward + np.float32(self.settings.discount) * going * worth

    def by_critics(self, seen: Array, target: Array) -> tuple[float, Array]:
        """Return the mean of both losses and the gradient of their sum, for observations with actions (N, nc + m)."""

        def of(critic: Network) -> tuple[float, Array]:
            value, kept = critic.forward(seen)
            error = value[:, 0] - target
            return float(np.square(error).mean()) / 2, flat(critic.backward(kept, error[:, None] / len(error)))

        (one, by_one), (two, by_two) = self.side_by_side(of, self.critics)
        return (one + two) / 2, np.concatenate([by_one, by_two])

    # -- the actor

    def draw(self, x: Array) -> Drawn:
        """Draw actions for normalised observations (N, n).

        log p(a) = sum -e^2/2 - log_std - log(2 pi)/2 - log(1 - a^2),   log(1 - tanh(u)^2) = 2 (log 2 - u - log(1 +
                                                                        exp(-2 u)))
        """
        out, kept = self.actor.forward(x)
        m = out.shape[1] // 2
        least, s = self.settings.least_noise, np.tanh(out[:, m:])
        reach = (LOUDEST - least) / 2
        log_std = np.asarray(least + reach * (s + 1), x.dtype)
        deviation = np.exp(log_std)
        e = self.rng.standard_normal((len(x), m), np.float32).astype(x.dtype, copy=False)
        u = out[:, :m] + deviation * e
        # symmetric in u; |u| avoids an overflow
        size = np.abs(u)
        narrowing = 2 * (math.log(2) - size - np.log1p(np.exp(-2 * size)))
        log_prob = (-0.5 * e * e - log_std - 0.5 * math.log(2 * math.pi) - narrowing).sum(1)
        return Drawn(np.tanh(u), log_prob, e, deviation, log_std, reach * (1 - s * s), kept)

    def by_actor(self, drawn: Drawn, xc: Array) -> tuple[float, Array]:
        """Return the actor's loss and its gradient.

        dL/du = (alpha 2 a - dQ/da (1 - a^2)) / N,   dL/dmean = dL/du,   dL/dlog_std = dL/du deviation e - alpha / N
        """
        a, N, alpha = drawn.action, len(xc), self.alpha
        seen = np.concatenate([xc, a], 1)
        (one, kept_one), (two, kept_two) = self.side_by_side(lambda q: q.forward(seen), self.critics)
        first = one <= two
        lower = [(self.critics[0], kept_one, first), (self.critics[1], kept_two, ~first)]
        one_by, two_by = self.side_by_side(lambda q: q[0].by_input(q[1], q[2].astype(a.dtype)), lower)
        by_action = (one_by + two_by)[:, -a.shape[1] :]
        by_u = (2 * alpha * a - by_action * (1 - a * a)) / N
        by_log_std = by_u * drawn.deviation * drawn.noise - alpha / N
        by_out = np.concatenate([by_u, by_log_std * drawn.slope], 1).astype(a.dtype, copy=False)
        loss = float((alpha * drawn.log_prob - np.minimum(one, two)[:, 0]).mean())
        return loss, flat(self.actor.backward(drawn.kept, by_out))

    # -- checkpoints

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        numbers, arrays = super().state()
        numbers["memory"], rows = self.memory.state()
        arrays.update({f"memory/{name}": x for name, x in rows.items()})
        return numbers, {**arrays, "followers": self.followers.copy(), "log_std": self.log_std.copy()}

    def restore(self, numbers: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        super().restore(numbers, arrays)
        self.memory.restore(numbers["memory"], {name: arrays[f"memory/{name}"] for name in self.memory.arrays})
        into(self.followers, arrays["followers"], "followers")
        into(self.log_std, arrays["log_std"], "log_std")

    @property
    def adams(self) -> list[tuple[str, Adam]]:
        return [*super().adams, ("temperature", self.temperature)]
