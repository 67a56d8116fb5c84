"""Exciting motions, and derivatives of logged positions."""

import numpy as np
import pytest

import featherstorm as fs
from featherstorm import identify


def test_an_exciting_motion_keeps_limits_and_beats_its_first_guess():
    model = fs.load("ur5")
    allowed = lambda q: fs.forward_kinematics(model, q, "tool0")[0][:, 2] > -0.2  # noqa: E731  # above a table
    few = {"samples": 32, "points": 60}
    first = identify.exciting(model, max_velocity=1.5, max_acceleration=4.0, iterations=1, allowed=allowed, **few)
    motion = identify.exciting(model, max_velocity=1.5, max_acceleration=4.0, iterations=10, allowed=allowed, **few)
    assert motion.condition < 0.8 * first.condition
    t = np.linspace(0, motion.period, 3001)
    q, v, a = motion(t)
    np.testing.assert_allclose(np.gradient(q, t, axis=0)[1:-1], v[1:-1], atol=1e-4)
    np.testing.assert_allclose(np.gradient(v, t, axis=0)[1:-1], a[1:-1], atol=1e-3)
    assert (q > model.lower).all() and (q < model.upper).all()
    assert np.abs(v).max() < 1.5 * 1.002 and np.abs(a).max() < 4.0 * 1.005
    assert allowed(q[::30]).all()
    np.testing.assert_allclose(q[0], q[-1], atol=1e-9)
    W = identify.regressor(model, q[::30], v[::30], a[::30])[..., identify.base_parameters(model).independent]
    W = W.reshape(-1, W.shape[-1])
    assert np.linalg.cond(W / np.linalg.norm(W, axis=0)) == pytest.approx(motion.condition, rel=0.02)


def test_what_cannot_be_excited_is_refused():
    with pytest.raises(ValueError, match="expected joints of one freedom"):
        identify.exciting(fs.load("go2"))
    with pytest.raises(ValueError, match="the best motion found passes positions that are not allowed"):
        identify.exciting(fs.load("ur5"), iterations=1, allowed=lambda q: np.arange(len(q)) % 100 > 0)


def test_an_ill_conditioned_motion_is_no_motion_that_is_not_allowed():
    """log(condition) is above the cost of one position of 1000 that is not allowed."""
    motion = identify.exciting(fs.load("ur5"), iterations=1, samples=8, points=1000)
    assert motion.condition > np.exp(1e3 / 1000 / 2)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("period", 0, "a positive finite number"),
        ("harmonics", 0, "1 or more"),
        ("samples", 1, "2 or more"),
        ("iterations", 0, "1 or more"),
        ("points", 0, "1 or more"),
        ("margin", 0.6, "0 or more, less than 0.5"),
        ("max_velocity", -1, "positive finite numbers"),
        ("max_acceleration", 0, "positive numbers or infinity"),
    ],
)
def test_arguments_of_an_excitation_are_refused_by_name(name, value, expected):
    with pytest.raises(ValueError, match=f"exciting: {name} is {value}, expected {expected}"):
        identify.exciting(fs.load("double_pendulum"), **{name: value})
    with pytest.raises(ValueError, match=r"exciting: max_velocity has shape \(3,\), expected a number or \(2,\)"):
        identify.exciting(fs.load("double_pendulum"), max_velocity=np.ones(3))


def test_derivatives_of_a_floating_base():
    model = fs.load("go2")
    dt, T = 1e-3, 400
    q, v = fs.random_state(model, 1, seed=2)
    speed = np.tile(v, (T, 1)) * np.cos(2 * np.pi * np.arange(T) * dt)[:, None]
    path = [q]
    for k in range(T - 1):
        path.append(np.array(fs.integrate(model, path[-1], speed[k : k + 1], dt)))
    path = np.concatenate(path)
    path[200:, 3:7] *= -1  # the same orientations
    found = identify.differentiate(model, path, dt)
    np.testing.assert_allclose(found.v, (speed[:-2] + speed[1:-1]) / 2, atol=1e-6)
    np.testing.assert_allclose(found.a, (speed[1:-1] - speed[:-2]) / dt, atol=1e-3)
    smooth = identify.differentiate(model, path, dt, cutoff=30.0)
    np.testing.assert_allclose(smooth.v[150:-150], found.v[150:-150], atol=5e-3)


def test_a_filter_removes_noise_without_delay():
    t = np.arange(2000) * 1e-3
    x, rng = np.sin(2 * np.pi * t)[:, None], np.random.default_rng(0)
    found = identify.low_pass(x + 0.1 * rng.standard_normal(x.shape), 1e-3, 5.0)
    assert np.sqrt(np.mean((found - x)[200:-200] ** 2)) < 0.02
    at_cutoff = identify.low_pass(np.sin(2 * np.pi * 20 * t)[:, None], 1e-3, 20.0)
    assert np.abs(at_cutoff[500:-500]).max() == pytest.approx(0.5, abs=0.01)


PENDULUM, ROWS = fs.load("double_pendulum"), np.zeros((9, 2))
BAD = np.where(np.arange(9)[:, None] == 3, np.nan, ROWS)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: identify.low_pass(ROWS, 1e-3, 600.0), "cutoff is 600.0 Hz, expected more than 0, less than 500 Hz"),
        (lambda: identify.low_pass(ROWS, -1e-3, 5.0), "dt is -0.001, expected a positive finite number"),
        (lambda: identify.low_pass(ROWS, 1e-3, 5.0, order=0), "low_pass: order is 0, expected 1 or more"),
        (lambda: identify.low_pass(ROWS[:, 0], 1e-3, 5.0), r"x has shape \(9,\), expected finite numbers \(T, n\)"),
        (lambda: identify.low_pass(ROWS[:5], 1e-3, 5.0), "the log has 5 rows, expected more than"),
        (
            lambda: identify.differentiate(PENDULUM, ROWS, 0),
            "differentiate: dt is 0, expected a positive finite number",
        ),
        (lambda: identify.differentiate(PENDULUM, BAD, 1e-3), "1 rows of q are not finite, first row 3"),
        (lambda: identify.differentiate(PENDULUM, ROWS, 1e-3, tau=np.ones((3, 1))), r"expected \(9, 2\)"),
    ],
)
def test_wrong_logs_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
