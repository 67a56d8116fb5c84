"""featherstorm.mujoco.Batch on a CUDA device: rollouts, what goes through the CPU, what is
refused."""

import mujoco
import numpy as np
import pytest
from batch_models import PENDULUM
from device_batches import N, assert_close, assert_same, both, compiled, states
from touching_models import touching

from fake_cuda import CUDA, STREAMS, StandardArray, array, needs_device, needs_fake_cuda
from featherstorm import _featherstorm
from featherstorm.device import DeviceArray
from featherstorm.mujoco import Batch

pytestmark = [needs_device, pytest.mark.usefixtures("played_compiler")]


# rollouts


@pytest.mark.parametrize("xml", [PENDULUM, touching()], ids=["pendulum", "touching"])
def test_rollouts_are_the_hosts(xml):
    cpu, cuda = both(xml, fields=("xpos",))
    control = None if not cpu.model.nu else np.random.default_rng(1).normal(size=(N, 5, cpu.model.nu))
    record = ("time", "qpos", "sensordata", "qacc", int(mujoco.mjtState.mjSTATE_FULLPHYSICS))
    theirs = cpu.rollout(5, control, record=record)
    ours = cuda.rollout(5, None if control is None else array(StandardArray, control, 1), record=record)
    for item in record:
        assert isinstance(ours[item], DeviceArray) and ours[item].shape == theirs[item].shape
        assert_close(ours[item], theirs[item], 1e-9, str(item))
    assert_same(cuda, cpu, ("xpos",), 1e-9)
    assert_close(cuda.rollout(2)["qpos"], cpu.rollout(2)["qpos"], 1e-9)


def test_rollouts_of_some_simulations_and_into_arrays():
    cpu, cuda = both(PENDULUM, fields=("xpos",))
    control = np.random.default_rng(3).normal(size=(2, 4, cpu.model.nu))
    record = ("qpos", "sensordata", int(mujoco.mjtState.mjSTATE_FULLPHYSICS))
    for ids, given in (([1, 4], control), (np.isin(np.arange(N), [0, 6]), array(StandardArray, control, 1))):
        theirs = cpu.rollout(4, control, record=record, ids=ids)
        ours = cuda.rollout(4, given, record=record, ids=ids)
        for item in record:
            assert isinstance(ours[item], DeviceArray) and ours[item].shape == theirs[item].shape
            assert_close(ours[item], theirs[item], 1e-9, str(item))
        assert_same(cuda, cpu, ("xpos",), 1e-9)
    assert cuda.rollout(2, ids=[])["qpos"].shape == (0, 2, 2)
    whole, into = cuda.rollout(3)["qpos"], np.zeros((N, 3, 2))
    found = cuda.rollout(3, record=("qpos",), out={"qpos": whole})
    expected = [cpu.rollout(3)["qpos"] for _ in range(2)][1]
    assert found["qpos"] is whole
    assert_close(whole, expected, 1e-9)
    assert cuda.rollout(3, out={"qpos": into})["qpos"] is into
    assert_close(into, cpu.rollout(3)["qpos"], 1e-9)
    assert cuda.rollout(3, ids=[2], out={"qpos": into[:1]})["qpos"].base is into
    assert_close(into[0], cpu.rollout(3, ids=[2])["qpos"][0], 1e-9)


# what goes through the CPU, and what is refused


def test_jacobians_and_rays_go_through_the_cpu():
    cpu, cuda = both(touching())
    for b in (cpu, cuda):
        b.step()
    for ours, theirs in zip(cuda.jac(1, np.zeros(3), ids=[1, 3]), cpu.jac(1, np.zeros(3), ids=[1, 3])):
        assert type(ours) is np.ndarray
        assert_close(ours, theirs, 1e-9)
    for ours, theirs in zip(cuda.ray([0, 0, 3], [0, 0, -1]), cpu.ray([0, 0, 3], [0, 0, -1])):
        assert_close(ours, theirs, 1e-9)


EGGS = """
<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 1"><freejoint/><geom name="a" type="ellipsoid" size=".1 .1 .2"/><site name="s"/></body>
<body pos="0 0 2"><freejoint/><geom name="b" type="ellipsoid" size=".1 .1 .2"/></body></worldbody>
<sensor><rangefinder site="s"/></sensor></mujoco>
"""


