"""featherstorm.mujoco.Batch on a CUDA device: its answers beside those of the CPU's, which
simulations a call is about, what it does with bad numbers without waiting."""

import ctypes

import numpy as np
import pytest
from batch_models import FLOATING, PENDULUM, RUNGE_KUTTA
from device_batches import CLOSE, N, assert_close, assert_same, both, compiled, fs_stream, states
from touching_models import hard_feet, touching

import fake_cuda
from fake_cuda import CUDA, StandardArray, array, needs_device
from featherstorm._fields.table import COMPONENTS
from featherstorm.device import DeviceArray
from featherstorm.mujoco import Batch

MODELS = {"pendulum": PENDULUM, "floating": FLOATING, "runge_kutta": RUNGE_KUTTA, "touching": touching("elliptic")}
FIELDS = ("xpos", "xquat", "qacc", "sensordata", "qfrc_actuator", "qfrc_constraint", "subtree_com", "cvel")
pytestmark = [needs_device, pytest.mark.usefixtures("played_compiler")]


# answers


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("pendulum", "float32"),
        ("floating", "float64"),
        ("runge_kutta", "float64"),
        ("touching", "float32"),
        ("touching", "float64"),
    ],
)
def test_steps_and_fields_are_the_hosts(name, dtype):
    xml = MODELS[name]
    cpu, cuda = both(xml, dtype, FIELDS)
    assert isinstance(cuda, Batch) and cuda.device == CUDA and cuda.dtype == dtype
    # forces and accelerations are as sensitive as contacts are stiff, more so after steps
    of_forward, of_steps = (10, 300) if name == "touching" else (1, 1)
    for b in (cpu, cuda):
        b.forward()
    assert_same(cuda, cpu, FIELDS, of_forward * CLOSE[dtype])
    for nstep in (1, 2):
        for b in (cpu, cuda):
            b.step(nstep=nstep)
        assert_same(cuda, cpu, FIELDS, of_steps * CLOSE[dtype])
    assert np.abs(np.asarray(cuda.qacc)).max() > 0.1


def test_hard_cones_are_bounded_in_float32():
    cpu, cuda = both(hard_feet(0.2), "float32", ("qacc",))
    exact, _ = both(hard_feet(0.2), "float64", ("qacc",))
    for b in (cpu, cuda, exact):
        b.forward()
    assert_same(cuda, cpu, ("qacc",), 300 * CLOSE["float32"])
    error = np.abs(np.asarray(cuda.qacc) - np.asarray(exact.qacc)).max(axis=1)
    assert np.median(error / np.abs(np.asarray(exact.qacc)).max(axis=1)) < 1e-3


def test_fields_of_contacts_are_found_in_kernels():
    fields = ("cfrc_ext", "cfrc_int", "ncon", "nefc", "sensordata", "solver_niter")
    cpu, cuda = both(touching(), "float64", fields)
    for _ in range(2):
        for b in (cpu, cuda):
            b.step(nstep=2)
        assert_same(cuda, cpu, fields[:-1], 1e-9)
    assert np.asarray(cuda.ncon).max() > 0 and np.asarray(cuda.ncon).dtype == np.float64
    assert np.asarray(cuda.solver_niter).max() >= 1


@pytest.mark.parametrize("law", ["mujoco", "rigid"])
def test_both_laws(law):
    cpu, cuda = both(touching(), "float64", ("qacc",), law=law)
    for b in (cpu, cuda):
        b.step(nstep=3)
    assert_same(cuda, cpu, ("qacc",), 1e-9)
    ours, theirs = cuda.report(), cpu.report()
    assert_close(ours.gap, theirs.gap, 1e-9)
    assert (ours.residual < 1e-3).all()


def test_equalities_are_switched_and_mocap_bodies_move_what_they_hold():
    cpu, cuda = both(FLOATING, fields=("qacc",))
    on = (np.arange(N) % 2)[:, None].astype(float)
    for b in (cpu, cuda):
        b.bind("eq_active")[:] = on
        b.step(nstep=2)
    assert_same(cuda, cpu, ("qacc",), 1e-9)
    held = PENDULUM.replace(
        "<actuator>", '<equality><connect body1="hand" body2="target" anchor="0 0 -.3"/></equality><actuator>'
    )
    cpu, cuda = both(held)
    place = np.array(cpu.mocap_pos)
    place[:, 0, 2] += np.linspace(0, 0.3, N)
    for b in (cpu, cuda):
        b.mocap_pos = place
        b.step(nstep=3)
    assert_same(cuda, cpu, (), 1e-9)
    assert np.ptp(np.asarray(cuda.qvel)[:, 0]) > 1e-3


def test_nothing_that_moves():
    xml = '<mujoco><worldbody><site name="mark" pos="1 2 3"/></worldbody><sensor><clock/><framepos objtype="site" objname="mark"/></sensor></mujoco>'
    cpu, cuda = both(xml, fields=("sensordata", "site_xpos"))
    for b in (cpu, cuda):
        b.step(nstep=3)
    assert_same(cuda, cpu, ("sensordata", "site_xpos"))
    assert cuda.rows()[0, 0] == pytest.approx(0.006)


# arrays


