"""A quadruped that stands up from its belly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .quadruped import QuadrupedTask, compiled
from .task import Plant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..symbols import State, Symbols

FOLDED = (0.0, 1.3, -2.6)  # angles of a leg of a robot that lies [rad]
REACHED = 0.27, 0.95  # lowest trunk [m], least vertical component of its z axis


class StandUp(QuadrupedTask):
    """The task: stand up from the belly within 2 s, and stand for 2 s, the trunk above 0.27 m and upright."""

    seconds, hold = 4.0, 2.0
    robots = ("go2",)
    samples, horizon = 128, 20
    bounds = np.array([-0.5, 0.2, -2.7]), np.array([0.5, 1.8, -0.85])
    WEIGHTS: ClassVar[Mapping[str, float]] = {
        "height": 100.0, "upright": 3.0, "still": 0.05, "joints": 0.05, "posture": 0.02,
    }  # fmt: skip

    def cost(self, x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        """Return the cost of a control step: the trunk's height and tilt, its velocity, and the distance to the stance."""
        w, up = self.weights, x.rotation(self.robot.trunk)[2]
        total = w["height"] * (x.q[2] - self.robot.height) ** 2
        total = total + w["upright"] * (up[0] ** 2 + up[1] ** 2 + (1 - up[2]) ** 2) + w["still"] * (x.v[0:6] @ x.v[0:6])
        total = total + w["joints"] * np.sum((x.q[7:19] - self.stance) ** 2)
        return total + w["posture"] * np.sum((u - self.stance) ** 2)

    def plant(self, seed: int = 0, mass: float = 1.0, friction: float | None = None) -> Plant:
        plant = Plant(compiled(self.spec(), 0.002, coarse=False), mass, friction)
        rng = np.random.default_rng(seed)
        yaw, joints = rng.uniform(-np.pi, np.pi), np.tile(FOLDED, 4) + rng.uniform(-0.05, 0.05, 12)
        root = [0, 0, 0.12, np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]
        plant.reset(np.concatenate([root, joints]), settle=1.0, control=joints)
        return plant

    def is_reached(self, plant: Plant) -> bool:
        return bool(plant.data.qpos[2] > REACHED[0] and plant.upright > REACHED[1])

    def has_fallen(self, plant: Plant) -> bool:
        return not plant.upright > 0.0
