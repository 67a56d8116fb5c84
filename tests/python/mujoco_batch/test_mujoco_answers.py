"""featherstorm.mujoco.Batch: its answers beside MuJoCo's, of bad numbers and of simulations with models of their own too."""

import pathlib
import sys
import warnings

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
theirs = pytest.importorskip("mujoco.batch", reason="needs MuJoCo 4.0 or later")
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

from batch_agreement import N, assert_close, batch, model, stirred  # noqa: E402
from batch_models import FLOATING, MODELS, PENDULUM, RUNGE_KUTTA  # noqa: E402
from touching_models import hard_feet  # noqa: E402

import featherstorm as fs  # noqa: E402
from featherstorm.mujoco import Batch, SimulationError  # noqa: E402

BAD = mujoco.mjtWarning


# bad numbers


@pytest.mark.parametrize("nstep", [1, 3])
@pytest.mark.parametrize(("field", "warning"), [("qpos", "BADQPOS"), ("qvel", "BADQVEL"), ("qfrc_applied", "BADQACC")])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e12])
def test_a_bad_simulation_begins_anew_as_mujocos(field, warning, value, nstep):
    m = model()
    if field == "qfrc_applied" and value == 1e12:
        value = 1e20
    ours, reference = batch(m), theirs.Batch(m, N, 1)
    fine = batch(m)
    reference.state[:] = stirred(m, N)
    for b in (ours, reference):
        b.bind(field)[2, 1] = value
        b.bind("xpos")
    ours.step(nstep=nstep), reference.step(nstep=nstep), fine.step(nstep=nstep)
    np.testing.assert_array_equal(ours.warning, reference.warning)
    assert ours.warning[2, getattr(BAD, f"mjWARN_{warning}"), 1] == 1
    assert_close(ours.state, reference.state), assert_close(ours.xpos, reference.xpos)
    others = np.arange(N) != 2
    np.testing.assert_array_equal(ours.state[others], fine.state[others])
    assert np.isfinite(ours.state).all()


def test_times_do_not_depend_on_bad_neighbours():
    m = model()
    m.opt.timestep = 0.003
    fine, beside = batch(m), batch(m)
    beside.ctrl[2, 0] = np.nan  # each of its steps is checked alone
    for b in (fine, beside):
        b.step(nstep=4), b.step(nstep=7)
    others = np.arange(N) != 2
    np.testing.assert_array_equal(fine.rows()[others], beside.rows()[others])


def test_bad_controls_are_zeros_as_mujocos():
    m = model()
    ours, reference = batch(m), theirs.Batch(m, N, 1)
    reference.state[:] = stirred(m, N)
    for b in (ours, reference):
        b.ctrl[1, 0] = np.nan
        b.ctrl[3, 1] = 1e15  # its range holds it
        b.ctrl[4, 2] = -np.inf
        b.bind("actuator_force")
    ours.step(nstep=3), reference.step(nstep=3)
    np.testing.assert_array_equal(ours.warning[:, :, 1], reference.warning[:, :, 1])
    assert_close(ours.qpos, reference.qpos), assert_close(ours.actuator_force, reference.actuator_force)
    assert np.isnan(ours.ctrl[1, 0])


def test_nothing_begins_anew_where_the_model_says_so():
    m = model(PENDULUM.replace("<option", '<option><flag autoreset="disable"/></option><option'))
    b, reference = batch(m), theirs.Batch(m, N, 1)
    reference.state[:] = stirred(m, N)
    b.qvel[2, 0] = reference.qvel[2, 0] = np.inf
    b.step(), reference.step()
    np.testing.assert_array_equal(b.warning[:, :, 1], reference.warning[:, :, 1])
    assert not np.isfinite(b.qvel[2]).all() and np.isfinite(b.qvel[3]).all()


def test_a_rollout_stops_where_a_simulation_is_bad():
    m = model()
    b = batch(m)
    control = np.zeros((N, 5, m.nu))
    control[2, 3, 0] = np.nan
    out = b.rollout(5, control, record=("time", "qpos", "sensordata"))
    for array in out.values():
        np.testing.assert_array_equal(array[2, 4], array[2, 3])
        assert not np.array_equal(array[1, 4], array[1, 3])
    assert b.warning[2, BAD.mjWARN_BADCTRL, 1] == 1
    assert b.time[2] == pytest.approx(4 * m.opt.timestep) and b.time[1] == pytest.approx(5 * m.opt.timestep)


