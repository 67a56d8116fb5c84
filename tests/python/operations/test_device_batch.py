"""Arrays of the engine, simulations, streams and graphs on CUDA devices."""

import numpy as np
import pytest

import fake_cuda
import featherstorm as fs
from fake_cuda import CUDA, STREAMS, StandardArray, array, close, needs_device, needs_fake_cuda
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


def own(*shapes, device=CUDA, stream=0):
    return [fs.zeros(shape, device=device, stream=stream) for shape in shapes]


def test_arrays_of_the_engine_on_a_device(go2, state):
    q, v, a = state
    dq, dv, da, dtau = own(q.shape, v.shape, a.shape, a.shape)
    assert isinstance(dq, DeviceArray) and dq.shape == (B, go2.nq) and not dq.numpy().any()
    dq[:], dv[:], da[:] = q, array(StandardArray, v, 1), a
    assert fs.run(go2, "rnea", dq, dv, da, out=dtau) is dtau
    assert close(dtau, fs.rnea(go2, q, v, a))
    assert close(fake_cuda.adopt(fake_cuda.Array, dtau), fs.rnea(go2, q, v, a)), "the same memory by DLPack"
    tau = fs.rnea(go2, dq, dv, da)
    assert isinstance(tau, DeviceArray) and close(tau, dtau.numpy())
    (f_ext,) = own((B, go2.nb, 6))
    f_ext[:] = np.ones(6, "f4")
    dv[:] = 0.5
    assert (f_ext.numpy() == 1).all() and (dv.numpy() == 0.5).all()
    da[:] = dv
    assert (da.numpy() == 0.5).all()
    with pytest.raises(ValueError, match=r"has shape \(3, 18\), expected \(37, 18\)$"):
        dv[:] = v[:3]
    with pytest.raises(ValueError, match=r"is on CUDA device 0, expected CUDA device 1 or the CPU$"):
        dv[:] = array(StandardArray, v, 0)
    with pytest.raises(TypeError, match=r"is float64, expected float32$"):
        dv[:] = array(StandardArray, v.astype("f8"), 1)
    with pytest.raises(TypeError, match="taken whole"):
        dv[0]
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(dv, copy=False)


def test_messages_of_out_on_a_device(go2, state):
    q, v, a = (array(StandardArray, x, 1) for x in state)
    wrong, there = fs.zeros((3, 18), device="cuda:1"), fs.zeros((B, 18), device="cuda:0")
    for out, message in (
        (np.zeros((B, 18), "f4"), "rnea: out tau is a ndarray on the CPU, expected an array on CUDA device 1, made by"),
        (there, "rnea: out tau is a DeviceArray on CUDA device 0, expected an array on CUDA device 1, made by"),
        (a, "rnea: out tau is a StandardArray on CUDA device 1, expected .* made by featherstorm.zeros"),
        (wrong, r"rnea: out tau is float32 of shape \(3, 18\), expected float32 of shape \(37, 18\)"),
    ):
        with pytest.raises(ValueError, match=message):
            fs.run(go2, "rnea", q, v, a, out=out)
    with pytest.raises(
        ValueError, match="rnea: out tau is a DeviceArray on CUDA device 0, expected an array on the CPU"
    ):
        fs.run(go2, "rnea", *state, out=there)


@needs_fake_cuda
def test_device_names():
    model = fs.load("iiwa14")
    assert fs.Simulation(model, 2, 0.01, device="cuda").device == "cuda:0"
    for name in ("cuda:x", "gpu", 0):
        with pytest.raises(ValueError, match=f"zeros: device is {name!r}, expected 'cpu', 'cuda' or 'cuda:NUMBER'"):
            fs.zeros((2, 7), device=name)
    with pytest.raises(ValueError, match="Simulation: device is 'tpu'"):
        fs.Simulation(model, 2, 0.01, device="tpu")
    with pytest.raises(ValueError, match="Buffer: CUDA device 7 does not exist, expected 0 to 1"):
        fs.Simulation(model, 2, 0.01, device="cuda:7")


@pytest.mark.parametrize("stream", STREAMS[:2], ids=["default", "own"])
def test_arrays_of_the_engine_on_a_stream(go2, state, stream):
    q, v, a, tau = own(*(x.shape for x in state), state[1].shape, device="cuda", stream=stream)
    M = fs.zeros((B, go2.nh), device="cuda", stream=stream)
    q[:] = state[0]
    fs.run(go2, "crba", q, out=M)
    assert close(M, fs.crba(go2, state[0], packed=True)), "a copy waits for the array's stream"
    fs.run(go2, "gravity", q, out=tau)
    seen = fake_cuda.adopt(fake_cuda.Array, tau)  # a consumer on the default stream
    _featherstorm.synchronise(0, 0)
    assert close(seen, fs.run(go2, "gravity", state[0])), "a consumer on another stream gets what is done"
    # so do other arrays and operations
    v[:], a[:] = state[1:]
    fs.run(go2, "rnea", q, v, a, out=tau)
    other = own(*(x.shape for x in state), device="cuda")
    other[0][:], other[1][:], other[2][:] = state[0], state[1], tau
    assert close(fs.aba(go2, *other), state[2])
    fs.run(go2, "rnea", q, v, a, out=tau)
    assert close(fs.aba(go2, other[0], other[1], tau), state[2])


def test_a_graph_has_operations_with_out(go2, state):
    stream = fs.device.Stream(CUDA)
    q, v, a, tau = own(*(x.shape for x in state), state[1].shape, stream=stream.number)
    work = lambda: fs.run(go2, "rnea", q, v, a, out=tau)  # noqa: E731
    work()
    graph = stream.capture(work)
    q[:], v[:], a[:] = state
    graph.launch()
    assert close(tau, fs.rnea(go2, *state))


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


def test_parameters_of_the_cpu_are_sent_where_the_simulation_is(played_compiler):
    model = fs.load("cartpole", parameters=["armature"])
    model = model.bind(armature=np.random.default_rng(8).uniform(0.01, 0.3, size=(5, 2)))
    cpu, cuda = (fs.Simulation(model, 5, 0.002, device=device) for device in ("cpu", "cuda"))
    tau = np.sin(np.arange(10, dtype="f4")).reshape(5, 2)
    for sim in (cpu, cuda):
        for _ in range(3):
            sim.step(tau if sim is cpu else array(StandardArray, tau))
    assert close(cuda.q, cpu.q) and not close(cuda.q, np.tile(cpu.q[:1], (5, 1)))
