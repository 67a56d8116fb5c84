"""Networks that are their own image in a mirror, and what falls over a run of PPO."""

import dataclasses

import numpy as np
import pytest

import featherstorm as fs
from featherstorm.environment.mirror import Mirror
from featherstorm.learning.ppo import LEAST_AIM, PPO, Sums
from featherstorm.learning.settings import Settings
from featherstorm.learning.shac import SHAC
from robots import CartTask

UNCHANGED = np.float32(0), np.float32(1)  # mean and deviation of advantages that stay as they are
SETTINGS = Settings(envs=8, horizon=4, epochs=3, minibatch=10, actor=(8,), critic=(8,), steps=8 * 4 * 10, spread=False)


class Balancing(CartTask):
    """A cart with a pole, whose left is like its right."""

    steps, action_range = 3, (-2.0, 2.0)

    def reset(self, m, rng):
        return rng.uniform(-1, 1, 2), rng.uniform(-1, 1, 2)

    def reward(self, x, a, m):
        return np.cos(x.q[1]) - 0.1 * a[0] ** 2

    def observe(self, x, m, rng):
        pole = [np.sin(x.q[1]), np.cos(x.q[1])]
        return {"actor": [x.q[0], x.v[0], *pole], "critic": [np.cos(x.q[1]), *x.q, *x.v]}

    def mirror(self):
        return {"actor": Mirror(range(4), (-1, -1, -1, 1)), "critic": Mirror(range(5), (1, -1, -1, -1, -1)), "action": Mirror((0,), (-1,))}  # fmt: skip


def learner(kind=PPO, task=Balancing, threads=1, **changes):
    return kind(task().batch(8, seed=2), dataclasses.replace(SETTINGS, **changes), seed=2, threads=threads)


def collected(ppo):
    s = ppo.settings
    return ppo.acting.collect(ppo.env, s.horizon, ppo.actor, ppo.log_std, ppo.seen, True, True, False)


@pytest.mark.parametrize("learner_of", [PPO, SHAC])
def test_networks_are_their_own_images_from_first_to_last(learner_of):
    ppo = learner(learner_of, mirror=True, actor=(8, 6), critic=(4,), noise=-1.0)
    for k in range(4):
        if k:
            ppo.iteration()
        x, xc = (10 * np.random.default_rng(k).normal(size=(50, n)).astype(np.float32) for n in (4, 5))
        a, b = (ppo.actor(ppo.seen(y)) for y in (x, ppo.mirror["actor"](x)))
        np.testing.assert_allclose(b, -a, atol=1e-6 * np.abs(a).max())
        a, b = (ppo.critic(ppo.normaliser_of_critic(y)) for y in (xc, ppo.mirror["critic"](xc)))
        np.testing.assert_allclose(b, a, atol=1e-5 * np.abs(a).max())
    assert np.abs(ppo.actor.weights[0]).min() > 0 and np.ptp(ppo.critic(xc)) > 0
    plain = learner(learner_of, actor=(8, 6), critic=(4,), noise=-1.0)
    for k in (0, 2):  # random weights are as large as without a mirror
        a, b = (np.abs(p.actor.weights[k]).mean() for p in (learner(mirror=True, actor=(8, 6)), plain))
        assert 0.7 < a / b < 1.4 and (ppo.log_std != -1.0).all()


def test_deviations_are_those_of_the_image():
    task = type(
        "Two", (Balancing,), {"actions": 2, "mirror": lambda self: {**Balancing.mirror(self), "action": Mirror((1, 0))}}
    )
    ppo = learner(task=task, mirror=True)
    for _ in range(3):
        ppo.iteration()
    assert ppo.log_std[0] == ppo.log_std[1] != SETTINGS.noise


def test_a_mirror_goes_on_with_a_checkpoint_and_is_the_same_for_any_threads():
    runs = [learner(mirror=True, threads=threads) for threads in (1, 2, 1)]
    for ppo in runs[:2]:
        ppo.iteration()
    runs[2].restore(*runs[0].state())
    for ppo in runs:
        ppo.iteration()
    for ppo in runs[1:]:
        np.testing.assert_array_equal(ppo.actor_adam.numbers, runs[0].actor_adam.numbers)