# models per simulation


def test_a_simulation_that_cannot_be_computed_is_named():
    m = model(FLOATING)
    b = batch(m)
    b.expand("opt.enableflags")[[1, 4]] = int(mujoco.mjtEnableBit.mjENBL_SPECULATIVE)
    before = np.array(b.state)
    with pytest.raises(SimulationError, match=r"2 of 7 simulations \(1, 4\); simulation 1: .*speculative") as raised:
        b.step()
    np.testing.assert_array_equal(raised.value.ids, [1, 4])
    np.testing.assert_array_equal(np.flatnonzero(b.status), [1, 4])
    assert "speculative" in b.error(4) and b.error(0) == ""
    moved = (b.state != before).any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(~moved), [1, 4])
    b.step([0, 2])  # the others go on, and what is wrong with these is still known
    assert b.status[1] == 1
    b.expand("opt.enableflags")[:] = m.opt.enableflags
    b.step()
    assert not b.status.any() and b.error(1) == ""


def test_simulations_with_their_own_models_agree():
    m = model()
    b, reference = batch(m), theirs.Batch(m, N, 1)
    reference.state[:] = stirred(m, N)
    for x in (b, reference):
        x.expand("body_mass")[:, 1] = np.linspace(0.5, 2, N)
        x.expand("opt.gravity")[:, 2] = -np.arange(N)
        x.joint("shoulder").damping = np.linspace(0, 1, N)[:, None]
        x.expand("actuator_gainprm")[:, 1, 0] = 3
        x.expand("body_pos")[2, 2] = [0.1, 0.2, -0.3]
        x.set_const()
        x.bind("xpos")
        x.step(nstep=4)
    assert_close(b.state, reference.state), assert_close(b.xpos, reference.xpos)
    np.testing.assert_array_equal(b.expanded("dof_invweight0"), reference.expanded("dof_invweight0"))


def test_too_many_models_are_refused():
    b = Batch(model(), 300, 1)
    b.expand("jnt_pos")[:, 0, 0] = np.linspace(1, 2, 300)
    with pytest.raises(ValueError, match="more than 256 different models"):
        b.step()


def test_an_equality_is_switched():
    m = model(FLOATING)
    b, reference = batch(m), theirs.Batch(m, N, 1)
    reference.state[:] = stirred(m, N)
    for x in (b, reference):
        x.eq_active[[1, 5]] = 1
        x.step(nstep=3)
    assert_close(b.qvel, reference.qvel)
    still = batch(m)
    still.step(nstep=3)
    assert not np.allclose(b.qvel[1, 9], still.qvel[1, 9])
    b.reset([1])
    assert b.eq_active[1] == 0 and b.eq_active[5] == 1


PULLEY = PENDULUM.replace(
    "</worldbody>",
    """<body mocap="true" pos="0 .2 .9"><geom name="pulley" type="cylinder" size=".1 .1" euler="0 90 0" contype="0" conaffinity="0"/>
    <site name="side" pos="0 0 .2"/></body><body name="post" pos="0 .2 .9"><site name="aside" pos="0 .3 -.3"/></body>
    <site name="far" pos="0 1 .5"/></worldbody>""",
).replace(
    "<actuator>",
    """<tendon>
      <spatial stiffness="5"><site site="far"/><geom geom="pulley" sidesite="side"/><site site="tip"/></spatial>
      <spatial stiffness="5"><site site="far"/><geom geom="pulley" sidesite="aside"/><site site="tip"/></spatial>
    </tendon><actuator>""",
)


def test_a_tendon_passes_a_mocap_body_on_the_side_of_its_site():
    m = model(PULLEY)
    b, reference = batch(m), theirs.Batch(m, N, 1)
    moves = np.random.default_rng(0).normal(0, 0.2, (N, 3))
    reference.state[:] = stirred(m, N)
    for x in (b, reference):
        x.bind("ten_length"), x.bind("qacc")
        x.mocap_pos[:, 1] += moves
        x.step(nstep=3)
    for name in ("ten_length", "qacc", "qpos", "qvel"):
        assert_close(getattr(b, name), getattr(reference, name), name)
    assert np.ptp(np.array(b.ten_length)[:, 1]) > 0.05


