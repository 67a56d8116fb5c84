"""Plans: their knots, their noise, their time, and plans for several robots."""

import pickle

import numpy as np
import pytest
from test_planning import GOAL, to_goal

import featherstorm as fs
from featherstorm.planning import CEM, DIAL, MPPI, PredictiveSampling


def recorded(costs_of=to_goal):
    """Return a rollout, and the list of the samples that it is given."""
    given = []

    def rollout(x0, U):
        given.append(np.array(U, float))
        return costs_of(x0, U)

    return rollout, given


def test_knots_are_the_plan():
    """Samples are drawn and averaged as knots, and bounds hold for knots and for the controls between them."""
    rollout, given = recorded()
    options = {"samples": 40, "sigma": 0.6, "lower": -0.5, "upper": 0.5, "knots": 3, "temperature": 0.5}
    planner = MPPI(rollout, 7, 2, interpolation="cubic", dtype="float64", **options)
    U = planner.plan(np.zeros(2))
    W = fs.noise.interpolation_weights(7, 3, "cubic")
    at_knots = given[0][:, [0, 3, 6]]
    assert np.abs(at_knots).max() == 0.5
    assert np.allclose(given[0], np.clip(np.einsum("tk,bku->btu", W, at_knots), -0.5, 0.5), atol=1e-12)
    w = np.exp(-to_goal(np.zeros(2), given[0]) / 0.5)
    knots = np.tensordot(w / w.sum(), at_knots, 1)
    assert np.allclose(planner.plan_knots, knots, atol=1e-12)
    assert np.allclose(U, np.clip(W @ knots, -0.5, 0.5), atol=1e-12)


@pytest.mark.parametrize(("interpolation", "knots"), [("linear", None), ("linear", 4), ("cubic", 4), ("hold", 5)])
def test_a_plan_is_shifted_by_the_time_that_has_passed(interpolation, knots):
    options = {"samples": 1, "sigma": 0.1, "dt": 0.02, "interpolation": interpolation, "dtype": "float64"}
    rollout, _ = recorded()
    planner = MPPI(lambda x0, U, t0: rollout(x0, U), 10, 1, knots=knots, **options)
    rng = np.random.default_rng(3)
    planner.reset(rng.normal(size=(planner.knots, 1)))
    planner.command(np.zeros(2), 1.0)
    before = {t: planner.control(t) for t in np.linspace(1.0, 1.5, 101)}
    assert np.allclose([before[t] for t in (1.0, 1.5)], planner.U[[0, -1]])
    K, T = planner.knots, 10
    times = np.arange(K) * (T / K if interpolation == "hold" else (T - 1) / (K - 1))
    for passed in (0.02, 0.03):
        planner.reset(planner.plan_knots)
        old, t = planner.U, 1.0
        planner.command(np.zeros(2), t)
        curve = {k: planner.control(t + passed + 0.02 * k) for k in times}
        planner.command(np.zeros(2), t + passed)
        assert np.allclose(planner.plan_knots, list(curve.values()), atol=1e-9), passed
        if knots is None and passed == 0.02:
            assert np.array_equal(planner.U, old[[1, 2, 3, 4, 5, 6, 7, 8, 9, 9]])
    with pytest.raises(ValueError, match=r"MPPI: t0 is 0.5, expected 1.03 or later"):
        planner.command(np.zeros(2), 0.5)
    assert planner.t0 == 1.03


def test_noise_has_a_size_for_each_iteration_and_knot():
    sigma = np.arange(1.0, 25.0).reshape(3, 4, 2)
    rollout, given = recorded(lambda x0, U: np.ones(len(U)))
    planner = PredictiveSampling(rollout, 4, 2, samples=4000, sigma=sigma, iterations=3, first_iterations=5)
    planner.command(np.zeros(2))
    planner.command(np.zeros(2))
    assert len(given) == 5 + 3
    for U, row in zip(given, [0, 0, 0, 1, 2, 0, 1, 2]):
        assert np.allclose((U - U[0]).std(axis=0), sigma[row], rtol=0.05)


