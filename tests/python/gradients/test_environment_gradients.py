"""Cotangents of control steps of environments beside differences of them."""

import mujoco
import numpy as np
import pytest
from episodes import GIVEN, B, Episode, assert_nothing_goes_on_where_an_episode_ends, differences

import featherstorm as fs

pytest.importorskip("gymnasium")
BLOCK = """
<mujoco>
  <option timestep="0.01" integrator="{integrator}"/>
  <worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 .095"><freejoint/><geom type="box" size=".1 .08 .1" mass="1"/>
      <body pos="0 0 .1"><joint name="arm" axis="0 1 0" damping=".1" armature=".01"/><geom type="capsule" contype="0" size=".02 .1" mass=".2"/></body>
    </body></worldbody>
  <actuator><position joint="arm" kp="4" kv=".2"/></actuator>
</mujoco>"""


class Block(fs.Env):
    """A block that stands and slides, with an arm: memory, a delay, a push that `after` draws, a parameter, times and noise."""

    substeps, steps = 3, 1000
    memory = {"last": 1, "sum": (2,)}
    parameters = ("geom_friction",)
    actions, action_range = 1, (-1.0, 1.0)
    file = BLOCK

    def __init__(self, integrator="Euler"):
        self.integrator = integrator

    def model(self):
        return fs.from_mujoco(mujoco.MjModel.from_xml_string(self.file.format(integrator=self.integrator)))

    def randomise(self, rng, p):
        return {"geom_friction": p.geom_friction * rng.uniform(0.4, 1.2)}

    def reset(self, m, rng):
        turn = rng.uniform(-0.02, 0.02, 3)
        return [0, 0, 0.096, 1, *turn, rng.uniform(-0.5, 0.5)], rng.normal(0, 0.3, 7)

    def actuate(self, x, a, m):
        m.sum = 0.5 * m.sum + a[0] * x.q[:2]
        return np.sin(2 * m.last) + m.sum[1:] * x.v[:1] + 0.1 * x.time

    def reward(self, x, a, m):
        return {"far": x.q[0] * a[0] - 0.3 * x.q[2], "turn": -(x.v[3:6] ** 2).sum() * 0.01, "last": m.last[0] * x.q[7]}

    def after(self, x, a, m, rng):
        m.last = a + 0.1 * m.sum[:1]
        return {"v": x.v + np.concatenate([0.1 * rng.normal(size=2) * x.q[7], np.zeros(5)])}

    def observe(self, x, m, rng):
        return [*x.q, *x.v, m.last[0] * x.q[0], *m.sum, x.time, rng.normal() * x.q[1]]


class WideBlock(Block):
    """With more candidates of contacts than devices have in one program."""

    file = BLOCK.replace('mass="1"/>', 'mass="1"/><geom type="box" size=".1 .02 .1" pos="0 .1 0" mass=".2"/>')


# how many numbers of the observation are taken: those behind are forces of contacts, which are held
TASKS = {
    "block": (Block, 4, 12, None),
    "block, RK4": (lambda: Block("RK4"), 3, 12, None),
    "block, implicit": (lambda: Block("implicitfast"), 3, 12, None),
    "InvertedPendulum-v5": (lambda: fs.tasks.make("InvertedPendulum-v5"), 3, 8, None),
    "HalfCheetah-v5": (lambda: fs.tasks.make("HalfCheetah-v5"), 2, 30, None),
    "Hopper-v5": (lambda: fs.tasks.make("Hopper-v5"), 3, 10, None),
    "Ant-v5": (lambda: fs.tasks.make("Ant-v5"), 2, 20, 27),
    "Humanoid-v5": (lambda: fs.tasks.make("Humanoid-v5", contact_cost_weight=0.0), 2, 10, 253),
    "InvertedDoublePendulum-v5": (lambda: fs.tasks.make("InvertedDoublePendulum-v5"), 3, 6, 8),
    "Go1JoystickFlat": (lambda: fs.tasks.make("Go1JoystickFlat"), 2, 20, None),
    "Go1JoystickTerrain": (lambda: fs.tasks.make("Go1JoystickTerrain"), 1, 20, None),
    "G1JoystickFlat": (lambda: fs.tasks.make("G1JoystickFlat"), 1, 10, None),
}


@pytest.mark.parametrize("task", TASKS)
def test_cotangents_are_those_of_differences(task):
    make, T, before, count = TASKS[task]
    episode = Episode(make(), T, before)
    n = episode.by_last.shape[1]
    seen = np.arange(n) < (n if count is None else count)
    found, got = episode.gradients(seen)
    expected, smooth = differences(episode, seen)
    going = ~(got.terminated | got.truncated)[:-1].any(0)  # the differences see what a reset draws, too
    smooth &= going
    assert smooth.mean() > 0.6 and np.abs(found).max() > 1e-3
    error = np.abs(found - expected) / (1 + np.abs(expected).max((0, 1)))
    assert error[smooth].max() < 1e-5, (np.argwhere(smooth & (error > 1e-5)), error[smooth].max())


def test_the_same_in_float32():
    both = []
    for dtype in ("float32", "float64"):
        episode = Episode(Block(), 3, 0, dtype)
        both.append(episode.gradients(np.ones(episode.by_last.shape[1], bool))[0])
    assert np.median(np.abs(both[0] - both[1])) < 1e-4 * np.abs(both[1]).max()


def test_where_an_episode_ends_nothing_goes_on():
    task = fs.tasks.make("InvertedPendulum-v5")
    episode = Episode(task, 6, 8)
    assert_nothing_goes_on_where_an_episode_ends(episode)


def test_keeping_changes_nothing():
    a, b = (Block().batch(B, seed=1) for _ in range(2))
    for env, keep in ((a, False), (b, True)):
        env.reset(seed=2)
        env.collect(7, GIVEN, {"a": [0.3]}, True, keep)
    for name, x in a.snapshot().items():
        np.testing.assert_array_equal(x, b.snapshot()[name], name)
    got = b.collect(3, GIVEN, {"a": [0.3]}, keep=True)
    np.testing.assert_array_equal(got.kept["q"][3], b.q)
    assert b.collect(1, GIVEN, {"a": [0.3]}).kept is None


def test_what_cannot_be_is_refused():
    def kept(task=Block, envs=2, keep=True):
        env = task().batch(envs)
        env.reset(seed=1)
        return env, env.collect(1, GIVEN, {"a": [0.1]}, keep=keep)

    (env, got), (other, _) = kept(), kept(envs=3)
    rigid = kept(type("Rigid", (Block,), {"law": "rigid"}))
    back = env.pull_back(got)
    back.step(np.ones(2))
    for message, call in (
        (r"expected what collect\(..., keep=True\) returned", lambda: env.pull_back(kept(keep=False)[1])),
        ("all steps have been pulled back", lambda: back.step(np.ones(2))),
        ("Rigid: its law is rigid", lambda: rigid[0].pull_back(rigid[1])),
        ("2 environments, expected 3", lambda: other.pull_back(got)),
    ):
        with pytest.raises(ValueError, match=message):
            call()
