"""The learner that climbs the simulation's gradients: the gradient itself, what it learns, and checkpoints."""

import mujoco
import numpy as np
import pytest

import featherstorm as fs
from featherstorm.learning.settings import Settings, settings_of
from featherstorm.learning.shac import SHAC
from featherstorm.learning.training import Training
from featherstorm.tasks.registry import NAMES

pytest.importorskip("gymnasium")
TASK = "InvertedPendulum-v5"
XML = """
<mujoco>
  <option timestep="0.02" integrator="implicitfast"/>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0" damping=".4"/><geom size=".1" mass="1"/>
      <body><joint name="turn" axis="0 1 0" damping=".05"/><geom type="capsule" fromto="0 0 0 0 0 .4" size=".03" contype="0" mass=".2"/></body>
    </body>
  </worldbody>
  <actuator><motor joint="x" gear="3" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>"""


class Pushed(fs.Env):
    """A block with a pole is pushed to a place, in episodes that are cut or end at an edge; the critic sees more than the actor."""

    steps, substeps = 6, 2
    memory = {"last": 1}

    def model(self):
        return fs.from_mujoco(mujoco.MjModel.from_xml_string(XML))

    def reset(self, m, rng):
        return rng.uniform(-0.3, 0.3, 2), rng.uniform(-0.3, 0.3, 2)

    def actuate(self, x, a, m):
        return 0.8 * a + 0.2 * m.last

    def terminate(self, x, m):
        return x.q[0] > 0.2

    def reward(self, x, a, m):
        return np.exp(-((x.q[0] - 1.0) ** 2)) - 0.1 * (a[0] - m.last[0]) ** 2 + 0.1 * np.cos(x.q[1])

    def after(self, x, a, m, rng):
        m.last = a

    def observe(self, x, m, rng):
        return {"actor": [*x.q, *x.v, m.last[0]], "critic": [*x.q, *x.v, m.last[0], x.q[0] * x.v[0]]}


def test_the_gradient_is_that_of_the_return():
    s = Settings(
        algorithm="shac", envs=16, horizon=8, actor=(8,), critic=(8,), discount=0.9, activation="elu", noise=-1.5
    )
    x = SHAC(Pushed().batch(16, seed=4), s, 2)
    x.iteration()  # so that there is something to normalise by
    rng = np.random.default_rng(0)
    x.critic_adam.numbers += rng.normal(0, 0.3, x.critic_adam.numbers.size).astype(np.float32)
    begun = x.env.snapshot()

    def collect(keep):
        x.env.restore(begun)
        return x.acting.collect(x.env, s.horizon, x.actor, x.log_std, x.seen, True, True, keep)

    def total():
        """J, summed step by step, and where episodes end."""
        got = collect(False)
        J, weight = 0.0, np.ones(16)
        value = lambda obs: x.critic(x.seen_by_critic(obs))[:, 0]  # noqa: E731
        for t in range(s.horizon):
            J += (weight * got.reward[t] * x.scale).sum()
            cut = got.truncated[t] & ~got.terminated[t]
            J += (weight * s.discount * value(got.final_observations["critic"][t]))[cut].sum()
            weight = np.where(got.terminated[t] | got.truncated[t], 1.0, weight * s.discount)
        ends = (got.terminated | got.truncated)[-1]
        J += (weight * value(got.observations["critic"][-1]))[~ends].sum()
        return J / (16 * s.horizon), got

    got = collect(True)
    assert got.terminated.any() and (got.truncated & ~got.terminated).any()  # both kinds of ends
    assert not (np.abs(got.actions) == 1).any()  # none at the end of its range
    gradient, lost = x.ascent(got)
    assert lost == 0
    before, checked = total()[1], 0
    for _ in range(12):
        along = rng.normal(size=gradient.size).astype(np.float32)
        kept, h, found = x.actor_adam.numbers.copy(), np.float32(2e-3), []
        for sign in (1, -1):
            x.actor_adam.numbers[:] = kept + sign * h * along
            found.append(total())
        x.actor_adam.numbers[:] = kept
        if any((f[1].terminated != before.terminated).any() for f in found):
            continue  # an end is a corner
        checked += 1
        slope = (found[0][0] - found[1][0]) / (2 * float(h))
        assert gradient @ along == pytest.approx(slope, rel=1e-2, abs=1e-2 * float(np.linalg.norm(gradient)))
    assert checked >= 6


class Balance(fs.Env):
    """The built-in cart-pole, which has no model file: the pole upright on a cart that a motor pushes, at most 200 a whole episode."""

    dt, substeps, steps = 0.04, 2, 200
    actions, action_range = 1, (-1.0, 1.0)

    def model(self):
        return fs.load("cartpole")

    def reset(self, m, rng):
        return rng.uniform(-0.2, 0.2, 2), rng.uniform(-0.2, 0.2, 2)

    def actuate(self, x, a, m):
        return np.concatenate([10 * a, [0.0]])

    def terminate(self, x, m):
        return np.logical_or(np.abs(x.q[1]) > 0.5, np.abs(x.q[0]) > 1.5)

    def reward(self, x, a, m):
        return 1 - x.q[1] ** 2 - 0.1 * x.q[0] ** 2 - 0.01 * a[0] ** 2

    def observe(self, x, m, rng):
        return [*x.q, *x.v]


def test_a_robot_without_a_model_file_is_balanced_within_seconds(tmp_path, monkeypatch):
    monkeypatch.setitem(NAMES.fill(), "Balance-v0", Balance)
    s = Settings(
        algorithm="shac", envs=64, horizon=16, actor=(32,), critic=(32,), activation="elu", noise=-1.0, rate=5e-3,
        critic_rate=5e-3, discount=0.98, steps=64 * 16 * 120, evaluate=20,
    )  # fmt: skip
    training = Training("Balance-v0", tmp_path / "run", s, seed=1, threads=2)
    assert training.run(until=195) == "return"
    assert training.history[0]["return"] is None or training.history[0]["return"] < 50
    again, _ = training.confirm()
    assert again.mean > 190 and not again.fell.any()
    assert sum(row["lost"] for row in training.history) == 0


def test_unknown_algorithms_are_refused():
    with pytest.raises(ValueError, match="algorithm is 'dqn', expected one of ppo, shac, sac"):
        Settings(algorithm="dqn")
    with pytest.raises(ValueError, match="algorithm is 'dqn'"):
        settings_of(TASK, "dqn")
