"""Quadrupeds that follow a velocity command, by the definition of MuJoCo Playground.

Source: Go1JoystickFlatTerrain (locomotion/go1/joystick.py, randomize.py at d5e6b47).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..environment.env import Env
from ..environment.mirror import AXIAL, COMMAND, VECTOR, Mirror, joined, of_joints
from ..loading import from_mujoco
from ..symbols import symbols, values_of
from .velocity_robots import FLOOR, LEGS, Weighted, add_floor, go1_spec, go2_spec, stance_height

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..environment.draws import Draws, Memory, Parameters
    from ..environment.state import EnvironmentState as State
    from ..model import Model


class VelocityTask(Weighted, Env):
    """Base class of robots with a floating root that follow a command (vx, vy [m/s], wz [rad/s], axes of the root).

    There are 50 control steps a second and 1000 in an episode. Actions, in the model's joint order, set the targets of
    the motors [rad].
    """

    dt, steps = 0.02, 1000
    reward_scale: float = 0.02
    height: float | None
    """Initial height of the root [m]."""
    action_scale: Any = 0.5
    noise = 1.0
    """Factor of all noise. 0: no noise."""
    noises: Mapping[str, float] = {"linvel": 0.1, "gyro": 0.2, "gravity": 0.05, "joint_pos": 0.03, "joint_vel": 1.5}
    soft_limit = 0.95
    sigma = 0.25
    senses: tuple[str, str, str]
    """Names of the velocimeter, the gyro, and the frame in whose axes gravity is measured."""

    def prepared(self, pose: Any) -> Any:
        """Compile the scene; keep the pose of the joints, the first configuration and the soft limits of the joints."""
        m = self.scene()
        low, high = np.array(m.jnt_range[1:]).T
        middle, half = (low + high) / 2, self.soft_limit * (high - low) / 2
        self.soft_low, self.soft_high = middle - half, middle + half
        self.pose, self.start = np.array(pose), np.array(m.qpos0)
        self.start[7:] = self.pose
        if self.height is not None:
            self.start[2] = self.height
        self.joints_mirrored = of_joints(m)
        return m

    def placed(self, place: Any, height: Any, yaw: Any, joints: Any) -> Any:
        """Return q of a root at a place (2) and height [m], turned about the vertical, and of its joints."""
        return join(place, height, [np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)], joints)

    def joints_at_random(self, rng: Draws, p: Parameters, friction: tuple[float, float]) -> dict[str, Any]:
        """Draw parameters of joints: dry friction times a range, armature times 1 to 1.05, zero positions +-0.05 rad."""
        n = len(p.dof_armature) - 6
        return {
            "dof_frictionloss": join(p.dof_frictionloss[:6], p.dof_frictionloss[6:] * rng.uniform(*friction, n)),
            "dof_armature": join(p.dof_armature[:6], p.dof_armature[6:] * rng.uniform(1.0, 1.05, n)),
            "qpos0": join(p.qpos0[:7], p.qpos0[7:] + rng.uniform(-0.05, 0.05, n)),
        }

    def actuate(self, x: State, a: Any, m: Memory) -> Any:
        return self.pose + self.action_scale * a

    def beyond_limits(self, joints: Any) -> Any:
        """Return the sum of the distances of joints beyond their soft limits [rad]."""
        return (np.maximum(self.soft_low - joints, 0.0) + np.maximum(joints - self.soft_high, 0.0)).sum()

    def measured(self, x: State) -> dict[str, Any]:
        """Return the actor's measurements, by the names of `noises`, without noise."""
        velocity, gyro, frame = self.senses
        return {
            "linvel": x.sensor(velocity),
            "gyro": x.sensor(gyro),
            "gravity": -x.rotation(frame)[2],
            "joint_pos": x.q[7:] - self.pose,
            "joint_vel": x.v[6:],
        }

    def noisy(self, rng: Draws, clean: Mapping[str, Any]) -> dict[str, Any]:
        """Add uniform noise within +-noise noises[name] to each measurement."""
        wide = {name: self.noise * self.noises[name] for name in clean}
        if not self.noise:
            return dict(clean)
        return {name: y + rng.uniform(-wide[name], wide[name], len(y)) for name, y in clean.items()}