def test_range_finders_and_many_contacts_come_from_the_cpu():
    fields = ("sensordata", "ncon", "cfrc_ext", "xpos")
    cpu, cuda = both(EGGS, fields=fields)
    low = np.array(cpu.qpos)
    low[:, 2], low[:, 9] = np.linspace(0.05, 0.3, N), np.linspace(0.3, 0.9, N)
    push = np.zeros((N, 3, 6))
    push[4, 1] = 1e20
    for b in (cpu, cuda):
        b.qpos = low
        b.forward(stage=1)
    assert_same(cuda, cpu, fields, 1e-11)
    for ids in (None, [0, 3], np.arange(N) < 2):
        for b in (cpu, cuda):
            b.step(ids), b.forward([1])
        assert_same(cuda, cpu, fields, 1e-9)
    for b in (cpu, cuda):
        b.xfrc_applied = push
        b.step(nstep=2)
    assert cuda.warning[4, int(mujoco.mjtWarning.mjWARN_BADQACC), 1]
    assert_same(cuda, cpu, fields, 1e-9)
    found = [b.rollout(3, record=("sensordata",))["sensordata"] for b in (cpu, cuda)]
    assert_close(found[1], found[0], 1e-9)
    assert np.asarray(cuda.ncon).max() > 0 and np.ptp(np.asarray(cuda.sensordata)) > 0.01


def test_range_finders_see_sizes_that_differ():
    cpu, cuda = both(EGGS, fields=("sensordata", "ncon"))
    sizes = np.array(cpu.expand("geom_size")) * np.linspace(0.5, 1, N)[:, None, None]
    for b in (cpu, cuda):
        b.expand("geom_size")[...] = sizes
        b.forward(), b.step(nstep=2)
    assert_same(cuda, cpu, ("sensordata", "ncon"), 1e-11)
    assert np.ptp(np.asarray(cuda.sensordata)) > 0.01


def on_device(xml=PENDULUM, **options):
    return Batch(compiled(xml), N, device=CUDA, **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: on_device().rollout(2, ids=array(StandardArray, np.ones(N, "f4"), 1)), "^rollout: ids are on the device, expected numbers or a mask of the CPU"),
        (lambda: on_device().rollout(2, ids=[9]), "ids must be in"),
        (lambda: on_device().rollout(2, out={"qpos": np.zeros((N, 2, 2))}), "^out.'qpos'. must be a writable C-contiguous float32 array of shape"),
        (lambda: on_device().rollout(2, out={"qpos": on_device().rollout(3)["qpos"]}), r"^out.'qpos'. must be a DeviceArray \(7, 2, 2\) float32 on CUDA device 1, or NumPy's$"),
        (lambda: on_device().rollout(2, array(StandardArray, np.zeros((N, 2, 3), "f4"), 0)), "^rollout: control is on CUDA device 0, expected CUDA device 1 or the CPU$"),
        (lambda: on_device().rollout(2, array(StandardArray, np.zeros((N, 3, 3), "f4"), 1)), r"^rollout: control has shape \(7, 3, 3\), expected \(7, 2, 3\)$"),
        (lambda: on_device().rollout(2, np.zeros((4, 2, 3))), "broadcast"),
        (lambda: on_device().bind("nisland"), "islands"),
        (lambda: on_device().bind("qpso"), "did you mean 'qpos'"),
        (lambda: setattr(on_device(), "xpos", 0), "xpos is computed by every call"),
        (lambda: on_device().set_rows(np.zeros(3)), "rows have shape"),
        (lambda: on_device().step([9]), "ids must be in"),
        (lambda: on_device().step(nstep=0), "nstep must be positive"),
        (lambda: Batch(compiled(PENDULUM), N, device="cuda:7"), "CUDA device 7 does not exist"),
        (lambda: Batch(compiled(PENDULUM), N, device="tpu"), "Batch: device is 'tpu', expected 'cpu', 'cuda' or"),
    ],
)  # fmt: skip
@needs_fake_cuda
def test_what_is_for_the_cpu_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_stream_of_the_callers():
    m = compiled(PENDULUM)
    b = Batch(m, N, device="cuda", stream=STREAMS[1])
    b.set_rows(states(m))
    b.step()
    expected = Batch(m, N)
    expected.set_rows(states(m))
    expected.step()
    assert_close(b.qpos, expected.qpos, 1e-5)
    _featherstorm.synchronise(0, STREAMS[1])
