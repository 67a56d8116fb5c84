"""featherstorm.mujoco.Batch: its answers beside MuJoCo's, of bad numbers and of simulations with models of their own too."""

import mujoco
import mujoco.batch as theirs
import numpy as np
import pytest
from batch_agreement import N, assert_agree, assert_close, batch, both, model, stirred
from batch_models import FLOATING, MODELS, PENDULUM, PULLEY, RUNGE_KUTTA
from device_batches import assert_same
from touching_models import hard_feet, touching

import featherstorm as fs
from featherstorm.mujoco import Batch, SimulationError

BAD = mujoco.mjtWarning


CLOSE = {"float64": 1e-9, "float32": 1e-2}  # of a field's greatest number


# bad numbers


@pytest.mark.parametrize("nstep", [1, 3])
@pytest.mark.parametrize(
    ("xml", "dtype"),
    [(PENDULUM, "float32"), (RUNGE_KUTTA, "float64"), (touching(), "float32")],
    ids=["pendulum", "runge_kutta", "touching"],
)
def test_bad_simulations_begin_anew_alone(pair, xml, dtype, nstep):
    fields = ("xpos", "qacc", "sensordata", "qfrc_constraint")
    ours, reference = pair(model(xml), fields, dtype)
    fine, _ = pair(model(xml), fields, dtype)
    bad = [("qpos", np.nan), ("qvel", np.inf), ("qfrc_applied", {"float32": 1e30, "float64": 1e20}[dtype]),
           ("qvel", 1e11), ("qpos", -1e12), ("qpos", 1e12)]  # fmt: skip
    ctrl = np.array(ours.ctrl)
    bad_ctrl = np.where(np.arange(N)[:, None] == 0, np.nan, ctrl)
    for b in (ours, reference, fine):  # time passes, and one has a warning already
        b.ctrl = bad_ctrl
        b.step(nstep=2)
        b.ctrl = ctrl
    for name in ("qpos", "qvel", "qfrc_applied"):
        x = np.array(ours.bind(name))
        for row, (bad_name, value) in enumerate(bad):
            x[row, 1] = value if name == bad_name else x[row, 1]
        for b in (ours, reference):
            setattr(b, name, x)
    for b in (ours, reference, fine):
        b.step(nstep=nstep)
    assert_same(ours, reference, fields, CLOSE[str(ours.dtype)])
    for row, warning in enumerate([BAD.mjWARN_BADQPOS, BAD.mjWARN_BADQVEL, BAD.mjWARN_BADQACC]):
        assert ours.warning[row, warning, 1] == 1
    assert not ours.warning[len(bad)].any()
    np.testing.assert_array_equal(np.asarray(ours.state)[len(bad)], np.asarray(fine.state)[len(bad)])
    for name in ("state", *fields):
        assert np.isfinite(np.asarray(getattr(ours, name))).all(), name


def test_a_bad_number_that_the_next_substep_mends_is_counted(pair):
    # a = -k x is beyond 1e10 in the first substep, and x = x_0 (1 - k dt^2) = 0 in the second
    spring = """<mujoco><option timestep=".01" gravity="0 0 0"/><worldbody><body><joint name="x" type="slide" stiffness="1e4"/>
<geom size=".1" mass="1"/></body></worldbody></mujoco>"""
    ours, reference = pair(model(spring), ("qacc",))
    for b in (ours, reference):
        x = np.array(b.qpos)
        x[2, 0] = 2e6
        b.qpos = x
        b.step(nstep=2)
    assert_same(ours, reference, ("qacc",), 1e-9)
    assert ours.warning[2, BAD.mjWARN_BADQACC, 1] == 1 and not ours.warning[3].any()


def test_bad_controls_are_zeros(pair):
    ours, reference = pair(model(), ("actuator_force",))
    ctrl = np.array(ours.ctrl)
    ctrl[1, 0], ctrl[3, 1], ctrl[4, 2], ctrl[5, 1] = np.nan, 1e15, -np.inf, np.nan  # the range of 3, 1 holds it
    for b in (ours, reference):
        b.ctrl = ctrl
        b.step(nstep=3), b.forward()
    assert_same(ours, reference, ("actuator_force",), 1e-9)
    assert ours.warning[1, BAD.mjWARN_BADCTRL, 1] == 4 and not ours.warning[3].any()
    assert np.isnan(np.asarray(ours.ctrl)[1, 0])


def test_nothing_begins_anew_where_the_model_says_so(pair):
    ours, reference = pair(model(PENDULUM.replace("<option", '<option><flag autoreset="disable"/></option><option')))
    bad = np.array(ours.qvel)
    bad[2, 0] = np.inf
    for b in (ours, reference):
        b.qvel = bad
        b.step()
    np.testing.assert_array_equal(ours.warning[..., 1], reference.warning[..., 1])
    assert ours.warning[2].any() and not np.isfinite(np.asarray(ours.qvel)[2]).all()
    assert_close(np.asarray(ours.qvel)[3:], reference.qvel[3:])


