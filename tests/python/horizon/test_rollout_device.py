"""Rollouts and planners whose arrays lie on a CUDA device, against the CPU."""

import numpy as np
import pytest

import fake_cuda
import featherstorm as fs
from carrying import closed, feet, parallelogram, stance
from fake_cuda import StandardArray, Tensor, array, needs_device
from featherstorm import _featherstorm
from featherstorm.device import DeviceArray
from featherstorm.planning import CEM, MPPI, PredictiveSampling

B, T, DT = 33, 5, 4e-3
pytestmark = [needs_device, pytest.mark.usefixtures("played_compiler")]


def cost(x, u, t, p):
    return (x[0] - p[0]) ** 2 + 0.1 * np.sum(x.v**2) + 0.01 * (u @ u) + t


def problem(dtype="float64", nu=2):
    rng = np.random.default_rng(3)
    x0 = rng.normal(size=(B, 4)).astype(dtype)
    return x0, rng.normal(size=(B, T, nu)).astype(dtype), rng.normal(size=(B, 1)).astype(dtype)


def close(x, expected, dtype="float64"):
    expected = np.asarray(expected)
    scale = 1e-3 + np.abs(expected[np.isfinite(expected)]).max(initial=0)
    tolerance = scale * (1e-10 if dtype == "float64" else 2e-4)
    return np.allclose(np.asarray(x), expected, rtol=0, atol=tolerance, equal_nan=True)


def test_numbers_of_a_cost_may_change_from_step_to_step(torch):
    x0, U, _ = problem()
    p = np.random.default_rng(5).normal(size=(B, T, 1))
    roll = fs.Rollout(fs.load("cartpole"), DT, cost, terminal=lambda x, t, p: p[0])
    there = [array(Tensor, a, 1) for a in (x0, U, p)]
    for of_device, of_host in ((there[2], p), (p[:1], p[:1])):
        got = roll(*there[:2], p=of_device).costs
        _featherstorm.synchronise(1)
        assert close(got, roll(x0, U, p=of_host).costs)
    with pytest.raises(ValueError, match="p is on the CPU, expected CUDA device 1"):
        roll(*there[:2], p=p)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", [StandardArray, Tensor])
def test_all_results_are_those_of_the_cpu_and_on_the_device(kind, dtype, torch):
    x0, U, p = problem(dtype)
    options = {
        "substeps": 2,
        "terminal": lambda x, t, p: 10 * x[1] ** 2 + p[0],
        "control": lambda x, u, t, p: u - 0.3 * x.v + np.sin(t),
        "observe": lambda x, u, t, p: [x[0] * u[0], x[1] + p[0], t],
    }
    roll = fs.Rollout(fs.load("cartpole"), DT, cost, **options)
    x0[4, 3] = np.nan
    expected = roll(x0, U, p, 0.5, states=True, controls=True)
    got = roll(*(array(kind, a, 1) for a in (x0, U, p)), 0.5, states=True, controls=True)
    _featherstorm.synchronise(1)
    for name, x, y in zip(got._fields, got, expected):
        assert type(x) is kind and x.number == 1 and x.dtype == dtype and x.shape == y.shape, name
        assert close(x, y, dtype), name
    assert got.costs[4] == np.inf and np.isfinite(np.delete(got.costs, 4)).all()
    # numbers of the CPU for all instances, one state and one sequence for all
    one = roll(array(kind, x0[0]), array(kind, U), [0.25])
    row = roll(array(kind, x0), array(kind, U[:1]), array(kind, p[0]))
    _featherstorm.synchronise(0)
    assert close(one.costs, roll(x0[0], U, [0.25]).costs, dtype) and one.states is None
    assert close(row.costs, roll(x0, U[:1], p[0]).costs, dtype)


def test_arrays_of_the_engine_and_of_any_strides(torch):
    x0, U, p = problem("float32")
    model = fs.load("cartpole")
    roll = fs.Rollout(model, DT, cost)
    expected = roll(x0, U, p, states=True)
    got = roll(*(array(Tensor, np.asfortranarray(a)) for a in (x0, U, p)), states=True)
    torch.cuda.synchronize()
    assert close(got.costs, expected.costs, "float32") and close(got.states, expected.states, "float32")
    buffer = _featherstorm.Buffer("float32", B, 4, 0)
    _featherstorm.copy(x0, buffer)
    mine = DeviceArray(buffer, [4], B, "float32", 0, 0)
    noise = fs.Noise(B, np.zeros((T, 2)), 0.5, seed=3)
    got = roll(mine, noise, [0.5], controls=True)
    assert isinstance(got.costs, DeviceArray) and got.costs.shape == (B,) and got.controls.shape == (B, T, 2)
    expected = roll(x0, noise, [0.5], controls=True)
    assert close(got.costs, expected.costs, "float32") and close(got.controls, expected.controls, "float32")
    assert close(got.final, expected.final, "float32")


