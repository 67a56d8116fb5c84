"""Simulation, step, Rollout and planners in the world of a model file, beside MuJoCo's own steps."""

import importlib.util
import pathlib
import pickle
import sys

import numpy as np
import pytest

import featherstorm as fs
from featherstorm.planning import CEM, MPPI
from featherstorm.world import state

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("mujoco.batch", reason="readings are texts of featherstorm.mujoco, which needs MuJoCo 4")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from compare import prepared  # noqa: E402
from face_models import CARTPOLE, LEG, MODELS, SWING  # noqa: E402

COUNT, STEPS = 6, 25
CLOSE = {"atol": 1e-9, "rtol": 1e-9}


def compiled(xml):
    return prepared(mujoco.MjModel.from_xml_string(xml), 0)


def leg(option=""):
    return compiled(LEG.format(option=option))


@pytest.fixture(params=MODELS)
def m(request):
    return compiled(MODELS[request.param])


def starts(m, count=COUNT, seed=0):
    """MjData near the keyframe, each other."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(count):
        d = mujoco.MjData(m)
        mujoco.mj_resetDataKeyframe(m, d, 0)
        d.time = 0
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 0.02)
        d.qvel[:] += 0.3 * rng.normal(size=m.nv)
        d.act[:] += 0.1 * rng.normal(size=m.na)
        found.append(d)
    return found


def rows(states, *names):
    return np.array([np.concatenate([np.ravel(getattr(d, name)) for name in names]) for d in states])


def controls(m, steps=STEPS, seed=1):
    return np.random.default_rng(seed).normal(size=(COUNT, steps, m.nu))


def advance(m, states, U, passes=1, push=None):
    for d, u in zip(states, U):
        d.ctrl[:] = u
        if push is not None:
            d.qfrc_applied[:] = push
        for _ in range(passes):
            mujoco.mj_step(m, d)


def sensed(m, d, name):
    s = m.sensor(name)
    return np.array(d.sensordata[s.adr[0] : s.adr[0] + s.dim[0]])


def at_its_state(m, d, name):
    """A sensor of MuJoCo's at the state that a step led to."""
    now = mujoco.MjData(m)
    for field in ("time", "qpos", "qvel", "act", "ctrl"):
        setattr(now, field, getattr(d, field)) if field == "time" else np.copyto(getattr(now, field), getattr(d, field))
    mujoco.mj_forward(m, now)
    return sensed(m, now, name), now


def contact_force(m, d, geoms):
    """On some geoms, by MuJoCo's own list."""
    total, force = np.zeros(3), np.zeros(6)
    for k in range(d.ncon):
        mujoco.mj_contactForce(m, d, k, force)
        world = d.contact[k].frame.reshape(3, 3).T @ force[:3]
        first, second = d.contact[k].geom
        total += world * (float(second in geoms) - float(first in geoms))
    return total


def simulation(m, states, **options):
    sim = fs.Simulation(fs.from_mujoco(m), len(states), dtype="float64", **options)
    sim.reset(q=rows(states, "qpos"), v=rows(states, "qvel"), act=rows(states, "act"))
    return sim


def test_a_simulation_steps_as_mujoco_does(m):
    states, U = starts(m), controls(m)
    sim = simulation(m, states)
    assert sim.dt == m.opt.timestep and sim.substeps == 1
    touched = 0
    for k in range(STEPS):
        sim.step(U[:, k])
        advance(m, states, U[:, k])
        touched += sum(d.ncon for d in states)
        np.testing.assert_allclose(sim.q, rows(states, "qpos"), **CLOSE)
        np.testing.assert_allclose(sim.v, rows(states, "qvel"), **CLOSE)
        np.testing.assert_allclose(sim.act, rows(states, "act"), **CLOSE)
    assert touched > STEPS
    assert sim.time == pytest.approx(states[0].time)


