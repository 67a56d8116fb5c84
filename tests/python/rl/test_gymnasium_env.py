"""featherstorm.rl.gymnasium against gymnasium's SyncVectorEnv over the same task: every transition of every mode."""

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from rail import GroupedRail, Rail, one_of

import featherstorm as fs
import featherstorm.rl

ENVS = 6
MODES = {
    "same_step": AutoresetMode.SAME_STEP,
    "next_step": AutoresetMode.NEXT_STEP,
    "disabled": AutoresetMode.DISABLED,
}


def pair(file, mode, grouped=False, envs=ENVS):
    task = GroupedRail(file) if grouped else Rail(file)
    ours = fs.rl.gymnasium(task, envs, autoreset=mode, dtype="float64")
    return ours, SyncVectorEnv([lambda: one_of(gymnasium, grouped)] * envs, autoreset_mode=MODES[mode])


def agree(ours, theirs, where=""):
    """Same names, same types, numbers that differ by rounding."""
    if isinstance(theirs, dict):
        assert isinstance(ours, dict) and set(ours) == set(theirs), where
        for name in theirs:
            agree(ours[name], theirs[name], f"{where} {name}")
        return
    if theirs is None:
        assert ours is None, where
        return
    assert type(ours) is type(theirs) is np.ndarray, where
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, where
    if theirs.dtype == object:
        for a, b in zip(ours, theirs):
            agree(a, b, where)
        return
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12, err_msg=where)


def actions(k, envs=ENVS):
    """Beyond the range too; some environments drive to the edge, some stay."""
    drive = np.linspace(0, 2, envs)[:, None]
    return drive * np.sign(np.sin(0.17 * k + 0.5)) + np.random.default_rng(k).uniform(-0.4, 0.4, (envs, 1))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_transitions_are_those_of_sync_vector_env(file, mode, grouped):
    ours, theirs = pair(file, mode, grouped)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    assert ours.single_action_space == theirs.single_action_space and ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] is MODES[mode] and ours.num_envs == ENVS
    agree(ours.reset()[0], theirs.reset()[0])
    terminations = truncations = both = 0
    for k in range(80):
        a = actions(k)
        mine, other = ours.step(a), theirs.step(a)
        for name, x, y in zip(("obs", "reward", "terminated", "truncated", "infos"), mine, other):
            agree(x, y, f"step {k}: {name}")
        assert ours.observation_space.contains(mine[0])
        _, _, terminated, truncated, _ = other
        terminations, truncations = terminations + terminated.sum(), truncations + truncated.sum()
        both += (terminated & truncated).sum()
        mask = terminated | truncated if mode == "disabled" else np.zeros(ENVS, bool)
        if k % 11 == 10:  # some begin in the middle of an episode, and some that have just ended
            mask[[1, 4]] = True
        if mask.any():
            results = [env.reset(options={"reset_mask": mask.copy()}) for env in (ours, theirs)]
            agree(*[obs for obs, _ in results], f"reset after step {k}")
            agree(*[info for _, info in results])
    assert terminations > 10 and truncations > 10 and both > 0
    agree(ours.reset()[0], theirs.reset()[0], "reset of all")


def test_results_are_the_users_own(file):
    ours, _ = pair(file, "same_step")
    obs, _ = ours.reset()
    kept = []
    for k in range(9):
        obs[:] = np.nan  # what is written into them is nobody else's
        obs, reward, *_, infos = ours.step(actions(k))
        for part in (infos, infos.get("final_info", {})):
            kept += [(x, x.copy()) for x in part.values() if isinstance(x, np.ndarray) and x.dtype != object]
        for x in infos.get("final_obs", []):
            if x is not None:
                kept.append((x, x.copy()))
        kept += [(reward, reward.copy())]
        assert np.isfinite(obs).all() and obs.flags.c_contiguous
    assert any(x.shape == (4,) for x, _ in kept)
    for now, then in kept:
        np.testing.assert_array_equal(now, then)


def test_views_stay_until_the_step_after_the_next(file):
    env = fs.rl.gymnasium(Rail(file), 3, copy=False)
    first, _ = env.reset()
    begun = first.copy()
    second = env.step(np.ones((3, 1)))[0]
    np.testing.assert_array_equal(first, begun)
    assert not np.shares_memory(first, second) and (first != second).any()
    third = env.step(np.ones((3, 1)))[0]
    assert np.shares_memory(first, third)


def test_a_step_into_an_episode_that_has_ended_is_refused(file):
    ours, _ = pair(file, "disabled")
    ours.reset()
    ended = np.zeros(ENVS, bool)
    while not ended.any():
        ended = np.logical_or(*ours.step(np.ones((ENVS, 1)))[2:4])
    with pytest.raises(ResetNeeded, match="episodes of environments 0, 1, 2, 3, 4, 5 have ended, expected reset"):
        ours.step(np.ones((ENVS, 1)))
    ours.reset(options={"reset_mask": ended})
    ours.step(np.ones((ENVS, 1)))


class Broken(Rail):
    """Where the action is far from its range."""

    clip = False

    def actuate(self, x, a, m):
        return a

    def terminate(self, x, m):
        return x.q[0] > 1e9


