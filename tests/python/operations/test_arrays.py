"""Arrays of all kinds: libraries, strides, shapes, dtypes, devices, and what is said about wrong ones."""

import threading
import time

import numpy as np
import pytest

import featherstorm as fs

B = 37


@pytest.fixture
def state(go2):
    q, v = fs.random_state(go2, B, seed=1)
    return q, v, np.sin(v)


def test_one_instance_gives_one_instance(go2, state):
    one, many = fs.rnea(go2, *(x[3] for x in state)), fs.rnea(go2, *state)
    assert one.shape == (go2.nv,) and np.array_equal(one, many[3])
    assert fs.crba(go2, state[0][0]).shape == (go2.nv, go2.nv)
    assert fs.energy(go2, state[0][0], state[1][0])[0].shape == ()


def test_one_row_stands_for_all(go2, state):
    q, v, a = state
    expected = fs.rnea(go2, np.tile(q[0], (B, 1)), v, a)
    assert np.array_equal(fs.rnea(go2, q[0], v, a), expected)
    assert np.array_equal(fs.rnea(go2, q[:1], v, a), expected)
    assert fs.rnea(go2, q[:1], v[0], a[0]).shape == (1, go2.nv)


def test_empty_batch(go2, state):
    empty = [x[:0] for x in state]
    assert fs.rnea(go2, *empty).shape == (0, go2.nv)
    assert fs.crba(go2, empty[0]).shape == (0, go2.nv, go2.nv)
    assert fs.forward_kinematics(go2, empty[0])[1].shape == (0, go2.nf, 3, 3)
    assert fs.solve(go2, fs.crba(go2, empty[0], packed=True), np.zeros((0, go2.nv, 2))).shape == (0, go2.nv, 2)


def test_lists_take_the_dtype_of_arrays(go2, state):
    q, v, _ = (x.astype(np.float32) for x in state)
    tau = fs.rnea(go2, q, v, [0] * go2.nv)
    assert tau.dtype == np.float32 and np.array_equal(tau, fs.rnea(go2, q, v, 0 * v))
    assert fs.rnea(go2, list(go2.q0), [0.0] * go2.nv, [0.0] * go2.nv).dtype == np.float64


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_strides(go2, state, dtype):
    arrays = [x.astype(dtype) for x in state]
    expected = fs.rnea(go2, *arrays)
    wide = np.zeros((2 * B, 3 * go2.nq), dtype)
    for change in (
        np.asfortranarray,
        lambda x: x[::-1][::-1],
        lambda x: np.flip(np.flip(x).copy()),
        lambda x: embed(wide.copy(), x),
        lambda x: unaligned(x),
    ):
        changed = [change(x) for x in arrays]
        assert np.array_equal(fs.rnea(go2, *changed), expected)


def embed(wide, x):
    view = wide[::2, 1 : 3 * x.shape[1] : 3][:, : x.shape[1]]
    view[:] = x
    return view


def unaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)[1:]
    view = memory.view(x.dtype).reshape(x.shape)
    view[:] = x
    return view


def test_read_only_inputs_stay_as_they_are(go2, state):
    copies = [x.copy() for x in state]
    for x in state:
        x.flags.writeable = False
    fs.rnea(go2, *state)
    assert all(np.array_equal(x, y) for x, y in zip(state, copies))


def test_results_are_views_of_the_engine(go2, state):
    tau = fs.rnea(go2, *state)
    assert tau.strides[0] == tau.itemsize and tau.strides[1] % (16 * tau.itemsize) == 0
    assert tau.flags.writeable
    again = fs.rnea(go2, state[0], state[1], tau)  # and are good inputs
    assert np.array_equal(again, fs.rnea(go2, state[0], state[1], tau.copy()))


def test_threads_of_python_share_a_model(go2, state):
    expected = fs.aba(go2, *state)
    wrong = []

    def work():
        wrong.extend(1 for _ in range(20) if not np.array_equal(fs.aba(go2, *state), expected))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    go2.specialise(["crba"], "float64")
    for worker in workers:
        worker.join()
    assert not wrong


