"""What dt, substeps and ignore mean: the same in every call that moves a robot on in time."""

import importlib
import pickle

import numpy as np
import pytest

import featherstorm as fs
from carrying import PIN, SOFT, closed, feet, linkage, parallelogram, stance
from featherstorm.planning import MPPI

DT = 4e-3


@pytest.fixture(scope="module")
def on_feet():
    return fs.load("go2", contacts=feet())


@pytest.fixture(scope="module")
def gripper():
    return fs.load("panda", mimic="couple")


@pytest.fixture(scope="module")
def both():
    couplings = [fs.Coupling("b", {"a": 1.0}), fs.Coupling("c", {"a": -1.0})]
    return fs.Model(linkage().build(loops=[PIN], couplings=couplings), threads=1)


def standing(model, instances=5):
    """A state that touches the floor, with targets."""
    q, v = stance(model, instances, height=0.31)
    q[:, 2] -= 0.01 * np.arange(instances)
    v[:, 0] = 0.3
    return q, v, np.r_[np.zeros(6), q[0, 7:]]


GAINS = {"kp": 60.0, "kd": 3.0}


def cases():
    """name -> (model, state, step(model, state, dt, substeps) -> the next state)."""
    go2, touching, panda = fs.load("go2"), fs.load("go2", contacts=feet()), fs.load("panda", mimic="couple")
    bars, q = parallelogram(), closed(np.array([0.6, 1.1]))
    x, y = fs.random_state(go2, 5, seed=1), fs.random_state(panda, 5, seed=2)
    kept = np.zeros((5, 4, 3))
    q_feet, v_feet, target = standing(touching)
    on = {"q_target": target, **GAINS}
    drive = {"kp": 20.0, "kd": 1.0, "tau": np.linspace(-1, 1, 18)}
    return {
        "step": (go2, x, lambda m, s, dt, n: fs.step(m, *s, dt, substeps=n, **drive)),
        "step with loops": (
            bars,
            (q, closed(np.array([0.5, -0.3]))),
            lambda m, s, dt, n: fs.step(m, *s, dt, substeps=n),
        ),
        "step with couplings": (panda, y, lambda m, s, dt, n: fs.step(m, *s, dt, substeps=n)),
        "contact_step": (
            touching,
            (q_feet, v_feet, kept),
            lambda m, s, dt, n: fs.contact_step(m, *s[:2], dt, impulse=s[2], substeps=n, **on),
        ),
        "soft_contact_step": (
            touching,
            (q_feet, v_feet, kept),
            lambda m, s, dt, n: fs.soft_contact_step(m, *s[:2], dt, deformation=s[2], substeps=n, **on, **SOFT),
        ),
        "loop_step": (
            bars,
            (q, closed(np.array([0.5, -0.3]))),
            lambda m, s, dt, n: fs.loop_step(m, *s, dt, substeps=n),
        ),
        "coupled_step": (
            panda,
            (fs.coupled_position(panda, y[0]), y[1][:, :8]),
            lambda m, s, dt, n: fs.coupled_step(m, *s, dt, substeps=n),
        ),
    }


@pytest.mark.parametrize("name", cases())
def test_substeps_share_dt(name):
    model, state, step = cases()[name]
    once = step(model, state, DT, 2)
    twice = step(model, step(model, state, DT / 2, 1), DT / 2, 1)
    for x, y in zip(once, twice):
        np.testing.assert_array_equal(x, y)
    assert np.abs(once[0] - state[0]).max() > 1e-5


