"""Rollouts against loops over the operation `step` with costs by numpy."""

import numpy as np
import pytest

import featherstorm as fs
from featherstorm.planning import MPPI

FRAMES = {"panda": "panda_hand", "go2": "FL_foot", "cartpole": 0}
B, T, DT = 67, 6, 4e-3


def cost_of(frame):
    """A cost of symbols, or of Numbers with a column for each instance."""

    def cost(x, u, t, p):
        error = x.position(frame) - p[:3]
        stretched = np.where(x[0] > 0.1, np.exp(-x[1]), np.sin(t))
        return np.sum(error**2, axis=0) + p[3] * np.sum(u**2, axis=0) + 0.1 * stretched + 0.01 * np.sum(x.v**2, axis=0)

    return cost


class Numbers(np.ndarray):
    """States (nq + nv, B) with the methods of symbols.State that the cost uses."""

    @staticmethod
    def of(model, q, v):
        x = np.concatenate([q, v], axis=1).T.view(Numbers)
        x.model, x.q, x.v = model, q, v.T
        return x

    def position(self, frame):
        return fs.forward_kinematics(self.model, self.q, frame)[0].T


def by_loop(model, cost, q, v, U, p, substeps, drive=lambda q, v, u: {"tau": u}, **numbers):
    """Costs and states of a rollout, step by step."""
    costs, states = 0, []
    for k in range(U.shape[1]):
        q, v = fs.step(model, q, v, DT, substeps=substeps, **drive(q, v, U[:, k]), **numbers)
        costs = costs + cost(Numbers.of(model, q, v), U[:, k].T, 0.5 + DT * (k + 1), p.T)
        states.append(np.concatenate([q, v], axis=1))
    return np.asarray(costs), np.stack(states, axis=1)


def problem(name, dtype="float64"):
    model = fs.load(name)
    q, v = fs.random_state(model, B, seed=4, dtype=dtype, speed=0.3)
    U = np.random.default_rng(1).normal(size=(B, T, model.nv)).astype(dtype)
    p = np.random.default_rng(2).uniform(size=(B, 4))
    return model, cost_of(FRAMES[name]), q, v, U, p


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("substeps", [1, 3])
def test_a_rollout_is_a_loop_over_steps(name, substeps):
    model, cost, q, v, U, p = problem(name)
    expected, states = by_loop(model, cost, q, v, U, p, substeps)
    roll = fs.Rollout(model, DT, cost, substeps=substeps)
    got = roll(np.c_[q, v], U, p=p, t0=0.5, states=True)
    scale = 1 + np.abs(expected).max()
    assert np.abs(got.costs - expected).max() < 1e-9 * scale
    assert np.array_equal(got.states, states) and np.array_equal(got.final, states[:, -1])
    # one p for all
    shared = roll(np.c_[q, v], U, p=p[5], t0=0.5)
    assert abs(shared.costs[5] - expected[5]) < 1e-9 * scale and shared.states is None
    single, double = (a.astype("f4") for a in (np.c_[q, v], U))
    assert np.abs(roll(single, double, p=p, t0=0.5).costs - expected).max() < 2e-4 * scale


def test_numbers_of_a_cost_may_change_from_step_to_step():
    """References and gains: p (1, T, np) for all instances, or (B, T, np)."""
    model = fs.load("cartpole")
    x0 = np.random.default_rng(0).normal(size=(B, 4))
    U, p = np.random.default_rng(1).normal(size=(B, T, 2)), np.random.default_rng(2).normal(size=(B, T, 3))
    roll = fs.Rollout(
        model,
        DT,
        lambda x, u, t, p: (x[0] - p[0]) ** 2,
        control=lambda x, u, t, p: u + np.array([p[1], p[2]]) * (1.0 - x.q),
        terminal=lambda x, t, p: 7 * p[0],
        observe=lambda x, u, t, p: p,
    )
    for given, row in ((p, p), (p[:1], np.repeat(p[:1], B, axis=0))):
        found = roll(x0, U, p=given, states=True)
        assert np.array_equal(found.observations, row)
        x, costs = x0, 7 * row[:, -1, 0]
        for t in range(T):
            step = roll(x, U[:, t : t + 1], p=row[:, t])
            x = np.asarray(step.final)
            costs = costs + (x[:, 0] - row[:, t, 0]) ** 2
            assert np.array_equal(found.states[:, t], x)
        assert np.allclose(found.costs, costs, rtol=1e-13)
    with pytest.raises(ValueError, match=rf"p has shape \({B}, 5, 3\), expected \({B}, 6, np\)"):
        roll(x0, U, p=p[:, :5])
    planner = MPPI(roll, T, 2, samples=B, knots=3, dtype="float64")
    planner.command(x0[0], 0.0, p=p[:1])
    planner.command(x0[0], 0.004, latency=0.008, p=p[:1])
    assert np.isfinite(planner.U).all()


