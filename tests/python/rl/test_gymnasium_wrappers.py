"""gymnasium's own wrappers, make_vec, images and videos on featherstorm.rl.gymnasium."""

import os
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import (
    DictInfoToList,
    NormalizeObservation,
    NormalizeReward,
    RecordEpisodeStatistics,
)
from rail import Rail, one_of
from test_gymnasium_env import MODES, actions, agree

import featherstorm as fs
import featherstorm.rl

ENVS = 6


def both(file, mode, wrap):
    ours = fs.rl.gymnasium(Rail(file), ENVS, autoreset=mode, dtype="float64")
    return wrap(ours), wrap(SyncVectorEnv([lambda: one_of(gymnasium, False)] * ENVS, autoreset_mode=MODES[mode]))


def agree_but_for_time(ours, theirs, where):
    for infos in (ours, theirs):
        if "episode" in infos:
            assert (infos["episode"].pop("t") >= 0).all()
    agree(ours, theirs, where)


@pytest.mark.parametrize("mode", ["same_step", "next_step"])
def test_statistics_and_normalised_rewards_are_those_of_sync_vector_env(file, mode):
    ours, theirs = both(file, mode, lambda env: NormalizeReward(RecordEpisodeStatistics(env)))
    for env in (ours, theirs):
        env.reset()
    for k in range(40):
        results = [env.step(actions(k)) for env in (ours, theirs)]
        for x, y in zip(*[result[:4] for result in results]):
            agree(x, y, f"step {k}")
        agree_but_for_time(results[0][4], results[1][4], f"step {k}")
    queues = [list(env.env.return_queue) for env in (ours, theirs)]
    assert len(queues[0]) > 20
    np.testing.assert_allclose(queues[0], queues[1], rtol=0, atol=1e-12)
    assert list(ours.env.length_queue) == list(theirs.env.length_queue)


def test_statistics_know_where_episodes_begin_with_a_mask(file):
    env = RecordEpisodeStatistics(fs.rl.gymnasium(Rail(file), ENVS, autoreset="disabled"))
    env.reset()
    for _ in range(3):
        env.step(np.zeros((ENVS, 1)))
    env.reset(options={"reset_mask": np.arange(ENVS) < 2})
    assert env.episode_lengths.tolist() == [0, 0, 3, 3, 3, 3]
    assert env.unwrapped.batch.episode_length.tolist() == [0, 0, 3, 3, 3, 3]


def test_normalised_observations_are_those_of_sync_vector_env(file):
    ours, theirs = both(file, "next_step", NormalizeObservation)
    agree(ours.reset()[0], theirs.reset()[0])
    for k in range(30):
        np.testing.assert_allclose(ours.step(actions(k))[0], theirs.step(actions(k))[0], rtol=0, atol=1e-5)


def test_infos_as_lists_are_those_of_sync_vector_env(file):
    ours, theirs = both(file, "next_step", DictInfoToList)
    for env in (ours, theirs):
        env.reset()
    for k in range(20):
        for mine, other in zip(ours.step(actions(k))[4], theirs.step(actions(k))[4]):
            assert set(mine) == set(other)
            for name, x in other.items():
                if isinstance(x, dict):
                    assert mine[name] == pytest.approx(x, abs=1e-12)
                else:
                    np.testing.assert_allclose(mine[name], x, rtol=0, atol=1e-12)


def test_make_vec_finds_what_is_registered(file):
    fs.rl.register("Rails/Rail-v3", Rail)
    env = gymnasium.make_vec("Rails/Rail-v3", num_envs=3, file=file, autoreset="disabled", dtype="float64", seed=4)
    assert isinstance(env, gymnasium.vector.VectorEnv) and env.spec.id == "Rails/Rail-v3" and env.num_envs == 3
    assert env.metadata["autoreset_mode"] is AutoresetMode.DISABLED and env.single_observation_space.dtype == np.float64
    assert env.batch.task.file == file and env.batch.task.steps == 7 and (env.batch.view("env_key")[:, 0] == 4).all()
    again = gymnasium.make_vec(env.spec)
    assert again.num_envs == 3 and again.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    short = gymnasium.make_vec("Rails/Rail-v3", num_envs=2, file=file, max_episode_steps=2)
    short.reset()
    assert [short.step(np.zeros((2, 1)))[3].tolist() for _ in range(3)] == [[False] * 2, [True] * 2, [False] * 2]


