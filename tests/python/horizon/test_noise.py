"""Noise in rollouts, knots, reductions: against arrays, closed forms and numpy."""

import numpy as np
import pytest

import featherstorm as fs
from featherstorm import _featherstorm
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


@pytest.mark.parametrize("knots", [None, 4])
def test_numbers_depend_on_the_sample_alone(knots):
    mean, options = np.zeros((9, 5)), {"sigma": 0.3, "seed": 11, "draw": 2, "knots": knots}
    all_ = fs.Noise(1000, mean, **options).controls("float32")
    assert np.array_equal(all_, fs.Noise(1000, mean, **options).controls("float32", threads=3))
    for first, n in ((0, 1), (127, 2), (500, 333), (999, 1)):
        some = fs.Noise(n, mean, first=first, **options).controls("float32")
        assert np.array_equal(some, all_[first : first + n])
    assert not np.array_equal(all_, fs.Noise(1000, mean, **{**options, "seed": 12}).controls("float32"))
    assert not np.array_equal(all_, fs.Noise(1000, mean, **{**options, "draw": 3}).controls("float32"))
    # a longer horizon begins with the same numbers, a wider control too
    if knots is None:
        assert np.array_equal(all_, fs.Noise(1000, np.zeros((12, 8)), **options).controls("float32")[:, :9, :5])
    assert np.abs(all_ - fs.Noise(1000, mean, **options).controls("float64")).max() < 0.3 * 5e-4
    model = fs.load("cartpole", threads=3)
    roll = fs.Rollout(model, DT, lambda x, u, t, p: x[0] ** 2 + u @ u)
    noise, part = (fs.Noise(n, np.zeros((5, 2)), first=k) for n, k in ((700, 0), (60, 300)))
    assert np.array_equal(roll(start(model), part).costs, roll(start(model), noise).costs[300:360])


def test_numbers_are_normal_and_independent():
    u = fs.Noise(40000, np.full((3, 3), 2.0), 0.5, seed=4).controls("float64").reshape(40000, 9)
    z = (u - 2) / 0.5
    assert np.abs(z.mean(axis=0)).max() < 5 / 200 and np.abs(z.std(axis=0) - 1).max() < 5 / 200 / np.sqrt(2)
    off = np.corrcoef(z, rowvar=False) - np.eye(9)
    assert np.abs(off).max() < 5 / 200
    # the distribution's quantiles: 5 standard deviations of a share of 40000
    for x, share in ((-2.0, 0.0227501), (-1.0, 0.1586553), (0.0, 0.5), (0.5, 0.6914625), (3.0, 0.9986501)):
        assert np.abs((z < x).mean(axis=0) - share).max() < 5 * np.sqrt(share * (1 - share)) / 200


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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_updates_of_plans_are_those_of_numpy(dtype):
    rng = np.random.default_rng(2)
    column = rng.exponential(50, (3000, 1))
    costs = column[:, 0]
    costs[7], costs[8] = np.inf, np.nan
    U = rng.normal(size=(6, 4, 3000)).astype(dtype).transpose(2, 0, 1)
    finite = np.where(np.isfinite(costs), costs, np.inf)
    exponential = np.exp((finite.min() - finite) / 10)
    elites = np.zeros(3000)
    elites[np.argsort(finite)[:50]] = 1
    one = np.zeros(3000)
    one[np.argmin(finite)] = 1
    tolerance = {"float32": 1e-6, "float64": 1e-15}[dtype]
    for kind, weights in (("softmax_mean", exponential), ("elite_mean", elites), ("best", one)):
        results = []
        for threads in (1, 3):
            updater = _featherstorm.PlanUpdater(kind, 10.0, False, 50, False, 3000, 6, 4, dtype, threads=threads)
            found = updater.next_plan(column, U)
            assert found.best.index == np.nanargmin(costs) and found.best.value == np.nanmin(costs)
            results.append((found.mean, found.deviation))
            with pytest.raises(ValueError, match="^costs has 1 dimensions, expected 2"):
                updater.next_plan(costs, U)
        assert results[0] == results[1]
        mean = np.reshape(found.mean, (6, 4))
        expected = np.tensordot(weights / weights.sum(), U.astype(float), 1)
        assert np.abs(mean - expected).max() < tolerance
        if kind == "elite_mean":
            square = np.tensordot(weights / weights.sum(), (U.astype(float) - expected) ** 2, 1)
            assert np.abs(np.reshape(found.deviation, (6, 4)) - np.sqrt(square)).max() < tolerance
        else:
            assert found.deviation == []
    column[:] = np.nan
    nothing = updater.next_plan(column, U)
    assert (nothing.best.index, nothing.mean, nothing.deviation) == (-1, [], [])


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
