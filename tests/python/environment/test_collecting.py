"""Steps with the policy among the stages, against the same steps one by one."""

import itertools
import os
import signal
import threading

import numpy as np
import pytest
from slider import Slider

from featherstorm.environment.collecting import mlp, normal_action

B, T = 19, 30
LAYERS = (3, 8, 8, 1)


def weights(seed):
    rng = np.random.default_rng(seed)
    found = {"log_std": np.array([-0.5])}
    for k, (n, m) in enumerate(itertools.pairwise(LAYERS)):
        found[f"pi_W{k}"], found[f"pi_b{k}"] = rng.normal(0, 0.5, (m, n)), rng.normal(0, 0.1, m)
    return found


def policy(obs, w, rng):
    return normal_action(mlp(obs["actor"], w, "pi", len(LAYERS) - 1), w.log_std, rng)


def test_steps_are_those_of_step(robot):
    whole, single = (Slider(robot).batch(B, seed=6, dtype="float64") for _ in range(2))
    whole.reset(), single.reset()
    got = whole.collect(T, policy, weights(0))
    obs = single.resized(B, seed=6).reset()[0]
    np.testing.assert_array_equal(got.observations["actor"][0], obs["actor"])
    for t in range(T):
        obs, reward, terminated, truncated, info = single.step(got.actions[t])
        np.testing.assert_array_equal(got.observations["critic"][t + 1], obs["critic"])
        np.testing.assert_array_equal(got.observations["actor"][t + 1], obs["actor"])
        np.testing.assert_array_equal(got.reward[t], reward)
        np.testing.assert_array_equal(got.terminated[t], terminated)
        np.testing.assert_array_equal(got.truncated[t], truncated)
        done = info["_final_obs"]
        np.testing.assert_array_equal(got.final_observations["actor"][t][done], info["final_obs"]["actor"][done])
    assert (got.terminated | got.truncated).sum() > B
    np.testing.assert_array_equal(whole.q, single.q)
    np.testing.assert_array_equal(whole.episode, single.episode)
    # and on from there
    more = whole.collect(3, policy, weights(1))
    np.testing.assert_array_equal(more.observations["actor"][0], got.observations["actor"][-1])


def test_a_policy_is_what_it_says(robot):
    batch = Slider(robot).batch(B, seed=6, dtype="float64")
    batch.reset()
    for seed in (0, 1):  # other weights, the same kernels
        w = weights(seed)
        got = batch.collect(T, policy, w)
        x = got.observations["actor"][:-1]
        for k in range(3):
            x = x @ w[f"pi_W{k}"].T + w[f"pi_b{k}"]
            x = np.tanh(x) if k < 2 else x
        np.testing.assert_allclose(got.more["mean"], x[..., 0], atol=1e-12)
        z = (got.actions - x) / np.exp(w["log_std"])
        density = (-0.5 * z**2 - w["log_std"] - 0.5 * np.log(2 * np.pi)).sum(axis=2)
        np.testing.assert_allclose(got.more["log_prob"], density, atol=1e-9)
        assert abs(z.mean()) < 5 / z.size**0.5
        assert abs(z.std() - 1) < 0.1
        assert len(np.unique(z)) == z.size
    assert len(batch.kernels.collecting) == 1


def test_it_depends_on_no_neighbour_and_no_thread(robot):
    found = []
    for envs, threads in ((300, 2), (300, 1), (5, 1)):
        batch = Slider(robot).batch(envs, seed=2, threads=threads)
        batch.reset()
        found.append(batch.collect(40, policy, weights(0)).observations["actor"][:, :5])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.collect(0, policy, weights(0)), "steps is 0, expected 1 or more"),
        (lambda e: e.collect(2, lambda obs, w, rng: {"mean": obs["actor"][0]}), "expected an action among them"),
        (lambda e: e.collect(2, lambda obs, w, rng: obs["actor"]), "returned 3 numbers, expected 1"),
    ],
)
def test_what_cannot_be_is_said(robot, call, message):
    batch = Slider(robot).batch(4)
    batch.reset()
    with pytest.raises(ValueError, match=message):
        call(batch)