def test_substeps_hold_their_controls(m):
    states, U = starts(m), controls(m, 6)
    push = np.linspace(-1, 1, m.nv)
    by_dt, by_count = simulation(m, states, dt=4 * m.opt.timestep), simulation(m, states, substeps=4)
    for k in range(6):
        for sim in (by_dt, by_count):
            sim.step(ctrl=U[:, k], tau=push)
        advance(m, states, U[:, k], 4, push)
    np.testing.assert_array_equal(by_dt.v, by_count.v)
    np.testing.assert_allclose(by_dt.q, rows(states, "qpos"), **CLOSE)
    np.testing.assert_allclose(by_dt.v, rows(states, "qvel"), **CLOSE)


NOW = ("where", "speed", "gyro", "clock", "left")  # and the range finder, of simulations alone
FELT = ("imu", "effort", "touch", "ankle")


def test_readings_of_a_simulation_are_mujocos(m):
    states, U = starts(m), controls(m, 4)
    sim = simulation(m, states, substeps=2)
    sole, foot = {m.geom("sole").id}, {m.geom("sole").id, m.geom("shin").id}
    assert (sim.sensor("imu") == 0).all()
    forces = 0
    for k in range(4):
        sim.step(U[:, k])
        advance(m, states, U[:, k], 2)
        for name in NOW:
            np.testing.assert_allclose(sim.sensor(name), [at_its_state(m, d, name)[0] for d in states], **CLOSE)
        eye = [at_its_state(m, d, "eye")[0] for d in states]
        np.testing.assert_allclose(sim.sensor("eye"), eye, **CLOSE)
        np.testing.assert_allclose(
            sim.site("tip"), [at_its_state(m, d, "imu")[1].site("tip").xpos for d in states], **CLOSE
        )
        if m.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:  # forces in mjData are then of the last stage
            continue
        for name in FELT:
            theirs = np.array([sensed(m, d, name) for d in states])
            np.testing.assert_allclose(sim.sensor(name), theirs, atol=1e-9 * max(1, np.abs(theirs).max()))
        for name, geoms in (("sole", sole), ("foot", foot)):
            theirs = np.array([contact_force(m, d, geoms) for d in states])
            np.testing.assert_allclose(sim.contact_force(name), theirs, atol=1e-9 * max(1, np.abs(theirs).max()))
            forces += (np.abs(theirs).max(axis=1) > 1).sum()
        np.testing.assert_allclose(sim.qacc, rows(states, "qacc"), atol=1e-8, rtol=1e-8)
    np.testing.assert_allclose(sim.site("mark"), np.tile([1, 2, 0.5], (COUNT, 1)))
    assert forces or m.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
    np.testing.assert_array_equal(sim.contact_force("ball"), sim.contact_force("ball", kind="body"))


def test_forces_of_runge_kutta_are_of_its_first_stage():
    m = compiled(MODELS["RK4"])
    states, U = starts(m), controls(m, 3)
    sim = simulation(m, states)
    for k in range(3):
        begun = [at_its_state(m, d, "imu")[1] for d in states]
        for d, u in zip(begun, U[:, k]):
            d.ctrl[:] = u
            mujoco.mj_forward(m, d)
        sim.step(U[:, k])
        advance(m, states, U[:, k])
        for name in FELT:
            theirs = np.array([sensed(m, d, name) for d in begun])
            np.testing.assert_allclose(sim.sensor(name), theirs, atol=1e-8 * max(1, np.abs(theirs).max()))
        theirs = np.array([contact_force(m, d, {m.geom("sole").id}) for d in begun])
        np.testing.assert_allclose(sim.contact_force("sole"), theirs, atol=1e-8 * max(1, np.abs(theirs).max()))


def test_what_is_asked_for_later_is_the_same():
    m = leg()
    states, U = starts(m), controls(m, 5)
    early, late = simulation(m, states), simulation(m, states)
    early.sensor("touch"), early.contact_force("floor")
    for k in range(5):
        for sim in (early, late):
            sim.step(U[:, k])
    for name in ("touch", "imu"):
        np.testing.assert_array_equal(early.sensor(name), late.sensor(name))
    np.testing.assert_array_equal(early.contact_force("floor"), late.contact_force("floor"))
    mask = np.arange(COUNT) % 2 == 0
    late.reset(mask, key="home")
    assert (late.contact_force("floor")[mask] == 0).all() and (late.sensor("imu")[mask] == 0).all()
    np.testing.assert_array_equal(late.sensor("imu")[~mask], early.sensor("imu")[~mask])


