"""A humanoid that stands up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import mujoco
import numpy as np

from .. import loading
from ..rollout import Rollout
from ..tasks.dm_control.suite import suite_file
from ..tasks.velocity_robots import hinges
from .quadruped import add_motors
from .task import Plant, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._world.state import WorldState as State
    from ..symbols import Symbols

STIFF = {20: 40.0, 40: 80.0, 80: 150.0, 120: 200.0}  # of a motor by its effort [N m] -> [N m/rad]
DAMP = 0.05  # damping of a motor, in parts of its stiffness [s]
STANDING = 1.45, 0.9  # heights of the head and of the pelvis that the cost wants [m]
REACHED = 1.3  # lowest head of one that stands [m]
LEAD = 0.3  # time for which the centre of mass is carried on, of which the cost knows the place [s]
BEYOND = 0.2  # targets may exceed the joints' ranges by this [rad]


def humanoid(timestep: float, coarse: bool) -> Any:
    """Return an MjSpec of dm_control's humanoid, with position motors of the file's efforts. coarse: for a planner.

    Errors: FileNotFoundError without the package dm_control, which has its file.
    """
    spec = mujoco.MjSpec.from_file(suite_file("humanoid"))
    spec.option.timestep, spec.option.integrator = timestep, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    for sensor in list(spec.sensors):
        spec.delete(sensor)
    for name, kind in (("com", "SUBTREECOM"), ("com_velocity", "SUBTREELINVEL")):
        sensor = spec.add_sensor(name=name, type=getattr(mujoco.mjtSensor, f"mjSENS_{kind}"))
        sensor.objtype, sensor.objname = mujoco.mjtObj.mjOBJ_BODY, "torso"
    effort = {actuator.name: actuator.gear[0] for actuator in spec.actuators}
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    efforts = np.array([effort[joint.name] for joint in hinges(spec)])
    stiff = np.array([STIFF[round(x)] for x in efforts])
    add_motors(spec, efforts, stiff, DAMP * stiff)
    if not coarse:
        spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 100.0
    return spec


class HumanoidStandUp(Task):
    """The task: stand up, the head above 1.3 m for 1 s, within 10 s. Runs with even seeds begin on the back, others on the belly.

    The robot is dm_control's humanoid, whose 21 motors follow targets of its joints within the file's torques. The
    planner's model has contacts with the floor alone, and takes steps of 20 ms under the rigid law; plans are made every
    40 ms.

    threads   of the planner
    """

    dt, seconds, hold = 0.04, 10.0, 1.0
    samples, horizon, temperature = 128, 20, 0.05
    WEIGHTS: ClassVar[Mapping[str, float]] = {
        "head": 20.0, "pelvis": 40.0, "upright": 0.1, "near": 20.0, "balance": 5.0, "feet": 1.0, "still": 0.2,
        "joints": 0.002, "posture": 0.02,
    }  # fmt: skip

    def __init__(self, *, threads: int = 1, **options: Any) -> None:
        super().__init__(**options)
        m = humanoid(self.dt / 2, coarse=True).compile()
        self.model = loading.from_mujoco(m, "humanoid", threads)
        lower, upper = m.jnt_range[1:].T
        self.rest, self.lower, self.upper = np.zeros(len(lower)), lower - BEYOND, upper + BEYOND
        self.spread = 0.175 * (upper - lower)
        self.rollout = Rollout(self.model, self.dt, self.cost, law="planning", pairs="floor")

    def cost(self, x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        """Return the cost of a control step: head and pelvis high and above the feet, feet low, little motion."""
        w, com, v = self.weights, x.sensor("com"), x.sensor("com_velocity")
        feet = [x.position(f"{side}_foot") for side in ("left", "right")]
        head, pelvis, middle = x.position("head"), x.position("pelvis"), 0.5 * (feet[0] + feet[1])
        away, off = (pelvis - middle)[:2], (com + LEAD * v - middle)[:2]
        total = w["head"] * (STANDING[0] - head[2]) ** 2 + w["pelvis"] * (STANDING[1] - pelvis[2]) ** 2
        total = total + w["upright"] * (1 - x.rotation("torso")[2, 2])
        total = total + w["near"] * (away @ away) + w["balance"] * (off @ off)
        total = total + w["feet"] * (feet[0][2] ** 2 + feet[1][2] ** 2)
        total = total + w["still"] * (v @ v) + w["joints"] * (x.v[6:] @ x.v[6:])
        return total + w["posture"] * (u @ u)

    def plant(self, seed: int = 0, mass: float = 1.0, friction: float | None = None) -> Plant:
        """Return the robot, which lies in any direction, its joints within 0.1 rad of the file's pose."""
        plant = Plant(humanoid(0.002, coarse=False).compile(), mass, friction)
        rng = np.random.default_rng(seed)
        yaw, down = rng.uniform(-np.pi, np.pi) / 2, (-1 if seed % 2 == 0 else 1) * np.pi / 4
        turn = np.zeros(4)
        mujoco.mju_mulQuat(
            turn, np.array([np.cos(yaw), 0, 0, np.sin(yaw)]), np.array([np.cos(down), 0, np.sin(down), 0])
        )
        joints = rng.uniform(-0.1, 0.1, len(self.rest))
        plant.reset(np.concatenate([[0, 0, 0.3], turn, joints]), settle=1.0, control=joints)
        return plant

    def is_reached(self, plant: Plant) -> bool:
        return bool(plant.position("head")[2] > REACHED)
