"""Numbers that functions which step take by keyword: their names in signatures, their defaults, and their check."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import _featherstorm
from .._names import argument_hint
from ..typing import ContactNumbers, LoopNumbers, SoftContactNumbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .steps import Carrier

    F = TypeVar("F", bound=Callable[..., Any])


@functools.lru_cache(256)
def step_defaults(op: str, dt: float) -> dict[str, float | None]:
    """Return the default numbers of an operation for substeps of the time dt; None: the number is required."""
    return {name: None if np.isnan(x) else x for name, x in _featherstorm.step_defaults(op, dt)}


# operation -> its numbers; those of `step` are in all of them
NUMBERS_OF: dict[str, Any] = {
    "contact_step": ContactNumbers,
    "loop_step": LoopNumbers,
    "soft_contact_step": SoftContactNumbers,
}
ARGUMENTS: dict[str, tuple[str, ...]] = {}  # label of a function with numbers -> the names of its arguments


def with_numbers(numbers: Any, label: str = "") -> Callable[[F], F]:
    """Write the names of a TypedDict to the signature of a function with `**numbers`, and to its docstring.

    label   name of the function in messages; "": its own
    """

    def named(function: F) -> F:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind != p.VAR_KEYWORD]
        more, lines = [], []
        for name, kind in numbers.__annotations__.items():
            annotation = kind.__origin__.__forward_arg__
            default = inspect.Parameter.empty if name in numbers.__required_keys__ else None
            more.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
            lines.append(f"             {name}  {kind.__metadata__[0]}")
        function.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        before, found, after = (function.__doc__ or "").partition("    in   numbers")
        if found:
            first, _, rest = after.partition("\n")
            function.__doc__ = "\n".join([before + found + first, *lines, rest])
        ARGUMENTS[label or function.__qualname__.removesuffix(".__init__")] = tuple(p.name for p in (*own, *more))
        return function

    return named


def step_numbers(label: str, model: Carrier, op: str, given: Mapping[str, Any], dt: float) -> dict[str, Any]:
    """Return the uniforms of an operation that steps, for substeps of the time dt; None stands for the default.

    Errors: TypeError for a name that the function `label` lacks, for a number of another operation, and for a missing
    number.
    """
    for name in given:
        if name not in ARGUMENTS[label]:
            remedy = argument_hint(name, ARGUMENTS[label], f"; expected some of {', '.join(ARGUMENTS[label])}")
            raise TypeError(f"{label}: {name} is not an argument{remedy}")
    given = {name: x for name, x in given.items() if x is not None}
    if op == "world":
        if given:
            raise TypeError(
                f"{label}: {', '.join(sorted(given))}: a model file's world is stepped by what the file says; "
                "ignore='world' steps the tree alone"
            )
        return {}
    numbers = {**step_defaults(op, float(dt)), "dt": dt}
    for name in given:
        if name not in numbers:
            owner = next(other for other, names in NUMBERS_OF.items() if name in names.__annotations__)
            raise TypeError(f"{label}: {name} is for {owner}, but {model.name} is stepped by {op}; leave it out")
    numbers.update(given)
    missing = [name for name, x in numbers.items() if x is None]
    if missing:
        raise TypeError(f"{label}: {', '.join(missing)} must be given")
    return numbers
