"""Environments of several tasks in one batch: the bits of each task alone, one layout, one policy."""

import dataclasses

import numpy as np
import pytest

import featherstorm as fs
from featherstorm.environment.collecting import mlp
from featherstorm.learning.ppo import PPO
from featherstorm.learning.settings import Settings
from featherstorm.learning.training import one_thread
from robots import CartTask


class Cart(CartTask):
    """Balance the pole of a cart."""

    steps, action_range = 40, (-10.0, 10.0)

    def reset(self, m, rng):
        return rng.uniform(-0.1, 0.1, 2), rng.uniform(-0.1, 0.1, 2)

    def terminate(self, x, m):
        return np.abs(x.q[1]) > 0.5

    def reward(self, x, a, m):
        return np.cos(x.q[1]) - 0.01 * x.q[0] ** 2

    def observe(self, x, m, rng):
        return [*x.q, *x.v]


class Arm(fs.Env):
    """Hold both links of a double pendulum near a pose."""

    dt, substeps, steps = 0.02, 2, 40
    actions, action_range = 2, (-4.0, 4.0)

    def model(self):
        return fs.load("double_pendulum")

    def reset(self, m, rng):
        return rng.uniform(-0.5, 0.5, 2), np.zeros(2)

    def reward(self, x, a, m):
        return np.exp(-4 * (x.q - 0.2) @ (x.q - 0.2)) - 0.002 * a @ a

    def observe(self, x, m, rng):
        return [*(x.q - 0.2), *x.v, np.sin(x.q[0]), np.cos(x.q[0])]


class Same(Cart):
    action_range = (-4.0, 4.0)


def fleet(a=13, b=6, **options):
    return fs.tasks.fleet([(Cart(), a), (Arm(), b)], seed=4, **options)


def test_groups_have_the_bits_of_batches_alone():
    env = fleet()
    alone = Cart().batch(13, seed=4), Arm().batch(6, seed=4, first=13)
    obs, _ = env.reset()
    seen = [batch.reset()[0] for batch in alone]
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(60):
        assert obs.shape == (19, 6) and not obs[:13, 4:].any() and (obs != 0)[env.mask()].mean() > 0.7
        np.testing.assert_array_equal(obs[:13, :4], seen[0])
        np.testing.assert_array_equal(obs[13:], seen[1])
        a = rng.uniform(-1, 1, (19, 2)).astype("float32")
        obs, reward, terminated, truncated, info = env.step(a)
        steps = [alone[0].step(10 * a[:13, :1]), alone[1].step(4 * a[13:])]
        seen = [x[0] for x in steps]
        for found, k in ((reward, 1), (terminated, 2), (truncated, 3)):
            np.testing.assert_array_equal(found, np.concatenate([x[k] for x in steps]))
        np.testing.assert_array_equal(info["_final_obs"], terminated | truncated)
        rows = np.flatnonzero(info["_final_obs"][:13])
        np.testing.assert_array_equal(info["final_obs"][rows, :4], steps[0][4]["final_obs"][rows])
        ended += len(rows)
    assert ended > 5 and len(info["groups"]) == 2


def policy(obs, w, rng):
    mean = mlp(obs, w, "pi", 2, "tanh")
    return {"action": mean + 0.3 * rng.normal(size=2), "mean": mean}


def weights(n, width=8, seed=1):
    rng = np.random.default_rng(seed)
    return {"pi_W0": rng.normal(size=(width, n)), "pi_b0": np.zeros(width), "pi_W1": rng.normal(size=(2, width)), "pi_b1": np.zeros(2)}  # fmt: skip


