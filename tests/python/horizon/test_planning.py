"""Planners on plain functions and, as the examples, on robots."""

import pathlib

import numpy as np
import pytest

import featherstorm as fs
from featherstorm.examples import acrobot, cartpole, panda_reach, quadrotor, quadruped_cost, rollout_rate
from featherstorm.examples.closed_loop import run_example
from featherstorm.planning import CEM, MPPI, PredictiveSampling

GOAL = np.array([0.4, -0.3])


def to_goal(x0, U):
    """A rollout that is not featherstorm's: a point moved by its controls."""
    path = x0 + np.cumsum(U, axis=1)
    return np.sum((path - GOAL) ** 2, axis=(1, 2))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (MPPI, {"temperature": 0.02, "iterations": 30}),
        (CEM, {"elites": 20, "iterations": 20, "sigma_min": 0.01}),
        (PredictiveSampling, {"iterations": 100}),
    ],
)
@pytest.mark.parametrize("knots", [None, 3])
def test_a_plan_reaches_the_goal(kind, options, knots):
    planner = kind(to_goal, 5, 2, samples=400, sigma=0.1, knots=knots, lower=-0.5, upper=[0.3, 0.4], **options)
    U = planner.plan(np.zeros(2))
    assert (U >= -0.5).all() and (np.float32([0.3, 0.4]) >= U).all()
    # with a bound of 0.3 the goal at 0.4 takes two steps
    assert np.abs(np.cumsum(U, axis=0)[-1] - GOAL).max() < 0.1
    assert to_goal(np.zeros(2), U[None])[0] < 0.15


def test_a_command_begins_with_the_last_plan_moved_on():
    planner = PredictiveSampling(to_goal, 4, 2, samples=1, sigma=0.1)
    plan = np.arange(8.0).reshape(4, 2)
    planner.reset(plan)
    assert np.array_equal(planner.command(np.zeros(2)), plan[0])
    assert np.array_equal(planner.command(np.zeros(2)), plan[1])
    assert np.array_equal(planner.U, plan[[1, 2, 3, 3]])


def test_mppi_weighs_by_the_exponential_of_the_cost():
    seen = {}

    def remembered(x0, U):
        seen["U"] = U.copy()
        return to_goal(x0, U)

    planner = MPPI(remembered, 3, 2, samples=50, temperature=0.5, dtype="float64")
    U = planner.plan(np.zeros(2))
    weights = np.exp(-to_goal(np.zeros(2), seen["U"]) / 0.5)
    assert np.allclose(U, np.tensordot(weights / weights.sum(), seen["U"], 1), rtol=1e-12)
    assert not seen["U"][0].any()
    planner.temperature = 1e-9  # applies from the next call
    U = planner.plan(np.zeros(2))
    assert np.array_equal(U, seen["U"][to_goal(np.zeros(2), seen["U"]).argmin()])


def test_a_call_that_fails_changes_nothing():
    planner = PredictiveSampling(to_goal, 4, 2, samples=30, iterations=2)
    planner.command(np.zeros(2))
    before, cost = planner.U.copy(), planner.cost
    with pytest.raises(ValueError, match="no sample has a finite cost"):
        planner.command(np.full(2, np.nan))
    assert np.array_equal(planner.U, before)
    assert (planner.cost, planner.calls) == (cost, 1)


def test_bad_samples_do_not_count():
    def some_bad(x0, U):
        costs = to_goal(x0, U)
        costs[1::2] = np.nan
        costs[2::4] = -np.inf
        return costs

    for kind, options in ((MPPI, {}), (CEM, {"elites": 60}), (PredictiveSampling, {})):
        planner = kind(some_bad, 3, 2, samples=80, sigma=0.1, **options)
        assert np.isfinite(planner.plan(np.zeros(2))).all() and np.isfinite(planner.cost)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: MPPI(3, 4, 2), TypeError, "MPPI: rollout is a int, expected a function"),
        (lambda: MPPI(to_goal, 0, 2), ValueError, "MPPI: horizon is 0, expected 1 or more"),
        (lambda: MPPI(to_goal, 4, 2, samples=0), ValueError, "MPPI: samples is 0"),
        (lambda: MPPI(to_goal, 4, 2, temperature=0), ValueError, "MPPI: temperature is 0"),
        (lambda: MPPI(to_goal, 4, 2, sigma=[1, 2, 3]), ValueError, r"MPPI: sigma has shape \(3,\), expected \(2,\)"),
        (lambda: MPPI(to_goal, 4, 2, sigma=-1), ValueError, "MPPI: sigma is -1"),
        (lambda: MPPI(to_goal, 4, 2, lower=1, upper=0), ValueError, "MPPI: lower is 1 and upper is 0"),
        (lambda: MPPI(to_goal, 4, 2, interpolation="quintic"), ValueError, "interpolation is 'quintic', expected"),
        (lambda: CEM(to_goal, 4, 2, samples=10), ValueError, "CEM: elites is 64, expected 1 to 10"),
        (lambda: MPPI(to_goal, 4, 2).reset(np.zeros((3, 2))), ValueError, r"U has shape \(3, 2\), expected \(4, 2\)"),
        (lambda: MPPI(to_goal, 4, 2).plan(np.zeros((3, 2))), ValueError, r"x has shape \(3, 2\), expected \(nx,\)"),
        (lambda: MPPI(lambda x, U: U, 4, 2).plan(np.zeros(2)), ValueError, "MPPI: costs of the rollout has shape"),
        (lambda: MPPI(to_goal, 4, 2).plan(np.full(2, np.nan)), ValueError, "MPPI: no sample has a finite cost"),
        (lambda: MPPI(to_goal, 4, 2, robots=0), ValueError, "robots is 0, expected 1 or more"),
        (
            lambda: MPPI(to_goal, 4, 2, robots=3).plan(np.zeros(2)),
            ValueError,
            r"x has shape \(2,\), expected \(3, nx\)",
        ),
    ],
)
def test_messages(call, error, message):
    with pytest.raises(error, match=message):
        call()


