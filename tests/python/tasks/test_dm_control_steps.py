"""Tasks of dm_control's suite step as theirs do: the same observation and reward from the same state and action."""

import inspect

import numpy as np
import pytest

pytest.importorskip("mujoco")

from dm_control_suite import begin_at, episode, flat, load, stepped, suite as theirs

from featherstorm.tasks import NAMES
from featherstorm.tasks.dm_control import TASKS, suite

# of observations relative to 1 + their size, and of rewards, over a control step from the same state
FLOAT64 = 1e-10
# of 19 steps in 20. In the others something may begin to touch a pass earlier or later, as depths are rounded, which changes speeds at once
FLOAT32 = {
    "acrobot": 1e-6,
    "ball_in_cup": 1e-5,
    "cartpole": 1e-6,
    "cheetah": 1e-5,
    "finger": 5e-5,
    "hopper": 5e-5,
    "humanoid": 1e-4,
    "pendulum": 1e-6,
    "point_mass": 1e-6,
    "quadruped": 1e-3,
    "reacher": 1e-6,
    "walker": 1e-4,
}
REWARD32 = 1e-5


def errors(found, begun, told):
    """Of the first observation, and of observation and reward of each step."""
    observed, reward, terminated, truncated, info = told
    assert not (terminated.any() or truncated.any() or info["non_finite"].any())
    return (
        np.abs(begun - found.first["observed"]).max(),
        (np.abs(observed - found.observed) / (1 + np.abs(found.observed))).max(axis=1),
        np.abs(reward - found.rewards),
    )


def test_there_are_the_tasks_of_twelve_domains():
    all_of_theirs = {f"dm_control/{domain}-{task}" for domain, task in theirs().ALL_TASKS}
    assert set(TASKS) <= all_of_theirs and len(TASKS) == 26
    assert {name.split("/")[1].split("-")[0] for name in TASKS} == set(FLOAT32)
    assert all(NAMES[name] is maker for name, maker in TASKS.items())


@pytest.mark.parametrize("name", TASKS)
def test_steps_from_the_same_state_are_the_suites(name):
    found = episode(name)
    assert 0 < found.rewards.mean() < 1, "a reward that is always the same says little"
    task = TASKS[name]()
    begun, observed, reward = errors(found, *stepped(task, found, "float64"))
    assert begun < 1e-13
    assert observed.max() < FLOAT64 and reward.max() < FLOAT64
    for part in {"touch", "force_torque"} & set(task.parts):
        assert (np.abs(found.observed[:, task.columns[part]]) > 0.1).any(), "nothing was touched"


@pytest.mark.parametrize("name", TASKS)
def test_steps_in_single_precision_are_near(name):
    found = episode(name)
    begun, observed, reward = errors(found, *stepped(TASKS[name](), found, "float32"))
    assert begun < 1e-6
    assert np.quantile(observed, 0.95) < FLOAT32[name.split("/")[1].split("-")[0]]
    assert np.quantile(reward, 0.95) < REWARD32


@pytest.mark.parametrize("name", TASKS)
def test_parts_and_lengths_are_the_suites(name):
    env, task = load(name), TASKS[name]()
    parts = {key: int(np.prod(shape)) for key, shape in episode(name).observation.items()}
    assert list(task.parts.items()) == list(parts.items())
    assert task.steps == env._step_limit
    assert (task.substeps or 1) == 1 and (task.dt or env.control_timestep()) == env.control_timestep()
    low, high = env.action_spec().minimum, env.action_spec().maximum
    batch = begin_at(task, episode(name).first).batch(1, dtype="float64")
    np.testing.assert_array_equal(batch.recording.low, low)
    np.testing.assert_array_equal(batch.recording.high, high)
    assert batch.dt == pytest.approx(env.control_timestep()) and batch.substeps == env._n_sub_steps


def test_a_free_running_episode_is_theirs_to_its_end():
    """All 1000 steps with the same actions; the last one truncates, none terminates."""
    for name in ("dm_control/cartpole-swingup", "dm_control/reacher-easy", "dm_control/point_mass-hard"):
        theirs, rng = load(name, 5), np.random.default_rng(5)
        first = episode(name).first
        ours = begin_at(TASKS[name](), first).batch(1, dtype="float64", autoreset="disabled")
        ours.reset()
        theirs.reset()
        theirs.physics.model.wrap_prm[:] = np.ravel(first["directions"]) if "directions" in first else 0
        if "target" in first:
            theirs.physics.named.model.geom_pos["target", :2] = first["target"]
        with theirs.physics.reset_context():
            theirs.physics.data.qpos[:], theirs.physics.data.qvel[:] = first["q"], first["v"]
        worst = 0.0
        for k in range(1000):
            a = rng.uniform(-1, 1, ours.recording.actions)
            observed, reward, terminated, truncated, _ = ours.step(a[None])
            told = theirs.step(a)
            worst = max(worst, np.abs(observed[0] - flat(told.observation)).max(), abs(reward[0] - told.reward))
            assert told.discount == 1 and not terminated[0]
            assert told.last() == truncated[0] == (k == 999)
        assert worst < 1e-9, name


def test_observations_come_in_parts():
    name = "dm_control/walker-walk"
    found = episode(name)
    begun, (observed, *_) = stepped(TASKS[name](), found, "float64")
    task = TASKS[name](flat_observation=False)
    env = begin_at(task, found.first).batch(1, dtype="float64")
    parts, _ = env.reset()
    assert list(parts) == ["orientations", "height", "velocity"]
    np.testing.assert_array_equal(np.concatenate([parts[key][0] for key in parts]), begun[0])
    assert task.columns == {"orientations": slice(0, 14), "height": slice(14, 15), "velocity": slice(15, 24)}
    assert observed.shape[1] == 24


def test_a_time_limit_is_in_seconds():
    assert TASKS["dm_control/walker-walk"](time_limit=1.0).steps == 40
    assert TASKS["dm_control/reacher-hard"](time_limit=0.05).steps == 3  # not before it has passed
    assert TASKS["dm_control/walker-walk"](time_limit=np.inf).steps is None
    with pytest.raises(ValueError, match="walker: time_limit is 0, expected a positive number of seconds"):
        TASKS["dm_control/walker-walk"](time_limit=0)


def test_all_tasks_take_the_arguments_of_all():
    for make in TASKS.values():
        made = make(time_limit=3.0, flat_observation=False)
        assert not made.flat_observation
    with pytest.raises(TypeError, match="unexpected keyword argument 'speeed'"):
        TASKS["dm_control/walker-walk"](speeed=3)
    assert "speed" in inspect.signature(TASKS["dm_control/walker-walk"]).parameters


def test_the_quadrupeds_file_is_as_the_suite_leaves_it():
    theirs = load("dm_control/quadruped-run").physics.model.ptr
    ours = TASKS["dm_control/quadruped-run"]().compiled
    arrays = [name for name in dir(theirs) if isinstance(getattr(theirs, name), np.ndarray)]
    for name in (
        n
        for n in arrays
        if n.startswith(("body", "jnt", "dof", "geom", "site", "tendon", "wrap", "eq", "actuator", "sensor"))
    ):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)


def test_a_missing_package_is_named(monkeypatch):
    suite.compiled_file.cache_clear()
    monkeypatch.setattr(suite, "find_spec", lambda name: None)
    with pytest.raises(
        FileNotFoundError,
        match="dm_control/reacher: its file comes with the package dm_control, which is not installed",
    ):
        TASKS["dm_control/reacher-easy"]()
