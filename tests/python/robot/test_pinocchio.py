"""Every operation against Pinocchio, for every built-in robot and every published URDF file, in random states."""

import numpy as np
import pytest

import featherstorm as fs
from robots import SHARED_MODELS, load

pytest.importorskip("pinocchio", reason="the oracle of these tests: pip install pin")
from pinocchio_oracle import Oracle

SEED, CASES = 7, 5
# relative to the largest entry of the answer, per instance. float64: rounding of sums of a few hundred terms.
# float32: a rounding error of 6e-8 grows by the number of bodies; in aba and fd by the condition of M on top, which is
# up to 1e5 for robots with light hands.
TOLERANCE = {"float64": 1e-9, "float32": 5e-5, "float32 by M^-1": 5e-3}


# built-in names, and published files with a fixed and with a floating base
ROBOTS = [(name, None) for name in fs.robots()]
ROBOTS += [
    (str(path), floating) for path in sorted((SHARED_MODELS / "urdf").glob("*.urdf")) for floating in (False, True)
]


def label(robot):
    name, floating = robot
    return name if floating is None else f"{name.split('/')[-1]}-{'floating' if floating else 'fixed'}"


@pytest.fixture(params=ROBOTS, ids=label)
def case(request):
    name, floating = request.param
    robot = load(name, floating)
    q, v = fs.random_state(robot, CASES, SEED)
    _, a = fs.random_state(robot, CASES, SEED + 1, speed=3)
    return robot, Oracle(robot, None if floating is None else name), q, v, a


def close(found, expected, tolerance):
    for k, (x, y) in enumerate(zip(np.asarray(found, np.float64), expected)):
        scale = max(np.abs(y).max(), 1e-3)
        assert np.abs(x - y).max() <= tolerance * scale, f"instance {k} of seed {SEED}"


def single(*arrays):
    return [x.astype(np.float32) for x in arrays]


def test_packed_matrix_has_the_rows_of_the_model(case):
    robot, _, q, *_ = case
    M, packed = fs.crba(robot, q), fs.crba(robot, q, packed=True)
    for i in range(robot.nv):
        row = slice(robot.row_start[i], robot.row_start[i + 1])
        assert np.array_equal(packed[:, row], M[:, i, robot.column[row]])
    left = np.ones((robot.nv, robot.nv), bool)
    row = np.repeat(np.arange(robot.nv), np.diff(robot.row_start))
    left[row, robot.column] = left[robot.column, row] = False
    assert not M[:, left].any()


# op -> (of the package, of Pinocchio for one state, tolerance in single precision)
OPERATIONS = {
    "rnea": (fs.rnea, lambda o, q, v, a: o.rnea(q, v, a), "float32"),
    "bias": (lambda r, q, v, _: fs.bias(r, q, v), lambda o, q, v, a: o.rnea(q, v, 0 * a), "float32"),
    "crba": (lambda r, q, *_: fs.crba(r, q), lambda o, q, *_: o.crba(q), "float32"),
    "aba": (fs.aba, lambda o, q, v, tau: o.aba(q, v, tau), "float32 by M^-1"),
    "fd": (fs.fd, lambda o, q, v, tau: o.aba(q, v, tau), "float32 by M^-1"),
}


@pytest.mark.parametrize("op", OPERATIONS)
def test_operations_agree(case, op):
    robot, oracle, *state = case
    ours, theirs, single_tolerance = OPERATIONS[op]
    expected = [theirs(oracle, *x) for x in zip(*state)]
    close(ours(robot, *state), expected, TOLERANCE["float64"])
    close(ours(robot, *single(*state)), expected, TOLERANCE[single_tolerance])


