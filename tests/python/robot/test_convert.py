"""Whole states to Pinocchio's layout and back."""

import numpy as np
import pytest

import featherstorm as fs


def test_quaternions_are_turned_round_and_velocities_into_the_body(go2):
    q = go2.q0.copy()
    q[:7] = [1, 2, 3, np.sqrt(0.5), 0, 0, np.sqrt(0.5)]  # a quarter turn about z: body x is world y
    v = np.zeros(go2.nv)
    v[:6] = [0, 5, 0, 1, 2, 3]
    p, u = fs.to_pinocchio(go2, q, v)
    assert np.allclose(p[:7], [1, 2, 3, 0, 0, np.sqrt(0.5), np.sqrt(0.5)])
    assert np.allclose(u[:6], [5, 0, 0, 1, 2, 3])


def test_there_and_back(robot):
    pin = pytest.importorskip("pinocchio", reason="its models give the order of joints: pip install pin")
    from pinocchio_oracle import Oracle

    other = Oracle(robot).model
    q, v = fs.random_state(robot, 12, seed=8)
    for model in (None, other):
        p, u = fs.to_pinocchio(robot, q, v, model)
        q1, v1 = fs.from_pinocchio(robot, p, u, model)
        assert np.abs(q1 - q).max() < 1e-12 and np.abs(v1 - v).max() < 1e-12
        assert np.array_equal(fs.from_pinocchio(robot, fs.to_pinocchio(robot, q, None, model), None, model), q1)
    assert p.shape == (12, other.nq) and pin.isNormalized(other, p[0], 1e-9)


def test_messages(go2):
    with pytest.raises(ValueError, match="to_pinocchio: q has shape"):
        fs.to_pinocchio(go2, np.zeros(3))
    with pytest.raises(ValueError, match="to_pinocchio: q.* has norm 0"):
        fs.to_pinocchio(go2, np.zeros(19))