def test_importing_the_module_registers_tasks():
    """In a process of its own, by gymnasium's way to name a module."""
    script = """
import gymnasium
for name in ("featherstorm.rl:featherstorm/InvertedPendulum-v5", "featherstorm/HalfCheetah-v5"):
    env = gymnasium.make_vec(name, num_envs=2, reset_noise_scale=0.0)
    theirs = gymnasium.make(name.split("/")[1])
    print(env.spec.id, env.batch.task.reset_noise_scale, env.single_observation_space.shape == theirs.observation_space.shape)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n") == [
        "featherstorm/InvertedPendulum-v5 0.0 True",
        "featherstorm/HalfCheetah-v5 0.0 True",
        "",
    ], done.stderr


def test_importing_featherstorm_imports_no_learning_library():
    names = "gymnasium", "torch", "stable_baselines3", "rsl_rl", "jax"
    script = f"import sys, featherstorm as fs; assert not set(sys.modules) & {set(names)}; fs.rl.gymnasium"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def need_drawing():
    pytest.importorskip("mujoco")
    from featherstorm.viewing.frames import opengl

    try:
        opengl(8, 8).free()
    except ImportError as error:
        pytest.skip(str(error))


def redness(image):
    """Where the block is, in columns from the left."""
    red = (image[..., 0].astype(int) - image[..., 1] - image[..., 2]) > 40
    return np.nonzero(red)[1].mean() if red.any() else np.nan


def test_images_show_where_environments_are(file):
    need_drawing()
    env = fs.rl.gymnasium(Rail(file), 3, render_mode="rgb_array", width=96, height=64)
    env.reset()
    env.batch.q[:, 0] = [-0.12, 0, 0.12]
    images = env.render()
    assert len(images) == 3 and env.render() is images and env.call("render") is images
    shown = [redness(image) for image in images]
    assert shown[0] < shown[1] - 2 and shown[1] < shown[2] - 2, shown
    assert images[-1].shape == (64, 96, 3) and len(images[:2]) == 2
    with pytest.raises(IndexError, match="images: index is 3, expected -3 to 2"):
        images[3]
    late = env.render()
    env.step(np.zeros((3, 1)))
    assert late[0] is images[0]  # drawn before the step
    late = env.render()
    env.step(np.zeros((3, 1)))
    with pytest.raises(RuntimeError, match="the environments have been stepped since"):
        late[0]
    env.close()


def test_several_environments_in_one_image(file):
    need_drawing()
    from featherstorm import viewing

    batch = Rail(file).batch(5)
    batch.reset()
    batch.q[:, 0] = -0.1
    one, four = (viewing.render(batch, ids, width=96, height=64) for ids in ([3], range(4)))
    batch.q[3, 0] = 0.1
    assert redness(viewing.render(batch, [3], width=96, height=64)) > redness(one) + 2
    assert (viewing.render(batch, range(4), width=96, height=64) != four).any()
    np.testing.assert_array_equal(viewing.render(batch, range(3), width=96, height=64).shape, (64, 96, 3))
    with pytest.raises(ValueError, match="expected numbers from 0 to 4"):
        viewing.render(batch, [5])


class Pole(fs.Env):
    """A robot without a world."""

    dt, substeps, steps = 0.02, 2, 5

    def model(self):
        return fs.load("cartpole")

    def actuate(self, x, a, m):
        return [10 * a[0], 0.0]

    def reward(self, x, a, m):
        return np.cos(x.q[1])

    def observe(self, x, m, rng):
        return [*x.q, *x.v]

    actions = 1


def test_robots_without_a_world_are_shown_and_learnt_on():
    env = fs.rl.gymnasium(Pole(), 3, render_mode="rgb_array", width=96, height=64)
    obs, _ = env.reset()
    ended = [env.step(np.array([[1.0], [0.0], [-1.0]]))[3].tolist() for _ in range(5)]
    assert ended == [[False] * 3] * 4 + [[True] * 3] and obs.shape == (3, 4)
    obs = env.step(np.array([[1.0], [0.0], [-1.0]]))[0]
    assert obs[0, 0] > 0 > obs[2, 0] and obs[1, 0] == 0
    need_drawing()
    env.batch.q[:, 0] = [-0.5, 0, 0.5]
    images = env.render()
    assert (images[0] != images[2]).any() and images[1].std() > 5


def test_videos_are_recorded(file, tmp_path):
    need_drawing()
    pytest.importorskip("moviepy")
    from gymnasium.wrappers.vector import RecordVideo

    env = fs.rl.gymnasium(Rail(file), 4, autoreset="next_step", render_mode="rgb_array", width=64, height=64)
    env = RecordVideo(env, str(tmp_path), episode_trigger=lambda n: n < 2)
    env.reset()
    for _ in range(20):
        env.step(np.zeros((4, 1)))
    env.close()
    assert sorted(os.listdir(tmp_path)) == ["rl-video-episode-0.mp4", "rl-video-episode-1.mp4"]
    assert all(os.path.getsize(tmp_path / name) > 1000 for name in os.listdir(tmp_path))
