"""Trots at a commanded velocity, on level ground or up a step, by DIAL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import mujoco
import numpy as np

from .quadruped import LEGS, QuadrupedTask, Robot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..symbols import State, Symbols
    from .task import Plant

PHASES = {"FL": 0.0, "RR": 0.0, "FR": 0.5, "RL": 0.5}  # diagonal legs move together
CADENCE, LIFT, DUTY = 2.0, 0.08, 0.55  # steps a second; height of a step [m]; share of the time in stance
HIP = 0.19  # distance of hips from the middle of the trunk, along it [m]
SINKS = 0.015  # depth to which feet may sink into the robot's ground [m]


class Trot(QuadrupedTask):
    """The task: trot at a velocity. Error: distance of the velocity in the plane from the commanded one.

    speed, side    velocity forward and to the left [m/s];  turn  rate about the vertical axis [rad/s]
    options        of QuadrupedTask; without `samples` there are 256, with the model "file" 128

    p       (3,) parameters of the cost: speed, side, turn
    """

    WEIGHTS: ClassVar[Mapping[str, float]] = {
        "velocity": 3.0, "turn": 0.3, "heading": 0.3, "upright": 0.5, "sway": 0.002, "height": 30.0, "posture": 0.02,
        "gait": 0.1,
    }  # fmt: skip
    models: tuple[str, ...] = ("feet", "file")
    lift = LIFT

    def __init__(
        self,
        speed: float = 0.8,
        side: float = 0.0,
        turn: float = 0.0,
        *,
        robot: str = "go2",
        model: str | None = None,
        samples: int | None = None,
        **options: Any,
    ) -> None:
        model = model or (self.models[0] if robot == "go2" else "file")
        self.p = np.array([speed, side, turn])
        super().__init__(robot, model, samples=samples or (128 if model == "file" else None), **options)

    def cost(self, x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        """Return the cost of a control step: errors of the velocity, of the trunk's pose, and of the feet's heights."""
        w, R = self.weights, x.rotation(self.robot.trunk)
        v, omega, up = x.v[0:3], x.v[3:6], R[2]
        length = np.sqrt(R[0, 0] ** 2 + R[1, 0] ** 2 + 1e-6)
        c, s = R[0, 0] / length, R[1, 0] / length  # of the heading
        forward, side, turn = c * v[0] + s * v[1], c * v[1] - s * v[0], up @ omega
        total = w["velocity"] * ((forward - p[0]) ** 2 + (side - p[1]) ** 2) + w["turn"] * (turn - p[2]) ** 2
        total = total + w["heading"] * np.where(np.absolute(p[2]) < 0.01, s**2, 0.0)  # along x if no turn is commanded
        total = total + w["upright"] * (up[0] ** 2 + up[1] ** 2 + (1 - up[2]) ** 2)
        total = total + w["sway"] * (omega[0] ** 2 + omega[1] ** 2)
        total = total + w["height"] * (x.q[2] - self.robot.height - self.trunk_ground(x.q[0])) ** 2
        total = total + w["posture"] * np.sum((u - self.stance) ** 2)
        for leg in LEGS:
            foot, swing = x.position(f"{leg}_foot"), swing_of(t, leg)
            ground, ahead = self.ground(foot[0]), self.ahead_of(x.q[0] + (HIP if leg[0] == "F" else -HIP))
            error = foot[2] - self.robot.foot - ((1 - swing) * ground + swing * (ahead + self.lift))
            total = total + w["gait"] * (error / 0.05) ** 2
        return total

    def ground(self, x: Any) -> Any:
        """Return the height of the ground at a place, from x along the way [m]."""
        return 0.0

    def ahead_of(self, x: Any) -> Any:
        """Return the height of the ground that a foot swings towards, from x of its hip along the way [m]."""
        return 0.0

    def trunk_ground(self, x: Any) -> Any:
        """Return the height of the ground above which the trunk should be, from x along the way [m]."""
        return 0.0

    def error(self, plant: Plant) -> float:
        assert self.p is not None
        return float(np.hypot(*(plant.heading_velocity[:2] - self.p[:2])))


class Climb(Trot):
    """The task: trot up a step of 8 cm. Success: all feet on it for half a second, within 6 s.

    The edge of the step is 1 m ahead of the trunk. The planner's model has the step.
    """

    seconds, hold = 6.0, 0.5
    models, robots = ("file",), ("go2",)
    pairs = tuple((f"{leg}_{part}", on) for leg in LEGS for part in ("foot", "calf") for on in ("ground", "step"))
    edge, rise = 1.0, 0.08  # [m]
    WEIGHTS: ClassVar[Mapping[str, float]] = {**Trot.WEIGHTS, "height": 10.0}
    ahead = 0.25  # distance of a hip to the edge from which on its foot swings above it [m]

    def __init__(self, speed: float = 0.5, **options: Any) -> None:
        super().__init__(speed, **options)

    def spec(self) -> Any:
        spec = super().spec()
        add_step(spec, "step", self.edge, (4.0, 3.0, self.rise))
        return spec

    def planner_spec(self) -> Any:
        return with_capsules(super().planner_spec())

    def ground(self, x: Any) -> Any:
        return self.ramp(x, 0.02)

    def ahead_of(self, x: Any) -> Any:
        return self.ramp(x + self.ahead, 0.1)

    def trunk_ground(self, x: Any) -> Any:
        return self.ramp(x + 0.3, 0.6)

    def ramp(self, x: Any, length: float) -> Any:
        """Return a height that begins to rise at the edge and reaches the step's after a length [m]."""
        return self.rise * np.clip((x - self.edge) / length, 0.0, 1.0)

    def is_reached(self, plant: Plant) -> bool:
        return stands_above(self.robot, plant, self.edge, self.rise)


def add_step(spec: Any, name: str, edge: float, size: tuple[float, float, float]) -> None:
    """Add a box (length, width, height) [m] that stands on the ground behind x = edge to an MjSpec."""
    length, width, height = size
    spec.worldbody.add_geom(
        name=name, type=mujoco.mjtGeom.mjGEOM_BOX, size=[length / 2, width / 2, height / 2],
        pos=[edge + length / 2, 0, height / 2],
    )  # fmt: skip


def with_capsules(spec: Any) -> Any:
    """Return an MjSpec of a robot, whose calves become capsules: a cylinder takes long beside a box."""
    for leg in LEGS:
        spec.geom(f"{leg}_calf").type = mujoco.mjtGeom.mjGEOM_CAPSULE
    return spec


def stands_above(robot: Robot, plant: Plant, edge: float, height: float) -> bool:
    """Return whether all feet are behind x = edge, at a height or above it [m]."""
    feet = np.array([plant.position(f"{leg}_foot") for leg in LEGS])
    return bool((feet[:, 0] > edge).all() and (feet[:, 2] > height + robot.foot - SINKS).all())


def swing_of(t: Symbols, leg: str) -> Any:
    """Return the height of a foot, in parts of the lift: half a sine while it swings, 0 in stance."""
    cycle = t * CADENCE + PHASES[leg]
    part = np.clip((cycle - np.floor(cycle) - DUTY) / (1 - DUTY), 0.0, 1.0)
    return np.sin(np.pi * part)
