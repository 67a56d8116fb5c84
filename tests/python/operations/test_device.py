"""CUDA devices from Python, through the stand-in of the CUDA library: arrays by DLPack, Batch, Simulation, errors.

The stand-in does the work of a stream only when somebody waits for it, so results that are there too early or too late
show. tests/gpu/run runs the same with PyTorch where there is a GPU.
"""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

import fake_cuda
import featherstorm as fs
from fake_cuda import CupyArray, OnlyDlpack, StandardArray, Tensor, array
from featherstorm import _featherstorm
from featherstorm.device import DeviceArray
from featherstorm.memory.device_libraries import Jax

B = 37
found, missing = _featherstorm.cuda_devices()
pytestmark = pytest.mark.skipif(
    not found or not found[0][0].startswith("stand-in"), reason=f"needs the stand-in of the C++ tests: {missing}"
)


STREAMS = (0, 0x77, 0x1230)


@pytest.fixture(autouse=True)
def finish():
    """No test leaves work behind."""
    yield
    for device in (0, 1):
        for stream in STREAMS:
            _featherstorm.synchronise(device, stream)
    fake_cuda.Array.kept.clear()


@pytest.fixture
def torch(monkeypatch):
    module = fake_cuda.torch_like()
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


@pytest.fixture
def cupy(monkeypatch):
    module = fake_cuda.cupy_like()
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


@pytest.fixture
def state(go2):
    q, v = fs.random_state(go2, B, seed=1, dtype="float32")
    return q, v, np.sin(v)


def stand_in():
    return ctypes.CDLL(os.path.join(os.environ["FEATHERSTORM_BACKENDS"], "libfeatherstorm_cuda.so"))


