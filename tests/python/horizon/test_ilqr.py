"""Plans by gradients beside linear least squares, conditions of a minimum, and robots that they move."""

import pickle

import numpy as np
import pytest

import featherstorm as fs
from featherstorm.planning import ILQR, PlanningError

T, DT = 20, 0.05
GOAL = np.array([0.3])


def cart_alone(x, u, t, p):
    """Hold the pole down, so that little but the cart moves."""
    return np.concatenate([u, np.zeros(1)])


def to_goal(x, u, t, p):
    return {"place": x.q[0] - p[0], "speed": 0.1 * x.v, "angle": x.q[1] - np.pi, "control": 0.03 * u}


def at_goal(x, t, p):
    return {"place": 10 * (x.q[0] - p[0]), "last speed": x.v}


def hanging():
    return fs.Rollout(fs.load("cartpole"), DT, residual=to_goal, terminal_residual=at_goal, control=cart_alone)


START = np.array([0.0, np.pi, 0.0, 0.0])


def cost_of(roll, U, p=GOAL):
    return float(roll(START, np.asarray(U)[None], p=p).costs[0])


def gradient(roll, U, width=1e-5):
    found = np.zeros_like(U)
    for k in np.ndindex(*U.shape):
        e = np.zeros_like(U)
        e[k] = width
        found[k] = (cost_of(roll, U + e) - cost_of(roll, U - e)) / (2 * width)
    return found


def test_a_residual_is_a_cost_with_terms():
    roll = hanging()
    U = np.random.default_rng(0).normal(size=(3, T, 1))
    result = roll(START, U, p=GOAL, states=True)
    x = np.asarray(result.states)
    step = (x[:, :, 0] - 0.3) ** 2 + 0.01 * (x[:, :, 2] ** 2 + x[:, :, 3] ** 2) + (x[:, :, 1] - np.pi) ** 2
    step = step + 0.0009 * U[:, :, 0] ** 2
    last = 100 * (x[:, -1, 0] - 0.3) ** 2 + (x[:, -1, 2:] ** 2).sum(1)
    np.testing.assert_allclose(result.costs, 0.5 * (step.sum(1) + last), rtol=1e-12)
    terms = roll.terms(START, U, p=GOAL)
    assert list(terms) == ["place", "speed", "angle", "control", "last speed"]
    np.testing.assert_allclose(sum(terms.values()), result.costs, rtol=1e-12)
    np.testing.assert_allclose(terms["control"], 0.5 * 0.0009 * (U[:, :, 0] ** 2).sum(1), rtol=1e-12)
    both = fs.Rollout(roll.model, DT, lambda x, u, t, p: u @ u, residual=to_goal, control=cart_alone)
    alone = fs.Rollout(roll.model, DT, residual=to_goal, control=cart_alone)
    added = np.asarray(both(START, U, p=GOAL).costs) - np.asarray(alone(START, U, p=GOAL).costs)
    np.testing.assert_allclose(added, (U[:, :, 0] ** 2).sum(1), rtol=1e-9)


def test_a_plan_is_a_minimum():
    roll = hanging()
    planner = ILQR(roll, T, 1, iterations=50, tolerance=1e-9)
    U = planner.plan(START, p=GOAL)
    assert planner.done[1] and planner.done[0] < 30
    assert planner.cost == pytest.approx(cost_of(roll, U), rel=1e-12)
    assert np.abs(gradient(roll, U)).max() < 1e-4 * np.abs(gradient(roll, np.zeros((T, 1)))).max()
    np.testing.assert_allclose(planner.states[1:], roll(START, U[None], p=GOAL, states=True).states[0], atol=1e-12)


