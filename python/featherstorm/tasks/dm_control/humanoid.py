"""A humanoid with 21 joints."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .suite import SuiteTask, joint_positions, unit, untouched
from .tolerance import tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State

STAND = 1.4  # height of the head [m]
JOINTS = slice(7, None)  # of q, after the free joint
LIMBS = ("left_hand", "left_foot", "right_hand", "right_foot")


class Humanoid(SuiteTask):
    """Stand, walk or run in any direction.

    action       (21,) torques in the file's order, of 20 to 120 N m
    observation  joint_angles [rad]; head_height [m]; extremities: left hand and foot, right hand and foot relative to
                 the torso, in its axes [m]; torso_vertical: z components of the torso's axes, in the world;
                 com_velocity: of the centre of mass [m/s]; velocity: v [m/s, rad/s]
    reward       factors for a head height near 1.4 m, an upright torso and a small action; times a factor for standing
                 still if speed is 0, else times (5 f + 1) / 6, f a factor for the horizontal speed of the centre of
                 mass

    speed        target speed [m/s]; 0 to stand
    starts       number of sets of joint angles; an episode begins with one of them, with equal probability. They are
                 drawn when the task is made, with the suite's distribution: joints uniform in their ranges, without
                 contacts. The orientation of the torso is drawn for each episode; it does not affect contacts, since no
                 part reaches the ground.
    """

    domain, seconds, dt = "humanoid", 25.0, 0.025
    parts: Mapping[str, int] = {
        "joint_angles": 21, "head_height": 1, "extremities": 12, "torso_vertical": 3, "com_velocity": 3, "velocity": 27,
    }  # fmt: skip

    def __init__(self, speed: float, starts: int = 512, **arguments: Any) -> None:
        if int(starts) != starts or starts < 1:
            raise ValueError(f"humanoid: starts is {starts}, expected 1 or more")
        self.speed, self.starts = speed, int(starts)
        super().__init__(**arguments)

    @cached_property
    def first(self) -> npt.NDArray[Any]:
        """Sets of joint angles (starts, nq - 7)."""
        m = self.compiled
        return untouched(m, lambda rng: joint_positions(m, rng), self.starts)[:, JOINTS]

    def reset(self, m: Memory, rng: Draws) -> Any:
        turn = unit(rng.uniform(np.zeros(4), np.ones(4)))
        place = self.compiled.qpos0[:3]
        return np.concatenate([place, turn, rng.choice(self.first)]), np.zeros(self.compiled.nv)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        upright = x.rotation("torso")[2, 2]
        reward = tolerance(x.position("head")[2], (STAND, np.inf), margin=STAND / 4)
        reward = reward * tolerance(upright, (0.9, np.inf), margin=1.9, value_at_margin=0, sigmoid="linear")
        gentle = tolerance(a, margin=1, value_at_margin=0, sigmoid="quadratic").mean()
        reward = (4 + gentle) / 5 * reward
        horizontal = x.sensor("torso_subtreelinvel")[:2]
        if not self.speed:
            return reward * tolerance(horizontal, margin=2).mean()
        speed = np.linalg.norm(horizontal)
        moving = tolerance(speed, (self.speed, np.inf), self.speed, value_at_margin=0, sigmoid="linear")
        return reward * (5 * moving + 1) / 6

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        axes, place = x.rotation("torso"), x.position("torso")
        return {
            "joint_angles": x.q[JOINTS],
            "head_height": x.position("head")[2],
            "extremities": np.concatenate([(x.position(limb) - place) @ axes for limb in LIMBS]),
            "torso_vertical": axes[2],
            "com_velocity": x.sensor("torso_subtreelinvel"),
            "velocity": x.v,
        }
