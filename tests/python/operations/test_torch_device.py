"""PyTorch's arrays on a GPU; other tests of devices imitate such arrays for the fake CUDA library (fake_cuda.py)."""

import numpy as np
import pytest
import torch

import featherstorm as fs
from fake_cuda import REAL_GPU

if not REAL_GPU or not torch.cuda.is_available():
    pytest.skip("needs FEATHERSTORM_TEST_DEVICE=real and a GPU that PyTorch sees", allow_module_level=True)
B = 1027
TOLERANCE = {"float32": 5e-3, "float64": 1e-8}


def error(found, expected):
    scale = np.abs(expected).max(axis=tuple(range(1, expected.ndim)), keepdims=True) + 1e-3
    return (np.abs(found - expected) / scale).max()


def close(found, expected, dtype):
    return error(found.cpu().numpy(), expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("robot", ["iiwa14", "go2", "atlas"])
def test_every_operation_as_on_the_cpu(robot, dtype):
    # on the CPU the algorithms that the kernels for any robot have, whose rounding is like theirs
    model, rng = fs.Model(fs.load(robot).robot, assemble=False), np.random.default_rng(5)
    q, v = fs.random_state(model, B, seed=1, dtype=dtype)
    known = {"q": q, "q_to": fs.random_state(model, B, seed=2, dtype=dtype)[0], "v": v}
    known["M"] = fs.crba(model, q, packed=True)
    known["L"] = fs.ltdl(model, known["M"])
    for name, x in (("remaining", 0.01), ("step", 0.002), ("error", 1.0)):
        known[name] = np.full((B, 1), x, dtype)
    for op, row in model.ops.items():
        if not row.on_device:
            continue
        arrays = [known.get(name, rng.uniform(-1, 1, (B, n)).astype(dtype)) for name, n in row.inputs]
        options = {name: 0.002 for name, _ in row.uniforms} | ({"frame": 3} if row.uses_frame else {})
        exact = fs.run(model, op, *(x.astype("float64") for x in arrays), **options)
        expected = fs.run(model, op, *arrays, **options)
        with torch.cuda.stream(torch.cuda.Stream()):
            results = fs.run(model, op, *(torch.from_numpy(x.copy()).cuda() for x in arrays), **options)
            torch.cuda.current_stream().synchronize()
        if len(row.outputs) == 1:
            results, expected, exact = [results], [expected], [exact]
        for (name, _), result, x, y in zip(row.outputs, results, expected, exact):
            assert result.is_cuda and result.stride()[0] == 1 and result.shape == x.shape
            # the CPU's own rounding shows how well the problem is conditioned
            assert error(result.cpu().numpy(), y) < TOLERANCE[dtype] + 4 * error(x, y), (op, name)


def test_functions_own_arrays_and_simulations():
    model = fs.load("go2")
    q, v = fs.random_state(model, B, seed=1, dtype="float32")
    dq, dv = torch.from_numpy(q).cuda(), torch.from_numpy(v).cuda()
    M, L = fs.crba(model, dq), fs.ltdl(model, fs.crba(model, dq, packed=True))
    assert close(M, fs.crba(model, q), "float32")
    b = torch.stack([dv, 2 * dv], 2)
    assert close(fs.solve(model, L, b), fs.solve(model, L.cpu(), b.cpu()).numpy(), "float32")
    assert close(fs.forward_kinematics(model, dq)[1], fs.forward_kinematics(model, q)[1], "float32")
    own, tau = [fs.zeros(x.shape, device="cuda") for x in (q, v)], fs.zeros(v.shape, device="cuda")
    own[0][:], own[1][:] = dq, v
    fs.run(model, "bias", *own, out=tau)
    assert torch.equal(torch.from_dlpack(tau), fs.bias(model, dq, dv))
    sims = [fs.Simulation(model, B, 0.002, device=device) for device in ("cpu", "cuda")]
    for sim, tau in zip(sims, (v, dv)):
        for _ in range(10):
            sim.step(tau)
    assert np.allclose(sims[1].q, sims[0].q, atol=1e-3) and not sims[1].status.any()
    with pytest.raises(ValueError, match="rnea: v is on the CPU, expected CUDA device 0 as q is"):
        fs.rnea(model, dq, dv.cpu(), dv)


def cost(x, u, t, p):
    return (x[0] - p[0]) ** 2 + 1e-2 * (x.v @ x.v) + 1e-3 * (u @ u) + t


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rollouts_graphs_and_planners(dtype):
    from featherstorm.planning import MPPI

    model, T = fs.load("panda"), 12
    q, v = fs.random_state(model, B, seed=1, dtype=dtype)
    x0, rng = np.c_[q, 0.1 * v], np.random.default_rng(2)
    U, p = (rng.normal(size=shape).astype(dtype) for shape in ((B, T, model.nv), (B, 1)))
    roll = fs.Rollout(model, 2e-3, cost, substeps=2)
    noise = fs.Noise(B, 0.1 * np.ones((T, model.nv)), 0.5, seed=9)
    cuda = [torch.from_numpy(x.copy()).cuda() for x in (x0, U, p)]
    for given, expected in ((cuda[1], roll(x0, U, p, states=True)), (noise, roll(x0, noise, p, states=True))):
        got = roll(cuda[0], given, cuda[2], states=True)
        assert got.costs.is_cuda and close(got.costs[:, None], np.asarray(expected.costs)[:, None], dtype)
        assert close(got.states, np.asarray(expected.states), dtype)
    # captured on the stream of a first call, launched again with other states
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        roll(cuda[0], noise, cuda[2])
    with torch.cuda.graph(graph, stream=stream):
        captured = roll(cuda[0], noise, cuda[2])
    cuda[0].copy_(torch.from_numpy(x0[::-1].copy()))
    graph.replay()
    torch.cuda.synchronize()
    expected = np.asarray(roll(np.ascontiguousarray(x0[::-1]), noise, p).costs)
    assert close(captured.costs[:, None], expected[:, None], dtype)
    planners = [MPPI(roll, T, model.nv, samples=512, temperature=0.1, dtype=dtype) for _ in range(2)]
    for k in range(2):
        u = planners[0].command(cuda[0][k], p=[0.3])
        expected = planners[1].command(cuda[0][k].cpu().numpy(), p=[0.3])
        assert u.is_cuda and np.allclose(u.cpu().numpy(), expected, atol=2e-2)