def close(x, expected):
    return np.allclose(np.asarray(x), expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def test_a_graph_does_the_steps_again(go2):
    stream, other = fs.device.Stream("cuda:1"), fs.device.Stream(1)
    assert stream.device == 1 and stream.number != other.number
    alone = fs.Simulation(go2, B, 1e-3)
    q, v = fs.random_state(go2, B, seed=3, dtype="float32")
    sim = fs.Simulation(go2, B, 1e-3, device="cuda:1", stream=stream.number)
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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", [StandardArray, Tensor, CupyArray])
def test_every_operation_as_on_the_cpu(go2, kind, dtype, torch, cupy):
    rng = np.random.default_rng(5)
    q, v = fs.random_state(go2, B, seed=1, dtype=dtype)
    known = {"q": q, "q_to": fs.random_state(go2, B, seed=2, dtype=dtype)[0], "v": v}
    known["M"] = fs.crba(go2, q, packed=True)
    known["L"] = fs.ltdl(go2, known["M"])
    for name, x in (("remaining", 0.01), ("step", 0.002), ("error", 1.0)):
        known[name] = np.full((B, 1), x, dtype)
    for op, row in go2.ops.items():
        if not row.on_device:
            continue
        arrays = [known.get(name, rng.uniform(-1, 1, (B, n)).astype(dtype)) for name, n in row.inputs]
        options = {name: 0.01 for name, _ in row.uniforms} | ({"frame": 3} if row.uses_frame else {})
        expected = fs.run(go2, op, *arrays, **options)
        results = fs.run(go2, op, *(array(kind, x, 1) for x in arrays), **options)
        _featherstorm.synchronise(1)
        if len(row.outputs) == 1:
            results, expected = [results], [expected]
        for result, x in zip(results, expected):
            assert type(result) is kind and result.number == 1 and result.dtype == dtype
            assert result.shape == x.shape and result.strides[0] == result.itemsize
            assert close(result, x), op


def test_rows_without_a_kernel_say_so_until_they_are_specialised(torch):
    model = fs.load("double_pendulum")
    rows = {name: row for name, row in model.ops.items() if not row.on_device}
    assert {"fd_second_derivatives", "rnea_timed"} <= set(rows) and len(rows) < len(model.ops) / 5
    for op, row in rows.items():
        arrays = [array(Tensor, np.zeros((2, n), "f4")) for _, n in row.inputs]
        options = {name: 0.01 for name, _ in row.uniforms} | ({"frame": 0} if row.uses_frame else {})
        with pytest.raises(ValueError, match=f"^{op}: CUDA device 0: {op} has no CUDA kernel: run it on the CPU$"):
            fs.run(model, op, *arrays, **options)
    assert model.row("fd_second_derivatives_vjp").on_device, "derivatives have kernels made for the robot"


@pytest.mark.parametrize("kind", [StandardArray, Tensor, CupyArray])
def test_functions_that_shape_their_results(go2, state, kind, torch, cupy):
    q, v, a = state
    dq, dv, da = (array(kind, x) for x in state)

    def wait():
        _featherstorm.synchronise(0)

    if kind is StandardArray:  # its results are there; of the others the shaping itself would need a real library
        assert close(fs.crba(go2, dq), fs.crba(go2, q))
        b = np.stack([v, a], 2)
        L = fs.ltdl(go2, fs.crba(go2, q, packed=True))
        assert close(fs.solve(go2, array(kind, L), array(kind, b)), fs.solve(go2, L, b))
    position, _ = fs.forward_kinematics(go2, dq)
    energy = fs.energy(go2, dq, dv)
    f_ext = np.ones((B, go2.nb, 6), "float32")
    tau = fs.rnea(go2, dq, dv, da, array(kind, f_ext))
    wait()
    assert close(position, fs.forward_kinematics(go2, q)[0]) and close(energy[1], fs.energy(go2, q, v)[1])
    if kind is not StandardArray:
        position, _ = fs.forward_kinematics(go2, dq, "FL_foot")
        wait()
        assert close(position, fs.forward_kinematics(go2, q, "FL_foot")[0])
    assert close(tau, fs.rnea(go2, q, v, a, f_ext))


def test_rows_and_lists_stand_for_all_instances(go2, state, torch):
    q, v, _ = state
    expected = fs.rnea(go2, q[0], v, [1.0] * go2.nv)
    one = fs.rnea(go2, array(Tensor, q[0]), array(Tensor, v), [1.0] * go2.nv)
    row = fs.rnea(go2, array(Tensor, q[:1]), array(Tensor, v), [1.0] * go2.nv)
    alone = fs.rnea(go2, *(array(Tensor, x[0]) for x in state))
    after = fs.step(go2, array(Tensor, q), array(Tensor, v), 0.001, substeps=3)
    torch.cuda.synchronize()
    assert close(one, expected) and close(row, expected)
    assert alone.shape == (go2.nv,) and close(alone, fs.rnea(go2, *(x[0] for x in state)))
    for x, y in zip(after, fs.step(go2, q, v, 0.001, substeps=3)):
        assert close(x, y)
    empty = fs.rnea(go2, *(array(Tensor, x[:0]) for x in state))
    assert empty.shape == (0, go2.nv)


@pytest.mark.parametrize("change", [np.asfortranarray, lambda x: np.flip(np.flip(x).copy()), np.ascontiguousarray])
def test_any_strides(go2, state, change, torch):
    tau = fs.rnea(go2, *(array(Tensor, x)[:].copy() if change is None else change(x).view(Tensor) for x in state))
    torch.cuda.synchronize()
    assert close(tau, fs.rnea(go2, *state))


def test_torch_gets_its_own_memory_on_its_current_stream_and_nobody_waits(go2, state, torch):
    arrays = [array(Tensor, x) for x in state]
    torch.cuda.number = STREAMS[2]
    fake_cuda.Array.asked.clear()
    tau = fs.rnea(go2, *arrays)
    assert set(fake_cuda.Array.asked) == {-1}, "torch orders its own stream"
    assert np.isnan(tau).all(), "the work waits in torch's stream"
    torch.cuda.number = 0
    torch.cuda.synchronize()
    assert np.isnan(tau).all()
    torch.cuda.number = STREAMS[2]
    torch.cuda.synchronize()
    assert close(tau, fs.rnea(go2, *state))


def test_other_libraries_are_told_the_stream_and_waited_for(go2, state):
    fake_cuda.Array.asked.clear()
    tau = fs.rnea(go2, *(array(StandardArray, x) for x in state))
    assert set(fake_cuda.Array.asked) == {1}
    assert close(tau, fs.rnea(go2, *state))


def test_jax_gets_copies_row_by_row(go2, state, monkeypatch):
    jax = pytest.importorskip("jax")
    monkeypatch.setattr(StandardArray, "__module__", "jaxlib.fake")

    def take(self, x):
        assert x.shape[1] % 16 == 0
        _featherstorm.synchronise(x.device, x.stream)
        return jax.numpy.asarray(np.array(fake_cuda.adopt(fake_cuda.Array, x)))

    monkeypatch.setattr(Jax, "take", take)
    M = fs.crba(go2, array(StandardArray, state[0]), packed=True)
    assert isinstance(M, jax.Array) and close(M, fs.crba(go2, state[0], packed=True))
    J = fs.jacobian(go2, array(StandardArray, state[0]), 2)
    assert J.shape == (B, 6, go2.nv) and close(J, fs.jacobian(go2, state[0], 2))


MESSAGES = [
    (lambda f, q, v, a: f(q, np.array(v), a), ValueError, r"^rnea: v is on the CPU, expected CUDA device 0 as q is$"),
    (lambda f, q, v, a: f(np.array(q), v, a), ValueError, r"^rnea: q is on the CPU, expected CUDA device 0 as v is$"),
    (
        lambda f, q, v, a: f(q, v, array(Tensor, a, 1)),
        ValueError,
        r"^rnea: a is on CUDA device 1, expected CUDA device 0 as q is$",
    ),
    (
        lambda f, q, v, a: f(*(array(Tensor, x, 2) for x in (q, v, a))),
        ValueError,
        r"CUDA device 2 does not exist, expected 0 to 1$",
    ),
    (lambda f, q, v, a: f(q, v, a.astype("f8")), TypeError, r"^rnea: a is float64, expected float32 as q is$"),
    (lambda f, q, v, a: f(q, v, a.astype(int)), TypeError, r"^rnea: a is int64, expected float32 or float64$"),
    (lambda f, q, v, a: f(q, v, a[:, :7]), ValueError, r"^rnea: a has shape \(37, 7\), expected \(37, 18\)$"),
    (lambda f, q, v, a: f(q, v[:3], a), ValueError, r"^rnea: v has shape \(3, 18\), expected \(37, 18\)$"),
    (lambda f, q, v, a: f(q, v, [1.0]), ValueError, r"^rnea: a has shape \(1,\), expected \(18,\)$"),
    (lambda f, q, v, a: f(q, v, "a"), TypeError, r"^rnea: a is a str"),
    (
        lambda f, q, v, a: f(OnlyDlpack(q), v, a),
        TypeError,
        r"^rnea: q is of type OnlyDlpack on CUDA device 0, expected an array of torch, cupy, jax",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), MESSAGES, ids=[message for *_, message in MESSAGES])
def test_messages(go2, state, call, error, message, torch):
    with pytest.raises(error, match=message):
        call(lambda *arrays: fs.rnea(go2, *arrays), *(array(Tensor, x) for x in state))


def test_gradients_are_refused(go2, state, torch):
    arrays = [array(Tensor, x) for x in state]
    arrays[1].requires_grad = True
    with pytest.raises(TypeError, match=r"^rnea: v requires a gradient"):
        fs.rnea(go2, *arrays)


def test_errors_of_cuda_are_raised_with_its_words(go2, state, torch):
    arrays = [array(Tensor, np.asfortranarray(x)) for x in state]
    fs.rnea(go2, *arrays)
    stand_in().stand_in_fail(b"launch", 701)
    with pytest.raises(ValueError, match="rnea: CUDA device 0: cudaErrorLaunchOutOfResources: too many resources"):
        fs.rnea(go2, *arrays)
    stand_in().stand_in_fail(b"kernel", 700)
    fs.rnea(go2, *arrays)
    with pytest.raises(ValueError, match="synchronise: CUDA device 0: cudaErrorIllegalAddress"):
        torch.cuda.synchronize()
    stand_in().stand_in_fail(b"cudaMallocFromPoolAsync", 2)
    with pytest.raises(ValueError, match="Buffer: CUDA device 1: cudaErrorMemoryAllocation: out of memory"):
        fs.Batch(go2, 1000, device="cuda:1").q


def test_robots_without_kernels_are_refused(torch):
    builder = fs.RobotBuilder("chain")
    for k in range(70):
        builder.add_link(f"l{k}", 1.0, [0, 0, 0.1], (0.01 * np.eye(3)).tolist())
        builder.add_joint(f"j{k}", "revolute", f"l{k - 1}" if k else "", f"l{k}", position=[0, 0, 0.2])
    model = fs.Model(builder.build())
    with pytest.raises(ValueError, match="crba: CUDA device 0: the model has 70 degrees .* run it on the CPU$"):
        fs.crba(model, array(Tensor, np.zeros((2, 70))), packed=True)


def test_batch_on_a_device(go2, state):
    q, v, a = state
    batch = fs.Batch(go2, B, device="cuda:1")
    assert batch.device == "cuda:1" and isinstance(batch.q, DeviceArray) and batch.q.shape == (B, go2.nq)
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


@pytest.mark.parametrize("stream", STREAMS[:2])
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


def test_a_library_that_cannot_be_loaded_is_an_error_and_no_crash(tmp_path):
    (tmp_path / "libfeatherstorm_cuda.so").write_text("no library")
    code = """
import featherstorm as fs
for _ in range(2):
    try:
        fs.Batch(fs.load("iiwa14"), 2, device="cuda").q
    except ValueError as error:
        print(error)
print(fs.rnea(fs.load("iiwa14"), [0.0] * 7, [0.0] * 7, [0.0] * 7).shape)
"""
    environment = {**os.environ, "FEATHERSTORM_BACKENDS": str(tmp_path)}
    lines = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert lines[0] == lines[1] and lines[0].startswith("Buffer: CUDA device 0 cannot be used: ")
    assert "libfeatherstorm_cuda.so" in lines[0] and lines[2] == "(7,)"
