"""Arrays of numbers for calling an environment's functions without a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..environment.memory import Memory, Shapes, columns_of
from ..symbols import bare, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


class Numbers(np.ndarray[Any, np.dtype[Any]]):
    """An array of float64.

    Results of functions stay of this class: arrays of objects, common in traced code, become numbers again.
    """

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        given = [as_floats(x) if isinstance(x, np.ndarray) else x for x in inputs]
        if out is not None:
            getattr(ufunc, method)(*given, out=tuple(x.view(np.ndarray) for x in out), **options)
            return out[0]
        found = getattr(ufunc, method)(*given, **options)
        return found.view(Numbers) if type(found) is np.ndarray else found


def as_floats(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the plain array; objects become floats."""
    found = x.view(np.ndarray)
    return np.array([bare(y) for y in found.ravel().tolist()], float).reshape(x.shape) if x.dtype == object else found


def numbers(x: Any) -> Numbers:
    """Convert the result of a function (arrays, nested lists, conditions) to an array."""
    return as_floats(np.asarray(plain(x))).astype(float).view(Numbers)


class NumberMemory(Memory):
    """environment.memory.Memory with numeric values."""

    __slots__ = ()

    def __init__(self, shapes: Shapes, values: Sequence[float]) -> None:
        """Make the memory from the concatenated `values` of all rows."""
        rows = {
            name: np.array(values[columns], float).reshape(shapes[name]) for name, columns in columns_of(shapes).items()
        }
        object.__setattr__(self, "_shapes", shapes)
        object.__setattr__(self, "_values", rows)
        object.__setattr__(self, "_changed", set())

    def __getattr__(self, name: str) -> Any:
        if name not in self._values:
            raise AttributeError(self._unknown(name))
        return self._values[name].copy().view(Numbers)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._values:
            raise AttributeError(self._unknown(name))
        row, found = self._values[name], numbers(value)
        try:
            row[...] = found
        except ValueError:
            if found.size != row.size:
                raise ValueError(
                    f"memory: {name} is given the shape {found.shape}, expected {self._shapes[name]}"
                ) from None
            row[...] = found.reshape(row.shape)
        self._changed.add(name)


def flat(memory: NumberMemory) -> Array:
    """Return the concatenated values of all rows."""
    rows = [np.ravel(value) for value in memory._values.values()]
    return np.concatenate(rows) if rows else np.zeros(0)