MESSAGES = [
    (lambda m, q, v, a: fs.rnea(m, q, v, a[:, :7]), ValueError, r"^rnea: a has shape \(37, 7\), expected \(37, 18\)$"),
    (lambda m, q, v, a: fs.rnea(m, q, v[:3], a), ValueError, r"^rnea: v has shape \(3, 18\), expected \(37, 18\)$"),
    (lambda m, q, v, a: fs.rnea(m, q, v, a[0, :3]), ValueError, r"^rnea: a has shape \(3,\), expected \(18,\)$"),
    (
        lambda m, q, v, a: fs.rnea(m, q[None], v, a),
        ValueError,
        r"^rnea: q has shape \(1, 37, 19\), expected \(batch, 19\)$",
    ),
    (lambda m, q, v, a: fs.rnea(m, q, v, 0.0), ValueError, r"^rnea: a has shape \(\), expected \(batch, 18\)$"),
    (
        lambda m, q, v, a: fs.rnea(m, q, v, a, np.zeros((B, 4, 6))),
        ValueError,
        r"^rnea: f_ext has shape \(37, 4, 6\), expected \(37, 13, 6\)$",
    ),
    (lambda m, q, v, a: fs.rnea(m, q, v, a.astype(int)), TypeError, r"^rnea: a is int64, expected float32 or float64$"),
    (lambda m, q, v, a: fs.rnea(m, q, v, a.astype(">f8")), TypeError, r"^rnea: a is >f8, expected float32 or float64$"),
    (lambda m, q, v, a: fs.rnea(m, q, v, a.astype("f4")), TypeError, r"^rnea: a is float32, expected float64 as q is$"),
    (lambda m, q, v, a: fs.rnea(m, q, v, a.astype(complex)), TypeError, r"^rnea: a is complex128"),
    (lambda m, q, v, a: fs.rnea(m, q, v, "a"), TypeError, r"^rnea: a is a str"),
    (lambda m, q, v, a: fs.rnea(m, q, v, None), TypeError, r"^rnea: a is None, expected an array$"),
    (
        lambda m, q, v, a: fs.rnea(m, 0 * q, v, a),
        ValueError,
        (
            r"^rnea: q\[0, 3:7\], the quaternion of joint 'root', has norm 0, expected 1: all zeros is not a valid q; "
            "begin with model.q0$"
        ),
    ),
    (
        lambda m, q, v, a: fs.rnea(m, 2 * q, v, a),
        ValueError,
        r"has norm 2, expected 1: normalise it; the order is w x y z$",
    ),
    (lambda m, q, v, a: fs.difference(m, q, 0 * q), ValueError, r"^difference: q_to\[0, 3:7\]"),
    (lambda m, q, v, a: fs.jacobian(m, q, "FL_fot"), ValueError, r"^go2 has no frame 'FL_fot'; did you mean FL_foot"),
    (lambda m, q, v, a: fs.jacobian(m, q, 999), ValueError, r"^frame is 999, expected 0 to"),
    (lambda m, q, v, a: fs.run(m, "jacobian", q), TypeError, r"^jacobian: which frame\?"),
    (lambda m, q, v, a: fs.run(m, "crba", q, frame=1), TypeError, r"^crba takes no frame$"),
    (lambda m, q, v, a: fs.run(m, "crba", q, v), TypeError, r"^crba: got 2 arrays, expected 1: q$"),
    (lambda m, q, v, a: fs.run(m, "integrate", q, v), TypeError, r"^integrate: got the numbers none, expected dt$"),
    (lambda m, q, v, a: fs.run(m, "walk", q), NotImplementedError, r"^walk: this build has no operation"),
    (
        lambda m, q, v, a: fs.step(m, q, v, 0.01, kp=[1.0, 2.0]),
        ValueError,
        r"^step: kp has shape \(2,\), expected \(18,\)",
    ),
    (
        lambda m, q, v, a: fs.step(m, q, v, 0.01, stiffness=1),
        TypeError,
        r"^step: stiffness is not an argument; did you mean limit_stiffness\?$",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), MESSAGES, ids=[message for *_, message in MESSAGES])
