"""Swimmer-v5, HalfCheetah-v5, Hopper-v5 and Walker2d-v5: robots in a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .base import Range, Travelling, Walking, inside

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State

INFINITE = float("inf")


@dataclass(eq=False, repr=False, kw_only=True)
class Swimmer(Travelling):
    """A chain of three links in a viscous medium: Swimmer-v5.

    observation  (8): q without the position, v [rad, m/s, rad/s]
    reward       forward_reward_weight vx - ctrl_cost_weight |a|^2
    """

    xml_file: str = "swimmer.xml"
    frame_skip: int = 4
    ctrl_cost_weight: float = 1e-4

    axes = 2


@dataclass(eq=False, repr=False, kw_only=True)
class HalfCheetah(Travelling):
    """A running half cheetah: HalfCheetah-v5.

    observation  (17): q without the position, v [m, rad, m/s, rad/s]
    reward       forward_reward_weight vx - ctrl_cost_weight |a|^2
    """

    xml_file: str = "half_cheetah.xml"
    frame_skip: int = 5

    normal = True


@dataclass(eq=False, repr=False, kw_only=True)
class Upright(Walking):
    """Common parts of Hopper and Walker2d.

    observation  q without the position, v clipped to +-10 [m, rad, m/s, rad/s]
    reward       forward_reward_weight vx - ctrl_cost_weight |a|^2, plus healthy_reward
    """

    healthy_angle_range: Range
    frame_skip: int = 4
    ctrl_cost_weight: float = 1e-3
    reset_noise_scale: float = 5e-3

    def is_healthy(self, x: State) -> Any:
        return inside((x.q[1], self.healthy_z_range), (x.q[2], self.healthy_angle_range))

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {**super().reward(x, a, m), "reward_survive": self.survival(x)}

    def metrics(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {**super().metrics(x, a, m), "z_distance_from_origin": x.q[1] - self.first_q[1]}

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        return [x.q[self.skipped :], np.clip(x.v, -10.0, 10.0)]


@dataclass(eq=False, repr=False, kw_only=True)
class Hopper(Upright):
    """A hopping leg: Hopper-v5, with an observation (11).

    ends   when unhealthy: height, angle, or any other number of q and v except the position, outside its range
    """

    xml_file: str = "hopper.xml"
    healthy_state_range: Range = (-100.0, 100.0)
    healthy_z_range: Range = (0.7, INFINITE)
    healthy_angle_range: Range = (-0.2, 0.2)

    def is_healthy(self, x: State) -> Any:
        others = np.concatenate([x.q[2:], x.v])
        return inside(
            (x.q[1], self.healthy_z_range), (x.q[2], self.healthy_angle_range), (others, self.healthy_state_range)
        )


@dataclass(eq=False, repr=False, kw_only=True)
class Walker2d(Upright):
    """Two walking legs in a plane: Walker2d-v5, with an observation (17).

    ends   when unhealthy: height or angle outside its range
    """

    xml_file: str = "walker2d_v5.xml"
    healthy_z_range: Range = (0.8, 2.0)
    healthy_angle_range: Range = (-1.0, 1.0)