def test_resets_know_keyframes_and_the_files_defaults():
    m = leg()
    sim = fs.Simulation(fs.from_mujoco(m), 3)
    np.testing.assert_allclose(sim.q, np.tile(m.qpos0, (3, 1)), rtol=1e-6)
    mask = np.array([True, False, True])
    sim.reset(mask, key="home")
    key = m.key("home")
    for array, expected in ((sim.q, key.qpos), (sim.v, key.qvel), (sim.act, key.act), (sim.ctrl, key.ctrl)):
        np.testing.assert_allclose(array[mask], np.tile(expected, (2, 1)), rtol=1e-6)
    assert (sim.ctrl[1] == 0).all()
    other = fs.Simulation(fs.from_mujoco(m), 3)
    other.reset(mask, key=0)
    sim.step()  # the keyframe's controls stay
    other.step(np.where(mask[:, None], key.ctrl, 0).astype(np.float32))
    np.testing.assert_array_equal(sim.q, other.q)
    sim.reset()
    assert (sim.ctrl == 0).all() and (sim.act == 0).all()


def test_a_step_is_a_simulations(m):
    states, U = starts(m), controls(m, 3)
    model, sim = fs.from_mujoco(m), simulation(m, states)
    x = fs.step(model, sim.q.copy(), sim.v.copy(), ctrl=U[:, 0], act=sim.act.copy())
    sim.step(U[:, 0])
    for k in (1, 2):
        x = fs.step(model, x.q, x.v, m.opt.timestep, ctrl=U[:, k], act=x.act, qacc=x.qacc, t=sim.time)
        sim.step(U[:, k])
    for ours, theirs in zip(x, (*sim.state, sim.act, sim.qacc)):
        np.testing.assert_array_equal(ours, theirs)
    q, v, _, _ = fs.step(model, sim.q[0].copy(), sim.v[0].copy(), substeps=2, tau=np.zeros(m.nv))
    assert q.shape == (m.nq,) and v.shape == (m.nv,)


def test_a_rollout_steps_as_mujoco_does(m):
    states, U = starts(m), controls(m, 6)
    roll = fs.Rollout(fs.from_mujoco(m), substeps=3, cost=lambda x, u, t, p: x.qvel @ x.v + x.act[0] + u @ x.ctrl)
    x0 = rows(states, "qpos", "qvel", "act")
    result = roll(x0, U, states=True)
    assert roll.dt == pytest.approx(3 * m.opt.timestep)
    costs = np.zeros(COUNT)
    for k in range(6):
        advance(m, states, U[:, k], 3)
        np.testing.assert_allclose(result.states[:, k], rows(states, "qpos", "qvel", "act"), **CLOSE)
        costs += [d.qvel @ d.qvel + d.act[0] + d.ctrl @ d.ctrl for d in states]
    np.testing.assert_allclose(result.costs, costs, rtol=1e-9)
    np.testing.assert_array_equal(result.final, result.states[:, -1])
    again = fs.Simulation(roll.model, COUNT, substeps=3, dtype="float64")
    again.reset(q=x0[:, : m.nq], v=x0[:, m.nq : m.nq + m.nv], act=x0[:, m.nq + m.nv :])
    for k in range(6):
        again.step(U[:, k])
    np.testing.assert_array_equal(result.final, np.hstack([again.q, again.v, again.act]))


