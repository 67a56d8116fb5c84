"""Quadrupeds on rough ground: the definition beside MuJoCo's steps, and heights beside MuJoCo's rays."""

import mujoco
import numpy as np
import pytest
from velocity_oracle import drawless, each, exact, numbers
from velocity_playground import LEGS, SOFT, Playground, assert_step_agrees, expected_scan

from featherstorm.tasks import velocity_rough, velocity_terrain
from featherstorm.tasks.velocity_rough import Go1JoystickRough, Go2JoystickRough
from featherstorm.tasks.velocity_terrain import Go1JoystickTerrain, Go2JoystickTerrain

STEPS = 50
COMMAND = np.array([0.8, -0.3, 0.5])


def grounds():
    """(quaternion of the plane, places, sizes of boxes) of each kind."""
    flat, none = np.array([1.0, 0, 0, 0]), (np.tile([0, 0, -10.0], (8, 1)), np.ones((8, 3)))
    tilted = np.array([np.cos(0.1), np.sin(0.1) * 0.6, np.sin(0.1) * 0.8, 0])
    u = np.random.default_rng(4).random((8, 5))
    boxes = velocity_terrain.stairs_up(0.02), velocity_terrain.stairs_down(0.1), velocity_terrain.obstacles(0.15, u)
    return [(tilted, *none), *((flat, numbers(place), numbers(size)) for place, size in boxes)]


class Rays:
    """The ground alone, by MuJoCo's rays from above."""

    def __init__(self, quat, places, sizes):
        spec = mujoco.MjSpec()
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.01], quat=quat)
        for place, size in zip(places, sizes):
            spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=size, pos=place)
        self.m = spec.compile()
        self.data = mujoco.MjData(self.m)
        mujoco.mj_kinematics(self.m, self.data)

    def __call__(self, points):
        hit = np.zeros(1, np.int32)
        down = np.array([0.0, 0, -1])
        return np.array(
            [5 - mujoco.mj_ray(self.m, self.data, np.array([*p[:2], 5.0]), down, None, 1, -1, hit) for p in points]
        )


@pytest.mark.parametrize("ground", grounds(), ids=velocity_terrain.KINDS)
def test_heights_are_those_that_rays_find(ground):
    points = np.random.default_rng(0).uniform(-4, 4, (500, 2))
    found = numbers(velocity_terrain.heights(points, *ground))
    np.testing.assert_allclose(found, Rays(*ground)(points), atol=1e-9)
    assert np.ptp(found) > 0.05


def put(env, grounds):
    """Grounds of environments, and models of MuJoCo with them."""
    models = []
    for k, (quat, place, size) in enumerate(grounds):
        m = env.model.compiled.__copy__()
        m.geom_quat[env.task.floor], m.geom_pos[env.task.boxes], m.geom_size[env.task.boxes] = quat, place, size
        # its bounds are of boxes where they were
        m.geom_rbound[env.task.boxes] = 100
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
        for name in ("geom_pos", "geom_size", "geom_quat"):
            env.parameter(name)[k] = np.ravel(getattr(m, name))
        models.append(m)
    return models


@pytest.mark.parametrize("task", each([Go1JoystickTerrain, Go2JoystickTerrain]))
def test_terms_and_observations_on_boxes_and_slopes(task):
    """One robot on each kind of ground, the one on stairs up with its forelegs on the first step."""
    rng = np.random.default_rng(2)
    env = drawless(exact(task), COMMAND, soft_limit=SOFT).batch(4, dtype="float64", threads=1)
    env.reset()
    all_of = grounds()
    models = put(env, all_of)
    env.q[1:3, 0] = velocity_terrain.FLAT - 0.1, velocity_terrain.FLAT - 0.6
    block = all_of[3][1][0, :2]
    env.q[3, :2] = block * (1 - 1.05 / np.hypot(*block))  # 1.05 m from the middle of an obstacle
    env.q[:, 2] += [0.08, 0.025, 0.81, 0.01]
    robots = [Playground(m, env.task.pose, np.array(q), Rays(*ground)) for m, q, ground in zip(models, env.q, all_of)]
    walked = np.zeros((4, 2))
    for _ in range(STEPS):
        actions = rng.uniform(-0.3, 0.3, (4, 12))
        step = env.step(actions)
        for k, robot in enumerate(robots):
            terms, actor, critic = robot.step(actions[k], COMMAND)
            scan = expected_scan(robot, env.task)
            assert_step_agrees(step, k, terms, [*actor, *scan], [*critic, *scan])
            speed = robot.sim.new.sensor("local_linvel").data[:2] @ COMMAND[:2] / np.linalg.norm(COMMAND[:2])
            walked[k] += [0.02 * speed, 0.02 * np.linalg.norm(COMMAND[:2])]
    np.testing.assert_allclose(env.memory("walked")[:, :2], walked, atol=1e-6)
    assert (np.ptp(step[0]["actor"][:, 48:], axis=1) > 0.02).all()


