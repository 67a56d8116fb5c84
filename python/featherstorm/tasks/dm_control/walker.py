"""A walker in the plane with two legs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .starts import joint_positions
from .suite import SuiteTask
from .tolerance import tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State

STAND = 1.2  # height of the torso [m]


class Walker(SuiteTask):
    """Stand, walk or run in the direction +x.

    action       (6,) torques of the right, then the left leg: hip, knee, ankle; of 100, 50, 20 N m
    observation  orientations: x components of the x and z axes of each body, in the world; height: of the torso [m];
                 velocity: v [m/s, rad/s]
    reward       3/4 for a torso height above 1.2 m, plus 1/4 (1 + cosine of the torso's lean) / 2; unless speed is 0,
                 times (5 f + 1) / 6, f a factor for the forward speed of the centre of mass

    speed        target speed [m/s]; 0 to stand
    """

    domain, seconds, dt = "walker", 25.0, 0.025
    parts: Mapping[str, int] = {"orientations": 14, "height": 1, "velocity": 9}

    def __init__(self, speed: float, **arguments: Any) -> None:
        self.speed = speed
        super().__init__(**arguments)

    def reset(self, m: Memory, rng: Draws) -> Any:
        return joint_positions(self.compiled, rng), np.zeros(self.compiled.nv)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        standing = tolerance(x.position("torso")[2], (STAND, np.inf), margin=STAND / 2)
        upright = (1 + x.rotation("torso")[2, 2]) / 2
        reward = (3 * standing + upright) / 4
        if self.speed:
            forward = x.sensor("torso_subtreelinvel")[0]
            moving = tolerance(forward, (self.speed, np.inf), self.speed / 2, value_at_margin=0.5, sigmoid="linear")
            reward = reward * (5 * moving + 1) / 6
        return reward

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        axes = x.field("xmat")[1:, [0, 2]]  # rows of xmat are world axes
        return {"orientations": axes, "height": x.position("torso")[2], "velocity": x.v}
