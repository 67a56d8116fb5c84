"""The Go1 by mjlab's definition, against a text of it about MuJoCo's own steps and contact sensors."""

import mujoco
import numpy as np
import pytest
from velocity_oracle import NEEDS_MJLAB, NumpyDraws, Rows, exact, nominal, numbers

from featherstorm.tasks.velocity_mjlab import TASKS, Go1VelocityFlat, go1_spec

pytestmark = NEEDS_MJLAB
LEGS = ("FR", "FL", "RR", "RL")
STANCE = np.array([0.1, 0.9, -1.8, -0.1, 0.9, -1.8] * 2)
STEPS, MANY = 60, 600
COMMANDS = np.array([[0.8, -0.3, 0.5], [0.0, 0.0, 0.0], [-1.0, 0.5, -0.4], [0.0, 0.0, 0.0]])
PUSH = np.array([0.3, -0.2, 0.4, 0.2, -0.1, 0.5])
SOFT = 0.4  # part of a joint's range that is free of cost, less than the task's, so that joints leave it


def sensed():
    """The task's model with mjlab's contact sensors: how many contacts a foot has with the ground, and their force."""
    spec = go1_spec(0.005)
    for leg in LEGS:
        sensor = spec.add_sensor(name=f"{leg}_ground", type=mujoco.mjtSensor.mjSENS_CONTACT, intprm=[0b11, 3, 1])
        sensor.objtype = sensor.reftype = mujoco.mjtObj.mjOBJ_GEOM
        sensor.objname, sensor.refname = f"{leg}_foot_collision", "floor"
    m = spec.compile()
    m.opt.tolerance, m.opt.iterations, m.opt.jacobian = 0, 100, mujoco.mjtJacobian.mjJAC_DENSE
    return m