def test_a_cost_sees_what_a_simulation_reads():
    m = leg()
    states, U = starts(m), controls(m, 5)

    def observe(x, u, t, p):
        read = [x.sensor(name) for name in (*NOW, *FELT)]
        return [
            *read,
            x.contact_force("sole"),
            x.contact_force("foot"),
            x.site("tip"),
            x.site("mark"),
            x.qacc,
            x.ctrl,
            x.position("foot"),
        ]

    roll = fs.Rollout(fs.from_mujoco(m), dt=2 * m.opt.timestep, observe=observe)
    seen = roll(rows(states, "qpos", "qvel", "act"), U).observations
    sim = simulation(m, states, substeps=2)
    for k in range(5):
        sim.step(U[:, k])
        read = [sim.sensor(name) for name in (*NOW, *FELT)]
        read += [
            sim.contact_force("sole"),
            sim.contact_force("foot"),
            sim.site("tip"),
            sim.site("mark"),
            sim.qacc,
            sim.ctrl,
        ]
        read.append(fs.forward_kinematics(sim.model, sim.q, "foot")[0])
        np.testing.assert_allclose(seen[:, k], np.hstack(read), atol=1e-9, rtol=1e-9)


def test_a_controller_makes_controls_of_the_state():
    m = leg()
    states = starts(m)
    roll = fs.Rollout(
        fs.from_mujoco(m),
        control=lambda x, u, t, p: [u[0] * x.sensor("speed")[0] + 0.001 * x.sensor("touch")[0], p[0] + t, -x.act[0]],
        observe=lambda x, u, t, p: x.ctrl,
    )
    U = np.random.default_rng(2).normal(size=(COUNT, 4, 1))
    result = roll(rows(states, "qpos", "qvel", "act"), U, p=[0.25], t0=1.0)
    touch = np.zeros(COUNT)
    for k in range(4):
        speed = [at_its_state(m, d, "speed")[0][0] for d in states]
        ctrl = np.column_stack(
            [U[:, k, 0] * speed + 0.001 * touch, np.full(COUNT, 1.25 + k * roll.dt), -rows(states, "act")]
        )
        np.testing.assert_allclose(result.observations[:, k], ctrl, atol=1e-9)
        advance(m, states, ctrl)
        touch = np.array([sensed(m, d, "touch")[0] for d in states])
    np.testing.assert_allclose(result.final, rows(states, "qpos", "qvel", "act"), **CLOSE)
    assert (touch > 0).any()


def test_contacts_of_many_pairs_are_found_by_their_row(monkeypatch):
    m = leg()
    states, U = starts(m), controls(m, 3)
    found = []
    for most in (state.MOST_SLOTS, 0):
        monkeypatch.setattr(state, "MOST_SLOTS", most)
        roll = fs.Rollout(fs.from_mujoco(m), observe=lambda x, u, t, p: [x.contact_force("sole"), x.sensor("ankle")])
        sim = simulation(m, states)
        seen = roll(rows(states, "qpos", "qvel", "act"), U).observations
        for k in range(3):
            sim.step(U[:, k])
            np.testing.assert_allclose(
                np.hstack([sim.contact_force("sole"), sim.sensor("ankle")]), seen[:, k], atol=1e-9
            )
        found.append(seen)
    np.testing.assert_allclose(*found, atol=1e-9)
    assert np.abs(found[0][..., :3]).max() > 1


def test_single_precision_is_close():
    m = leg()
    states, U = starts(m), controls(m, 10)
    x0 = rows(states, "qpos", "qvel", "act")
    roll = fs.Rollout(fs.from_mujoco(m), observe=lambda x, u, t, p: x.contact_force("sole"))
    exact, single = (roll(x0.astype(d), U.astype(d), states=True) for d in (np.float64, np.float32))
    assert np.median(np.abs(single.states - exact.states)) < 1e-5
    assert np.median(np.abs(single.observations - exact.observations)) < 1e-2


