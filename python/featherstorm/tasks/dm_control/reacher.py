"""An arm with two links in the plane."""

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


class Reacher(SuiteTask):
    """Bring the finger to a target, drawn for each episode.

    action       (2,) torques of shoulder and wrist, of 0.05 N m
    observation  position: q [rad]; to_target: from the finger to the target, x and y [m]; velocity: v [rad/s]
    reward       1 if finger and target overlap, else 0
    memory       target: x and y [m]

    radius       of the target [m]
    """

    domain = "reacher"
    parts: Mapping[str, int] = {"position": 2, "to_target": 2, "velocity": 2}
    memory: Mapping[str, Any] = {"target": 2}

    def __init__(self, radius: float, **arguments: Any) -> None:
        self.radius = radius
        super().__init__(**arguments)

    def reset(self, m: Memory, rng: Draws) -> Any:
        angle, distance = rng.uniform(0, 2 * np.pi), rng.uniform(0.05, 0.2)
        m.target = np.stack([distance * np.sin(angle), distance * np.cos(angle)])
        return joint_positions(self.compiled, rng), np.zeros(2)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        reach = self.radius + float(self.compiled.geom("finger").size[0])
        return tolerance(np.linalg.norm(self.to_target(x, m)), (-np.inf, reach))

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        return {"position": x.q, "to_target": self.to_target(x, m), "velocity": x.v}

    def to_target(self, x: State, m: Memory) -> Any:
        return m.target - x.field("geom_xpos")[self.number("geom", "finger"), :2]