@pytest.mark.parametrize("name", ["site_pos", "geom_pos", "geom_size", "body_pos"])
def test_what_decides_the_side_of_a_tendon_is_an_input(name):
    m = model(PULLEY.replace('mocap="true" ', "").replace(' mpos="0 1 0"', ""))
    b, reference = batch(m), theirs.Batch(m, N, 1)
    reference.state[:] = stirred(m, N)
    spread = np.random.default_rng(1).uniform(0.6, 1.4, (N, 1, 1))
    for x in (b, reference):
        x.bind("ten_length"), x.bind("qacc")
        x.expand(name)[...] *= spread
        x.step(nstep=3)
    for field in ("ten_length", "qacc", "qpos", "qvel"):
        assert_close(getattr(b, field), getattr(reference, field), field)
    assert len(b._variants.engines) == 1 and name in b._variants.inputs


SENSED = """<mujoco><worldbody>
  <body name="ball" pos="0 0 1"><freejoint/><geom name="ball" size=".1"/><site name="in"/>
    <body pos=".2 0 0"><joint axis="0 1 .3"/><geom size=".05" pos=".1 0 0"/><site name="arm" pos=".1 0 0"/></body></body>
  <body name="held" mocap="true" pos=".3 0 1" euler="10 20 30"><geom name="zone" type="sphere" size=".1" contype="0" conaffinity="0"/>
    <site name="hand" pos=".1 0 .1" euler="5 0 0" size=".3"/></body></worldbody>
  <sensor>{}</sensor></mujoco>"""
MOVED = (
    'gyro site="hand"',
    'velocimeter site="hand"',
    'accelerometer site="hand"',
    'magnetometer site="hand"',
    'framelinvel objtype="site" objname="arm" reftype="site" refname="hand"',
    'frameangvel objtype="site" objname="arm" reftype="site" refname="hand"',
    'framelinvel objtype="site" objname="hand" reftype="site" refname="arm"',
    'framelinacc objtype="site" objname="hand"',
    'subtreecom body="held"',
    'subtreelinvel body="held"',
    'subtreeangmom body="held"',
    'insidesite site="hand" objtype="site" objname="arm"',
    'distance geom1="ball" geom2="zone" cutoff="3"',
    'fromto geom1="zone" geom2="ball" cutoff="3"',
    'force site="hand"',
    'touch site="hand"',
)


@pytest.mark.parametrize("sensor", MOVED)
def test_sensors_on_moved_mocap_bodies_agree(sensor):
    m = model(SENSED.format(f"<{sensor}/>"))
    b, reference = batch(m), theirs.Batch(m, N, 1)
    reference.state[:] = stirred(m, N)
    turn = np.random.default_rng(3).normal(size=(N, 1, 4))
    for x in (b, reference):
        x.bind("sensordata")
        x.mocap_pos[:] += np.linspace(-0.2, 0.2, N)[:, None, None]
        x.mocap_quat[:] = turn / np.linalg.norm(turn, axis=-1, keepdims=True)
        x.forward()
    assert_close(b.sensordata, reference.sensordata)
    for x in (b, reference):
        x.step(nstep=2)
    assert_close(b.sensordata, reference.sensordata)


def test_bodies_stay_awake():
    xml = FLOATING.replace("<option", '<option><flag sleep="enable"/></option><option', 1)
    m, awake = model(xml), model(FLOATING)
    assert m.opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP
    with pytest.warns(fs.Notice, match="flag sleep is ignored: bodies stay awake"):
        b = batch(m)
    reference = theirs.Batch(awake, N, 1)
    reference.state[:] = stirred(awake, N)
    for x in (b, reference):
        x.step(nstep=4)
    assert_close(b.qpos, reference.qpos), assert_close(b.qvel, reference.qvel)
    loaded = fs.from_mujoco(m)
    assert loaded.has_world and any("flag sleep is ignored" in notice for notice in loaded.notices)
    free = Batch(model(), 2, 1, dtype="float64")  # nothing depends on its mocap body but fields and sensors
    free.mocap_pos[:, 0, 2] = [3, 4]
    xpos, data = free.xpos, free.sensordata
    free.step()
    np.testing.assert_array_equal(xpos[:, 3, 2], [3, 4])
    np.testing.assert_array_equal(data[:, 6], [3, 4])


# answers