def test_what_a_mirror_cannot_show_is_refused():
    class Lopsided(Balancing):
        action_range = (-1.0, 2.0)

    class Strange(Balancing):
        mirror = fs.Env.mirror

    with pytest.raises(ValueError, match="mirror: the range of actions is not symmetric"):
        learner(task=Lopsided, mirror=True)
    with pytest.raises(NotImplementedError, match="Strange has no method `mirror`: its left is not known to be like"):
        learner(task=Strange, mirror=True)
    for group, x, said in (
        ("critic", Mirror((0,)), "critic has 1 numbers, expected 5"),
        ("action", (), "action has 0 numbers, expected 1"),
    ):
        strange = type("Strange", (Balancing,), {"mirror": lambda self: {**Balancing.mirror(self), group: x}})
        with pytest.raises(ValueError, match=f"mirror: {said}"):
            learner(task=strange, mirror=True)
    with pytest.raises(ValueError, match="mirror: a hidden layer has 7 units, expected an even number"):
        learner(mirror=True, critic=(7,))
    with pytest.raises(ValueError, match="mirror is yes, expected no: sac does not support it"):
        Settings(algorithm="sac", mirror=True)
    learner(task=Strange)


def test_what_falls_over_a_run(monkeypatch):
    """The aim of KL to a tenth; the critic's rate and, where there is no aim, the actor's to 0, and the entropy's weight."""
    ppo = learner(anneal=True, kl=0.02, rate=1e-3, critic_rate=2e-3, entropy=0.1)
    assert ppo.left == 1
    ppo.steps = 240
    assert ppo.left == pytest.approx(0.25)
    asked = []
    told = Sums(np.zeros(1), np.zeros(1), np.array([0.007 * 32, 0, 0, 32]))
    monkeypatch.setattr(ppo, "gradients", lambda *minibatch: [told])
    monkeypatch.setattr(ppo.actor_adam, "step", lambda gradient, most: asked.append(ppo.actor_adam.rate))
    monkeypatch.setattr(ppo.critic_adam, "step", lambda gradient, most: None)
    ppo.update(0.0, 1.0)  # 0.007 lies between half and twice 0.25 of 0.02
    assert set(asked) == {1e-3} and ppo.critic_adam.rate == pytest.approx(0.25 * 2e-3)
    ppo.steps, ppo.rate = 320, 1e-3
    ppo.update(0.0, 1.0)  # and above twice a tenth of it
    assert LEAST_AIM == 0.1 and asked[-1] < 1e-3 and ppo.critic_adam.rate == 0
    plain = learner(anneal=True, kl=0.0, rate=1e-3)
    plain.steps = 80
    plain.prepare(collected(plain), 1.0)
    plain.update(0.0, 1.0)
    assert plain.actor_adam.rate == pytest.approx(0.75e-3)


def test_the_entropys_weight_falls(monkeypatch):
    slopes = []
    for steps in (0, 160, 320):
        ppo = learner(anneal=True, entropy=0.1)
        ppo.prepare(collected(ppo), 1.0)
        without = learner(anneal=True)
        ppo.steps = steps
        with_it, alone = (p.gradient(ppo.samples[0], np.arange(32), UNCHANGED).actor[-1] for p in (ppo, without))
        slopes.append((alone - with_it) / 32)
    np.testing.assert_allclose(slopes, [0.1, 0.05, 0.0], atol=1e-6)


def test_a_policy_that_is_not_finite_ends_the_run(monkeypatch):
    ppo = learner()
    told = Sums(np.full(1, np.nan, np.float32), np.zeros(1), np.array([0, 0, 0, 32]))
    monkeypatch.setattr(ppo, "gradients", lambda *minibatch: [told])
    with pytest.raises(ValueError, match="Balancing: the loss or the policy is not finite after 1 iterations"):
        ppo.iteration()
