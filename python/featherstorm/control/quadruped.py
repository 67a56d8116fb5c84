"""Quadrupeds: what tasks of the Go2 and the Go1 share, and the task of standing up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import mujoco
import numpy as np

from .. import loading
from .._names import expect
from .._robot.closures import Contact
from .._robot.urdf import UrdfWorld
from ..rollout import Rollout
from ..tasks.velocity_robots import decorate, hinges, links, spec_of
from .task import Plant, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ..model import Model
    from ..symbols import State, Symbols
    from ..typing import Doubles as Array


LEGS = ("FL", "FR", "RL", "RR")
KP, KD = 30.0, 1.0
FALLEN = 0.15, 0.5  # lowest trunk [m], least vertical component of its z axis
BELOW, ABOVE = (0.5, 0.4, 0.7), (0.5, 0.6, 0.75)  # bounds of the targets from the stance [rad]


class Robot(NamedTuple):
    """A quadruped: name of its trunk's frame, angles of a leg that stands (hip, thigh, calf) [rad], height of the trunk
    [m], efforts of the motors of a leg [N m], radius of a foot [m]."""

    trunk: str
    stance: tuple[float, float, float]
    height: float
    effort: tuple[float, float, float]
    foot: float


ROBOTS = {
    "go2": Robot("base", (0.0, 0.8, -1.6), 0.30, (23.7, 23.7, 45.43), 0.022),
    "go1": Robot("trunk", (0.0, 0.9, -1.8), 0.28, (23.7, 23.7, 35.55), 0.023),
}


def bodies(name: str) -> Any:
    """Return an MjSpec of a quadruped with sites at its feet, without ground and motors.

    Errors: FileNotFoundError for the Go1 without the package mjlab, which has its file.
    """
    if name == "go1":
        spec = links("go1")
        for leg in LEGS:
            spec.site(leg).name = f"{leg}_foot"
        return spec
    spec = spec_of(loading.load(name, world=UrdfWorld()).compiled)
    for leg in LEGS:
        foot = spec.geom(f"{leg}_foot")
        foot.parent.add_site(name=foot.name, pos=foot.pos)
    return spec


def add_motors(spec: Any, efforts: npt.ArrayLike, kp: npt.ArrayLike = KP, kd: npt.ArrayLike = KD) -> None:
    """Add a motor to each hinge: torque kp (target - q) - kd v, within its effort."""
    joints = hinges(spec)
    for joint, effort, stiff, damp in zip(joints, *(np.broadcast_to(x, len(joints)) for x in (efforts, kp, kd))):
        motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_position(kp=float(stiff), kv=float(damp))
        motor.forcerange, motor.forcelimited = [-effort, effort], mujoco.mjtLimited.mjLIMITED_TRUE


def compiled(spec: Any, timestep: float, coarse: bool) -> Any:
    """Compile a robot's model. coarse: for a planner, which takes steps of 20 ms under the rigid law."""
    spec.option.timestep = timestep
    if coarse:
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    else:
        spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 100.0
        decorate(spec)
    return spec.compile()


class QuadrupedTask(Task):
    """Base of tasks of quadrupeds, whose controls are targets of twelve joints.

    robot      "go2", or "go1", whose file is in the package mjlab
    model      of the planner: "feet", four point feet on the floor at z = 0, for the Go2 alone; "file", all collision
               elements on the task's ground
    friction   of the planner's model
    threads    of the planner
    """

    bounds: tuple[Array, Array] | None = None  # of the targets of a leg [rad]; None: about the stance
    models: tuple[str, ...] = ("file",)  # of the Go2
    robots: tuple[str, ...] = tuple(ROBOTS)
    pairs: Any = None  # of the model "file" (Rollout)

    def __init__(
        self, robot: str = "go2", model: str = "file", *, friction: float = 0.8, threads: int = 1, **options: Any
    ) -> None:
        super().__init__(**options)
        name = type(self).__name__
        expect(robot in self.robots, f"{name}: robot", repr(robot), f"{' or '.join(self.robots)}")
        models = self.models if robot == "go2" else ("file",)
        expect(model in models, f"{name}: model", repr(model), f"{' or '.join(map(repr, models))} for a {robot}")
        self.name, self.robot = robot, ROBOTS[robot]
        stance, effort = np.array(self.robot.stance), np.array(self.robot.effort)
        lower, upper = self.bounds or (stance - BELOW, stance + ABOVE)
        self.stance, self.effort = np.tile(stance, 4), np.tile(effort, 4)
        self.rest, self.lower, self.upper = self.stance, np.tile(lower, 4), np.tile(upper, 4)
        self.spread = 0.5 * (self.upper - self.lower)
        if model == "feet":
            feet = [Contact(f"{leg}_foot", radius=self.robot.foot, friction=friction) for leg in LEGS]
            self.model: Model = loading.load(robot, contacts=feet, threads=threads)
            self.rollout = Rollout(self.model, self.dt, self.cost, control=targets, kp=KP, kd=KD)
        else:
            spec = self.planner_spec()
            for geom in spec.geoms:
                geom.friction = [friction, 0.005, 0.0001]
            self.model = loading.from_mujoco(compiled(spec, self.dt, coarse=True), robot, threads)
            self.rollout = Rollout(self.model, self.dt, self.cost, law="planning", pairs=self.pairs)

    def spec(self) -> Any:
        """Return an MjSpec of the robot on its ground."""
        spec = bodies(self.name)
        add_motors(spec, self.effort)
        spec.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
        return spec

    def planner_spec(self) -> Any:
        """Return an MjSpec of the planner's model "file"."""
        return self.spec()

    def cost(self, x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no method `cost`")

    def plant(self, seed: int = 0, mass: float = 1.0, friction: float | None = None) -> Plant:
        """Return the robot, on its feet: all of its collision elements, elliptic friction cones, steps of 2 ms."""
        plant = Plant(compiled(self.spec(), 0.002, coarse=False), mass, friction)
        joints = self.stance + np.random.default_rng(seed).uniform(-0.05, 0.05, 12)
        plant.reset(np.concatenate([[0, 0, self.robot.height + 0.02, 1, 0, 0, 0], joints]))
        return plant

    def has_fallen(self, plant: Plant) -> bool:
        return not (plant.data.qpos[2] >= FALLEN[0] and plant.upright >= FALLEN[1])

    def velocity(self, plant: Plant) -> Array:
        return plant.heading_velocity


def targets(x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
    """Return no torques, and targets of the joints."""
    return np.zeros(18), np.concatenate([np.zeros(6), u])


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
