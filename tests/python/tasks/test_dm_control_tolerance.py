"""The closeness of which the suite's rewards are made."""

import numpy as np
import pytest

from featherstorm import _featherstorm
from featherstorm.symbols import Symbols, symbols
from featherstorm.tasks.dm_control.tolerance import REACH_ZERO, SIGMOIDS, tolerance

X = np.array([-30.0, -3.0, -1.0 - 1e-9, -1.0, -0.3, 0.0, 1.0, 2.0, 2.0 + 1e-9, 2.5, 3.0, 7.0, 40.0])
BOUNDS = ((0.0, 0.0), (-1.0, 2.0), (-np.inf, 2.0), (1.0, np.inf), (-np.inf, np.inf))


@pytest.mark.parametrize("sigmoid", SIGMOIDS)
def test_a_value_is_that_of_dm_control(sigmoid):
    rewards = pytest.importorskip("dm_control.utils.rewards")
    for bounds in BOUNDS:
        for margin in (0.0, 0.7, 3.0):
            for value in (*((0.0,) if sigmoid in REACH_ZERO else ()), 0.1, 0.5, 0.9):
                with np.errstate(over="ignore"):
                    ours = tolerance(X, bounds, margin, sigmoid, value)
                    theirs = rewards.tolerance(X, bounds, margin, sigmoid, value)
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14)


@pytest.mark.parametrize("sigmoid", SIGMOIDS)
def test_symbols_give_symbols_of_their_shape(sigmoid):
    trace = _featherstorm.Trace()
    x = symbols(trace.input("x", 6)).reshape(2, 3)
    found = tolerance(x, (-1, np.inf), 0.5, sigmoid)
    assert isinstance(found, Symbols) and found.shape == (2, 3)
    assert tolerance(x[0, 0], (0, 1)).shape == ()
    trace.close()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"bounds": (1, 0)}, "bounds are 1 and 0, expected the lower one first"),
        ({"margin": -1}, "margin is -1, expected 0 or more"),
        ({"margin": np.nan}, "margin is nan, expected 0 or more"),
        ({"sigmoid": "step"}, "sigmoid is 'step', expected one of gaussian, hyperbolic"),
        ({"margin": 1, "value_at_margin": 0}, "value_at_margin is 0, expected more than 0 and less than 1 of gaussian"),
        ({"margin": 1, "value_at_margin": 1}, "value_at_margin is 1, expected more than 0 and less than 1 of gaussian"),
        (
            {"margin": 1, "value_at_margin": -0.1, "sigmoid": "linear"},
            "value_at_margin is -0.1, expected 0 or more and less than 1 of linear",
        ),
    ],
)
def test_wrong_arguments_are_named(arguments, error):
    with pytest.raises(ValueError, match=f"tolerance: {error}"):
        tolerance(0.5, **arguments)
