"""Tolerance functions, from which the suite's rewards are built.

They map a number to a value from 0 to 1, by its distance from the desired range.
Source: Tassa et al. 2018, "DeepMind Control Suite", arXiv:1801.00690.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


def sech(y: Any) -> Any:
    return 2 / (np.exp(y) + np.exp(-y))


def within(y: Any, value: Any) -> Any:
    """Return the value where y < 1, else 0."""
    return np.where(y < 1, value, 0.0)


# name -> (w, f): f(w(v) d) is the value at a distance of d margins, v the value at one margin
SIGMOIDS: dict[str, tuple[Callable[[float], Any], Callable[[Any], Any]]] = {
    "gaussian": (lambda v: np.sqrt(-2 * np.log(v)), lambda y: np.exp(-0.5 * y * y)),
    "hyperbolic": (lambda v: np.arccosh(1 / v), sech),
    "long_tail": (lambda v: np.sqrt(1 / v - 1), lambda y: 1 / (y * y + 1)),
    "reciprocal": (lambda v: 1 / v - 1, lambda y: 1 / (y + 1)),
    "cosine": (lambda v: np.arccos(2 * v - 1) / np.pi, lambda y: within(y, (1 + np.cos(np.pi * y)) / 2)),
    "linear": (lambda v: 1 - v, lambda y: within(y, 1 - y)),
    "quadratic": (lambda v: np.sqrt(1 - v), lambda y: within(y, 1 - y * y)),
    "tanh_squared": (lambda v: np.arctanh(np.sqrt(1 - v)), lambda y: sech(y) ** 2),
}
REACH_ZERO = ("cosine", "linear", "quadratic")


def tolerance(
    x: Any,
    bounds: tuple[float, float] = (0.0, 0.0),
    margin: float = 0.0,
    sigmoid: str = "gaussian",
    value_at_margin: float = 0.1,
) -> Any:
    """Return 1 where lower <= x <= upper, else f(w d), d = distance to the bound / margin; 0 without a margin.

        in   x                numbers or symbols of any shape
             bounds           (lower, upper), which may be infinite
             margin           distance at which the value is value_at_margin
             sigmoid          name of f, of SIGMOIDS
        out  of x's shape, from 0 to 1
    Errors: ValueError for bounds in the wrong order, a negative margin, an unknown sigmoid, a value_at_margin that f
    cannot have.
    """
    lower, upper = bounds
    if not lower <= upper:
        raise ValueError(f"tolerance: bounds are {lower} and {upper}, expected the lower one first")
    if not margin >= 0:
        raise ValueError(f"tolerance: margin is {margin}, expected 0 or more")
    if sigmoid not in SIGMOIDS:
        raise ValueError(f"tolerance: sigmoid is {sigmoid!r}, expected one of {', '.join(SIGMOIDS)}")
    zero = value_at_margin == 0 and sigmoid in REACH_ZERO
    if margin > 0 and not (zero or 0 < value_at_margin < 1):
        least = "0 or more" if sigmoid in REACH_ZERO else "more than 0"
        raise ValueError(
            f"tolerance: value_at_margin is {value_at_margin}, expected {least} and less than 1 of {sigmoid}"
        )
    beyond = 0.0 * x
    if lower > -np.inf:
        beyond = np.maximum(beyond, lower - x)
    if upper < np.inf:
        beyond = np.maximum(beyond, x - upper)
    if margin == 0:
        return np.where(beyond > 0, 0.0, 1.0)
    width, falls = SIGMOIDS[sigmoid]
    return np.where(beyond > 0, falls(beyond / margin * float(width(value_at_margin))), 1.0)
