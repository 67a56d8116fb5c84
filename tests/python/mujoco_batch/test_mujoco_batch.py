"""featherstorm.mujoco.Batch: its arrays, which simulations a call runs, what it does with bad numbers, and its answers beside
MuJoCo's. What MuJoCo's own tests ask is in test_mujoco_own_tests.py."""

import gc
import pathlib
import sys
import warnings

import numpy as np
import pytest

import featherstorm as fs

mujoco = pytest.importorskip("mujoco")
theirs = pytest.importorskip("mujoco.batch", reason="needs MuJoCo 4.0 or later")
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

from batch_models import FLOATING, MODELS, PENDULUM, RUNGE_KUTTA  # noqa: E402

from featherstorm.mujoco import DATA_FIELDS, Batch, SimulationError  # noqa: E402
from featherstorm.mujoco.fields.table import INTEGERS  # noqa: E402
from featherstorm.mujoco.state import COMPONENTS  # noqa: E402

N = 7
BAD = mujoco.mjtWarning


def model(xml=PENDULUM):
    m = mujoco.MjModel.from_xml_string(xml)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE  # MuJoCo 4.0.0 has a fault in its sparse factor
    m.opt.tolerance, m.opt.ls_tolerance, m.opt.iterations, m.opt.ls_iterations = 0, 1e-12, 200, 100
    return m


