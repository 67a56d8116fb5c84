"""Ground of sines: its heights, planes and nearest points beside numbers, what rests on it, and robots beside MuJoCo's steps."""

import mujoco
import numpy as np
import pytest
from velocity_oracle import NumpyDraws, Oracle, Rows, drawless, each, exact, nominal, numbers
from velocity_playground import LEGS, SOFT, Playground, assert_step_agrees, expected_scan

import featherstorm as fs
from featherstorm.tasks import velocity_waves
from featherstorm.tasks.velocity_waves import NEAR, Go1JoystickWaves, Go2JoystickWaves

COMMAND = np.array([0.8, -0.3, 0.5])
STEPS = 50
RNG = np.random.default_rng(5)
# of the greatest amplitudes, and near the shortest and longest waves
GROUNDS = [
    np.array([[0.05, 5.0, 1.0, 0.3], [0.06, -1.0, 2.5, 1.0], [0.04, 1.2, -1.0, 2.0]]),
    np.array([[0.07, 2.0, 4.7, -1.0], [0.03, 3.0, 0.0, 2.5], [0.05, 0.0, -1.6, 0.5]]),
]


GENTLE = [waves * [0.3, 1, 1, 1] for waves in GROUNDS]  # on which a robot stands whose joints hold still


def height(x, y, waves):
    return sum(w[0] * np.sin(w[1] * x + w[2] * y + w[3]) for w in waves)


def distance_by_search(c, waves):
    """Of a point from the ground, and the nearest point: a grid about it that gets finer."""
    at, wide = np.array(c[:2]), 0.3
    for _ in range(40):
        x, y = np.meshgrid(*(a + np.linspace(-wide, wide, 21) for a in at))
        away = (x - c[0]) ** 2 + (y - c[1]) ** 2 + (height(x, y, waves) - c[2]) ** 2
        k = np.unravel_index(np.argmin(away), away.shape)
        at, wide = np.array([x[k], y[k]]), 0.5 * wide
    return np.sqrt(away[k]), at


def points_near(waves, n=30):
    """Points up to 5 cm above and 1 cm below the ground."""
    xy = RNG.uniform(-3, 3, (n, 2))
    return np.column_stack([xy, height(*xy.T, waves) + RNG.uniform(-0.01, 0.05, n)])


@pytest.mark.parametrize("waves", GROUNDS)
def test_heights_and_slopes_are_the_functions(waves):
    points, h = RNG.uniform(-4, 4, (200, 2)), 1e-6
    np.testing.assert_allclose(velocity_waves.heights(points, waves), height(*points.T, waves), atol=1e-14)
    x, y = points.T
    expected = [
        (height(x + h, y, waves) - height(x - h, y, waves)) / (2 * h),
        (height(x, y + h, waves) - height(x, y - h, waves)) / (2 * h),
    ]
    np.testing.assert_allclose(velocity_waves.slopes(points, waves).T, expected, atol=1e-8)


@pytest.mark.parametrize("waves", GROUNDS)
def test_planes_touch_the_ground_where_it_is_nearest(waves):
    middles = points_near(waves)
    places, turns = velocity_waves.planes(middles, waves)
    np.testing.assert_allclose(np.linalg.norm(turns, axis=1), 1, atol=1e-14)
    for c, place, turn in zip(middles, places, turns):
        axes = np.zeros(9)
        mujoco.mju_quat2Mat(axes, turn)
        normal = axes.reshape(3, 3)[:, 2]
        away, at = distance_by_search(c, waves)
        np.testing.assert_allclose(place, [*at, height(*at, waves)], atol=1e-6)
        assert abs((c - place) @ normal) == pytest.approx(away, abs=1e-11)
        assert np.linalg.norm(np.cross(c - place, normal)) < 1e-10  # the middle is above the point, along the normal


@pytest.mark.parametrize("waves", GROUNDS)
def test_a_plane_under_a_foot_that_swings_does_not_touch_it(waves):
    """Higher than NEAR, where the nearest point is not found exactly."""
    for high in np.linspace(NEAR, 0.4, 12):
        xy = RNG.uniform(-3, 3, (50, 2))
        middles = np.column_stack([xy, height(*xy.T, waves) + high])
        places, turns = velocity_waves.planes(middles, waves)
        axes = np.zeros(9)
        for c, place, turn in zip(middles, places, turns):
            mujoco.mju_quat2Mat(axes, turn)
            assert (c - place) @ axes.reshape(3, 3)[:, 2] > 0.03