class Mjlab:
    """Terms and observations of one robot, as the definition says them, from MuJoCo's data."""

    def __init__(self, m, q, bias):
        self.m, self.bias, self.old, self.new = m, bias, mujoco.MjData(m), mujoco.MjData(m)
        self.old.qpos = q
        self.last, self.before = np.zeros(12), np.zeros(12)
        self.air, self.stand, self.peak = np.zeros(4), np.zeros(4), np.zeros(4)
        stiffness = np.array([0.000111842 * n**2 * (20 * np.pi) ** 2 for n in (6, 6, 9)] * 4)
        self.scale = 0.25 * np.array([23.7, 23.7, 35.55] * 4) / stiffness

    def ground(self, data):
        """(how many contacts (4), forces (4, 3))."""
        found = np.array([data.sensor(f"{leg}_ground").data for leg in LEGS])
        return found[:, 0], found[:, 1:]

    def refresh(self):
        self.new.qpos, self.new.qvel, self.new.ctrl = self.old.qpos, self.old.qvel, self.old.ctrl
        mujoco.mj_forward(self.m, self.new)

    def step(self, a, command):
        self.old.ctrl = STANCE + self.scale * a - self.bias
        for _ in range(4):
            mujoco.mj_step(self.m, self.old)
            touch = self.ground(self.old)[0] > 0
            self.air = np.where(touch, 0, self.air + 0.005)
            self.stand = np.where(touch, self.stand + 0.005, 0)
        self.refresh()
        new, touch, (_, force) = self.new, touch, self.ground(self.old)
        turned = new.body("trunk").xmat.reshape(3, 3)
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(self.m, new, mujoco.mjtObj.mjOBJ_XBODY, self.m.body("trunk").id, velocity, 1)
        w, v = velocity.reshape(2, 3).copy()
        q = new.qpos[7:]
        height = np.clip([new.site(leg).xpos[2] for leg in LEGS], 0, 1)
        slide = np.zeros((4, 3))
        for k, leg in enumerate(LEGS):
            mujoco.mj_objectVelocity(self.m, new, mujoco.mjtObj.mjOBJ_SITE, self.m.site(leg).id, velocity, 0)
            slide[k] = velocity[3:]
        speed = np.linalg.norm(slide[:, :2], axis=1)
        first = (self.stand > 0) & (self.stand < 0.02 + 1e-6)
        self.peak = np.where(touch, self.peak, np.maximum(self.peak, height))
        asked = np.linalg.norm(command[:2]) + abs(command[2])
        std = np.array([0.05, 0.05, 0.1] * 4) if asked < 0.05 else np.array([0.3, 0.3, 0.6] * 4)
        low, high = self.m.jnt_range[1:].T
        low, high = (low + high) / 2 - SOFT * (high - low) / 2, (low + high) / 2 + SOFT * (high - low) / 2
        gravity = turned.T @ [0, 0, -1]
        r = {
            "track_linear_velocity": 2 * np.exp(-(np.sum((command[:2] - v[:2]) ** 2) + v[2] ** 2) / 0.25),
            "track_angular_velocity": 2 * np.exp(-((command[2] - w[2]) ** 2 + np.sum(w[:2] ** 2)) / 0.5),
            "upright": np.exp(-np.sum(gravity[:2] ** 2) / 0.2),
            "pose": np.exp(-np.mean((q - STANCE) ** 2 / std**2)),
            "dof_pos_limits": -np.sum(np.clip(low - q, 0, None) + np.clip(q - high, 0, None)),
            "action_rate_l2": -0.1 * np.sum((a - self.last) ** 2),
            "foot_clearance": -2 * np.sum(np.abs(height - 0.1) * speed) * (asked > 0.05),
            "foot_swing_height": -0.25 * np.sum((self.peak / 0.1 - 1) ** 2 * first) * (asked > 0.05),
            "foot_slip": -0.1 * np.sum(speed**2 * touch) * (asked > 0.05),
            "soft_landing": -1e-5 * np.sum(np.linalg.norm(force, axis=1) * first) * (asked > 0.05),
        }
        self.peak = np.where(first, 0, self.peak)
        restless = np.mean(np.abs(a - 2 * self.last + self.before))
        self.before, self.last = self.last, a
        self.force = force
        return r, restless

    def observe(self, command):
        """Of the state that the step left, or that a push made of it."""
        new = self.new
        q, v = new.qpos[7:] - STANCE, new.qvel[6:]
        gravity = new.body("trunk").xmat.reshape(3, 3).T @ [0, 0, -1]
        imu = np.zeros(6)
        mujoco.mj_objectVelocity(self.m, new, mujoco.mjtObj.mjOBJ_SITE, self.m.site("imu").id, imu, 1)
        base = [imu[3:], imu[:3], gravity]
        height = np.clip([new.site(leg).xpos[2] for leg in LEGS], 0, 1)
        felt = np.sign(self.force) * np.log1p(np.abs(self.force))
        touch = self.ground(new)[0] > 0
        more = [height, self.air, touch, felt.ravel()]
        return np.concatenate([*base, q + self.bias, v, self.last, command]), np.concatenate(
            [*base, q, v, self.last, command, *more]
        )


def drawless(**members):
    """The task as it begins without numbers that are drawn: at the stance, without noise, pushes and new commands."""

    def reset(self, m, rng):
        m.left, m.push = 1e9, 1e9
        return self.start, np.zeros(18)

    own = {"noise": 0.0, "randomise": None, "reset": reset, "kick": lambda self, rng: PUSH, **members}
    return type("DrawlessGo1", (exact(Go1VelocityFlat),), own)()


def randomised(m, rng):
    m = m.__copy__()
    feet = [m.geom(f"{leg}_foot_collision").id for leg in LEGS]
    m.geom_friction[feet] = [rng.uniform(0.3, 1.5), rng.uniform(1e-4, 2e-2), rng.uniform(1e-5, 5e-3)]
    m.body_ipos[1] += rng.uniform(-0.025, 0.025, 3)
    return m


