"""The learner with a memory: its gradients, its targets, what it remembers, what it learns, checkpoints, and squashed policies."""

import dataclasses

import numpy as np
import pytest

import featherstorm as fs
from featherstorm.learning import sac
from featherstorm.learning.network import Network
from featherstorm.learning.sac import SAC, Replay
from featherstorm.learning.settings import Settings, settings_of
from featherstorm.learning.training import Training, resume
from robots import CartTask

TASK = "InvertedPendulum-v5"
SMALL = Settings(
    algorithm="sac",
    envs=8,
    horizon=8,
    minibatch=32,
    actor=(8, 8),
    critic=(8, 8),
    begin=64,
    updates=2,
    memory=256,
    noise=0.0,
)


class Cart(CartTask):
    """Episodes that are cut after 10 steps or end at an edge; the critic sees more than the actor."""

    steps, action_range = 10, (-1.0, 3.0)

    def reset(self, m, rng):
        return rng.uniform(-1, 1, 2), rng.uniform(-1, 1, 2)

    def terminate(self, x, m):
        return x.q[0] > 0.3

    def reward(self, x, a, m):
        return -((x.q[0] - 1.0) ** 2)

    def observe(self, x, m, rng):
        return {"actor": [*x.q, x.v[0]], "critic": [*x.q, *x.v, x.q[0] * x.q[0]]}


def in_double(x):
    """Its networks with numbers of float64, which are those of differences."""
    rng = np.random.default_rng(8)

    def of(network):
        return Network([w.astype(float) + rng.normal(0, 0.2, w.shape) for w in network.weights], network.activation)

    x.actor, x.critics, x.targets = of(x.actor), [*map(of, x.critics)], [*map(of, x.targets)]
    return x


def learner(**changes):
    x = SAC(Cart().batch(8, seed=4), dataclasses.replace(SMALL, **changes), 2, threads=1)
    x.iteration()
    return x


def check(weights, gradient, loss):
    """Beside central differences, number by number."""
    rng, parts = np.random.default_rng(1), np.split(gradient, np.cumsum([w.size for w in weights])[:-1])
    natural = np.abs(gradient).max()
    for w, g in zip(weights, parts):
        for k in rng.permutation(w.size)[:6]:
            at = np.unravel_index(k, w.shape)
            value, h, found = w[at], 1e-6, []
            for sign in (1, -1):
                w[at] = value + sign * h
                found.append(loss())
            w[at] = value
            assert g[k] == pytest.approx((found[0] - found[1]) / (2 * h), rel=1e-5, abs=1e-7 * natural)


@pytest.mark.parametrize("activation", ["tanh", "elu", "relu", "silu"])
def test_gradients_are_those_of_the_losses(activation):
    x = in_double(learner(activation=activation))
    rng = np.random.default_rng(3)
    obs, xc, action, target = (rng.normal(size=s) for s in ((40, 3), (40, 5), (40, 1), (40,)))
    seen = np.concatenate([xc, action], 1)
    _, critic = x.by_critics(seen, target)
    weights = [w for q in x.critics for w in q.weights]
    check(weights, critic, lambda: 0.5 * sum(np.square(q(seen)[:, 0] - target).mean() for q in x.critics))

    begun = x.rng.bit_generator.state

    def drawn():
        x.rng.bit_generator.state = begun  # the same numbers each time
        return x.draw(obs)

    def loss():
        """By another way to the density: that of u, divided by the slope of tanh."""
        d = drawn()
        out = x.actor(obs)
        log_std = -5 + 3.5 * (np.tanh(out[:, 1:]) + 1)
        u = out[:, :1] + np.exp(log_std) * d.noise
        density = np.exp(-0.5 * d.noise**2) / (np.exp(log_std) * np.sqrt(2 * np.pi)) * np.cosh(u) ** 2
        least = np.minimum(*(q(np.concatenate([xc, np.tanh(u)], 1))[:, 0] for q in x.critics))
        return (x.alpha * np.log(density)[:, 0] - least).mean()

    value, gradient = x.by_actor(drawn(), xc)
    assert value == pytest.approx(loss(), rel=1e-9)
    lower = [q(np.concatenate([xc, drawn().action], 1))[:, 0] for q in x.critics]
    assert 0 < (lower[0] < lower[1]).mean() < 1  # either critic is the lower one somewhere
    check(x.actor.weights, gradient, loss)