def test_instances_do_not_depend_on_their_neighbours(tmp_path):
    m = leg()
    path = tmp_path / "leg.xml"
    path.write_text(MODELS["Euler"])
    states, U = starts(m), controls(m, 8)
    x0 = rows(states, "qpos", "qvel", "act")

    def cost(x, u, t, p):
        return x.contact_force("sole")[2] + x.sensor("imu")[0]

    whole = [fs.Rollout(fs.load(path, threads=n), cost=cost)(x0, U) for n in (1, 2)]
    np.testing.assert_array_equal(whole[0].costs, whole[1].costs)
    alone = fs.Rollout(fs.load(path, threads=1), cost=cost)(x0[3:4], U[3:4])
    np.testing.assert_array_equal(alone.costs, whole[0].costs[3:4])
    bad = x0.copy()
    bad[2, m.nq + 3] = np.nan
    found = fs.Rollout(fs.load(path), cost=cost)(bad, U)
    others = np.arange(COUNT) != 2
    assert np.isnan(found.costs[2])
    np.testing.assert_array_equal(found.costs[others], whole[0].costs[others])
    np.testing.assert_array_equal(found.final[others], whole[0].final[others])


def test_what_goes_bad_begins_anew_alone():
    m = leg()
    states, U = starts(m), controls(m, 4)
    sim, other = simulation(m, states), simulation(m, states)
    sim.v[1, 0] = np.inf
    for k in range(2):
        sim.step(U[:, k]), other.step(U[:, k])
        for name in ("imu", "where"):
            np.testing.assert_array_equal(np.delete(sim.sensor(name), 1, 0), np.delete(other.sensor(name), 1, 0))
    assert (sim.status != 0).tolist() == [False, True, False, False, False, False]
    sim.reset(sim.status != 0, key="home")
    for k in (2, 3):
        sim.step(U[:, k]), other.step(U[:, k])
    assert (sim.status == 0).all()
    np.testing.assert_array_equal(np.delete(sim.q, 1, 0), np.delete(other.q, 1, 0))


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


# folders of packages, and files in them
PUBLISHED = {
    "gymnasium": ("envs/mujoco/assets", ("half_cheetah", "hopper", "ant", "humanoid", "inverted_pendulum", "swimmer")),
    "dm_control": ("suite", ("cheetah", "walker", "fish", "ball_in_cup", "humanoid")),
}


def published(package, name):
    spec = importlib.util.find_spec(package)
    if not spec or not spec.submodule_search_locations:
        pytest.skip(f"pip install --no-deps {package}")
    return pathlib.Path(spec.submodule_search_locations[0]) / PUBLISHED[package][0] / f"{name}.xml"


@pytest.mark.parametrize(
    ("package", "name"), [(package, name) for package, (_, names) in PUBLISHED.items() for name in names]
)
def test_a_rollout_of_a_published_file_is_mujocos(package, name):
    m = prepared(mujoco.MjModel.from_xml_path(str(published(package, name))), 0)
    rng = np.random.default_rng(4)
    U = rng.normal(size=(COUNT, 10, m.nu))
    states = []
    for _ in range(COUNT):
        d = mujoco.MjData(m)
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 0.05)
        d.qvel[:] = 0.1 * rng.normal(size=m.nv)
        states.append(d)
    body = int(m.body_rootid[m.nbody - 1])

    def observe(x, u, t, p):
        return [x.contact_force(m.nbody - 1, "body"), x.contact_force(body, "body"), x.qacc]

    roll = fs.Rollout(fs.from_mujoco(m), substeps=2, observe=observe)
    result = roll(rows(states, "qpos", "qvel", "act"), U, states=True)
    for k in range(10):
        advance(m, states, U[:, k], 2)
        theirs = rows(states, "qpos", "qvel", "act")
        np.testing.assert_allclose(result.states[:, k], theirs, atol=1e-9 * max(1, np.abs(theirs).max()))
        if m.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
            continue
        geoms = [{g for g in range(m.ngeom) if m.geom_bodyid[g] == b} for b in (m.nbody - 1, body)]
        found = [[*contact_force(m, d, geoms[0]), *contact_force(m, d, geoms[1]), *d.qacc] for d in states]
        np.testing.assert_allclose(result.observations[:, k], found, atol=1e-8 * max(1, np.abs(found).max()))


