"""Physics: seventeen kinds of scenes with known answers, under every law, in both precisions and at two time steps. Closed forms
and what is known of the laws are in the checks and in expectations.py; `python bench/physics.py` prints what is found."""

import geometry
import numpy as np
import pytest
import scenes
from expectations import CASES, CHECKS, TIMESTEPS, wrong
from runs import LAWS, Run

DTYPES = "float64", "float32"


@pytest.mark.parametrize("timestep", TIMESTEPS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "law"), CASES)
def test_what_is_known(name, law, dtype, timestep):
    out, *_ = wrong(name, law, dtype, timestep)
    assert out == []


@pytest.mark.parametrize(("name", "law"), CASES)
def test_a_broken_scene_is_seen(name, law):
    with np.errstate(invalid="ignore"):
        out, *_ = wrong(name, law, "float64", 0.002, **CHECKS[name].broken)
    assert out != []


@pytest.mark.parametrize("pair", geometry.PAIRS, ids="-".join)
def test_distances_are_those_of_the_general_algorithm(pair):
    ours, theirs = geometry.distances(*pair)
    inside = theirs < 0
    assert inside.sum() > 100 and (theirs > 0).sum() > 100
    if pair == ("box", "box"):
        # by separating axes, as MuJoCo's contacts of boxes: faces before edges, and corners that face each other are further apart
        found = theirs != 0  # the general algorithm finds nothing where centres coincide
        assert found.mean() > 0.98 and ((ours < 0) == inside)[found].all()
        assert np.abs(ours - theirs)[inside].max() < 3e-3 and np.median(np.abs(ours - theirs)[inside]) < 1e-9
        return
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize("pair", [p for p in geometry.PAIRS if p[0] != "plane"], ids="-".join)
def test_distances_are_those_of_coal(pair):
    pytest.importorskip("coal")
    ours, theirs = geometry.distances_by_coal(*pair)
    near = (theirs < 0.9 * geometry.MARGIN) & (theirs > -geometry.SHALLOW)
    if pair == ("box", "box"):
        near &= theirs < 0
        assert np.median(np.abs(ours - theirs)[near]) < 1e-6 and np.abs(ours - theirs)[near].max() < 3e-3
        return
    np.testing.assert_allclose(ours[near], theirs[near], atol=2e-6)


def falling(dtype, law, n=200):
    """The quadruped thrown about above the ground."""
    run = Run(scenes.quadruped(), law, dtype, 0.002, nsim=n)
    rng = np.random.default_rng(0)
    turn = rng.normal(size=(n, 4))
    run.q[:, 2] = rng.uniform(0.3, 0.6, n)
    run.q[:, 3:7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    run.q[:, 7:] += rng.uniform(-0.3, 0.3, (n, 12))
    run.v[:] = rng.normal(size=(n, 18))
    return run


@pytest.mark.parametrize("law", LAWS)
def test_falls_are_the_same_in_single_precision(law):
    """Step by step from the same states, where they have just touched the ground."""
    exact, single = falling("float64", law), falling("float32", law)
    exact.batch.step(nstep=100)
    errors = []
    for _ in range(20):
        exact.batch.step(nstep=5)
        single.batch.set_rows(exact.batch.rows())
        exact.batch.step()
        single.batch.step()
        scale = 1 + np.abs(exact.v).max(axis=1)
        errors.append(np.abs(exact.v - single.v).max(axis=1) / scale)
    assert np.quantile(errors, 0.5) < 1e-5 and np.quantile(errors, 0.99) < 1e-2
    single.batch.step(nstep=1000)
    assert np.isfinite(single.q).all() and np.abs(single.v).max() < 20