def test_arrays_are_those_of_a_named_library(robot):
    jax = pytest.importorskip("jax")
    found = []
    for arrays in (None, "jax"):
        batch = Slider(robot).batch(B, seed=6, arrays=arrays)
        batch.reset()
        found.append(batch.collect(4, policy, weights(0)))
    assert type(found[0].reward) is np.ndarray
    for name in ("actions", "reward", "terminated"):
        ours, theirs = getattr(found[1], name), getattr(found[0], name)
        assert isinstance(ours, jax.Array) and ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    assert isinstance(found[1].observations["actor"], jax.Array) and isinstance(found[1].more["log_prob"], jax.Array)


def test_other_modes_are_refused(robot):
    with pytest.raises(ValueError, match="autoreset is 'disabled', expected 'same_step'"):
        Slider(robot).batch(4, autoreset="disabled").collect(2, policy, weights(0))


def test_what_was_kept_goes_on_bit_for_bit(robot):
    first, second = (Slider(robot).batch(B, seed=6) for _ in range(2))
    first.reset()
    first.collect(T, policy, weights(0))
    kept = first.snapshot()
    second.restore(kept)  # which was never reset
    for _ in range(2):
        a, b = first.collect(T, policy, weights(1)), second.collect(T, policy, weights(1))
        assert (a.terminated | a.truncated).any()
        for x, y in (
            (a.actions, b.actions),
            (a.reward, b.reward),
            (a.observations["critic"], b.observations["critic"]),
            (a.final_observations["actor"], b.final_observations["actor"]),
        ):
            np.testing.assert_array_equal(x, y)
    first.restore(kept)  # and back again: by steps, whose returns go on as well
    second.restore(kept)
    action = np.zeros((B, 1), np.float32)
    for _ in range(T):
        a, b = first.step(action), second.step(action)
        done = a[4]["_final_obs"]
        np.testing.assert_array_equal(a[1], b[1])
        np.testing.assert_array_equal(a[4]["final_info"]["return"][done], b[4]["final_info"]["return"][done])
    np.testing.assert_array_equal(first.episode, second.episode)


def test_what_was_kept_of_others_is_refused(robot):
    batch = Slider(robot).batch(B)
    batch.reset()
    kept = batch.snapshot()
    with pytest.raises(ValueError, match=r"restore: q is float32 of shape \(19, 1\), expected float32 \(3, 1\)"):
        Slider(robot).batch(3).restore(kept)
    with pytest.raises(ValueError, match=r"restore: q is float32 of shape .*, expected float64"):
        Slider(robot).batch(B, dtype="float64").restore(kept)
    with pytest.raises(ValueError, match=r"restore: arrays are q, .*, expected q, .* as Slider has"):
        batch.restore({name: x for name, x in kept.items() if name != "v"})


def test_an_interrupted_collection_requires_a_reset(robot):
    batch = Slider(robot).batch(1000, seed=6)
    batch.reset()
    batch.collect(2, policy, weights(0), finals=False)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        batch.collect(20_000, policy, weights(0), finals=False)
    timer.join()
    with pytest.raises(RuntimeError, match=r"collect\(\) before reset\(\)"):
        batch.collect(2, policy, weights(0))
    other = Slider(robot).batch(1000, seed=7)
    half = np.arange(1000) < 500
    batch.reset(seed=7, mask=half)  # the others have no episode yet
    for call in (lambda: batch.collect(2, policy, weights(0)), lambda: batch.step(np.zeros((1000, 1)))):
        with pytest.raises(RuntimeError, match=r"before reset\(\) of 500 environments"):
            call()
    other.reset(), batch.reset(seed=7, mask=~half)
    got, expected = (b.collect(5, policy, weights(0)).observations["actor"] for b in (batch, other))
    np.testing.assert_array_equal(got, expected)