def test_a_planner_balances_gymnasiums_pendulum():
    model = fs.load(published("gymnasium", "inverted_pendulum"))

    def cost(x, u, t, p):
        return 10 * x.q[1] ** 2 + x.q[0] ** 2 + 0.1 * x.v @ x.v + 1e-2 * x.ctrl @ x.ctrl

    plan = MPPI(fs.Rollout(model, substeps=2, cost=cost), 30, samples=128, sigma=1.0, temperature=0.05, knots=8, seed=3)
    assert (plan.lower, plan.upper) == (-3, 3)
    m, d = model.compiled, mujoco.MjData(model.compiled)
    d.qpos[:] = 0.1, 0.15
    for _ in range(100):
        d.ctrl[:] = plan.command(np.concatenate([d.qpos, d.qvel]).astype(np.float32))
        mujoco.mj_step(m, d, 2)
    assert abs(d.qpos[1]) < 0.1


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


def test_models_travel_with_their_worlds():
    model = fs.from_mujoco(leg())
    other = pickle.loads(pickle.dumps(model))
    roll = [
        fs.Rollout(each, observe=lambda x, u, t, p: [x.sensor("imu"), x.contact_force("floor")])
        for each in (model, other)
    ]
    d = starts(model.compiled)
    x0, U = rows(d, "qpos", "qvel", "act"), controls(model.compiled, 3)
    first, second = (r(x0, U).observations for r in roll)
    np.testing.assert_array_equal(first, second)


def test_what_a_file_does_not_have_is_no_obstacle():
    model = fs.from_mujoco(compiled(SWING))
    assert (model.n_ctrl, model.n_act) == (0, 0)
    d = mujoco.MjData(model.compiled)
    d.qpos[:] = 0.4
    sim = fs.Simulation(model, 1, dtype="float64")
    sim.reset(q=d.qpos)
    result = fs.Rollout(model, cost=lambda x, u, t, p: x.q[0])(np.array([0.4, 0.0]), np.zeros((1, 20, 0)))
    for _ in range(20):
        sim.step()
        mujoco.mj_step(model.compiled, d)
    np.testing.assert_allclose(sim.q[0], d.qpos, **CLOSE)
    np.testing.assert_allclose(result.final[0], [d.qpos[0], d.qvel[0]], **CLOSE)


def test_without_its_world_a_model_is_its_tree():
    model = fs.from_mujoco(leg())
    q, v = fs.random_state(model, 4)
    sim = fs.Simulation(model, 4, dt=1e-3, dtype="float64", ignore="world")
    sim.reset(q=q, v=v)
    tau = np.ones((4, model.nv))
    sim.step(tau)
    ours = fs.step(model, q, v, 1e-3, tau, ignore=("world",))
    np.testing.assert_array_equal(sim.v, ours[1])
    roll = fs.Rollout(model, 1e-3, ignore="world")(np.hstack([q, v]), tau[:, None])
    np.testing.assert_array_equal(roll.final[:, model.nq :], sim.v)
    with pytest.raises(ValueError, match="robot ignores its file's world, and no sensors"):
        sim.sensor("imu")


