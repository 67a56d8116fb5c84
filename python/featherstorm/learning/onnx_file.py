"""Export of a policy as an ONNX model."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .._optional import onnx
from .normaliser import LIMIT

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
