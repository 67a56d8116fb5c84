"""Symbols: numpy's functions on traced numbers, against numpy on numbers."""

import numpy as np
import pytest

import featherstorm as fs

SHAPES = {
    "arithmetic": lambda x: [2 * x[0] - x[1] / 3 + 1, x[2] ** 2, x[3] ** -1.5, x[3] ** 0.5, x[3] ** 1.7, -x[4]],
    "power": lambda x: [x[3] ** 7, 2.0 ** x[0], np.power(x[3], x[0]), x[3] ** 0, np.square(x[0])],
    "elementary": lambda x: [np.sin(x), np.cos(x), np.exp(x), np.log(x[3]), np.sqrt(x[3]), np.tan(x[0]), np.tanh(x[1])],
    "inverse": lambda x: [np.arctan2(x[0], x[1]), np.arctan(x[0]), np.arcsin(np.sin(x[5])), np.arccos(np.cos(x[3]))],
    "rounding": lambda x: [np.floor(3 * x), np.ceil(3 * x), np.sign(x), (3 * x) % 0.7, np.remainder(x, -0.3)],
    "choice": lambda x: [np.where(x > 0, x, 2 * x), np.where((x > 0.1) & (x < 0.5) | ~(x <= 0.9), 1.0, x)],
    "bounds": lambda x: [np.minimum(x, 0.2), np.maximum(x[0], x), np.clip(x, -0.5, 0.5), x.clip(None, 0)],
    "conditions": lambda x: [(x > 0) * x, np.sum(x > 0), 1.0 * (x[0] == x[0]), np.where(x != x[1], 1.0, 0.0)],
    "sums": lambda x: [np.sum(x), x.mean(), np.prod(x), x.max(), np.min(x), x.reshape(2, 5).sum(axis=1), np.cumsum(x)],
    "products": lambda x: [x @ x, np.dot(x, np.arange(10.0)), np.eye(10)[:3] @ x, x.reshape(5, 2) @ x[:2]],
    "vectors": lambda x: [np.linalg.norm(x), np.cross(x[:3], x[3:6]), np.outer(x[:2], x[:2]), np.einsum("i,i", x, x)],
    "shapes": lambda x: [np.concatenate([x[:2], [3.0]]), np.stack([x[0], abs(x[1])]), x[::-1][:4], np.diff(x)],
    "angles": lambda x: [np.deg2rad(x), np.rad2deg(x), np.hypot(x[0], x[1]), np.logical_and(x > 0, x < 1) * 1.0],
}


def flat(parts):
    return np.concatenate([np.ravel(part) for part in parts])


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 2e-5)])
def test_a_traced_function_is_numpys(name, dtype, tolerance):
    model = fs.load("double_pendulum")
    values = np.random.default_rng(3).uniform(-1, 1, (37, 10)).astype(dtype)
    values[:, 3] = np.abs(values[:, 3]) + dtype_gap(dtype)
    U = np.zeros((37, 1, model.nv), dtype)
    x0 = np.r_[model.q0, np.zeros(model.nv)].astype(dtype)
    got = fs.Rollout(model, 1e-3, observe=lambda x, u, t, p: flat(SHAPES[name](p)))(x0, U, p=values).observations
    for row, numbers in zip(got, values.astype(float)):
        expected = flat(SHAPES[name](numbers)).astype(float)
        assert np.abs(row[0] - expected).max() < tolerance * (1 + np.abs(expected).max())


def dtype_gap(dtype):
    return 0.05 if dtype == "float32" else 1e-3


def test_frames_and_operations_are_those_of_the_model():
    model = fs.load("panda")
    q, v = fs.random_state(model, 20)

    def observe(x, u, t, p):
        f = "panda_hand"
        return x.position(f), x.rotation(f).ravel(), x.velocity(f), x.run("energy", x.q, x.v), x.run("crba", x.q), t

    got = fs.Rollout(model, 1e-3, observe=observe)(np.c_[q, v], np.zeros((20, 1, model.nv)), t0=2.0).observations[:, 0]
    q, v = fs.step(model, q, v, 1e-3)
    position, rotation = fs.forward_kinematics(model, q, "panda_hand")
    expected = [position, rotation.reshape(20, 9), fs.frame_velocity(model, q, v, "panda_hand")]
    expected += [np.stack(fs.energy(model, q, v), axis=1), fs.crba(model, q, packed=True), np.full((20, 1), 2.001)]
    assert np.abs(got - np.concatenate(expected, axis=1)).max() < 1e-10


