"""Policy: a trained policy, as a function of observations, as a file, and as an ONNX model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from .._names import expect_one_of, expect_shape
from .._optional import onnx
from ..environment.networks import LEARNT
from .acting import LIMIT, normalised, rate_of
from .files import read_arrays, write_arrays
from .network import Network

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..typing import NumpyArray as Array


OPSET = 13  # of 2020; the definitions of Gemm, Clip, Elu, Max and Min are unchanged since
NODES = {"tanh": ["Tanh"], "elu": ["Elu"], "relu": ["Relu"], "silu": ["Sigmoid", "Mul"]}


def write(path: str | os.PathLike[str], policy: Any) -> None:
    """Write the policy as an ONNX model; see Policy.to_onnx."""
    helper = onnx.helper
    constants: list[Any] = []
    nodes: list[Any] = []
    last = "observation"

    def constant(name: str, value: Any) -> str:
        constants.append(onnx.numpy_helper.from_array(np.asarray(value, np.float32), name))
        return name

    def node(kind: str, *inputs: str, **options: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [f"x{len(nodes)}"], **options))
        return f"x{len(nodes) - 1}"

    last = node("Sub", last, constant("mean", policy.mean))
    last = node("Mul", last, constant("rate", policy.rate))
    last = node("Clip", last, constant("least", -LIMIT), constant("most", LIMIT))
    layers = policy.network.layers
    for k in range(layers):
        W, b = policy.weights[2 * k : 2 * k + 2]
        last = node("Gemm", last, constant(f"W{k}", W), constant(f"b{k}", b), transB=1)
        if k + 1 < layers:
            y = last
            for kind in NODES[policy.activation]:
                last = node(kind, *([y, last] if kind == "Mul" else [last]))
    if policy.squash:
        last = node("Tanh", last)
        last = node("Mul", last, constant("half", policy.half))
        last = node("Add", last, constant("middle", policy.middle))
    last = node("Max", last, constant("low", policy.low))
    last = node("Min", last, constant("high", policy.high))
    nodes[-1].output[0] = "action"
    n, *_, m = policy.sizes
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("observation", onnx.TensorProto.FLOAT, ["batch", n])],
        [helper.make_tensor_value_info("action", onnx.TensorProto.FLOAT, ["batch", m])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="featherstorm")
    model.ir_version = 8  # for opsets 13 to 15; older runtimes read it
    helper.set_model_props(model, {"task": policy.task, "group": policy.group})
    onnx.checker.check_model(model)
    onnx.save(model, os.fspath(path))


KIND, FORMAT = "featherstorm policy", 2  # policies without squash are still written as format 1, which has no squash
LARGEST = 2**28  # bytes of a file's arrays; a policy has thousands to millions of numbers
ARRAYS = ("mean", "variance", "log_std", "low", "high")


class Policy:
    """The mean action of a Gaussian policy, within its range.

        x = clip((obs - mean) / sqrt(variance + 1e-8), -10, 10)
        action = clip(network(x), low, high), or with squash
        action = clip(middle + half tanh(network(x)), low, high),   middle = (low + high) / 2, half = (high - low) / 2

    weights       [W_0, b_0, W_1, ...] of the network, W_k (out, in), b_k (out), float32
    activation    of the hidden layers: "tanh", "elu", "relu" or "silu"
    mean, variance   of the observations in training (n,)
    log_std       of the actions in training (m,); with squash, the mean log_std of the argument of tanh
    low, high     range of the actions (m,), in the task's units
    squash        True: tanh maps to the range; False: actions are clipped to it
    group         the observation group that the policy reads; "" if the task has no groups
    task          the task's name
    settings      arguments of the task and settings of the training: plain numbers and strings
    origin        seed, steps, version and further entries on the training run
    Errors: ValueError if sizes do not match, or a number is not finite.
    """

    def __init__(
        self,
        weights: Sequence[Array],
        activation: str,
        mean: Array,
        variance: Array,
        log_std: Array,
        low: Array,
        high: Array,
        *,
        squash: bool = False,
        group: str = "",
        task: str = "",
        settings: Mapping[str, Any] | None = None,
        origin: Mapping[str, Any] | None = None,
    ) -> None:
        expect_one_of("Policy: activation", activation, LEARNT)
        self.network = Network([np.array(w, np.float32) for w in weights], activation)
        self.mean, self.variance, self.log_std, self.low, self.high = (
            np.array(x, np.float32) for x in (mean, variance, log_std, low, high)
        )
        self.activation, self.squash, self.group, self.task = activation, squash, group, task
        self.settings, self.origin = dict(settings or {}), dict(origin or {})
        self.check()
        self.rate = rate_of(self.variance)
        if squash:
            self.middle, self.half = (self.low + self.high) / 2, (self.high - self.low) / 2

    def __repr__(self) -> str:
        found = self.origin.get("evaluation")
        best = f", return {found:.4g}" if isinstance(found, (int, float)) else ""
        sizes = "-".join(map(str, self.sizes))
        return f"<featherstorm.learning.Policy {self.task or 'without a task'}: {sizes}, {self.activation}{best}>"

    @property
    def weights(self) -> list[Array]:
        return self.network.weights

    @property
    def sizes(self) -> list[int]:
        """Sizes of the observation, the hidden layers and the action."""
        return [self.weights[0].shape[1], *(len(b) for b in self.weights[1::2])]

    def check(self) -> None:
        """Raise ValueError if sizes do not match, or a number is not finite."""
        w = self.weights
        if len(w) < 2 or len(w) % 2 or any(x.ndim != 2 - k % 2 for k, x in enumerate(w)):
            raise ValueError(
                "Policy: weights have wrong dimensions, expected a matrix (out, in) and a bias (out) of each layer"
            )
        n, *_, m = sizes = self.sizes
        for k in range(len(w) // 2):
            expect_shape(f"Policy: W_{k}", w[2 * k].shape, (sizes[k + 1], sizes[k]))
        expected = {"mean": n, "variance": n, "log_std": m, "low": m, "high": m}
        for name, size in expected.items():
            expect_shape(f"Policy: {name}", getattr(self, name).shape, (size,))
        for name, x in [("weights", x) for x in w] + [(x, getattr(self, x)) for x in ("mean", "variance", "log_std")]:
            if not np.isfinite(x).all():
                raise ValueError(f"Policy: {name} has numbers that are not finite")
        if (self.variance < 0).any() or not (self.low <= self.high).all():
            raise ValueError("Policy: expected variance of 0 or more, and low not above high")
        if self.squash and not np.isfinite([self.low, self.high]).all():
            raise ValueError("Policy: low or high is infinite, expected a finite range with squash")

    def __call__(self, obs: Any) -> Array:
        """Return actions (..., m), float32, for observations (..., n), or for a dict of observation groups."""
        if hasattr(obs, "keys"):
            if self.group not in obs:
                raise ValueError(f"Policy: observations are {', '.join(obs)}, expected {self.group!r} among them")
            obs = obs[self.group]
        x = np.asarray(obs, np.float32)
        n, *_, m = self.sizes
        if x.ndim < 1 or x.shape[-1] != n:
            raise ValueError(f"Policy: observations have shape {x.shape}, expected (..., {n})")
        rows = normalised(x.reshape(-1, n), self.mean, self.rate)
        y = self.network(rows)
        if self.squash:
            y = self.middle + self.half * np.tanh(y)
        return np.clip(y, self.low, self.high).reshape(*x.shape[:-1], m)

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .npz file: arrays, and a JSON header with the rest. An incomplete file never appears at the path."""
        header = {
            "kind": KIND, "format": FORMAT if self.squash else 1, "layers": self.network.layers, "activation": self.activation,
            "squash": self.squash, "group": self.group, "task": self.task, "settings": self.settings, "origin": self.origin,
        }  # fmt: skip
        arrays = {f"{'Wb'[k % 2]}{k // 2}": x for k, x in enumerate(self.weights)}
        arrays.update({name: getattr(self, name) for name in ARRAYS})
        write_arrays(path, header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a file of `save`.

        Errors: FileNotFoundError; ValueError for another kind of file, or one that is damaged or of a later format.
        """
        header, arrays = read_arrays(path, KIND, FORMAT, LARGEST)
        try:
            layers = header["layers"]
            if not (isinstance(layers, int) and 1 <= layers <= len(arrays)):
                raise ValueError(f"Policy: layers is {layers!r}, expected as many as the file has matrices")
            weights = [arrays[f"{'Wb'[k % 2]}{k // 2}"] for k in range(2 * layers)]
            texts = {name: header[name] for name in ("group", "task")}
            tables = {name: header[name] for name in ("settings", "origin")}
            if not all(isinstance(x, str) for x in (header["activation"], *texts.values())):
                raise ValueError("Policy: expected strings for activation, group and task")
            if not all(isinstance(x, dict) for x in tables.values()):
                raise ValueError("Policy: expected dicts for settings and origin")
            if not isinstance(squash := header.get("squash", False), bool):
                raise ValueError("Policy: expected true or false for squash")
            values: list[Any] = [arrays[name] for name in ARRAYS]
            return cls(weights, header["activation"], *values, squash=squash, **texts, **tables)  # type: ignore[misc]  # five arrays
        except KeyError as error:
            raise ValueError(f"{os.fspath(path)}: not a featherstorm policy: {error} is missing") from None
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write an ONNX model from "observation" (batch, n) to "action" (batch, m), float32.

        The model includes normalisation and range. Its metadata has the task's name and the observation group. Errors:
        ImportError if the package onnx is missing.
        """
        write(path, self)