@pytest.mark.parametrize("carried", ["nothing", "contacts", "loops", "couplings"])
def test_substeps_of_simulations_and_rollouts_share_dt(carried, on_feet, gripper):
    model = {"nothing": fs.load("go2"), "contacts": on_feet, "loops": parallelogram(), "couplings": gripper}[carried]
    if model.nq == 19:
        q, v, target = standing(model)
    else:
        q = closed(np.linspace(0.5, 1.0, 5)) if carried == "loops" else fs.random_state(model, 5)[0]
        v, target = np.zeros((5, model.nv)), np.zeros(model.nv)
    ends = []
    for dt, substeps, steps in ((DT, 2, 3), (DT / 2, 1, 6)):
        sim = fs.Simulation(model, 5, dt, substeps, dtype="float64", **GAINS)
        sim.reset(q=q, v=v)
        for _ in range(steps):
            sim.step(q_target=target)
        assert sim.time == pytest.approx(3 * DT)
        U = np.broadcast_to(target, (5, steps, model.nv))
        rolled = fs.rollout(model, np.c_[q, v], U, dt, substeps=substeps, **GAINS)
        np.testing.assert_array_equal(rolled.final, np.c_[sim.q, sim.v])
        ends.append(rolled.final)
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_substeps_share_dt_under_another_library(library, request):
    found = request.getfixturevalue("jax") if library == "jax" else pytest.importorskip("torch")
    array = found.numpy.asarray if library == "jax" else found.as_tensor
    module = importlib.import_module(f"featherstorm.{library}")
    for name, (model, state, _) in cases().items():
        if not name.startswith(("step", "contact")):
            continue
        arrays, tau = [array(x.copy()) for x in state[:2]], np.linspace(-1, 1, model.nv)
        got = module.step(model, *arrays, DT, array(tau), substeps=2)
        for x, y in zip(got, fs.step(model, *state[:2], DT, tau, substeps=2)):
            np.testing.assert_allclose(x, y, rtol=0, atol=1e-12 * (1 + np.abs(y).max()))


@pytest.mark.parametrize("lead", [(), (5,)], ids=["one", "batch"])
def test_a_step_returns_one_type_for_every_robot(on_feet, gripper, lead):
    bars = parallelogram()
    for model in (fs.load("go2"), on_feet, gripper, bars):
        q = np.broadcast_to(closed(np.array([0.6])).ravel() if model is bars else model.q0, (*lead, model.nq))
        x = fs.step(model, q, np.zeros((*lead, model.nv)), DT)
        assert type(x) is fs.Stepped and len(x) == 2 and x.q is x[0] and x.v is x[1]
        assert x.act.shape == x.qacc.shape == (*lead, 0)
        again = fs.step(model, x.q, x.v, DT, act=x.act, qacc=x.qacc)
        np.testing.assert_array_equal(again.v, fs.step(model, *x, DT).v)
        other = pickle.loads(pickle.dumps(x))
        assert type(other) is fs.Stepped and repr(other) == repr(x) and repr(x).startswith("Stepped(q=array(")
        assert other.act.shape == x.act.shape


def test_a_step_under_jit_returns_the_same_type(jax):
    import featherstorm.jax as fsj

    model = fs.load("cartpole")
    q, v = jax.numpy.zeros((3, 2)), jax.numpy.ones((3, 2))
    x = jax.jit(lambda q, v: fsj.step(model, q, v, DT))(q, v)
    assert type(x) is fs.Stepped and x.act.shape == (3, 0)
    np.testing.assert_allclose(x.v, fs.step(model, np.array(q), np.array(v), DT).v, rtol=1e-12)


def test_a_step_follows_what_the_model_carries(on_feet, gripper):
    q, v, target = standing(on_feet)
    found = fs.step(on_feet, q, v, DT, q_target=target, substeps=3, slop=5e-4, **GAINS)
    expected = fs.contact_step(on_feet, q, v, DT, q_target=target, substeps=3, slop=5e-4, **GAINS)
    assert len(found) == 2 and expected[2].any()
    np.testing.assert_array_equal(np.hstack(found), np.hstack(expected[:2]))
    q, v = fs.random_state(gripper, 7, seed=3)
    given = v.copy()
    given[:, 8] = 100.0  # follows its driver, whatever is given
    tau = np.linspace(-2, 2, 9)
    next_q, next_v = fs.step(gripper, q, given, DT, tau, substeps=3)
    expected = fs.coupled_step(gripper, fs.coupled_position(gripper, q), v[:, :8], DT, tau, substeps=3)
    np.testing.assert_array_equal(next_q, expected[0])
    np.testing.assert_array_equal(next_v, fs.coupled_velocity(gripper, expected[1]))
    np.testing.assert_array_equal(next_q[:, 7], next_q[:, 8])
    one = fs.step(gripper, q[2].tolist(), given[2].tolist(), DT, tau, substeps=3)
    np.testing.assert_array_equal(np.hstack(one), np.r_[next_q[2], next_v[2]])
    model, q = parallelogram(), closed(np.linspace(0.5, 1.0, 5))
    found = fs.step(model, q, 0 * q, DT, rate=50.0)
    np.testing.assert_array_equal(np.hstack(found), np.hstack(fs.loop_step(model, q, 0 * q, DT, rate=50.0)))