def test_what_is_not_finite_is_told(file):
    env = fs.rl.gymnasium(Broken(file), 4)
    env.reset()
    obs, reward, terminated, _, infos = env.step(np.array([[0.1], [np.nan], [0.2], [-np.inf]]))
    assert terminated.tolist() == [False, True, False, True] and (reward[[1, 3]] == 0).all() and np.isfinite(obs).all()
    assert infos["final_info"]["non_finite"].tolist() == [False, True, False, True]
    assert "non_finite" not in infos
    _, _, _, _, infos = env.step(np.zeros((4, 1)))
    assert "final_info" not in infos and "non_finite" not in infos


def test_modes_by_any_name(file):
    for mode in ("next_step", AutoresetMode.NEXT_STEP, "NextStep"):
        assert fs.rl.gymnasium(Rail(file), 2, autoreset=mode).metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert fs.rl.gymnasium(Rail(file), 2).metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    batch = Rail(file).batch(2, autoreset="disabled")
    assert fs.rl.gymnasium(batch).batch is batch
    assert fs.rl.gymnasium(batch).metadata["autoreset_mode"] is AutoresetMode.DISABLED


class Episode(Rail):
    def metrics(self, x, a, m):
        return {"episode": x.q[0]}


class Near(Rail):
    def metrics(self, x, a, m):
        return {"reward_near": x.q[0]}


class Ranged(Rail):
    observation_range = (np.zeros(3), 1.0)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda f: fs.rl.gymnasium(Rail(f)), ValueError, "num_envs is missing, expected how many environments of Rail"),
        (lambda f: fs.rl.gymnasium(Rail, 2), TypeError, "env is a type, expected a featherstorm.Env or its batch"),
        (lambda f: fs.rl.gymnasium(Rail(f).batch(2), 3), ValueError, "num_envs is 3, the batch has 2"),
        (lambda f: fs.rl.gymnasium(Rail(f).batch(2), autoreset="next_step"), ValueError, "made with autoreset='same_step'"),
        (lambda f: fs.rl.gymnasium(Rail(f).batch(2), seed=3), ValueError, "seed is given with a batch"),
        (lambda f: fs.rl.gymnasium(Rail(f).batch(2, arrays="jax")), ValueError, "expected arrays='numpy' or None"),
        (lambda f: fs.rl.gymnasium(Rail(f), 2, autoreset="later"), ValueError, "autoreset is 'later', expected one of"),
        (lambda f: fs.rl.gymnasium(Rail(f), 2, render_mode="human"), ValueError, "render_mode is 'human', expected 'rgb_array'"),
        (lambda f: fs.rl.gymnasium(Episode(f), 2), ValueError, "metrics has 'episode', which infos need"),
        (lambda f: fs.rl.gymnasium(Near(f), 2), ValueError, "metrics has 'reward_near', which infos need"),
        (lambda f: fs.rl.gymnasium(Ranged(f), 2), ValueError, "observation_range has shape (3,), the observation has 4"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_said(file, make, error, text):
    with pytest.raises(error) as caught:
        make(file)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"reset_mask": [True] * ENVS}, TypeError, "reset_mask is list, expected a numpy array of bool"),
        ({"reset_mask": np.ones(ENVS)}, TypeError, "reset_mask is float64, expected a numpy array of bool"),
        ({"reset_mask": np.ones(2, bool)}, ValueError, "reset_mask has shape (2,), expected (6,)"),
        ({"reset_mask": np.zeros(ENVS, bool)}, ValueError, "reset_mask is False everywhere"),
        ({"low": 1}, ValueError, "options has 'low', expected 'reset_mask' alone"),
    ],
)
def test_wrong_options_of_a_reset_are_said(file, options, error, text):
    ours, _ = pair(file, "disabled")
    with pytest.raises(error) as caught:
        ours.reset(options=options)
    assert text in str(caught.value)
    assert len(options) == 1  # wrappers read them afterwards


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gymnasium", "gymnasium is not installed: python -m pip install gymnasium, or 'featherstorm[rl]'"),
        ("stable_baselines3", "python -m pip install stable-baselines3, or 'featherstorm[sb3]' with this package"),
        ("rsl_rl", "rsl-rl-lib is not installed: python -m pip install rsl-rl-lib, or 'featherstorm[rsl]'"),
        ("register", "gymnasium is not installed"),
    ],
)
def test_what_is_missing_is_said(monkeypatch, name, text):
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    with pytest.raises(ImportError) as caught:
        getattr(fs.rl, name)(*(("Rail-v0", Rail) if name == "register" else (Rail,)))
    assert text in str(caught.value)


def test_all_environments_answer_together(file):
    env = fs.rl.gymnasium(Rail(file), 3)
    assert env.render() is None and env.call("render") == (None,) * 3 and env.call("num_envs") == (3, 3, 3)
    with pytest.raises(AttributeError):
        env.call("gravity")


def test_seeds_are_those_of_the_batch(file):
    ours, _ = pair(file, "same_step")
    ours.reset(seed=3)
    keys = ours.batch.view("env_key").copy()
    assert ours.np_random_seed == 3
    ours.reset(seed=[1, 2, None, 2, None, 5])
    now = ours.batch.view("env_key")
    assert (now[[2, 4]] == keys[[2, 4]]).all() and (now[1] == now[3]).all() and (now[1] != now[0]).any()
    ours.reset(seed=7, options={"reset_mask": np.arange(ENVS) == 2})
    again = ours.batch.view("env_key").copy()
    assert (again[2, 0] == 7) and (np.delete(again, 2, 0)[:, 0] == [1, 2, 2, 3, 5]).all()
    with pytest.raises(ValueError, match="seed has 2 numbers, expected one or 6"):
        ours.reset(seed=[1, 2])