@pytest.mark.parametrize("interpolation", ["linear", "cubic", "hold"])
def test_noise_and_knots_are_those_of_the_cpu(interpolation, torch):
    x0, U, p = problem()
    roll = fs.Rollout(fs.load("cartpole"), DT, cost)
    options = {"seed": 2**63 + 5, "draw": 9, "knots": 3, "upper": 1.2, "keep_mean": True}
    noise = fs.Noise(B, np.ones((T, 2)), [0.1, 0.4], interpolation=interpolation, **options)
    got, expected = roll(array(Tensor, x0), noise, p[0], controls=True), roll(x0, noise, p[0], controls=True)
    torch.cuda.synchronize()
    assert close(got.controls, expected.controls) and close(got.costs, expected.costs)
    assert np.array_equal(got.controls[0], np.ones((T, 2)))
    given = {"horizon": 2 * T, "interpolation": interpolation}
    got = roll(array(Tensor, x0), array(Tensor, U), array(Tensor, p), controls=True, **given)
    torch.cuda.synchronize()
    expected = roll(x0, U, p, controls=True, **given)
    assert got.controls.shape == (B, 2 * T, 2) and close(got.controls, expected.controls)
    assert close(got.costs, expected.costs)


def test_parameters_of_the_model(torch):
    x0, U, p = problem()
    armature = np.random.default_rng(8).uniform(0.01, 0.3, size=(B, 2))
    model = fs.load("cartpole", parameters=["armature"]).bind(armature=armature)
    roll = fs.Rollout(model, DT, cost)
    expected = roll(x0, U, p)
    assert not close(expected.costs, fs.Rollout(fs.load("cartpole"), DT, cost)(x0, U, p).costs)
    for _ in range(2):
        got = roll(*(array(Tensor, a) for a in (x0, U, p)))
        torch.cuda.synchronize()
        assert close(got.costs, expected.costs)


@pytest.mark.parametrize("carried", ["contacts", "loops", "couplings"])
def test_what_a_model_carries_is_followed_there_too(carried, torch):
    if carried == "contacts":
        model = fs.load("go2", contacts=feet())
        q, v = stance(model, 5)
        U = q[:, None, 7:] + 0.1 * np.random.default_rng(1).normal(size=(5, T, 12))
        drive = {"control": lambda x, u, t, p: (np.zeros(18), np.concatenate([np.zeros(6), u])), "kp": 60.0, "kd": 3.0}
    else:
        model, drive = parallelogram() if carried == "loops" else fs.load("panda", mimic="couple"), {}
        q, v = fs.random_state(model, 5)
        if carried == "loops":
            q, v = closed(np.linspace(0.5, 1.5, 5)), closed(np.linspace(-1, 1, 5))
        U = np.random.default_rng(1).normal(size=(5, T, model.nv))
    roll = fs.Rollout(model, 0.01, cost, substeps=2, **drive)
    arrays = np.c_[q, v], U, np.zeros((5, 1))
    got, expected = roll(*(array(Tensor, x) for x in arrays), states=True), roll(*arrays, states=True)
    torch.cuda.synchronize()
    assert close(got.states, expected.states) and close(got.costs, expected.costs)
    free = fs.Rollout(model, 0.01, cost, substeps=2, ignore=carried, **drive)(*arrays)
    assert not close(free.costs, expected.costs)


def test_nobody_waits_for_a_library_with_streams(torch):
    x0, U, p = (array(Tensor, a) for a in problem())
    roll = fs.Rollout(fs.load("cartpole"), DT, cost)
    torch.cuda.number = 0x77
    got = roll(x0, U, p)
    assert np.isnan(got.costs).all(), "the work waits in torch's stream"
    torch.cuda.synchronize()
    assert np.isfinite(got.costs).all()
    torch.cuda.number = 0


