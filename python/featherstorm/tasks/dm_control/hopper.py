"""A one-legged hopper in the plane."""

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

STAND = 0.6  # height of the torso above the foot, of their centres of mass [m]
HOP = 2.0  # speed of reward 1 [m/s]


class Hopper(SuiteTask):
    """Stand, or hop in the direction +x.

    action       (4,) torques of waist, hip, knee, ankle; of 30, 40, 30, 10 N m
    observation  position: q without x [m, rad]; velocity: v [m/s, rad/s]; touch: log(1 + forces [N] at toe and heel)
    reward       1 if the torso is 0.6 to 2 m above the foot, else 0; times a factor for a small action (stand), or for
                 a forward speed of the centre of mass near 2 m/s (hop)

    Forces are those at the beginning of the last substep. In the first observation of an episode they are 0. The suite
    has other values if the foot touches in the drawn pose, which happens in 4 of 1000 episodes.
    """

    domain, dt = "hopper", 0.02
    parts: Mapping[str, int] = {"position": 6, "velocity": 7, "touch": 2}

    def __init__(self, hopping: bool, **arguments: Any) -> None:
        self.hopping = hopping
        super().__init__(**arguments)

    def reset(self, m: Memory, rng: Draws) -> Any:
        return joint_positions(self.compiled, rng), np.zeros(self.compiled.nv)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        centres = x.field("xipos")
        height = centres[self.number("body", "torso"), 2] - centres[self.number("body", "foot"), 2]
        standing = tolerance(height, (STAND, 2))
        if self.hopping:
            forward = x.sensor("torso_subtreelinvel")[0]
            return standing * tolerance(forward, (HOP, np.inf), HOP / 2, value_at_margin=0.5, sigmoid="linear")
        gentle = tolerance(a, margin=1, value_at_margin=0, sigmoid="quadratic").mean()
        return standing * (gentle + 4) / 5

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        forces = np.concatenate([x.sensor("touch_toe"), x.sensor("touch_heel")])
        return {"position": x.q[1:], "velocity": x.v, "touch": np.log(1 + forces)}