@pytest.mark.parametrize("task", each([Go1JoystickRough, Go2JoystickRough]))
def test_terms_and_observations_on_rocks(task):
    """Three robots on one field, each elsewhere on it."""
    rng = np.random.default_rng(3)
    env = drawless(exact(task), COMMAND, soft_limit=SOFT).batch(3, dtype="float64", threads=1)
    env.reset()
    floor, models = env.task.floor, []
    for k, place in enumerate([(0, 0), (5.5, -2), (-3, 4.2)]):
        m = env.model.compiled.__copy__()
        m.geom_pos[floor, :2] = place
        env.parameter("geom_pos")[k] = m.geom_pos.ravel()
        models.append(m)
    robots = [Playground(m, env.task.pose, np.array(q)) for m, q in zip(models, env.q)]
    touched = 0
    for _ in range(STEPS):
        actions = rng.uniform(-0.3, 0.3, (3, 12))
        step = env.step(actions)
        for k, robot in enumerate(robots):
            assert_step_agrees(step, k, *robot.step(actions[k], COMMAND))
            touched += robot.contact.sum()
    assert touched > 100
    assert np.ptp(env.q[:, 2]) > 0.003  # they stand at different heights [m]


def test_rocks_are_rough_and_smooth():
    """Up to 5 cm high, without steps from cell to cell."""
    field = velocity_rough.rocks()
    assert (field.min(), field.max()) == (0, 1)
    steps = np.abs(np.diff(field, axis=0)) * velocity_rough.RISE
    assert steps.mean() > 0.0005 and steps.max() < 0.03


@pytest.mark.parametrize("task", each([Go1JoystickTerrain, Go2JoystickTerrain]))
@pytest.mark.parametrize("kind", [0, 2])
def test_a_robot_begins_and_stands_where_the_ground_is(task, kind):
    """On a slope and on top of stairs it begins above the ground, and stands 2 s, its feet a few millimetres deep in it."""
    quat, place, size = grounds()[kind]
    quat = np.array([np.cos(0.04), 0.6 * np.sin(0.04), 0.8 * np.sin(0.04), 0]) if kind == 0 else quat
    one = drawless(task, (0.0, 0.0, 0.0))
    env = one.batch(1, threads=1)
    env.reset()
    put(env, [(quat, place, size)])
    rise = numbers([*velocity_terrain.heights(np.zeros((1, 2)), quat, place, size), *velocity_terrain.slope_of(quat)])
    q = numbers(one.lifted(one.start, type("Rows", (), {"rise": rise})()))
    env.q[0] = q
    data = mujoco.MjData(env.model.compiled)
    data.qpos = q
    mujoco.mj_kinematics(env.model.compiled, data)
    feet = np.array([data.geom(leg).xpos for leg in LEGS])
    clearance = feet[:, 2] - env.model.compiled.geom("FR").size[0] - Rays(quat, place, size)(feet)
    assert clearance.min() > -0.02 and clearance.max() < 0.15
    for _ in range(100):
        assert not env.step(np.zeros((1, 12), np.float32))[2].any()
    assert np.abs(env.v).max() < 0.4 and env.memory("contact").sum() >= 3
    data.qpos = env.q[0]
    mujoco.mj_kinematics(env.model.compiled, data)
    feet = np.array([data.geom(leg).xpos for leg in LEGS])
    # of a sphere on a slope of 0.08 the middle is 0.3 per cent of its radius higher
    deep = env.model.compiled.geom("FR").size[0] - (feet[:, 2] - Rays(quat, place, size)(feet))
    assert (np.abs(deep) < 5e-3).sum() >= 3 and (deep < 5e-3).all()