def test_densities_stay_finite_where_tanh_is_one():
    x = in_double(learner())
    x.actor.weights[-1][:] = [300.0, 0.0]
    d = x.draw(np.zeros((4, 3)))
    assert (d.action == 1).all() and np.isfinite(d.log_prob).all()
    # log(1 - tanh(u)^2) is 2 log 2 - 2 u there
    u = x.actor(np.zeros((4, 3)))[:, 0] + d.deviation[:, 0] * d.noise[:, 0]
    expected = -0.5 * d.noise[:, 0] ** 2 - d.log_std[:, 0] - 0.5 * np.log(2 * np.pi) - 2 * np.log(2) + 2 * u
    np.testing.assert_allclose(d.log_prob, expected, rtol=1e-12)


def test_targets_look_beyond_a_time_limit_and_not_beyond_an_end():
    x = learner()
    got = x.acting.collect(x.env, 16, x.actor, x.log_std, x.seen, True, True)
    cut = got.truncated & ~got.terminated
    assert got.terminated.sum() > 3 and cut.sum() > 3
    assert (np.abs(got.more["chosen"]) < 1).all() and got.actions.min() >= -1 and got.actions.max() <= 3
    np.testing.assert_allclose(got.actions[..., 0], 1 + 2 * got.more["chosen"], rtol=1e-5, atol=1e-6)
    rows = x.transitions(got)
    begun = x.rng.bit_generator.state
    found = x.target(
        x.seen(rows["after"]), x.seen_by_critic(rows["after_c"]), rows["reward"][:, 0], rows["going"][:, 0]
    )
    x.rng.bit_generator.state = begun

    # the same, step by step, of what collect returned
    s, after = x.settings, np.empty((16, 8, 3), np.float32)
    after_c = np.empty((16, 8, 5), np.float32)
    for t in range(16):
        for b in range(8):
            from_, at = (got.final_observations, t) if cut[t, b] else (got.observations, t + 1)
            after[t, b], after_c[t, b] = from_["actor"][at, b], from_["critic"][at, b]
    d = x.draw(x.seen(after.reshape(-1, 3)))
    seen = np.concatenate([x.seen_by_critic(after_c.reshape(-1, 5)), d.action], 1)
    worth = np.minimum(*(q(seen)[:, 0] for q in x.targets)) - x.alpha * d.log_prob
    expected = got.reward.ravel() + s.discount * np.where(got.terminated.ravel(), 0, worth)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(found.reshape(16, 8)[got.terminated], got.reward[got.terminated])
    # what is cut is another state than the one that the next episode begins with
    assert np.abs(after[cut] - got.observations["actor"][1:][cut]).max(1).min() > 0


def test_a_memory_has_the_last_rows_in_turn():
    memory, rng = Replay(10, {"a": 2, "b": 1}), np.random.default_rng(0)
    rows = {"a": np.arange(52.0).reshape(26, 2), "b": np.arange(26.0)[:, None]}
    for first, n in ((0, 4), (4, 4), (8, 4), (12, 14)):
        memory.add({name: x[first : first + n] for name, x in rows.items()})
        there = set(range(max(0, first + n - 10), first + n))
        found = memory.sample(rng, 500)
        assert set(found["b"][:, 0].astype(int)) == there and memory.count == len(there)
        np.testing.assert_array_equal(found["a"][:, 0], 2 * found["b"][:, 0])
        again = Replay(10, {"a": 2, "b": 1})
        again.restore(*memory.state())
        assert again.next == memory.next
        assert all(np.array_equal(x[: memory.count], again.arrays[n][: memory.count]) for n, x in memory.arrays.items())
    numbers, arrays = memory.state()
    with pytest.raises(ValueError, match=r"memory/a has shape \(10, 2\), expected \(10, 3\)"):
        Replay(10, {"a": 3, "b": 1}).restore(numbers, arrays)
    with pytest.raises(ValueError, match="memory has 10 rows, the next at 2, expected 9 rows at most"):
        Replay(9, {"a": 2, "b": 1}).restore(numbers, arrays)