def stirred(m, n, seed=0):
    """Random states (n, nstate) of mjSTATE_INTEGRATION, mocap bodies where the model has them."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        d = mujoco.MjData(m)
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 0.3)
        d.qvel[:], d.ctrl[:], d.act[:] = rng.normal(size=m.nv), rng.uniform(-1.5, 1.5, m.nu), rng.normal(size=m.na)
        d.qfrc_applied[:], d.xfrc_applied[1:] = rng.normal(size=m.nv), 0.3 * rng.normal(size=(m.nbody - 1, 6))
        row = np.empty(mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_INTEGRATION))
        mujoco.mj_getState(m, d, row, mujoco.mjtState.mjSTATE_INTEGRATION)
        found.append(row)
    return np.array(found)


def batch(m, n=N, seed=0, **options):
    b = Batch(m, n, 1, **{"dtype": "float64", **options})
    b.set_rows(stirred(m, n, seed))
    return b


def snapshot(b):
    return np.array(b.state), {name: np.array(b.bind(name)) for name in ("xpos", "sensordata", "qacc")}


def assert_close(actual, desired, tolerance=1e-9):
    scale = max(np.abs(desired).max(initial=0), 1)
    np.testing.assert_allclose(actual, desired, rtol=0, atol=tolerance * scale)


# arrays


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("xml", MODELS.values(), ids=MODELS)
def test_every_field_has_mujocos_shape(xml, dtype):
    m = model(xml)
    b, d = Batch(m, 3, 1, dtype=dtype), mujoco.MjData(m)
    for name in sorted(DATA_FIELDS):
        array = b.bind(name)
        assert array.shape == (3, *np.shape(getattr(d, name))), name
        assert array.dtype == (np.int32 if name in INTEGERS else dtype), name
        assert not array.size or np.shares_memory(array, b.bind(name)), name
        assert not array.size or array.flags.writeable == (name in COMPONENTS), name


def test_fields_of_the_state_are_views_of_it():
    m = model(FLOATING)
    b = Batch(m, N, 1)
    for name in COMPONENTS:
        array = b.bind(name)
        if array.size:
            assert np.shares_memory(array, b.state), name
    b.xfrc_applied[3, 2, 5] = 7
    assert b.state[3][b.state[3] == 7].size == 1
    b.qvel = 2
    assert (b.bind("qvel") == 2).all()


def test_float32_is_the_default_and_close():
    m = model()
    b = Batch(m, N, 1)
    assert b.state.dtype == np.float32 and b.xpos.dtype == np.float32
    b.set_rows(stirred(m, N))
    exact = batch(m)
    xpos, fine = b.xpos, exact.xpos
    b.step(nstep=5), exact.step(nstep=5)
    assert_close(b.qpos, exact.qpos, 1e-5), assert_close(xpos, fine, 1e-5)


def test_rows_are_mujocos_and_go_both_ways():
    m = model()
    rows = stirred(m, N)
    b = Batch(m, N, 1, dtype="float64")
    b.set_rows(rows)
    np.testing.assert_array_equal(b.rows(), rows)
    assert b.rows().flags.c_contiguous and b.rows().dtype == np.float64
    physics = mujoco.mjtState.mjSTATE_FULLPHYSICS
    some = b.rows(physics, ids=[1, 4])
    assert some.shape == (2, mujoco.mj_stateSize(m, physics))
    b.set_rows(some[0], physics)
    np.testing.assert_array_equal(b.qpos, np.tile(b.qpos[1], (N, 1)))
    for wrong in (rows[:, :-1], rows[:3], rows[0, 1:]):
        with pytest.raises(ValueError, match="expected"):
            b.set_rows(wrong)


def test_time_does_not_drift_in_float32():
    m = model()
    b = Batch(m, 2, 1)
    b.step(nstep=20000)
    assert b.time[0] == np.float32(20000 * m.opt.timestep)
    assert b.rows()[0, 0] == pytest.approx(20000 * m.opt.timestep, rel=1e-12)
    b.time[1] = 0.5
    b.step()
    assert b.time[1] == np.float32(0.5 + m.opt.timestep)


def test_arrays_stay_when_the_batch_is_gone():
    b = batch(model())
    qpos, xpos = b.qpos, b.xpos
    b.step()
    copies = qpos.copy(), xpos.copy()
    del b
    gc.collect()
    np.testing.assert_array_equal(qpos, copies[0])
    np.testing.assert_array_equal(xpos, copies[1])
    qpos[:] = 0


# what is refused


def test_wrong_arguments_are_told():
    m = model()
    with pytest.raises(TypeError, match="expected mujoco.MjModel"):
        Batch("model", 3)
    with pytest.raises(ValueError, match="nsim must be positive, got 0"):
        Batch(m, 0)
    with pytest.raises(TypeError, match="expected an integer"):
        Batch(m, 2.5)
    with pytest.raises(TypeError, match="expected float32 or float64"):
        Batch(m, 2, dtype="float16")
    with pytest.raises(ValueError, match="CUDA device 99 (does not exist|cannot be used)"):
        Batch(m, 2, device="cuda:99")
    with pytest.raises(ValueError, match="expected 'cpu', 'cuda'"):
        Batch(m, 2, device="tpu")
    b = Batch(m, 3, 1)
    for nstep in (0, -1):
        with pytest.raises(ValueError, match="nstep must be positive"):
            b.step(nstep=nstep)
    with pytest.raises(TypeError, match="nstep is 1.5"):
        b.step(nstep=1.5)
    with pytest.raises(ValueError, match="got 9"):
        b.forward(stage=9)
    for call in (b.error, b.get_model, b.get_data):
        with pytest.raises(IndexError, match="got 3"):
            call(3)
    with pytest.raises(ValueError, match="broadcast"):
        b.rollout(2, np.zeros((4, 2, m.nu)))
    with pytest.raises(ValueError, match="mjSTATE_USER"):
        b.rollout(2, np.zeros((3, 2, m.nq)), control_spec=int(mujoco.mjtState.mjSTATE_QPOS))
    with pytest.raises(ValueError, match="broadcast"):
        b.qpos = np.zeros((3, 5))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("flexvert_xpos", "flexible bodies"),
        ("nisland", "islands"),
        ("qLD", "factors"),
        ("efc_force", "arena"),
        ("qpso", "did you mean 'qpos'"),
    ],
)
def test_a_field_that_is_not_there_is_told_why(name, reason):
    b = Batch(model(), 2, 1)
    with pytest.raises(ValueError, match=f"{name} .*{reason}"):
        b.bind(name)
    with pytest.raises(AttributeError, match=reason):
        getattr(b, name)


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        (
            """<mujoco><option integrator="discrete"/><worldbody><body><joint name="i"/><geom size=".1"/></body>
            <body pos="1 0 0"><joint name="j"/><geom size=".1"/></body></worldbody><tendon><fixed damping="1">
            <joint joint="i" coef="1"/><joint joint="j" coef="1"/></fixed></tendon></mujoco>""",
            "discrete: tendon 0 acts on joints of several branches",
        ),
        (
            '<mujoco><option><flag sleep="enable"/></option><worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>',
            "sleep",
        ),
        (
            """<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody><actuator>
            <motor joint="j" delay="0.01" nsample="8"/></actuator></mujoco>""",
            "delays",
        ),
    ],
)
def test_a_model_that_is_not_supported_is_refused(xml, reason):
    with pytest.raises(ValueError, match=reason):
        Batch(mujoco.MjModel.from_xml_string(xml), 2, 1)


def test_sensors_that_are_not_measured_are_nan():
    xml = PENDULUM.replace("<clock/>", '<clock/><gyro site="hand"/><jointvel joint="elbow"/>')
    xml = xml.replace("</worldbody>", '<body name="held" mocap="true"><site name="hand"/></body></worldbody>')
    m = model(xml)
    with pytest.warns(fs.Notice, match="NaN in sensordata: sensor4 .velocities"):
        b = Batch(m, 2, 1, dtype="float64")
    data = b.sensordata
    b.forward()
    unknown = np.isnan(data[0])
    assert unknown.sum() == 3 and unknown[m.sensor_adr[4]]
    assert np.isfinite(data[:, ~unknown]).all()


# which simulations


@pytest.mark.parametrize("xml", MODELS.values(), ids=MODELS)
def test_a_simulation_does_not_depend_on_others(xml):
    """The same bits wherever it is, however many there are, whoever is left out."""
    m = model(xml)
    whole, part, other = batch(m, 40), batch(m, 40), batch(m, 40)
    for b in (whole, part, other):
        snapshot(b)  # binds
    whole.step(nstep=3)
    part.step([3, 17, 39], nstep=3)
    other.step(np.arange(40) % 2 == 1, nstep=3)
    for b, ran in ((part, [3, 17, 39]), (other, np.arange(1, 40, 2))):
        rest = np.setdiff1d(np.arange(40), ran)
        before = batch(m, 40)
        snapshot(before)
        for now, then, full in zip(
            [snapshot(b)[0], *snapshot(b)[1].values()],
            [snapshot(before)[0], *snapshot(before)[1].values()],
            [snapshot(whole)[0], *snapshot(whole)[1].values()],
        ):
            np.testing.assert_array_equal(now[ran], full[ran])
            np.testing.assert_array_equal(now[rest], then[rest])
    alone = Batch(m, 1, 1, dtype="float64")
    alone.set_rows(stirred(m, 40)[17])
    alone.step(nstep=3)
    np.testing.assert_array_equal(alone.state[0], whole.state[17])


def test_no_simulation_is_a_selection():
    b = batch(model())
    before = snapshot(b)[0]
    b.step([]), b.forward([]), b.reset([]), b.set_const([])
    assert b.rollout(3, ids=[])["qpos"].shape == (0, 3, 2)
    assert b.jac(1, np.zeros(3), ids=[])[0].shape == (0, 3, 2)
    assert b.ray([0, 0, 0], [0, 0, 1], ids=np.zeros(N, bool))[0].shape == (0, 1)
    np.testing.assert_array_equal(b.state, before)


@pytest.mark.parametrize("bad", [[7], [-1], [2, 1], [1, 1], [0.5], [[0]], np.ones(6, bool), [2**32], "12"])
def test_wrong_ids_are_refused(bad):
    b = batch(model())
    before = np.array(b.state)
    for call in (b.step, b.forward, b.reset, b.set_const, lambda ids: b.rollout(2, ids=ids)):
        with pytest.raises(ValueError, match="ids|mask"):
            call(bad)
    np.testing.assert_array_equal(b.state, before)


def test_several_steps_are_single_ones():
    m = model()
    one, many = batch(m), batch(m)
    xpos = one.xpos, many.xpos
    for _ in range(6):
        one.step()
    many.step(nstep=6)
    np.testing.assert_array_equal(one.state, many.state)
    np.testing.assert_array_equal(*xpos)


def test_batches_side_by_side_do_not_meet():
    m = model()
    a, b, alone = batch(m, seed=1), batch(m, seed=2), batch(m, seed=1)
    f = batch(model(FLOATING))
    for _ in range(4):
        a.step(), b.step(nstep=2), f.step(), alone.step()
    np.testing.assert_array_equal(a.state, alone.state)
    assert not np.array_equal(a.state, b.state)


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
    b.expand("opt.enableflags")[[1, 4]] = int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    before = np.array(b.state)
    with pytest.raises(SimulationError, match=r"2 of 7 simulations \(1, 4\); simulation 1: .*sleep") as raised:
        b.step()
    np.testing.assert_array_equal(raised.value.ids, [1, 4])
    np.testing.assert_array_equal(np.flatnonzero(b.status), [1, 4])
    assert "sleep" in b.error(4) and b.error(0) == ""
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
    b.expand("body_pos")[:, 2, 0] = np.linspace(1, 2, 300)
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


def test_a_mocap_body_that_a_tendon_passes_on_one_side_cannot_be_moved():
    xml = PENDULUM.replace(
        "</worldbody>",
        """<body mocap="true" pos="0 1 1"><geom name="pulley" type="cylinder" size=".1 .1" contype="0" conaffinity="0"/>
        <site name="side" pos="0 0 .2"/></body><site name="far" pos="0 2 0"/></worldbody>""",
    ).replace(
        "<actuator>",
        """<tendon><spatial stiffness="1"><site site="far"/><geom geom="pulley" sidesite="side"/><site site="tip"/></spatial></tendon>
        <actuator>""",
    )
    b = batch(model(xml))
    b.step()
    b.mocap_pos[3, 1, 2] = 2
    with pytest.raises(SimulationError, match="simulation 3: a mocap body was moved"):
        b.step()
    free = batch(model())
    free.mocap_pos[:, 0, 2] = np.arange(N)
    xpos, data = free.xpos, free.sensordata
    free.step()  # nothing depends on it but fields and sensors
    np.testing.assert_array_equal(xpos[:, 3, 2], np.arange(N))
    np.testing.assert_array_equal(data[:, 6], np.arange(N))


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
            assert_close(getattr(b, name)[ran], getattr(reference, name)[ran], 1e-7)


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
            assert_close(getattr(b, name), getattr(reference, name), 1e-8)


def test_notices_come_once_for_a_batch():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        b = Batch(model(), 2, 1)
        b.step(), b.forward()
    assert told == []