@pytest.mark.parametrize(
    ("cost", "error", "message"),
    [
        (lambda x, u, t, p: 1.0 if x[0] > 0 else 2.0, TypeError, "truth value.*np.where"),
        (lambda x, u, t, p: max(x[0], x[1]), TypeError, "np.maximum"),
        (lambda x, u, t, p: x[0] > 0 and x[1] > 0, TypeError, "np.logical_and"),
        (lambda x, u, t, p: float(x[0]), TypeError, "is no number yet"),
        (lambda x, u, t, p: np.arcsinh(x[0]), TypeError, "np.arcsinh cannot be traced; there are absolute, "),
        (lambda x, u, t, p: x[0] + np.inf, ValueError, "has the operand inf"),
        (lambda x, u, t, p: x[0] + "a", TypeError, "operand of type <class 'str'>, expected a number"),
        (lambda x, u, t, p: np.array([x[0], x[1]]) < 2, TypeError, "np.where"),
        (lambda x, u, t, p: x, ValueError, "cost returned 4 numbers, expected 1"),
        (lambda x, u, t, p: None, TypeError, "cost returned None"),
        (lambda x, u, t, p: "1", TypeError, "cost returned a str"),
        (lambda x, u, t, p: x.position("nose")[0], ValueError, "no frame 'nose'"),
        (lambda x, u, t, p: x.run("rnea", x.q)[0], ValueError, "rnea: got 1 arrays, expected 3"),
        (lambda x, u, t, p: x.run("bias", x.q, u[:1])[0], ValueError, "bias: v has 1 components, expected 2"),
        (lambda x, u, t, p: x.run("jacobian", x.q)[0], TypeError, "jacobian takes a frame"),
        (lambda x, u, t, p: x.run("nothing")[0], NotImplementedError, "no operation of that name"),
    ],
)
def test_messages(cost, error, message):
    model = fs.load("double_pendulum")
    with pytest.raises(error, match=message):
        fs.rollout(model, np.zeros(4), np.zeros((1, 1, 2)), 1e-3, cost)


def test_infinite_bounds_bound_nothing():
    """Beside numpy, with infinities on either side; x[0] is within the finite bounds, x[1] beyond."""
    model, inf = fs.load("double_pendulum"), np.inf

    def observe(x, u, t, p):
        low, high = np.array([-inf, -0.1]), np.array([0.5, inf])
        parts = [np.clip(x.q, low, high), np.clip(x.q, -inf, inf), np.minimum(inf, x.q), np.maximum(x.q, -inf)]
        conditions = [x.q < inf, x.q <= inf, x.q > inf, x.q >= inf, x.q < -inf, -inf < x.q, x.q != inf, inf == x.q]
        return (*parts, *(np.where(c, 1.0, 0.0) for c in conditions))

    x0 = np.array([0.3, -0.4, 0.0, 0.0])
    result = fs.Rollout(model, 1e-9, observe=observe)(x0, np.zeros((1, 1, 2)))
    q = np.array([0.3, -0.4])
    expected = [0.3, -0.1, *q, *q, *q, *(1, 1), *(1, 1), *(0, 0), *(0, 0), *(0, 0), *(1, 1), *(1, 1), *(0, 0)]
    np.testing.assert_allclose(result.observations[0, 0], expected, atol=1e-6)


def test_symbols_raise_after_their_function():
    model = fs.load("double_pendulum")
    kept = []

    def cost(x, u, t, p):
        kept.append(x)
        return x[0]

    fs.rollout(model, np.zeros(4), np.zeros((1, 1, 2)), 1e-3, cost)
    with pytest.raises(RuntimeError, match="after its function had been traced"):
        kept[0] + 1
    with pytest.raises(RuntimeError, match="after its function had been traced"):
        kept[0].position(0)

    def leak(x, u, t, p):
        return x[0] + kept[0][0]

    with pytest.raises(RuntimeError, match="two different functions"):
        fs.rollout(model, np.zeros(4), np.zeros((1, 1, 2)), 1e-3, leak)