def test_a_memory_without_room_says_so():
    with pytest.raises(
        MemoryError, match=r"memory of 1000000000000 steps needs 16000\.0 GB, which cannot be allocated"
    ):
        Replay(10**12, {"x": 4})


def test_targets_critics_follow_and_the_temperature_finds_the_entropy():
    x = learner(rate=1e-2, critic_rate=1e-2)
    before, was = x.followers.copy(), x.alpha
    x.update()
    np.testing.assert_allclose(
        x.followers, before + np.float32(SMALL.follow) * (x.critic_adam.numbers - before), rtol=1e-6, atol=1e-9
    )
    assert np.shares_memory(x.targets[1].weights[0], x.followers)
    above = float(-x.draw(x.seen(x.memory.sample(x.rng, 200)["x"])).log_prob.mean()) > SMALL.aim
    assert (x.alpha < was) == above
    entropy = [x.update()[1] for _ in range(2000)]
    assert np.mean(entropy[:100]) > 0 and np.mean(entropy[-1000:]) == pytest.approx(SMALL.aim, abs=0.1)


def test_a_checkpoint_goes_on_bit_for_bit(tmp_path, monkeypatch):
    monkeypatch.setitem(fs.tasks.NAMES.makers, "Cart", Cart)
    small = dataclasses.replace(SMALL, steps=64 * 8, evaluate=3)
    monkeypatch.setattr(sac, "WORTHWHILE", 0)  # threads are used where there are two
    whole = Training("Cart", tmp_path / "whole", small, seed=3, threads=2)
    assert whole.run() == "steps" and whole.learner.memory.count == 256  # the memory is full, and the oldest are gone
    for stop in (1, 3, 6):
        torn = Training("Cart", tmp_path / str(stop), small, seed=3, threads=1)
        for _ in range(stop):
            torn.iterate()
        torn.save()
        again = resume("Cart", tmp_path / str(stop), threads=2)
        assert again.learner.name == "SAC" and again.run() == "steps"
        numbers, arrays = again.learner.state()
        expected = whole.learner.state()
        assert {**numbers, "seconds": 0} == {**expected[0], "seconds": 0} and arrays.keys() == expected[1].keys()
        for name, x in expected[1].items():
            np.testing.assert_array_equal(x, arrays[name], name)


def test_a_policy_is_what_acted():
    x = learner()
    got = x.acting.collect(x.env, 4, x.actor, x.log_std, x.seen, False, False)
    policy = x.policy("Cart")
    assert policy.squash and policy.low == [-1] and policy.high == [3] and policy.group == "actor"
    np.testing.assert_allclose(policy({"actor": got.observations["actor"][:-1]}), got.actions, rtol=1e-5, atol=1e-5)


def test_settings_that_cannot_be_are_refused():
    assert settings_of(TASK, "sac").algorithm == "sac"
    for change, sentence in (
        ({"lessons": "0.1"}, r"lessons are \(0.1,\), expected none: sac keeps"),
        ({"memory": "0"}, "memory is 0, expected 1 or more"),
        ({"follow": "2"}, "follow is 2.0, expected 0 to 1"),
        ({"temperature": "0"}, "temperature is 0.0, expected a number above 0"),
    ):
        with pytest.raises(ValueError, match=sentence):
            SMALL.changed(change)
