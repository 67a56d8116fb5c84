"""Environments as a part of a larger whole: the bits of the whole, for any parts (Env.batch(first=...))."""

import numpy as np
import pytest
from device_tasks import Falling, sent

import featherstorm as fs
from fake_cuda import needs_device

WHOLE, PARTS = 24, (7, 9, 8)
FIRST = (0, 7, 16)
STEPS = 50
TASKS = ("Go1JoystickFlat", "Go1JoystickRough", "Hopper-v5", "PandaPushCube")


def shards(task, **options):
    return [task.batch(n, first=k, **options) for k, n in zip(FIRST, PARTS)]


def joined(parts, axis):
    """The arrays of parts, one after the other along the environments."""
    return {name: np.concatenate([np.asarray(part[name]) for part in parts], axis) for name in parts[0]}


def assert_same_bits(found, expected):
    assert found.keys() == expected.keys()
    for name, x in expected.items():
        x = np.asarray(x)
        assert found[name].dtype == x.dtype and found[name].tobytes() == np.ascontiguousarray(x).tobytes(), name


def arrays_of(got):
    """All arrays of a Collected by name, (T, B, ...)."""
    found = {}
    for name in ("observations", "final_observations"):
        x = getattr(got, name)
        found.update({f"{name}/{group}": y for group, y in x.items()} if isinstance(x, dict) else {name: x})
    found.update({name: getattr(got, name) for name in ("actions", "reward", "terminated", "truncated")})
    return {**found, **got.more}


def near_the_end(env):
    """Let the first episodes of all environments end within STEPS control steps, at times of the whole's numbers."""
    number = env.first + np.arange(env.num_envs)
    if env.task.steps:
        env.episode_length[:] = env.task.steps - 1 - number % STEPS


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TASKS)
def test_shards_have_the_bits_of_the_whole(name, dtype):
    if "-v" in name:
        pytest.importorskip("gymnasium")
    task = fs.tasks.make(name)
    whole = task.batch(WHOLE, seed=5, dtype=dtype)
    size = next(iter(whole.groups.values()))
    w = {"W": np.random.default_rng(0).normal(0, 0.5 / np.sqrt(size), (whole.recording.actions, size))}

    def policy(obs, w, rng):
        obs = next(iter(obs.values())) if hasattr(obs, "keys") else obs
        a = w.W @ obs + rng.normal(size=len(w.W))
        return {"action": a, "norm": a @ a}

    def run(env):
        env.reset()
        near_the_end(env)
        first = arrays_of(env.collect(STEPS - 1, policy, w))
        last = arrays_of(env.collect(1, policy, w))
        return {**{f"{name} at last": x for name, x in last.items()}, **first}, env.snapshot()

    expected, after = run(whole)
    ends = expected["terminated"] | expected["truncated"]
    assert ends.any(0).all()  # each environment began a second episode
    results = [run(env) for env in shards(task, seed=5, dtype=dtype)]
    assert_same_bits(joined([x for x, _ in results], 1), expected)
    assert_same_bits(joined([x for _, x in results], 0), after)


@pytest.mark.parametrize("autoreset", ["next_step", "disabled"])
def test_single_steps_and_masked_resets_of_shards(autoreset):
    task = Falling()

    def run(env, actions):
        env.reset(seed=2**40 + 3)
        seen = []
        for a in actions:
            obs, reward, terminated, truncated, info = env.step(a)
            seen.append(np.column_stack([obs, reward, terminated, truncated, info["final_obs"]]))
            if autoreset == "disabled" and (ended := terminated | truncated).any():
                env.reset(mask=ended)
        return {"seen": np.stack(seen, 1)}, env.snapshot()

    actions = np.random.default_rng(1).uniform(-2, 2, (STEPS, WHOLE, 1)).astype(np.float32)
    expected, after = run(task.batch(WHOLE, autoreset=autoreset), actions)
    parts = [run(env, actions[:, k : k + env.num_envs]) for k, env in zip(FIRST, shards(task, autoreset=autoreset))]
    for k, whole in enumerate((expected, after)):
        assert_same_bits(joined([part[k] for part in parts], 0), whole)
    assert after["env_episode"].min() > 1


@needs_device
@pytest.mark.usefixtures("played_compiler")
def test_shards_on_a_device_have_the_bits_of_the_whole():
    task = Falling()

    def run(env, actions):
        env.reset()
        for a in actions:
            env.step(sent(a))
        return env.snapshot()

    actions = np.random.default_rng(1).uniform(-2, 2, (STEPS // 2, WHOLE, 1)).astype(np.float32)
    options = {"seed": 5, "device": "cuda:0"}
    expected = run(task.batch(WHOLE, **options), actions)
    parts = [run(env, actions[:, k : k + env.num_envs]) for k, env in zip(FIRST, shards(task, **options))]
    assert_same_bits(joined(parts, 0), expected)


def test_a_shard_far_in_a_whole_and_its_replay():
    """Numbers of environments have 32 bits, of which the engine's counters hold two halves."""
    task, number = Falling(), 2**32 - 3
    far = task.batch(3, seed=1, first=number)
    near = task.batch(3, seed=1)
    first, other = far.reset()[0].copy(), near.reset()[0].copy()
    assert not np.array_equal(first, other)
    assert np.array_equal(far.resized(1, 1, number + 1).reset()[0], first[1:2])
    actions = np.random.default_rng(2).uniform(-2, 2, (4, 3, 1)).astype(np.float32)
    rewards = [far.step(a)[1][2] for a in actions]
    again = far.replay(2, 1, actions[:, 2], seed=1)
    assert np.array_equal(again.reward, rewards[: len(again.reward)])
    assert far.first == number


def test_seeds_of_each_environment_do_not_depend_on_first():
    """An environment with a seed of its own draws as environment 0 of that seed."""
    found = [Falling().batch(2, first=first).reset(seed=[4, 9])[0] for first in (0, 11)]
    assert np.array_equal(*found)


@pytest.mark.parametrize("first", [-1, 0.5, 2**32 - 1])
def test_a_first_that_is_no_number_of_an_environment_is_refused(first):
    with pytest.raises(ValueError, match=r"Falling: first is .*, expected a whole number from 0 to 4294967294"):
        Falling().batch(2, first=first)