def test_arrays_are_views_of_the_devices_memory():
    cpu, cuda = both(FLOATING, "float32", ("xpos",))
    for name in COMPONENTS:
        ours, theirs = cuda.bind(name), cpu.bind(name)
        assert isinstance(ours, DeviceArray) and ours.shape == theirs.shape and ours.dtype == np.float32, name
        assert_close(ours, theirs, 1e-6, name)
    qvel = fake_cuda.adopt(StandardArray, cuda.qvel)
    ctypes.c_float.from_address(
        qvel[3:, 2:].ctypes.data
    ).value = 0.25  # what another library writes there is the simulation's
    expected = np.array(cpu.qvel)
    expected[3, 2] = 0.25
    assert_close(cuda.qvel, expected, 1e-6)
    assert 0.25 in np.asarray(cuda.state)[3]
    cuda.ctrl[:] = 0.5
    cuda.qvel = array(StandardArray, np.full((N, cuda.model.nv), 2.0, "f4"), 1)
    cuda.bind("qfrc_applied")[...] = np.zeros(cuda.model.nv)
    assert (np.asarray(cuda.ctrl) == 0.5).all() and (np.asarray(cuda.qvel) == 2).all()
    slide = cuda.joint("slide")
    slide.qvel = 7
    assert (np.asarray(cuda.qvel)[:, -1] == 7).all() and (np.asarray(cuda.qvel)[:, :-1] == 2).all()
    cuda.forward(), cpu.forward()
    assert np.asarray(cuda.body("head").xpos).shape == (N, 3)
    np.testing.assert_array_equal(np.asarray(cuda.body("head").xpos), np.asarray(cuda.xpos)[:, 2])
    assert slide.range.shape == (N, 2), "the model's"
    both_ways = cuda.rows()
    cuda.set_rows(both_ways)
    np.testing.assert_array_equal(cuda.rows(), both_ways)
    np.testing.assert_allclose(cuda.get_data(3).qvel, np.asarray(cuda.qvel)[3])


def test_calls_do_not_wait():
    stream = fs_stream()
    m = compiled(PENDULUM)
    b = Batch(m, N, device=CUDA, stream=stream.number)
    b.bind("xpos")
    b.step(), b.forward(), b.reset(), b.rollout(2)  # take memory, make kernels
    b.set_rows(states(m))
    stream.synchronise()
    before = np.array(raw(b.state))
    graph = stream.capture(lambda: [b.step(nstep=2), b.forward()])  # nothing in it may wait or take memory
    np.testing.assert_array_equal(raw(b.state), before)
    expected = Batch(m, N)
    expected.set_rows(states(m))
    for _ in range(2):
        graph.launch()
        expected.step(nstep=2)
    assert_close(b.state, expected.state, 1e-5)
    assert_close(b.rows()[:, 0], expected.rows()[:, 0], 1e-6)


def raw(x):
    """The memory of an array of the fake CUDA library's device as it is now."""

    class Now:
        def __dlpack_device__(self):
            return (2, 1)

        def __dlpack__(self, *, stream=None, **_):
            return x.capsule()

    return fake_cuda.adopt(StandardArray, Now())


def test_time_does_not_drift_in_float32():
    m = compiled(PENDULUM)
    b = Batch(m, 2, device=CUDA)
    for _ in range(10):
        b.step(nstep=300)
    assert np.asarray(b.time)[0] == pytest.approx(3000 * m.opt.timestep, rel=2e-7)
    assert b.rows()[0, 0] == pytest.approx(3000 * m.opt.timestep, rel=1e-12)
    b.time = np.array([0.5, 1.5])
    b.step()
    np.testing.assert_allclose(np.asarray(b.time), [0.5 + m.opt.timestep, 1.5 + m.opt.timestep], rtol=1e-6)


# which simulations


def test_a_mask_on_the_device_is_not_waited_for():
    cpu, cuda = both(PENDULUM, fields=("xpos", "sensordata"))
    mask = (np.arange(N) % 3 == 0).astype(float)
    on = array(StandardArray, mask, 1)
    for b, ids in ((cpu, mask > 0), (cuda, on)):
        b.step(), b.step(ids, nstep=2), b.reset(ids, keyframe=1), b.step(), b.forward(ids)
    assert_same(cuda, cpu, ("xpos", "sensordata"))
    stream = fs_stream()
    b = Batch(cpu.model, N, dtype="float64", device=CUDA, stream=stream.number)
    b.step(on), b.reset(on)
    b.set_rows(states(cpu.model))
    stream.capture(lambda: [b.step(on), b.reset(on)]).launch()
    expected = Batch(cpu.model, N, dtype="float64")
    expected.set_rows(states(cpu.model))
    expected.step(mask > 0), expected.reset(mask > 0)
    assert_close(b.state, expected.state)
    for wrong, error, message in (
        (array(StandardArray, mask, 0), ValueError, "^ids is on CUDA device 0, expected CUDA device 1 or the CPU$"),
        (array(StandardArray, mask[:3], 1), ValueError, r"^ids has shape \(3,\), expected \(7,\)$"),
        (array(StandardArray, mask > 0, 1), TypeError, "^ids is bool, expected float64$"),
    ):
        with pytest.raises(error, match=message):
            cuda.reset(wrong)
    with pytest.raises(
        ValueError, match="^reset: keyframes of single simulations beside ids on the device are for device='cpu'"
    ):
        cuda.reset(on, keyframe=np.zeros(N, int))


# bad numbers
