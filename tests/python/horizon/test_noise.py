"""Noise in rollouts, knots, reductions: against arrays, closed forms and numpy."""

import numpy as np
import pytest

import featherstorm as fs
from featherstorm.noise import interpolation_weights

DT = 4e-3


def cost(x, u, t, p):
    return np.sum(x[:9] ** 2) + 1e-3 * u @ u


def start(model, dtype="float64"):
    return np.r_[model.q0, np.zeros(model.nv)].astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("knots", [None, 3])
def test_a_rollout_with_noise_is_one_with_the_drawn_controls(dtype, knots):
    model = fs.load("panda", threads=1)
    roll = fs.Rollout(model, DT, cost)
    mean = np.random.default_rng(0).normal(size=(7, model.nv))
    noise = fs.Noise(300, mean, 0.5, seed=3, lower=-1, upper=1.5, knots=knots)
    got = roll(start(model, dtype), noise, states=True, controls=True)
    assert got.controls.dtype == dtype and got.controls.shape == (300, 7, model.nv)
    assert np.array_equal(got.controls, noise.controls(dtype))
    assert got.controls.min() == -1 and got.controls.max() == 1.5
    given = roll(start(model, dtype), np.ascontiguousarray(got.controls), states=True)
    assert np.array_equal(got.costs, given.costs) and np.array_equal(got.states, given.states)
    assert given.controls is None and roll(start(model, dtype), noise).controls is None


def test_knots_are_held_or_interpolated():
    rng = np.random.default_rng(0)
    knots = rng.normal(size=(5,))
    T = 21  # knots at steps 0, 5, 10, 15, 20
    at = np.arange(0, T, 5)
    linear = interpolation_weights(T, 5, "linear")
    assert np.allclose(linear @ knots, np.interp(np.arange(T), at, knots), atol=1e-15)
    cubic = interpolation_weights(T, 5, "cubic")
    assert np.allclose((cubic @ knots)[at], knots, atol=1e-15)
    # reproduces parabolas between inner knots, straight lines everywhere, and has a continuous slope
    inner = np.arange(5, 16)
    assert np.allclose((cubic @ (at - 7.0) ** 2)[inner], (inner - 7.0) ** 2)
    assert np.allclose(cubic @ (3 * at - 2.0), 3 * np.arange(T) - 2.0)
    fine = interpolation_weights(4001, 5, "cubic") @ knots
    assert np.abs(np.diff(fine, 2)).max() < 1e-4 and np.abs(np.diff(linear @ knots, 2)).max() > 0.1
    assert np.array_equal(interpolation_weights(7, 3, "hold") @ [1, 2, 3], [1, 1, 1, 2, 2, 3, 3])
    for kind in ("linear", "cubic", "hold"):
        assert np.allclose(interpolation_weights(9, 4, kind).sum(axis=1), 1)
        assert np.array_equal(interpolation_weights(3, 1, kind), np.ones((3, 1)))
    assert np.allclose(interpolation_weights(4, 4, "cubic"), np.eye(4))


@pytest.mark.parametrize("kind", ["linear", "cubic", "hold"])
def test_a_rollout_of_knots_is_one_of_the_interpolated_controls(kind):
    model = fs.load("cartpole")
    roll = fs.Rollout(model, DT, lambda x, u, t, p: x @ x + u @ u * t)
    knots = np.random.default_rng(1).normal(size=(200, 4, 2))
    got = roll(start(model), knots, horizon=11, interpolation=kind, states=True, controls=True)
    U = np.einsum("tk,bkn->btn", interpolation_weights(11, 4, kind), knots)
    assert np.allclose(got.controls, U, rtol=0, atol=1e-14)
    expected = roll(start(model), U, states=True)
    assert np.allclose(got.costs, expected.costs, rtol=1e-12)
    assert np.allclose(got.states, expected.states, rtol=0, atol=1e-12)
    again = fs.rollout(model, start(model), knots, DT, horizon=11, interpolation=kind, states=True)
    assert np.array_equal(again.states, got.states)
    # one sequence of knots for all states
    x0 = np.tile(start(model), (3, 1))
    assert np.array_equal(roll(x0, knots[:1], horizon=11, interpolation=kind).final, got.final[[0, 0, 0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda roll: fs.Noise(5, np.zeros(4)), r"Noise: mean has shape \(4,\), expected \(T, nu\)"),
        (lambda roll: fs.Noise(-1, np.zeros((4, 2))), "Noise: samples is -1"),
        (lambda roll: fs.Noise(5, np.zeros((4, 2)), [1, 2, 3]), r"sigma has shape \(3,\), expected \(4, 2\)"),
        (lambda roll: fs.Noise(5, np.zeros((4, 2)), lower=[1, 2, 3]), r"lower has shape \(3,\), expected \(2,\)"),
        (lambda roll: fs.Noise(5, np.zeros((4, 2)), seed=-1), "Noise: seed is -1, expected a whole number from 0 to 2"),
        (lambda roll: fs.Noise(5, np.zeros((4, 2)), knots=5), "knots is 5, expected at most 4, the number of steps"),
        (lambda roll: fs.Noise(5, np.zeros((4, 2)), knots=0), "knots is 0, expected 1 or more"),
        (lambda roll: fs.Noise(5, np.zeros((4, 2)), knots=2, interpolation="x"), "interpolation is 'x', expected"),
        (lambda roll: roll(np.zeros(4), fs.Noise(5, np.zeros((4, 3)))), "U has 3 controls, expected 2"),
        (lambda roll: roll(np.zeros((3, 4)), fs.Noise(5, np.zeros((4, 2)))), r"shape \(3, 4\), expected \(5, 4\)"),
        (lambda roll: roll(np.zeros(4), fs.Noise(5, np.zeros((4, 2))), horizon=9), "horizon is for arrays of knots"),
        (lambda roll: roll(np.zeros(4), np.zeros((5, 4, 2)), horizon=3), "horizon is 3, expected 4 or more"),
        (lambda roll: roll(np.zeros(4), fs.Noise(5, np.full((4, 2), np.nan))), "mean, sigma or weights .* not finite"),
        (lambda roll: roll(np.zeros(4), fs.Noise(5, np.zeros((4, 2)), lower=1, upper=0)), "expected lower <= upper"),
        (lambda roll: fs.Noise(5, np.zeros((4, 2)), first=2**32 - 2).controls(), "first instance is number"),
    ],
)
def test_messages(call, message):
    roll = fs.Rollout(fs.load("cartpole"), DT)
    with pytest.raises(ValueError, match=message):
        call(roll)


def test_an_empty_batch_and_lists():
    model = fs.load("cartpole")
    roll = fs.Rollout(model, DT)
    assert roll(np.zeros(4), fs.Noise(0, np.zeros((4, 2)))).costs.shape == (0,)
    got = roll([0.0, 0, 0, 0], fs.Noise(2, [[0.0, 1.0]]), controls=True)
    assert got.controls.dtype == "float32"
