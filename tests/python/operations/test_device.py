"""CUDA devices from Python, through the fake CUDA library: arrays by DLPack, errors.

The fake CUDA library does the work of a stream only when somebody waits for it, so results that are there too early or too late
show. test_torch_device.py runs the same with PyTorch where there is a GPU.
"""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

import fake_cuda
import featherstorm as fs
from fake_cuda import STREAMS, CupyArray, OnlyDlpack, StandardArray, Tensor, array, close, needs_fake_cuda
from featherstorm import _featherstorm
from featherstorm._memory.device_libraries import Jax

B = 37
pytestmark = [needs_fake_cuda, pytest.mark.usefixtures("no_work_left")]


@pytest.fixture
def state(go2):
    q, v = fs.random_state(go2, B, seed=1, dtype="float32")
    return q, v, np.sin(v)


def cuda_library():
    return ctypes.CDLL(os.path.join(os.environ["FEATHERSTORM_BACKENDS"], "libfeatherstorm_cuda.so"))


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
    cuda_library().fake_cuda_fail(b"launch", 701)
    with pytest.raises(ValueError, match="rnea: CUDA device 0: cudaErrorLaunchOutOfResources: too many resources"):
        fs.rnea(go2, *arrays)
    cuda_library().fake_cuda_fail(b"kernel", 700)
    fs.rnea(go2, *arrays)
    with pytest.raises(ValueError, match="synchronise: CUDA device 0: cudaErrorIllegalAddress"):
        torch.cuda.synchronize()
    cuda_library().fake_cuda_fail(b"cudaMallocFromPoolAsync", 2)
    with pytest.raises(ValueError, match="Buffer: CUDA device 1: cudaErrorMemoryAllocation: out of memory"):
        fs.zeros((1000, 19), device="cuda:1")


def test_robots_without_kernels_are_refused(torch):
    builder = fs.RobotBuilder("chain")
    for k in range(70):
        builder.add_link(f"l{k}", 1.0, [0, 0, 0.1], (0.01 * np.eye(3)).tolist())
        builder.add_joint(f"j{k}", "revolute", f"l{k - 1}" if k else "", f"l{k}", position=[0, 0, 0.2])
    model = fs.Model(builder.build())
    with pytest.raises(ValueError, match="crba: CUDA device 0: the model has 70 degrees .* run it on the CPU$"):
        fs.crba(model, array(Tensor, np.zeros((2, 70))), packed=True)


def test_a_library_that_cannot_be_loaded_is_an_error_and_no_crash(tmp_path):
    (tmp_path / "libfeatherstorm_cuda.so").write_text("no library")
    code = """
import featherstorm as fs
for _ in range(2):
    try:
        fs.zeros((2, 7), device="cuda")
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
