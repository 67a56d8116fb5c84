"""featherstorm.mujoco.Batch: its arrays, what it refuses and which simulations a call runs. What it answers is in
test_mujoco_answers.py, what MuJoCo's own tests ask in test_mujoco_own_tests.py."""

import mujoco
import numpy as np
import pytest
from batch_agreement import N, assert_close, batch, model, stirred
from batch_models import FLOATING, MODELS, PENDULUM
from touching_models import touching

import featherstorm as fs
from featherstorm._fields.table import COMPONENTS, INTEGERS
from featherstorm.mujoco import DATA_FIELDS, Batch


def snapshot(b):
    return [np.array(b.state), *(np.array(b.bind(name)) for name in ("xpos", "sensordata", "qacc"))]


QPOS = int(mujoco.mjtState.mjSTATE_QPOS)


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
    assert_close(b.qpos, exact.qpos, tolerance=1e-5), assert_close(xpos, fine, tolerance=1e-5)


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


# what is refused


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m, b: Batch("model", 3), TypeError, "expected mujoco.MjModel"),
        (lambda m, b: Batch(m, 0), ValueError, "nsim must be positive, got 0"),
        (lambda m, b: Batch(m, 2.5), TypeError, "expected an integer"),
        (lambda m, b: Batch(m, 2, dtype="float16"), TypeError, "expected float32 or float64"),
        (lambda m, b: Batch(m, 2, device="cuda:99"), ValueError, "CUDA device 99 (does not exist|cannot be used)"),
        (lambda m, b: Batch(m, 2, device="tpu"), ValueError, "expected 'cpu', 'cuda'"),
        (lambda m, b: b.step(nstep=0), ValueError, "nstep must be positive"),
        (lambda m, b: b.step(nstep=-1), ValueError, "nstep must be positive"),
        (lambda m, b: b.step(nstep=1.5), TypeError, "nstep is 1.5"),
        (lambda m, b: b.forward(stage=9), ValueError, "got 9"),
        (lambda m, b: b.error(3), IndexError, "got 3"),
        (lambda m, b: b.get_model(3), IndexError, "got 3"),
        (lambda m, b: b.get_data(3), IndexError, "got 3"),
        (lambda m, b: b.rollout(2, np.zeros((4, 2, m.nu))), ValueError, "broadcast"),
        (lambda m, b: b.rollout(2, np.zeros((3, 2, m.nq)), control_spec=QPOS), ValueError, "mjSTATE_USER"),
        (lambda m, b: setattr(b, "qpos", np.zeros((3, 5))), ValueError, "broadcast"),
    ],
)
def test_wrong_arguments_are_told(call, error, message):
    m = model()
    with pytest.raises(error, match=message):
        call(m, Batch(m, 3, 1))


REASONS = {
    "flexvert_xpos": "flexible bodies",
    "nisland": "islands",
    "qLD": "factors",
    "efc_force": "arena",
    "qpso": "did you mean 'qpos'",
}


@pytest.mark.parametrize(("name", "reason"), REASONS.items())
def test_a_field_that_is_not_there_is_told_why(name, reason):
    b = Batch(model(), 2, 1)
    with pytest.raises(ValueError, match=f"{name} .*{reason}"):
        b.bind(name)
    with pytest.raises(AttributeError, match=reason):
        getattr(b, name)


def test_sensors_that_are_not_measured_are_nan():
    xml = PENDULUM.replace(
        "<clock/>", '<clock/><rangefinder site="tip" nsample="3" interval="0.1"/><jointvel joint="elbow"/>'
    )
    m = model(xml)
    with pytest.warns(fs.Notice, match="NaN in sensordata: sensor4 .histories of range finders"):
        b = Batch(m, 2, 1, dtype="float64")
    data = b.sensordata
    b.forward()
    unknown = np.isnan(data[0])
    assert unknown.sum() == 1 and unknown[m.sensor_adr[4]]
    assert np.isfinite(data[:, ~unknown]).all()


# which simulations


@pytest.mark.parametrize("xml", MODELS.values(), ids=MODELS)
def test_a_simulation_does_not_depend_on_others(xml):
    """The same bits wherever it is, however many there are, whoever is left out."""
    m = model(xml)
    whole, before = batch(m, 40), snapshot(batch(m, 40))
    snapshot(whole)  # binds
    whole.step(nstep=3)
    for ids in ([3, 17, 39], np.arange(40) % 2 == 1):
        part = batch(m, 40)
        snapshot(part)
        part.step(ids, nstep=3)
        ran = np.isin(np.arange(40), ids) if isinstance(ids, list) else ids
        for now, then, full in zip(snapshot(part), before, snapshot(whole)):
            np.testing.assert_array_equal(now[ran], full[ran])
            np.testing.assert_array_equal(now[~ran], then[~ran])
    alone = Batch(m, 1, 1, dtype="float64")
    alone.set_rows(stirred(m, 40)[17])
    alone.step(nstep=3)
    np.testing.assert_array_equal(alone.state[0], whole.state[17])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_parts_of_a_batch_have_the_bits_of_the_whole(dtype):
    """Arrays of a batch whose simulations are in contact, each with its own friction."""
    m = mujoco.MjModel.from_xml_string(touching())
    rng = np.random.default_rng(4)
    qvel = rng.normal(0, 0.5, (24, m.nv))
    friction = rng.uniform(0.3, 1.5, (24, 1, 3))

    def run(rows):
        batch = Batch(m, len(qvel[rows]), 1, dtype=dtype)
        batch.expand("geom_friction")[:] *= friction[rows]
        batch.qvel[:] = qvel[rows]
        batch.step(nstep=50)
        return np.array(batch.state)

    whole = run(slice(0, 24))
    parts = [run(slice(k, k + n)) for k, n in ((0, 7), (7, 9), (16, 8))]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    assert np.abs(whole).max() > 0 and not np.array_equal(whole[0], whole[1])


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
