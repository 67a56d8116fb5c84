"""The Unitree Go1 follows a velocity command, by mjlab's definition.

Source: Mjlab-Velocity-Flat-Unitree-Go1 (tasks/velocity, asset_zoo/robots/unitree_go1 of mjlab 1.6.0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import mujoco
from ..environment.mirror import AXIAL, COMMAND, VECTOR, Mirror, joined
from ..loading import from_mujoco
from .velocity_quadruped import VelocityTask, at_random, join, number
from .velocity_robots import FLOOR, LEGS, hinges, links, sense, solids

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..environment.draws import Draws, Memory, Parameters
    from ..environment.state import EnvironmentState as State
    from ..model import Model

ROTOR = 0.000111842  # inertia of a motor's rotor [kg m^2]
# gear ratio and effort [N m] by the last part of a joint's name
GEARS = {"hip": (6, 23.7), "thigh": (6, 23.7), "calf": (9, 35.55)}
WAVE = 10 * 2 * np.pi  # natural frequency of a position motor [rad/s]; its damping ratio is 2
STANCE = {"hip": 0.1, "thigh": 0.9, "calf": -1.8}  # [rad], right legs; left hips have the opposite sign


def motor(joint: str) -> tuple[float, float, float, float]:
    """Return stiffness [N m/rad], damping [N m s/rad], effort [N m] and armature [kg m^2] of a joint's motor.

    J = rotor n^2,   kp = J w^2,   kd = 4 J w
    """
    ratio, effort = GEARS[joint.split("_")[1]]
    inertia = ROTOR * ratio**2
    return inertia * WAVE**2, 4 * inertia * WAVE, effort, inertia


def go1_spec(timestep: float, drawn: bool = False) -> Any:
    """Return the robot with all its shapes on a floor. Feet have condim 6; other contacts have no friction."""
    spec = links("go1", drawn)
    option = spec.option
    option.timestep, option.integrator = timestep, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone, option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10
    for geom in solids(spec):
        foot = "_foot_" in geom.name
        geom.contype, geom.conaffinity, geom.solref = 1, 1, [0.01, 1]
        geom.condim, geom.priority = (6, 1) if foot else (1, 0)
        if foot:
            geom.friction = [1, 5e-3, 5e-4]
    spec.worldbody.add_geom(name=FLOOR, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.01])
    for joint in hinges(spec):
        kp, kd, effort, joint.armature = motor(joint.name)
        actuator = spec.add_actuator(name=joint.name, target=joint.name)
        actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
        actuator.set_to_position(kp=kp, kv=kd)
        actuator.forcerange, actuator.forcelimited = [-effort, effort], mujoco.mjtLimited.mjLIMITED_TRUE
        actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE  # targets beyond the range press on the limit
    sense(spec, "imu_lin_vel", "velocimeter", "imu")
    sense(spec, "imu_ang_vel", "gyro", "imu")
    for leg in LEGS:
        sense(spec, f"{leg}_velocity", "framelinvel", leg)
    return spec


class Go1VelocityFlat(VelocityTask):
    """A quadruped on a plane follows a command (vx, vy [m/s], wz [rad/s], axes of its trunk).

    There are 50 control steps a second and 1000 in an episode, each of 4 substeps of 5 ms. Actions (12), in the model's
    joint order, set the targets of the motors: stance + scale a - bias [rad]. The scale is the angle at which the motor
    has a quarter of its effort. Actions have no range.

    observe   actor (48): linear velocity [m/s] and gyro [rad/s] of the imu, gravity direction in the axes of the trunk;
              joint positions plus bias minus the stance [rad], joint velocities [rad/s]; the action; the command. All
              but the last two have uniform noise.
              critic (72): the same without noise and bias; heights of the feet [m]; air times of the feet [s]; contacts
              of the feet; their forces on the ground, world axes, as sign(f) log(1 + |f|), f in [N]
    reward    the sum of `weights` times the terms, times dt. Terms whose weight is 0 in the definition are omitted
    command   uniform within `stages`, which grow with the number of steps of the environment; renewed after 3 to 8 s.
              One in five commands is forward only, at 0.3 m/s or more. Three in ten turn towards a heading, with wz =
              0.5 times the remaining angle. One in ten is to stand still
    pushes    every 1 to 3 s, a change of the trunk's velocity, uniform within `push_speed`
    ends      when the trunk leans by more than 70 degrees
    reset     the stance at rest, 1 to 5 cm higher, at a random position and yaw
    randomise friction of the feet, centre of mass of the trunk, bias of the joints

    Differences from mjlab:
    - Positions and velocities are those of the state itself. In mjlab's rewards, terminations and pushes they are one
      substep (5 ms) older, and heights of feet in rewards are one step older.
    - Forces in the critic's observation belong to the beginning of the last substep; mjlab's belong to the state.
    - Parameters are drawn for each episode; randomise_at="start" draws them once, as mjlab does. They do not change the
      numbers that MuJoCo derives from the centre of mass, such as body_invweight0.
    - The largest heights of the feet are zero at the beginning of an episode.
    - The solver converges; mjlab's stops after 10 iterations.
    """

    # stand: contact times of the feet [s]; contact: contacts in the last substep; heads, stands: 1 if the command is a
    # heading, is to stand still; left, push: time until the next command, the next push [s]; age: number of steps of
    # the environment
    memory: Mapping[str, Any] = {
        "command": 3, "heading": 1, "heads": 1, "stands": 1, "left": 1, "push": 1, "last": 12, "before": 12, "air": 4, "stand": 4,
        "contact": 4, "peak": 4, "bias": 12, "age": 1,
    }  # fmt: skip
    kept = ("bias", "age")
    actions = 12
    clip = False
    parameters = ("geom_friction", "body_ipos")

    timestep = 0.005
    height = 0.278
    senses = ("imu_lin_vel", "imu_ang_vel", "trunk")
    noises: Mapping[str, float] = {"linvel": 0.5, "gyro": 0.2, "gravity": 0.05, "joint_pos": 0.01, "joint_vel": 1.5}
    stages = ((0, (-1.0, 1.0), (-0.5, 0.5)), (120_000, (-1.5, 2.0), (-0.7, 0.7)), (240_000, (-2.0, 3.0), (-0.7, 0.7)))
    """(steps, range of vx, range of wz): the ranges apply from this number of the environment's steps."""
    sideways = (-1.0, 1.0)
    command_time = (3.0, 8.0)
    forward, heading, standing = 0.2, 0.3, 0.1
    push_time = (1.0, 3.0)
    push_speed = (0.5, 0.5, 0.4, 0.52, 0.52, 0.78)
    """Largest velocity of pushes along each axis of the world: [m/s], [rad/s]."""
    bias_range = 0.015
    lean = np.deg2rad(70.0)
    swing_height = 0.1
    soft_limit = 0.9
    least_command = 0.05
    """Smallest |(vx, vy)| + |wz| at which the robot is to walk."""
    weights: Mapping[str, float] = {
        "track_linear_velocity": 2.0, "track_angular_velocity": 2.0, "upright": 1.0, "pose": 1.0, "dof_pos_limits": -1.0,
        "action_rate_l2": -0.1, "foot_clearance": -2.0, "foot_swing_height": -0.25, "foot_slip": -0.1, "soft_landing": -1e-5,
    }  # fmt: skip

    def spec(self, drawn: bool = False) -> Any:
        return go1_spec(self.timestep, drawn)

    def model(self) -> Model:
        m = self.prepared(np.zeros(12))
        names = [m.joint(j).name for j in range(1, m.njnt)]
        kinds = [name.split("_")[1] for name in names]
        self.pose = np.array(
            [STANCE[kind] * (-1 if kind == "hip" and name[1] == "L" else 1) for name, kind in zip(names, kinds)]
        )
        gains = [motor(name) for name in names]
        self.action_scale = np.array([0.25 * effort / kp for kp, _, effort, _ in gains])
        self.loose = np.array([2.0 if kind == "calf" else 1.0 for kind in kinds])
        self.start[:] = [0, 0, self.height, 1, 0, 0, 0, *self.pose]
        self.feet = [m.geom(f"{leg}_foot_collision").id for leg in LEGS]
        self.radius = float(m.geom_size[self.feet[0], 0])
        self.trunk = m.body("trunk").id
        return from_mujoco(m, type(self).__name__)

    # -- episodes

    def randomise(self, rng: Draws, p: Parameters, m: Memory) -> dict[str, Any]:
        """Draw the parameters of an episode.

        feet     all with the same friction: sliding 0.3 to 1.5, torsional 1e-4 to 2e-2, rolling 1e-5 to 5e-3; the last
                 two are uniform in their logarithm
        trunk    centre of mass +-(0.025, 0.025, 0.03) m
        joints   bias +-0.015 rad
        """
        friction, ipos = at_random(p.geom_friction), at_random(p.body_ipos)
        turning, rolling = (
            np.exp(rng.uniform(np.log(low), np.log(high))) for low, high in ((1e-4, 2e-2), (1e-5, 5e-3))
        )
        friction[self.feet] = [number(x) for x in (rng.uniform(0.3, 1.5), turning, rolling)]
        ipos[self.trunk] += rng.uniform(-1.0, 1.0, 3) * np.array([0.025, 0.025, 0.03])
        m.bias = rng.uniform(-self.bias_range, self.bias_range, 12)
        return {"geom_friction": friction, "body_ipos": ipos}

    def reset(self, m: Memory, rng: Draws) -> tuple[Any, Any]:
        place, above, yaw = rng.uniform(-0.5, 0.5, 2), rng.uniform(0.01, 0.05), rng.uniform(-3.14, 3.14)
        self.draw_command(m, rng, True)
        m.push = rng.uniform(*self.push_time)
        return self.placed(place, self.start[2] + above, yaw, self.start[7:]), np.zeros(18)

    def begin(self, x: State, m: Memory, rng: Draws) -> None:
        self.steer(x, m)

    def speeds(self, m: Memory) -> tuple[Any, Any]:
        """Return the lower and the upper bounds of (vx, vy, wz)."""
        low, high = (np.array([self.stages[0][1][k], self.sideways[k], self.stages[0][2][k]]) for k in (0, 1))
        for since, ahead, turns in self.stages[1:]:
            wide = [np.array([ahead[k], self.sideways[k], turns[k]]) for k in (0, 1)]
            low, high = (np.where(m.age >= since, new, old) for new, old in zip(wide, (low, high)))
        return low, high

    def draw_command(self, m: Memory, rng: Draws, due: Any) -> None:
        """Draw a new command and the time until the next one, where one is due."""
        low, high = self.speeds(m)
        command = low + (high - low) * rng.random(3)
        ahead = [np.maximum(np.abs(command[:1]), 0.3), np.zeros(2)]
        command = np.where(rng.bernoulli(self.forward), join(*ahead), command)
        drawn = {
            "command": command,
            "heading": rng.uniform(-np.pi, np.pi),
            "heads": np.where(rng.bernoulli(self.heading), 1.0, 0.0),
            "stands": np.where(rng.bernoulli(self.standing), 1.0, 0.0),
            "left": rng.uniform(*self.command_time),
        }
        for name, new in drawn.items():
            setattr(m, name, np.where(due, new, getattr(m, name)))

    def steer(self, x: State, m: Memory) -> None:
        """Update the command: wz of a heading, and 0 for standing still.

        wz = 0.5 (heading - yaw), with the angle in -pi to pi, clipped to the range of wz
        """
        ahead, (low, high) = x.rotation("trunk")[:2, 0], self.speeds(m)
        cos, sin = np.cos(m.heading[0]), np.sin(m.heading[0])
        turn = np.arctan2(sin * ahead[0] - cos * ahead[1], cos * ahead[0] + sin * ahead[1])
        rate = np.minimum(np.maximum(0.5 * turn, low[2]), high[2])
        command = join(m.command[:2], np.where(m.heads[0] > 0.5, rate, m.command[2]))
        m.command = np.where(m.stands[0] > 0.5, 0.0, command)

    # -- a control step

    def feet_heights(self, x: State) -> Any:
        """Return the heights of the feet's centres above the ground (4) [m], as measured by downward rays: 0 to 1."""
        return np.minimum(np.maximum(np.stack([x.site(leg)[2] for leg in LEGS]), 0.0), 1.0)

    def feet_touch(self, x: State) -> Any:
        """Return 1 for each foot with a contact with the ground, else 0 (4)."""
        return np.stack([np.where(x.site(leg)[2] < self.radius, 1.0, 0.0) for leg in LEGS])

    def feet_forces(self, x: State) -> Any:
        """Return the forces of the feet on the ground (4, 3) [N], world axes."""
        return np.stack([-x.contact_force(f"{leg}_foot_collision", other=FLOOR) for leg in LEGS])

    def actuate(self, x: State, a: Any, m: Memory) -> Any:
        """Return the motor targets, and update the contact times in each substep."""
        m.contact = self.feet_touch(x)
        m.air, m.stand = (m.air + self.timestep) * (1 - m.contact), (m.stand + self.timestep) * m.contact
        return self.pose + self.action_scale * a - m.bias

    def terminate(self, x: State, m: Memory) -> Any:
        return x.rotation("trunk")[2, 2] < np.cos(self.lean)

    def lands(self, m: Memory) -> Any:
        """Return 1 for each foot that landed within the last step, else 0 (4)."""
        return m.contact * np.where(m.stand < self.dt + 1e-6, 1.0, 0.0)

    def peaks(self, x: State, m: Memory) -> Any:
        """Return the largest heights of the feet since their last landing (4) [m]."""
        return np.where(m.contact > 0.5, m.peak, np.maximum(m.peak, self.feet_heights(x)))

    def terms(self, x: State, a: Any, m: Memory) -> dict[str, Any]:
        """Return the reward terms, without weights."""
        turned, joints = x.rotation("trunk"), x.q[7:]
        linear, angular = turned.T @ x.v[:3], x.v[3:6]
        asked = np.sqrt((m.command[:2] ** 2).sum()) + np.abs(m.command[2])
        walks = np.where(asked > self.least_command, 1.0, 0.0)
        wide = np.where(asked < self.least_command, 0.05, 0.3) * self.loose
        speed2 = np.stack([(x.sensor(f"{leg}_velocity")[:2] ** 2).sum() for leg in LEGS])
        lands, force2 = self.lands(m), (self.feet_forces(x) ** 2).sum(axis=1)
        return {
            "track_linear_velocity": np.exp(-(((m.command[:2] - linear[:2]) ** 2).sum() + linear[2] ** 2) / 0.25),
            "track_angular_velocity": np.exp(-((m.command[2] - angular[2]) ** 2 + (angular[:2] ** 2).sum()) / 0.5),
            "upright": np.exp(-(turned[2, :2] ** 2).sum() / 0.2),
            "pose": np.exp(-(((joints - self.pose) / wide) ** 2).sum() / 12),
            "dof_pos_limits": self.beyond_limits(joints),
            "action_rate_l2": ((a - m.last) ** 2).sum(),
            "foot_clearance": walks * (np.abs(self.feet_heights(x) - self.swing_height) * np.sqrt(speed2)).sum(),
            "foot_swing_height": walks * (lands * (self.peaks(x, m) / self.swing_height - 1.0) ** 2).sum(),
            "foot_slip": walks * (m.contact * speed2).sum(),
            "soft_landing": walks * (lands * np.sqrt(force2)).sum(),
        }

    def metrics(self, x: State, a: Any, m: Memory) -> dict[str, Any]:
        return {"mean_action_acc": np.abs(a - 2 * m.last + m.before).sum() / 12}

    def after(self, x: State, a: Any, m: Memory, rng: Draws) -> dict[str, Any]:
        m.peak = self.peaks(x, m) * (1 - self.lands(m))
        m.before, m.last, m.age = m.last, a, m.age + 1.0
        push, v = self.kick(rng), x.v
        due = m.push[0] - self.dt < 1e-6
        m.push = np.where(due, rng.uniform(*self.push_time), m.push - self.dt)
        push = np.where(due, push, 0.0)
        m.left = m.left - self.dt
        self.draw_command(m, rng, m.left[0] <= 0)
        self.steer(x, m)
        return {"v": join(v[:3] + push[:3], v[3:6] + x.rotation("trunk").T @ push[3:], v[6:])}

    def kick(self, rng: Draws) -> Any:
        """Draw the change of velocity of a push (6): linear [m/s], angular [rad/s], world axes."""
        return rng.uniform(-1.0, 1.0, 6) * np.array(self.push_speed)

    def observe(self, x: State, m: Memory, rng: Draws) -> dict[str, Any]:
        clean = self.measured(x)
        biased = {**clean, "joint_pos": clean["joint_pos"] + m.bias}
        force = self.feet_forces(x).ravel()
        felt = np.sign(force) * np.log(1.0 + np.abs(force))
        return {
            "actor": join(*self.noisy(rng, biased).values(), m.last, m.command),
            "critic": join(*clean.values(), m.last, m.command, self.feet_heights(x), m.air, self.feet_touch(x), felt),
        }

    def mirror(self) -> dict[str, Mirror]:
        joints, legs = self.joints_mirrored, Mirror((1, 0, 3, 2))
        actor = joined(VECTOR, AXIAL, VECTOR, joints, joints, joints, COMMAND)
        return {"actor": actor, "critic": joined(actor, legs, legs, legs, legs.of_each(VECTOR)), "action": joints}


TASKS = {"Go1VelocityFlat": Go1VelocityFlat}
