"""Where episodes begin, by many resets of Gymnasium's environments: the same law."""

import numpy as np
import pytest

import featherstorm as fs

pytest.importorskip("mujoco")
pytest.importorskip("gymnasium.envs.mujoco.mujoco_rendering")

from gymnasium_episodes import FREE as FREE_JOINT, environment
from test_gymnasium_steps import NAMES

THEIRS, OURS = 1500, 6000
# of the distance of two samples' distribution functions, times sqrt(n m / (n + m)): passed by chance with a probability of 2 exp(-2 x^2) = 1e-7
MOST = 2.9


def of_gymnasium(name):
    """States after resets (n, nq + nv), quaternions made unit."""
    env, found = environment(name), []
    env.reset(seed=5)
    for _ in range(THEIRS):
        env.reset_model()
        found.append(np.concatenate([env.data.qpos, env.data.qvel]))
    x = np.array(found)
    if env.model.jnt_type[0] == FREE_JOINT:
        x[:, 3:7] /= np.linalg.norm(x[:, 3:7], axis=1, keepdims=True)
    return x


def of_numpy(name):
    """The same by the task's function with numpy's generator."""
    task, rng = fs.tasks.make(name), np.random.default_rng(6)
    x = np.array([np.concatenate([np.asarray(part, float) for part in task.reset(None, rng)]) for _ in range(OURS)])
    if task.compiled.jnt_type[0] == FREE_JOINT:
        x[:, 3:7] /= np.linalg.norm(x[:, 3:7], axis=1, keepdims=True)
    return x


def of_the_engine(name):
    env = fs.tasks.make(name).batch(OURS, seed=6, dtype="float64", threads=1)
    env.reset()
    return np.concatenate([env.q, env.v], axis=1)


def distance(x, y):
    """Kolmogorov's and Smirnov's, scaled."""
    every, n, m = np.concatenate([x, y]), len(x), len(y)
    x, y = (np.searchsorted(np.sort(sample), every, "right") / len(sample) for sample in (x, y))
    return np.abs(x - y).max() * np.sqrt(n * m / (n + m))


def features(name, x):
    """Numbers that are to have the same law: each coordinate, all velocities (which show best whether they are normal or uniform), and
    distances on which Gymnasium's choice goes."""
    v = x[:, fs.tasks.make(name).robot.nq :]
    columns = [*x.T, v[:, np.ptp(v, axis=0) > 0].ravel()]
    if name in ("Reacher-v5", "Pusher-v5"):
        place = slice(2, 4) if name == "Reacher-v5" else slice(7, 9)
        columns += [np.linalg.norm(x[:, place], axis=1), x[:, place].sum(axis=1)]
    return columns


@pytest.mark.parametrize("name", NAMES)
def test_resets_have_gymnasiums_law(name):
    theirs = of_gymnasium(name)
    for ours in (of_numpy(name), of_the_engine(name)):
        assert ours.shape == (OURS, theirs.shape[1])
        for k, (a, b) in enumerate(zip(features(name, theirs), features(name, ours))):
            if np.ptp(a) < 1e-9:  # what has no noise
                assert np.allclose(b, a[0], atol=1e-9), k
            else:
                assert distance(a, b) < MOST, k
                assert abs(a.mean() - b.mean()) < 6 * a.std() * np.sqrt(1 / THEIRS + 1 / OURS), k
        spread = np.corrcoef(ours[:, ours.std(axis=0) > 0].T) - np.corrcoef(theirs[:, ours.std(axis=0) > 0].T)
        assert np.abs(spread).max() < 6 * np.sqrt(1 / THEIRS + 1 / OURS)


def test_the_law_is_seen():
    """A noise of another scale, a target in a square, a velocity that is uniform: each would be told from Gymnasium's."""
    theirs, rng = of_gymnasium("Reacher-v5"), np.random.default_rng(0)
    square = rng.uniform(-0.2, 0.2, (OURS, 2))
    assert distance(np.linalg.norm(theirs[:, 2:4], axis=1), np.linalg.norm(square, axis=1)) > MOST
    assert distance(theirs[:, 0], rng.uniform(-0.12, 0.12, OURS)) > MOST
    ant = of_gymnasium("Ant-v5")[:, 15:]
    assert distance(ant.ravel(), rng.uniform(-0.1, 0.1, (OURS, 14)).ravel() * np.sqrt(3)) > MOST


@pytest.mark.parametrize("scale", [0.0, 0.02])
def test_the_scale_of_noise_is_an_argument(scale):
    q, v = fs.tasks.make("Hopper-v5", reset_noise_scale=scale).reset(None, np.random.default_rng(0))
    away = np.abs([*(q - [0, 1.25, 0, 0, 0, 0]), *v])
    assert away.max() <= scale and (scale == 0 or away.max() > scale / 3)
