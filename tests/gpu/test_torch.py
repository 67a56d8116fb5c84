"""The package on a real GPU with PyTorch: `tests/gpu/run --python PYTHON`. Needs featherstorm with its CUDA library."""

import numpy as np
import pytest

import featherstorm as fs

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("PyTorch sees no GPU", allow_module_level=True)
B = 1027
TOLERANCE = {"float32": 5e-3, "float64": 1e-8}


def close(found, expected, dtype):
    scale = np.abs(expected).max(axis=tuple(range(1, expected.ndim)), keepdims=True) + 1e-3
    return (np.abs(found.cpu().numpy() - expected) / scale).max() < TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("robot", ["iiwa14", "go2", "atlas"])
def test_every_operation_as_on_the_cpu(robot, dtype):
    model, rng = fs.load(robot), np.random.default_rng(5)
    q, v = fs.random_state(model, B, seed=1, dtype=dtype)
    known = {"q": q, "q_to": fs.random_state(model, B, seed=2, dtype=dtype)[0], "v": v}
    known["M"] = fs.crba(model, q, packed=True)
    known["L"] = fs.ltdl(model, known["M"])
    for op, row in model.ops.items():
        arrays = [known.get(name, rng.uniform(-1, 1, (B, n)).astype(dtype)) for name, n in row.inputs]
        options = {name: 0.002 for name, _ in row.uniforms} | ({"frame": 3} if row.uses_frame else {})
        expected = fs.run(model, op, *arrays, **options)
        with torch.cuda.stream(torch.cuda.Stream()):
            results = fs.run(model, op, *(torch.from_numpy(x.copy()).cuda() for x in arrays), **options)
            torch.cuda.current_stream().synchronize()
        if len(row.outputs) == 1:
            results, expected = [results], [expected]
        for result, x in zip(results, expected):
            assert result.is_cuda and result.stride()[0] == 1 and result.shape == x.shape
            assert close(result, x, dtype), op


def test_functions_batches_and_simulations():
    model = fs.load("go2")
    q, v = fs.random_state(model, B, seed=1, dtype="float32")
    dq, dv = torch.from_numpy(q).cuda(), torch.from_numpy(v).cuda()
    M, L = fs.crba(model, dq), fs.ltdl(model, fs.crba(model, dq, packed=True))
    assert close(M, fs.crba(model, q), "float32")
    b = torch.stack([dv, 2 * dv], 2)
    assert close(fs.solve(model, L, b), fs.solve(model, L.cpu(), b.cpu()).numpy(), "float32")
    assert close(fs.forward_kinematics(model, dq)[1], fs.forward_kinematics(model, q)[1], "float32")
    batch = fs.Batch(model, B, device="cuda")
    batch.q, batch.v = dq, v
    batch.run("bias")
    assert torch.equal(torch.from_dlpack(batch.tau), fs.bias(model, dq, dv))
    sims = [fs.Simulation(model, B, 0.002, device=device) for device in ("cpu", "cuda")]
    for sim, tau in zip(sims, (v, dv)):
        for _ in range(10):
            sim.step(tau)
    assert np.allclose(sims[1].q, sims[0].q, atol=1e-3) and not sims[1].status.any()
    with pytest.raises(ValueError, match="rnea: v is on the CPU, expected CUDA device 0 as q is"):
        fs.rnea(model, dq, dv.cpu(), dv)
