"""Evaluation of an operation on the arrays of a call: checks, inputs of the engine, results."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._memory.arguments import Arguments
from .._memory.arrays import EngineArray, check_memory
from .._robot.steps import check_tree, zeros
from ..model import Model, Row, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from ..typing import Array, ArrayLike, Frame, Names

MANY = 2**16  # instances whose results are compared with the free memory before anything is computed
QUATERNION_SLACK = 1e-2  # largest allowed difference of a norm from 1; integration renormalises


def evaluate(
    model: Model,
    op: str,
    arguments: Sequence[ArrayLike | None],
    frame: Frame | None = None,
    numbers: Mapping[str, Any] | None = None,
    repeat: int = 1,
    check: bool = True,
    caller: str | None = None,
    out: Sequence[Array] | None = None,
    complete: bool = False,
) -> tuple[Arguments, list[Array]]:
    """Run an operation; return its Arguments and a view (instances, ...) of each output.

    complete   True: the arguments are all inputs of the operation, the model's parameters among them
    """
    label = caller or op
    if not complete:
        op, arguments = form(model, op, arguments)
    row = model.row(op)
    if model.parameters and not complete:
        arguments = model.with_parameters(row, arguments)
    if len(arguments) != len(row.inputs):
        names = ", ".join(name for name, _ in row.inputs if name not in model.parameters)
        raise TypeError(f"{label}: got {len(arguments)} arrays, expected {len(row.inputs)}: {names}")
    batch = Arguments(label, arguments, row.inputs, row.shapes)
    if batch.instances > MANY and out is None and batch.library.readable:
        size = batch.dtype.itemsize * batch.instances * sum(n for _, n in row.outputs)
        check_memory(f"{label}: {batch.instances} instances", size, "use several smaller batches")
    if check and model.quaternions and batch.library.readable:
        for (name, n), array in zip(row.inputs, batch.arrays):
            if n == model.nq and name.startswith("q") and not name.endswith(("_bar", "_tan")):
                check_quaternions(model, label, name, array)
    uniforms = model.uniform_values(op, numbers or {}, label)
    index = frame_index(model, row, frame, label)
    outputs = [] if out is not None else [batch.output(batch.instances, n) for _, n in row.outputs]
    memory = [memory for memory, _ in outputs] if out is None else out_memory(batch, row, out)
    model.evaluator.run(op, batch.arrays, memory, uniforms, index, repeat, batch.library.stream, batch.instances)
    tell_notices(model)
    return batch, [view(row.shapes[name]) for (_, view), (name, _) in zip(outputs, row.outputs)]


def out_memory(batch: Arguments, row: Row, out: Sequence[Array]) -> list[Any]:
    """Return the memory of arrays that are given for the outputs of an operation."""
    if len(out) != len(row.outputs):
        names = ", ".join(name for name, _ in row.outputs)
        raise TypeError(f"{batch.op}: out has {len(out)} arrays, expected {len(row.outputs)}: {names}")
    return [batch.written(x, name, n, row.shapes[name]) for x, (name, n) in zip(out, row.outputs)]


def form(model: Model, op: str, given: Sequence[ArrayLike | None]) -> tuple[str, list[Array]]:
    """Return the operation that takes the given optional inputs, and its arguments.

    Zeros replace optional inputs that are absent where the operation has no form without them.
    """
    row = model.row(op)
    arguments: list[Array] = list(given)
    needed = len(row.inputs) - len(model.parameters)
    if row.given and len(arguments) > needed:
        if all(x is None for x in arguments[needed:]):
            return op, arguments[:needed]
        # optional inputs are the last ones; zeros replace the absent ones
        sizes = [n for name, n in model.row(row.given).inputs if name not in model.parameters]
        for k in range(needed, len(sizes)):
            if k == len(arguments):
                arguments.append(None)
            if arguments[k] is None:
                arguments[k] = zeros(sizes[k])
        return row.given, arguments
    if row.optional:
        own = [(name, n) for name, n in row.inputs if name not in model.parameters]
        if len(arguments) == len(own) - len(row.optional):
            for k, (name, _) in enumerate(own):
                if name in row.optional:
                    arguments.insert(k, None)
        if len(arguments) == len(own):
            arguments = [zeros(n) if x is None and name in row.optional else x for (name, n), x in zip(own, arguments)]
    return op, arguments


def frame_index(model: Model, row: Row, frame: Frame | None, label: str) -> int:
    if not row.uses_frame:
        if frame is not None:
            raise TypeError(f"{label} takes no frame")
        return 0
    if frame is None:
        raise TypeError(f"{label}: which frame? Give its name (model.frame_names) or index")
    return model.frame(frame)


def tell_notices(model: Model) -> None:
    for notice in model.evaluator.take_notices():
        tell(notice)


def check_quaternions(model: Model, op: str, name: str, array: npt.NDArray[Any] | _featherstorm.Buffer) -> None:
    """Raise ValueError for a quaternion whose norm is far from 1. NaN passes."""
    if isinstance(array, _featherstorm.Buffer):
        array = np.asarray(array.view([model.nq]))
    for joint, c in model.quaternions:
        norm2 = np.square(array[:, c : c + 4]).sum(axis=1)
        wrong = np.abs(norm2 - 1) > 2 * QUATERNION_SLACK
        if wrong.any():
            i = int(np.argmax(wrong))
            norm = float(np.sqrt(norm2[i]))
            hint = (
                "all zeros is not a valid q; begin with model.q0" if norm == 0 else "normalise it; the order is w x y z"
            )
            raise ValueError(
                f"{op}: {name}[{i}, {c}:{c + 4}], the quaternion of joint '{joint}', has norm {norm:.4g}, "
                f"expected 1: {hint}"
            )


def run_in_place(
    model: Model,
    op: str,
    arrays: Sequence[ArrayLike | None],
    out: Sequence[Array],
    frame: Frame | None,
    numbers: Mapping[str, Any],
) -> bool:
    """Run an operation whose arrays are all made by `zeros` on the CPU, which need no conversion; else return False."""
    row, n = model.row(op), len(arrays)
    if n != len(row.inputs) or len(out) != len(row.outputs):
        return False
    given = [x for x in (*arrays, *out) if type(x) is EngineArray and x.memory is not None and len(x) == len(out[0])]
    if len(given) != n + len(out):
        return False
    memory = [x.memory for x in given]
    index = frame_index(model, row, frame, op)
    model.evaluator.run(op, memory[:n], memory[n:], model.uniform_values(op, numbers), index)
    tell_notices(model)
    return True


def run(
    model: Model,
    op: str,
    *arrays: ArrayLike | None,
    frame: Frame | None = None,
    check: bool = True,
    out: Array = None,
    **numbers: ArrayLike,
) -> Array:
    """Run any operation of the table `model.ops` by name, and return the output (B, components), or a tuple of outputs.

    arrays    inputs in the order of the operation
    numbers   its uniforms, by keyword
    check     False: quaternions are not checked
    out       array for the output, or a tuple of arrays, of the shapes of the results; it is returned. On a device, and
              for the shortest time, arrays of `zeros`
    The operation runs alone, in one step: `dt` is the time of its only substep. Contacts, loops, couplings and the
    world that the model carries have no effect unless the operation is one for them.
    """
    if out is not None:
        written = out if isinstance(out, tuple) else (out,)
        if check or not run_in_place(model, op, arrays, written, frame, numbers):
            evaluate(model, op, arrays, frame, numbers, check=check, out=written)
        return out
    batch, outputs = evaluate(model, op, arrays, frame, numbers, check=check)
    results = tuple(batch.result(view) for view in outputs)
    return results[0] if len(results) == 1 else results


def function_of(name: str, row: Mapping[str, Any]) -> Callable[..., Array]:
    """Make the function of an operation from its table entry: a signature, a docstring with equation and shapes."""
    inputs, uniforms = [a["name"] for a in row["inputs"]], [a["name"] for a in row["uniforms"]]
    optional = {a["name"] for a in row["inputs"] if a["optional"]}

    def function(model: Model, *arrays: ArrayLike, ignore: Names = (), check: bool = True, **given: Any) -> Array:
        check_tree(model, name, ignore)
        if len(arrays) > len(inputs):
            raise TypeError(f"{name}: got {len(arrays)} arrays, expected {len(inputs)}: {', '.join(inputs)}")
        values = dict(zip(inputs, arrays))
        values.update({array: given.pop(array) for array in inputs[len(arrays) :] if array in given})
        if missing := [array for array in inputs if array not in values and array not in optional]:
            raise TypeError(f"{name}: {', '.join(missing)} is missing")
        frame = given.pop("frame", None)
        return run(model, name, *(values.get(array) for array in inputs), frame=frame, check=check, **given)

    def parameter(name: str, kind: Any, default: object = inspect.Parameter.empty) -> inspect.Parameter:
        return inspect.Parameter(name, kind, default=default)

    keyword = inspect.Parameter.KEYWORD_ONLY
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = [parameter("model", either)]
    for k, array in enumerate(inputs):  # an optional input before others may be None, but stays positional
        last = all(later in optional for later in inputs[k:])
        signature.append(parameter(array, either, None if last else inspect.Parameter.empty))
    signature += [parameter("frame", keyword)] if row["uses_frame"] else []
    signature += [parameter(n, keyword) for n in uniforms]
    signature += [parameter("ignore", keyword, ()), parameter("check", keyword, True)]
    function.__name__ = function.__qualname__ = name
    function.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    function.__doc__ = description(row)
    return function


def sentence(text: str) -> str:
    """Capitalize a text, unless it begins with a symbol."""
    first = text.split()[0]
    return (text if len(first) == 1 or not first.isalpha() else text[0].upper() + text[1:]) + "."


def description(row: Mapping[str, Any]) -> str:
    """Return the docstring of an operation."""
    lines = [sentence(row["summary"]), "", f"    {row['equation']}          {row['source']}", ""]
    for word, key in (("in ", "inputs"), ("in ", "uniforms"), ("out", "outputs")):
        for array in row[key]:
            shape = array["shape"] if key == "uniforms" else f"B, {array['shape']}"
            text = array["name"] + ("" if key == "uniforms" and shape == "1" else f" ({shape})")
            text += f": {array['meaning']}" + (f" [{array['unit']}]" if array["unit"] else "")
            text += f"; {array['range']}" if array["range"] and key != "outputs" else ""
            text += "; the same for all instances" if key == "uniforms" else ""
            text += "; None: zeros" if array["optional"] and key == "inputs" else ""
            lines += textwrap.wrap(text, 110, initial_indent=f"{word}  ", subsequent_indent="       ")
    if row["uses_frame"]:
        lines.append("in   frame: by name or number")
    if row["needs"]:
        lines.append(f"For robots with {row['needs']}.")
    lines.append(f"Cost {row['cost']} on a chain of n joints.")
    return "\n".join(lines)