def test_controllers_targets_and_terminal_costs(go2):
    model, cost, q, v, U, p = problem("go2")
    joints = U[:, :, 6:]
    gains = {"kp": 20.0, "kd": 0.5}

    def drive(q, v, u):
        base = np.zeros((B, 6))
        return {"tau": np.c_[base, -0.1 * v[:, 6:]], "q_target": np.c_[base, 0.1 * u + q[:, 7:]]}

    def control(x, u, t, p):
        return np.concatenate([np.zeros(6), -0.1 * x.v[6:]]), np.concatenate([np.zeros(6), 0.1 * u + x.q[7:]])

    _, states = by_loop(model, cost, q, v, joints, p, 2, drive, **gains)
    roll = fs.Rollout(
        model,
        DT,
        lambda x, u, t, p: u @ u,
        terminal=lambda x, t, p: 1e3 * t + x[2],
        control=control,
        observe=lambda x, u, t, p: x.q[:3],
        substeps=2,
        **gains,
    )
    got = roll(np.c_[q, v], joints, states=True)
    assert np.abs(got.states - states).max() < 1e-9 * np.abs(states).max()
    expected = np.sum(joints**2, axis=(1, 2)) + 1e3 * T * DT + states[:, -1, 2]
    assert np.abs(got.costs - expected).max() < 1e-9 * np.abs(expected).max()
    assert np.array_equal(got.observations, got.states[:, :, :3])
    # without a controller and with kp the controls are targets
    plain = fs.rollout(model, np.c_[q, v], U, DT, states=True, **gains)
    _, states = by_loop(model, cost, q, v, U, p, 1, lambda q, v, u: {"q_target": u}, **gains)
    assert np.array_equal(plain.states, states)


def test_results_do_not_depend_on_batch_threads_or_layout():
    _model, cost, q, v, U, p = problem("panda", "float32")
    x0, U = np.repeat(np.c_[q, v], 5, axis=0), np.repeat(U, 5, axis=0)
    p = np.repeat(p, 5, axis=0)
    one, many = (fs.Rollout(fs.load("panda", threads=n), DT, cost) for n in (1, 3))
    expected = many(x0, U, p=p, states=True)
    for roll in (one, many):
        got = roll(x0[201:212], np.asfortranarray(U[201:212]), p=p[201:212], states=True)
        assert np.array_equal(got.costs, expected.costs[201:212])
        assert np.array_equal(got.states, expected.states[201:212])
    # one state for all controls, and one control sequence for all states
    assert np.array_equal(one(x0[0], U, p=p[0]).costs[:5], one(x0[:1], U[:5], p=p[0]).costs)
    assert one(x0, U[:1], p=p).costs.shape == (5 * B,)


def test_an_instance_that_is_not_finite_has_an_infinite_cost():
    model, _, q, v, U, _ = problem("panda")
    roll = fs.Rollout(model, DT, lambda x, u, t, p: np.minimum(x[0], 1.0) * 0)
    good = roll(np.c_[q, v], U)
    v[9, 3] = np.nan
    bad = roll(np.c_[q, v], U)
    assert bad.costs[9] == np.inf and np.array_equal(np.delete(bad.costs, 9), np.delete(good.costs, 9))
    # so has a cost that is not a number, although the state is finite
    root = fs.Rollout(model, DT, lambda x, u, t, p: np.sqrt(x[0] - 10.0))
    assert (root(np.c_[q, np.zeros_like(v)], U).costs == np.inf).all()


def test_an_empty_batch():
    model = fs.load("cartpole")
    got = fs.rollout(model, np.zeros((0, 4)), np.zeros((0, 5, 2)), DT, lambda x, u, t, p: x[0], states=True)
    assert got.costs.shape == (0,) and got.states.shape == (0, 5, 4)


def test_the_interpreter_serves_where_nothing_else_can(monkeypatch):
    monkeypatch.setenv("FEATHERSTORM_ASSEMBLE", "0")
    monkeypatch.setenv("FEATHERSTORM_CXX", "/nowhere/c++")
    model, cost, q, v, U, p = problem("cartpole")
    roll = fs.Rollout(model, DT, cost)
    with pytest.warns(fs.Notice, match="interpreted, which is slow: assembling is switched off; "):
        got = roll(np.c_[q, v], U, p=p, t0=0.5).costs
    assert np.abs(got - by_loop(model, cost, q, v, U, p, 1)[0]).max() < 1e-9 * (1 + np.abs(got).max())