class Ball(fs.Env):
    """A ball on waves that its memory has."""

    steps = None
    memory = {"waves": (3, 4)}
    actions = 0
    parameters = ("geom_pos", "geom_quat")
    friction, damping, condim = 1.0, 0.0, 3

    def model(self):
        return fs.from_mujoco(
            mujoco.MjModel.from_xml_string(f"""
<mujoco><option timestep="0.002" integrator="implicitfast"/><default><geom condim="{self.condim}"/></default><worldbody>
  <geom name="ground" type="plane" size="0 0 1"/>
  <body name="ball"><freejoint/><geom name="ball" size=".05" mass=".5" friction="{self.friction} .02 .02"/></body>
</worldbody></mujoco>"""),
            "ball",
        )

    def actuate(self, x, a, m):
        return a

    def adapt(self, x, m):
        place, turn = (np.array(x.parameter(name), object) for name in self.parameters)
        place[:1], turn[:1] = velocity_waves.planes(x.q[None, :3], m.waves)
        return {"geom_pos": place, "geom_quat": turn}

    def reward(self, x, a, m):
        return 0.0

    def metrics(self, x, a, m):
        return {"force": x.contact_force("ball")}

    def after(self, x, a, m, rng):
        return {"v": (1 - self.damping) * x.v} if self.damping else None

    def observe(self, x, m, rng):
        return x.q


def test_a_ball_rests_in_a_valley_at_its_height():
    """Braked, it rolls down to where the ground is level, and lies as deep in it as on a plane: its middle a radius above the lowest
    point, held against its weight."""
    task = type("Braked", (Ball,), {"damping": 0.01})()
    env = task.batch(2, dtype="float64", threads=1)
    env.reset()
    for k, waves in enumerate(GROUNDS):
        env.memory("waves")[k] = waves
        env.q[k, :3] = [0.3, -0.2, height(0.3, -0.2, waves) + 0.06]
    for _ in range(15000):
        info = env.step(np.zeros((2, 0)))[4]
    on_level = type("Level", (Ball,), {})().batch(1, dtype="float64", threads=1)
    on_level.reset()
    on_level.q[0, 2] = 0.05
    for _ in range(1000):
        on_level.step(np.zeros((1, 0)))
    for k, waves in enumerate(GROUNDS):
        x, y, z = env.q[k, :3]
        slope = velocity_waves.slopes(np.array([[x, y]]), waves)
        assert np.abs(env.v[k, :3]).max() < 1e-3 and np.abs(slope).max() < 1e-3
        assert z - height(x, y, waves) == pytest.approx(on_level.q[0, 2], abs=1e-4)
        np.testing.assert_allclose(info["force"][k], [0, 0, 0.5 * 9.81], atol=1e-2)
        ring = [height(x + 0.3 * np.cos(a), y + 0.3 * np.sin(a), waves) for a in np.linspace(0, 2 * np.pi, 12)]
        assert min(ring) > height(x, y, waves)  # a valley


def test_the_force_of_the_ground_is_along_its_normal():
    """Without friction, of a ball that slides over hills; and it begins where the ball is a radius away."""
    task = type("Smooth", (Ball,), {"condim": 1})()
    env = task.batch(8, dtype="float64", threads=1)
    env.reset()
    start = RNG.uniform(-2, 2, (8, 2))
    for k in range(8):
        waves = GROUNDS[k % 2]
        env.memory("waves")[k] = waves
        env.q[k, :3] = [*start[k], height(*start[k], waves) + 0.07]
        env.v[k, :2] = RNG.uniform(-0.5, 0.5, 2)
    touched = 0
    for _ in range(300):
        before = np.array(env.q[:, :3])
        info = env.step(np.zeros((8, 0)))[4]
        for k, force in enumerate(info["force"]):
            away, at = distance_by_search(before[k], GROUNDS[k % 2]) if _ % 20 == 0 else (None, None)
            if away is None:
                continue
            inside = before[k, 2] < height(*before[k, :2], GROUNDS[k % 2])
            assert not inside
            assert (np.linalg.norm(force) > 0) == (away < 0.05) or abs(away - 0.05) < 1e-6
            if away < 0.05:
                normal = before[k] - [*at, height(*at, GROUNDS[k % 2])]
                np.testing.assert_allclose(force / np.linalg.norm(force), normal / away, atol=1e-5)
                touched += 1
    assert touched > 20
    assert (np.linalg.norm(np.array(env.q[:, :2]) - start, axis=1) > 0.1).all()


class Following(Oracle):
    """MuJoCo's steps with a plane under each foot, which is put anew before each pass by a search of its own."""

    def __init__(self, m, q, waves):
        self.waves = waves
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)  # its bounds are of planes where they were
        super().__init__(m, q)

    def step(self, ctrl, passes):
        self.old.ctrl = ctrl
        for _ in range(passes):
            mujoco.mj_kinematics(self.m, self.old)
            for leg in LEGS:
                c = self.old.geom(leg).xpos.copy()
                place, normal = refined(c, self.waves)
                plane = self.m.geom(f"floor_{leg}").id
                self.m.geom_pos[plane] = place
                mujoco.mju_quatZ2Vec(self.m.geom_quat[plane], normal)
            mujoco.mj_step(self.m, self.old)
        self.refresh()


