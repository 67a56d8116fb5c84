"""Humanoid-v5 and HumanoidStandup-v5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .base import GymnasiumTask, Range, Walking, clipped, inside, range_of, square

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws
    from ...environment.memory import Memory
    from ...environment.state import EnvironmentState as State

INFINITE = float("inf")


class Body(GymnasiumTask):
    """First states and observation of both tasks."""

    skipped: int
    included: tuple[bool, bool, bool, bool]
    reset_noise_scale: float

    def reset(self, m: Memory, rng: Draws) -> Any:
        return self.noisy(rng, self.reset_noise_scale)

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        fields = (("cinert", 1), ("cvel", 1), ("qfrc_actuator", 6), ("cfrc_ext", 1))
        more = [x.left(name)[first:] for (name, first), wanted in zip(fields, self.included) if wanted]
        return [x.q[self.skipped :], x.v, *more]

    def tendons(self, x: State) -> dict[str, Any]:
        names = {"tendon_length": "ten_length", "tendon_velocity": "ten_velocity"}
        return {told: x.left(name) for told, name in names.items()} if self.compiled.ntendon else {}

    def contact_cost(self, x: State, weight: float, limits: Range) -> Any:
        return clipped(weight * square(x.left("cfrc_ext")), limits)


class Humanoid(Body, Walking):
    """A walking humanoid: Humanoid-v5.

    observation  (348): q without the position (22), v (23) [m, rad, m/s, rad/s]; of each body but the world, from
                 mjData: cinert (13 x 10), cvel (13 x 6) and cfrc_ext (13 x 6); qfrc_actuator of the joints (17) [N m]
                 precedes cfrc_ext
    reward       forward_reward_weight vx - ctrl_cost_weight |a|^2 - contact_cost_weight |cfrc_ext|^2 clipped to
                 contact_cost_range, plus healthy_reward; vx is that of the centre of mass
    ends         when unhealthy: height outside healthy_z_range
    """

    axes = 2

    def __init__(
        self,
        xml_file: str = "humanoid.xml",
        frame_skip: int = 5,
        forward_reward_weight: float = 1.25,
        ctrl_cost_weight: float = 0.1,
        contact_cost_weight: float = 5e-7,
        contact_cost_range: Range = (-INFINITE, 10.0),
        healthy_reward: float = 5.0,
        terminate_when_unhealthy: bool = True,
        healthy_z_range: Range = (1.0, 2.0),
        reset_noise_scale: float = 1e-2,
        exclude_current_positions_from_observation: bool = True,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
        max_episode_steps: int | None = 1000,
    ) -> None:
        super().__init__(xml_file, frame_skip, max_episode_steps)
        self.forward_reward_weight, self.ctrl_cost_weight = forward_reward_weight, ctrl_cost_weight
        self.contact_cost_weight = contact_cost_weight
        self.contact_cost_range = range_of("contact_cost_range", contact_cost_range)
        self.healthy_reward, self.terminate_when_unhealthy = healthy_reward, terminate_when_unhealthy
        self.healthy_z_range = range_of("healthy_z_range", healthy_z_range)
        self.reset_noise_scale = reset_noise_scale
        self.skipped = 2 if exclude_current_positions_from_observation else 0
        self.included = (
            include_cinert_in_observation,
            include_cvel_in_observation,
            include_qfrc_actuator_in_observation,
            include_cfrc_ext_in_observation,
        )

    def place(self, x: State) -> Any:
        """Return the centre of mass."""
        mass = np.asarray(self.compiled.body_mass)
        return (mass[:, None] * x.left("xipos")).sum(axis=0)[:2] / mass.sum()

    def is_healthy(self, x: State) -> Any:
        return inside((x.q[2], self.healthy_z_range))

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {
            "reward_survive": self.survival(x),
            "reward_forward": self.forward_reward_weight * self.speed(x, m)[0],
            "reward_ctrl": -self.ctrl_cost_weight * square(a),
            "reward_contact": -self.contact_cost(x, self.contact_cost_weight, self.contact_cost_range),
        }

    def metrics(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {**super().metrics(x, a, m), **self.tendons(x)}


class HumanoidStandup(Body):
    """A humanoid that lies and is to stand up: HumanoidStandup-v5.

    observation  (348): as Humanoid's
    reward       z / timestep of the physics - ctrl_cost_weight |a|^2 - impact_cost_weight |cfrc_ext|^2 clipped to
                 impact_cost_range + 1, z the height of the torso [m]. The 1 is a separate term, "reward_constant"
    uph_cost_weight   has no effect, as in Gymnasium
    """

    def __init__(
        self,
        xml_file: str = "humanoidstandup.xml",
        frame_skip: int = 5,
        uph_cost_weight: float = 1,
        ctrl_cost_weight: float = 0.1,
        impact_cost_weight: float = 0.5e-6,
        impact_cost_range: Range = (-INFINITE, 10.0),
        reset_noise_scale: float = 1e-2,
        exclude_current_positions_from_observation: bool = True,
        include_cinert_in_observation: bool = True,
        include_cvel_in_observation: bool = True,
        include_qfrc_actuator_in_observation: bool = True,
        include_cfrc_ext_in_observation: bool = True,
        max_episode_steps: int | None = 1000,
    ) -> None:
        super().__init__(xml_file, frame_skip, max_episode_steps)
        self.uph_cost_weight, self.ctrl_cost_weight = uph_cost_weight, ctrl_cost_weight
        self.impact_cost_weight = impact_cost_weight
        self.impact_cost_range = range_of("impact_cost_range", impact_cost_range)
        self.reset_noise_scale = reset_noise_scale
        self.skipped = 2 if exclude_current_positions_from_observation else 0
        self.included = (
            include_cinert_in_observation,
            include_cvel_in_observation,
            include_qfrc_actuator_in_observation,
            include_cfrc_ext_in_observation,
        )

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {
            "reward_linup": x.q[2] / float(self.compiled.opt.timestep),
            "reward_quadctrl": -self.ctrl_cost_weight * square(a),
            "reward_impact": -self.contact_cost(x, self.impact_cost_weight, self.impact_cost_range),
            "reward_constant": 1.0,
        }

    def metrics(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        place = {"x_position": x.q[0], "y_position": x.q[1], "z_distance_from_origin": x.q[2] - self.first_q[2]}
        return {**place, **self.tendons(x)}