def test_what_is_ignored_does_not_count(on_feet, gripper, both):
    bare = fs.load("go2")
    q, v, target = standing(on_feet)
    expected = fs.step(bare, q, v, DT, q_target=target, **GAINS)
    assert np.abs(expected[1] - fs.step(on_feet, q, v, DT, q_target=target, **GAINS)[1]).max() > 0.01
    for ignore in ("contacts", ("contacts", "loops")):
        found = fs.step(on_feet, q, v, DT, q_target=target, ignore=ignore, **GAINS)
        np.testing.assert_array_equal(np.hstack(found), np.hstack(expected))
        sim = fs.Simulation(on_feet, 5, DT, dtype="float64", ignore=ignore, **GAINS)
        sim.reset(q=q, v=v)
        sim.step(q_target=target)
        np.testing.assert_array_equal(np.c_[sim.q, sim.v], np.hstack(expected))
        with pytest.raises(ValueError, match="Simulation: go2 ignores its contacts"):
            sim.impulse
        U = np.tile(target, (5, 1, 1))
        rolled = fs.rollout(on_feet, np.c_[q, v], U, DT, ignore=ignore, **GAINS)
        np.testing.assert_array_equal(rolled.final, np.hstack(expected))
    q = closed(np.linspace(0.5, 1.0, 5))
    found = fs.step(both, q, 0 * q, DT, ignore="couplings")
    np.testing.assert_array_equal(np.hstack(found), np.hstack(fs.loop_step(both, q, 0 * q, DT)))
    q, v = fs.random_state(gripper, 4)
    free = fs.load("panda")
    np.testing.assert_array_equal(fs.fd(gripper, q, v, v, ignore="couplings"), fs.fd(free, q, v, v))


