"""Random numbers and memory of an environment's functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._names import hint
from ..symbols import plain, symbols, values_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .. import _featherstorm

    Size = int | tuple[int, ...] | None

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


class Draws:
    """numpy.random.Generator's methods on symbols. Without `size` the shape is that of the parameters."""

    def __init__(self, trace: _featherstorm.Trace, array: str) -> None:
        """Make the generator. array: its name in the trace, made when the first number is drawn."""
        self._trace, self._array, self.count = trace, array, 0

    def random(self, size: Size = None) -> Any:
        """Uniform in (0, 1): odd multiples of 2^-24."""
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        n = math.prod(shape)
        if self.count == 0 and n:
            found = self._trace.input(self._array, n)
        else:
            found = self._trace.more(self._array, n) if n else []
        self.count += n
        return symbols(found).reshape(shape)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Size = None) -> Any:
        """Uniform between low and high."""
        u = self._of((low, high), size)
        return low + (np.asarray(high) - low) * u

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
        """Normal with mean `loc` and standard deviation `scale`, by Box-Muller.

        At most 5.77 deviations from the mean.
        """
        shape = self._shape((loc, scale), size)
        pairs = (math.prod(shape) + 1) // 2
        u = self.random(2 * pairs)
        radius, angle = np.sqrt(-2.0 * np.log(u[:pairs])), 2 * np.pi * u[pairs:]
        z = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[: math.prod(shape)].reshape(shape)
        return loc + scale * z

    def exponential(self, scale: Any = 1.0, size: Size = None) -> Any:
        """Exponential with mean `scale`."""
        return -scale * np.log(self._of((scale,), size))

    def integers(self, low: Any, high: Any = None, size: Size = None) -> Any:
        """Whole numbers from low to high - 1; from 0 to low - 1 without high."""
        low, high = (0, low) if high is None else (low, high)
        return low + np.floor((np.asarray(high) - low) * self._of((low, high), size))

    def bernoulli(self, p: Any, size: Size = None) -> Any:
        """True with probability p: a condition for np.where."""
        return self._of((p,), size) < p

    def choice(self, values: Any) -> Any:
        """One of the rows of `values`, with equal probabilities."""
        rows = np.asarray(values)
        if not len(rows):
            raise ValueError("choice: there are no values")
        at, found = self.random() * len(rows), rows[0]
        for k in range(1, len(rows)):
            found = np.where(at >= k, rows[k], found)
        return found

    def _shape(self, parameters: tuple[Any, ...], size: Size) -> tuple[int, ...]:
        if size is not None:
            return (size,) if isinstance(size, int) else tuple(size)
        return np.broadcast_shapes(*(np.shape(x) for x in parameters))

    def _of(self, parameters: tuple[Any, ...], size: Size) -> Any:
        return self.random(self._shape(parameters, size))
