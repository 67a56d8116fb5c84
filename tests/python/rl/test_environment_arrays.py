"""Arrays of EnvBatch are those of the learner's library: torch's without a copy, jax's as copies."""

import numpy as np
import pytest
from rail import GroupedRail, Rail

import featherstorm as fs

ENVS = 20


def leaves(x):
    if isinstance(x, dict):
        for value in x.values():
            yield from leaves(value)
    elif isinstance(x, tuple):
        for value in x:
            yield from leaves(value)
    else:
        yield x


def copy(x):
    """numpy's, of an array of any library."""
    return np.asarray(x).copy()


def steps(file, actions, **options):
    """Two steps and what was returned, as numpy's copies: by the library's type too."""
    batch = GroupedRail(file).batch(ENVS, **options)
    first, _ = batch.reset()
    found = [batch.step(actions), batch.step(actions)][-1]
    return first, found, [copy(x) for x in leaves(found)]


@pytest.mark.parametrize("name", ["torch", "jax"])
@pytest.mark.parametrize("named", [False, True])
def test_arrays_are_of_the_actions_library_or_the_named_one(file, name, named):
    library = pytest.importorskip(name)
    kind = library.Tensor if name == "torch" else library.Array
    numbers = np.full((ENVS, 1), 0.5, np.float32)
    given = numbers if named else library.asarray(numbers) if name == "torch" else library.numpy.asarray(numbers)
    first, found, values = steps(file, given, arrays=name if named else None)
    assert all(isinstance(x, kind) for x in leaves(found))
    assert all(isinstance(x, kind if named else np.ndarray) for x in leaves(first))
    for ours, theirs in zip(values, steps(file, numbers)[2]):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


def test_torch_sees_the_engines_memory(file):
    torch = pytest.importorskip("torch")
    batch = Rail(file).batch(ENVS, arrays="torch")
    batch.reset()
    obs, reward, *_, info = batch.step(torch.zeros(ENVS, 1))
    for tensor, name in ((obs, "env_obs_"), (reward, "env_reward"), (info["final_obs"], "env_final_")):
        assert tensor.data_ptr() == batch.view(name).ctypes.data
    kept, before = obs, obs.clone()
    batch.step(torch.ones(ENVS, 1))
    assert torch.equal(kept, before)  # of the step before
    batch.step(torch.ones(ENVS, 1))
    assert not torch.equal(kept, before)


def test_jax_arrays_stay_as_they_are(file):
    jax = pytest.importorskip("jax")
    batch = Rail(file).batch(ENVS, arrays="jax")
    batch.reset()
    kept = [x for x in leaves(batch.step(jax.numpy.ones((ENVS, 1)))) if x.dtype != bool]
    values = [np.array(x) for x in kept]
    for _ in range(3):
        batch.step(jax.numpy.ones((ENVS, 1)))
    assert all((np.asarray(x) == y).all() for x, y in zip(kept, values))


def test_libraries_that_are_none_are_said(file):
    with pytest.raises(ValueError, match="arrays is 'tensorflow', expected 'numpy', 'torch' or 'jax'"):
        Rail(file).batch(2, arrays="tensorflow")


class Drawn(Rail):
    def reset(self, m, rng):
        return rng.uniform(-0.2, 0.2, 1), np.zeros(1)


def test_seeds_of_adapters_are_seeds_of_draws(file):
    pytest.importorskip("gymnasium")

    env = fs.rl.gymnasium(Drawn(file), ENVS)
    first, _ = env.reset(seed=3)
    assert len(np.unique(first[:, 0])) == ENVS and (np.abs(first[:, 0]) < 0.2).all()
    second, _ = env.reset()
    assert (second[:, 0] != first[:, 0]).all()
    np.testing.assert_array_equal(env.reset(seed=3)[0], first)
    np.testing.assert_array_equal(Drawn(file).batch(ENVS, seed=3).reset()[0], first)
    mask = np.arange(ENVS) < 4
    mixed, _ = env.reset(seed=[7] * ENVS, options={"reset_mask": mask})
    assert (mixed[:4, 0] == mixed[0, 0]).all() and (mixed[:4, 0] != first[:4, 0]).all()
    np.testing.assert_array_equal(mixed[4:], first[4:])
