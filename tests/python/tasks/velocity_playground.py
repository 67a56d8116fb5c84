"""MuJoCo Playground's definition of a quadruped that follows a command, as a text of its own about MuJoCo's data."""

import numpy as np
import pytest
from velocity_oracle import Oracle

LEGS = ("FR", "FL", "RR", "RL")
SOFT = 0.7  # part of a joint's range that is free of cost; narrower than the tasks', so that joints leave it


class Playground:
    """Terms and observations of one robot, as the definition says them, from MuJoCo's data."""

    def __init__(self, m, pose, q, ground=None):
        """ground(points (n, 2)): heights of the ground, from which those of feet are measured. None: z = 0."""
        self.m, self.pose, self.sim = m, pose, Oracle(m, q)
        self.ground = ground or (lambda points: np.zeros(len(points)))
        self.last, self.air, self.contact, self.peak = np.zeros(12), np.zeros(4), np.zeros(4), np.zeros(4)

    def step(self, a, command):
        """Reward terms with their weights, and observations after the step."""
        self.sim.step(self.pose + 0.5 * a, 5)
        old, new = self.sim.old, self.sim.new
        contact = np.array([self.sim.touches(leg) for leg in LEGS])
        filtered = np.logical_or(contact, self.contact)
        first = (self.air > 0) * filtered
        self.air += 0.02
        feet = np.array([new.site(leg).xpos for leg in LEGS])
        z = feet[:, 2] - self.ground(feet)
        self.peak = np.maximum(self.peak, z)
        q, v, tau = new.qpos[7:], new.qvel[6:], old.actuator_force
        foot = np.array([new.sensor(f"{leg}_global_linvel").data for leg in LEGS])
        linear, gyro = new.sensor("local_linvel").data, new.sensor("gyro").data
        up = new.sensor("upvector").data
        asked = np.linalg.norm(command)
        low, high = SOFT * self.m.jnt_range[1:].T
        r = {
            "tracking_lin_vel": np.exp(-np.sum(np.square(command[:2] - linear[:2])) / 0.25),
            "tracking_ang_vel": 0.5 * np.exp(-np.square(command[2] - gyro[2]) / 0.25),
            "lin_vel_z": -0.5 * np.square(new.sensor("global_linvel").data[2]),
            "ang_vel_xy": -0.05 * np.sum(np.square(new.sensor("global_angvel").data[:2])),
            "orientation": -5 * np.sum(np.square(up[:2])),
            "stand_still": -np.sum(np.abs(q - self.pose)) * (asked < 0.01),
            "termination": -float(up[2] < 0),
            "pose": 0.5 * np.exp(-np.sum(np.square(q - self.pose) * np.array([1, 1, 0.1] * 4))),
            "torques": -2e-4 * (np.linalg.norm(tau) + np.abs(tau).sum()),
            "action_rate": -0.01 * np.sum(np.square(a - self.last)),
            "energy": -1e-3 * np.sum(np.abs(v) * np.abs(tau)),
            "feet_slip": -0.1 * np.sum(np.sum(foot[:, :2] ** 2, axis=1) * contact) * (asked > 0.01),
            "feet_clearance": -2 * np.sum(np.abs(z - 0.1) * np.sqrt(np.linalg.norm(foot[:, :2], axis=1))),
            "feet_height": -0.2 * np.sum(np.square(self.peak / 0.1 - 1) * first) * (asked > 0.01),
            "feet_air_time": 0.1 * np.sum((self.air - 0.1) * first) * (asked > 0.01),
            "dof_pos_limits": -np.sum(np.clip(low - q, 0, None) + np.clip(q - high, 0, None)),
        }
        self.last = a
        self.air, self.peak = self.air * (1 - contact), self.peak * (1 - contact)
        self.contact = contact
        gravity = new.site("imu").xmat.reshape(3, 3).T @ [0, 0, -1]
        actor = np.concatenate([linear, gyro, gravity, q - self.pose, v, a, command])
        more = [gyro, old.sensor("accelerometer").data, gravity, linear, new.sensor("global_angvel").data]
        critic = [actor, *more, q - self.pose, v, tau, contact, foot.ravel(), self.air, np.zeros(4)]
        return r, actor, np.concatenate(critic)


def randomised(m, rng):
    """A model with other parameters, as numbers derived from them are left as they were."""
    m = m.__copy__()
    m.geom_friction[m.geom("floor").id, 0] = rng.uniform(0.4, 1.0)
    m.body_ipos[1] += rng.uniform(-0.05, 0.05, 3)
    m.body_mass *= rng.uniform(0.9, 1.1, m.nbody)
    m.dof_frictionloss[6:] *= rng.uniform(0.9, 1.1, 12)
    m.dof_armature[6:] *= rng.uniform(1.0, 1.05, 12)
    m.qpos0[7:] += rng.uniform(-0.05, 0.05, 12)
    return m


def expected_scan(robot, task):
    """Heights of the root above the ground at 17 x 11 points, turned with the robot's heading."""
    q = robot.sim.new.qpos
    w, x, y, z = q[3:7]
    heading = np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))
    c, s = np.cos(heading), np.sin(heading)
    points = [
        [q[0] + c * ahead - s * left, q[1] + s * ahead + c * left]
        for ahead in np.linspace(-0.8, 0.8, 17)
        for left in np.linspace(-0.5, 0.5, 11)
    ]
    return np.clip(q[2] - robot.ground(np.array(points)) - task.start[2], -1, 1)


def assert_step_agrees(step, k, terms, actor, critic):
    """Terms, reward and observations of environment k after env.step, beside those of the definition."""
    obs, reward, terminated, truncated, info = step
    assert not terminated[k] and not truncated[k] and not info["non_finite"][k]
    for name, value in terms.items():
        assert info["reward_terms"][name][k] == pytest.approx(0.02 * value, abs=1e-6), name
    np.testing.assert_allclose(obs["actor"][k], actor, atol=1e-6)
    np.testing.assert_allclose(obs["critic"][k], critic, atol=1e-4, rtol=1e-6)
    assert reward[k] == pytest.approx(max(0.0, 0.02 * sum(terms.values())), abs=1e-6)