def test_motion_of_frames(case):
    robot, oracle, q, v, a = case
    for frame in (robot.frame_names[0], robot.frame_names[len(robot.frame_names) // 2], robot.frame_names[-1]):
        expected = [oracle.jacobian(x, frame) for x in q]
        close(fs.jacobian(robot, q, frame), expected, TOLERANCE["float64"])
        close(fs.jacobian(robot, *single(q), frame), expected, TOLERANCE["float32"])
        velocity = [J @ x for J, x in zip(expected, v)]
        close(fs.frame_velocity(robot, q, v, frame), velocity, TOLERANCE["float64"])
        acceleration = [oracle.frame_acceleration(*x, frame) for x in zip(q, v, a)]
        close(fs.frame_acceleration(robot, q, v, a, frame=frame), acceleration, TOLERANCE["float64"])


def test_solve_with_the_factor(case):
    robot, oracle, q, _, b = case
    L = fs.ltdl(robot, fs.crba(robot, q, packed=True))
    columns = np.stack([b, np.sin(b)], axis=2)
    expected = [np.linalg.solve(oracle.crba(x), y) for x, y in zip(q, columns)]
    found = fs.solve(robot, L, columns)
    assert found.shape == columns.shape
    close(found, expected, TOLERANCE["float64"])
    assert np.array_equal(fs.solve(robot, L, b), found[:, :, 0])


def test_forward_kinematics(case):
    robot, oracle, q, *_ = case
    positions, rotations = fs.forward_kinematics(robot, q)
    assert positions.shape == (CASES, robot.nf, 3) and rotations.shape == (CASES, robot.nf, 3, 3)
    for k, frame in enumerate(robot.frame_names):
        expected = [oracle.placement(x, frame) for x in q]
        assert np.abs(positions[:, k] - [r for r, _ in expected]).max() < 1e-9
        assert np.abs(rotations[:, k] - [R for _, R in expected]).max() < 1e-9
    one = fs.forward_kinematics(robot, q, robot.frame_names[-1])
    assert np.array_equal(one[0], positions[:, -1]) and np.array_equal(one[1], rotations[:, -1])


def test_energy(case):
    robot, oracle, q, v, _ = case
    found = np.stack(fs.energy(robot, q, v), axis=1)
    expected = np.array([oracle.energy(*x) for x in zip(q, v)])
    assert np.abs(found - expected).max() <= TOLERANCE["float64"] * np.abs(expected).max()


def test_momentum(case):
    robot, oracle, q, v, _ = case
    found = fs.momentum(robot, q, v)
    for k in range(CASES):
        com, com_velocity, angular, linear = oracle.momentum(q[k], v[k])
        scale = robot.total_mass * np.abs(v[k]).max()
        assert np.abs(found.com[k] - com).max() < 1e-9
        assert np.abs(found.com_velocity[k] - com_velocity).max() < 1e-9
        assert np.abs(found.h_com[k] - angular).max() < 1e-9 * scale
        assert np.abs(found.h[k, 3:] - linear).max() < 1e-9 * scale
        assert np.abs(found.h[k, :3] - angular - np.cross(com, linear)).max() < 1e-9 * scale


def test_integrate_and_difference(case):
    robot, oracle, q, v, _ = case
    dt = 0.3
    there = fs.integrate(robot, q, v, dt)
    expected = np.array([oracle.integrate(*x, dt) for x in zip(q, v)])
    for _, c in robot.quaternions:  # a quaternion and its negative are one rotation
        expected[:, c : c + 4] *= np.sign(np.sum(expected[:, c : c + 4] * there[:, c : c + 4], axis=1))[:, None]
    assert np.abs(there - expected).max() < 1e-12 * max(1, np.abs(there).max())
    assert np.abs(fs.difference(robot, q, there) / dt - v).max() < 1e-9


def test_external_forces_enter_by_the_jacobian(case):
    robot, _, q, v, a = case
    f = np.random.default_rng(SEED).normal(size=(CASES, robot.nb, 6))
    expected = fs.rnea(robot, q, v, a)
    for i, body in enumerate(robot.body_names[1:]):
        J = fs.jacobian(robot, q, body)
        expected = expected - np.einsum("brk,br->bk", J, f[:, i])
    found = fs.rnea(robot, q, v, a, f)
    close(found, expected, TOLERANCE["float64"])
    close(fs.aba(robot, q, v, found, f), a, 1e-7)
    close(fs.fd(robot, q, v, found, f), a, 1e-7)