@pytest.mark.parametrize("xml", MODELS.values(), ids=MODELS)
def test_many_steps_agree_with_mujoco(xml):
    m = model(xml)
    b, reference = batch(m), theirs.Batch(m, N, 1)
    reference.state[:] = stirred(m, N)
    names = ("xpos", "xquat", "qacc", "sensordata", "qfrc_actuator", "subtree_com", "cvel", "qacc_warmstart")
    for x in (b, reference):
        for name in names:
            x.bind(name)
    rng = np.random.default_rng(5)
    for k in range(60):
        u = rng.uniform(-1, 1, (N, m.nu))
        b.ctrl[:], reference.ctrl[:] = u, u
        if k == 20:
            b.reset([2, 3]), reference.reset([2, 3])
        ids = [0, 1, 2, 3, 5] if k % 4 == 3 else None
        b.step(ids, nstep=1 + k % 3), reference.step(ids, nstep=1 + k % 3)
        ran = np.arange(N) if ids is None else ids
        for name in ("state", *names):
            assert_close(getattr(b, name)[ran], getattr(reference, name)[ran], tolerance=1e-7)


@pytest.mark.parametrize("xml", [PENDULUM, RUNGE_KUTTA], ids=["pendulum", "runge_kutta"])
def test_stages_and_keyframes_agree_with_mujoco(xml):
    m = model(xml)
    b, reference = batch(m), theirs.Batch(m, N, 1, persistent=True)
    reference.state[:] = stirred(m, N)
    names = ("xpos", "qacc", "sensordata", "cam_xmat", "light_xdir", "qfrc_bias", "ten_length", "act_dot")
    for x in (b, reference):
        for name in names:
            x.bind(name)
    keys = np.array([0, -1, 1, 1, 0, -1, 0])
    for call in (
        lambda x: x.forward(),
        lambda x: x.step(stage=2),
        lambda x: x.step(nstep=2, stage=1),
        lambda x: x.step(stage=3),
        lambda x: x.reset(keyframe=keys),
        lambda x: x.step(),
        lambda x: x.forward(stage=1),
        lambda x: (x.reset([1, 2], keyframe=1, stage=0), x.step()),
    ):
        call(b), call(reference)
        for name in ("state", *names):
            if xml is RUNGE_KUTTA and name in ("qacc", "sensordata"):
                continue
            assert_close(getattr(b, name), getattr(reference, name), tolerance=1e-8)


def test_notices_come_once_for_a_batch():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        b = Batch(model(), 2, 1)
        b.step(), b.forward()
    assert told == []


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_contact_that_moves_nothing_leaves_its_joint_free(dtype):
    """A link that turns about its own axis has no inverse inertia in translation at qpos0, so D of its contacts is 1e15.
    The sphere touches the box on that axis, where nothing can move."""
    m = mujoco.MjModel.from_xml_string("""<mujoco><option cone="elliptic" tolerance="0" iterations="200"/><worldbody>
      <geom type="box" size=".3 .3 .1"/>
      <body pos="0 0 .19"><joint axis="0 0 1" armature="1e-4"/><geom type="sphere" size=".1"/>
        <body pos=".3 0 .3"><joint axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/></body>
      </body></worldbody></mujoco>""")
    d = mujoco.MjData(m)
    d.qvel[:], d.qfrc_applied[:] = [0.7, -0.3], [0.2, 0.1]
    mujoco.mj_forward(m, d)
    assert d.efc_D.min() > 1e14
    batch = Batch(m, nsim=1, dtype=dtype)
    qacc = batch.bind("qacc")
    batch.bind("qvel")[:], batch.bind("qfrc_applied")[:] = d.qvel, d.qfrc_applied
    batch.forward()
    np.testing.assert_allclose(qacc[0], d.qacc, rtol=1e-6 if dtype == "float32" else 1e-12)


def test_hard_cones_in_float32_stay_near_those_in_float64():
    """In float32 rounding of J^T D J would exceed the inertia of the legs, so D is bounded there."""
    m = mujoco.MjModel.from_xml_string(hard_feet())
    rng = np.random.default_rng(0)
    batches = [Batch(m, nsim=32, dtype=dtype) for dtype in ("float32", "float64")]
    qpos, qvel = np.tile(m.qpos0, (32, 1)), 0.1 * rng.normal(size=(32, m.nv))
    qpos[:, 2] += rng.uniform(-0.2, 0, 32)
    qpos[:, 7:] += 0.05 * rng.normal(size=(32, m.nv - 6))
    single, double = (b.bind("qacc") for b in batches)
    for b in batches:
        b.bind("qpos")[:], b.bind("qvel")[:] = qpos, qvel
        b.forward()
    error = np.abs(single - double).max(axis=1) / np.abs(double).max(axis=1)
    assert error.max() < 0.02
    assert np.median(error) < 1e-3
