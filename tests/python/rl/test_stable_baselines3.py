"""featherstorm.rl.stable_baselines3: what stable-baselines3 itself gives for the same task, and its algorithms on it."""

import gymnasium
import numpy as np
import pytest
import stable_baselines3
from rail import TOLERANCE, GroupedRail, Rail, one_of
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecCheckNan, VecMonitor, VecNormalize

import featherstorm as fs
import featherstorm.rl

ENVS = 5


def agree(ours, theirs, tolerance):
    if isinstance(theirs, dict):
        assert set(ours) == set(theirs)
        for name in theirs:
            agree(ours[name], theirs[name], tolerance)
    else:
        assert np.shape(ours) == np.shape(theirs)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("grouped", [False, True])
def test_transitions_are_those_of_dummy_vec_env(file, grouped, dtype):
    ours = fs.rl.stable_baselines3((GroupedRail if grouped else Rail)(file), ENVS, dtype=dtype)
    theirs = DummyVecEnv([lambda: Monitor(one_of(gymnasium, grouped, with_info=False))] * ENVS)
    tolerance = 10 * TOLERANCE[dtype]
    agree(ours.reset(), theirs.reset(), tolerance)
    limits, ends = 0, 0
    for k in range(60):
        a = np.linspace(0, 2, ENVS)[:, None] + np.random.default_rng(k).uniform(-0.4, 0.4, (ENVS, 1))
        obs, reward, done, infos = ours.step(a)
        obs_2, reward_2, done_2, infos_2 = theirs.step(a)
        agree(obs, obs_2, tolerance)
        assert reward.dtype == reward_2.dtype
        agree(reward, reward_2, TOLERANCE["float32"])
        assert (done == done_2).all() and done.dtype == bool and len(infos) == ENVS
        for i in range(ENVS):
            if not done[i]:
                assert infos[i] == {}
                continue
            ends += 1
            limits += infos[i]["TimeLimit.truncated"]
            assert infos[i]["TimeLimit.truncated"] == infos_2[i]["TimeLimit.truncated"]
            agree(infos[i]["terminal_observation"], infos_2[i]["terminal_observation"], tolerance)
            assert infos[i]["episode"]["l"] == infos_2[i]["episode"]["l"]
            assert abs(infos[i]["episode"]["r"] - infos_2[i]["episode"]["r"]) < 1e-5
    assert 0 < limits < ends


def test_results_are_the_users_own(file):
    env = fs.rl.stable_baselines3(Rail(file), ENVS)
    kept = [(x, x.copy()) for x in (env.reset(),)]
    for _ in range(8):
        obs, reward, *_ = env.step(np.ones((ENVS, 1), np.float32))
        kept += [(obs, obs.copy()), (reward, reward.copy())]
    assert all((now == then).all() for now, then in kept)


def test_seeds_count_for_the_next_reset_alone(file):
    env = fs.rl.stable_baselines3(Rail(file), 3)
    assert env.seed(5) == [5, 5, 5]
    env.reset()
    assert (env.batch.view("env_key")[:, 0] == 5).all()
    episode = env.batch.view("env_episode").copy()
    env.reset()
    assert (env.batch.view("env_episode") == episode + 1).all()
    assert len(set(env.seed())) == 1


def test_attributes_are_found_by_name(file):
    env = fs.rl.stable_baselines3(Rail(file), 3)
    assert env.get_attr("num_envs", [0, 2]) == [3, 3] and env.has_attr("batch") and not env.has_attr("gravity")
    env.set_attr("level", 4)
    assert env.level == 4 and env.env_method("get_attr", "level", indices=1) == [[4, 4, 4]]
    assert env.env_is_wrapped(Monitor) == [True] * 3 and env.env_is_wrapped(gymnasium.Wrapper, 1) == [False]
    with pytest.raises(ValueError, match="level is one for all environments, expected indices=None"):
        env.set_attr("level", 5, 1)
    with pytest.raises(ValueError, match="the batch was made with autoreset='next_step', expected 'same_step'"):
        fs.rl.stable_baselines3(Rail(file).batch(2, autoreset="next_step"))
    with pytest.raises(ValueError, match="render_mode is None"):
        env.get_images()


def test_wrappers_take_it(file):
    env = VecCheckNan(VecNormalize(VecMonitor(fs.rl.stable_baselines3(Rail(file), ENVS))), raise_exception=True)
    env.reset()
    ends = [info["episode"]["l"] for _ in range(20) for info in env.step(np.zeros((ENVS, 1)))[3] if "episode" in info]
    assert ends == [7] * 2 * ENVS


@pytest.mark.parametrize(
    ("algorithm", "policy"), [("PPO", "MlpPolicy"), ("SAC", "MlpPolicy"), ("PPO", "MultiInputPolicy")]
)
def test_algorithms_learn_on_it(file, algorithm, policy):
    """Standing still near the middle is best; so much both find within a moment."""
    env = fs.rl.stable_baselines3((GroupedRail if policy == "MultiInputPolicy" else Rail)(file), 16)
    options = {"n_steps": 32, "batch_size": 128} if algorithm == "PPO" else {"learning_starts": 64, "batch_size": 32}
    model = getattr(stable_baselines3, algorithm)(policy, env, seed=1, device="cpu", **options)
    model.learn(1024 if algorithm == "PPO" else 512)
    assert len(model.ep_info_buffer) and 0 < model.ep_info_buffer[-1]["l"] <= 7
    mean, spread = evaluate_policy(model, env, n_eval_episodes=20)
    assert np.isfinite([mean, spread]).all() and 0 < mean < 7