def test_a_plan_of_a_cost_is_a_minimum():
    """The plan of half a sum of squares of linear residuals is that of the residuals."""

    def far(x, u, t, p):
        return 1 - np.cos(x.q[0] - p[0]) + 0.1 * np.exp(x.q[0] * np.sin(x.q[1])) + 0.01 * x.v @ x.v

    roll = fs.Rollout(
        fs.load("cartpole"), DT, cost=far, residual=lambda x, u, t, p: 0.03 * u, control=cart_alone,
        terminal_residual=at_goal,
    )  # fmt: skip
    planner = ILQR(roll, T, 1, iterations=60, tolerance=1e-10)
    U = planner.plan(START, p=GOAL)
    assert planner.done[1] and planner.cost == pytest.approx(cost_of(roll, U), rel=1e-12)
    assert np.abs(gradient(roll, U)).max() < 1e-5 * np.abs(gradient(roll, np.zeros((T, 1)))).max()

    def half_squares(terms):
        return 0.5 * sum(np.sum(r * r) for r in terms.values())

    of_cost = fs.Rollout(
        roll.model, DT, cost=lambda *given: half_squares(to_goal(*given)),
        terminal=lambda *given: half_squares(at_goal(*given)), control=cart_alone,
    )  # fmt: skip
    plans = [ILQR(r, T, 1, iterations=2, tolerance=0.0).plan(START, p=GOAL) for r in (hanging(), of_cost)]
    np.testing.assert_allclose(plans[1], plans[0], atol=1e-6)


PRESSED = """<mujoco>
  <option timestep="0.01" integrator="implicitfast"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="ball" pos="0 0 0.099">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1"/>
      <geom name="ball" size="0.1" mass="1"/>
    </body>
  </worldbody>
  <actuator>
    <position name="push" joint="x" kp="20" kv="2"/>
    <motor name="press" joint="z"/>
  </actuator>
  <sensor><actuatorfrc name="force" actuator="push"/></sensor>
</mujoco>"""


@pytest.mark.parametrize("squares", [True, False])
def test_costs_read_what_a_world_computes(squares):
    """Forces, accelerations and controls change with the state and the controls before the step."""
    mujoco = pytest.importorskip("mujoco")
    pytest.importorskip("mujoco.batch", reason="readings are texts of featherstorm.mujoco, which needs MuJoCo 4")

    def parts(x, u, t, p):
        force, pressed = x.sensor("force")[0], x.contact_force("ball")[2]
        place = [x.q[0] - 0.2, 0.05 * x.qacc[0], 0.1 * (force - p[0]), 0.1 * (pressed - 12.0)]
        return np.array([*place, *(0.1 * x.ctrl), *(0.02 * u)])

    def cost(x, u, t, p):
        r = parts(x, u, t, p)
        return 0.5 * (r @ r)

    model = fs.from_mujoco(mujoco.MjModel.from_xml_string(PRESSED))
    roll = fs.Rollout(model, 0.02, **({"residual": parts} if squares else {"cost": cost}))
    planner = ILQR(roll, 8, iterations=100, tolerance=1e-9)
    x0, U = np.zeros(4), np.zeros((8, 2))

    def slope(U):
        moved = (U + 1e-5 * np.eye(16).reshape(16, 8, 2), U - 1e-5 * np.eye(16).reshape(16, 8, 2))
        plus, minus = (np.asarray(roll(x0, V, p=GOAL).costs) for V in moved)
        return np.abs(plus - minus).max() / 2e-5

    begun = slope(U)
    U = planner.plan(x0, p=GOAL)
    assert planner.done[1] and slope(U) < 1e-4 * begun


def test_a_call_ends_where_controls_cost_nothing():
    roll = fs.Rollout(fs.load("cartpole"), 0.02, residual=lambda x, u, t, p: x.q - 1, control=cart_alone)
    planner = ILQR(roll, 8, 1)
    planner.plan(np.zeros(4))
    assert planner.done[0] <= 10 and planner.cost < 8
    flat = ILQR(fs.Rollout(roll.model, 0.02, cost=lambda x, u, t, p: 1 + 0 * u[0], control=cart_alone), 8, 1)
    assert (flat.plan(np.zeros(4)) == 0).all() and flat.cost == 8


def test_a_bounded_plan_is_a_minimum_within_its_bounds():
    roll = hanging()
    planner = ILQR(roll, T, 1, iterations=80, tolerance=1e-9, lower=-2.5, upper=1.5)
    U = planner.plan(START, p=GOAL)
    assert U.min() >= -2.5 and U.max() <= 1.5
    slope = gradient(roll, U)
    largest = np.abs(gradient(roll, np.zeros((T, 1)))).max()
    at_lower, at_upper = U <= -2.5 + 1e-9, U >= 1.5 - 1e-9
    assert at_upper.any()
    assert np.abs(slope[~at_lower & ~at_upper]).max() < 1e-4 * largest
    assert (slope[at_upper] < 1e-4 * largest).all() and (slope[at_lower] > -1e-4 * largest).all()
    assert (planner.gains[at_upper[:, 0]] == 0).all()  # nothing moves a control that its bound holds