def test_terms_and_observations_are_those_of_the_definition():
    """Random actions, parameters and biases, four commands; the second robot is pushed, the fourth stands still."""
    rng = np.random.default_rng(1)
    env = drawless(soft_limit=SOFT).batch(4, dtype="float64", threads=1)
    env.reset()
    env.memory("command")[:] = COMMANDS
    env.memory("push")[1] = 20 * 0.02
    bias = rng.uniform(-0.015, 0.015, (4, 12))
    env.memory("bias")[:] = bias
    models = [randomised(sensed(), rng) for _ in range(4)]
    for name in env.task.parameters:
        env.parameter(name)[:] = [np.ravel(getattr(m, name)) for m in models]
    robots = [Mjlab(m, np.array(q), b) for m, q, b in zip(models, env.q, bias)]
    told, rest = [], 0
    for step in range(STEPS):
        actions = rng.uniform(-1.2, 1.2, (4, 12)) * np.array([[1], [1], [1], [0]])
        obs, reward, terminated, truncated, info = env.step(actions)
        assert not terminated.any() and not truncated.any() and not info["non_finite"].any()
        for k, robot in enumerate(robots):
            terms, restless = robot.step(actions[k], COMMANDS[k])
            for name, value in terms.items():
                assert info["reward_terms"][name][k] == pytest.approx(0.02 * value, abs=1e-6), (name, k, step)
            assert reward[k] == pytest.approx(0.02 * sum(terms.values()), abs=1e-6)
            assert info["mean_action_acc"][k] == pytest.approx(restless, abs=1e-12)
            if k == 1 and step == 19:
                turned = robot.new.body("trunk").xmat.reshape(3, 3)
                robot.old.qvel[:6] += [*PUSH[:3], *(turned.T @ PUSH[3:])]
                robot.refresh()
            actor, critic = robot.observe(COMMANDS[k])
            np.testing.assert_allclose(obs["actor"][k], actor, atol=1e-6)
            np.testing.assert_allclose(obs["critic"][k], critic, atol=1e-4, rtol=1e-6)
            told.append({name: value != 0 for name, value in terms.items()})
            rest += robot.stand[0] > 0
    assert all(any(t[name] for t in told) for name in told[0]) and list(told[0]) == env.terms
    assert STEPS < rest < 3.9 * STEPS  # feet touched and flew
    assert (env.memory("age") == STEPS).all() and (env.memory("push")[1] >= 0.2).all()


def test_the_model_has_mjlabs_numbers():
    """Stiffness of 10 Hz and twice critical damping about the rotors' inertia behind gears of 6 and 9."""
    m = Go1VelocityFlat().scene()
    assert (m.nq, m.nv, m.nu, m.ngeom, m.opt.timestep, m.opt.impratio) == (19, 18, 12, 31, 0.005, 10)
    assert m.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    assert m.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    np.testing.assert_allclose(m.dof_armature[6:9], [0.004026, 0.004026, 0.009059], rtol=1e-3)
    np.testing.assert_allclose(m.actuator_gainprm[:3, 0], [15.895, 15.895, 35.765], rtol=1e-3)
    np.testing.assert_allclose(-m.actuator_biasprm[:3, 2], [1.0119, 1.0119, 2.2769], rtol=1e-3)
    np.testing.assert_allclose(m.actuator_forcerange[:3, 1], [23.7, 23.7, 35.55])
    assert not m.actuator_ctrllimited.any() and not m.dof_damping.any() and not m.dof_frictionloss.any()
    feet = [m.geom(f"{leg}_foot_collision").id for leg in LEGS]
    others = np.setdiff1d(np.arange(31), [*feet, m.geom("floor").id])
    assert (m.geom_condim[feet] == 6).all() and (m.geom_condim[others] == 1).all()
    assert (m.geom_priority[feet] == 1).all() and not m.geom_priority[others].any()
    np.testing.assert_allclose(m.geom_friction[feet], [[1, 5e-3, 5e-4]] * 4)
    np.testing.assert_allclose(m.geom_solref[[*feet, *others]], [[0.01, 1]] * 30)
    task = Go1VelocityFlat()
    task.model()
    np.testing.assert_allclose(task.action_scale[:3], [0.3727, 0.3727, 0.2485], rtol=1e-3)
    np.testing.assert_allclose(task.pose, STANCE)
    assert {"Go1VelocityFlat": Go1VelocityFlat} == TASKS


