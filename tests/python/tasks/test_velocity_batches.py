"""Batches of the tasks with the engine's own draws."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from velocity_oracle import each

import featherstorm as fs
from featherstorm.tasks import (
    panda,
    velocity_humanoid,
    velocity_mjlab,
    velocity_quadruped,
    velocity_rough,
    velocity_terrain,
    velocity_waves,
)

MODULES = (
    velocity_quadruped,
    velocity_rough,
    velocity_terrain,
    velocity_waves,
    velocity_humanoid,
    velocity_mjlab,
    panda,
)
TASKS = {name: make for module in MODULES for name, make in module.TASKS.items()}
MANY = 256


def batch(name, num_envs=MANY, **options):
    return TASKS[name]().batch(num_envs, threads=1, **options)


def groups(obs):
    return obs.values() if isinstance(obs, dict) else [obs]


@pytest.mark.parametrize("name", each(TASKS))
def test_episodes_of_a_task_run_with_random_actions(name):
    """All numbers are finite, robots differ, and episodes that end begin again."""
    env = batch(name)
    obs, _ = env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = rng.uniform(-0.5, 0.5, (MANY, env.recording.actions)).astype(np.float32)
        obs, reward, _, _, info = env.step(actions)
        assert all(np.isfinite(x).all() for x in groups(obs)) and np.isfinite(reward).all()
        assert not info["non_finite"].any()
    assert all((np.ptp(x, axis=0) > 0).mean() > 0.8 for x in groups(obs))


@pytest.mark.parametrize("name", each(["Go1JoystickFlat", "Go2JoystickFlat"]))
def test_commands_parameters_and_noise_are_drawn(name):
    env = batch(name)
    obs, _ = env.reset(seed=1)
    command = np.array(env.memory("command"))
    assert (np.abs(command) <= [1.5, 0.8, 1.2]).all() and (np.ptp(command, axis=0) > [2.5, 1.3, 2.0]).all()
    friction = env.parameter("geom_friction").reshape(MANY, -1, 3)[:, env.task.floor, 0]
    assert 0.4 <= friction.min() < 0.45 and 0.95 < friction.max() <= 1
    noise = obs["actor"][:, 9:21] - obs["critic"][:, 63:75]  # of joints
    assert (np.abs(noise) <= 0.0301).all() and (np.ptp(noise, axis=0) > 0.05).all()


def test_harder_ground_follows_better_walking():
    """Levels of robots that walked go up; ground is drawn anew for each episode."""
    env = batch("Go2JoystickTerrain")
    env.reset(seed=1)
    before = np.array(env.memory("kind")[:, 0])
    assert sorted(set(before.tolist())) == [0, 1, 2, 3]
    env.memory("walked")[:] = [8, 10, 5, 0]
    env.reset()
    levels = np.array(env.memory("levels"))
    assert (levels[np.arange(MANY), before.astype(int)] == 1).all() and levels.sum() == MANY
    assert (np.array(env.memory("kind")[:, 0]) != before).any()


def test_all_are_known_by_their_names():
    assert {name: fs.tasks.NAMES[name] for name in TASKS} == TASKS
    assert {name: task.__name__ for name, task in TASKS.items()} == {name: name for name in TASKS}