def is_png(file):
    return file.read_bytes().startswith(b"\x89PNG")


def test_cartpole_swings_up_and_stays_up(tmp_path):
    angle, _ = cartpole.main(seconds=4.0, file=tmp_path / "plot.png")
    assert angle < np.radians(8) and is_png(tmp_path / "plot.png")


def test_acrobot_swings_up_and_stays_up(tmp_path):
    distance, _ = acrobot.main(file=tmp_path / "plot.png")
    assert distance < 0.1 and is_png(tmp_path / "plot.png")


def test_panda_reaches_a_moving_target_within_its_limits(tmp_path):
    error, kept, saturated, _ = panda_reach.main(seconds=6.0, file=tmp_path / "plot.png")
    assert error < 0.01 and kept and saturated > 0 and is_png(tmp_path / "plot.png")


def test_examples_draw_where_they_are_told(tmp_path, monkeypatch, capsys):
    files = []
    monkeypatch.setattr("sys.argv", ["cartpole", "--plot", str(tmp_path / "there.png")])
    run_example(lambda file: files.append(file), "cartpole", "What it does.")
    monkeypatch.setattr("sys.argv", ["cartpole"])
    run_example(lambda file: files.append(file), "cartpole", "What it does.")
    assert files == [str(tmp_path / "there.png"), "cartpole.png"]
    monkeypatch.setattr("sys.argv", ["cartpole", "--help"])
    with pytest.raises(SystemExit):
        run_example(files.append, "cartpole", "What it does.")
    assert "What it does." in capsys.readouterr().out


def test_a_cost_of_ones_own_takes_fifty_lines():
    assert len(pathlib.Path(quadruped_cost.__file__).read_text(encoding="utf-8").splitlines()) <= 50
    assert quadruped_cost.main(samples=512, horizon=5, calls=3) > 1e5


def test_rate_of_rollouts_runs():
    rate = rollout_rate.main(samples=200, horizon=5, repeats=1)
    assert rate.keys() == {"there", "numpy", "noise"} and min(rate.values()) > 0


def test_quadrotor_follows_a_figure_eight(tmp_path):
    worst, mean, _ = quadrotor.main(samples=256, seconds=4.0, file=tmp_path / "eight.png")
    assert worst < 0.08 and mean < 0.04
    assert is_png(tmp_path / "eight.png")


def test_rotors_give_the_wrench_of_their_geometry_within_their_limits():
    places = quadrotor.ARM * np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    thrusts = np.array([1.0, 2.0, 4.0, 3.0])
    forces = thrusts[:, None] * np.array([0, 0, 1])
    moment = np.cross(places, forces).sum(axis=0) + quadrotor.REACTION * np.array([0, 0, thrusts @ [1, -1, 1, -1]])
    assert np.allclose(quadrotor.ROTORS @ thrusts, [thrusts.sum(), *moment])
    for u in ([100.0, 9.0, -9.0, 3.0], [0.0, 5.0, 5.0, -2.0]):
        thrusts = quadrotor.rotor_thrusts(np.zeros(3), np.array(u))
        assert thrusts.min() >= 0 and thrusts.max() <= quadrotor.STRONGEST


@pytest.mark.parametrize(
    ("kind", "options"),
    [(MPPI, {"temperature": 0.1}), (CEM, {"elites": 9}), (PredictiveSampling, {})],
)
@pytest.mark.parametrize(("interpolation", "knots"), [("linear", None), ("linear", 4), ("cubic", 4), ("hold", 4)])
def test_plans_are_the_same_whether_the_rollout_interpolates_knots_or_is_given_controls(
    kind, options, interpolation, knots
):
    model = fs.load("cartpole", threads=1)
    roll = fs.Rollout(model, 0.02, lambda x, u, t, p: 1 - np.cos(x.q[1]) + 1e-3 * u @ u)
    seen = []

    def given(x0, U):
        seen.append(U)
        return roll(x0, U)

    x, plans = np.array([0, 3.0, 0, 0]), []
    for rollout in (roll, given):
        planner = kind(
            rollout, 12, 2, samples=150, sigma=[2.0, 1.0], lower=-3, upper=3, knots=knots,
            interpolation=interpolation, iterations=2, seed=8, **options,
        )  # fmt: skip
        plans.append([planner.command(x).tolist() for _ in range(3)])
    assert plans[0] == plans[1]
    assert len(seen) == 6


def test_every_iteration_of_every_call_draws_anew():
    samples = []

    def seen(x0, U):
        samples.append((U - U[0])[1].tobytes())
        return np.arange(3.0)

    planner = PredictiveSampling(seen, 4, 2, samples=3, iterations=3)
    for _ in range(4):
        planner.command(np.zeros(2))
    assert len(set(samples)) == len(samples) == 12