@pytest.mark.parametrize("width", [8, 80], ids=["traced", "loops"])  # a larger network has a kernel of its own
def test_collect_has_the_steps_of_the_policy_in_one_layout(width):
    env, again = fleet(tag=True), fleet(tag=True)
    w = weights(8, width)
    for e in (env, again):
        e.reset()
    got = env.collect(50, policy, w)
    assert got.observations.shape == (51, 19, 8) and got.actions.shape == (50, 19, 2)
    np.testing.assert_array_equal(got.observations[:, :13, 6:], np.broadcast_to([1, 0], (51, 13, 2)))
    np.testing.assert_array_equal(got.observations[:, 13:, 6:], np.broadcast_to([0, 1], (51, 6, 2)))
    assert not got.observations[:, :13, 4:6].any() and not got.actions[:, :13, 1].any()
    x = got.observations[:50]
    mean = np.tanh(x @ w["pi_W0"].T.astype("float32")) @ w["pi_W1"].T.astype("float32")
    np.testing.assert_allclose(got.more["mean"], mean, rtol=1e-4, atol=1e-4)
    for t in range(50):
        obs, reward, terminated, truncated, info = again.step(got.actions[t])
        np.testing.assert_allclose(obs, got.observations[t + 1], rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(reward, got.reward[t], rtol=1e-3, atol=1e-3)
        np.testing.assert_array_equal(terminated | truncated, got.terminated[t] | got.truncated[t])
        again.restore(again.snapshot())
        if (terminated | truncated).any():
            ended = terminated | truncated
            np.testing.assert_allclose(info["final_obs"][ended], got.final_observations[t][ended], rtol=1e-3, atol=1e-3)
    assert got.terminated.any() and got.truncated.any()


def test_tasks_with_the_same_range_keep_their_units():
    env = fs.tasks.fleet([(Same(), 3), (Arm(), 2)])
    assert env.recording.low.tolist() == [-4, -4] and env.mask("action").sum(1).tolist() == [1, 1, 1, 2, 2]
    scaled = fleet()
    assert scaled.recording.low.tolist() == [-1, -1] and scaled.recording.high.tolist() == [1, 1]


def test_a_fleet_goes_on_from_a_snapshot_and_can_be_resized():
    env = fleet()
    env.reset()
    env.episode_length[:] = np.arange(19)
    assert np.asarray(env.episode_length).tolist() == list(range(19))
    assert np.asarray(env.batches[1].episode_length).tolist() == list(range(13, 19))
    kept = env.snapshot()
    a = np.random.default_rng(3).uniform(-1, 1, (30, 19, 2)).astype("float32")
    first = [env.step(x)[1] for x in a]
    env.restore(kept)
    np.testing.assert_array_equal(first, [env.step(x)[1] for x in a])
    other = env.resized(6, seed=4)
    assert [batch.num_envs for batch in other.batches] == [4, 2] and other.reset()[0].shape == (6, 6)
    np.testing.assert_array_equal(other.reset(seed=4)[0][:4], fleet().reset()[0][:4])
    assert [batch.num_envs for batch in env.resized(2).batches] == [1, 1]
    with pytest.raises(ValueError, match="there is no group of '7/q'"):
        env.restore({**kept, "7/q": kept["0/q"]})
    with pytest.raises(ValueError, match="arrays are"):
        env.restore({"0/q": kept["0/q"]})
    env.restore(kept)
    np.testing.assert_array_equal(first[0], env.step(a[0])[1])


class Push(Cart):
    """Move the cart to 0.3 m."""

    terminate = None

    def reward(self, x, a, m):
        return np.exp(-4 * (x.q[0] - 0.3) ** 2)


class Bend(Arm):
    """Bend the second joint to 0.5 rad."""

    action_range = (-10.0, 10.0)

    def reward(self, x, a, m):
        return np.exp(-2 * (x.q[1] - 0.5) ** 2)


def test_ppo_trains_one_policy_for_both_robots():
    settings = Settings(envs=256, horizon=32, epochs=4, minibatch=1024, actor=(32,), critic=(32,), steps=10**6, noise=-0.7,
                        rate=3e-3, critic_rate=3e-3, discount=0.95, trace=0.9, kl=0.0)  # fmt: skip
    env = fs.tasks.fleet([(Push(), 128), (Bend(), 128)], seed=2, tag=True)
    with one_thread():
        ppo = PPO(env, settings, seed=2)
        before, after = np.zeros(2), np.zeros(2)
        for k in range(30):
            got = ppo.collect()
            mean = np.array([got.reward[:, rows].mean() for rows in env.rows])
            before += mean * (k < 3) / 3
            after += mean * (k >= 27) / 3
            assert np.isfinite(ppo.iteration()["loss"])
    assert (after - before > (0.05, 0.25)).all(), (before, after)


def test_runs_are_the_same_for_any_threads_and_from_a_checkpoint():
    settings = Settings(envs=19, horizon=8, epochs=2, minibatch=40, actor=(8,), critic=(8,), steps=10**6, spread=True)
    with one_thread():
        one, two, other = (PPO(fleet(threads=threads), settings, seed=1, threads=threads) for threads in (1, 2, 2))
        for ppo in (one, two):
            ppo.iteration()
        other.restore(*two.state())
        for ppo in (one, two, other):
            ppo.iteration()
    np.testing.assert_array_equal(one.actor_adam.numbers, two.actor_adam.numbers)
    np.testing.assert_array_equal(one.actor_adam.numbers, other.actor_adam.numbers)


def test_what_does_not_fit_together_is_refused():
    class Slow(Cart):
        dt = 0.04

    class Grouped(Cart):
        def observe(self, x, m, rng):
            return {"actor": x.q, "critic": x.v}

    for error, said, groups in (
        (ValueError, "there are no groups", []),
        (TypeError, r"group 0 is .*, expected \(task, num_envs\)", [Cart()]),
        (ValueError, "num_envs of group 1 is 0, expected 1 or more", [(Cart(), 2), (Arm(), 0)]),
        (ValueError, "control step of group 0 takes 0.02 s, of group 1 0.04 s; expected one dt", [(Cart(), 2), (Slow(), 2)]),
        (ValueError, "group 0 observes one group, group 1 actor, critic; expected the same", [(Cart(), 2), (Grouped(), 2)]),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            fs.tasks.fleet(groups)
    with pytest.raises(ValueError, match="device is 'cuda', expected 'cpu'"):
        fleet(device="cuda")
    env = fleet()
    with pytest.raises(RuntimeError, match=r"step\(\) before reset"):
        env.step(np.zeros((19, 2), "float32"))
    env.reset()
    with pytest.raises(ValueError, match=r"actions has shape \(19, 1\), expected \(19, 2\)"):
        env.step(np.zeros((19, 1), "float32"))
    with pytest.raises(ValueError, match="keep is True, which batches of one task alone have"):
        env.collect(2, policy, weights(6), keep=True)
    with pytest.raises(ValueError, match="group is 'actor', expected one of one group, action"):
        env.mask("actor")
    with pytest.raises(ValueError, match="num_envs is 1, expected 2 or more"):
        env.resized(1)
    with pytest.raises(NotImplementedError, match="no method `mirror`"):
        PPO(env, dataclasses.replace(Settings(envs=19), mirror=True))
