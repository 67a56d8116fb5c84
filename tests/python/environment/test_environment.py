"""Environments against the same task of one environment, written with numbers and MuJoCo: every transition in every mode."""

import mujoco
import numpy as np
import pytest
from slider import One, Slider

import featherstorm as fs

ENVS, STEPS = 21, 40


def actions(k):
    return np.random.default_rng(k).uniform(-1.5, 1.5, (ENVS, 1))


class Many:
    """`One` for each environment, begun where the batch says that its episodes begin."""

    def __init__(self, batch):
        self.batch, self.all = batch, [One() for _ in range(ENVS)]
        self.begin(range(ENVS))

    def begin(self, which):
        mass = self.batch.parameter("body_mass")
        for i in which:
            self.all[i].begin(self.batch.q[i], self.batch.v[i], mass[i, 1])

    def observed(self, obs, which):
        for i in which:
            for group, values in self.all[i].observe().items():
                np.testing.assert_allclose(obs[group][i], values, rtol=0, atol=1e-12)


def check_end(one, info, i):
    end = info["final_info"]
    np.testing.assert_allclose(end["return"][i], one.total, atol=1e-12)
    np.testing.assert_allclose([end["near"][i], end["rate"][i]], one.terms, atol=1e-12)
    assert end["length"][i] == one.steps
    for group, values in one.observe().items():
        np.testing.assert_allclose(info["final_obs"][group][i], values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_transitions_are_those_of_the_task_of_one(robot, autoreset):
    batch = Slider(robot).batch(ENVS, seed=3, dtype="float64", autoreset=autoreset)
    obs, _ = batch.reset()
    many, ended = Many(batch), np.zeros(ENVS, bool)
    many.observed(obs, range(ENVS))
    episodes, causes = np.ones(ENVS), np.zeros(2)
    for k in range(STEPS):
        a = actions(k)
        obs, reward, terminated, truncated, info = batch.step(a)
        beginning = np.flatnonzero(ended) if autoreset == "next_step" else np.zeros(0, int)
        episodes[beginning] += 1
        many.begin(beginning)
        many.observed(obs, beginning)
        assert not reward[beginning].any()
        assert not (terminated | truncated)[beginning].any()
        running = np.setdiff1d(np.arange(ENVS), beginning)
        done = np.zeros(ENVS, bool)
        for i in running:
            _, r, t, u = many.all[i].step(a[i])
            np.testing.assert_allclose(reward[i], r, atol=1e-12)
            assert (terminated[i], truncated[i]) == (t, u)
            np.testing.assert_allclose(info["speed"][i], many.all[i].d.qvel[0], atol=1e-12)
            np.testing.assert_allclose(info["both"][i], [many.all[i].d.qpos[0], np.clip(a[i, 0], -1, 1)], atol=1e-12)
            causes += (t, u)
            done[i] = t or u
            if done[i]:
                check_end(many.all[i], info, i)
        np.testing.assert_array_equal(info["_final_obs"], done)
        which = np.flatnonzero(done)
        if autoreset == "same_step":
            many.observed(obs, running[~done[running]])
            episodes[which] += 1
            many.begin(which)
            many.observed(obs, which)
        else:
            many.observed(obs, running)
        if autoreset == "disabled" and len(which):
            again, _ = batch.reset(mask=done)
            episodes[which] += 1
            many.begin(which)
            many.observed(again, range(ENVS))
        ended = done
        np.testing.assert_array_equal(batch.memory("episodes")[:, 0], episodes)
    assert causes.min() > 5  # both were seen


def test_seeds(robot):
    batch = Slider(robot).batch(8, seed=1)
    first = np.array(batch.reset()[0]["actor"])
    second = np.array(batch.reset()[0]["actor"])  # the next episodes
    assert (first[:, 0] != second[:, 0]).all()
    np.testing.assert_array_equal(batch.reset(seed=1)[0]["actor"], first)
    assert (batch.reset(seed=2)[0]["actor"][:, 0] != first[:, 0]).all()
    same = np.array(batch.reset(seed=[5] * 8)[0]["actor"])
    assert (same == same[0]).all()
    assert len(np.unique(first[:, 0])) == 8
    with pytest.raises(ValueError, match="seed has 3 numbers, expected one or 8"):
        batch.reset(seed=[1, 2, 3])


@pytest.mark.parametrize("cause", ["state", "action"])
def test_what_is_not_finite_ends_its_episode_alone(robot, cause):
    batch = Slider(robot).batch(40, seed=1)
    twin = Slider(robot).batch(40, seed=1)
    batch.reset(), twin.reset()
    a, bad = np.zeros((40, 1), np.float32), np.arange(40) == 13
    if cause == "state":
        batch.v[13] = np.nan
    broken = np.where(bad[:, None], np.float32(np.nan) if cause == "action" else a, a)
    obs, reward, terminated, _, info = batch.step(broken)
    other, *_rest = twin.step(a)
    np.testing.assert_array_equal(info["non_finite"], bad)
    assert terminated[13]
    assert reward[13] == 0
    for group in obs:
        assert np.isfinite(obs[group]).all()
        assert np.isfinite(info["final_obs"][group]).all()
        np.testing.assert_array_equal(obs[group][~bad], other[group][~bad])
    assert batch.memory("episodes")[13] == 2
    for _ in range(20):
        assert np.isfinite(batch.step(a)[0]["actor"]).all()


def test_a_reward_that_is_no_number_ends_its_episode(robot):
    task = Broken(robot, reward=lambda x, a, m: {"root": np.sqrt(x.q[0]), "one": 1.0}, reward_floor=0.0)
    batch = task.batch(64, seed=1)
    batch.reset()
    _, reward, terminated, _, info = batch.step(np.zeros((64, 1), np.float32))
    lost = info["non_finite"]
    assert 10 < lost.sum() < 54
    assert terminated[lost].all()
    assert not reward[lost].any()
    assert (reward[~lost] >= 1).all()
    assert np.isfinite(info["reward_terms"]["root"]).all()


def test_a_length_may_be_written(robot):
    batch = Slider(robot).batch(4, seed=1)
    batch.reset()
    batch.episode_length[:] = [0, Slider.steps - 1, Slider.steps - 2, 0]
    *_, truncated, _ = batch.step(np.zeros((4, 1), np.float32))
    np.testing.assert_array_equal(truncated, [False, True, False, False])


class Broken(Slider):
    def __init__(self, robot, **members):
        super().__init__(robot)
        self.__dict__.update(members)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"reset": lambda m, rng: [1.0]}, "reset returned 1 arrays, expected q and v"),
        ({"reset": lambda m, rng: ([1.0, 2.0], [0.0])}, "reset: q returned 2 numbers, expected 1"),
        ({"observe": lambda x, m, rng: {}}, "observe returned no numbers"),
        ({"reward": lambda x, a, m: m.lost}, "has no memory 'lost'; did you mean last"),
        ({"reward": lambda x, a, m: 1.0 if x.q[0] > 0 else 0.0}, "np.where"),
        ({"memory": {"last": 0}}, "last is 0, expected how many numbers"),
        ({"kept": ("age",)}, "kept has 'age', which is not in its memory"),
        ({"actions": 3}, "actions is 3, expected 1, or a method `actuate`"),
        ({"action_range": (1.0, -1.0)}, "the lowest action first"),
        (
            {"randomise": lambda rng, p: {"geom_size": 1.0}},
            "'geom_size', which is not among the environment's parameters: body_mass",
        ),
        ({"dt": 0.025}, "expected a multiple of 0.01"),
        ({"randomise_at": "never"}, "expected 'reset' or 'start'"),
        ({"after": lambda x, a, m, rng: [1.0]}, "expected None or a dict of q, v, body_mass"),
        ({"after": lambda x, a, m, rng: {"geom_size": 1.0}}, "expected None or a dict of q, v, body_mass"),
        ({"model": lambda: 3}, "model returned a int, expected a Model"),
    ],
)
def test_what_cannot_be_is_said(robot, members, message):
    with pytest.raises((ValueError, TypeError, AttributeError), match=message):
        Broken(robot, **members).batch(4)


