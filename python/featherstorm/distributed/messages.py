"""Calls of workers, and the numbers that a driver sends to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..learning.ppo import PPO, Chunks


class Call(NamedTuple):
    """A call of all workers.

    shared   arguments that all workers get: pickled, or a reference to them
    own      function of a worker's chunks that returns its own further arguments; None: none
    size     bytes of the shared arguments, pickled
    """

    name: str
    shared: Any
    own: Callable[[Chunks], tuple[Any, ...]] | None
    size: int


def message_of(ppo: PPO) -> dict[str, Any]:
    """Return the numbers of a learner that an iteration on a worker depends on."""
    normalisers = [(x.mean, x.variance) for _, x in ppo.observed]
    return {
        "actor": ppo.actor_adam.numbers, "critic": ppo.critic_adam.numbers, "normalisers": normalisers,
        "steps": ppo.steps, "iterations": ppo.iterations,
    }  # fmt: skip


def receive(ppo: PPO, message: Mapping[str, Any]) -> None:
    """Take over the numbers of `message_of`."""
    ppo.actor_adam.numbers[:] = message["actor"]
    ppo.critic_adam.numbers[:] = message["critic"]
    for (_, x), (mean, variance) in zip(ppo.observed, message["normalisers"]):
        x.mean, x.variance = mean, variance
    ppo.steps, ppo.iterations = message["steps"], message["iterations"]


def size_of(x: Any) -> int:
    """Return the size [bytes] of all arrays in tuples, lists and dicts."""
    if isinstance(x, np.ndarray):
        return x.nbytes
    if isinstance(x, dict):
        return sum(map(size_of, x.values()))
    return sum(map(size_of, x)) if isinstance(x, (tuple, list)) else 0
