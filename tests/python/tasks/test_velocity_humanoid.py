"""The humanoid that follows a command, against a text of the definition about MuJoCo's own steps."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from velocity_oracle import NEEDS_MJLAB, NumpyDraws, Oracle, Rows, drawless, exact, nominal, numbers

from featherstorm.tasks.velocity_humanoid import STANCE, G1JoystickFlat, swing

pytestmark = NEEDS_MJLAB
STEPS = 50
MOST = 150.0  # of a foot without cost [N], less than the task has, so that there is a cost
SIDES = ("left", "right")
COMMANDS = np.array([[0.8, -0.3, 0.5], [0.0, 0.0, 0.0], [-0.4, 0.3, -0.2]])
PUSH = np.array([0.3, -0.2])


def height_of_swing(phase, height):
    """Cubic Bezier curves with flat ends, up in the first half of the cycle and down in the second."""

    def curve(start, end, x):
        return start + (end - start) * (x**3 + 3 * x**2 * (1 - x))

    x = (phase + np.pi) / (2 * np.pi)
    return np.where(x <= 0.5, curve(0, height, 2 * x), curve(height, 0, 2 * x - 1))


class Playground:
    """Terms and observations of one robot, as the definition says them, from MuJoCo's data."""

    def __init__(self, m, q, pace):
        self.m, self.sim, self.pose = m, Oracle(m, q), np.array(STANCE)
        self.last, self.air, self.contact = np.zeros(29), np.zeros(2), np.zeros(2)
        self.phase, self.pace = np.array([0, np.pi]), pace

    def joints(self, *parts):
        return [self.m.joint(f"{side}_{part}_joint").qposadr[0] - 7 for side in SIDES for part in parts]

    def ends(self):
        up = self.sim.new.sensor("upvector_torso").data
        return float(up[2] < 0 or self.sim.touches("left_foot", "right_foot"))

    def step(self, a, command):
        self.sim.step(self.pose + 0.5 * a, 10)
        old, new = self.sim.old, self.sim.new
        contact = np.array([self.sim.touches(f"{side}_foot", "floor") for side in SIDES])
        first = (self.air > 0) * np.logical_or(contact, self.contact)
        self.air += 0.02
        q, _v = new.qpos[7:], new.qvel[6:]
        d, asked = q - self.pose, np.linalg.norm(command)
        linear, angular = new.sensor("global_linvel_pelvis").data, new.sensor("global_angvel_pelvis").data
        body, gyro = new.sensor("local_linvel_pelvis").data, new.sensor("gyro_pelvis").data
        z = np.array([new.site(f"{side}_foot").xpos[2] for side in SIDES])
        moving = np.linalg.norm(linear[:2]) > 0.1 or abs(angular[2]) > 0.1 or asked > 0.01
        middle, half = self.m.jnt_range[1:].mean(axis=1), 0.95 * np.ptp(self.m.jnt_range[1:], axis=1) / 2
        force = [abs(old.sensor(f"{side}_foot_force").data[2]) for side in SIDES]
        hips = np.where(command[1] > 0.1, [0, 1, 0, 1], 1)
        r = {
            "tracking_lin_vel": np.exp(-np.sum((command[:2] - body[:2]) ** 2) / 0.25),
            "tracking_ang_vel": 0.75 * np.exp(-((command[2] - gyro[2]) ** 2) / 0.25),
            "ang_vel_xy": -0.15 * np.sum(new.sensor("global_angvel_torso").data[:2] ** 2),
            "orientation": -2 * np.sum((new.sensor("upvector_torso").data - [0.073, 0, 1]) ** 2),
            "feet_air_time": 2 * np.sum(np.clip((self.air - 0.2) * first, None, 0.3)),
            "feet_slip": -0.25 * np.linalg.norm(linear[:2]) * contact.sum(),
            "feet_phase": np.exp(-np.sum((z - height_of_swing(self.phase, 0.15)) ** 2) / 0.01) * moving,
            "stand_still": -np.abs(d).sum() * (asked < 0.01),
            "termination": -100 * self.ends(),
            "collision": -0.1 * max(self.sim.touches(f"{s}_hand_collision", f"{s}_thigh") for s in SIDES),
            "contact_force": -0.01 * sum(max(0.0, f - MOST) for f in force),
            "joint_deviation_knee": -0.1 * np.abs(d[self.joints("knee")]).sum(),
            "joint_deviation_hip": -0.25 * np.sum(np.abs(d[self.joints("hip_roll", "hip_yaw")]) * hips),
            "dof_pos_limits": -np.sum(np.clip(np.abs(q - middle) - half, 0, None)),
            "pose": -0.1 * np.sum(d**2),
        }
        self.last, self.air, self.contact = a, self.air * (1 - contact), contact
        self.phase = np.fmod(self.phase + self.pace + np.pi, 2 * np.pi) - np.pi
        self.seen = a, command, contact
        return r

    def observe(self):
        """Of the state that the step left, or that a push made of it."""
        (a, command, contact), old, new = self.seen, self.sim.old, self.sim.new
        q, v = new.qpos[7:] - self.pose, new.qvel[6:]
        linear, gyro = new.sensor("local_linvel_pelvis").data, new.sensor("gyro_pelvis").data
        gravity = new.site("imu_in_pelvis").xmat.reshape(3, 3).T @ [0, 0, -1]
        actor = np.concatenate([linear, gyro, gravity, command, q, v, a, np.cos(self.phase), np.sin(self.phase)])
        feet = [new.sensor(f"{side}_foot_global_linvel").data for side in SIDES]
        base = [gyro, old.sensor("accelerometer_pelvis").data, gravity, linear, new.sensor("global_angvel_pelvis").data]
        rest = [q, v, new.qpos[2:3], old.actuator_force, contact, *feet, self.air]
        return actor, np.concatenate([actor, *base, *rest])