def test_calls_that_cannot_be(robot):
    task = Slider(robot)
    batch, begun, wide = task.batch(4), task.batch(4), np.zeros((4, 2), np.float32)
    begun.reset()
    for error, message, call in (
        (ValueError, "num_envs is 0, expected 1 or more", lambda: task.batch(0)),
        (ValueError, "autoreset is 'never', expected one of same_step", lambda: task.batch(4, autoreset="never")),
        (TypeError, "dtype is int32", lambda: task.batch(4, dtype="int32")),
        (RuntimeError, r"step\(\) before reset", lambda: batch.step(np.zeros((4, 1), np.float32))),
        (ValueError, r"actions has shape \(4, 2\), expected \(4, 1\)", lambda: begun.step(wide)),
        (ValueError, "mask is int64", lambda: begun.reset(mask=np.zeros(4, int))),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            call()


def test_parameters_are_drawn_at_the_start_alone(robot):
    batch = Broken(robot, randomise_at="start").batch(16, seed=1)
    batch.reset()
    before = np.array(batch.parameter("body_mass"))
    for _ in range(25):
        batch.step(np.ones((16, 1), np.float32))
    np.testing.assert_array_equal(batch.parameter("body_mass"), before)
    assert (batch.memory("episodes") > 1).all()
    batch.reset()
    assert (batch.parameter("body_mass")[:, 1] != before[:, 1]).all()


def test_a_push_changes_the_state(robot):
    batch = Broken(robot, after=lambda x, a, m, rng: {"v": x.v + 1.0}).batch(4, dtype="float64")
    calm = Broken(robot, after=None).batch(4, dtype="float64")
    batch.reset(), calm.reset()
    obs, *_ = batch.step(np.zeros((4, 1)))
    other, *_ = calm.step(np.zeros((4, 1)))
    np.testing.assert_allclose(obs["actor"][:, 1], other["actor"][:, 1] + 1.0, atol=1e-12)
    np.testing.assert_allclose(batch.v, calm.v + 1.0, atol=1e-12)


def test_an_episode_again_alone(robot):
    batch = Slider(robot).batch(50, seed=9)
    batch.reset()
    env, seen, given = 37, [], []
    for k in range(40):
        before = batch.episode[env], batch.memory("episodes")[env].copy()
        a = np.random.default_rng(k).uniform(-1, 1, (50, 1)).astype(np.float32)
        obs, reward, _terminated, _truncated, info = batch.step(a)
        if before[0] == 3:
            given.append(a[env])
            end = info["_final_obs"][env]
            seen.append((np.array((info["final_obs"] if end else obs)["actor"][env]), reward[env]))
            if end:
                break
    again = batch.replay(env, 3, given, seed=9, kept={"episodes": before[1] - 1})
    assert again.terminated[-1] or again.truncated[-1]
    np.testing.assert_array_equal([o["actor"] for o in again.observations[1:]], [o for o, _ in seen])
    np.testing.assert_array_equal(again.reward, [r for _, r in seen])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_report_of_what_touches(tmp_path, dtype):
    file = tmp_path / "ball.xml"
    file.write_text(
        '<mujoco><worldbody><geom type="plane" size="0 0 1"/><body pos="0 0 .1"><joint type="slide" axis="0 0 1"/>'
        '<geom size=".1"/></body></worldbody></mujoco>'
    )
    ball = fs.env(
        fs.load(str(file)),
        reset=lambda m, rng: ([rng.uniform(-0.01, 0.01)], [0.0]),
        reward=lambda x, a, m: 1.0,
        observe=lambda x, m, rng: x.q,
        randomise=lambda rng, p: {"geom_friction": p.geom_friction * rng.uniform(0.5, 1.5)},
        parameters="geom_friction",
        dt=0.002,
    ).batch(16, dtype=dtype)
    ball.reset()
    told = ball.report()
    np.testing.assert_array_equal(told.contacts, ball.q[:, 0] < 0)
    np.testing.assert_allclose(told.gap[ball.q[:, 0] < 0], ball.q[ball.q[:, 0] < 0, 0], atol=1e-6)
    assert told.residual.max() < 1e-4


class Unbounded(fs.Env):
    """A pendulum with a motor that has a range beside one that has none."""

    steps = 100
    xml = """
    <mujoco>
      <worldbody><body><joint name="j" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></worldbody>
      <actuator><motor joint="j"/><motor joint="j" ctrlrange="-1 2"/></actuator>
    </mujoco>
    """

    def model(self):
        return fs.from_mujoco(mujoco.MjModel.from_xml_string(self.xml))

    def reset(self, m, rng):
        return np.zeros(1), np.zeros(1)

    def reward(self, x, a, m):
        return -(x.q[0] ** 2)

    def observe(self, x, m, rng):
        return [x.q[0], x.v[0]]


def test_a_control_without_a_range_has_no_bound():
    chosen = np.array([[0.5, 0.1], [30.0, 5.0], [-4e5, -3.0]])
    batch = Unbounded().batch(3, dtype="float64")
    batch.reset()
    obs = np.array(batch.step(chosen)[0])
    m = mujoco.MjModel.from_xml_string(Unbounded.xml)
    for found, ctrl in zip(obs, chosen):
        d = mujoco.MjData(m)
        d.ctrl[:] = ctrl
        mujoco.mj_step(m, d)
        np.testing.assert_allclose(found, [d.qpos[0], d.qvel[0]], rtol=1e-10)
    pytest.importorskip("gymnasium")
    space = fs.rl.gymnasium(Unbounded(), 2).single_action_space
    np.testing.assert_array_equal([space.low, space.high], [[-np.inf, -1], [np.inf, 2]])


@pytest.mark.parametrize(
    "read",
    [lambda x: x.qacc, lambda x: x.left("qacc"), lambda x: x.field("qfrc_constraint")],
    ids=["qacc", "left", "field"],
)
def test_actuate_cannot_read_what_its_substep_finds(read):
    class Early(Unbounded):
        actions = 2

        def actuate(self, x, a, m):
            return a + read(x)[0]

    with pytest.raises(ValueError, match="actuate and adapt run before a substep"):
        Early().batch(2)


def test_another_number_of_environments_has_the_same_kernels(robot):
    whole = Slider(robot).batch(40, seed=2)
    few = whole.resized(7, seed=2)
    assert few.kernels is whole.kernels
    assert few.num_envs == 7
    np.testing.assert_array_equal(few.reset()[0]["actor"], whole.reset()[0]["actor"][:7])
    a = np.ones((40, 1), np.float32)
    for _ in range(12):
        expected, found = whole.step(a)[0]["actor"][:7], few.step(a[:7])[0]["actor"]
        np.testing.assert_array_equal(found, expected)


def test_parameters_change_when_the_task_says(robot):
    heavier = {"after": lambda x, a, m, rng: {"body_mass": x.parameter("body_mass") * 1.1}}
    batch = Broken(robot, **heavier).batch(ENVS, seed=3, dtype="float64")
    batch.reset()
    ones = [One() for _ in range(ENVS)]
    for i, one in enumerate(ones):
        one.begin(batch.q[i], batch.v[i], batch.parameter("body_mass")[i, 1])
    for k in range(4):
        before = batch.parameter("body_mass").copy()
        obs, *_, _info = batch.step(actions(k))
        for i in np.flatnonzero(batch.episode == 1):
            ones[i].m.body_mass[1] = before[i, 1]
            mujoco.mj_setConst(ones[i].m, ones[i].d)
            ones[i].step(actions(k)[i])
            np.testing.assert_allclose(batch.v[i], ones[i].d.qvel, atol=1e-9)
            np.testing.assert_allclose(obs["critic"][i, 2], before[i, 1] * 1.1)
            np.testing.assert_allclose(batch.parameter("body_mass")[i], before[i] * 1.1)