class QuadrupedJoystick(VelocityTask):
    """A quadruped follows a command (vx, vy [m/s], wz [rad/s], axes of its body).

    There are 50 control steps a second and 1000 in an episode, each of 5 substeps of 4 ms. Actions (12), in the model's
    joint order, set the targets of the motors: stance + action_scale a [rad].

    observe   actor (48): linear velocity [m/s], gyro [rad/s] and gravity direction, all in the axes of the imu; joint
              positions minus the stance [rad], joint velocities [rad/s]; the last action; the command. All but the last
              two have uniform noise.
              critic (123): the actor's observation; without noise: gyro, accelerometer [m/s^2], gravity, linear
              velocity, angular velocity in world axes, joint positions minus the stance, joint velocities; motor
              torques [N m]; contacts of the feet; velocities of the feet, world axes; air times of the feet [s]; 4
              zeros in the place of Playground's pushes, which are off there as well
    reward    the sum of `weights` times the terms, times dt, at least 0
    command   the first is uniform within `reach`. A new one follows after an exponentially distributed time with mean
              `patience`: each number is unchanged with probability 1/2; else it is uniform within `reach` with
              probability `moving`, or 0
    ends      when the imu's z axis points down
    reset     the stance at a random position and yaw, base velocities uniform within 0.5
    randomise friction of the ground, dry friction and armature of joints, masses, the trunk's centre of mass,
              zero positions of joints

    Differences from Playground:
    - The action, the command and the contacts in an observation are those after the step; Playground's are one step
      older.
    - Positions and velocities are those of the state itself; Playground's are one substep (4 ms) older.
    - Models are drawn for each episode; randomise_at="start" draws them once, as Playground does.
    - At the beginning of an episode there are no contacts, and the accelerometer shows only gravity.
    - The solver converges.
    """

    reward_floor = 0.0
    memory: Mapping[str, Any] = {"command": 3, "renew": 1, "last": 12, "air": 4, "contact": 4, "peak": 4}
    actions = 12
    parameters: tuple[str, ...] = (
        "geom_friction", "dof_frictionloss", "dof_armature", "body_ipos", "body_mass", "qpos0",
    )  # fmt: skip

    robot, root = "go1", "trunk"
    timestep = 0.004
    stance: tuple[float, ...] = (0.1, 0.9, -1.8, -0.1, 0.9, -1.8, 0.1, 0.9, -1.8, -0.1, 0.9, -1.8)
    height: float | None = 0.278
    """Initial height of the root [m]. None: the feet touch the ground."""
    senses = ("local_linvel", "gyro", "imu")
    reach = (1.5, 0.8, 1.2)
    moving = (0.9, 0.25, 0.5)
    patience = 5.0
    swing_height = 0.1
    weights: Mapping[str, float] = {
        "tracking_lin_vel": 1.0, "tracking_ang_vel": 0.5, "lin_vel_z": -0.5, "ang_vel_xy": -0.05, "orientation": -5.0, "stand_still": -1.0,
        "termination": -1.0, "pose": 0.5, "torques": -0.0002, "action_rate": -0.01, "energy": -0.001, "feet_slip": -0.1, "feet_clearance": -2.0,
        "feet_height": -0.2, "feet_air_time": 0.1, "dof_pos_limits": -1.0,
    }  # fmt: skip

    def spec(self, drawn: bool = False) -> Any:
        spec = go1_spec(self.timestep, drawn) if self.robot == "go1" else go2_spec(self.timestep)
        self.add_ground(spec)
        return spec

    def add_ground(self, spec: Any) -> None:
        """Add the ground to an MjSpec of the robot."""
        add_floor(spec)

    def model(self) -> Model:
        compiled = self.prepared(self.stance)
        self.soft_low, self.soft_high = self.soft_limit * np.array(compiled.jnt_range[1:]).T
        if self.height is None:
            self.start[2] = stance_height(compiled, self.pose, LEGS)
        self.floor, self.trunk = compiled.geom(FLOOR).id, compiled.body(self.root).id
        return from_mujoco(compiled, type(self).__name__)

    # -- episodes

    def randomise(self, rng: Draws, p: Parameters, m: Memory) -> dict[str, Any]:
        """Draw the parameters of an episode.

        floor    friction 0.4 to 1
        joints   dry friction times 0.9 to 1.1, armature times 1 to 1.05, zero positions +-0.05 rad
        bodies   masses times 0.9 to 1.1; trunk: mass +-1 kg, centre of mass +-0.05 m
        """
        friction, ipos, mass = (at_random(getattr(p, name)) for name in ("geom_friction", "body_ipos", "body_mass"))
        friction[self.floor, 0] = number(rng.uniform(0.4, 1.0))
        ipos[self.trunk] += rng.uniform(-0.05, 0.05, 3)
        mass *= rng.uniform(0.9, 1.1, len(mass))
        mass[self.trunk] += number(rng.uniform(-1.0, 1.0))
        return {
            "geom_friction": friction,
            "body_ipos": ipos,
            "body_mass": mass,
            **self.joints_at_random(rng, p, (0.9, 1.1)),
        }

    def reset(self, m: Memory, rng: Draws) -> tuple[Any, Any]:
        place, yaw = rng.uniform(-0.5, 0.5, 2), rng.uniform(-3.14, 3.14)
        speed = rng.uniform(-0.5, 0.5, 6)
        m.renew = self.steps_to_next(rng)
        reach = np.array(self.reach)
        m.command = rng.uniform(-reach, reach)
        q = self.placed(self.start[:2] + place, self.start[2:3], yaw, self.start[7:])
        return q, join(speed, np.zeros(len(self.pose)))

    def steps_to_next(self, rng: Draws) -> Any:
        """Draw the number of control steps until the next command."""
        return np.floor(rng.exponential(self.patience) / self.dt + 0.5)

    def next_command(self, rng: Draws, command: Any) -> Any:
        reach = np.array(self.reach)
        drawn = np.where(rng.bernoulli(np.array(self.moving)), rng.uniform(-reach, reach), 0.0)
        return np.where(rng.bernoulli(np.full(3, 0.5)), drawn, command)

    # -- a control step

    def terminate(self, x: State, m: Memory) -> Any:
        return x.sensor("upvector")[2] < 0

    def feet_heights(self, x: State, m: Memory) -> Any:
        """Return the heights of the feet's sites above the ground (4) [m]."""
        return np.stack([x.site(leg)[2] for leg in LEGS])

    def feet_speeds(self, x: State) -> Any:
        """Return the velocities of the feet's sites (4, 3) [m/s], world axes."""
        return np.stack([x.sensor(f"{leg}_global_linvel") for leg in LEGS])

    def feet_touch(self, x: State) -> Any:
        """Return 1 for each foot that touches the ground, else 0 (4)."""
        return np.stack([x.touches(leg) for leg in LEGS])

    def terms(self, x: State, a: Any, m: Memory) -> dict[str, Any]:
        """Return the reward terms, without weights."""
        moves = np.where(np.sqrt((m.command**2).sum()) > 0.01, 1.0, 0.0)
        stands = np.where(np.sqrt((m.command**2).sum()) < 0.01, 1.0, 0.0)
        linear, angular, up = x.sensor("local_linvel"), x.sensor("gyro"), x.sensor("upvector")
        joints, rates, torques = x.q[7:], x.v[6:], x.field("actuator_force")
        away = joints - self.pose
        touch, height = self.feet_touch(x), self.feet_heights(x, m)
        speed2 = (self.feet_speeds(x)[:, :2] ** 2).sum(axis=1)
        air, peak = m.air + self.dt, np.maximum(m.peak, height)
        # A foot lands if it was in the air and touches now or touched one step ago; this tolerates one step without
        # contact.
        lands = np.where(m.air > 0, np.maximum(touch, m.contact), 0.0)
        return {
            "tracking_lin_vel": np.exp(-((m.command[:2] - linear[:2]) ** 2).sum() / self.sigma),
            "tracking_ang_vel": np.exp(-((m.command[2] - angular[2]) ** 2) / self.sigma),
            "lin_vel_z": x.sensor("global_linvel")[2] ** 2,
            "ang_vel_xy": (x.sensor("global_angvel")[:2] ** 2).sum(),
            "orientation": (up[:2] ** 2).sum(),
            "stand_still": stands * np.abs(away).sum(),
            "termination": np.where(self.terminate(x, m), 1.0, 0.0),
            "pose": np.exp(-(np.array([1.0, 1.0, 0.1] * 4) * away**2).sum()),
            "torques": np.sqrt((torques**2).sum()) + np.abs(torques).sum(),
            "action_rate": ((a - m.last) ** 2).sum(),
            "energy": (np.abs(rates) * np.abs(torques)).sum(),
            "feet_slip": moves * (speed2 * touch).sum(),
            "feet_clearance": (np.abs(height - self.swing_height) * np.sqrt(np.sqrt(speed2))).sum(),
            "feet_height": moves * (lands * (peak / self.swing_height - 1.0) ** 2).sum(),
            "feet_air_time": moves * (lands * (air - 0.1)).sum(),
            "dof_pos_limits": self.beyond_limits(joints),
        }

    def after(self, x: State, a: Any, m: Memory, rng: Draws) -> None:
        left = m.renew - 1.0
        due = left <= 0
        m.command = np.where(due, self.next_command(rng, m.command), m.command)
        m.renew = np.where(due, self.steps_to_next(rng), left)
        flies = 1.0 - self.feet_touch(x)
        m.air = (m.air + self.dt) * flies
        m.peak = np.maximum(m.peak, self.feet_heights(x, m)) * flies
        m.contact, m.last = 1.0 - flies, a

    def observe(self, x: State, m: Memory, rng: Draws) -> dict[str, Any]:
        clean = self.measured(x)
        actor = join(*self.noisy(rng, clean).values(), m.last, m.command)
        critic = join(
            actor, clean["gyro"], x.sensor("accelerometer"), clean["gravity"], clean["linvel"], x.sensor("global_angvel"),
            clean["joint_pos"], clean["joint_vel"], x.field("actuator_force"), m.contact, self.feet_speeds(x).ravel(), m.air,
            np.zeros(4),
        )  # fmt: skip
        return {"actor": actor, "critic": critic}

    def mirror(self) -> dict[str, Mirror]:
        """Return the mirrors of the observations and of the action.

        The symmetry is exact except for the Go1's imu, which is 7 cm to the right of the middle: the error of its
        velocity is twice this distance times the yaw rate.
        """
        joints, legs = self.joints_mirrored, Mirror((1, 0, 3, 2))
        actor = joined(VECTOR, AXIAL, VECTOR, joints, joints, joints, COMMAND)
        critic = joined(
            actor, AXIAL, VECTOR, VECTOR, VECTOR, AXIAL, joints, joints, joints, legs, legs.of_each(VECTOR), legs, Mirror(range(4)),
        )  # fmt: skip
        return {"actor": actor, "critic": critic, "action": joints}


class OnGo2:
    """Numbers of the Unitree Go2, in place of the Go1's. An episode begins with the feet on the ground."""

    robot, root = "go2", "base"
    stance: tuple[float, ...] = (0.0, 0.9, -1.8) * 4
    height: float | None = None


class Go1JoystickFlat(QuadrupedJoystick):
    """Unitree Go1 on a plane: Playground's Go1JoystickFlatTerrain (QuadrupedJoystick)."""


class Go2JoystickFlat(OnGo2, QuadrupedJoystick):
    """Unitree Go2 on a plane: Go1JoystickFlat with the Go2's numbers."""


def join(*parts: Any) -> Any:
    """Concatenate numbers, symbolic or not, to one array."""
    return symbols([number for part in parts for number in values_of(part, "numbers")])


def number(x: Any) -> Any:
    """Return the single number of an array, symbolic or not."""
    (found,) = values_of(x, "number", 1)
    return found


def at_random(nominal: Any) -> Any:
    """Return a copy of a parameter as an array of objects, whose elements may become symbols."""
    return np.array(nominal, dtype=object)


TASKS = {"Go1JoystickFlat": Go1JoystickFlat, "Go2JoystickFlat": Go2JoystickFlat}