def test_kernels_are_kept_and_parameters_change_without_new_ones():
    model = fs.load("cartpole")
    calls = []

    def cost(x, u, t, p):
        calls.append(1)
        return p[0] + 0 * x[0]

    for number in (1.0, 2.0, 3.0):
        got = fs.rollout(model, np.zeros(4), np.zeros((3, 2, 2)), DT, cost, p=[number], kp=[1.0, 2.0])
        assert np.allclose(got.costs, 2 * number)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m, r: r(np.zeros(3), np.zeros((2, 5, 2))), ValueError, r"x0 has shape \(3,\), expected \(2, 4\)"),
        (lambda m, r: r(np.zeros((3, 4)), np.zeros((2, 5, 2))), ValueError, r"shape \(3, 4\), expected \(2, 4\)"),
        (lambda m, r: r(np.zeros(4), np.zeros((5, 2))), ValueError, r"U has shape \(5, 2\), expected \(B, T, nu\)"),
        (lambda m, r: r(np.zeros(4), np.zeros((2, 0, 2))), ValueError, "expected a horizon T of 1 or more"),
        (lambda m, r: r(np.zeros(4), np.zeros((2, 5, 3))), ValueError, "U has 3 controls, expected 2"),
        (lambda m, r: r(np.zeros(4), np.zeros((2, 5, 2), int)), TypeError, "U is int64, expected float32 or float64"),
        (lambda m, r: r(np.zeros(4), np.zeros((2, 5, 2), "f4")), TypeError, "x0 is float64, expected float32 as U is"),
        (lambda m, r: r(np.zeros(4), np.zeros((2, 5, 2)), np.zeros((3, 1))), ValueError, r"p has shape \(3, 1\)"),
        (lambda m, r: fs.Rollout(m, 0.0), ValueError, "Rollout: dt is 0.0"),
        (lambda m, r: fs.Rollout(m, 0.1, substeps=0), ValueError, "Rollout: substeps is 0"),
        (lambda m, r: fs.Rollout(m, 0.1, 3.0), TypeError, "Rollout: cost is a float, expected a function"),
        (lambda m, r: fs.Rollout(m, 0.1, mass=3.0), TypeError, "^Rollout: mass is not an argument"),
        (
            lambda m, r: fs.rollout(m, np.zeros(4), np.zeros((2, 5, 1)), 0.1, control=lambda x, u, t, p: u),
            ValueError,
            "control: tau returned 1 numbers, expected 2",
        ),
    ],
)
def test_messages(call, error, message):
    model = fs.load("cartpole")
    with pytest.raises(error, match=message):
        call(model, fs.Rollout(model, DT))


def test_a_state_without_a_unit_quaternion_is_refused(go2):
    with pytest.raises(ValueError, match="rollout: x0.*norm 0.*model.q0"):
        fs.rollout(go2, np.zeros(37), np.zeros((2, 5, 18)), DT)


def test_results_are_written_where_they_are_asked_for(go2):
    roll = fs.Rollout(go2, dt=0.01, cost=lambda x, u, t, p: u @ u)
    x0 = np.concatenate([go2.q0, np.zeros(go2.nv)]).astype(np.float32)
    rng = np.random.default_rng(1)
    U, V = (rng.normal(size=(7, 5, go2.nv)).astype(np.float32) for _ in range(2))
    expected = roll(x0, V, states=True, controls=True)
    kept = roll(x0, U, states=True, controls=True)
    places = [x.__array_interface__["data"] for x in (kept.costs, kept.final, kept.states, kept.controls)]
    again = roll(x0, V, states=True, controls=True, out=kept)
    assert [x.__array_interface__["data"] for x in (again.costs, again.final, again.states, again.controls)] == places
    for found, x in zip(again, expected):
        assert found is x is None or (found == x).all()
    assert (kept.states == expected.states).all()
    mine = kept._replace(states=np.zeros((7, 5, go2.nq + go2.nv), np.float32))  # of any strides
    assert roll(x0, V, states=True, out=mine).states is not None and (mine.states == expected.states).all()


def test_results_that_do_not_fit_are_named(go2):
    roll = fs.Rollout(go2, dt=0.01)
    x0 = np.concatenate([go2.q0, np.zeros(go2.nv)]).astype(np.float32)
    kept = roll(x0, np.zeros((7, 5, go2.nv), np.float32), states=True)
    with pytest.raises(
        ValueError, match=r"out.final is float32 of shape \(7, 37\), expected float32 of shape \(8, 37\)"
    ):
        roll(x0, np.zeros((8, 5, go2.nv), np.float32), states=True, out=kept)
    with pytest.raises(ValueError, match=r"out.states is float64 of shape \(7, 5, 37\), expected float32"):
        roll(x0, np.zeros((7, 5, go2.nv), np.float32), states=True, out=kept._replace(states=kept.states.astype(float)))
    read_only = np.zeros((7, 37), np.float32)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="out.final cannot be written"):
        roll(x0, np.zeros((7, 5, go2.nv), np.float32), out=kept._replace(final=read_only))