def test_a_robot_stands_and_one_that_leans_ends_its_episode():
    """By more than 70 degrees: 69 is fine, 71 is not."""
    env = drawless().batch(3, threads=1)
    env.reset()
    for _ in range(100):
        _, reward, terminated, _, _ = env.step(np.zeros((3, 12), np.float32))
        assert not terminated.any() and (reward > 0).all()
    assert (env.q[:, 2] > 0.22).all() and (np.abs(env.v) < 0.2).all() and env.memory("contact").all()
    assert (env.memory("stand") > 1.5).all() and not env.memory("air").any()
    for k, angle in ((1, 69), (2, 71)):
        half = np.deg2rad(angle) / 2
        env.q[k, 2:7] = [1.0, np.cos(half), np.sin(half), 0, 0]
    env.v[:] = 0
    assert env.step(np.zeros((3, 12), np.float32))[2].tolist() == [False, False, True]


def test_a_command_to_turn_follows_the_heading():
    """wz = 0.5 (heading - yaw), the shorter way round, at most 0.5; one that stands gets none."""
    env = drawless().batch(4, dtype="float64", threads=1)
    env.reset()
    env.memory("command")[:] = [[0.4, 0.1, 0.3]] * 4
    env.memory("heading")[:, 0] = [0.6, -2.9, 1.0, 1.0]
    env.memory("heads")[:, 0], env.memory("stands")[:, 0] = [1, 1, 0, 1], [0, 0, 0, 1]
    env.q[:, 2] = 1.0
    yaw = np.array([0.2, 2.6, 0.0, 0.0])
    env.q[:, 3:7] = np.stack([np.cos(yaw / 2), 0 * yaw, 0 * yaw, np.sin(yaw / 2)], axis=1)
    env.step(np.zeros((4, 12)))
    q = np.array(env.q[:, 3:7])
    yaw = np.arctan2(2 * (q[:, 0] * q[:, 3] + q[:, 1] * q[:, 2]), 1 - 2 * (q[:, 2] ** 2 + q[:, 3] ** 2))
    wanted = [0.5 * (0.6 - yaw[0]), 0.5 * (2 * np.pi - 2.9 - yaw[1]), 0.3]
    np.testing.assert_allclose(env.memory("command")[:3, 2], wanted, atol=1e-9)
    assert (env.memory("command")[:3, :2] == [0.4, 0.1]).all() and not env.memory("command")[3].any()
    env.memory("heading")[0] = 2.5
    env.step(np.zeros((4, 12)))
    assert env.memory("command")[0, 2] == 0.5


