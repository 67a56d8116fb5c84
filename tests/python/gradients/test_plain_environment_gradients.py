"""Cotangents of control steps of robots without a model file's world, beside differences: trees, contacts, loops, coupled joints."""

import numpy as np
import pytest
from episodes import GIVEN, B, Episode, assert_nothing_goes_on_where_an_episode_ends, differences

import featherstorm as fs
from carrying import closed, feet, parallelogram
from featherstorm.device import HOST


class Cart(fs.Env):
    """A cart with a pole on one motor: memory, a delay, a push that `after` draws, a parameter, noise, an end of the rail."""

    dt, substeps, steps = 0.04, 3, 1000
    memory = {"last": 1, "sum": (2,)}
    parameters = ("damping",)
    actions, action_range = 1, (-1.0, 1.0)
    rail = 10.0

    def model(self):
        return fs.load("cartpole", parameters=("damping",))

    def randomise(self, rng, p):
        return {"damping": p.damping + rng.uniform(0.0, 0.2, 2)}

    def reset(self, m, rng):
        return rng.uniform(-0.5, 0.5, 2), rng.normal(0, 0.3, 2)

    def actuate(self, x, a, m):
        m.sum = 0.5 * m.sum + a[0] * x.q
        return np.concatenate([8 * np.sin(2 * m.last) + m.sum[1:] * x.v[:1], -0.1 * x.v[1:]])

    def terminate(self, x, m):
        return np.abs(x.q[0]) > self.rail

    def reward(self, x, a, m):
        return {"far": x.q[0] * a[0], "turn": np.cos(x.q[1]) - 0.01 * (x.v**2).sum(), "last": m.last[0] * x.q[1]}

    def after(self, x, a, m, rng):
        m.last = a + 0.1 * m.sum[:1]
        return {"v": x.v + 0.1 * rng.normal(size=2) * x.q[0]}

    def observe(self, x, m, rng):
        return [*x.q, *x.v, m.last[0] * x.q[0], *m.sum, *x.position("pole_1"), rng.normal() * x.q[1]]


class Legs(fs.Env):
    """A Go2 on its feet, or in the air, about a pose that its motors hold."""

    dt, substeps, steps = 0.01, 2, 1000
    memory = {"last": 12}
    pose = np.tile([0.0, 0.8, -1.6], 4)

    def __init__(self, contacts):
        self.contacts, self.actions = contacts, 12

    def model(self):
        return fs.load("go2", contacts=self.contacts)

    def reset(self, m, rng):
        turn = rng.uniform(-0.02, 0.02, 3)
        return [0, 0, 0.28, 1, *turn, *(self.pose + rng.uniform(-0.05, 0.05, 12))], rng.normal(0, 0.1, 18)

    def actuate(self, x, a, m):
        torques = 60 * (self.pose + 0.3 * a + 0.1 * m.last - x.q[7:]) - 3 * x.v[6:]
        return np.concatenate([np.zeros(6), torques])

    def reward(self, x, a, m):
        return -((x.q[2] - 0.3) ** 2) + 0.1 * x.v[0] - 0.01 * ((a - m.last) ** 2).sum() + 0.1 * x.position("FL_foot")[0]

    def after(self, x, a, m, rng):
        m.last = a

    def observe(self, x, m, rng):
        return [*x.q[2:], *x.v, *m.last[:2]]


class Crank(fs.Env):
    """A parallelogram, driven at one of its cranks."""

    dt, substeps, steps = 0.01, 3, 1000
    actions = 1

    def model(self):
        return parallelogram()

    def reset(self, m, rng):
        return closed(rng.uniform(0.6, 1.2)), closed(rng.uniform(-1, 1))

    def actuate(self, x, a, m):
        return [4 * a[0], 0.0, 0.1 * x.v[0]]

    def reward(self, x, a, m):
        return np.sin(x.q[0]) - 0.1 * x.v[1] ** 2

    def observe(self, x, m, rng):
        return [*x.q, *x.v]