Z = np.zeros


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: fs.Simulation(m, 2, dt=0.005), ValueError, "Simulation: dt is 0.005, expected a multiple of 0.004, the timestep of robot's file"),
        (lambda m: fs.Simulation(m, 2, dt=0.008, substeps=1), ValueError, "dt is 0.008 in 1 substeps, expected a multiple of 0.004"),
        (lambda m: fs.Rollout(m, substeps=0), ValueError, "Rollout: substeps is 0"),
        (lambda m: fs.Simulation(m, 2, kp=3), TypeError, "kp: a model file's world is stepped by what the file says"),
        (lambda m: fs.Simulation(m, 2).step(q_target=Z(11)), TypeError, "q_target: a model file's world"),
        (lambda m: fs.Simulation(m, 2).step(Z((2, 11))), ValueError, r"ctrl has shape \(2, 11\), expected \(2, 3\)"),
        (lambda m: fs.Simulation(m, 2).step(Z(3), ctrl=Z(3)), TypeError, "step: ctrl is given twice"),
        (lambda m: fs.Simulation(m, 2, ignore="world", dt=1e-3).step(ctrl=Z(3)), TypeError, "step: ctrl: only the step of a model file's world"),
        (lambda m: fs.Simulation(m, 2, ignore="world"), TypeError, "Simulation: dt is missing"),
        (lambda m: fs.Simulation(m, 2, device="cuda"), (ValueError, RuntimeError), "CPU alone|no CUDA|CUDA"),
        (lambda m: fs.Simulation(m, 2).sensor("imux"), ValueError, "robot has no sensor 'imux'; did you mean imu"),
        (lambda m: fs.Simulation(m, 2).sensor(99), ValueError, "sensor is 99, expected 0 to 9"),
        (lambda m: fs.Simulation(m, 2).contact_force("nothing"), ValueError, "robot has no geom or body 'nothing'"),
        (lambda m: fs.Simulation(m, 2).contact_force("sole", "site"), ValueError, "kind is 'site', expected 'geom' or 'body'"),
        (lambda m: fs.Simulation(m, 2).reset(key="away"), ValueError, "robot has no key 'away'; there are: home"),
        (lambda m: fs.Simulation(fs.load("go2"), 2, 1e-3).reset(key=0), ValueError, "go2 has no world of a model file, and no keyframes"),
        (lambda m: fs.step(m, m.q0, Z(11), 0.004, Z(11), Z(11)), TypeError, "q_target: a model file's world"),
        (lambda m: fs.step(fs.load("cartpole"), Z(2), Z(2), 0.01, ctrl=Z(1)), TypeError, "step: ctrl: only the step of a model file's world"),
        (lambda m: fs.step(fs.load("cartpole"), Z(2), Z(2)), TypeError, "step: dt is missing"),
        (lambda m: fs.Rollout(m)(Z(25), Z((1, 2, 3))), ValueError, r"x0 has shape \(25,\), expected \(1, 24\)"),
        (lambda m: fs.Rollout(m)(x_of(m), Z((1, 2, 4))), ValueError, r"U has 4 controls, expected 3 \(n_ctrl\)"),
        (lambda m: fs.Rollout(m, control=lambda x, u, t, p: x.ctrl)(x_of(m), Z((1, 2, 3))), TypeError, "control makes x.ctrl"),
        (lambda m: fs.Rollout(m, cost=lambda x, u, t, p: x.sensor("eye")[0])(x_of(m), Z((1, 2, 3))), ValueError, "sensor eye is a range finder"),
        (lambda m: MPPI(fs.Rollout(m, control=lambda x, u, t, p: [0, 0, 0]), 5), TypeError, "MPPI: nu is missing"),
        (lambda m: fs.dormand_prince(m, m.q0, Z(11), 0.1), ValueError, "carries world, which dormand_prince does not take: call step, or say ignore"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call(fs.from_mujoco(leg()))


def x_of(model):
    return np.concatenate([model.compiled.qpos0, Z(model.nv + model.n_act)])


def test_parameters_are_tables_of_the_file(tmp_path):
    path = tmp_path / "leg.xml"
    path.write_text(MODELS["Euler"])
    model = fs.load(path, parameters=("mass",))
    with pytest.raises(
        ValueError, match="leg has the parameters mass, which the step of a model file's world does not take"
    ):
        fs.Simulation(model, 2)
    dry = fs.load(path, parameters=("dof_frictionloss",))
    fs.Simulation(dry, 2).step()
    with pytest.raises(ValueError, match="Rollout: dof_frictionloss is zero in leg's file where it was bound to other"):
        fs.Rollout(dry.bind(dof_frictionloss=np.ones(11)))
    wrong = fs.load(path, parameters=("body_mass",)).bind(body_mass=np.ones((3, 5)))
    with pytest.raises(ValueError, match=r"body_mass has shape \(3, 5\), expected \(2, 5\)"):
        fs.Simulation(wrong, 2)
    fs.Simulation(model, 2, dt=1e-3, ignore="world").step()


VARIED = ("body_mass", "geom_friction", "actuator_gainprm", "opt_gravity")


def test_tables_of_a_file_differ_between_instances(tmp_path):
    path = tmp_path / "leg.xml"
    path.write_text(MODELS["Euler"])
    model, rng = fs.load(path, parameters=VARIED), np.random.default_rng(5)
    values = {
        name: model.parameter(name) * rng.uniform(0.7, 1.3, (COUNT, *model.parameter(name).shape)) for name in VARIED
    }
    values["body_mass"][:, 4] = model.parameter("body_mass")[4]  # of the ball MuJoCo takes dof_M0 in place of the mass
    model = model.bind(**values)
    m, U = leg(), controls(leg(), 6)
    states = starts(m)
    own = []
    for k in range(COUNT):
        other = m.__copy__()
        for name in VARIED:
            table = getattr(other.opt, name[4:]) if name.startswith("opt_") else getattr(other, name)
            table[...] = values[name][k].reshape(table.shape)
        own.append(other)

    def observe(x, u, t, p):
        return [*(x.sensor(name) for name in FELT), x.contact_force("sole"), x.position("foot"), x.site("tip")]

    x0 = rows(states, "qpos", "qvel", "act")
    result = fs.Rollout(model, substeps=2, observe=observe)(x0, U, states=True)
    sim = fs.Simulation(model, COUNT, substeps=2, dtype="float64")
    sim.reset(q=x0[:, : m.nq], v=x0[:, m.nq : m.nq + m.nv], act=x0[:, m.nq + m.nv :])
    first = fs.step(model, sim.q.copy(), sim.v.copy(), ctrl=U[:, 0], act=sim.act.copy(), substeps=2)
    for k in range(6):
        sim.step(U[:, k])
        for other, d, u in zip(own, states, U[:, k]):
            advance(other, [d], [u], 2)
        theirs = rows(states, "qpos", "qvel", "act")
        np.testing.assert_allclose(result.states[:, k], theirs, **CLOSE)
        np.testing.assert_allclose(np.hstack([sim.q, sim.v, sim.act]), theirs, **CLOSE)
        felt = [[*(sensed(m, d, name) for name in FELT), contact_force(m, d, {m.geom("sole").id})] for d in states]
        felt = np.array([np.hstack(x) for x in felt])
        ours = np.hstack([*(sim.sensor(name) for name in FELT), sim.contact_force("sole")])
        for found in (ours, result.observations[:, k, : felt.shape[1]]):
            np.testing.assert_allclose(found, felt, atol=1e-8 * max(1, np.abs(felt).max()))
        np.testing.assert_allclose(result.observations[:, k, -3:], sim.site("tip"), **CLOSE)
        if k == 0:
            np.testing.assert_array_equal(first.v, sim.v)
    assert np.abs(felt).max() > 1


def test_contacts_by_hand_and_a_files_world_are_two_things(tmp_path):
    path = tmp_path / "leg.xml"
    path.write_text(MODELS["Euler"])
    model = fs.load(path, contacts=[fs.Contact("foot", radius=0.03)])
    with pytest.raises(
        ValueError, match="Simulation: leg carries contacts and the file's world, which no operation steps together"
    ):
        fs.Simulation(model, 2)
    assert fs.Simulation(model, 2, ignore="contacts").dt == 0.004
    assert fs.Simulation(model, 2, dt=1e-3, ignore="world").impulse.shape == (2, 1, 3)


def test_gradients_ask_for_the_tree():
    jax = pytest.importorskip("jax")
    import featherstorm.jax as fsj

    model = fs.from_mujoco(leg())
    q, v = jax.numpy.asarray(np.array([model.compiled.qpos0]), "float32"), jax.numpy.zeros((1, model.nv), "float32")
    with pytest.raises(ValueError, match="whose step has no gradients"):
        fsj.step(model, q, v, 0.004)
    x = fs.step(model, q, v, ctrl=jax.numpy.zeros(3, "float32"))
    assert all(isinstance(array, jax.Array) for array in x)
    np.testing.assert_array_equal(x.v, fs.step(model, np.array(q), np.array(v)).v)
