"""skrl and TorchRL take featherstorm.rl.gymnasium as it is."""

import numpy as np
import pytest
from rail import STEPS, GroupedRail, Numbers, Rail

pytest.importorskip("gymnasium")
import torch

import featherstorm as fs
import featherstorm.rl

ENVS = 8


def actions(k):
    """Some drive to the edge."""
    drive = np.linspace(0, 2, ENVS)[:, None] + np.random.default_rng(k).uniform(-0.4, 0.4, (ENVS, 1))
    return np.clip(drive, -1, 1)


def test_skrl_sees_the_transitions(file):
    pytest.importorskip("skrl")
    from skrl.envs.wrappers.torch import wrap_env

    env = wrap_env(fs.rl.gymnasium(Rail(file), ENVS), wrapper="gymnasium")
    assert env.num_envs == ENVS and env.observation_space.shape == (4,)
    ones = [Numbers() for _ in range(ENVS)]
    seen = np.stack([one.reset() for one in ones])
    np.testing.assert_allclose(env.reset()[0].numpy(), seen, rtol=0, atol=1e-6)
    for k in range(2 * STEPS):
        a = actions(k)
        obs, reward, terminated, truncated, _ = env.step(torch.as_tensor(a, dtype=torch.float32))
        for i, one in enumerate(ones):
            seen[i], expected, *flags, _ = one.step(a[i])
            assert reward[i].item() == pytest.approx(expected, abs=1e-5)
            assert [terminated[i].item(), truncated[i].item()] == flags
            seen[i] = one.reset() if any(flags) else seen[i]
        np.testing.assert_allclose(obs.numpy(), seen, rtol=0, atol=1e-5)


def test_skrl_learns_on_it(file):
    pytest.importorskip("skrl")
    from skrl.agents.torch.ppo import PPO, PPO_CFG
    from skrl.envs.wrappers.torch import wrap_env
    from skrl.memories.torch import RandomMemory
    from skrl.trainers.torch import SequentialTrainer
    from skrl.utils.model_instantiators.torch import deterministic_model, gaussian_model

    env = wrap_env(fs.rl.gymnasium(Rail(file), ENVS), wrapper="gymnasium")
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space, "device": "cpu"}
    network = [{"name": "net", "input": "OBSERVATIONS", "layers": [16], "activations": "elu"}]
    models = {
        "policy": gaussian_model(**spaces, network=network, output="ACTIONS"),
        "value": deterministic_model(**spaces, network=network, output="ONE"),
    }
    for role, model in models.items():
        model.init_state_dict(role=role)
    before = [p.clone() for p in models["policy"].parameters()]
    settings = PPO_CFG(rollouts=16, learning_epochs=2, mini_batches=2)
    settings.experiment.write_interval = settings.experiment.checkpoint_interval = 0
    agent = PPO(
        models=models,
        memory=RandomMemory(memory_size=16, num_envs=ENVS, device="cpu"),
        cfg=settings,
        observation_space=env.observation_space,
        action_space=env.action_space,
        device="cpu",
    )
    SequentialTrainer(
        cfg={"timesteps": 48, "headless": False, "close_environment_at_exit": False}, env=env, agents=agent
    ).train()
    assert any((x != y).any() for x, y in zip(before, models["policy"].parameters()))
    assert all(torch.isfinite(p).all() for p in models["policy"].parameters())


# with "same_step" TorchRL 0.14 loses the last observations of groups, of gymnasium's SyncVectorEnv too
@pytest.mark.parametrize(("mode", "grouped"), [("same_step", False), ("disabled", False), ("disabled", True)])
def test_torchrl_sees_the_transitions(file, mode, grouped):
    pytest.importorskip("torchrl")
    from tensordict import TensorDict
    from torchrl.envs.libs.gym import GymWrapper

    env = GymWrapper(fs.rl.gymnasium((GroupedRail if grouped else Rail)(file), ENVS, autoreset=mode), device="cpu")
    names = ("actor", "critic") if grouped else ("observation",)
    data = env.reset()
    ones = [Numbers(grouped) for _ in range(ENVS)]
    for one in ones:  # TorchRL tries environments first
        one.episodes = int(env.unwrapped.batch.memory("episodes")[0, 0]) - 1
    seen = [one.reset() for one in ones]
    for i, one in enumerate(ones):  # where all end together TorchRL begins episodes anew
        one.steps = env.unwrapped.batch.episode_length[i] = i % 5
    last = list(seen)

    def check(found, expected):
        for name in names:
            rows = np.stack([x[name] if grouped else x for x in expected])
            np.testing.assert_allclose(found[name].numpy(), rows, rtol=0, atol=1e-5)

    ends = edges = 0
    for k in range(6 * STEPS):
        check(data, seen)
        a = actions(k)
        data["action"] = torch.as_tensor(a, dtype=torch.float32)
        data, after = env.step_and_maybe_reset(data)
        for i, one in enumerate(ones):
            last[i], expected, terminated, truncated, _ = one.step(a[i])
            done = terminated or truncated
            ends, edges = ends + done, edges + terminated
            assert data["next", "reward"][i].item() == pytest.approx(expected, abs=1e-5)
            assert data["next", "terminated"][i].item() == terminated
            assert data["next", "done"][i].item() == done
            seen[i] = one.reset() if done else last[i]
        check(data["next"], last)  # the last observation where an episode ended
        data = after
        assert isinstance(data, TensorDict)
    assert ends >= 6 * ENVS and edges > 0


def test_torchrl_collects(file):
    pytest.importorskip("torchrl")
    from torchrl.envs.libs.gym import GymWrapper
    from torchrl.envs.utils import check_env_specs

    env = GymWrapper(fs.rl.gymnasium(Rail(file), ENVS, autoreset="disabled"), device="cpu")
    check_env_specs(env)
    found = env.rollout(20, break_when_any_done=False)
    assert found.batch_size == (ENVS, 20) and torch.isfinite(found["next", "reward"]).all()
    assert (found["next", "done"].sum(1) >= 2).all()