X = [np.zeros(3)] * 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: fs.step(m, *X[:2], DT), "step: parallelogram carries loops and couplings, which no operation steps together; ignore=.'loops',. leaves couplings alone"),
        (lambda m: fs.Simulation(m, 2, DT), "Simulation: parallelogram carries loops and couplings"),
        (lambda m: fs.Rollout(m, DT), "Rollout: parallelogram carries loops and couplings"),
        (lambda m: fs.step(m, *X[:2], DT, ignore="floor"), "step: ignore has 'floor', expected some of contacts, loops, couplings"),
        (lambda m: fs.Simulation(m, 2, DT, ignore=("walls",)), "Simulation: ignore has 'walls'"),
        (lambda m: fs.fd(m, *X), r"fd: parallelogram carries loops, which fd does not take: call fd_loops, or say ignore=\('loops', 'couplings'\)"),
        (lambda m: fs.fd(m, *X, ignore="loops"), r"fd: parallelogram carries couplings, .* call fd_coupled, or say ignore=\('couplings',\)"),
        (lambda m: fs.aba(m, *X), "aba: parallelogram carries loops, .* call fd_loops"),
        (lambda m: fs.rnea(m, *X), "rnea: parallelogram carries loops, .* call id_loops"),
        (lambda m: fs.rnea(m, *X, ignore=["loops"]), "rnea: parallelogram carries couplings, .* call coupled_id"),
        (lambda m: fs.fd_derivatives(m, *X), "fd_derivatives: parallelogram carries loops, .* call vjp of fd_loops"),
        (lambda m: fs.hybrid_dynamics(m, *X, ignore="loops"), "hybrid_dynamics: parallelogram carries couplings, .* take: say ignore="),
        (lambda m: fs.dormand_prince(m, *X[:2], DT), "dormand_prince: parallelogram carries loops, .* call loop_step"),
        (lambda m: fs.dormand_prince(fs.load("go2", contacts=feet()), *X[:2], DT), "dormand_prince: go2 carries contacts, .* call contact_step"),
        (lambda m: fs.rk4_step(fs.load("go2", contacts=feet()), *X, dt=DT), "rk4_step: go2 carries contacts, .* call contact_step"),
        (lambda m: fs.step(m, *X[:2], 0.0, ignore="loops"), "step: dt is 0.0, expected a positive number of seconds"),
        (lambda m: fs.loop_step(m, *X[:2], np.inf), "loop_step: dt is inf"),
        (lambda m: fs.coupled_step(m, X[0], [0.0], DT, substeps=0), "coupled_step: substeps is 0, expected 1 or more"),
        (lambda m: fs.contact_step(m, *X[:2], DT, substeps=1.5), "contact_step: substeps is 1.5, expected 1 or more"),
        (lambda m: fs.soft_contact_step(m, *X[:2], -DT, **SOFT), "soft_contact_step: dt is -0.004"),
        (lambda m: fs.step(m, X[0], np.zeros((2, 1)), DT, ignore="loops"), r"step: v has shape \(2, 1\), expected \(2, 3\)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(both, call, message):
    with pytest.raises(ValueError, match=message):
        call(both)


def test_wrappers_refuse_by_name_as_well(both, jax):
    import featherstorm.jax as fsj

    with pytest.raises(ValueError, match="fd: parallelogram carries loops"):
        fsj.fd(both, *X)
    with pytest.raises(ValueError, match="step: parallelogram carries loops and couplings"):
        fsj.step(both, *X[:2], DT)


def test_contacts_do_not_change_forward_dynamics(on_feet):
    q, v, _ = standing(on_feet)
    np.testing.assert_array_equal(fs.fd(on_feet, q, v, v), fs.fd(fs.load("go2"), q, v, v))


def test_a_rollout_on_feet_is_a_simulation_of_the_same_controls(on_feet):
    q, v, target = standing(on_feet, 7)
    U = target + 0.1 * np.random.default_rng(0).normal(size=(7, 25, 18))
    for dtype in ("float64", "float32"):
        x0, controls = np.c_[q, v].astype(dtype), U.astype(dtype)
        # twice, for impulses begin at zero each time
        roll = fs.Rollout(on_feet, 0.02, lambda x, u, t, p: x[2], substeps=5, slop=5e-4, **GAINS)
        assert np.array_equal(roll(x0, controls).costs, roll(x0, controls).costs)
        rolled = roll(x0, controls, states=True)
        sim = fs.Simulation(on_feet, 7, 0.02, 5, dtype=dtype, slop=5e-4, **GAINS)
        sim.reset(q=x0[:, :19], v=x0[:, 19:])
        heights = 0
        for k in range(25):
            sim.step(q_target=controls[:, k])
            np.testing.assert_array_equal(np.c_[sim.q, sim.v], rolled.states[:, k])
            heights = heights + sim.q[:, 2]
        assert sim.impulse[:, :, 0].max(axis=1).all() and sim.q[:, 2].min() > 0.2
        np.testing.assert_allclose(rolled.costs, heights, rtol=1e-5)


def test_a_planner_crouches_on_its_feet(on_feet):
    q, v, target = standing(on_feet, 1)

    def cost(x, u, t, p):
        return 100 * (x[2] - p[0]) ** 2 + x.v[:6] @ x.v[:6] * 0.01 + 1e-3 * u @ u

    def control(x, u, t, p):
        return np.zeros(18), target + np.concatenate([np.zeros(6), u])

    roll = fs.Rollout(on_feet, 0.02, cost, control=control, substeps=4, **GAINS)
    planner = MPPI(roll, 12, 12, samples=256, sigma=0.15, temperature=0.02, knots=4, seed=1)
    sim = fs.Simulation(on_feet, 1, 0.02, 4, **GAINS)
    sim.reset(q=q, v=0 * v)
    for _ in range(40):
        u = planner.command(np.r_[sim.q[0], sim.v[0]], p=[0.24])
        sim.step(q_target=(target + np.r_[np.zeros(6), u]).astype("f4")[None])
    up = fs.forward_kinematics(on_feet, sim.q, "base")[1][0, 2, 2]
    assert abs(sim.q[0, 2] - 0.24) < 0.02 and up > 0.98 and sim.impulse[0, :, 0].sum() > 0


def test_coupled_simulations_are_loops_over_steps(gripper):
    sim = fs.Simulation(gripper, 3, DT, dtype="float64")
    q, v = fs.random_state(gripper, 3)
    sim.reset(q=q, v=v)
    for _ in range(3):
        sim.step()
        q, v = fs.step(gripper, q, v, DT)
        np.testing.assert_array_equal(np.c_[sim.q, sim.v], np.c_[q, v])
    heavy = fs.load("panda", mimic="couple", parameters="mass")
    mass = heavy.parameter("mass")
    ends = []
    for model in (heavy, heavy.bind(mass=2 * mass)):
        sim = fs.Simulation(model, 3, DT, dtype="float64")
        sim.reset(q=q, v=v)
        sim.step()
        rolled = fs.rollout(model, np.c_[q, v], np.zeros((3, 1, 9)), DT)
        np.testing.assert_array_equal(rolled.final, np.c_[sim.q, sim.v])
        np.testing.assert_array_equal(np.hstack(fs.step(model, q, v, DT)), rolled.final)
        ends.append(rolled.final)
    np.testing.assert_allclose(ends[0], np.hstack(fs.step(gripper, q, v, DT)), atol=1e-9)
    assert np.abs(ends[1] - ends[0]).max() > 1e-6


def test_a_rollout_begins_with_the_robots_impulses():
    feet = [fs.Contact(f"{leg}_foot", radius=0.022, friction=0.6) for leg in ("FL", "FR", "RL", "RR")]
    model = fs.load("go2", contacts=feet, sweeps=2)
    roll = fs.Rollout(model, 5e-3, kp=30.0, kd=1.0)
    stance = np.tile([0.0, 0.8, -1.6], 4)
    x0 = np.concatenate([[0, 0, 0.29, 1, 0, 0, 0], stance, np.zeros(18)])
    U = np.tile(np.concatenate([np.zeros(6), stance]), (1, 60, 1))
    at, impulse = x0, np.zeros((4, 3))
    for _ in range(40):  # the robot, which keeps its impulses
        numbers = {name: np.asarray(values) for name, values in roll.numbers.items()}
        drive = [np.zeros(18), U[0, 0]]
        q, v, impulse = fs.run(model, "contact_step", at[:19], at[19:], impulse, *drive, **numbers)
        at = np.concatenate([q, v])
    rest = U[:, 40:]
    expected = roll(x0, U).final
    np.testing.assert_allclose(roll(at, rest, warm=np.ravel(impulse)).final, expected, atol=1e-12)
    assert np.abs(roll(at, rest).final - expected).max() > 1e-7
    two = roll(np.stack([at, at]), np.repeat(rest, 2, 0), warm=np.stack([np.ravel(impulse), np.zeros(12)])).final
    np.testing.assert_allclose(two[0], expected[0], atol=1e-12)
    np.testing.assert_allclose(two[1], roll(at, rest).final[0], atol=1e-12)
    with pytest.raises(ValueError, match=r"rollout: warm has shape \(3,\), expected \(1, 12\)"):
        roll(at, rest, warm=np.zeros(3))
    with pytest.raises(ValueError, match="rollout: warm is for contacts, and cartpole has none"):
        fs.Rollout(fs.load("cartpole"), 0.01)(np.zeros(4), np.zeros((1, 2, 2)), warm=np.zeros(2))