def randomised(m, rng):
    m = m.__copy__()
    for side in SIDES:
        m.pair_friction[m.pair(f"{side}_foot_floor").id, :2] = 0.8
    m.body_mass *= rng.uniform(0.9, 1.1, m.nbody)
    m.dof_frictionloss[6:] *= rng.uniform(0.5, 2.0, 29)
    m.dof_armature[6:] *= rng.uniform(1.0, 1.05, 29)
    m.qpos0[7:] += rng.uniform(-0.05, 0.05, 29)
    return m


def test_terms_and_observations_are_those_of_the_definition():
    """Random actions and parameters, three commands; the second robot is pushed, the third begins with its hands at its thighs."""
    rng = np.random.default_rng(1)
    task = drawless(exact(G1JoystickFlat), most_force=MOST, kick=lambda self, rng: PUSH)
    env = task.batch(3, dtype="float64", threads=1)
    env.reset()
    pace = 2 * np.pi * 0.02 * 1.4
    env.memory("command")[:], env.memory("phase")[:], env.memory("pace")[:] = COMMANDS, [0, np.pi], pace
    env.memory("push")[:], env.memory("interval")[:] = [[1000], [20], [1000]], 1000
    models = [randomised(env.model.compiled, rng) for _ in range(3)]
    for name in env.task.parameters:
        env.parameter(name)[:] = [np.ravel(getattr(m, name)) for m in models]
    for side, sign in (("left", 1), ("right", -1)):
        env.q[2, 7 + env.model.compiled.joint(f"{side}_shoulder_roll_joint").qposadr[0] - 7] = -0.1 * sign
    robots = [Playground(m, np.array(q), pace) for m, q in zip(models, env.q)]
    told = []
    for step in range(STEPS):
        actions = rng.uniform(-0.3, 0.3, (3, 29))
        obs, reward, terminated, _, info = env.step(actions)
        assert not terminated.any()
        for k, robot in enumerate(robots):
            terms = robot.step(actions[k], COMMANDS[k])
            for name, value in terms.items():
                assert info["reward_terms"][name][k] == pytest.approx(0.02 * value, abs=1e-6, rel=1e-6), (name, k, step)
            assert reward[k] == pytest.approx(0.02 * sum(terms.values()), abs=1e-6, rel=1e-6)
            if k == 1 and step == 19:
                robot.sim.old.qvel[:2] += PUSH
                robot.sim.refresh()
            actor, critic = robot.observe()
            np.testing.assert_allclose(obs["actor"][k], actor, atol=1e-6)
            np.testing.assert_allclose(obs["critic"][k], critic, atol=1e-4, rtol=1e-6)
            told.append({name: value != 0 for name, value in terms.items()})
    missing = [n for n in told[0] if not any(t[n] for t in told)]
    assert missing == ["termination"]


def test_the_robot_stands_for_half_a_second_under_zero_actions():
    """Its ankles are too soft for longer, in MuJoCo as here."""
    env = drawless(G1JoystickFlat, (0.0, 0.0, 0.0)).batch(1, threads=1)
    env.reset()
    for _ in range(25):
        assert not env.step(np.zeros((1, 29), np.float32))[2].any()
    assert env.q[0, 2] > 0.7 and env.memory("contact").all()