def refined(c, waves):
    """The nearest point of the ground and its normal: downhill along the ground, from straight below."""
    at, h = np.array(c[:2]), 1e-5
    for _ in range(100):
        dx = (height(at[0] + h, at[1], waves) - height(at[0] - h, at[1], waves)) / (2 * h)
        dy = (height(at[0], at[1] + h, waves) - height(at[0], at[1] - h, waves)) / (2 * h)
        gradient = at - c[:2] + (height(*at, waves) - c[2]) * np.array([dx, dy])
        at = at - gradient / (1 + dx * dx + dy * dy)
        if np.abs(gradient).max() < 1e-13:
            break
    normal = np.array([-dx, -dy, 1])
    return np.array([*at, height(*at, waves)]), normal / np.linalg.norm(normal)


@pytest.mark.parametrize("task", each([Go1JoystickWaves, Go2JoystickWaves]))
def test_terms_and_observations_on_waves(task):
    """Two robots beside MuJoCo's steps; heights of feet and the scan are those of the function."""
    rng = np.random.default_rng(2)
    env = drawless(exact(task), COMMAND, soft_limit=SOFT).batch(2, dtype="float64", threads=1)
    env.reset()
    robots = []
    for k, waves in enumerate(GENTLE):
        env.memory("waves")[k] = waves
        env.q[k, 2] += max(height(*p, waves) for p in env.task.feet[:, :2]) + 0.01
        m = env.model.compiled.__copy__()
        ground = lambda points, w=waves: height(points[:, 0], points[:, 1], w)  # noqa: E731
        robots.append(Playground(m, env.task.pose, np.array(env.q[k]), ground))
        robots[-1].sim = Following(m, np.array(env.q[k]), waves)
    touched = 0
    for _ in range(STEPS):
        actions = rng.uniform(-0.3, 0.3, (2, 12))
        step = env.step(actions)
        for k, robot in enumerate(robots):
            terms, actor, critic = robot.step(actions[k], COMMAND)
            scan = expected_scan(robot, env.task)
            assert_step_agrees(step, k, terms, [*actor, *scan], [*critic, *scan])
            touched += robot.contact.sum()
    assert touched > 100 and (np.ptp(step[0]["actor"][:, 48:], axis=1) > 0.04).all()


@pytest.mark.parametrize("task", each([Go1JoystickWaves, Go2JoystickWaves]))
def test_feet_begin_on_the_ground_and_stand_on_it(task):
    """The first of them touches it, none is within it; after 2 s all touch it, a few millimetres deep."""
    one = drawless(task, (0.0, 0.0, 0.0))
    env = one.batch(2, threads=1)
    env.reset()
    for k, waves in enumerate(GENTLE):
        rows = type("Rows", (), {"waves": waves})()
        turned = one.start.copy()
        turned[:2], turned[3:7] = [0.4, -0.3], [np.cos(0.5), 0, 0, np.sin(0.5)]
        env.q[k], env.memory("waves")[k] = numbers(one.lifted(turned, rows)), waves

    def gaps():
        found = []
        for k, waves in enumerate(GENTLE):
            data = mujoco.MjData(env.model.compiled)
            data.qpos = env.q[k]
            mujoco.mj_kinematics(env.model.compiled, data)
            found.append([distance_by_search(data.geom(leg).xpos, waves)[0] - one.radius for leg in LEGS])
        return np.array(found)

    begun = gaps()
    assert (np.abs(begun.min(axis=1)) < 1e-3).all()
    for _ in range(100):
        assert not env.step(np.zeros((2, 12), np.float32))[2].any()
    assert (np.abs(gaps()) < 4e-3).all() and env.memory("contact").all() and np.abs(env.v).max() < 0.4


@pytest.mark.parametrize("task", each([Go1JoystickWaves]))
def test_waves_are_as_hard_as_their_level(task):
    one, rng = task(), NumpyDraws(4)
    p = nominal(one.model().compiled, one.parameters)
    for level in (0, 4, 9):
        rows, found = Rows(one.memory), []
        for _ in range(200):
            rows.levels[:] = level
            friction = numbers(one.randomise(rng, p, rows)["geom_friction"])
            assert (friction[one.planes, 0] == friction[one.floor, 0]).all()
            found.append(rows.waves.copy())
        found = np.array(found)
        total, length = found[:, :, 0].sum(axis=1), 2 * np.pi / np.hypot(found[:, :, 1], found[:, :, 2])
        assert 0.02 + 0.013 * level - 1e-12 <= total.min() and total.max() <= 0.02 + 0.013 * (level + 1) + 1e-12
        assert 1.2 - 1e-9 <= length.min() < 1.25 and 3.9 < length.max() <= 4 + 1e-9
        assert np.ptp(np.arctan2(found[:, :, 2], found[:, :, 1])) > 6 and np.ptp(found[:, :, 3]) > 6
