"""Batches, simulations, streams and graphs on CUDA devices."""

import numpy as np
import pytest

import fake_cuda
import featherstorm as fs
from fake_cuda import CUDA, STREAMS, OnlyDlpack, StandardArray, array, close, needs_device, needs_fake_cuda
from featherstorm import _featherstorm
from featherstorm.device import DeviceArray

B = 37
pytestmark = [needs_device, pytest.mark.usefixtures("no_work_left")]


@pytest.fixture
def state(go2):
    q, v = fs.random_state(go2, B, seed=1, dtype="float32")
    return q, v, np.sin(v)


def test_a_graph_does_the_steps_again(go2):
    stream, other = fs.device.Stream(CUDA), fs.device.Stream(CUDA)
    assert stream.device == int(CUDA[-1]) and stream.number != other.number
    alone = fs.Simulation(go2, B, 1e-3)
    q, v = fs.random_state(go2, B, seed=3, dtype="float32")
    sim = fs.Simulation(go2, B, 1e-3, device=CUDA, stream=stream.number)
    sim.step()  # the first of a robot takes memory on the device, which a capture must not
    for s in (alone, sim):
        s.reset(q=q, v=v)
    graph = stream.capture(lambda: [sim.step() for _ in range(4)])
    stream.synchronise()
    assert np.allclose(np.asarray(sim.q), q), "captured, not done"
    for _ in range(3):
        graph.launch()
    for _ in range(12):
        alone.step()
    assert close(sim.q, alone.q) and close(sim.v, alone.v)
    assert stream.elapsed(graph.launch) > 0


def test_streams_say_what_is_wrong(go2):
    with pytest.raises(ValueError, match="device is 'cpu', expected 'cuda'"):
        fs.device.Stream("cpu")
    with pytest.raises(ValueError, match="CUDA device 7 does not exist"):
        fs.device.Stream(7)
    stream = fs.device.Stream()
    with pytest.raises(ZeroDivisionError):
        stream.capture(lambda: 1 / 0)
    stream.capture(lambda: None).launch()  # the stream is not captured any more


def test_batch_on_a_device(go2, state):
    q, v, a = state
    batch = fs.Batch(go2, B, device=CUDA)
    assert batch.device == CUDA and isinstance(batch.q, DeviceArray) and batch.q.shape == (B, go2.nq)
    assert np.array_equal(batch.q, np.tile(go2.q0.astype("f4"), (B, 1)))
    batch.q, batch.v, batch.a = q, array(StandardArray, v, 1), a
    batch.run("rnea")
    assert close(batch.tau, fs.rnea(go2, q, v, a))
    assert close(fake_cuda.adopt(fake_cuda.Array, batch.tau), fs.rnea(go2, q, v, a)), "the same memory by DLPack"
    tau = fs.rnea(go2, batch.q, batch.v, batch.a)
    assert isinstance(tau, DeviceArray) and close(tau, batch.tau.numpy())
    batch.f_ext = np.ones(6, "f4")
    batch.v = 0.5
    assert (batch.f_ext.numpy() == 1).all() and (batch.v.numpy() == 0.5).all()
    batch.a = batch.v
    assert (batch.a.numpy() == 0.5).all()
    with pytest.raises(ValueError, match=r"^Batch: v has shape \(3, 18\), expected \(37, 18\)$"):
        batch.v = v[:3]
    with pytest.raises(ValueError, match=r"^Batch: v is on CUDA device 0, expected CUDA device 1 or the CPU$"):
        batch.v = array(StandardArray, v, 0)
    with pytest.raises(TypeError, match=r"^Batch: v is float64, expected float32$"):
        batch.v = array(StandardArray, v.astype("f8"), 1)
    with pytest.raises(TypeError, match="taken whole"):
        batch.v[0]
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(batch.v, copy=False)


