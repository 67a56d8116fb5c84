"""Functions for operations without a hand-written one, generated from the table of operations."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING, Any

from .._robot.steps import check_tree
from .evaluation import run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..model import Model
    from ..typing import Array, ArrayLike, Names


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
