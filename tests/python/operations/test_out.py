"""Arrays of the engine, and results that are written to arrays of the caller."""

import pickle

import numpy as np
import pytest

import featherstorm as fs
from featherstorm import _featherstorm

B = 33


def instances_fastest(shape, dtype):
    return np.moveaxis(np.zeros((*shape[1:], shape[0]), dtype), -1, 0)


def test_arrays_of_the_engine_have_its_layout():
    x = fs.zeros((B, 6, 3), "float64")
    assert x.shape == (B, 6, 3) and x.dtype == np.float64 and not x.any() and isinstance(x, np.ndarray)
    assert x.strides[0] == 8 and isinstance(x.memory, _featherstorm.Buffer)
    assert x[:, 0].memory is None and (x + 1).memory is None and pickle.loads(pickle.dumps(x)).memory is None
    assert fs.zeros((0, 3)).shape == (0, 3) and fs.zeros((4,)).shape == (4,)


@pytest.mark.parametrize("make", [fs.zeros, np.zeros, instances_fastest], ids=["own", "rows", "columns"])
def test_results_are_written_to_out(go2, make):
    q, v = fs.random_state(go2, B)
    arrays = [make(x.shape, "f8") for x in (q, v, v)]
    for array, x in zip(arrays, (q, v, np.cos(v))):
        array[:] = x
    tau, J, energy = make((B, 18), "f8"), make((B, 6, 18), "f8"), make((B, 2), "f8")
    assert fs.run(go2, "rnea", *arrays, out=tau) is tau
    assert np.array_equal(tau, fs.rnea(go2, q, v, np.cos(v)))
    fs.run(go2, "jacobian", arrays[0], frame="FL_foot", out=J)
    assert np.array_equal(J, fs.jacobian(go2, q, "FL_foot"))
    momentum = tuple(make((B, n), "f8") for n in (3, 3, 6, 3))
    assert fs.run(go2, "momentum", *arrays[:2], out=momentum) is momentum
    for x, y in zip(momentum, fs.momentum(go2, q, v)):
        assert np.array_equal(x, y)
    fs.run(go2, "integrate", *arrays[:2], dt=0.1, out=(q_next := make(q.shape, "f8")))
    assert np.array_equal(q_next, fs.integrate(go2, q, v, 0.1))
    fs.run(go2, "energy", *arrays[:2], out=energy)
    assert np.array_equal(energy[:, 0], fs.energy(go2, q, v)[0])
    one = make((18,), "f8") if make is not fs.zeros else np.zeros(18)
    fs.run(go2, "rnea", q[2], v[2], np.cos(v[2]), out=one)
    assert np.array_equal(one, tau[2])


def test_functions_take_arrays_of_the_engine(go2):
    q, v = fs.random_state(go2, B, dtype="float32")
    own = [fs.zeros(x.shape) for x in (q, v)]
    own[0][:], own[1][:] = q, v
    for result, expected in zip(fs.step(go2, *own, 1e-3), fs.step(go2, q, v, 1e-3)):
        assert np.array_equal(result, expected) and type(result) is np.ndarray
    assert np.array_equal(fs.crba(go2, own[0]), fs.crba(go2, q))
    sim = fs.Simulation(go2, B, 1e-3)
    sim.reset(q=own[0], v=own[1])
    sim.step(own[1])
    assert np.array_equal(sim.v, fs.step(go2, q, v, 1e-3, v).v)
    U = fs.zeros((B, 4, go2.nv))
    U[:] = v[:, None]
    x0 = fs.zeros((B, go2.nq + go2.nv))
    x0[:] = np.hstack([q, v])
    given = np.hstack([q, v]), np.array(U)
    assert np.array_equal(fs.rollout(go2, x0, U, 1e-3).final, fs.rollout(go2, *given, 1e-3).final)
    own[0][3, 3:7] = 0
    with pytest.raises(ValueError, match="rnea: q.3, 3:7., the quaternion"):
        fs.run(go2, "rnea", *own, own[1], out=fs.zeros(v.shape))


def test_arrays_of_the_engine_skip_the_conversion_of_arguments(go2):
    q, v = fs.random_state(go2, B, dtype="float32")
    own = [fs.zeros(x.shape) for x in (q, v, v, v)]
    own[0][:], own[1][:], own[2][:] = q, v, np.cos(v)
    expected = fs.rnea(go2, q, v, np.cos(v))
    assert fs.run(go2, "rnea", *own[:3], out=own[3], check=False) is own[3] and np.array_equal(own[3], expected)
    M = fs.zeros((B, go2.nh))
    fs.run(go2, "crba", own[0], out=(M,), check=False)
    assert np.array_equal(M, fs.crba(go2, q, packed=True))
    one = fs.zeros((1, go2.nv))  # one row for all instances
    fs.run(go2, "rnea", *own[:2], one, out=own[3], check=False)
    assert np.array_equal(own[3], fs.rnea(go2, q, v, np.zeros_like(v)))
    with pytest.raises(ValueError, match=r"rnea: v has shape \(33, 19\), expected \(33, 18\)"):
        fs.run(go2, "rnea", own[0], own[0], own[2], out=own[3], check=False)
    with pytest.raises(ValueError, match=r"rnea: tau has shape \(33, 19\), expected \(33, 18\)"):
        fs.run(go2, "rnea", *own[:3], out=own[0], check=False)
    with pytest.raises(TypeError, match="rnea takes no frame"):
        fs.run(go2, "rnea", *own[:3], out=own[3], check=False, frame=0)


Q, V = np.zeros((2, 7)), np.zeros((2, 7))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: fs.run(m, "rnea", Q, V, V, out=np.zeros((3, 7))), ValueError, r"rnea: out tau is float64 of shape \(3, 7\), expected float64 of shape \(2, 7\)"),
        (lambda m: fs.run(m, "rnea", Q, V, V, out=fs.zeros((2, 7))), ValueError, r"rnea: out tau is float32 of shape \(2, 7\), expected float64"),
        (lambda m: fs.run(m, "momentum", Q, V, out=V), TypeError, "momentum: out has 1 arrays, expected 4: com, com_velocity, h, h_com"),
        (lambda m: fs.run(m, "rnea", Q, V, V, out=()), TypeError, "rnea: out has 0 arrays, expected 1: tau"),
        (lambda m: fs.run(m, "rnea", Q, V, V, out=(), check=False), TypeError, "rnea: out has 0 arrays, expected 1: tau"),
        (lambda m: fs.run(m, "rnea", Q, V, V, out=np.broadcast_to(V, (2, 7))), ValueError, "rnea: out tau cannot be written"),
        (lambda m: fs.run(m, "jacobian", Q, frame=0, out=np.zeros((7, 2, 6)).transpose(1, 2, 0)[:, :, ::-1]), ValueError, "jacobian: out J has strides"),
        (lambda _: fs.zeros((2, 7), "int32"), TypeError, "zeros: dtype is int32, expected float32 or float64"),
        (lambda _: fs.zeros((-1, 7)), ValueError, r"zeros: shape is \(-1, 7\), expected \(B, ...\) of 0 or more"),
        (lambda _: fs.zeros((2, 7), device="tpu"), ValueError, "zeros: device is 'tpu', expected 'cpu', 'cuda' or"),
        (lambda _: fs.Batch, AttributeError, "fs.Batch was removed: operations write to arrays of fs.zeros by fs.run"),
    ],
)  # fmt: skip
def test_messages(arm, call, error, message):
    with pytest.raises(error, match=message):
        call(arm)