def test_an_episode_ends_where_the_robot_is_upside_down_or_its_feet_touch():
    env = drawless(G1JoystickFlat, (0.5, 0.0, 0.0)).batch(3, dtype="float64", threads=1)
    env.reset()
    env.q[1, 2:7] = [1.5, 0, 1, 0, 0]
    for side, sign in (("left", -1), ("right", 1)):
        env.q[2, env.model.compiled.joint(f"{side}_hip_roll_joint").qposadr[0]] = 0.17 * sign
    env.q[2, 2] = 1.2
    _, reward, terminated, _, info = env.step(np.zeros((3, 29)))
    assert terminated.tolist() == [False, True, True]
    assert (reward[1:] < -1.9).all() and reward[0] > 0
    np.testing.assert_allclose(info["reward_terms"]["termination"], [0, -2, -2])


def test_feet_are_to_follow_playgrounds_curve():
    phase = np.linspace(-np.pi, np.pi, 101)
    np.testing.assert_allclose(numbers(swing(phase, 0.15)), height_of_swing(phase, 0.15), atol=1e-12)
    assert swing(0.0, 0.15) == pytest.approx(0.15)


def test_the_command_is_renewed_after_501_steps():
    """From then on the phase of the counter begins again."""
    task = drawless(G1JoystickFlat, next_command=lambda self, rng, command=None: np.array([0.1, 0.2, 0.3]))
    env = task.batch(1, threads=1)
    env.reset()
    env.memory("count")[:] = 499
    seen = []
    for _ in range(3):
        env.step(np.zeros((1, 29), np.float32))
        seen.append([float(env.memory("count")[0, 0]), float(env.memory("command")[0, 0])])
    np.testing.assert_allclose(seen, [[500, 0.5], [0, 0.1], [1, 0.1]], atol=1e-6)


def test_what_is_drawn_is_that_of_the_definition():
    task, rng = G1JoystickFlat(), NumpyDraws(3)
    m = task.model().compiled
    p = nominal(m, task.parameters)
    rows, found, drawn = Rows(task.memory), [], []
    for _ in range(300):
        q, _ = map(numbers, task.reset(rows, rng))
        assert rows.push == rows.interval - 1
        found.append([*rows.command, *rows.pace, *rows.interval, *q[7:]])
        drawn.append({name: numbers(x) for name, x in task.randomise(rng, p).items()})
    found = np.array(found)
    commands, pace, interval = found[:, :3], found[:, 3] / (2 * np.pi * 0.02), found[:, 4]
    still = (commands == 0).all(axis=1)
    assert 0.04 < still.mean() < 0.18 and not (commands[~still] == 0).any()
    for x, low, high in (
        (commands[:, 0], -1, 1), (commands[:, 1], -0.5, 0.5), (commands[:, 2], -1, 1), (pace, 1.25, 1.5), (interval, 250, 500),
        (found[:, 5] / STANCE[0], 0.5, 1.5),
    ):  # fmt: skip
        assert low - 1e-9 <= x.min() < low + 0.05 * (high - low) and high - 0.05 * (high - low) < x.max() <= high + 1e-9
    kicks = np.array([numbers(task.kick(rng)) for _ in range(300)])
    speed = np.hypot(*kicks.T)
    assert 0.1 <= speed.min() < 0.2 and 1.9 < speed.max() <= 2 and np.abs(kicks.mean(axis=0)).max() < 0.25
    of = {name: np.array([d[name] for d in drawn]) for name in task.parameters}
    soles = [m.pair(f"{side}_foot_floor").id for side in SIDES]
    assert (of["pair_friction"][:, soles, :2] == of["pair_friction"][:, soles[:1], :1]).all()
    assert of["pair_friction"][:, soles[0], 0].min() >= 0.4 and of["pair_friction"][:, soles[0], 0].max() <= 1
    assert (of["pair_friction"][:, soles, 2:] == m.pair_friction[soles, 2:]).all()
    ratio = of["dof_frictionloss"][:, 6:] / m.dof_frictionloss[6:]
    assert 0.5 <= ratio.min() < 0.51 and 1.99 < ratio.max() <= 2
    assert np.abs(of["qpos0"] - m.qpos0)[:, 7:].max() <= 0.05
