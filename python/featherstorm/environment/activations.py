"""Activations of networks, in two forms: traced into a kernel, and on arrays with slopes for learning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Array = npt.NDArray[Any]

# y as a function of x, traced
TRACED: dict[str, Callable[[Any], Any]] = {
    "tanh": np.tanh,
    "elu": lambda x: np.where(x > 0, x, np.exp(np.minimum(x, 0.0)) - 1.0),
    "relu": lambda x: np.maximum(x, 0.0),
    "silu": lambda x: x / (1.0 + np.exp(-x)),
    "softsign": lambda x: x / (1.0 + np.abs(x)),
    "identity": lambda x: x,
}


class Activation(NamedTuple):
    """An activation on arrays, in their dtype.

    function   y as a function of x
    slope      dy/dx as a function of x and y
    """

    function: Callable[[Array], Array]
    slope: Callable[[Array, Array], Array]


def elu(x: Array) -> Array:
    """Avoids np.where, which takes four times as long where signs are mixed."""
    return np.maximum(x, 0) + (np.exp(np.minimum(x, 0)) - 1)


def relu(x: Array) -> Array:
    return np.maximum(x, 0)


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), by tanh, which does not overflow."""
    return 0.5 * np.tanh(0.5 * x) + 0.5


def silu(x: Array) -> Array:
    return x * sigmoid(x)


def silu_slope(x: Array, y: Array) -> Array:
    s = sigmoid(x)
    return s + y * (1 - s)


LEARNT = {
    "tanh": Activation(np.tanh, lambda x, y: 1 - y * y),
    "elu": Activation(elu, lambda x, y: np.minimum(y, 0) + 1),
    "relu": Activation(relu, lambda x, y: (x > 0).astype(y.dtype)),
    "silu": Activation(silu, silu_slope),
}