def test_messages(go2, state, call, error, message):
    with pytest.raises(error, match=message):
        call(go2, *state)


def test_check_false_leaves_quaternions_alone(go2, state):
    q, v, _ = state
    assert not np.isfinite(fs.integrate(go2, 0 * q, v, 0.1, check=False)).all()


def test_loading_says_what_is_wrong(tmp_path):
    bad = tmp_path / "bad.urdf"
    bad.write_text("<robot name='x'><link/></robot>")
    for error, message, arguments in (
        (ValueError, "'go3' is neither a file nor a built-in robot; did you mean go2", ("go3",)),
        (FileNotFoundError, "there is no file", (tmp_path / "none.urdf",)),
        (ValueError, "bad.urdf", (bad,)),
    ):
        with pytest.raises(error, match=message):
            fs.load(*arguments)
    with pytest.raises(ValueError, match="threads is -1"):
        fs.load("go2", threads=-1)
    with pytest.raises(ValueError, match="instruction set 'mmx' is not available"):
        fs.load("go2", isa="mmx")


def test_any_shapes_are_taken_or_refused_by_name(go2):
    """Random shapes of all arguments: a result of the right shape, or one of our errors; never anything else."""
    rng = np.random.default_rng(11)
    taken = 0
    for _ in range(400):
        arrays, sizes = [], (go2.nq, go2.nv, go2.nv)
        batch = int(rng.choice([0, 1, 2, 17]))
        for n in sizes:
            shape = [(batch, n), (n,), (1, n), (batch + 1, n), (batch, n - 1), (), (batch, n, 1)][
                rng.choice(7, p=[0.6, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05])
            ]
            x = np.zeros(shape)
            if shape[-1:] == (go2.nq,):
                x[...] = go2.q0
            arrays.append(x)
        instances = {x.shape[0] for x in arrays if x.ndim == 2} - {1}
        good = all(x.ndim in (1, 2) and x.shape[-1] == n for x, n in zip(arrays, sizes)) and len(instances) <= 1
        if good:
            taken += 1
            tail = (next(iter(instances)) if instances else 1,) if any(x.ndim == 2 for x in arrays) else ()
            assert fs.rnea(go2, *arrays).shape == (*tail, go2.nv)
        else:
            with pytest.raises(ValueError, match=r"^rnea: \w+ has shape"):
                fs.rnea(go2, *arrays)
    assert taken > 50


def test_jax(go2, state):
    jax = pytest.importorskip("jax", reason="round trip of JAX arrays")
    arrays = [jax.numpy.asarray(x, dtype="float32") for x in state]
    tau = fs.rnea(go2, *arrays)
    assert isinstance(tau, jax.Array) and tau.dtype == "float32"
    assert np.array_equal(tau, fs.rnea(go2, *(np.asarray(x) for x in arrays)))
    with pytest.raises(TypeError, match="bias: q is a value under jax.jit"):
        jax.jit(lambda q: fs.bias(go2, q, arrays[1]))(arrays[0])


def test_torch(go2, state):
    torch = pytest.importorskip("torch", reason="round trip of PyTorch tensors")
    arrays = [torch.from_numpy(x) for x in state]
    tau = fs.rnea(go2, *arrays)
    assert isinstance(tau, torch.Tensor) and tau.stride()[0] == 1
    assert np.array_equal(tau.numpy(), fs.rnea(go2, *state))
    with pytest.raises(TypeError, match=r"rnea: q requires a gradient"):
        fs.rnea(go2, arrays[0].requires_grad_(), *arrays[1:])
    with pytest.raises(TypeError, match=r"rnea: v is torch.float16"):
        fs.rnea(go2, state[0], arrays[1].half(), arrays[2])


