"""Ant-v5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .base import Range, Walking, clipped, range_of, square

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws
    from ...environment.memory import Memory
    from ...environment.state import EnvironmentState as State


class Ant(Walking):
    """Four legs under a sphere: Ant-v5.

    observation  (105): q without the position (13), v (14) [m, rad, m/s, rad/s], contact forces on each body (13 x 6),
                 clipped to contact_force_range: moment about the centre of mass and force [N m, N], world axes
                 (mjData.cfrc_ext)
    reward       forward_reward_weight vx - ctrl_cost_weight |a|^2 - contact_cost_weight |contact forces|^2, plus
                 healthy_reward; vx is that of main_body, given by number or name
    ends         when unhealthy: height outside healthy_z_range
    """

    axes = 2

    def __init__(
        self,
        xml_file: str = "ant.xml",
        frame_skip: int = 5,
        forward_reward_weight: float = 1,
        ctrl_cost_weight: float = 0.5,
        contact_cost_weight: float = 5e-4,
        healthy_reward: float = 1.0,
        main_body: int | str = 1,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Range = (0.2, 1.0),
        contact_force_range: Range = (-1.0, 1.0),
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
        max_episode_steps: int | None = 1000,
    ) -> None:
        super().__init__(xml_file, frame_skip, max_episode_steps)
        self.forward_reward_weight, self.ctrl_cost_weight = forward_reward_weight, ctrl_cost_weight
        self.contact_cost_weight, self.main_body = contact_cost_weight, main_body
        self.healthy_reward, self.terminate_when_unhealthy = healthy_reward, terminate_when_unhealthy
        self.healthy_z_range = range_of("healthy_z_range", healthy_z_range)
        self.contact_force_range = range_of("contact_force_range", contact_force_range)
        self.reset_noise_scale = reset_noise_scale
        self.skipped = 2 if exclude_current_positions_from_observation else 0
        self.include_cfrc_ext_in_observation = include_cfrc_ext_in_observation

    def place(self, x: State) -> Any:
        return x.left("xpos")[self.compiled.body(self.main_body).id, :2]

    def is_healthy(self, x: State) -> Any:
        low, high = self.healthy_z_range
        return np.logical_and(x.q[2] >= low, x.q[2] <= high)

    def contact_forces(self, x: State) -> Any:
        return clipped(x.left("cfrc_ext"), self.contact_force_range)

    def reset(self, m: Memory, rng: Draws) -> Any:
        return self.noisy(rng, self.reset_noise_scale, normal=True)

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {
            "reward_forward": self.forward_reward_weight * self.speed(x, m)[0],
            "reward_ctrl": -self.ctrl_cost_weight * square(a),
            "reward_contact": -self.contact_cost_weight * square(self.contact_forces(x)),
            "reward_survive": self.survival(x),
        }

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        forces = [self.contact_forces(x)[1:]] if self.include_cfrc_ext_in_observation else []
        return [x.q[self.skipped :], x.v, *forces]