def test_dial_anneals_over_iterations_and_towards_the_beginning_of_the_plan():
    rollout, _ = recorded()
    planner = DIAL(rollout, 16, 2, sigma=[1.0, 2.0], knots=3, iterations=2, iteration_decay=0.5, knot_decay=0.8)
    expected = np.array([1.0, 2.0]) * np.array([0.64, 0.8, 1.0])[:, None] * np.array([1.0, 0.5])[:, None, None]
    assert np.allclose(planner.sigma, expected)
    goals = DIAL(to_goal, 5, 2, samples=400, sigma=0.3, knots=3, iterations=8, lower=-0.5, upper=0.5)
    assert to_goal(np.zeros(2), goals.plan(np.zeros(2))[None])[0] < 0.15


def test_standardised_weights_do_not_depend_on_the_unit_of_the_cost():
    plans = []
    for unit in (1.0, 1000.0):
        rollout, given = recorded(lambda x0, U, unit=unit: unit * to_goal(x0, U))
        planner = MPPI(rollout, 3, 2, samples=60, temperature=0.3, standardised=True, dtype="float64")
        plans.append(planner.plan(np.zeros(2)))
        cost = to_goal(np.zeros(2), given[0])
        w = np.exp(-(cost - cost.min()) / (0.3 * cost.std()))
        assert np.allclose(plans[-1], np.tensordot(w / w.sum(), given[0], 1), rtol=1e-10)
    assert np.allclose(*plans, rtol=1e-10)
    equal = MPPI(lambda x0, U: np.ones(len(U)), 3, 2, samples=60, standardised=True)
    assert np.isfinite(equal.plan(np.zeros(2))).all()


def test_the_noise_can_cost():
    rollout, given = recorded()
    start = np.full((3, 2), 0.2)
    planner = MPPI(rollout, 3, 2, samples=60, temperature=0.5, noise_cost=0.3, sigma=[0.4, 0.8], dtype="float64")
    planner.reset(start)
    U = planner.plan(np.zeros(2))
    cost = to_goal(np.zeros(2), given[0]) + 0.3 * np.sum(start * (given[0] - start) / np.array([0.4, 0.8]) ** 2, (1, 2))
    w = np.exp(-(cost - cost.min()) / 0.5)
    assert np.allclose(U, np.tensordot(w / w.sum(), given[0], 1), rtol=1e-10)
    assert planner.cost == pytest.approx(cost.min())


def test_the_spread_of_the_samples_adapts_the_noise():
    rollout, given = recorded()
    options = {"temperature": 0.2, "sigma": 0.5, "iterations": 2, "adapt": 0.7, "sigma_min": 0.3}
    planner = MPPI(rollout, 3, 2, samples=3000, dtype="float64", **options)
    planner.plan(np.zeros(2))
    w = np.exp(-to_goal(np.zeros(2), given[0]) / 0.2)
    w /= w.sum()
    mean = np.tensordot(w, given[0], 1)
    expected = np.sqrt(0.3 * 0.25 + 0.7 * np.tensordot(w, (given[0] - mean) ** 2, 1))
    found = (given[1] - given[1][0]).std(axis=0)
    assert np.allclose(found, np.maximum(expected, 0.3), rtol=0.06)


def test_a_plan_acts_from_its_time_on():
    options = {"samples": 1, "sigma": 0.1, "dt": 0.02, "knots": 3, "dtype": "float64"}
    planner = MPPI(lambda x0, U, t0: np.zeros(1), 5, 1, **options)
    planner.reset(np.array([[1.0], [2.0], [3.0]]))
    assert planner.control(0.5) == 1.0  # nothing acts yet: the plan of reset, at its beginning
    planner.command(np.zeros(1), 1.0, latency=0.03, predict=False)
    assert planner.control(1.02) == 1.0
    assert [float(planner.control(t)[0]) for t in (1.04, 1.06, 9.0)] == pytest.approx([2.0, 2.5, 3.0])
    planner.command(np.zeros(1), 1.04, latency=0.03, predict=False)  # the same curve, and its end goes on
    assert planner.plan_knots.ravel() == pytest.approx([2.0, 3.0, 3.0])
    assert [float(planner.control(t)[0]) for t in (1.06, 1.075)] == pytest.approx([2.5, 2.875])
    planner.command(np.zeros(1), 1.06)
    assert planner.control(1.06) == pytest.approx(2.5)
    for k in range(100):
        planner.command(np.zeros(1), 2.0 + 0.01 * k, latency=10.0, predict=False)
    assert planner.control(2.5) == pytest.approx(
        3.0
    )  # 63 plans are known, none acts yet: the oldest one's first control


