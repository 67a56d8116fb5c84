"""Planners in the world of a model file: their controls are its actuators'."""

import time

import mujoco
import numpy as np
import pytest
from face_models import CARTPOLE, compiled, leg, published, starts

import featherstorm as fs
from featherstorm.planning import CEM, MPPI


def test_noise_and_knots_drive_actuators():
    model = fs.from_mujoco(leg())
    roll = fs.Rollout(model, cost=lambda x, u, t, p: x.site("tip")[0])
    x0 = np.concatenate([model.compiled.qpos0, np.zeros(model.nv + model.n_act)])
    noise = fs.Noise(8, np.zeros((5, 3)), 0.5, seed=3, lower=roll.lower, upper=roll.upper)
    drawn = roll(x0, noise, controls=True)
    assert (np.abs(drawn.controls[:, :, 0]) <= 1).all() and drawn.controls[:, :, 1].std() > 0.1
    np.testing.assert_array_equal(roll(x0.astype(drawn.controls.dtype), np.array(drawn.controls)).costs, drawn.costs)
    knots = np.random.default_rng(0).normal(size=(4, 2, 3))
    np.testing.assert_allclose(roll(x0, knots, horizon=2).costs, roll(x0, knots).costs)


@pytest.mark.parametrize("planner", [MPPI, CEM])
def test_a_planner_balances_by_the_files_actuator(planner):
    model = fs.from_mujoco(compiled(CARTPOLE))

    def cost(x, u, t, p):
        return 4 * (0.6 - x.site("tip")[2]) + x.site("tip")[0] ** 2 + 0.05 * x.qvel @ x.qvel + 1e-3 * x.ctrl @ x.ctrl

    roll = fs.Rollout(model, dt=0.02, cost=cost)
    options = {"temperature": 0.05} if planner is MPPI else {"elites": 16, "sigma_min": 0.05}
    plan = planner(roll, 40, samples=128, sigma=0.5, knots=8, seed=1, **options)
    assert plan.nu == 1 and plan.lower[0] == -1 and plan.upper[0] == 1
    m, d = model.compiled, mujoco.MjData(model.compiled)
    d.qpos[1] = 0.35  # falls within half a second where nothing is done
    for _ in range(100):
        d.ctrl[:] = plan.command(np.concatenate([d.qpos, d.qvel]).astype(np.float32))
        mujoco.mj_step(m, d, 2)
    assert abs(d.qpos[1]) < 0.15 and abs(d.qpos[0]) < 0.8
    d = mujoco.MjData(m)
    d.qpos[1] = 0.35
    mujoco.mj_step(m, d, 200)
    assert abs(d.qpos[1]) > 1


def test_a_planner_sees_the_force_under_a_foot():
    """Of plans that differ in nothing else the better one keeps the foot loaded."""
    m = leg()
    model = fs.from_mujoco(m)
    roll = fs.Rollout(
        model,
        substeps=2,
        cost=lambda x, u, t, p: (x.contact_force("sole")[2] / 100 - p[0]) ** 2 + 0 * x.sensor("touch")[0],
    )
    d = starts(m, 1)[0]
    x0 = np.concatenate([d.qpos, d.qvel, d.act]).astype(np.float32)
    means = []
    for target in (0.0, 2.0):
        plan = MPPI(roll, 15, samples=256, sigma=0.7, temperature=0.02, seed=2, iterations=3)
        U = plan.plan(x0, p=[target])[None]
        seen = fs.Rollout(model, substeps=2, observe=lambda x, u, t, p: x.contact_force("sole"))(x0, U).observations
        means.append(float(np.mean(seen[0, :, 2])))
    assert means[1] > means[0] + 25


def test_a_planner_keeps_gymnasiums_hopper_on_its_foot():
    """A cost of the torso's height and of the force under the foot: the plan stands where no control falls."""
    model = fs.load(published("gymnasium", "hopper"))

    def cost(x, u, t, p):
        weight = 9.81 * model.total_mass
        pressed = np.minimum(x.contact_force("foot_geom")[2] / weight, 1)
        return 4 * (x.position("torso")[2] - 1.25) ** 2 + x.q[2] ** 2 - 0.1 * pressed + 0.02 * x.v @ x.v

    roll = fs.Rollout(model, substeps=4, cost=cost)
    plan = MPPI(roll, 20, samples=256, sigma=0.4, temperature=0.05, knots=5, seed=3)
    stood, fell = (fs.Simulation(model, 1, substeps=4) for _ in range(2))
    for sim in (stood, fell):
        sim.reset(q=np.array([0, 1.24, -0.15, 0, 0, 0]))
    for _ in range(80):
        stood.step(plan.command(np.concatenate([stood.q[0], stood.v[0]])))
        fell.step()
    assert stood.q[0, 1] > 1.1 and abs(stood.q[0, 2]) < 0.3
    assert fell.q[0, 1] < 1.1 or abs(fell.q[0, 2]) > 0.3
    assert stood.contact_force("foot_geom")[0, 2] > 0


def test_a_rollout_begins_with_the_accelerations_of_the_robot():
    m = leg()
    model = fs.from_mujoco(m)
    robot = fs.step(model, m.qpos0, np.zeros(model.nv), ctrl=np.full(3, 0.2), act=np.zeros(model.n_act))
    q, v, act, qacc = robot.q, robot.v, robot.act, robot.qacc
    x, U = np.concatenate([q, v, act]), np.full((1, 1, 3), -0.1)
    one = fs.step(model, q, v, ctrl=U[0, 0], act=act, qacc=qacc)
    final = fs.Rollout(model)(x, U, warm=qacc).final[0]
    np.testing.assert_array_equal(final, np.concatenate([one.q, one.v, one.act]))
    planner = MPPI(fs.Rollout(model, cost=lambda x, u, t, p: x.v @ x.v), 4, samples=8, sigma=0.1, robots=2)
    both = planner.plan(np.stack([x, x]).astype(np.float32), warm=np.stack([qacc, 0 * qacc]).astype(np.float32))
    assert both.shape == (2, 4, 3) and np.isfinite(both).all()


@pytest.mark.parametrize("law", ["planning", None])
@pytest.mark.parametrize("bad", [np.nan, 1e3, 1e12])
def test_a_sample_that_diverges_costs_little_time(law, bad):
    # It shares a vector with others; a solver that iterated to its limit for it made a call 54 times slower.
    m = mujoco.MjModel.from_xml_path(str(published("gymnasium", "hopper")))
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model = fs.from_mujoco(m, threads=1)
    options = {} if law is None else {"law": law}
    roll = fs.Rollout(model, dt=0.02, cost=lambda x, u, t, p: x.q[1] ** 2, **options)
    B, T = 256, 10
    x0 = np.tile(np.concatenate([model.compiled.qpos0, np.zeros(model.nv)]), (B, 1)).astype("float32")
    U = np.random.default_rng(0).uniform(-1, 1, (B, T, model.compiled.nu)).astype("float32")
    worse = x0.copy()
    worse[100, model.compiled.nq :] = bad
    roll(x0, U)
    good, bad_too = [], []  # in turns, because the machine may be busy
    for _ in range(7):
        for x, times in ((x0, good), (worse, bad_too)):
            begin = time.thread_time()
            got = roll(x, U)
            times.append(time.thread_time() - begin)
    assert np.median(bad_too) < 2 * np.median(good)
    assert np.isfinite(np.delete(got.costs, 100)).all()
    if not np.isfinite(bad):
        assert got.costs[100] == np.inf
