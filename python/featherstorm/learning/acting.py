"""Actions of a policy under training, within EnvBatch.collect, and the normalisation of its observations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..environment.collecting import Collected, mlp, normal_action

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..environment.batch import EnvBatch
    from ..typing import NumpyArray as Array
    from .network import Network


LIMIT = 10.0  # bound of normalised numbers
FLOOR = 1e-8  # added to the variance; prevents a division by 0 for constant numbers


def rate_of(variance: Array) -> Array:
    """Return 1 / sqrt(variance + FLOOR), float32."""
    return (1 / np.sqrt(np.asarray(variance, float) + FLOOR)).astype(np.float32)


def normalised(x: Array, mean: Array, rate: Array) -> Array:
    """Return clip((x - mean) rate, -LIMIT, LIMIT), float32, for any x (..., n)."""
    y = np.subtract(x, mean, dtype=np.float32)
    y *= rate
    return np.clip(y, -LIMIT, LIMIT, out=y)


class Moments(NamedTuple):
    """Number, mean and variance (n,) of some rows, in float64."""

    rows: int
    mean: Array
    variance: Array


def moments_of(x: Array) -> Moments:
    """Return the moments of rows x (B, n)."""
    mean = x.mean(0, dtype=float)
    return Moments(len(x), mean, np.square(x - mean).mean(0))


class Normaliser:
    """Mean and variance of all rows so far, in float64.

    mean, variance   (n,); 0 and 1 without rows
    count            number of rows
    """

    def __init__(self, n: int) -> None:
        self.mean, self.variance, self.count = np.zeros(n), np.ones(n), 0.0

    def update(self, x: Array) -> None:
        """Add rows (B, n)."""
        self.add(moments_of(x))

    def add(self, moments: Moments) -> None:
        """Add rows by their moments: means and variances of two sets are combined (Chan, Golub, LeVeque)."""
        n, mean, variance = moments
        total = self.count + n
        change = mean - self.mean
        self.variance = (self.variance * self.count + variance * n + change**2 * (self.count * n / total)) / total
        self.mean = self.mean + change * (n / total)
        self.count = total

    def __call__(self, x: Array) -> Array:
        return normalised(x, self.mean.astype(np.float32), rate_of(self.variance))

    def slope(self, y: Array) -> Array:
        """Return dy/dx (..., n) at the output y; it is 0 where y is at a limit."""
        return rate_of(self.variance) * (np.abs(y) < LIMIT)


class InUnits(NamedTuple):
    """Arguments of a Policy, in the task's units; see Policy."""

    weights: list[Array]
    log_std: Array
    low: Array
    high: Array
    squash: bool


class Actor:
    """Gaussian actions about a network's mean, in half ranges about the middle of the range.

    The task gets actions clipped to the range.

        u = network(clip((obs - mean) rate, -10, 10)) + noise exp(log_std) z,   action = clip(middle + half u, low,
                                                                                high)

    low, high   range of the task's actions; if one side is infinite, middle is 0 and half is 1
    """

    def __init__(self, env: EnvBatch, group: str, layers: int, activation: str) -> None:
        r = env.recording
        self.group, self.layers, self.activation = group, layers, activation
        self.low, self.high = r.low, r.high
        bounded = np.isfinite(r.low) & np.isfinite(r.high)
        low, high = (np.where(bounded, x, side) for x, side in ((r.low, -1.0), (r.high, 1.0)))
        self.middle, self.half = (low + high) / 2, (high - low) / 2

    def __call__(self, obs: Any, w: Any, rng: Any) -> dict[str, Any]:
        """Return the outputs that collect records: "action" for the task, "chosen" u and its "log_prob"."""
        obs = obs[self.group] if hasattr(obs, "keys") else obs
        mean = mlp(obs, w, "pi", self.layers, self.activation, normaliser="obs", clip=LIMIT)
        found = normal_action(mean, w.log_std, rng)
        u = found["mean"] + w.noise[0] * (found["action"] - found["mean"])
        return {"action": self.held(u), "chosen": u, "log_prob": found["log_prob"]}

    def held(self, u: Any) -> Any:
        """Return the action for the task, clipped to its range."""
        return np.minimum(np.maximum(self.middle + self.half * u, self.low), self.high)

    def in_units(self, weights: Sequence[Array], log_std: Array) -> InUnits:
        *first, W, b = weights
        weights = [*first, W * self.half[:, None], self.middle + self.half * b]
        return InUnits(weights, log_std + np.log(self.half), self.low, self.high, False)

    def collect(
        self,
        env: EnvBatch,
        steps: int,
        network: Network,
        log_std: Any,
        seen: Normaliser,
        noise: bool,
        finals: bool,
        keep: bool = False,
    ) -> Collected:
        """Run `steps` control steps under the present network; without `noise`, with its mean action."""
        weights = {
            "obs_mean": seen.mean,
            "obs_rate": rate_of(seen.variance),
            "log_std": log_std,
            "noise": [float(noise)],
        }
        for k, x in enumerate(network.weights):
            weights[f"pi_{'Wb'[k % 2]}{k // 2}"] = x
        return env.collect(steps, self, weights, finals, keep)


class SquashedActor(Actor):
    """An Actor whose actions never leave their range, and whose standard deviation is an output of the network.

        mean, s = network(...),   log_std = least + (most - least) (tanh(s) + 1) / 2
        a = tanh(mean + noise exp(log_std) z),   action = middle + half a, clipped to the range because of rounding

    If a side of the range is infinite, actions are from -1 to 1.
    """

    def __init__(self, env: EnvBatch, group: str, layers: int, activation: str, least: float, most: float) -> None:
        super().__init__(env, group, layers, activation)
        self.least, self.reach = least, (most - least) / 2

    def __call__(self, obs: Any, w: Any, rng: Any) -> dict[str, Any]:
        """Return the outputs that collect records: "action" for the task, and "chosen" a."""
        obs = obs[self.group] if hasattr(obs, "keys") else obs
        out = mlp(obs, w, "pi", self.layers, self.activation, normaliser="obs", clip=LIMIT)
        m = len(self.half)
        deviation = np.exp(self.least + self.reach * (np.tanh(out[m:]) + 1.0))
        a = np.tanh(out[:m] + w.noise[0] * deviation * rng.normal(size=m))
        return {"action": self.held(a), "chosen": a}

    def in_units(self, weights: Sequence[Array], log_std: Array) -> InUnits:
        *first, W, b = weights
        m = len(self.half)
        low, high = self.middle - self.half, self.middle + self.half
        return InUnits([*first, W[:m], b[:m]], log_std, low, high, True)