class OnlyDlpack:
    """An array of a library that nobody knows."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


def test_any_library_with_dlpack(go2, state):
    tau = fs.rnea(go2, *(OnlyDlpack(x) for x in state))
    assert np.array_equal(tau, fs.rnea(go2, *state))
    with pytest.raises(ValueError, match=r"^rnea: q lies on DLPack device \(8, 0\), expected the CPU: move it there$"):
        fs.rnea(go2, OnlyDlpack(state[0], (8, 0)), *state[1:])


def test_the_engine_takes_dlpack_as_it_comes(go2, state):
    """Below the package: the extension module reads any strides in place and writes into what it is given."""
    q, v, a = state
    tau = np.full((B, 2 * go2.nv), np.nan)
    go2.evaluator.run("rnea", [OnlyDlpack(np.asfortranarray(q)), v[:, ::-1][:, ::-1], a], [tau[:, ::2]])
    assert np.array_equal(tau[:, ::2], fs.rnea(go2, q, v, a)) and np.isnan(tau[:, 1::2]).all()
    tau.flags.writeable = False
    with pytest.raises(TypeError, match="rnea: tau is not a writable array"):
        go2.evaluator.run("rnea", [q, v, a], [tau[:, ::2]])
    with pytest.raises(TypeError, match="rnea: a is neither float32 nor float64"):
        go2.evaluator.run("rnea", [q, v, a.astype(int)], [np.zeros_like(v)])
    with pytest.raises(ValueError, match="rnea: q has 1 dimensions, expected 2"):
        go2.evaluator.run("rnea", [q[0], v, a], [np.zeros_like(v)])


class Failing:
    """An array whose DLPack export raises."""

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        raise RuntimeError("exported twice")


def test_arrays_whose_numbers_cannot_be_read_are_refused(arm):
    q, v = np.zeros((2, 7)), np.zeros((2, 7))
    with pytest.raises(TypeError, match=r"fd: v is a masked array, whose mask would be lost: call \.filled\(value\)"):
        fs.fd(arm, q, np.ma.masked_array(v, v > 0), v)
    with pytest.raises(TypeError, match="fd: v is a Failing that DLPack cannot read: exported twice"):
        fs.fd(arm, q, Failing(), v)


def test_arguments_in_each_others_places_are_told(arm):
    q = np.zeros((2, 7))
    with pytest.raises(TypeError, match=r"step: dt is an array of shape \(2, 7\), expected a number of seconds"):
        fs.step(arm, q, q, q, 1e-3)
    for make in (fs.Simulation, fs.Rollout):
        with pytest.raises(TypeError, match="dt is 'x', expected a number of seconds"):
            make(arm, **({"instances": 2} if make is fs.Simulation else {}), dt="x")
    with pytest.raises(ValueError, match=r"substeps is 9223372036854775808, expected less than 2\^31"):
        fs.Simulation(arm, 2, dt=1e-3, substeps=2**63)
    for call in (fs.fd, fs.rnea, fs.step):
        with pytest.raises(
            TypeError, match=rf"{call.__name__}: model is 'go2', expected a featherstorm.Model, as load"
        ):
            call("go2", q, q, q)
    with pytest.raises(TypeError, match="Simulation: model is 'go2', expected a featherstorm.Model"):
        fs.Simulation("go2", 2, dt=1e-3)


def test_a_batch_too_large_for_memory_says_how_many_bytes(arm):
    words = r"an array of \(1000000000000, 7\) float32 needs 28000000\d* bytes, this machine has \d+: use several smaller batches"
    with pytest.raises(MemoryError, match=words):
        fs.zeros((10**12, 7))
    words = r"Simulation: 10{12} instances: 1.4e\+05 GB of memory are needed, and [\d.]+ GB are free; make fewer"
    with pytest.raises(MemoryError, match=words):
        fs.Simulation(arm, 10**12, dt=0.01)
    start, q = time.process_time(), np.broadcast_to(arm.q0, (2**36, 7))
    with pytest.raises(MemoryError, match=r"crba: 68719476736 instances: 1.54e\+04 GB of memory are needed"):
        fs.crba(arm, q)
    assert time.process_time() - start < 1
    with pytest.raises(MemoryError, match=r"needs over 2\^64 bytes"):
        fs.zeros((2**62, 7))
