"""InvertedPendulum-v5 and InvertedDoublePendulum-v5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .base import GymnasiumTask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State


@dataclass(eq=False, repr=False, kw_only=True)
class InvertedPendulum(GymnasiumTask):
    """A cart that balances a pole: InvertedPendulum-v5.

    observation  (4): q, v of cart and pole [m, rad, m/s, rad/s]
    reward       1 while the pole is up
    ends         when |angle of the pole| > 0.2 rad
    """

    xml_file: str = "inverted_pendulum.xml"
    frame_skip: int = 2
    reset_noise_scale: float = 0.01

    def reset(self, m: Memory, rng: Draws) -> Any:
        return self.noisy(rng, self.reset_noise_scale)

    def terminate(self, x: State, m: Memory) -> Any:
        return np.abs(x.q[1]) > 0.2

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {"reward_survive": np.where(self.terminate(x, m), 0.0, 1.0)}

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        return [x.q, x.v]


@dataclass(eq=False, repr=False, kw_only=True)
class InvertedDoublePendulum(GymnasiumTask):
    """A cart that balances two poles: InvertedDoublePendulum-v5.

    observation  (9): position of the cart [m], sines and cosines of the poles' angles, velocities clipped to +-10
                 [m/s, rad/s], force of the rail's ends on the cart clipped to +-10 [N]
    reward       healthy_reward - (0.01 x^2 + (z - 2)^2) - (1e-3 v1^2 + 5e-3 v2^2), with the tip at x, z [m]
    ends         when z <= 1 m; that step has no healthy_reward
    """

    xml_file: str = "inverted_double_pendulum.xml"
    frame_skip: int = 5
    healthy_reward: float = 10.0
    reset_noise_scale: float = 0.1

    def reset(self, m: Memory, rng: Draws) -> Any:
        return self.noisy(rng, self.reset_noise_scale, normal=True)

    def terminate(self, x: State, m: Memory) -> Any:
        return x.left("site_xpos")[0, 2] <= 1.0

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        tip = x.left("site_xpos")[0]
        return {
            "reward_survive": np.where(self.terminate(x, m), 0.0, self.healthy_reward),
            "distance_penalty": -(0.01 * tip[0] ** 2 + (tip[2] - 2.0) ** 2),
            "velocity_penalty": -(1e-3 * x.v[1] ** 2 + 5e-3 * x.v[2] ** 2),
        }

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        angles, force = x.q[1:], x.left("qfrc_constraint")[:1]
        return [x.q[:1], np.sin(angles), np.cos(angles), np.clip(x.v, -10.0, 10.0), np.clip(force, -10.0, 10.0)]
