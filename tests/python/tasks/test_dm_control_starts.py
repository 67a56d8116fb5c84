"""First states are drawn by the law of dm_control's suite, whether the tasks' functions draw from numpy's generator or from the
engine's numbers."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("mujoco")

import mujoco
from dm_control_suite import drawn, load

from featherstorm.tasks.dm_control import TASKS
from featherstorm.tasks.dm_control.suite import first_free, joint_positions, untouched

# task -> how many first states of theirs are looked at: of two that begin alike one
LAWS = {
    "acrobot-swingup": 300,
    "ball_in_cup-catch": 300,
    "cartpole-balance": 300,
    "cartpole-swingup": 300,
    "cheetah-run": 100,
    "finger-turn_easy": 300,
    "hopper-stand": 300,
    "humanoid-stand": 300,
    "pendulum-swingup": 300,
    "point_mass-hard": 300,
    "quadruped-walk": 40,
    "reacher-easy": 300,
    "walker-stand": 300,
}
# the probability that equal laws are further apart than the test takes; there are 150 comparisons
UNLIKELY = 1e-5


def begun(task, rng):
    """q, v and the memory of an episode of ours, in one row."""
    memory = SimpleNamespace()
    q, v = task.reset(memory, rng)
    return np.concatenate([q, v, *(np.ravel(getattr(memory, name)) for name in task.memory)])


def theirs(name, count):
    env, rows = load(name, 1), []
    for _ in range(count):
        env.reset()
        data = env.physics.data
        rows.append(np.concatenate([data.qpos, data.qvel, *map(np.ravel, drawn(env).values())]))
    return np.array(rows)


def assert_one_law(a, b):
    stats = pytest.importorskip("scipy.stats")
    for k, (x, y) in enumerate(zip(a.T, b.T)):
        if np.ptp(x) < 1e-12:
            np.testing.assert_allclose([y.min(), y.max()], x[0], atol=1e-12)
            continue
        assert stats.ks_2samp(x, y).pvalue > UNLIKELY, k
    # how coordinates go together: products of the standardised, each with the next
    for k in range(a.shape[1] - 1):
        if min(np.ptp(a[:, k]), np.ptp(a[:, k + 1])) > 1e-12:
            both = [standard(x, a)[:, k] * standard(x, a)[:, k + 1] for x in (a, b)]
            assert stats.ks_2samp(*both).pvalue > UNLIKELY, k


def standard(x, of):
    return (x - of.mean(0)) / np.maximum(of.std(0), 1e-12)


@pytest.mark.parametrize("name", LAWS)
def test_first_states_have_the_suites_law(name):
    """By numpy's generator, and by the engine's numbers."""
    task, rng = TASKS[f"dm_control/{name}"](), np.random.default_rng(2)
    ours = np.array([begun(task, rng) for _ in range(1000)])
    assert_one_law(ours, theirs(f"dm_control/{name}", LAWS[name]))
    env = task.batch(2000, dtype="float64")
    env.reset(seed=1)
    rows = [env.q, env.v, *(env.memory(key).reshape(2000, -1) for key in task.memory)]
    assert_one_law(np.concatenate(rows, axis=1), ours)


def test_a_quadruped_is_lifted_as_high_as_theirs():
    env, task = load("dm_control/quadruped-walk", 4), TASKS["dm_control/quadruped-walk"]()
    for _ in range(15):
        env.reset()
        q = env.physics.data.qpos.copy()
        fixed = SimpleNamespace(normal=lambda loc, turn=q[3:7]: 3.0 * turn)
        np.testing.assert_allclose(task.reset(None, fixed)[0], q, atol=1e-12)


@pytest.mark.parametrize("name", ["ball_in_cup-catch", "finger-spin"])
def test_touching_is_told_as_mujoco_tells_it(name):
    task, rng = TASKS[f"dm_control/{name}"](), np.random.default_rng(6)
    m = task.compiled
    data, counts = mujoco.MjData(m), [0, 0]
    for _ in range(1500):
        if name == "finger-spin":
            q = asked = joint_positions(m, rng)
        else:
            asked = rng.uniform([-0.2, 0.2], [0.2, 0.5])
            q = np.concatenate([np.zeros(2), asked])
        data.qpos[:] = q
        mujoco.mj_fwdPosition(m, data)
        touches = data.ncon > 0
        assert bool(task.touches(asked)) == touches, q
        counts[touches] += 1
    assert min(counts) > 100


def test_the_first_free_draw_is_taken():
    draws = iter([5.0, 4.0, 1.0, 3.0])
    assert first_free(4, lambda: next(draws), lambda x: x > 2) == 1
    draws = iter([5.0, 4.0, 6.0, 0.0])
    assert first_free(3, lambda: next(draws), lambda x: x > 2) == 6


def test_a_humanoid_begins_where_nothing_touches():
    task = TASKS["dm_control/humanoid-stand"](starts=40)
    m = task.compiled
    data, rng = mujoco.MjData(m), np.random.default_rng(3)
    assert task.first.shape == (40, 21) and len(np.unique(task.first[:, 0])) == 40
    for _ in range(60):
        data.qpos[:] = task.reset(None, rng)[0]
        mujoco.mj_fwdPosition(m, data)
        assert data.ncon == 0
        assert (data.qpos[7:] >= m.jnt_range[1:, 0]).all() and (data.qpos[7:] <= m.jnt_range[1:, 1]).all()
    draw = lambda rng: joint_positions(m, rng)  # noqa: E731
    np.testing.assert_array_equal(untouched(m, draw, 40)[:, 7:], task.first)


@pytest.mark.parametrize("name", ["cheetah-run", "humanoid-walk"])
def test_starts_are_a_whole_number(name):
    for starts in (0, 1.5):
        with pytest.raises(ValueError, match=f"starts is {starts}, expected 1 or more"):
            TASKS[f"dm_control/{name}"](starts=starts)


def test_ball_joints_are_refused():
    m = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint name='hip' type='ball'/><geom size='1'/></body></worldbody></mujoco>"
    )
    with pytest.raises(ValueError, match="joint_positions: hip is a ball joint, expected others"):
        joint_positions(m, np.random.default_rng(0))