@pytest.mark.parametrize("kind", [Tensor, DeviceArray])
@pytest.mark.parametrize(
    ("planner", "options"),
    [
        (MPPI, {"temperature": 0.3, "iterations": 2}),
        (MPPI, {"temperature": 0.3, "iterations": 2, "knots": 4}),
        (PredictiveSampling, {}),
        (CEM, {"elites": 20, "sigma_min": 0.1}),
    ],
)
def test_plans_of_several_robots_on_the_device_are_those_on_the_cpu(planner, options, kind, torch):
    roll = fs.Rollout(fs.load("cartpole"), 0.02, cost)
    options = {"samples": 65, "seed": 4, "sigma": 1.5, "lower": -3, "upper": 3, "robots": 3, **options}

    def there(values):
        if kind is Tensor:
            return array(Tensor, values)
        result = fs.zeros(values.shape, "f4", device=fake_cuda.CUDA)
        result[:] = values
        return result

    cpu, cuda = (planner(roll, 12, 2, **options) for _ in range(2))
    rng = np.random.default_rng(2)
    for k in range(3):
        x, p = rng.normal(size=(3, 4)).astype("f4"), rng.normal(size=(3, 1)).astype("f4")
        for many in (p, p[0]):  # of each robot, or of all
            u = cuda.command(there(x), 0.1 * k, p=there(many) if many.ndim == 2 else many)
            expected = cpu.command(x, 0.1 * k, p=many)
            torch.cuda.synchronize()
            assert type(u) is kind and u.shape == (3, 2)
            assert np.allclose(np.asarray(u), expected, atol=2e-3) and np.allclose(cuda.U, cpu.U, atol=2e-3)
            assert np.allclose(cuda.cost, cpu.cost, rtol=1e-3, atol=1e-3)
    lost = rng.normal(size=(3, 4)).astype("f4")
    lost[1] = np.nan
    cuda.command(there(lost), 0.3, p=[0.1])
    assert cuda.failed.tolist() == [False, True, False]
    with pytest.raises(ValueError, match=rf"{planner.__name__}: x has shape \(4,\), expected \(3, nx\)"):
        cuda.command(there(lost[0]), p=[0.1])
    with pytest.raises(ValueError, match="no sample has a finite cost"):
        cuda.command(there(np.full((3, 4), np.nan, "f4")), p=[0.1])


MESSAGES = [
    (
        lambda r, x, U, p: r(np.array(x), U, p),
        ValueError,
        r"^rollout: x0 is on the CPU, expected CUDA device 0 as U is$",
    ),
    (
        lambda r, x, U, p: r(x, U, np.array(p)),
        ValueError,
        r"^rollout: p is on the CPU, expected CUDA device 0 as U is, or shape \(np,\)$",
    ),
    (
        lambda r, x, U, p: r(array(Tensor, x, 1), U, p),
        ValueError,
        r"^rollout: x0 is on CUDA device 1, expected CUDA device 0 as U is$",
    ),
    (lambda r, x, U, p: r(x.astype("f4"), U, p), TypeError, r"^rollout: x0 is float32, expected float64 as U is$"),
    (lambda r, x, U, p: r(x, U.astype(int), p), TypeError, r"^rollout: U is int64, expected float32 or float64$"),
    (lambda r, x, U, p: r(x[:, :3], U, p), ValueError, r"^rollout: x0 has shape \(33, 3\), expected \(33, 4\)$"),
    (lambda r, x, U, p: r(x, U[0], p), ValueError, r"^rollout: U has shape \(5, 2\), expected \(B, T, nu\)$"),
    (lambda r, x, U, p: r(x, U, p[:3]), ValueError, r"^rollout: p has shape \(3, 1\), expected \(33, np\)$"),
    (lambda r, x, U, p: r(x, U, p, horizon=2), ValueError, r"^rollout: horizon is 2, expected 5 or more"),
    (lambda r, x, U, p: r(x, U[:, :0], p), ValueError, r"expected a horizon T of 1 or more$"),
]


@pytest.mark.parametrize(("call", "error", "message"), MESSAGES, ids=[message for *_, message in MESSAGES])
def test_messages(call, error, message, torch):
    arrays = [array(Tensor, a) for a in problem()]
    with pytest.raises(error, match=message):
        call(fs.Rollout(fs.load("cartpole"), DT, cost), *arrays)


def test_arrays_on_the_cpu_beside_a_state_on_a_device_are_refused(torch):
    x0, U, _ = problem()
    roll = fs.Rollout(fs.load("cartpole"), DT, cost)
    with pytest.raises(ValueError, match="^rollout: U is on the CPU, expected CUDA device 0 as x0 is$"):
        roll(array(Tensor, x0), U, [0.1])
    lists = roll(array(Tensor, x0), U.tolist(), [0.1])  # which lie nowhere
    torch.cuda.synchronize()
    assert close(lists.costs, roll(x0, U, [0.1]).costs)
    with pytest.raises(ValueError, match="^rollout: out.final: out is for the CPU"):
        roll(array(Tensor, x0), array(Tensor, U), [0.1], out=roll(x0, U, [0.1]))
    with pytest.raises(
        TypeError, match="^MPPI: x is on a device, for which the rollout must be a featherstorm.Rollout$"
    ):
        MPPI(lambda x, U: U[:, 0, 0], 5, 2).plan(array(Tensor, x0[0].astype("f4")))
    with pytest.raises(TypeError, match="^MPPI: x is float64, expected float32$"):
        MPPI(roll, 5, 2).plan(array(Tensor, x0[0]))


def test_without_the_compiler_a_rollout_says_so(monkeypatch, torch):
    monkeypatch.setenv("FEATHERSTORM_NVRTC", "/nowhere/libnvrtc.so")
    arrays = [array(Tensor, a) for a in problem()]
    with pytest.raises(
        ValueError, match="^a rollout on a device needs a kernel of its own: FEATHERSTORM_NVRTC: /nowhere"
    ):
        fs.Rollout(fs.load("cartpole"), DT, cost)(*arrays)
