"""Simulation, step and Rollout in the world of a model file, beside MuJoCo's own steps."""

import pathlib
import sys

import numpy as np
import pytest

import featherstorm as fs

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("mujoco.batch", reason="readings are texts of featherstorm.mujoco, which needs MuJoCo 4")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from compare import prepared  # noqa: E402
from face_models import (  # noqa: E402
    CLOSE,
    COUNT,
    FELT,
    MODELS,
    PUBLISHED,
    STEPS,
    advance,
    at_its_state,
    compiled,
    contact_force,
    controls,
    leg,
    published,
    rows,
    sensed,
    simulation,
    starts,
)


@pytest.fixture(params=MODELS)
def m(request):
    return compiled(MODELS[request.param])


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


GOAL = """
<mujoco>
  <option jacobian="dense" tolerance="0" iterations="200" integrator="{integrator}"/>
  <worldbody>
    <geom type="plane" size="3 3 .1"/>
    <body name="goal" mocap="true" pos="0 0 1"><site name="aim" pos="0 .1 0"/></body>
    <body name="table" mocap="true" pos="1 0 .2"><geom name="top" type="box" size=".3 .3 .05"/></body>
    <body name="hand" pos="0 0 1"><freejoint/><geom size=".05" contype="0" conaffinity="0"/></body>
    <body name="ball" pos="1 0 .35"><freejoint/><geom size=".1"/></body>
  </worldbody>
  <equality><weld body1="goal" body2="hand"/></equality>
  <sensor><framepos objtype="site" objname="aim"/><clock/></sensor>
  <keyframe>
    <key name="low" time="2" qpos="0 0 .5 1 0 0 0 1 0 .45 1 0 0 0" qvel="0 0 0 0 0 0 .1 0 0 0 0 0" mpos="0 0 .5 1 0 .3" mquat=".9 .1 0 .2 1 0 0 .1"/>
  </keyframe>
</mujoco>
"""  # fmt: skip


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_a_keyframe_moves_mocap_bodies(integrator):
    m = mujoco.MjModel.from_xml_string(GOAL.format(integrator=integrator))
    data = [mujoco.MjData(m) for _ in range(3)]
    for d in data[1:]:
        mujoco.mj_resetDataKeyframe(m, d, 0)
    model = fs.from_mujoco(m)
    sim = fs.Simulation(model, 3, dtype="float64")
    sim.step()
    sim.reset()
    assert sim.time == 0 and sim.model is model
    sim.reset(key="low")
    assert sim.time == 2
    sim.reset([True, False, False])
    assert sim.time == 2  # which the others share
    data[0].time = 2
    for _ in range(30):
        sim.step()
        for d in data:
            mujoco.mj_step(m, d)
    for ours, expected in ((sim.q, [d.qpos for d in data]), (sim.v, [d.qvel for d in data])):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-8)
    if integrator == "Euler":  # Runge-Kutta's method leaves MuJoCo's contacts at its last stage
        np.testing.assert_allclose(sim.contact_force("top"), [pressed(m, d) for d in data], rtol=0, atol=1e-6)
    for d in data:
        mujoco.mj_kinematics(m, d)
    np.testing.assert_allclose(sim.site("aim"), [d.site("aim").xpos for d in data], atol=1e-12)
    np.testing.assert_allclose(sim.sensor(0), sim.site("aim"), atol=1e-12)
    assert (sim.report().contacts == [d.ncon for d in data]).all()
    sim.reset()
    np.testing.assert_allclose(sim.site("aim"), np.tile([0, 0.1, 1], (3, 1)), atol=1e-12)


def pressed(m, d):
    """The sum of the forces on the table's top at the beginning of the last step, world axes."""
    total = np.zeros(3)
    for k, contact in enumerate(d.contact):
        force = np.zeros(6)
        mujoco.mj_contactForce(m, d, k, force)
        total += (1 if contact.geom2 == m.geom("top").id else -1) * contact.frame.reshape(3, 3).T @ force[:3]
    return total


