"""Networks within a policy, and their activations: traced into a kernel, and on arrays with slopes for learning.

Small ones are traced, others are stages of their own, by loops (host/network/dense_stage.h).
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _featherstorm
from .._names import expect
from ..symbols import Symbols, symbols, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..typing import NumpyArray as Array


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


# activations of core/network/activation.h
ACTIVATIONS = {name: TRACED[name] for name in ("tanh", "elu", "relu", "silu", "identity")}
FORMS = ("auto", "traced", "loops")
# Number of multiply-adds from which a network is a stage by loops.
LARGE = 2048


class Network(NamedTuple):
    """A network as a stage: act(W x + b), layer by layer.

    read, made   the trace's output that it reads, and the input that it makes
    numbers      the uniform array of its weights
    sizes        of the input and of each layer
    clip         bound of the normalised input; None: the input is not normalised
    weights      names: mean and rate where the input is normalised, then W and b of each layer
    """

    read: str
    made: str
    numbers: str
    sizes: tuple[int, ...]
    activation: str
    clip: float | None
    weights: tuple[str, ...]

    def packed(self, values: Mapping[str, Array]) -> Array:
        """Return the numbers in the order that the stage reads."""
        given = [np.ascontiguousarray(values[name], np.float64) for name in self.weights]
        mean, rate = (given.pop(0), given.pop(0)) if self.clip is not None else (np.zeros(0), np.zeros(0))
        return _featherstorm.pack_network(list(self.sizes), self.clip is not None, mean, rate, given[::2], given[1::2])


class Weights:
    """Arrays by name, as seen by a policy: symbols of numbers that all environments share.

    shapes     of all arrays
    used       array of the trace -> the weight whose numbers it has, for weights that the policy uses as symbols
    networks   networks that are stages
    """

    def __init__(self, trace: _featherstorm.Trace, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self._trace, self._shapes = trace, dict(shapes)
        self._used: dict[str, str] = {}
        self._networks: list[Network] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        shape = shape_of(self, name)
        n, array = math.prod(shape), f"env_weights_{len(self._used)}"
        if n:
            self._used[array] = name
        found = symbols(self._trace.input(array, n, True) if n else []).reshape(shape)
        setattr(self, name, found)
        return found


def shape_of(weights: Weights, name: str) -> tuple[int, ...]:
    known = weights._shapes
    if name not in known:
        raise AttributeError(f"collect: the policy asks for weights {name}; there are {', '.join(known) or 'none'}")
    return known[name]


def numbers_of(weights: Weights, values: Mapping[str, Array]) -> dict[str, Array]:
    """Return the uniform arrays of a policy that was traced with these weights."""
    found = {array: np.ascontiguousarray(values[name], np.float64).ravel() for array, name in weights._used.items()}
    return {**found, **{n.numbers: n.packed(values) for n in weights._networks}}


def mlp(
    obs: Any,
    weights: Weights,
    name: str,
    layers: int,
    activation: str | Callable[[Any], Any] = "tanh",
    *,
    normaliser: str = "",
    clip: float = 10.0,
    form: str = "auto",
) -> Any:
    """A network of `layers` dense layers within a policy.

        x = clip((obs - mean) rate, -clip, clip)   with a normaliser, else obs
        x = activation(W_k x + b_k) for each layer k; the last one has no activation

    obs          (n,) symbols
    weights      has NAME_Wk (out, in) and NAME_bk (out), and NORMALISER_mean, NORMALISER_rate (n,), 1 / standard
                 deviation
    activation   "tanh", "elu", "relu", "silu", "identity", or any function of symbols
    form         "traced": part of the policy's kernel, which grows with the network; "loops": a stage of its own, of up
                 to 16 layers of any size, for named activations; "auto": loops from 2048 multiply-adds on
    In both forms other weights of the same shapes compile nothing, and environments do not affect each other's results.
    The forms differ by rounding, and where an observation is NaN: loops return NaN, a traced network may not.
    Errors: ValueError for inconsistent shapes and unknown names; AttributeError for missing weights.
    """
    if activation is np.tanh:
        activation = "tanh"
    if isinstance(activation, str) and activation not in ACTIVATIONS:
        raise ValueError(f"mlp: activation is {activation!r}, expected {', '.join(ACTIVATIONS)} or a function")
    expect(form in FORMS, "mlp: form", repr(form), f"{', '.join(FORMS)}")
    expect(layers >= 1, "mlp: layers", layers, "1 or more")
    expect(clip > 0, "mlp: clip", clip, "above 0")
    values = values_of(obs, f"mlp: input of {name}")
    sizes = [len(values)]
    names = [f"{normaliser}_mean", f"{normaliser}_rate"] if normaliser else []
    for each in names:
        check_shape(weights, each, (sizes[0],))
    for k in range(layers):
        shape = shape_of(weights, f"{name}_W{k}")
        sizes.append(shape[0] if shape else 0)
        check_shape(weights, f"{name}_W{k}", (sizes[k + 1], sizes[k]))
        check_shape(weights, f"{name}_b{k}", (sizes[k + 1],))
        names += [f"{name}_W{k}", f"{name}_b{k}"]
    if form == "loops" and not isinstance(activation, str):
        raise ValueError(f"mlp: activation of loops is a function, expected {', '.join(ACTIVATIONS)}")
    large = form == "loops" or (form == "auto" and sum(map(math.prod, itertools.pairwise(sizes))) >= LARGE)
    if large and isinstance(activation, str):
        return stage_of(weights, values, sizes, activation, float(clip) if normaliser else None, names)
    return traced(symbols(values), weights, names, activation, clip if normaliser else None)


def check_shape(weights: Weights, name: str, expected: tuple[int, ...]) -> None:
    if (shape := shape_of(weights, name)) != expected:
        raise ValueError(f"mlp: {name} has shape {shape}, expected {expected}")


def stage_of(
    weights: Weights, values: list[Any], sizes: list[int], activation: str, clip: float | None, names: list[str]
) -> Symbols:
    """Return the network's output, as an input of the trace that the network's stage makes."""
    array = f"env_network_{len(weights._networks)}"
    network = Network(f"{array}_in", f"{array}_out", array, tuple(sizes), activation, clip, tuple(names))
    weights._networks.append(network)
    weights._trace.output(network.read, values)
    return symbols(weights._trace.input(network.made, sizes[-1]))


def traced(x: Any, weights: Weights, names: list[str], activation: Any, clip: float | None) -> Any:
    f = ACTIVATIONS[activation] if isinstance(activation, str) else activation
    arrays = [getattr(weights, name) for name in names]
    if clip is not None:
        mean, rate, *arrays = arrays
        x = np.minimum(np.maximum((x - mean) * rate, -clip), clip)
    for k in range(0, len(arrays), 2):
        x = arrays[k] @ x + arrays[k + 1]
        x = f(x) if k + 2 < len(arrays) else x
    return x
