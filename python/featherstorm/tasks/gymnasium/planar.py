"""Swimmer-v5, HalfCheetah-v5, Hopper-v5 and Walker2d-v5: robots in a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .base import Range, Travelling, Walking, inside, range_of, square

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws
    from ...environment.memory import Memory
    from ...environment.state import EnvironmentState as State

INFINITE = float("inf")


class Swimmer(Travelling):
    """A chain of three links in a viscous medium: Swimmer-v5.

    observation  (8): q without the position, v [rad, m/s, rad/s]
    reward       forward_reward_weight vx - ctrl_cost_weight |a|^2
    """

    axes = 2

    def __init__(
        self,
        xml_file: str = "swimmer.xml",
        frame_skip: int = 4,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 1e-4,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
        max_episode_steps: int | None = 1000,
    ) -> None:
        super().__init__(xml_file, frame_skip, max_episode_steps)
        self.forward_reward_weight, self.ctrl_cost_weight = forward_reward_weight, ctrl_cost_weight
        self.reset_noise_scale = reset_noise_scale
        self.skipped = 2 if exclude_current_positions_from_observation else 0

    def reset(self, m: Memory, rng: Draws) -> Any:
        return self.noisy(rng, self.reset_noise_scale)

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {
            "reward_forward": self.forward_reward_weight * self.speed(x, m)[0],
            "reward_ctrl": -self.ctrl_cost_weight * square(a),
        }

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        return [x.q[self.skipped :], x.v]


class HalfCheetah(Travelling):
    """A running half cheetah: HalfCheetah-v5.

    observation  (17): q without the position, v [m, rad, m/s, rad/s]
    reward       forward_reward_weight vx - ctrl_cost_weight |a|^2
    """

    def __init__(
        self,
        xml_file: str = "half_cheetah.xml",
        frame_skip: int = 5,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 0.1,
        reset_noise_scale: float = 0.1,
        exclude_current_positions_from_observation: bool = True,
        max_episode_steps: int | None = 1000,
    ) -> None:
        super().__init__(xml_file, frame_skip, max_episode_steps)
        self.forward_reward_weight, self.ctrl_cost_weight = forward_reward_weight, ctrl_cost_weight
        self.reset_noise_scale = reset_noise_scale
        self.skipped = 1 if exclude_current_positions_from_observation else 0

    def reset(self, m: Memory, rng: Draws) -> Any:
        return self.noisy(rng, self.reset_noise_scale, normal=True)

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {
            "reward_forward": self.forward_reward_weight * self.speed(x, m)[0],
            "reward_ctrl": -self.ctrl_cost_weight * square(a),
        }

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        return [x.q[self.skipped :], x.v]


class Upright(Walking):
    """Common parts of Hopper and Walker2d.

    observation  q without the position, v clipped to +-10 [m, rad, m/s, rad/s]
    reward       forward_reward_weight vx - ctrl_cost_weight |a|^2, plus healthy_reward
    """

    def __init__(
        self,
        xml_file: str,
        frame_skip: int,
        forward_reward_weight: float,
        ctrl_cost_weight: float,
        healthy_reward: float,
        terminate_when_unhealthy: bool,
        healthy_z_range: Range,
        healthy_angle_range: Range,
        reset_noise_scale: float,
        exclude_current_positions_from_observation: bool,
        max_episode_steps: int | None,
    ) -> None:
        super().__init__(xml_file, frame_skip, max_episode_steps)
        self.forward_reward_weight, self.ctrl_cost_weight = forward_reward_weight, ctrl_cost_weight
        self.healthy_reward, self.terminate_when_unhealthy = healthy_reward, terminate_when_unhealthy
        self.healthy_z_range = range_of("healthy_z_range", healthy_z_range)
        self.healthy_angle_range = range_of("healthy_angle_range", healthy_angle_range)
        self.reset_noise_scale = reset_noise_scale
        self.skipped = 1 if exclude_current_positions_from_observation else 0

    def is_healthy(self, x: State) -> Any:
        return inside((x.q[1], self.healthy_z_range), (x.q[2], self.healthy_angle_range))

    def reset(self, m: Memory, rng: Draws) -> Any:
        return self.noisy(rng, self.reset_noise_scale)

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {
            "reward_forward": self.forward_reward_weight * self.speed(x, m)[0],
            "reward_ctrl": -self.ctrl_cost_weight * square(a),
            "reward_survive": self.survival(x),
        }

    def metrics(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {**super().metrics(x, a, m), "z_distance_from_origin": x.q[1] - self.first_q[1]}

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        return [x.q[self.skipped :], np.clip(x.v, -10.0, 10.0)]


class Hopper(Upright):
    """A hopping leg: Hopper-v5, with an observation (11).

    ends   when unhealthy: height, angle, or any other number of q and v except the position, outside its range
    """

    def __init__(
        self,
        xml_file: str = "hopper.xml",
        frame_skip: int = 4,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 1e-3,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_state_range: Range = (-100.0, 100.0),
        healthy_z_range: Range = (0.7, INFINITE),
        healthy_angle_range: Range = (-0.2, 0.2),
        reset_noise_scale: float = 5e-3,
        exclude_current_positions_from_observation: bool = True,
        max_episode_steps: int | None = 1000,
    ) -> None:
        super().__init__(
            xml_file, frame_skip, forward_reward_weight, ctrl_cost_weight, healthy_reward, terminate_when_unhealthy,
            healthy_z_range, healthy_angle_range, reset_noise_scale, exclude_current_positions_from_observation,
            max_episode_steps,
        )  # fmt: skip
        self.healthy_state_range = range_of("healthy_state_range", healthy_state_range)

    def is_healthy(self, x: State) -> Any:
        others = np.concatenate([x.q[2:], x.v])
        return inside(
            (x.q[1], self.healthy_z_range), (x.q[2], self.healthy_angle_range), (others, self.healthy_state_range)
        )


class Walker2d(Upright):
    """Two walking legs in a plane: Walker2d-v5, with an observation (17).

    ends   when unhealthy: height or angle outside its range
    """

    def __init__(
        self,
        xml_file: str = "walker2d_v5.xml",
        frame_skip: int = 4,
        forward_reward_weight: float = 1.0,
        ctrl_cost_weight: float = 1e-3,
        healthy_reward: float = 1.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Range = (0.8, 2.0),
        healthy_angle_range: Range = (-1.0, 1.0),
        reset_noise_scale: float = 5e-3,
        exclude_current_positions_from_observation: bool = True,
        max_episode_steps: int | None = 1000,
    ) -> None:
        super().__init__(
            xml_file, frame_skip, forward_reward_weight, ctrl_cost_weight, healthy_reward, terminate_when_unhealthy,
            healthy_z_range, healthy_angle_range, reset_noise_scale, exclude_current_positions_from_observation,
            max_episode_steps,
        )  # fmt: skip
