"""Reacher-v5 and Pusher-v5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .base import GymnasiumTask, square

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State

TRIALS = 24  # draws of the object's position; none fits with probability 7e-11


class Arm(GymnasiumTask):
    """A task with distances between bodies."""

    def body(self, x: State, name: str) -> Any:
        """Return the position of a body after mj_step (3) [m]."""
        return x.left("xpos")[self.compiled.body(name).id]

    def distance(self, x: State, a: str, b: str) -> Any:
        return np.linalg.norm(self.body(x, a) - self.body(x, b))


@dataclass(eq=False, repr=False, kw_only=True)
class Reacher(Arm):
    """An arm of two links in a plane, whose tip is to reach a target: Reacher-v5.

    observation  (10): cosines and sines of the two angles, position of the target (2) [m], velocities of the joints (2)
                 [rad/s], tip minus target (2) [m]
    reward       -reward_dist_weight |tip - target| - reward_control_weight |a|^2
    begins       with a target uniform in a circle of radius 0.2 m
    """

    xml_file: str = "reacher.xml"
    frame_skip: int = 2
    reward_dist_weight: float = 1
    reward_control_weight: float = 1
    max_episode_steps: int | None = 50

    def reset(self, m: Memory, rng: Draws) -> Any:
        arm = self.robot.nq - 2
        # Gymnasium draws in a square until a point is in the circle; the distribution is the same
        radius, angle = 0.2 * np.sqrt(rng.random()), rng.uniform(-np.pi, np.pi)
        goal = [radius * np.cos(angle), radius * np.sin(angle)]
        q = [*(self.first_q[:arm] + rng.uniform(-0.1, 0.1, arm)), *goal]
        return q, [*rng.uniform(-0.005, 0.005, arm), 0.0, 0.0]

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {
            "reward_dist": -self.reward_dist_weight * self.distance(x, "fingertip", "target"),
            "reward_ctrl": -self.reward_control_weight * square(a),
        }

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        angles = x.q[:2]
        away = self.body(x, "fingertip") - self.body(x, "target")
        return [np.cos(angles), np.sin(angles), x.q[2:], x.v[:2], away[:2]]


@dataclass(eq=False, repr=False, kw_only=True)
class Pusher(Arm):
    """An arm that pushes an object to a goal: Pusher-v5.

    observation  (23): angles and velocities of the arm (7, 7) [rad, rad/s], positions of its tip, of the object, of the
                 goal (3 each) [m]
    reward       -reward_dist_weight |object - goal| - reward_control_weight |a|^2 - reward_near_weight |object - tip|
    begins       with the object uniform in [-0.3, 0] x [-0.2, 0.2] m about the goal, more than 0.17 m from it
    """

    xml_file: str = "pusher_v5.xml"
    frame_skip: int = 5
    reward_near_weight: float = 0.5
    reward_dist_weight: float = 1
    reward_control_weight: float = 0.1
    max_episode_steps: int | None = 100

    def reset(self, m: Memory, rng: Draws) -> Any:
        arm = self.robot.nq - 4
        tried = np.stack([rng.uniform(-0.3, 0.0, TRIALS), rng.uniform(-0.2, 0.2, TRIALS)], axis=1)
        place = tried[-1]
        for other in tried[-2::-1]:  # keeps the first draw that fits
            place = np.where(np.linalg.norm(other) > 0.17, other, place)
        speed = rng.uniform(-0.005, 0.005, arm)
        return [*self.first_q[:arm], *place, 0.0, 0.0], [*speed, 0.0, 0.0, 0.0, 0.0]

    def reward(self, x: State, a: Any, m: Memory) -> Mapping[str, Any]:
        return {
            "reward_dist": -self.reward_dist_weight * self.distance(x, "object", "goal"),
            "reward_ctrl": -self.reward_control_weight * square(a),
            "reward_near": -self.reward_near_weight * self.distance(x, "object", "tips_arm"),
        }

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        return [x.q[:7], x.v[:7], *(self.body(x, name) for name in ("tips_arm", "object", "goal"))]
