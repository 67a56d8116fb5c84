"""Planners whose samples are on the workers of a Ray cluster: the bits of one process."""

import sys

import numpy as np
import pytest
import ray

import featherstorm as fs
from featherstorm.distributed import Workers
from featherstorm.planning import CEM, DIAL, ILQR, MPPI, PlanningError, PredictiveSampling

ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
HANGING = np.array([0.0, np.pi, 0.0, 0.0])
PLANNERS = [
    (PredictiveSampling, {"iterations": 2}),
    (MPPI, {"temperature": 0.3, "adapt": 0.5, "noise_cost": 0.1, "iterations": 2}),
    (CEM, {"elites": 70, "sigma_min": 0.1, "interpolation": "cubic"}),
    (DIAL, {"first_iterations": 3, "dtype": "float64"}),
]


def cost(x, u, t, p):
    return 2 * (1 - np.cos(x.q[1])) + 0.5 * (x.q[0] - p[0]) ** 2 + 0.05 * x.v @ x.v + 1e-3 * u @ u + 0.01 * t


def control(x, u, t, p):
    return np.concatenate([u, np.zeros(1)])


def rollout(model):
    return fs.Rollout(model, dt=0.02, cost=cost, control=control, substeps=2)


def planner(kind, roll, workers=None, **options):
    given = {"samples": 203, "sigma": 6.0, "lower": -10, "upper": 10, "knots": 5, "seed": 2**40, **options}
    return kind(roll, 20, 1, workers=workers, **given)


def bits(plan, x, p=(0.3,), calls=3):
    """Commands, plans and costs of some calls, as bytes."""
    found = []
    for k in range(calls):
        found += [plan.command(x, 0.03 * k, p=p), plan.plan_knots, plan.cost]
    return [np.ascontiguousarray(x).tobytes() for x in found]


@pytest.fixture(scope="module")
def cartpole():
    return fs.load("cartpole")


@pytest.fixture(scope="module")
def expected(cartpole):
    """Bits of each planner in this process."""
    return [bits(planner(kind, rollout(cartpole), **options), HANGING) for kind, options in PLANNERS]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_plans_have_the_bits_of_one_process(cluster, cartpole, expected, count):
    with Workers(count) as workers:
        for (kind, options), one in zip(PLANNERS, expected):
            assert len(set(one)) == len(one)
            assert bits(planner(kind, rollout(cartpole), workers, **options), HANGING) == one
        assert len(workers.actors) == count and workers.retries == 0
        # states, knots and costs, not samples: 5 knots of each of 203 samples would have 4 kB
        assert workers.received < 3 * 11 * 203 * 8


@pytest.mark.parametrize("call", ["sampler", "costs"])
def test_a_worker_that_ends_in_a_plan_is_replaced(cluster, cartpole, expected, ending, call):
    kind, options = PLANNERS[1]
    with Workers(4) as workers:
        ended = ending(workers, call, 2, after=0 if call == "sampler" else 4)
        assert bits(planner(kind, rollout(cartpole), workers, **options), HANGING) == expected[1]
        assert ended and (len(workers.actors), workers.retries) == (4, 1)


def test_several_robots_and_several_models(cluster):
    light = fs.load("cartpole", parameters=("mass",))
    roll = rollout(light.bind(mass=light.parameter("mass") * np.array([[0.5], [1.0], [2.0]])))
    options = {"robots": 2, "models": 3, "risk": "max", "samples": 37}
    x, p = np.stack([HANGING, HANGING + 0.1]), [[0.2], [-0.4]]
    expected = bits(planner(MPPI, roll, **options), x, p)
    with Workers(2) as workers:
        assert bits(planner(MPPI, roll, workers, **options), x, p) == expected


def test_planners_and_environments_share_workers(cluster, cartpole):
    roll, task = rollout(cartpole), fs.tasks.make("InvertedPendulum-v5")

    def policy(obs, w, rng):
        return rng.normal(size=1)

    alone = task.batch(9, seed=1)
    alone.reset()
    with Workers(2) as workers:
        env = workers.batch(task, 9, seed=1)
        env.reset()
        pairs = [
            (planner(kind, roll, workers, samples=n), planner(kind, roll, samples=n))
            for kind, n in ((MPPI, 64), (PredictiveSampling, 100))
        ]
        for _ in range(2):
            assert np.array_equal(env.collect(5, policy).reward, alone.collect(5, policy).reward)
            for found, expected in pairs:
                assert bits(found, HANGING, calls=1)[1:] == bits(expected, HANGING, calls=1)[1:]


def test_a_function_as_the_model(cluster):
    """Also one that is defined in the driver's process alone, and without interpolation by the rollout."""

    def to_goal(x0, U):
        return ((np.cumsum(U, axis=1) + x0 - 0.3) ** 2).sum((1, 2))

    expected = planner(MPPI, to_goal).plan(np.zeros(1))
    with Workers(2) as workers:
        assert np.array_equal(planner(MPPI, to_goal, workers).plan(np.zeros(1)), expected)


def test_errors_of_workers_leave_the_plan(cluster, cartpole):
    roll = rollout(cartpole)
    with Workers(2) as workers:
        plan, alone = planner(MPPI, roll, workers), planner(MPPI, roll)
        with pytest.raises(PlanningError, match="MPPI: no sample has a finite cost"):
            plan.command(np.full(4, np.nan), p=[0.0])
        with pytest.raises(ValueError, match=r"p \(samples are on workers\) has shape \(203, 1\), expected \(1, np\)"):
            plan.command(HANGING, p=np.zeros((203, 1)))
        with pytest.raises(ValueError, match="x0 has shape"):
            plan.command(np.zeros(3), p=[0.0])
        assert bits(plan, HANGING) == bits(alone, HANGING)
        with pytest.raises(TypeError, match="workers"):
            ILQR(roll, 20, 1, workers=workers)
    with Workers(4) as workers, pytest.raises(ValueError, match="count is 4, expected at most 3"):
        planner(MPPI, roll, workers, samples=3).command(HANGING, p=[0.0])