def drives(x, u, t, p):
    return np.concatenate([u, np.zeros(1)])


def test_a_state_is_predicted_under_the_plan():
    """Over the latency the model follows the plan of the last call; a plan then begins where it will act."""
    model = fs.load("cartpole", threads=1)
    roll = fs.Rollout(model, 0.02, lambda x, u, t, p: 1 - np.cos(x.q[1]), control=drives, substeps=4)
    planner = MPPI(roll, 10, 1, samples=64, sigma=3.0, knots=4, temperature=0.1, dtype="float64")
    x = np.array([0, 3.0, 0.1, 0])
    planner.command(x, 2.0)
    assert np.array_equal(planner.predict(x, 2.0, 0.0), x)
    got = planner.predict(x, 2.01, 0.015)
    fine = fs.Rollout(model, 0.005, control=drives)
    U = np.array([planner.control(2.01 + 0.005 * k) for k in range(3)])
    assert np.allclose(got, fine(x, U[None]).final[0], rtol=1e-12)
    twin = MPPI(roll, 10, 1, samples=64, sigma=3.0, knots=4, temperature=0.1, dtype="float64")
    twin.command(x, 2.0)
    u = planner.command(x, 2.01, latency=0.015)
    assert planner.t0 == 2.025
    assert np.array_equal(u, twin.command(got, 2.025)) and np.array_equal(planner.U, twin.U)
    with pytest.raises(TypeError, match="predict needs a featherstorm.Rollout"):
        MPPI(to_goal, 4, 2).predict(x, 0.0, 0.1)
    with pytest.raises(ValueError, match="which needs the time t0"):
        planner.command(x, latency=0.015)
    with pytest.raises(ValueError, match="latency is -0.1"):
        planner.predict(x, 2.1, -0.1)


def reach(x, u, t, p):
    return (x.q[0] - p[0]) ** 2 + 1e-3 * u @ u


def batched_rollout():
    return fs.Rollout(fs.load("cartpole", threads=1), 0.02, reach, control=drives, substeps=2)


@pytest.mark.parametrize(
    ("kind", "options"),
    [(MPPI, {"temperature": 0.1}), (DIAL, {"knots": 4}), (CEM, {"elites": 9}), (PredictiveSampling, {"knots": 3})],
)
def test_plans_of_several_robots_are_those_of_a_planner_each(kind, options):
    roll, R = batched_rollout(), 3
    options = {"samples": 50, "sigma": 3.0, "lower": -8, "upper": 8, "iterations": 2, **options}
    x = np.random.default_rng(0).normal(size=(R, 4)).astype(np.float32)
    p = np.float32([[0.5], [-1.0], [2.0]])
    several = kind(roll, 12, 1, robots=R, seed=7, **options)
    alone = [kind(roll, 12, 1, seed=7 + k, **options) for k in range(R)]
    for t in (0.0, 0.03, 0.05):
        u = several.command(x, t, latency=0.02, p=p)
        expected = [one.command(x[k], t, latency=0.02, p=p[k]) for k, one in enumerate(alone)]
        assert np.array_equal(u, expected)
    assert np.array_equal(several.U, [one.U for one in alone])
    assert np.array_equal(several.cost, [one.cost for one in alone]) and several.calls == 3
    assert np.array_equal(several.control(0.06), [one.control(0.06) for one in alone])
    assert several.U.shape == (R, 12, 1) and several.plan_knots.shape == (R, several.knots, 1)
    twin = pickle.loads(pickle.dumps(several))
    assert twin.calls == several.calls and np.array_equal(twin.cost, several.cost)
    assert np.array_equal(twin.plan(x, p=[0.3]), several.plan(x, p=[0.3]))  # one p for all


