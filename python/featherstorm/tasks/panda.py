"""The Franka Emika Panda reaches for points, and pushes a cube to a goal.

The robot is the built-in "panda". Motors are those of MuJoCo Menagerie's franka_emika_panda/panda.xml, finger springs
those of Isaac Lab's FRANKA_PANDA_CFG.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import mujoco
from ..environment.env import Env
from ..loading import from_mujoco, load
from .velocity_quadruped import at_random, join, number
from .velocity_robots import FLOOR, Motor, Scenery, drive, hinges, spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..environment.draws import Draws, Memory, Parameters
    from ..environment.state import EnvironmentState as State
    from ..model import Model

MOTORS = (*[Motor(4500, 450, 87, 0.1, 0)] * 2, *[Motor(3500, 350, 87, 0.1, 0)] * 2, *[Motor(2000, 200, 12, 0.1, 0)] * 3)
DAMPING = 1.0  # damping of joints in addition to their motors' [N m s/rad]
HOME = (0.0, -0.569, 0.0, -2.81, 0.0, 3.037, 0.741)  # Isaac Lab's
HAND = "panda_link7"  # the body that carries the hand
TCP = (0.0, 0.0, 0.2104)  # between the fingertips, in the axes of HAND [m]: 0.107 to the flange, 0.1034 from there


@cache
def panda_compiled() -> Any:
    return load("panda", world=True).compiled


def panda_spec(timestep: float) -> Any:
    """Return the arm on a floor, with closed fingers, seven position motors and a site "tcp". Only fingers collide."""
    spec = spec_of(panda_compiled())
    spec.option.timestep, spec.option.integrator = timestep, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    for geom in spec.geoms:
        geom.contype, geom.conaffinity = 1, 2
    for joint, motor in zip(hinges(spec), MOTORS):
        drive(spec, joint, motor, damping=DAMPING)
    for side in ("left", "right"):
        finger = spec.joint(f"panda_finger_joint{1 + (side == 'right')}")
        finger.stiffness, finger.damping, finger.armature = [2000.0, 0, 0], [100.0, 0, 0], 0.1
    spec.body(HAND).add_site(name="tcp", pos=TCP)
    spec.worldbody.add_geom(
        name=FLOOR, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.01], contype=2, conaffinity=1, condim=3
    )
    return spec


class PandaReach(Scenery, Env):
    """The arm moves the point between its fingertips to a target, by Isaac Lab's Reach-Franka.

    Source: manager_based/manipulation/reach of Isaac Lab.

    There are 50 control steps a second and 600 in an episode, each of 5 substeps of 4 ms. Actions (7) set the targets
    of the motors: home + 0.5 a [rad].

    observe   (24): joint positions minus home [rad] and joint velocities [rad/s], with uniform noise of 0.01; the
              target in the axes of the base [m]; the last action
    reward    the sum of -0.2 distance [m], 0.1 (1 - tanh(distance / 0.1)), -1e-4 |a - last|^2, -1e-4 |joint
              velocities|^2, times dt
    target    uniform in (0.35 to 0.65, -0.2 to 0.2, 0.15 to 0.5) [m]; a new one every 4 s
    reset     joints at home x 0.5 to 1.5, at rest

    Differences from Isaac Lab:
    - The target has a position but no orientation. It is for the point between the fingertips; Isaac Lab uses the frame
      of the hand, 10.3 cm behind this point.
    - The fingers are closed and not observed.
    - Motors are MuJoCo Menagerie's; Isaac Lab has 80 N m/rad and 4 N m s/rad.
    - The weights of actions and velocities are constant; Isaac Lab changes them to -0.005 and -0.001 after 4500 steps.
    - The control rate is 50 Hz instead of 30 Hz.
    """

    dt, steps = 0.02, 600
    reward_scale: float = 0.02
    actions = 7
    memory: Mapping[str, Any] = {"target": 3, "age": 1, "last": 7}
    timestep = 0.004
    noise = 0.01
    low, high = (0.35, -0.2, 0.15), (0.65, 0.2, 0.5)
    patience = 200
    """Control steps between targets."""

    def spec(self, drawn: bool = False) -> Any:
        return panda_spec(self.timestep)

    def model(self) -> Model:
        m = self.scene()
        self.home = np.array(HOME)
        self.start = np.array(m.qpos0)
        self.start[:7] = self.home
        return from_mujoco(m, type(self).__name__)

    def next_target(self, rng: Draws) -> Any:
        return rng.uniform(np.array(self.low), np.array(self.high))

    def reset(self, m: Memory, rng: Draws) -> tuple[Any, Any]:
        m.target = self.next_target(rng)
        joints = self.home * rng.uniform(0.5, 1.5, 7)
        return join(joints, self.start[7:]), np.zeros(len(self.start))

    def actuate(self, x: State, a: Any, m: Memory) -> Any:
        return self.home + 0.5 * a

    def away(self, x: State, m: Memory) -> Any:
        """Return the distance from the fingertips to the target [m]."""
        return np.sqrt(((x.site("tcp") - m.target) ** 2).sum())

    def reward(self, x: State, a: Any, m: Memory) -> dict[str, Any]:
        away = self.away(x, m)
        return {
            "distance": -0.2 * away,
            "near": 0.1 * (1 - np.tanh(away / 0.1)),
            "action_rate": -1e-4 * ((a - m.last) ** 2).sum(),
            "joint_velocity": -1e-4 * (x.v[:7] ** 2).sum(),
        }

    def metrics(self, x: State, a: Any, m: Memory) -> dict[str, Any]:
        return {"distance": self.away(x, m)}

    def after(self, x: State, a: Any, m: Memory, rng: Draws) -> None:
        due = m.age + 1.0 >= self.patience
        m.target = np.where(due, self.next_target(rng), m.target)
        m.age, m.last = np.where(due, 0.0, m.age + 1.0), a

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        seen = join(x.q[:7] - self.home, x.v[:7])
        if self.noise:
            seen = seen + rng.uniform(-self.noise, self.noise, 14)
        return join(seen, m.target, m.last)


class PandaPushCube(Scenery, Env):
    """The arm pushes a cube of 4 cm along the floor into a circle of 10 cm.

    Rewards are those of ManiSkill's PushCube-v1.

    There are 50 control steps a second and 200 in an episode, each of 5 substeps of 4 ms. Actions (7) move the motors'
    targets by up to 0.04 rad a step.

    observe   (36): joint positions and velocities; positions of the fingertips and of the cube, goal minus cube [m];
              velocity [m/s] and angular velocity [rad/s] of the cube; motor targets minus joint positions [rad]; 1 if
              the cube is at the goal
    reward    (1 - tanh(5 d)) / 3, d the distance from the fingertips to 2.5 cm behind the cube; if d < 1 cm, plus
              (1 - tanh(5 D)) / 3, D the distance of the cube from the goal along the floor; instead 1 if the cube
              is at the goal: D < 10 cm, and it lies on the floor
    reset     the cube within 10 cm of (0.615, 0) along each axis, at a random yaw; the goal 20 cm further
    randomise the cube's friction 0.5 to 1.2, its mass 0.7 to 1.3 times 64 g

    Differences from ManiSkill:
    - The cube has a random yaw, friction and mass.
    - The arm begins behind the cube; in ManiSkill it begins above the cube.
    - Episodes have 200 steps at 50 Hz; ManiSkill has 50 at 20 Hz with up to 0.1 rad, which gives the same speed.
    - Motors are MuJoCo Menagerie's; ManiSkill has 1000 N m/rad and 100 N m s/rad.
    - Velocities are observed; orientations of the fingertips and of the cube are not.
    """

    dt, steps = 0.02, 200
    actions = 7
    memory: Mapping[str, Any] = {"goal": 2, "aim": 7}
    parameters = ("geom_friction", "body_mass")
    timestep = 0.004
    half = 0.02
    """Half of the cube's edge [m]."""
    goal_radius = 0.1
    middle = (0.615, 0.0)
    """Centre of the cube's initial region, from the arm's base [m]."""
    home = (0.0, 0.226, 0.0, -2.894, 0.0, 3.12, 0.785)  # the fingers are at (0.33, 0, 0.03) and point down

    def spec(self, drawn: bool = False) -> Any:
        spec = panda_spec(self.timestep)
        cube = spec.worldbody.add_body(name="cube", pos=[*self.middle, self.half])
        cube.add_freejoint(name="cube")
        cube.add_geom(
            name="cube", type=mujoco.mjtGeom.mjGEOM_BOX, size=[self.half] * 3, mass=0.064, contype=2, conaffinity=3, condim=3,
            priority=1,
        )  # fmt: skip
        return spec

    def model(self) -> Model:
        m = self.scene()
        self.cube_geom, self.cube_body = m.geom("cube").id, m.body("cube").id
        self.limits = np.array(m.jnt_range[:7]).T
        self.start = np.array(m.qpos0)
        self.start[:7] = self.home
        self.at = int(m.jnt_qposadr[m.joint("cube").id])  # index of the cube in q
        self.moves = int(m.jnt_dofadr[m.joint("cube").id])  # index of the cube in v
        return from_mujoco(m, type(self).__name__)

    def randomise(self, rng: Draws, p: Parameters) -> dict[str, Any]:
        friction, mass = at_random(p.geom_friction), at_random(p.body_mass)
        friction[self.cube_geom, 0] = number(rng.uniform(0.5, 1.2))
        mass[self.cube_body] *= number(rng.uniform(0.7, 1.3))
        return {"geom_friction": friction, "body_mass": mass}

    def reset(self, m: Memory, rng: Draws) -> tuple[Any, Any]:
        place, turn = np.array(self.middle) + rng.uniform(-0.1, 0.1, 2), rng.uniform(-np.pi, np.pi)
        m.goal, m.aim = place + np.array([0.1 + self.goal_radius, 0.0]), self.start[:7]
        cube = join(place, self.half, np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2))
        return join(self.start[: self.at], cube), np.zeros(self.moves + 6)

    def aimed(self, a: Any, m: Memory) -> Any:
        """Return the motor targets of this step."""
        return np.minimum(np.maximum(m.aim + 0.04 * a, self.limits[0]), self.limits[1])

    def actuate(self, x: State, a: Any, m: Memory) -> Any:
        return self.aimed(a, m)

    def left(self, x: State, m: Memory) -> tuple[Any, Any]:
        """Return the distances of the fingertips from the point where they push, and of the cube from the goal [m]."""
        cube = x.q[self.at : self.at + 3]
        behind = cube - np.array([self.half + 0.005, 0.0, 0.0])
        return (np.sqrt(((x.site("tcp") - behind) ** 2).sum()), np.sqrt(((cube[:2] - m.goal) ** 2).sum()))

    def there(self, x: State, m: Memory) -> Any:
        """Return 1 if the cube is within the goal and on the floor, else 0."""
        near, low = self.left(x, m)[1] < self.goal_radius, x.q[self.at + 2] < self.half + 5e-3
        return np.where(np.logical_and(near, low), 1.0, 0.0)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        reach, push = self.left(x, m)
        found = 1 - np.tanh(5 * reach) + np.where(reach < 0.01, 1 - np.tanh(5 * push), 0.0)
        return np.where(self.there(x, m) > 0, 3.0, found) / 3.0

    def metrics(self, x: State, a: Any, m: Memory) -> dict[str, Any]:
        return {"success": self.there(x, m)}

    def after(self, x: State, a: Any, m: Memory, rng: Draws) -> None:
        m.aim = self.aimed(a, m)

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        cube, tcp = x.q[self.at : self.at + 3], x.site("tcp")
        turned = m.aim - x.q[:7]
        return join(x.q[:7], x.v[:7], tcp, cube, m.goal - cube[:2], x.v[self.moves :], turned, self.there(x, m))


TASKS = {"PandaReach": PandaReach, "PandaPushCube": PandaPushCube}
