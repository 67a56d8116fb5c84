"""Steps of variable length: closed forms, tolerances, instances apart."""

import numpy as np
import pytest

import featherstorm as fs


def pendulum():
    builder = fs.RobotBuilder("pendulum")
    builder.add_link("rod", 2.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.01]).tolist())
    builder.add_joint("hinge", "revolute", "", "rod", axis=[0, 1, 0])
    return fs.Model(builder.build())


def period(amplitude):
    a, b = 1.0, np.cos(amplitude / 2)
    for _ in range(8):
        a, b = (a + b) / 2, np.sqrt(a * b)
    return 2 * np.pi / (np.sqrt(2 * 9.81 * 0.5 / (0.1 + 2 * 0.25)) * a)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-9])
def test_a_pendulum_comes_back_after_its_period(tolerance):
    end = fs.dormand_prince(pendulum(), [[2.0]], [[0.0]], period(2.0), relative=tolerance, absolute=tolerance)
    assert end.remaining[0, 0] == 0 and end.step[0, 0] > 0
    assert np.hypot(end.q[0, 0] - 2, end.v[0, 0]) < 100 * tolerance


def test_what_is_not_reached_remains():
    end = fs.dormand_prince(pendulum(), [[2.0]], [[0.0]], 1e3, attempts=16)
    assert 0 < end.remaining[0, 0] < 1e3
    again = fs.dormand_prince(pendulum(), end.q, end.v, 1e-3, first_step=float(end.step[0, 0]))
    assert again.remaining[0, 0] == 0


@pytest.mark.parametrize(
    ("numbers", "error", "message"),
    [
        ({"duration": 0}, ValueError, "duration is 0, expected more than 0"),
        ({"duration": 1, "relative": -1}, ValueError, "relative is -1"),
        ({"duration": 1, "first_step": -1}, ValueError, "first_step is -1"),
        (
            {"duration": 1, "stiffness": 1},
            TypeError,
            "^dormand_prince: stiffness is not an argument; did you mean limit_stiffness",
        ),
    ],
)
def test_it_says_what_is_wrong(numbers, error, message):
    with pytest.raises(error, match=message):
        fs.dormand_prince(pendulum(), [[2.0]], [[0.0]], **numbers)