def masses():
    model = fs.load("cartpole", threads=1, parameters=("mass",))
    return model, model.parameter("mass") * np.array([[0.3], [1.0], [4.0]])


def reach_with(model):
    return fs.Rollout(model, 0.02, reach, control=drives, substeps=2)


@pytest.mark.parametrize(
    ("risk", "weights"), [("mean", [1 / 3, 1 / 3, 1 / 3]), ("max", [1, 0, 0]), (0.5, [2 / 3, 1 / 3, 0])]
)
def test_a_plan_for_several_models_has_the_mean_maximum_or_cvar_of_their_costs(risk, weights):
    model, mass = masses()
    options = {"samples": 40, "sigma": 3.0, "seed": 3}
    x, drawn = np.float32([-0.5, 0.2, 0.0, 0.1]), []

    def note(x0, U):
        drawn.append(U.copy())
        return np.zeros(40)

    PredictiveSampling(note, 12, 1, **options).plan(x)
    costs = np.array([reach_with(model.bind(mass=row))(x, drawn[0], p=[0.5]).costs for row in mass], float)
    expected = np.array(weights) @ -np.sort(-costs, axis=0)
    planner = PredictiveSampling(reach_with(model.bind(mass=mass)), 12, 1, models=3, risk=risk, **options)
    assert np.array_equal(planner.plan(x, p=[0.5]), drawn[0][np.argmin(expected)])
    assert planner.cost == pytest.approx(expected.min(), rel=1e-6)


def test_several_models_of_several_robots_and_of_a_prediction():
    model, mass = masses()
    roll, options = reach_with(model.bind(mass=mass)), {"samples": 40, "sigma": 3.0, "models": 3, "knots": 4}
    x = np.random.default_rng(1).normal(size=(2, 4)).astype(np.float32)
    p = np.float32([[0.5], [-1.0]])
    several = MPPI(roll, 12, 1, robots=2, seed=7, **options)
    alone = [MPPI(roll, 12, 1, seed=7 + k, **options) for k in range(2)]
    for t in (0.0, 0.03):
        u = several.command(x, t, latency=0.02, p=p)
        assert np.array_equal(u, [one.command(x[k], t, latency=0.02, p=p[k]) for k, one in enumerate(alone)])
    several, first = MPPI(roll, 12, 1, **options), MPPI(reach_with(model.bind(mass=mass[0])), 12, 1)
    for planner in (several, first):
        planner.reset(np.full((12, 1), 5.0))
    assert np.array_equal(several.predict(x[0], 0.0, 0.1, p=p[0]), first.predict(x[0], 0.0, 0.1, p=p[0]))
    with pytest.raises(ValueError, match="models is 2, but no bound parameter of cartpole has 2 rows"):
        MPPI(roll, 12, 1, models=2)
    with pytest.raises(ValueError, match="risk is 'min', expected mean, max or a number above 0, at most 1"):
        MPPI(roll, 12, 1, models=3, risk="min")
    with pytest.raises(ValueError, match="risk is 0, expected"):
        MPPI(roll, 12, 1, models=3, risk=0)


def test_robots_of_a_simulator_of_ones_own():
    def rollout(x0, U):
        assert x0.shape == (80, 2) and U.shape == (80, 5, 2)
        return np.sum((x0[:, None] + np.cumsum(U, axis=1) - GOAL) ** 2, axis=(1, 2))

    several = CEM(rollout, 5, 2, samples=40, elites=6, iterations=15, sigma=0.3, robots=2, knots=3)
    U = several.plan(np.array([[0.0, 0.0], [0.2, -0.2]]))
    assert U.shape == (2, 5, 2) and (several.cost < 0.5).all()
