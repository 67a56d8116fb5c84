"""A Panda that pushes a box to a pose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import mujoco
import numpy as np

from .. import loading
from ..rollout import Rollout
from ..tasks.panda import HAND, TCP, PandaPushCube, panda_spec
from ..tasks.velocity_robots import decorate
from .task import Plant, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..symbols import State, Symbols

HALF = 0.04  # half of the box's edge [m]
TIP = 0.012  # radius of the fingertips in the planner's model [m]
HOP = 0.1  # height that they gain on their way to it [m]
LOW = 0.03  # height of the fingertips that push [m]
NEAR = 0.02, np.radians(10.0)  # of a pose that is reached
REACH = 1.2  # of the targets, from the first pose [rad]


class PushBox(Task):
    """The task: push a box of 8 cm to a pose within 2 cm and 10 degrees, within 10 s, where it stays for half a second.

    The box begins 10 to 18 cm in front of its goal, up to 10 cm beside it, turned by up to 40 degrees. The planner's arm has
    one sphere for both closed fingers.

    goal      x, y [m] and yaw [rad] of the box;  threads  of the planner
    """

    seconds, hold = 10.0, 0.5
    samples, horizon = 64, 25
    temperature = 0.05
    WEIGHTS: ClassVar[Mapping[str, float]] = {
        "place": 40.0, "turn": 4.0, "reach": 8.0, "height": 200.0, "down": 2.0, "slow": 25.0, "speed": 0.3,
    }  # fmt: skip

    def __init__(self, goal: tuple[float, float, float] = (0.6, 0.0, 0.0), *, threads: int = 1, **options: Any) -> None:
        super().__init__(**options)
        self.p = np.array(goal)
        self.home = np.array(PandaPushCube.home)
        m = self.world(self.dt / 2, planned=True)
        self.model = loading.from_mujoco(m, threads=threads)
        self.rest, self.spread = self.home, np.full(7, 0.06)
        limits = m.actuator_ctrlrange.T
        self.lower, self.upper = np.maximum(self.home - REACH, limits[0]), np.minimum(self.home + REACH, limits[1])
        self.rollout = Rollout(self.model, self.dt, self.cost, law="planning")

    def world(self, timestep: float, planned: bool = False) -> Any:
        """Return the MjModel of arm and box. planned: with one sphere for the fingers."""
        spec = panda_spec(timestep)
        if planned:
            for geom in [geom for geom in spec.geoms if "finger" in geom.name]:
                spec.delete(geom)
            spec.body(HAND).add_geom(
                name="tip", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[TIP, 0, 0], pos=TCP, mass=0, contype=1, conaffinity=2
            )  # fmt: skip
        box = spec.worldbody.add_body(name="box", pos=[0.5, 0, HALF])
        box.add_freejoint(name="box")
        box.add_geom(name="box", type=mujoco.mjtGeom.mjGEOM_BOX, size=[HALF] * 3, mass=0.3, contype=2, conaffinity=3)
        decorate(spec)
        return spec.compile()

    def cost(self, x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        """Return the cost of a control step: the box's distance from its goal, and the fingers' from where they push."""
        w, box, tip, R = self.weights, x.q[9:12], x.position("tcp"), x.rotation("box")
        left = p[:2] - box[:2]
        far = np.sqrt(left @ left + 1e-6)
        ahead, c, s = left / (far + 0.01), np.cos(p[2]), np.sin(p[2])
        turned = c * R[1, 0] - s * R[0, 0]  # sine of the box's angle beyond the goal's
        total = w["place"] * far + w["turn"] * (1 - (c * R[0, 0] + s * R[1, 0]) + np.sqrt(turned**2 + 1e-4))
        side = np.clip(3 * turned, -1.0, 1.0) * 0.7 * HALF  # a push beside the middle turns the box back
        gap = tip[:2] - box[:2] + (HALF + TIP) * ahead
        off = np.array([gap[0] + side * ahead[1], gap[1] - side * ahead[0]])
        away = np.sqrt(off @ off + 1e-4)
        high = LOW + HOP * np.clip(
            ((tip[:2] - box[:2]) @ ahead + HALF) / 0.04, 0.0, 1.0
        )  # above the box unless behind it
        total = (
            total + w["reach"] * away + w["height"] * (tip[2] - high) ** 2 + w["down"] * (1 + x.rotation(HAND)[2, 2])
        )
        total = total + w["slow"] * (x.v[9:11] @ x.v[9:11]) + 0.02 * w["slow"] * x.v[14] ** 2
        return total + w["speed"] * (x.v[:7] @ x.v[:7])

    def plant(self, seed: int = 0, mass: float = 1.0, friction: float | None = None) -> Plant:
        m = self.world(0.002)
        plant, rng, q = Plant(m, mass, friction), np.random.default_rng(seed), np.array(m.qpos0)
        assert self.p is not None
        away, side, yaw = rng.uniform(0.10, 0.18), rng.uniform(-0.1, 0.1), self.p[2] + rng.uniform(-0.7, 0.7)
        q[:7] = self.home
        q[9:] = [self.p[0] - away, self.p[1] + side, HALF, np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]
        plant.reset(q, control=self.home)
        return plant

    def off(self, plant: Plant) -> tuple[float, float]:
        """Return the distance of the box from its goal [m], and its angle [rad]."""
        assert self.p is not None
        x, y, _, w, i, j, k = plant.data.qpos[9:16]
        yaw = np.arctan2(2 * (w * k + i * j), 1 - 2 * (j * j + k * k)) - self.p[2]
        return float(np.hypot(x - self.p[0], y - self.p[1])), float(abs(np.angle(np.exp(1j * yaw))))

    def is_reached(self, plant: Plant) -> bool:
        return bool(np.all(np.less(self.off(plant), NEAR)))