@needs_fake_cuda
def test_device_names():
    model = fs.load("iiwa14")
    assert fs.Batch(model, 2, device="cuda").device == "cuda:0"
    for name in ("cuda:x", "gpu", 0):
        with pytest.raises(ValueError, match=f"Batch: device is {name!r}, expected 'cpu', 'cuda' or 'cuda:NUMBER'"):
            fs.Batch(model, 2, device=name)
    with pytest.raises(ValueError, match="Simulation: device is 'tpu'"):
        fs.Simulation(model, 2, 0.01, device="tpu")
    with pytest.raises(ValueError, match="Buffer: CUDA device 7 does not exist, expected 0 to 1"):
        fs.Simulation(model, 2, 0.01, device="cuda:7")


@pytest.mark.parametrize("stream", STREAMS[:2], ids=["default", "own"])
def test_batch_on_a_stream(go2, state, stream):
    batch = fs.Batch(go2, B, device="cuda", stream=stream)
    batch.q = state[0]
    batch.run("crba")
    assert close(batch.M, fs.crba(go2, state[0], packed=True)), "a copy waits for the batch's stream"
    batch.run("gravity")
    tau = fake_cuda.adopt(fake_cuda.Array, batch.tau)  # a consumer on the default stream
    _featherstorm.synchronise(0, 0)
    assert close(tau, fs.run(go2, "gravity", state[0])), "a consumer on another stream gets what is done"
    # so do other batches and operations
    batch.v, batch.a = state[1:]
    batch.run("rnea")
    other = fs.Batch(go2, B, device="cuda")
    other.q, other.v, other.tau = state[0], state[1], batch.tau
    other.run("aba")
    assert close(other.a, state[2])
    batch.run("rnea")
    found = fs.aba(go2, other.q, other.v, batch.tau)
    assert close(found, state[2])


def test_simulation_on_a_device(go2):
    cpu, cuda = (fs.Simulation(go2, 5, 0.002, substeps=2, device=device, kd=0.5) for device in ("cpu", "cuda"))
    tau = np.sin(np.arange(5 * go2.nv, dtype="f4")).reshape(5, go2.nv)
    for sim in (cpu, cuda):
        sim.v = 0.1 * tau
        given = tau if sim is cpu else array(StandardArray, tau)
        for _ in range(3):
            sim.step(given)
        sim.step(q_target=given, kp=20.0)
        sim.step()
    assert close(cuda.q, cpu.q) and close(cuda.v, cpu.v) and close(cuda.energy()[0], cpu.energy()[0])
    assert not cuda.status.any()
    mask = np.arange(5) == 2
    for sim in (cpu, cuda):
        sim.reset(mask)
    assert close(cuda.q, cpu.q) and np.array_equal(cuda.q.numpy()[2], go2.q0.astype("f4"))
    cuda.v = np.full((5, go2.nv), np.nan, "f4")
    assert (cuda.status == fs.Status.NON_FINITE).all()
    with pytest.raises(ValueError, match="^step: tau is on the CPU, expected CUDA device 0 as v is$"):
        cuda.step(tau)
    with pytest.raises(ValueError, match="^step: v is on the CPU, expected CUDA device 0 as tau is$"):
        cpu.step(array(StandardArray, tau))
    with pytest.raises(ValueError, match=r"^step: q_target has shape \(5, 19\), on a device expected \(5, 18\)"):
        cuda.step(q_target=array(StandardArray, np.zeros((5, 19), "f4")), kp=1.0)


def test_arrays_of_a_device_are_not_for_a_batch_on_the_cpu(go2, state):
    batch = fs.Batch(go2, B)
    with pytest.raises(ValueError, match=r"^Batch: v lies on .*\(2, 0\), expected the CPU: move it there$"):
        batch.v = OnlyDlpack(array(StandardArray, state[1]))


def test_parameters_of_the_cpu_are_sent_where_the_simulation_is(played_compiler):
    model = fs.load("cartpole", parameters=["armature"])
    model = model.bind(armature=np.random.default_rng(8).uniform(0.01, 0.3, size=(5, 2)))
    cpu, cuda = (fs.Simulation(model, 5, 0.002, device=device) for device in ("cpu", "cuda"))
    tau = np.sin(np.arange(10, dtype="f4")).reshape(5, 2)
    for sim in (cpu, cuda):
        for _ in range(3):
            sim.step(tau if sim is cpu else array(StandardArray, tau))
    assert close(cuda.q, cpu.q) and not close(cuda.q, np.tile(cpu.q[:1], (5, 1)))