def test_gains_lower_the_cost_after_a_disturbance():
    roll = hanging()
    planner = ILQR(roll, T, 1, iterations=50)
    U = planner.plan(START, p=GOAL)
    x = moved = START + np.array([0.1, 0.05, 0.0, 0.3])
    costs = [0.0, 0.0]
    for k in range(T):
        for which, u in enumerate((U[k], planner.feedback(moved, k * DT))):
            at = (x, moved)[which]
            step = roll(at, u.reshape(1, 1, 1), p=GOAL)
            after = np.asarray(step.final[0])
            costs[which] += 0.5 * ((after[0] - 0.3) ** 2 + 0.01 * after[2:] @ after[2:] + (after[1] - np.pi) ** 2)
            if which:
                moved = after
            else:
                x = after
    assert costs[1] < 0.9 * costs[0] and abs(moved[0] - 0.3) < 0.3 * abs(x[0] - 0.3)
    assert np.allclose(planner.feedback(START, 0.0), U[0], atol=1e-9)


def test_numbers_change_from_step_to_step():
    roll = fs.Rollout(
        fs.load("cartpole"), DT, residual=lambda x, u, t, p: [x.q[0] - p[0], 1e-3 * u], control=cart_alone
    )
    path = 0.3 * np.sin(np.linspace(0, 3, T))
    planner = ILQR(roll, T, 1, iterations=40)
    planner.plan(START, p=path[None, :, None])
    assert np.abs(planner.states[1:, 0] - path).max() < 0.03
    timed = fs.Rollout(
        roll.model, DT, residual=lambda x, u, t, p: [x.q[0] - 0.3 * np.sin(t), 1e-3 * u], control=cart_alone
    )
    late = ILQR(timed, T, 1, iterations=40)
    late.command(START, 2.0)
    assert np.abs(late.states[1:, 0] - 0.3 * np.sin(2.0 + DT * np.arange(1, T + 1)))[3:].max() < 0.05


def test_a_planner_swings_up_a_cartpole():
    def up(x, u, t, p):
        return [np.sin(x.q[1]), 1 - np.cos(x.q[1]), 0.2 * x.q[0], 0.05 * x.v[0], 0.05 * x.v[1], 0.02 * u[0]]

    def still(x, t, p):
        return [8 * np.sin(x.q[1]), 8 * (1 - np.cos(x.q[1])), 2 * x.q[0], x.v[0], x.v[1]]

    model = fs.load("cartpole")
    roll = fs.Rollout(model, 0.02, residual=up, terminal_residual=still, control=cart_alone)
    robot = fs.Rollout(model, 0.002, control=cart_alone)
    planner = ILQR(roll, 60, 1, iterations=3, lower=-10, upper=10)
    x, held = np.array([0, np.pi + 0.05, 0, 0]), 0
    for k in range(250):
        planner.command(x, 0.02 * k)
        x = np.asarray(robot(x, np.tile(planner.control(0.02 * k), (1, 10, 1))).final[0])
        held = held + 1 if np.cos(x[1]) > 0.95 else 0
    assert held > 50


