"""The Unitree G1 follows a velocity command, by the definition of MuJoCo Playground.

Source: G1JoystickFlatTerrain (locomotion/g1/joystick.py, randomize.py, gait.py at d5e6b47).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..environment.mirror import AXIAL, COMMAND, SCALAR, VECTOR, Mirror, joined
from ..loading import from_mujoco
from .velocity_quadruped import VelocityTask, at_random, join, number
from .velocity_robots import FLOOR, g1_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..environment.draws import Draws, Memory, Parameters
    from ..environment.state import EnvironmentState as State
    from ..model import Model

SIDES = ("left", "right")
LEG, ARM = (-0.312, 0.0, 0.0, 0.669, -0.363, 0.0), (0.6, 0.0, 0.0, 0.0)
STANCE = (*LEG, *LEG, 0.0, 0.0, 0.073, 0.2, 0.2, 0.0, *ARM, 0.2, -0.2, 0.0, *ARM)


class G1JoystickFlat(VelocityTask):
    """A humanoid with 29 joints follows a command (vx, vy [m/s], wz [rad/s], axes of its pelvis).

    There are 50 control steps a second and 1000 in an episode, each of 10 substeps of 2 ms. Actions (29) set the
    targets of the motors: stance + action_scale a [rad].

    observe   actor (103): linear velocity [m/s], gyro [rad/s] and gravity direction, in the axes of the pelvis imu; the
              command; joint positions minus the stance [rad], joint velocities [rad/s]; the last action; cosines and
              sines of the feet's phases. Measurements have uniform noise.
              critic (216): the actor's observation; without noise: gyro, accelerometer [m/s^2], gravity, linear
              velocity, angular velocity in world axes, joint positions minus the stance, joint velocities; height of
              the root [m]; motor torques [N m]; contacts of the feet with the ground; velocities of the feet, world
              axes; air times of the feet [s]
    reward    the sum of `weights` times the terms, times dt. Terms whose weight is 0 in the definition are omitted
    phases    of the feet, half a turn apart, at 1.25 to 1.5 Hz. Target heights of a foot follow cubic curves up to 0.15
              m and down
    command   uniform within `reach`, and zero in one of ten cases; renewed after 501 steps
    pushes    every 5 to 10 s (drawn for each episode): 0.1 to 2 m/s in any direction, between two steps
    ends      when the torso's imu is upside down, or the feet touch each other
    reset     joints at 0.5 to 1.5 times the stance, random position and yaw, base velocities uniform within 0.5
    randomise friction of feet on the ground, dry friction and armature of joints, masses, zero positions of joints

    Differences from Playground:
    - Those of QuadrupedJoystick.
    - The phase in an observation is that of the next reward.
    - An observation after a push includes the velocity of the push.
    """

    actions = 29
    memory: Mapping[str, Any] = {
        "command": 3, "count": 1, "last": 29, "air": 2, "contact": 2, "phase": 2, "pace": 1, "push": 1, "interval": 1,
    }  # fmt: skip
    parameters = ("pair_friction", "dof_frictionloss", "dof_armature", "body_mass", "qpos0")

    timestep = 0.002
    stance = STANCE
    height = 0.755
    senses = ("local_linvel_pelvis", "gyro_pelvis", "imu_in_pelvis")
    reach = (1.0, 0.5, 1.0)
    patience = 500
    """The command is renewed after more than this number of control steps."""
    push_interval = (5.0, 10.0)
    push_speed = (0.1, 2.0)
    """Range of the speed of pushes [m/s]; (0, 0): no pushes."""
    swing_height = 0.15
    most_force = 500.0
    """Largest contact force of a foot without a penalty [N]."""
    weights: Mapping[str, float] = {
        "tracking_lin_vel": 1.0, "tracking_ang_vel": 0.75, "ang_vel_xy": -0.15, "orientation": -2.0, "feet_air_time": 2.0,
        "feet_slip": -0.25, "feet_phase": 1.0, "stand_still": -1.0, "termination": -100.0, "collision": -0.1,
        "contact_force": -0.01, "joint_deviation_knee": -0.1, "joint_deviation_hip": -0.25, "dof_pos_limits": -1.0,
        "pose": -0.1,
    }  # fmt: skip

    def spec(self, drawn: bool = False) -> Any:
        return g1_spec(self.timestep, drawn)

    def model(self) -> Model:
        m = self.prepared(self.stance)
        self.torso = m.body("torso_link").id
        self.soles = [m.pair(f"{side}_foot_floor").id for side in SIDES]

        def joints(*parts: str) -> list[int]:
            return [m.joint(f"{side}_{part}_joint").qposadr[0] - 7 for side in SIDES for part in parts]

        self.hips, self.knees = joints("hip_roll", "hip_yaw"), joints("knee")
        return from_mujoco(m, type(self).__name__)

    # -- episodes

    def randomise(self, rng: Draws, p: Parameters) -> dict[str, Any]:
        """Draw the parameters of an episode.

        feet     friction 0.4 to 1
        joints   dry friction times 0.5 to 2, armature times 1 to 1.05, zero positions +-0.05 rad
        bodies   masses times 0.9 to 1.1; torso: mass +-1 kg
        """
        friction, mass = at_random(p.pair_friction), at_random(p.body_mass)
        friction[self.soles, :2] = number(rng.uniform(0.4, 1.0))
        mass *= rng.uniform(0.9, 1.1, len(mass))
        mass[self.torso] += number(rng.uniform(-1.0, 1.0))
        return {
            "pair_friction": friction,
            "body_mass": mass,
            **self.joints_at_random(rng, p, (0.5, 2.0)),
        }

    def reset(self, m: Memory, rng: Draws) -> tuple[Any, Any]:
        place, yaw = rng.uniform(-0.5, 0.5, 2), rng.uniform(-3.14, 3.14)
        joints, speed = self.start[7:] * rng.uniform(0.5, 1.5, 29), rng.uniform(-0.5, 0.5, 6)
        m.phase, m.pace = [0.0, np.pi], 2 * np.pi * self.dt * rng.uniform(1.25, 1.5)
        m.command = self.next_command(rng)
        m.interval = np.floor(rng.uniform(*self.push_interval) / self.dt + 0.5)
        m.push = m.interval - 1.0
        return self.placed(self.start[:2] + place, self.start[2:3], yaw, joints), join(speed, np.zeros(29))

    def next_command(self, rng: Draws, command: Any = None) -> Any:
        reach = np.array(self.reach)
        return np.where(rng.bernoulli(0.1), 0.0, rng.uniform(-reach, reach))

    def kick(self, rng: Draws) -> Any:
        """Draw the velocity of a push (2) [m/s], world axes."""
        angle = rng.uniform(0.0, 2 * np.pi)
        return rng.uniform(*self.push_speed) * np.stack([np.cos(angle), np.sin(angle)])

    # -- a control step

    def terminate(self, x: State, m: Memory) -> Any:
        return np.logical_or(x.sensor("upvector_torso")[2] < 0, x.touches("left_foot", "right_foot") > 0.5)

    def feet_touch(self, x: State) -> Any:
        """Return 1 for each foot that touches the ground, else 0 (2)."""
        return np.stack([x.touches(f"{side}_foot", FLOOR) for side in SIDES])

    def terms(self, x: State, a: Any, m: Memory) -> dict[str, Any]:
        """Return the reward terms, without weights."""
        asked = np.sqrt((m.command**2).sum())
        linear, angular = x.sensor("global_linvel_pelvis"), x.sensor("global_angvel_pelvis")
        speed = np.sqrt((linear[:2] ** 2).sum())
        touch, away = self.feet_touch(x), x.q[7:] - self.pose
        lands = np.where(m.air > 0, np.maximum(touch, m.contact), 0.0)
        height = np.stack([x.site(f"{side}_foot")[2] for side in SIDES])
        off = ((height - swing(m.phase, self.swing_height)) ** 2).sum()
        moves = np.logical_or(np.logical_or(speed > 0.1, np.abs(angular[2]) > 0.1), asked > 0.01)
        hits = np.maximum(*(x.touches(f"{side}_hand_collision", f"{side}_thigh") for side in SIDES))
        force = np.stack([np.abs(x.sensor(f"{side}_foot_force")[2]) for side in SIDES])
        aside = np.where(m.command[1] > 0.1, [0.0, 1.0, 0.0, 1.0], np.ones(4))  # left walking: hip roll is free
        return {
            "tracking_lin_vel": np.exp(
                -((m.command[:2] - x.sensor("local_linvel_pelvis")[:2]) ** 2).sum() / self.sigma
            ),
            "tracking_ang_vel": np.exp(-((m.command[2] - x.sensor("gyro_pelvis")[2]) ** 2) / self.sigma),
            "ang_vel_xy": (x.sensor("global_angvel_torso")[:2] ** 2).sum(),
            "orientation": ((x.sensor("upvector_torso") - np.array([0.073, 0.0, 1.0])) ** 2).sum(),
            "feet_air_time": np.minimum(lands * (m.air + self.dt - 0.2), 0.3).sum(),
            "feet_slip": speed * touch.sum(),
            "feet_phase": np.where(moves, np.exp(-off / 0.01), 0.0),
            "stand_still": np.where(asked < 0.01, np.abs(away).sum(), 0.0),
            "termination": np.where(self.terminate(x, m), 1.0, 0.0),
            "collision": hits,
            "contact_force": np.maximum(force - self.most_force, 0.0).sum(),
            "joint_deviation_knee": np.abs(away[self.knees]).sum(),
            "joint_deviation_hip": (np.abs(away[self.hips]) * aside).sum(),
            "dof_pos_limits": self.beyond_limits(x.q[7:]),
            "pose": (away**2).sum(),
        }

    def after(self, x: State, a: Any, m: Memory, rng: Draws) -> Any:
        touch = self.feet_touch(x)
        m.air, m.contact, m.last = (m.air + self.dt) * (1.0 - touch), touch, a
        m.phase = np.remainder(m.phase + m.pace + np.pi, 2 * np.pi) - np.pi
        due = m.count + 1.0 > self.patience
        m.command = np.where(due, self.next_command(rng, m.command), m.command)
        m.count = np.where(due, 0.0, m.count + 1.0)
        left = m.push - 1.0
        m.push = np.where(left <= 0, m.interval, left)
        push = np.where(left <= 0, self.kick(rng), 0.0)
        return {"v": join(x.v[:2] + push, x.v[2:])}

    def observe(self, x: State, m: Memory, rng: Draws) -> dict[str, Any]:
        clean = self.measured(x)
        seen = self.noisy(rng, clean)
        feet = [x.sensor(f"{side}_foot_global_linvel") for side in SIDES]
        actor = join(
            seen["linvel"], seen["gyro"], seen["gravity"], m.command, seen["joint_pos"], seen["joint_vel"], m.last,
            np.cos(m.phase), np.sin(m.phase),
        )  # fmt: skip
        critic = join(
            actor, clean["gyro"], x.sensor("accelerometer_pelvis"), clean["gravity"], clean["linvel"],
            x.sensor("global_angvel_pelvis"), clean["joint_pos"], clean["joint_vel"], x.q[2], x.field("actuator_force"), m.contact,
            *feet, m.air,
        )  # fmt: skip
        return {"actor": actor, "critic": critic}

    def mirror(self) -> dict[str, Mirror]:
        """Return the mirrors of the observations and of the action.

        The task is symmetric except for `aside`, the cost of hip roll, which is one-sided in the definition.
        """
        joints, feet = self.joints_mirrored, Mirror((1, 0))
        actor = joined(VECTOR, AXIAL, VECTOR, COMMAND, joints, joints, joints, feet, feet)
        critic = joined(
            actor, AXIAL, VECTOR, VECTOR, VECTOR, AXIAL, joints, joints, SCALAR, joints, feet, feet.of_each(VECTOR), feet,
        )  # fmt: skip
        return {"actor": actor, "critic": critic, "action": joints}


def swing(phase: Any, height: float) -> Any:
    """Return target heights of feet at phases from -pi to pi: up to `height` at 0 and down, by curves 3 s^2 - 2 s^3."""
    s = (phase + np.pi) / np.pi
    up, down = np.minimum(s, 1.0), np.maximum(s - 1.0, 0.0)
    return height * np.where(s <= 1.0, up * up * (3 - 2 * up), 1 - down * down * (3 - 2 * down))


TASKS = {"G1JoystickFlat": G1JoystickFlat}
