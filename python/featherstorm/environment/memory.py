"""Memory of an environment: numbers kept from step to step besides the state of its robot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._names import hint
from ..symbols import plain, symbols, values_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Shapes = dict[str, tuple[int, ...]]


def shapes_of(declared: Mapping[str, Any]) -> Shapes:
    """Return the shapes of the rows that an environment declares: numbers, or shapes."""
    shapes = {}
    for name, shape in declared.items():
        sizes = (shape,) if np.ndim(shape) == 0 else tuple(shape)
        if not name.isidentifier() or name.startswith("_"):
            raise ValueError(f"memory: {name!r} is no name, expected an identifier that does not begin with _")
        if any(int(n) != n or n < 1 for n in sizes):
            raise ValueError(f"memory: {name} is {shape!r}, expected how many numbers it has, or their shape")
        shapes[name] = tuple(map(int, sizes))
    return shapes


def size_of(shapes: Shapes) -> int:
    return sum(map(math.prod, shapes.values()))


def columns_of(shapes: Shapes) -> dict[str, slice]:
    """Return the columns of each row among all numbers."""
    found, first = {}, 0
    for name, shape in shapes.items():
        found[name] = slice(first, first + math.prod(shape))
        first += math.prod(shape)
    return found


class Memory:
    """Rows of one environment by name.

    `m.last` has the numbers of the last step, `m.last = a` sets them for the next one.
    """

    __slots__ = ("_changed", "_shapes", "_values")
    _changed: set[str]
    _shapes: Shapes
    _values: dict[str, Any]

    def __init__(self, shapes: Shapes, numbers: Sequence[Any]) -> None:
        """Make the memory. numbers: of all rows, one after the other."""
        values = {name: symbols(numbers[columns]).reshape(shapes[name]) for name, columns in columns_of(shapes).items()}
        object.__setattr__(self, "_shapes", shapes)
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_changed", set())

    def _unknown(self, name: str) -> str:
        more = hint(name, self._shapes, f"; there are: {', '.join(self._shapes) or 'none'}")
        return f"the environment has no memory '{name}'{more}"

    def __getattr__(self, name: str) -> Any:
        if name not in self._values:
            raise AttributeError(self._unknown(name))
        return self._values[name].copy()  # a copy: writing into it is not an assignment

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._values:
            raise AttributeError(self._unknown(name))
        shape = self._shapes[name]
        try:
            spread = np.broadcast_to(np.asarray(plain(value), dtype=object), shape)
        except ValueError:
            if np.size(value) != math.prod(shape):
                raise ValueError(f"memory: {name} is given the shape {np.shape(value)}, expected {shape}") from None
            spread = np.asarray(plain(value), dtype=object).reshape(shape)
        self._values[name] = symbols(values_of(spread, f"memory: {name}")).reshape(shape)
        self._changed.add(name)


def numbers_of(memory: Memory) -> list[Any]:
    """Return the numbers of all rows, one after the other."""
    return [x for value in memory._values.values() for x in np.ravel(plain(value)).tolist()]


def is_changed(memory: Memory) -> bool:
    return bool(memory._changed)


class Parameters:
    """Nominal numbers of the model's parameters, by name: `p.body_mass` (nbody)."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(self.__dict__) or "none"
        raise AttributeError(f"randomise: {name!r} is not among the environment's parameters: {known}")
