"""A Go2 that trots at a commanded velocity, by DIAL on a model with four point feet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import loading
from .._robot.contacts import Contact
from .._robot.urdf import UrdfWorld
from ..planning import DIAL
from ..rollout import Rollout
from .plant import Plant

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ..symbols import State, Symbols

    Array = npt.NDArray[np.float64]

LEGS = ("FL", "FR", "RL", "RR")
PHASES = {"FL": 0.0, "RR": 0.0, "FR": 0.5, "RL": 0.5}  # diagonal legs move together
STANCE = np.tile([0.0, 0.8, -1.6], 4)  # hip, thigh, calf [rad]
LOWER, UPPER = np.tile([-0.5, 0.4, -2.3], 4), np.tile([0.5, 1.4, -0.85], 4)  # of the targets [rad]
EFFORT = np.tile([23.7, 23.7, 45.43], 4)  # limits of the motors [N m]
KP, KD = 30.0, 1.0
TEMPERATURE = 0.1  # of DIAL
FOOT = 0.022  # radius [m]
HEIGHT, CADENCE, LIFT, DUTY = 0.30, 2.0, 0.08, 0.55  # of the trunk [m]; steps a second; of a foot [m]; share in stance
WEIGHTS = {
    "velocity": 3.0,
    "turn": 0.3,
    "heading": 0.3,
    "upright": 0.5,
    "sway": 0.002,
    "height": 10.0,
    "posture": 0.02,
    "gait": 0.1,
}
FALLEN = 0.15, 0.5  # lowest trunk [m], least vertical component of its z axis


class Trot:
    """The task: trot at a velocity.

    speed, side    velocity forward and to the left [m/s];  turn  rate about the vertical axis [rad/s]
    samples, iterations, horizon   of the planner; a control step takes 20 ms
    friction       of the planner's feet
    threads        of the planner
    weights        of the terms of the cost, by their names in WEIGHTS; others have these values

    p       (3,) parameters of the cost: speed, side, turn
    """

    dt = 0.02  # time of a control step and period of the plans [s]
    rest = STANCE  # targets before the first plan

    def __init__(
        self,
        speed: float = 0.8,
        side: float = 0.0,
        turn: float = 0.0,
        *,
        samples: int = 256,
        iterations: int = 2,
        horizon: int = 16,
        friction: float = 0.8,
        threads: int = 1,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        weights = dict(weights or {})
        if unknown := set(weights) - set(WEIGHTS):
            raise ValueError(f"Trot: weights have {min(unknown)!r}, expected some of {', '.join(WEIGHTS)}")
        self.weights = {**WEIGHTS, **weights}
        self.p = np.array([speed, side, turn])
        self.samples, self.iterations, self.horizon = samples, iterations, horizon
        feet = [Contact(f"{leg}_foot", radius=FOOT, friction=friction) for leg in LEGS]
        self.model = loading.load("go2", contacts=feet, threads=threads)
        self.rollout = Rollout(self.model, self.dt, self.cost, control=targets, kp=KP, kd=KD)

    def cost(self, x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        """Return the cost of a control step: errors of the velocity, of the trunk's pose, and of the feet's heights."""
        w, R = self.weights, x.rotation("base")
        v, omega, up = x.v[0:3], x.v[3:6], R[2]
        length = np.sqrt(R[0, 0] ** 2 + R[1, 0] ** 2 + 1e-6)
        c, s = R[0, 0] / length, R[1, 0] / length  # of the heading
        forward, side, turn = c * v[0] + s * v[1], c * v[1] - s * v[0], up @ omega
        total = w["velocity"] * ((forward - p[0]) ** 2 + (side - p[1]) ** 2) + w["turn"] * (turn - p[2]) ** 2
        total = total + w["heading"] * np.where(np.absolute(p[2]) < 0.01, s**2, 0.0)  # along x if no turn is commanded
        total = total + w["upright"] * (up[0] ** 2 + up[1] ** 2 + (1 - up[2]) ** 2)
        total = total + w["sway"] * (omega[0] ** 2 + omega[1] ** 2)
        total = total + w["height"] * (x.q[2] - HEIGHT) ** 2 + w["posture"] * np.sum((u - STANCE) ** 2)
        for leg in LEGS:
            error = x.position(f"{leg}_foot")[2] - FOOT - foot_height(t, leg)
            total = total + w["gait"] * (error / 0.05) ** 2
        return total

    def planner(self, seed: int = 0) -> DIAL:
        """Return a planner of targets for the joints, which begins with the stance."""
        planner = DIAL(
            self.rollout, self.horizon, 12, samples=self.samples, iterations=self.iterations,
            sigma=0.5 * (UPPER - LOWER), temperature=TEMPERATURE, lower=LOWER, upper=UPPER, seed=seed,
        )  # fmt: skip
        planner.reset(np.tile(STANCE, (self.horizon, 1)))
        return planner

    def plant(self, seed: int = 0, mass: float = 1.0, friction: float | None = None) -> Plant:
        """Return the robot, on its feet: all of its collision elements, elliptic friction cones, steps of 2 ms."""
        world = loading.load("go2", world=UrdfWorld(ground=True, motors=True, timestep=0.002)).compiled
        assert world is not None
        world.opt.cone, world.opt.impratio = 1, 100.0
        plant = Plant(world, KP, KD, EFFORT, mass, friction)
        joints = STANCE + np.random.default_rng(seed).uniform(-0.05, 0.05, 12)
        plant.reset(np.concatenate([[0, 0, HEIGHT + 0.02, 1, 0, 0, 0], joints]))
        return plant

    def error(self, plant: Plant) -> float:
        """Return the distance of the velocity in the plane from the commanded one [m/s]."""
        return float(np.hypot(*(plant.heading_velocity[:2] - self.p[:2])))

    def has_fallen(self, plant: Plant) -> bool:
        return not (plant.data.qpos[2] >= FALLEN[0] and plant.upright >= FALLEN[1])


def targets(x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
    """Return no torques, and targets of the joints."""
    return np.zeros(18), np.concatenate([np.zeros(6), u])


def foot_height(t: Symbols, leg: str) -> Any:
    """Return the height of a foot above the ground [m]: half a sine while it swings, 0 in stance."""
    cycle = t * CADENCE + PHASES[leg]
    part = np.clip((cycle - np.floor(cycle) - DUTY) / (1 - DUTY), 0.0, 1.0)
    return LIFT * np.sin(np.pi * part)
