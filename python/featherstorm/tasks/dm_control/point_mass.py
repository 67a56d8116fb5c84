"""A point in the plane, driven by two tendons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...loading import from_mujoco
from .starts import joint_positions
from .suite import SuiteTask
from .tolerance import tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State
    from ...model import Model

LEAST_ANGLE = float(np.arccos(0.9))  # smallest angle between the lines of two directions [rad]


class PointMass(SuiteTask):
    """Bring the point to the origin.

    action       (2,) forces along the tendons' directions, of 0.1 N
    observation  position: x and y [m]; velocity: v [m/s]
    reward       product of factors for a point near the target and for a small action
    memory       directions of the two tendons, x and y (with random_gains)

    random_gains  True: directions are drawn for each episode; False: they are x and y
    """

    domain = "point_mass"
    parts: Mapping[str, int] = {"position": 2, "velocity": 2}

    def __init__(self, random_gains: bool, **arguments: Any) -> None:
        self.random_gains = random_gains
        if random_gains:
            self.memory = {"directions": (2, 2)}
            self.actions = 2
            self.actuate = self.along_directions
        super().__init__(**arguments)

    def model(self) -> Model:
        if not self.random_gains:
            return super().model()
        # actions are clipped before they are rotated, so the controls of the actuators must not be clipped
        m = self.compiled.__copy__()
        m.actuator_ctrllimited[:] = False
        return from_mujoco(m, self.domain)

    def reset(self, m: Memory, rng: Draws) -> Any:
        q = joint_positions(self.compiled, rng)
        if self.random_gains:
            # the cosine of the two directions is between -0.9 and 0.9
            angle = rng.uniform(-np.pi, np.pi)
            apart = rng.uniform(LEAST_ANGLE, np.pi - LEAST_ANGLE)
            other = angle + np.where(rng.random() < 0.5, apart, -apart)
            m.directions = np.stack([np.cos(angle), np.sin(angle), np.cos(other), np.sin(other)])
        return q, np.zeros(2)

    def along_directions(self, x: State, a: Any, m: Memory) -> Any:
        """Return controls of the tendons along the axes that are equivalent to tendons along the directions."""
        low, high = self.compiled.actuator_ctrlrange.T
        return np.clip(a, low, high) @ m.directions

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        target = self.compiled.geom("target")
        radius = float(target.size[0])
        distance = np.linalg.norm(target.pos - x.field("geom_xpos")[self.number("geom", "pointmass")])
        gentle = tolerance(a, margin=1, value_at_margin=0, sigmoid="quadratic").mean()
        return tolerance(distance, (-np.inf, radius), margin=radius) * (gentle + 4) / 5

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        return {"position": x.q, "velocity": x.v}
