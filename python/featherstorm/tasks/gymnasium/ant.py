"""Ant-v5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .base import Range, Walking, clipped, square

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State


@dataclass(eq=False, repr=False, kw_only=True)
class Ant(Walking):
    """Four legs under a sphere: Ant-v5.

    observation  (105): q without the position (13), v (14) [m, rad, m/s, rad/s], contact forces on each body (13 x 6),
                 clipped to contact_force_range: moment about the centre of mass and force [N m, N], world axes
                 (mjData.cfrc_ext)
    reward       forward_reward_weight vx - ctrl_cost_weight |a|^2 - contact_cost_weight |contact forces|^2, plus
                 healthy_reward; vx is that of main_body, given by number or name
    ends         when unhealthy: height outside healthy_z_range
    """

    xml_file: str = "ant.xml"
    frame_skip: int = 5
    ctrl_cost_weight: float = 0.5
    contact_cost_weight: float = 5e-4
    main_body: int | str = 1
    healthy_z_range: Range = (0.2, 1.0)
    contact_force_range: Range = (-1.0, 1.0)
    include_cfrc_ext_in_observation: bool = True

    axes, normal = 2, True

    def place(self, x: State) -> Any:
        return x.left("xpos")[self.compiled.body(self.main_body).id, :2]

    def is_healthy(self, x: State) -> Any:
        low, high = self.healthy_z_range
        return np.logical_and(x.q[2] >= low, x.q[2] <= high)

    def contact_forces(self, x: State) -> Any:
        return clipped(x.left("cfrc_ext"), self.contact_force_range)

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {
            **super().reward(x, a, m),
            "reward_contact": -self.contact_cost_weight * square(self.contact_forces(x)),
            "reward_survive": self.survival(x),
        }

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        forces = [self.contact_forces(x)[1:]] if self.include_cfrc_ext_in_observation else []
        return [*super().observe(x, m, rng), *forces]
