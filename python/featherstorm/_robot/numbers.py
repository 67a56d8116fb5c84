"""Numeric keyword arguments of the stepping functions: their names in signatures, defaults and checks."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import _featherstorm
from .._names import argument_hint
from ..typing import ContactNumbers, LoopNumbers, Names, SoftContactNumbers
from .steps import Carrier, Stepped, check_tree, independent, pass_count, refuse_controls, substep_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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


def step_by(
    run: Callable[..., Any],
    label: str,
    model: Any,
    op: str,
    state: tuple[Any, Any],
    drive: tuple[Any, Any],
    impulse: Any,
    dt: float | None,
    substeps: int | None,
    controls: Mapping[str, Any],
    numbers: Mapping[str, Any],
) -> Stepped:
    """Step a robot without a world by an array library's `run`, which takes the model, an operation's name and arrays.

    state, drive   q and v, tau and q_target
    impulse        those at contacts, where the step begins
    controls       arguments for a world alone, which are refused
    """
    refuse_controls("step", controls)
    dt, substeps = pass_count("step", model, op, dt, substeps)
    uniforms = step_numbers(label, model, op, numbers, substep_time("step", dt, substeps))
    now: Any = state
    if op == "contact_step":
        now = (*state, impulse)
    elif op == "coupled_step":
        now = (run(model, "coupled_position", state[0]), state[1][..., independent(model)])
    for _ in range(substeps):
        now = run(model, op, *now, *drive, **uniforms)
    return Stepped(now[0], run(model, "coupled_velocity", now[1]) if op == "coupled_step" else now[1])


def functions_of(module: str, names: dict[str, Any], run: Callable[..., Any]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module whose functions are operations by its `run`. names: its globals."""

    def attribute(name: str) -> Any:
        table = _featherstorm.operation_table()
        if name not in table:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")

        def function(model: Any, *arrays: Any, ignore: Names = (), **options: Any) -> Any:
            check_tree(model, name, ignore)
            return run(model, name, *arrays, **options)

        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"{table[name]['summary']}, with gradients; see model.ops[{name!r}] for its arrays."
        names[name] = function
        return function

    return attribute