def test_a_robot_stands_up_from_its_belly():
    """All geoms of a Go2 touch; position actuators; MuJoCo's law in steps of 10 ms."""
    mujoco = pytest.importorskip("mujoco")
    stance, crouch = np.tile([0.0, 0.8, -1.6], 4), np.tile([0.0, 1.3, -2.4], 4)
    m = fs.load("go2", world=fs.UrdfWorld(ground=True, motors=True, timestep=0.01)).compiled
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    m.actuator_gainprm[:, 0] = 30.0
    m.actuator_biastype[:] = mujoco.mjtBias.mjBIAS_AFFINE
    m.actuator_biasprm[:, 1:3] = -30.0, -1.0
    m.actuator_ctrllimited[:] = 0
    m.actuator_forcelimited[:], m.actuator_forcerange[:] = 1, m.actuator_ctrlrange
    d = mujoco.MjData(m)
    d.qpos[2], d.qpos[7:], d.ctrl[:] = 0.2, crouch, crouch
    mujoco.mj_step(m, d, 100)
    x0 = np.concatenate([d.qpos, d.qvel])
    assert x0[2] < 0.12

    def stand(x, t, p):
        pose = np.concatenate([x.q[:2] - x0[:2], 10 * (x.q[2:3] - 0.33), 6 * x.q[4:7], 0.4 * (x.q[7:] - stance)])
        return {"pose": pose, "speed": np.concatenate([x.v[:3], 0.4 * x.v[3:6], 0.06 * x.v[6:]])}

    roll = fs.Rollout(
        fs.from_mujoco(m, threads=1), 0.02, residual=lambda x, u, t, p: {**stand(x, t, p), "control": 0.2 * (u - stance)},
        terminal_residual=lambda x, t, p: {name: 3 * r for name, r in stand(x, t, p).items()},
    )  # fmt: skip
    planner = ILQR(roll, 25, iterations=10)
    planner.reset(np.tile(crouch, (25, 1)))
    U = planner.plan(x0)
    mujoco.mj_setState(
        m, d, np.concatenate([[d.time], x0]), mujoco.mjtState.mjSTATE_PHYSICS | mujoco.mjtState.mjSTATE_TIME
    )
    for u in U:
        d.ctrl[:] = u
        mujoco.mj_step(m, d, 2)
    assert abs(d.qpos[2] - 0.33) < 0.02 and np.linalg.norm(d.qvel[:6]) < 0.3
    assert np.allclose(planner.states[-1, :3], d.qpos[:3], atol=1e-3)


def test_bound_parameters_are_planned_with():
    model = fs.load("cartpole", parameters=("mass",))
    masses = np.asarray(model.parameter("mass")).copy()
    plans = []
    for scale in (1.0, 3.0):
        roll = fs.Rollout(model.bind(mass=scale * masses), DT, residual=to_goal, control=cart_alone)
        planner = ILQR(roll, T, 1)
        plans.append(planner.plan(START, p=GOAL))
        assert planner.cost == pytest.approx(float(roll(START, plans[-1][None], p=GOAL).costs[0]))
    assert np.abs(plans[1] - plans[0]).max() > 0.1
    many = fs.Rollout(model.bind(mass=np.tile(masses, (2, 1))), DT, residual=to_goal, control=cart_alone)
    with pytest.raises(ValueError, match="ILQR: the parameter mass has 2 rows, expected 1"):
        ILQR(many, T, 1).plan(START, p=GOAL)


def test_a_call_that_fails_changes_nothing():
    planner = ILQR(hanging(), T, 1)
    with pytest.raises(PlanningError, match="there is no plan yet"):
        _ = planner.gains
    U = planner.plan(START, p=GOAL)
    with pytest.raises(PlanningError, match="no sample has a finite cost"):
        planner.command(np.full(4, np.nan), p=GOAL)
    assert (planner.U == U).all() and planner.calls == 1
    again = pickle.loads(pickle.dumps(planner))
    assert (again.plan(START, p=GOAL) == planner.plan(START, p=GOAL)).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r: ILQR(cost_of, T, 1), TypeError, r"ILQR: rollout is a function, expected a featherstorm\.Rollout"),
        (lambda r: ILQR(fs.Rollout(r.model, DT), T, 1), ValueError, "no cost, expected a cost or a residual"),
        (lambda r: ILQR(r, T, 1).plan(START, p=np.ones((3, 1))), ValueError, r"shape \(3, 1\), expected \(1, 20, np\)"),
        (lambda r: ILQR(r, T, 1, tolerance=-1.0), ValueError, "tolerance is -1"),
        (lambda r: ILQR(r, T, 1).plan(np.zeros(7), p=GOAL), ValueError, r"ILQR: x has shape \(7,\), expected \(4,\)"),
        (lambda r: ILQR(r, T, 1).plan(START, p=GOAL, warm=np.zeros(2)), TypeError, "ILQR: got warm, expected p alone"),
        (lambda r: fs.Rollout(r.model, DT).terms(START, np.zeros((1, T, 2))), ValueError, "terms are those of a"),
        (lambda r: fs.Rollout(r.model, DT, residual=3), TypeError, "Rollout: residual is a int, expected a function"),
    ],
)  # fmt: skip
def test_messages(call, error, message):
    with pytest.raises(error, match=message):
        call(hanging())