def test_poses_of_mocap_bodies_are_parameters():
    m = mujoco.MjModel.from_xml_string(GOAL.format(integrator="Euler"))
    model = fs.from_mujoco(m, parameters=("mocap_pos", "mocap_quat"))
    places = model.parameter("mocap_pos") + np.array([[[0, 0, 0]], [[0, 0.1, 0.05]]])
    q, v = np.tile(m.qpos0, (2, 1)), np.zeros((2, m.nv))
    ours = fs.step(model.bind(mocap_pos=places), q, v).v
    for k in range(2):
        d = mujoco.MjData(m)
        d.mocap_pos[:] = places[k]
        mujoco.mj_step(m, d)
        np.testing.assert_allclose(ours[k], d.qvel, rtol=0, atol=1e-8)
    assert np.ptp(ours[:, :6]) > 1e-2


def test_a_step_is_a_simulations(m):
    states, U = starts(m), controls(m, 3)
    model, sim = fs.from_mujoco(m), simulation(m, states)
    x = fs.step(model, sim.q.copy(), sim.v.copy(), ctrl=U[:, 0], act=sim.act.copy())
    sim.step(U[:, 0])
    for k in (1, 2):
        x = fs.step(model, x.q, x.v, m.opt.timestep, ctrl=U[:, k], act=x.act, qacc=x.qacc, t=sim.time)
        sim.step(U[:, k])
    for ours, theirs in zip((x.q, x.v, x.act, x.qacc), (*sim.state, sim.act, sim.qacc)):
        np.testing.assert_array_equal(ours, theirs)
    q, v = fs.step(model, sim.q[0].copy(), sim.v[0].copy(), substeps=2, tau=np.zeros(m.nv), act=sim.act[0].copy())
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
    assert found.costs[2] == np.inf
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


FALLING = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="3 3 .1"/>
<body name="box" pos="0 0 .09" euler="5 10 0"><freejoint/><geom name="box" type="box" size=".1 .08 .06"/>
<site name="sole" type="sphere" size=".1" pos=".1 .08 -.06"/></body></worldbody>
<sensor><contact name="force" geom1="box" geom2="floor" data="found force" reduce="netforce"/>
<contact name="nearest" subtree1="box" data="dist pos normal" reduce="mindist"/><contact name="near" site="sole" data="found"/></sensor></mujoco>"""


def test_contact_sensors_of_simulations_and_rollouts_are_mujocos():
    m = mujoco.MjModel.from_xml_string(FALLING)
    m.opt.tolerance, m.opt.iterations, m.opt.jacobian = 0, 200, mujoco.mjtJacobian.mjJAC_DENSE
    model, names = fs.from_mujoco(m), ("force", "nearest", "near")
    d = mujoco.MjData(m)
    sim = fs.Simulation(model, 2, dtype="float64")
    roll = fs.Rollout(model, observe=lambda x, u, t, p: np.concatenate([x.sensor(name) for name in names]))
    q, v = np.tile(d.qpos, (2, 1)), np.zeros((2, m.nv))
    seen = roll(np.hstack([q, v]), np.zeros((2, 40, 0))).observations
    found = 0.0
    for k in range(40):
        sim.step()
        mujoco.mj_step(m, d)
        ours = np.hstack([sim.sensor(name) for name in names])
        np.testing.assert_allclose(ours, np.tile(d.sensordata, (2, 1)), atol=1e-7 * max(1, np.abs(d.sensordata).max()))
        np.testing.assert_allclose(seen[:, k], ours, atol=1e-7 * max(1, np.abs(ours).max()))
        found = max(found, d.sensordata[-1])
    assert found > 0
    mujoco.mj_forward(m, d)
    assert sim.report().contacts.tolist() == [sum(c.efc_address >= 0 for c in d.contact)] * 2
