"""One policy for a Go1 and a Go2: python -m featherstorm.examples.mixed_quadrupeds

Both robots follow a velocity command (QuadrupedJoystick). Their files have the legs in different orders, so the Go2's joints
are given to the policy, and taken from it, in the order of the Go1's. The observations end with one number for each robot,
which tells the policy which one it moves. The Go1's file is that of the package mjlab.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np

import featherstorm as fs
from featherstorm.learning import settings_of
from featherstorm.learning.ppo import PPO
from featherstorm.learning.training import one_thread
from featherstorm.tasks.velocity_quadruped import Go1JoystickFlat, Go2JoystickFlat

ORDER = np.array([3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8])  # joints of the right and the left legs exchanged


class Go2AsGo1(Go2JoystickFlat):
    """The Go2 whose joints are observed and moved in the order FR, FL, RR, RL."""

    def actuate(self, x: Any, a: Any, m: Any) -> Any:
        return super().actuate(x, a[ORDER], m)

    def measured(self, x: Any) -> dict[str, Any]:
        found = super().measured(x)
        return {name: y[ORDER] if name.startswith("joint") else y for name, y in found.items()}


def main(
    envs: int = 512, iterations: int = 400, seed: int = 0, **changes: Any
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the mean reward of a control step of each robot (2,), in the first and in the last tenth of the iterations.

    changes   of the settings of the learner
    """
    settings = dataclasses.replace(settings_of("Go1JoystickFlat"), envs=envs, mirror=False, **changes)
    env = fs.tasks.fleet([(Go1JoystickFlat(), envs // 2), (Go2AsGo1(), envs - envs // 2)], seed, tag=True)
    rewards, start = [], time.perf_counter()
    with one_thread():
        ppo = PPO(env, settings, seed)
        for _ in range(iterations):
            got = ppo.collect()
            rewards.append([got.reward[:, rows].mean() for rows in env.rows])
            ppo.iteration()
    part = max(1, iterations // 10)
    first, last = np.mean(rewards[:part], axis=0), np.mean(rewards[-part:], axis=0)
    text = "; ".join(
        f"{type(batch.task).__name__}: {a:.1e} to {b:.1e}" for batch, a, b in zip(env.batches, first, last)
    )
    print(
        f"{ppo.steps} control steps of training in {time.perf_counter() - start:.0f} s; mean reward of a step, {text}"
    )
    return first, last


if __name__ == "__main__":
    main()
