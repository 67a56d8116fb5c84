"""featherstorm.rl.rsl_rl: against the task with numbers, and rsl_rl's own runner on it."""

import numpy as np
import pytest
import torch
from rail import STEPS, GroupedRail, Numbers, Rail
from rsl_rl.env import VecEnv
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict

import featherstorm as fs
import featherstorm.rl

ENVS, GAMMA = 5, 0.9


def actions(k):
    drive = torch.linspace(0, 2, ENVS, dtype=torch.float64)[:, None]
    return drive + 0.4 * torch.from_numpy(np.random.default_rng(k).uniform(-1, 1, (ENVS, 1)))


def value(obs):
    """Any function of what is observed."""
    return 3 + obs["critic"][:, :1] ** 2 + obs["actor"][:, 1:]


@pytest.mark.parametrize("bootstrap", [None, value])
def test_transitions_are_those_of_the_task(file, bootstrap):
    env = fs.rl.rsl_rl(GroupedRail(file), ENVS, dtype="float64", bootstrap=bootstrap, gamma=GAMMA)
    assert isinstance(env, VecEnv) and (env.num_envs, env.num_actions, env.max_episode_length) == (ENVS, 1, STEPS)
    ones = [Numbers(grouped=True) for _ in range(ENVS)]
    seen = [one.reset() for one in ones]
    obs = env.get_observations()
    ends = limits = 0
    for k in range(50):
        for name in ("actor", "critic"):
            expected = np.stack([x[name] for x in seen])
            np.testing.assert_allclose(obs[name].numpy(), expected, rtol=0, atol=1e-12)
        assert env.episode_length_buf.tolist() == [one.steps for one in ones]
        a = actions(k)
        obs, reward, done, extras = env.step(a)
        assert isinstance(obs, TensorDict) and obs.batch_size == (ENVS,) and done.shape == reward.shape == (ENVS,)
        total, lengths = [], []
        for i, one in enumerate(ones):
            seen[i], expected, terminated, truncated, _ = one.step(a[i].numpy())
            limit = truncated and not terminated
            ends, limits = ends + (terminated or truncated), limits + limit
            assert done[i] == (terminated or truncated)
            assert extras["time_outs"][i] == (limit and bootstrap is None)
            if limit and bootstrap is not None:
                last = {name: torch.from_numpy(x)[None] for name, x in seen[i].items()}
                expected += GAMMA * value(last).item()
            assert reward[i].item() == pytest.approx(expected, abs=1e-12)
            if terminated or truncated:
                total.append(one.total)
                lengths.append(one.steps)
                seen[i] = one.reset()
        assert ("log" in extras) == bool(total)
        if total:
            assert extras["log"]["Episode/return"].item() == pytest.approx(np.mean(total), abs=1e-12)
            assert extras["log"]["Episode/length"].item() == np.mean(lengths)
    assert 0 < limits < ends


def test_sums_of_terms_are_logged(file):
    env = fs.rl.rsl_rl(Rail(file), ENVS, dtype="float64")
    ones = [Numbers() for _ in range(ENVS)]
    for one in ones:
        one.reset()
    for k in range(STEPS):
        a = 0.2 * actions(k)
        *_, extras = env.step(a)
        for one, x in zip(ones, a.numpy()):
            one.step(x)
    log = extras["log"]
    assert set(log) == {"Episode/return", "Episode/length", "Episode_Reward/near", "Episode_Reward/rate"}
    for name in ("near", "rate"):
        assert log[f"Episode_Reward/{name}"].item() == pytest.approx(
            np.mean([one.sums[name] for one in ones]), abs=1e-12
        )
    assert env.get_observations()["policy"].shape == (ENVS, 4)


def test_tensors_are_the_engines_memory(file):
    env = fs.rl.rsl_rl(Rail(file), ENVS)
    first = env.get_observations()["policy"]
    begun = first.clone()
    second = env.step(torch.ones(ENVS, 1))[0]["policy"]
    assert (first == begun).all()  # an algorithm stores what it acted on after the step
    third, reward, *_ = env.step(torch.ones(ENVS, 1))
    assert third["policy"].data_ptr() == first.data_ptr() != second.data_ptr()
    assert third["policy"].data_ptr() == env.batch.view("env_obs_").ctypes.data
    assert reward.data_ptr() == env.batch.view("env_reward").ctypes.data


def test_lengths_of_episodes_can_be_written(file):
    env = fs.rl.rsl_rl(Rail(file), ENVS)
    env.episode_length_buf = torch.tensor([0, 1, 4, 5, 6])
    ended = [env.step(torch.zeros(ENVS, 1))[2].tolist() for _ in range(3)]
    assert ended == [[0, 0, 0, 0, 1], [0, 0, 0, 1, 0], [0, 0, 1, 0, 0]]
    env.episode_length_buf[0] = STEPS - 1
    assert env.step(torch.zeros(ENVS, 1))[2].tolist() == [1, 0, 0, 0, 0]
    env.reset(seed=2)
    assert env.episode_length_buf.tolist() == [0] * ENVS and (env.batch.view("env_key")[:, 0] == 2).all()


def test_what_does_not_go_together_is_said(file):
    with pytest.raises(ValueError, match="made with autoreset='disabled', expected 'same_step'"):
        fs.rl.rsl_rl(Rail(file).batch(2, autoreset="disabled"))
    with pytest.raises(ValueError, match="expected arrays='torch' or None"):
        fs.rl.rsl_rl(Rail(file).batch(2, arrays="numpy"))
    env = fs.rl.rsl_rl(Rail(file), ENVS, bootstrap=lambda obs: torch.zeros(1))
    env.episode_length_buf = torch.full((ENVS,), STEPS - 1)
    with pytest.raises(ValueError, match="bootstrap returned 1 values for 5 observations"):
        env.step(torch.zeros(ENVS, 1))


NETWORK = {
    "class_name": "MLPModel",
    "hidden_dims": [16, 16],
    "activation": "elu",
    "obs_normalization": True,
}
SETTINGS = {
    "num_steps_per_env": 24,
    "save_interval": 10,
    "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
    "actor": {
        **NETWORK,
        "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0, "std_type": "log"},
    },
    "critic": NETWORK,
    "algorithm": {
        "class_name": "PPO",
        "num_learning_epochs": 2,
        "num_mini_batches": 2,
        "gamma": GAMMA,
        "schedule": "adaptive",
        "desired_kl": 0.01,
    },
}


def test_the_runner_learns_on_it(file, tmp_path):
    import copy

    torch.manual_seed(0)
    env = fs.rl.rsl_rl(Rail(file), 32, gamma=GAMMA)
    runner = OnPolicyRunner(env, copy.deepcopy(SETTINGS), str(tmp_path), "cpu")
    env.bootstrap = runner.alg.critic
    stored = []
    add = runner.alg.storage.add_transition
    observed = []

    def keep(transition):
        observed.append(transition.observations["policy"].clone())
        add(transition)

    runner.alg.storage.add_transition = keep
    act = runner.alg.act
    runner.alg.act = lambda obs: (stored.append(obs["policy"].clone()), act(obs))[1]
    runner.learn(3, init_at_random_ep_len=True)
    assert len(observed) == len(stored) == 3 * 24
    for acted, kept in zip(stored, observed):  # what is learnt from is what was acted on
        assert torch.equal(acted, kept)
    assert (tmp_path / "model_2.pt").exists()
    policy = runner.get_inference_policy("cpu")
    assert torch.isfinite(policy(env.get_observations())).all()
