"""Humanoid-v5 and HumanoidStandup-v5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .base import Moving, Range, Walking, clipped, inside, square

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State

INFINITE = float("inf")


@dataclass(eq=False, repr=False, kw_only=True)
class Body(Moving):
    """Arguments and observation of both tasks."""

    frame_skip: int = 5
    reset_noise_scale: float = 1e-2
    include_cinert_in_observation: bool = True
    include_cvel_in_observation: bool = True
    include_qfrc_actuator_in_observation: bool = True
    include_cfrc_ext_in_observation: bool = True

    axes = 2

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        fields = (("cinert", 1), ("cvel", 1), ("qfrc_actuator", 6), ("cfrc_ext", 1))
        more = [x.left(name)[k:] for name, k in fields if getattr(self, f"include_{name}_in_observation")]
        return [x.q[self.skipped :], x.v, *more]

    def tendons(self, x: State) -> dict[str, Any]:
        names = {"tendon_length": "ten_length", "tendon_velocity": "ten_velocity"}
        return {told: x.left(name) for told, name in names.items()} if self.compiled.ntendon else {}

    def contact_cost(self, x: State, weight: float, limits: Range) -> Any:
        return clipped(weight * square(x.left("cfrc_ext")), limits)


@dataclass(eq=False, repr=False, kw_only=True)
class Humanoid(Body, Walking):
    """A walking humanoid: Humanoid-v5.

    observation  (348): q without the position (22), v (23) [m, rad, m/s, rad/s]; of each body but the world, from
                 mjData: cinert (13 x 10), cvel (13 x 6) and cfrc_ext (13 x 6); qfrc_actuator of the joints (17) [N m]
                 precedes cfrc_ext
    reward       forward_reward_weight vx - ctrl_cost_weight |a|^2 - contact_cost_weight |cfrc_ext|^2 clipped to
                 contact_cost_range, plus healthy_reward; vx is that of the centre of mass
    ends         when unhealthy: height outside healthy_z_range
    """

    xml_file: str = "humanoid.xml"
    forward_reward_weight: float = 1.25
    contact_cost_weight: float = 5e-7
    contact_cost_range: Range = (-INFINITE, 10.0)
    healthy_reward: float = 5.0
    healthy_z_range: Range = (1.0, 2.0)

    def place(self, x: State) -> Any:
        """Return the centre of mass."""
        mass = np.asarray(self.compiled.body_mass)
        return (mass[:, None] * x.left("xipos")).sum(axis=0)[:2] / mass.sum()

    def is_healthy(self, x: State) -> Any:
        return inside((x.q[2], self.healthy_z_range))

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {
            "reward_survive": self.survival(x),
            **super().reward(x, a, m),
            "reward_contact": -self.contact_cost(x, self.contact_cost_weight, self.contact_cost_range),
        }

    def metrics(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {**super().metrics(x, a, m), **self.tendons(x)}


@dataclass(eq=False, repr=False, kw_only=True)
class HumanoidStandup(Body):
    """A humanoid that lies and is to stand up: HumanoidStandup-v5.

    observation  (348): as Humanoid's
    reward       z / timestep of the physics - ctrl_cost_weight |a|^2 - impact_cost_weight |cfrc_ext|^2 clipped to
                 impact_cost_range + 1, z the height of the torso [m]. The 1 is a separate term, "reward_constant"
    uph_cost_weight   has no effect, as in Gymnasium
    """

    xml_file: str = "humanoidstandup.xml"
    uph_cost_weight: float = 1
    impact_cost_weight: float = 0.5e-6
    impact_cost_range: Range = (-INFINITE, 10.0)

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
