"""A Unitree G1 that stands, steps in place, and walks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import mujoco
import numpy as np

from .. import loading
from ..rollout import Rollout
from ..tasks.velocity_robots import FLOOR, decorate, g1_spec, hinges, solids
from .task import Plant, Run, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from .._world.state import WorldState as State
    from ..symbols import Symbols
    from ..typing import Doubles as Array


SIDES = {"left": 1.0, "right": -1.0}  # and the sign of their y
LEGS = 12  # number of joints of both legs, which are the first ones of the file
# Angles of the joints of a G1 that stands, in the file's order: legs, waist, arms [rad]
LEG = (-0.312, 0.0, 0.0, 0.669, -0.363, 0.0)
STANCE = np.array([*LEG, *LEG, 0, 0, 0, 0.2, 0.2, 0, 0.6, 0, 0, 0, 0.2, -0.2, 0, 0.6, 0, 0, 0])
# By a part of the joint's name: stiffness [N m/rad] and damping [N m s/rad] of the motors. Those of the legs are the
# gains of unitree_rl_gym (deploy/deploy_real/configs/g1.yaml); those of waist and arms are ours.
GAINS = {
    "hip": (100, 2), "knee": (150, 4), "ankle": (40, 2), "waist": (150, 4), "shoulder": (40, 2), "elbow": (40, 2), "wrist": (10, 0.5),
}  # fmt: skip
REACH = np.tile([0.5, 0.25, 0.2, 0.6, 0.4, 0.25], 2)  # largest change of a leg's targets by a plan [rad]
PELVIS, COM = 0.745, 0.67  # heights of the pelvis and of the centre of mass above the ground in the stance [m]
OMEGA = float(np.sqrt(9.81 / COM))  # of the linear inverted pendulum [1/s]
HEAD = np.array([0.0, 0.0, 0.43])  # centre of the head in the axes of the torso (geom head_collision of the file) [m]
FALLEN = 1.1  # lowest head [m]
STRIDE, DUTY = 0.8, 0.6  # time of two steps [s]; share of it that a foot is on the ground
LIFT = 0.08  # height to which a foot swings [m]
BEND = 0.3  # change of the hip's and the ankle's angle at the top of a swing, half of the knee's: lifts a foot by LIFT [rad]
WIDTH = 0.237  # distance of the feet [m]
SAFE = 0.04, 0.08  # distances of the capture point from the feet's middle where a robot that stands begins to step [m]


def g1(timestep: float, coarse: bool) -> Any:
    """Return an MjSpec of the G1 on a floor. coarse: for a planner, whose upper body is rigid, in the stance."""
    spec = g1_spec(timestep, drawn=not coarse)
    spec.option.integrator, spec.option.disableflags = mujoco.mjtIntegrator.mjINT_IMPLICITFAST, 0
    for actuator in spec.actuators:
        stiff, damp = next(gains for part, gains in GAINS.items() if part in actuator.name)
        actuator.set_to_position(kp=stiff)
        spec.joint(actuator.name).damping = [damp, 0, 0]
    for sensor in list(spec.sensors):
        spec.delete(sensor)
    for name, kind in (("com", "SUBTREECOM"), ("com_velocity", "SUBTREELINVEL")):
        sensor = spec.add_sensor(name=name, type=getattr(mujoco.mjtSensor, f"mjSENS_{kind}"))
        sensor.objtype, sensor.objname = mujoco.mjtObj.mjOBJ_BODY, "pelvis"
    if coarse:
        weld(spec)
    else:
        spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 100.0
        for geom in solids(spec):
            geom.group = 0 if geom.name == FLOOR else 3  # meshes are drawn in their place
        decorate(spec)
    return spec


def weld(spec: Any) -> None:
    """Delete the joints of the waist and the arms, whose bodies keep the angles of the stance."""
    joints = hinges(spec)[LEGS:]
    names = {joint.name for joint in joints}
    for actuator in [actuator for actuator in spec.actuators if actuator.name in names]:
        spec.delete(actuator)
    for joint, angle in zip(joints, STANCE[LEGS:]):
        turn = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.array(joint.axis)])
        quat = np.zeros(4)
        mujoco.mju_mulQuat(quat, np.array(joint.parent.quat), turn)
        joint.parent.quat = quat
        spec.delete(joint)


def swing_of(t: Any, side: str) -> Any:
    """Return which part of its swing a foot has done, 0 to 1; 0 or 1 in stance."""
    cycle = t / STRIDE + (0.0 if side == "left" else 0.5)
    return np.clip((cycle - np.floor(cycle) - DUTY) / (1 - DUTY), 0.0, 1.0)


def stepping(t: Any, size: Any) -> list[Any]:
    """Return what a gait adds to the targets of the legs [rad]: hip, knee and ankle bend while a foot swings.

    size   of the steps, 0 to 1
    """
    added: list[Any] = []
    for side in SIDES:
        bend = BEND * size * np.sin(np.pi * swing_of(t, side))
        added += [-bend, 0.0, 0.0, 2 * bend, -bend, 0.0]
    return added


class G1(Plant):
    """A G1 whose arms and waist stay at rest. Controls (12) are targets of the legs, to which the task's gait is added.

    state   of the planner's model: that of the pelvis and the legs
    """

    def __init__(self, task: G1Task, mass: float, friction: float | None) -> None:
        super().__init__(g1(0.002, coarse=False).compile(), mass, friction)
        self.task = task

    @property
    def state(self) -> Array:
        return np.concatenate([self.data.qpos[: 7 + LEGS], self.data.qvel[: 6 + LEGS]])

    @property
    def com_velocity(self) -> Array:
        """(3,) velocity of the centre of mass [m/s]."""
        return np.array(self.data.sensor("com_velocity").data)

    @property
    def off(self) -> float:
        """Distance of the capture point from the middle of the feet, in the plane [m]."""
        middle = 0.5 * sum(self.position(f"{side}_foot") for side in SIDES)
        return float(np.hypot(*(self.data.sensor("com").data + self.com_velocity / OMEGA - middle)[:2]))

    @property
    def head(self) -> float:
        """Height of the head [m]."""
        torso = self.data.body("torso_link")
        return float(torso.xpos[2] + torso.xmat.reshape(3, 3)[2] @ HEAD)

    def step(self, control: npt.ArrayLike) -> None:
        added = np.array(stepping(self.time, self.task.size(self.off)))
        super().step(np.concatenate([control + added, STANCE[LEGS:]]))


class G1Task(Task):
    """Base of tasks of the G1, whose file is in the package mjlab. A fall: the head is below 1.1 m.

    The planner's model has the pelvis, the legs and a rigid upper body, the feet's contacts with the floor alone, and
    steps of 20 ms under the rigid law. Controls are added to a gait, whose feet are lifted by a clock.

    speed     forward, along the world's x [m/s]
    threads   of the planner

    p         (1,) parameter of the cost: speed
    """

    samples, horizon = 64, 20
    WEIGHTS: ClassVar[Mapping[str, float]] = {
        "velocity": 1.0, "place": 10.0, "home": 10.0, "capture": 0.0, "upright": 10.0, "height": 50.0, "heading": 2.5,
        "spin": 0.01, "posture": 0.25, "joints": 0.15, "flat": 2.0, "gait": 500.0,
    }  # fmt: skip

    def __init__(self, speed: float = 0.0, *, threads: int = 1, **options: Any) -> None:
        super().__init__(**options)
        self.p = np.array([speed])
        self.rest, self.spread = STANCE[:LEGS], 0.4 * REACH
        self.lower, self.upper = self.rest - REACH, self.rest + REACH
        self.model = loading.from_mujoco(g1(self.dt, coarse=True).compile(), "g1", threads)
        pairs = [(f"{side}_foot", FLOOR) for side in SIDES]
        self.rollout = Rollout(self.model, self.dt, self.cost, control=self.control, law="planning", pairs=pairs)

    def size(self, off: Any) -> Any:
        """Return the size of the steps, 0 to 1. off: distance of the capture point from the middle of the feet [m]."""
        return 1.0

    def control(self, x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        """Return the targets of the legs: those of the plan and of the gait."""
        return u + np.array(stepping(t, self.size(capture(x)[2])))

    def cost(self, x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        """Return the cost of a control step: velocity and place, posture, and the feet's heights and places.

        The place is the origin, carried on at the commanded speed. A foot lands where the next step of a linear inverted pendulum keeps the velocity (Englsberger et al. 2015,
        "Three-Dimensional Bipedal Walking Control Based on Divergent Component of Motion").
        """
        w, v, (com, point, off) = self.weights, x.sensor("com_velocity"), capture(x)
        total = w["velocity"] * ((v[0] - p[0]) ** 2 + v[1] ** 2)
        total = total + w["home"] * ((com[0] - p[0] * t) ** 2 + com[1] ** 2)
        total = total + w["capture"] * off**2
        R, size, growth = x.rotation("pelvis"), self.size(off), np.exp(OMEGA * STRIDE / 2)
        total = total + w["upright"] * (R[2, 0] ** 2 + R[2, 1] ** 2) + w["height"] * (x.q[2] - PELVIS) ** 2
        total = total + w["heading"] * R[1, 0] ** 2 + w["spin"] * (x.v[3:6] @ x.v[3:6])
        total = total + w["posture"] * np.sum((u - self.rest) ** 2)
        total = total + w["joints"] * np.sum((x.q[7 : 7 + LEGS] - self.rest) ** 2)
        behind, beside = p[0] * STRIDE / 2 / (growth - 1), WIDTH / (growth + 1)
        for side, sign in SIDES.items():
            foot, part, R = x.site(f"{side}_foot"), swing_of(t, side), x.rotation(f"{side}_ankle_roll_link")
            total = total + w["flat"] * (R[2, 0] ** 2 + R[2, 1] ** 2)
            total = total + w["gait"] * (foot[2] - LIFT * size * np.sin(np.pi * part)) ** 2
            near = size * np.where(part < 1.0, part, 0.0)  # the end of the swing counts
            to = foot[:2] - point - np.array([-behind, sign * beside])
            total = total + w["place"] * near**2 * (to @ to)
        return total

    def plant(self, seed: int = 0, mass: float = 1.0, friction: float | None = None) -> G1:
        """Return the robot, in its stance within 0.03 rad: all joints and contacts of g1_spec, steps of 2 ms."""
        plant = G1(self, mass, friction)
        joints = STANCE + np.random.default_rng(seed).uniform(-0.03, 0.03, len(STANCE))
        plant.reset(np.concatenate([[0, 0, 0.76, 1, 0, 0, 0], joints]), control=STANCE)
        return plant

    def has_fallen(self, plant: Plant) -> bool:
        assert isinstance(plant, G1)
        return not plant.head > FALLEN

    def velocity(self, plant: Plant) -> Array:
        """Return the centre of mass's velocity along x and y, the turn rate, the pelvis's place, heights of the feet."""
        assert isinstance(plant, G1)
        feet = [plant.position(f"{side}_foot")[2] for side in SIDES]
        return np.array([*plant.com_velocity[:2], plant.data.qvel[5], *plant.data.qpos[:2], *feet])


def capture(x: State) -> tuple[Any, Any, Any]:
    """Return the centre of mass (3), the capture point (2), and its distance from the middle of the feet [m]."""
    com = x.sensor("com")
    point = com[:2] + x.sensor("com_velocity")[:2] / OMEGA
    away = point - 0.5 * (x.site("left_foot") + x.site("right_foot"))[:2]
    return com, point, np.sqrt(away @ away + 1e-12)


class G1Walk(G1Task):
    """The task: walk forward for 8 s. Error: distance of the velocity of the centre of mass from the commanded one.

    speed   [m/s]
    """

    within = 0.15
    WEIGHTS: ClassVar[Mapping[str, float]] = {**G1Task.WEIGHTS, "velocity": 5.0, "home": 2.5}

    def __init__(self, speed: float = 0.4, **options: Any) -> None:
        super().__init__(speed, **options)

    def error(self, plant: Plant) -> float:
        assert isinstance(plant, G1) and self.p is not None
        return float(np.hypot(plant.com_velocity[0] - self.p[0], plant.com_velocity[1]))


class G1Step(G1Task):
    """The task: step in place for 8 s. Error: distance from the first place [m].

    Success: no fall, never 0.3 m from there, and from 2 s on each foot is lifted by 5 cm in turn, once a stride.
    """

    within, unit = 0.3, "m"
    least = 0.05  # [m]

    def error(self, plant: Plant) -> float:
        return float(np.hypot(*plant.data.qpos[:2]))

    def has_succeeded(self, run: Run) -> bool:
        if run.fell is not None or not len(run.velocities):
            return False
        drift = np.hypot(*run.velocities[:, 3:5].T).max()
        return bool(drift < self.within and in_turn(run.velocities[:, 5:7] > self.least, round(STRIDE / 0.002)))


def in_turn(up: npt.NDArray[np.bool_], stride: int) -> bool:
    """Return whether two feet are up in turn, never both, and each within any stride of so many rows. up (n, 2)."""
    if up.all(axis=1).any():
        return False
    for foot in up.T:
        ends = np.flatnonzero(np.diff(np.concatenate([[1], foot, [1]]).astype(int)))  # ends and begins of its time down
        if (ends[1::2] - ends[::2] > stride).any():
            return False
    first = np.flatnonzero(up.any(axis=1))
    order = np.argmax(up[first], axis=1)
    begun = np.concatenate([[True], (np.diff(order) != 0) | (np.diff(first) > 1)])
    return bool((np.diff(order[begun]) != 0).all())


class G1Stand(G1Task):
    """The task: stand for 10 s, the head above 1.1 m. It steps only while its capture point is away from its feet.

    Error: distance of the pelvis from its first place [m], which has no part in success.
    """

    seconds, within, unit = 10.0, np.inf, "m"
    WEIGHTS: ClassVar[Mapping[str, float]] = {**G1Task.WEIGHTS, "capture": 10.0, "home": 2.5}

    def size(self, off: Any) -> Any:
        return np.clip((off - SAFE[0]) / (SAFE[1] - SAFE[0]), 0.0, 1.0)

    def error(self, plant: Plant) -> float:
        return float(np.hypot(*plant.data.qpos[:2]))