def test_a_rollout_stops_where_a_simulation_is_bad(pair):
    ours, reference = pair(model())
    control = np.zeros((N, 5, 3))
    control[2, 3, 0] = np.nan
    push = np.array(ours.bind("qfrc_applied"))
    push[4, 0] = 1e20
    found = []
    for b in (ours, reference):
        b.qfrc_applied = push
        found.append(b.rollout(5, control, record=("qpos", "sensordata")))
    for name, x in found[1].items():
        assert_close(found[0][name], x, name)
        np.testing.assert_array_equal(np.asarray(found[0][name])[2, 4], np.asarray(found[0][name])[2, 3])
    assert_same(ours, reference, (), 1e-9)
    assert ours.warning[2, BAD.mjWARN_BADCTRL, 1] == 1


# which simulations, stages, keyframes


@pytest.mark.parametrize("xml", MODELS.values(), ids=MODELS)
def test_many_steps_of_some_simulations_agree(pair, xml):
    m = model(xml)
    names = ("xpos", "xquat", "qacc", "sensordata", "qfrc_actuator", "subtree_com", "cvel", "qacc_warmstart")
    ours, reference = pair(m, names)
    rng = np.random.default_rng(5)
    for k in range(60):
        u = rng.uniform(-1, 1, (N, m.nu))
        ids = [[0, 1, 2, 3, 5], [], np.arange(N) % 2 == 0][k // 4 % 3] if k % 4 == 3 else None
        for b in (ours, reference):
            b.ctrl = u
            if k == 20:
                b.reset([2, 3])
            b.step(ids, nstep=1 + k % 3)
        assert_same(ours, reference, names, 1e-7)


@pytest.mark.parametrize("xml", [PENDULUM, RUNGE_KUTTA], ids=["pendulum", "runge_kutta"])
def test_stages_and_keyframes_agree(pair, xml):
    names = ("xpos", "qacc", "sensordata", "cam_xmat", "light_xdir", "qfrc_bias", "ten_length", "act_dot")
    ours, reference = pair(model(xml), names, persistent=True)
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
        lambda x: (x.reset(np.arange(N) == 2, stage=0), x.step()),
        lambda x: x.reset(),
    ):
        call(ours), call(reference)
        left_out = ("qacc", "sensordata") if xml is RUNGE_KUTTA else ()
        assert_same(ours, reference, [name for name in names if name not in left_out], 1e-8)


# mocap bodies


def test_a_tendon_passes_a_mocap_body_on_the_side_of_its_site(pair):
    ours, reference = pair(model(PULLEY), ("ten_length", "qacc"))
    place = np.array(ours.mocap_pos)
    for _ in range(2):
        for b in (ours, reference):
            b.mocap_pos = place
            b.step(nstep=3)
        assert_same(ours, reference, ("ten_length", "qacc"), 1e-9)
        place[:, 1] += np.random.default_rng(0).normal(0, 0.2, (N, 3))
    assert np.ptp(np.asarray(ours.ten_length), axis=0).max() > 0.05


def test_times_do_not_depend_on_bad_neighbours():
    m = model()
    m.opt.timestep = 0.003
    fine, beside = batch(m), batch(m)
    beside.ctrl[2, 0] = np.nan  # each of its steps is checked alone
    for b in (fine, beside):
        b.step(nstep=4), b.step(nstep=7)
    others = np.arange(N) != 2
    np.testing.assert_array_equal(fine.rows()[others], beside.rows()[others])


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


def test_too_many_models_are_refused():
    b = Batch(model(), 300, 1)
    b.expand("jnt_pos")[:, 0, 0] = np.linspace(1, 2, 300)
    with pytest.raises(ValueError, match="more than 256 different models"):
        b.step()


@pytest.mark.parametrize("name", ["site_pos", "geom_pos", "geom_size", "body_pos"])
def test_what_decides_the_side_of_a_tendon_is_an_input(name):
    """Beside a mocap body that nothing is wrapped around, which moves."""
    b, reference = both(model(PULLEY.replace('mocap="true" pos="0 .2', 'pos="0 .2').replace(' mpos="0 1 0"', "")))
    spread = np.random.default_rng(1).uniform(0.6, 1.4, (N, 1, 1))
    for x in (b, reference):
        x.expand(name)[...] *= spread
        x.mocap_pos[:, 0, 0] += 0.3
    assert_agree(b, reference, ("ten_length", "qacc"))
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
    b, reference = both(model(SENSED.format(f"<{sensor}/>")))
    turn = np.random.default_rng(3).normal(size=(N, 1, 4))
    for x in (b, reference):
        x.mocap_pos[:] += np.linspace(-0.2, 0.2, N)[:, None, None]
        x.mocap_quat[:] = turn / np.linalg.norm(turn, axis=-1, keepdims=True)
    assert_agree(b, reference, ("sensordata",))
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