class Hand(fs.Env):
    """A Panda whose fingers are coupled; resets leave them apart, and `after` pushes one alone."""

    dt, substeps, steps = 0.01, 2, 1000

    def model(self):
        return fs.load("panda", mimic="couple")

    def reset(self, m, rng):
        return rng.uniform(0.2, 0.6, 9), rng.normal(0, 0.3, 9)

    def actuate(self, x, a, m):
        return 20 * a - 0.5 * x.v * x.q

    def reward(self, x, a, m):
        return x.q[7] + x.q[8] ** 2 + 0.1 * (x.v[:7] ** 2).sum()

    def after(self, x, a, m, rng):
        return {"v": x.v * np.array([*[1.0] * 7, 0.7, 1.4]), "q": x.q + 0.01 * np.eye(9)[7] * x.q[0]}

    def observe(self, x, m, rng):
        return [*x.q, *x.v]


TASKS = {
    "tree": (Cart, 5, 3),
    "floating tree": (lambda: Legs(()), 3, 2),
    "contacts": (lambda: Legs(feet()), 3, 6),
    "loop": (Crank, 4, 3),
    "coupled joints": (Hand, 3, 2),
}


@pytest.mark.parametrize("task", TASKS)
def test_cotangents_are_those_of_differences(task):
    make, T, before = TASKS[task]
    episode = Episode(make(), T, before)
    assert episode.env.library.device == HOST and not episode.env.recording.world
    seen = np.ones(episode.by_last.shape[1], bool)
    found, _ = episode.gradients(seen)
    expected, smooth = differences(episode, seen)
    assert smooth.mean() > (0.6 if task == "contacts" else 0.999) and np.abs(found).max() > 1e-3
    error = np.abs(found - expected) / np.abs(expected).max((0, 1))
    assert error[smooth].max() < 1e-6, (np.argwhere(smooth & (error > 1e-6)), error[smooth].max())


def test_feet_do_carry():
    episode = Episode(Legs(feet()), 1, 6)
    assert (np.asarray(episode.env.view("impulse"))[:, ::3] > 0).any(1).all()


def test_where_an_episode_ends_nothing_goes_on():
    class Short(Cart):
        rail = 0.5

    episode = Episode(Short(), 6, 3)
    assert_nothing_goes_on_where_an_episode_ends(episode)


def test_the_same_in_float32():
    both = []
    for dtype in ("float32", "float64"):
        episode = Episode(Cart(), 4, 0, dtype)
        both.append(episode.gradients(np.ones(episode.by_last.shape[1], bool))[0])
    assert np.abs(both[0] - both[1]).max() < 1e-4 * np.abs(both[1]).max()


def test_cotangents_of_other_shapes_are_refused():
    env = Cart().batch(B, seed=1)
    env.reset()
    back = env.pull_back(env.collect(2, GIVEN, {"a": [0.1]}, keep=True))
    with pytest.raises(ValueError, match=r"reward_bar has shape \(3,\), expected \(8,\)"):
        back.step(np.ones(3))
    with pytest.raises(ValueError, match=r"observation_bar has shape \(8, 2\), expected \(8, 11\)"):
        back.step(None, np.ones((B, 2)))


def test_what_is_not_finite_is_lost_with_its_environment_and_counted():
    env = Cart().batch(B, seed=1, dtype="float64")
    env.reset()
    got = env.collect(3, GIVEN, {"a": [0.1]}, keep=True)
    found = []
    for bad in (1.0, np.nan):
        back, by = env.pull_back(got), np.ones(B)
        by[3] = bad
        found.append((np.stack([back.step(by), back.step(by), back.step(np.ones(B))]), back.lost))
    assert found[0][1] == 0 and found[1][1] == 2
    others = np.arange(B) != 3
    np.testing.assert_array_equal(found[1][0][:, others], found[0][0][:, others])
    assert np.isfinite(found[1][0]).all() and not found[1][0][:2, 3].any()


def test_what_does_not_depend_on_actions_has_none():
    class Still(Cart):
        actuate, memory, randomise = staticmethod(lambda x, a, m: [0.0, 0.0]), {}, None

        def reward(self, x, a, m):
            return 1.0

        def after(self, x, a, m, rng):
            return {}

        def observe(self, x, m, rng):
            return [1.0]

    env = Still().batch(B, seed=1)
    env.reset()
    back = env.pull_back(env.collect(2, GIVEN, {"a": [0.1]}, keep=True))
    for _ in range(2):
        assert not back.step(np.ones(B), np.ones((B, 1))).any()
        back.shorten(2.0)
    assert back.lost == 0