def test_what_is_drawn_is_that_of_the_definition():
    task, rng = Go1VelocityFlat(), NumpyDraws(3)
    m = task.model().compiled
    p = nominal(m, task.parameters)
    rows, found, drawn = Rows(task.memory), [], []
    for _ in range(MANY):
        drawn.append(
            {name: numbers(x) for name, x in task.randomise(rng, p, rows).items()} | {"bias": rows.bias.copy()}
        )
        q, v = map(numbers, task.reset(rows, rng))
        assert not v.any() and (q[7:] == STANCE).all() and (q[4:6] == 0).all()
        found.append(
            [*q[:3], 2 * np.arctan2(q[6], q[3]), *rows.command, *rows.left, *rows.push, *rows.heads, *rows.stands]
        )
    x = np.array(found)
    ahead = (x[:, 5] == 0) & (x[:, 6] == 0)
    for k, low, high, part in (
        (0, -0.5, 0.5, ...), (1, -0.5, 0.5, ...), (2, 0.288, 0.328, ...), (3, -3.14, 3.14, ...), (7, 3, 8, ...), (8, 1, 3, ...),
        (4, -1, 1, ~ahead), (5, -1, 1, ~ahead), (6, -0.5, 0.5, ~ahead), (4, 0.3, 1, ahead),
    ):  # fmt: skip
        y, near = x[part, k], 0.05 * (high - low)
        assert low - 1e-9 <= y.min() < low + near and high - near < y.max() <= high + 1e-9, k
    assert ahead.mean() == pytest.approx(0.2, abs=0.06)
    assert x[:, 9].mean() == pytest.approx(0.3, abs=0.06) and x[:, 10].mean() == pytest.approx(0.1, abs=0.05)
    of = {name: np.array([d[name] for d in drawn]) for name in drawn[0]}
    feet = [m.geom(f"{leg}_foot_collision").id for leg in LEGS]
    friction = of["geom_friction"]
    assert (friction[:, feet] == friction[:, feet[:1]]).all()
    others = np.setdiff1d(np.arange(m.ngeom), feet)
    assert (friction[:, others] == m.geom_friction[others]).all()
    slide, turn, roll = friction[:, feet[0]].T
    assert 0.3 <= slide.min() < 0.33 and 1.45 < slide.max() <= 1.5
    for y, low, high in ((turn, 1e-4, 2e-2), (roll, 1e-5, 5e-3)):
        assert low <= y.min() < 1.1 * low and 0.9 * high < y.max() <= high
        assert np.median(y) == pytest.approx(np.sqrt(low * high), rel=0.5)
    moved = of["body_ipos"] - m.body_ipos
    assert (np.abs(moved[:, 1]).max(axis=0) <= [0.025, 0.025, 0.03]).all()
    assert (np.abs(moved[:, 1]).max(axis=0) > [0.024, 0.024, 0.029]).all() and not moved[:, 2:].any()
    assert 0.0149 < np.abs(of["bias"]).max() <= 0.015
    kicks = np.array([numbers(task.kick(rng)) for _ in range(MANY)])
    assert (np.abs(kicks).max(axis=0) <= task.push_speed).all()
    assert (np.abs(kicks).max(axis=0) > 0.97 * np.array(task.push_speed)).all()


@pytest.mark.parametrize(
    ("age", "least", "most"),
    [
        (0, (-1, -1, -0.5), (1, 1, 0.5)),
        (120_000, (-1.5, -1, -0.7), (2, 1, 0.7)),
        (240_000, (-2, -1, -0.7), (3, 1, 0.7)),
    ],
)
def test_commands_get_wider_with_the_steps(age, least, most):
    task, rows = Go1VelocityFlat(), Rows(Go1VelocityFlat.memory)
    for at, expected in ((age, (least, most)), (age - 1, None)):
        rows.age = at
        low, high = map(numbers, task.speeds(rows))
        if expected:
            np.testing.assert_allclose((low, high), expected)
        elif age:
            assert (high - low).sum() < np.subtract(most, least).sum()


def test_a_batch_draws_pushes_commands_and_biases():
    """Over 9 s each is pushed and gets a new command, its bias stays, also from episode to episode where it is drawn at the start."""
    task = Go1VelocityFlat()
    task.randomise_at = "start"
    env = task.batch(16, seed=2)
    obs, _ = env.reset()
    bias, command = np.array(env.memory("bias")), np.array(env.memory("command"))
    pushed, renewed = np.zeros(16, bool), np.zeros(16, bool)
    for _ in range(450):
        left, until = np.array(env.memory("push"))[:, 0], np.array(env.memory("left"))[:, 0]
        obs, reward, _, _, info = env.step(np.zeros((16, 12), np.float32))
        assert np.isfinite(obs["actor"]).all() and np.isfinite(obs["critic"]).all() and np.isfinite(reward).all()
        assert not info["non_finite"].any()
        pushed |= np.array(env.memory("push"))[:, 0] > left
        renewed |= np.array(env.memory("left"))[:, 0] > until
    assert pushed.all() and renewed.all() and (np.array(env.memory("command")) != command).any(axis=1).all()
    np.testing.assert_array_equal(env.memory("bias"), bias)
    assert (np.abs(bias) <= 0.015).all() and np.ptp(bias, axis=0).min() > 0.01
    noise = obs["actor"][:, 9:21] - obs["critic"][:, 9:21] - bias
    assert np.abs(noise).max() <= 0.0101 and (np.abs(noise) > 0.008).any()
