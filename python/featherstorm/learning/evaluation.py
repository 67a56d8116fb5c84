"""Evaluation of a policy: whole episodes without exploration, from a separate seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..environment.batch import EnvBatch
    from ..environment.collecting import Collected
    from ..typing import NumpyArray as Array


STRIDE = 100  # control steps in one call
UNLIMITED = 1000  # control steps for a task without a time limit


class Evaluation(NamedTuple):
    """Results of one episode of each environment.

    returns   (B,)
    lengths   (B,) [control steps]
    fell      (B,) True if the episode ended before the time limit
    """

    returns: Array
    lengths: Array
    fell: Array

    @property
    def mean(self) -> float:
        return float(self.returns.mean())


def evaluate(env: EnvBatch, collect: Callable[[int], Collected], seed: int) -> Evaluation:
    """Evaluate the first episodes of a batch after a reset with a seed; collect(steps) runs control steps in it."""
    env.reset(seed=seed)
    B, limit = env.num_envs, env.task.steps or UNLIMITED
    returns, lengths, fell, going, at = np.zeros(B), np.zeros(B, int), np.zeros(B, bool), np.ones(B, bool), 0
    while going.any() and at < limit:
        got = collect(min(STRIDE, limit - at))
        for reward, terminated, truncated in zip(got.reward, got.terminated, got.truncated):
            returns += np.where(going, reward, 0)
            lengths += going
            fell |= going & terminated
            going &= ~(terminated | truncated)
            at += 1
    return Evaluation(returns, lengths, fell)


def run_episodes(env: EnvBatch, policy: Callable[[Any], Array], seed: int) -> tuple[Evaluation, dict[str, float]]:
    """Evaluate any policy, a function of observations. Return also the mean sum of each reward term over an episode."""
    obs, _ = env.reset(seed=seed)
    B, limit = env.num_envs, env.task.steps or UNLIMITED
    returns, lengths, fell, going = np.zeros(B), np.zeros(B, int), np.zeros(B, bool), np.ones(B, bool)
    terms = {name: np.zeros(B) for name in env.terms}
    for _ in range(limit):
        obs, reward, terminated, truncated, info = env.step(policy(obs))
        returns += np.where(going, reward, 0)
        for name, x in terms.items():
            x += np.where(going, info["reward_terms"][name], 0)
        lengths += going
        fell |= going & terminated
        going &= ~(terminated | truncated)
        if not going.any():
            break
    return Evaluation(returns, lengths, fell), {name: float(x.mean()) for name, x in terms.items()}
