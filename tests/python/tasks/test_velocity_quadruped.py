"""Quadrupeds that follow a command, against a text of the definition about MuJoCo's own steps."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from velocity_oracle import NEEDS_MJLAB, drawless, each, exact
from velocity_playground import LEGS, SOFT, Playground, assert_step_agrees, randomised

from featherstorm.tasks.velocity_quadruped import Go1JoystickFlat, Go2JoystickFlat

BOTH = pytest.mark.parametrize("task", each([Go1JoystickFlat, Go2JoystickFlat]))
STEPS = 50


@BOTH
def test_terms_and_observations_are_those_of_the_definition(task):
    """Random actions and parameters, three commands, one of them to stand still. Limits are narrower, so that joints reach them."""
    rng = np.random.default_rng(2)
    env = drawless(exact(task), soft_limit=SOFT).batch(3, dtype="float64", threads=1)
    env.reset()
    commands = np.array([[0.8, -0.3, 0.5], [0.0, 0.0, 0.0], [-1.2, 0.6, -1.0]])
    env.memory("command")[:] = commands
    models = [randomised(env.model.compiled, rng) for _ in range(3)]
    for name in env.task.parameters:
        env.parameter(name)[:] = [np.ravel(getattr(m, name)) for m in models]
    robots = [Playground(m, env.task.pose, np.array(q)) for m, q in zip(models, env.q)]
    told, seen = [], []
    for _ in range(STEPS):
        actions = rng.uniform(-0.5, 0.5, (3, 12))
        step = env.step(actions)
        for k, robot in enumerate(robots):
            terms, actor, critic = robot.step(actions[k], commands[k])
            assert_step_agrees(step, k, terms, actor, critic)
            told.append({name: value != 0 for name, value in terms.items()})
            seen.append(robot.contact)
    # each term but the end's was there, and feet touched and flew
    assert [n for n in told[0] if not any(t[n] for t in told)] == ["termination"]
    assert 0.1 < np.mean(seen) < 0.9


@BOTH
def test_a_robot_stands_under_zero_actions(task):
    env = drawless(task).batch(2, threads=1)
    env.reset()
    for _ in range(100):
        _, reward, terminated, _truncated, _ = env.step(np.zeros((2, 12), env.dtype))
        assert not terminated.any() and (reward > 0).all()
    assert (env.q[:, 2] > 0.2).all()  # the root [m]
    assert (np.abs(env.v) < 0.3).all()
    assert env.memory("contact").all()


@BOTH
def test_an_episode_ends_where_the_robot_is_tipped(task):
    """The second robot lies on its back; its last observation has gravity upwards."""
    env = drawless(task, (1.0, 0.0, 0.0)).batch(2, dtype="float64", threads=1)
    env.reset()
    env.q[1, 2:7] = [0.6, 0, 1, 0, 0]
    obs, reward, terminated, truncated, info = env.step(np.zeros((2, 12), env.dtype))
    assert terminated.tolist() == [False, True] and not truncated.any()
    assert info["_final_obs"].tolist() == [False, True]
    assert info["final_obs"]["actor"][1, 8] > 0.99
    assert info["reward_terms"]["termination"].tolist() == [0, -0.02]
    assert reward[1] == 0  # below 0, which is the least
    np.testing.assert_allclose(env.q[1], env.task.start)
    assert obs["actor"][1, 8] == -1 and (env.memory("command")[1] == [1, 0, 0]).all()


@NEEDS_MJLAB
def test_an_episode_is_truncated_after_20_seconds():
    env = drawless(Go1JoystickFlat).batch(1, threads=1)
    env.reset()
    env.episode_length[:] = 999
    _, _, terminated, truncated, _ = env.step(np.zeros((1, 12), env.dtype))
    assert not terminated.any() and truncated.all()


@NEEDS_MJLAB
def test_the_go1_has_the_numbers_of_playgrounds_file():
    """Of go1_mjx_feetonly.xml, from MuJoCo Menagerie."""
    m = Go1JoystickFlat().scene()
    assert (m.nq, m.nv, m.nu, m.opt.timestep) == (19, 18, 12, 0.004)
    assert m.body_mass.sum() == pytest.approx(5.204 + 4 * (0.68 + 1.009 + 0.195862))
    assert [m.joint(k + 1).name[:2] for k in range(0, 12, 3)] == list(LEGS)
    np.testing.assert_allclose(m.actuator_forcerange[:3, 1], [23.7, 23.7, 35.55])
    np.testing.assert_allclose(m.dof_frictionloss[6:9], [0.3, 0.3, 1.0])
    np.testing.assert_allclose(m.actuator_gainprm[:, 0], 35)
    assert (m.dof_damping[6:] == 0.5).all() and (m.dof_armature[6:] == 0.005).all() and not m.dof_damping[:6].any()
    touching = [m.geom(g).name for g in range(m.ngeom) if m.geom_contype[g] or m.geom_conaffinity[g]]
    assert touching == ["floor", *LEGS]
    assert (m.geom("FR").size[0], m.geom("floor").friction[0]) == (0.023, 0.6)


def test_a_missing_package_is_named(monkeypatch):
    from featherstorm.tasks import velocity_robots

    monkeypatch.setattr(velocity_robots.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match="go1 is a file of the package mjlab"):
        Go1JoystickFlat().scene()
