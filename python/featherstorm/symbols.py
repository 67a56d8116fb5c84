"""Symbols: arrays of numbers that are not known yet, with numpy's functions.

A cost, a controller or an observation is called once with such arrays and becomes machine code. Operators, indexing and
the functions of numpy named in FUNCTIONS work on them as on numbers; an array of one number has shape ().

A symbol has no truth value: write `np.where(c, a, b)` for `if`, and np.minimum for min. A symbol raises when it is used
after its function has returned.

An infinite number is a bound without effect: minimum, maximum, clip and comparisons accept it. Arithmetic with it
raises ValueError.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import _featherstorm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import Self

    from .model import Model
    from .typing import Frame

traced = _featherstorm.traced
# the largest float32, which is finite in both dtypes and stands for infinity in comparisons
LARGEST = float(np.finfo(np.float32).max)
NO_TRUTH = (
    "a traced value has no truth value and is no number yet: the function is called once, for all states. Instead of "
    "if, and, or, min, max, float use np.where, np.logical_and, np.logical_or, np.minimum, np.maximum"
)


def is_symbol(x: Any) -> bool:
    return isinstance(x, _featherstorm.Symbol)


def bare(x: Any) -> Any:
    """Return the element of an array of shape (), which numpy leaves as an element of arrays made from lists."""
    while isinstance(x, np.ndarray) and x.ndim == 0:
        x = x.item()
    return x


def element(name: str, numbers: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function on single elements: it records if one of them is a symbol, else it is numpy's."""
    record = {**dict.fromkeys(("minimum", "maximum"), bounded), **dict.fromkeys(("less", "less_equal"), compared)}

    def function(*given: Any) -> Any:
        x = [bare(value) for value in given]
        if any(map(is_symbol, x)):
            return record.get(name, traced)(name, *x)
        return numbers(*(float(value) for value in x))

    return function


def is_infinite(x: Any) -> bool:
    return not is_symbol(x) and isinstance(x, (int, float)) and math.isinf(x)


def bounded(name: str, a: Any, b: Any) -> Any:
    """Return minimum or maximum of two elements, one of them a symbol; nothing is recorded if the other is infinite."""
    for bound, x in ((a, b), (b, a)):
        if is_infinite(bound):
            return x if (bound > 0) == (name == "minimum") else bound
    return traced(name, a, b)


def compared(name: str, a: Any, b: Any) -> Any:
    """Return less or less_equal of two elements, one of them a symbol.

    Infinite bounds become LARGEST such that every number except NaN is within them, and none is beyond.
    """
    if is_infinite(a):
        a, name = math.copysign(LARGEST, a), "less" if a > 0 else "less_equal"
    if is_infinite(b):
        b, name = math.copysign(LARGEST, b), "less_equal" if b > 0 else "less"
    return traced(name, a, b)


def where_element(c: Any, a: Any, b: Any) -> Any:
    c, a, b = bare(c), bare(a), bare(b)
    if not is_symbol(c):
        return a if c else b
    return traced("where", c, a, b)


NATIVE: dict[str, Callable[..., Any]] = {
    name: element(name, getattr(np, name))
    for name in (
        "negative sqrt sin cos exp log arcsin arccos absolute floor add subtract multiply divide minimum maximum "
        "arctan2 less less_equal logical_and logical_or logical_not"
    ).split()
}
ELEMENTS: dict[str, Any] = {
    name: np.frompyfunc(f, f_arity, 1) for name, f in NATIVE.items() for f_arity in [getattr(np, name).nin]
}
WHERE = np.frompyfunc(where_element, 3, 1)


def power(x: Any, n: Any) -> Any:
    """Return x**n: products for whole numbers |n| <= 64, roots for multiples of a half, else exp(n log x)."""
    x, n = bare(x), bare(n)
    if is_symbol(n):
        return traced("exp", traced("multiply", n, NATIVE["log"](x)))
    if not is_symbol(x):
        return float(x) ** n
    if n < 0:
        return traced("divide", 1.0, power(x, -n))
    if 2 * n != int(2 * n) or n > 64:
        return traced("exp", traced("multiply", n, traced("log", x)))
    result, base, exponent = traced("sqrt", x) if n != int(n) else 1.0, x, int(n)
    while exponent:
        if exponent % 2:
            result = traced("multiply", result, base)
        exponent //= 2
        base = traced("multiply", base, base) if exponent else base
    return result


ELEMENTS["power"] = np.frompyfunc(power, 2, 1)

# ufuncs composed of others
DERIVED: dict[str, Callable[..., Any]] = {
    "positive": lambda x: x,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "fabs": np.absolute,
    "tan": lambda x: np.sin(x) / np.cos(x),
    "arctan": lambda x: np.arctan2(x, 1.0),
    "tanh": lambda x: 1 - 2 / (np.exp(2 * x) + 1),
    "exp2": lambda x: np.exp(np.log(2) * x),
    "log2": lambda x: np.log(x) / np.log(2),
    "log10": lambda x: np.log(x) / np.log(10),
    "hypot": lambda x, y: np.sqrt(x * x + y * y),
    "ceil": lambda x: -np.floor(-x),
    "sign": lambda x: np.where(x > 0, 1.0, np.where(x < 0, -1.0, 0.0)),
    "remainder": lambda x, y: x - np.floor(x / y) * y,
    "deg2rad": lambda x: x * (np.pi / 180),
    "radians": lambda x: x * (np.pi / 180),
    "rad2deg": lambda x: x * (180 / np.pi),
    "degrees": lambda x: x * (180 / np.pi),
    "fmin": np.minimum,
    "fmax": np.maximum,
    "clip": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "greater": lambda x, y: np.less(y, x),
    "greater_equal": lambda x, y: np.less_equal(y, x),
    "equal": lambda x, y: np.logical_and(np.less_equal(x, y), np.less_equal(y, x)),
    "not_equal": lambda x, y: np.logical_or(np.less(x, y), np.less(y, x)),
    "bitwise_and": np.logical_and,
    "bitwise_or": np.logical_or,
    "invert": np.logical_not,
    "matmul": lambda x, y: np.dot(x, y) if np.ndim(y) < 3 and np.ndim(x) < 3 else refuse("matmul of stacks"),
    "vecdot": lambda x, y: np.sum(x * y, axis=-1),
}
FUNCTIONS = sorted([*ELEMENTS, *DERIVED, "where", "linalg.norm", "sum", "prod", "min", "max", "mean", "dot"])


def refuse(what: str) -> NoReturn:
    raise TypeError(f"{what} cannot be traced; there are {', '.join(FUNCTIONS)}")


def plain(x: Any) -> Any:
    """Return the array of objects or numbers behind an argument of a ufunc."""
    return x.view(np.ndarray) if isinstance(x, Symbols) else x


def wrap(x: Any) -> Any:
    """Return an array of symbols; an argument without symbols is returned unchanged."""
    if isinstance(x, (tuple, list)):
        return type(x)(map(wrap, x))
    if is_symbol(x) or (isinstance(x, np.ndarray) and x.dtype == object):
        return np.asarray(x, dtype=object).view(Symbols)
    return x


class Symbols(np.ndarray[Any, np.dtype[np.object_]]):
    """An array of traced numbers."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        result = self.apply(ufunc, method, inputs, options)
        if out is None:
            return result
        out[0][...] = result
        return out[0]

    @staticmethod
    def apply(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
        name = ufunc.__name__
        options = {key: value for key, value in options.items() if key != "dtype" and value is not np._NoValue}
        if method == "reduce" and name in ("logical_and", "logical_or") and "axis" not in options:
            options["axis"] = 0
        if method in ("reduce", "accumulate", "outer") and name in ELEMENTS:
            if options.pop("where", True) is not True:
                refuse(f"{name} with where=")
            f = getattr(ELEMENTS[name], method)
            if method == "reduce":
                return wrap(reduced(ELEMENTS[name], name, *map(plain, inputs), **options))
            return wrap(f(*map(plain, inputs), **options))
        if method != "__call__" or options.keys() - {"casting", "order", "subok", "axes", "axis"}:
            refuse(f"np.{name}.{method}" if method != "__call__" else f"np.{name} with {', '.join(options)}")
        if name in ELEMENTS:
            return wrap(ELEMENTS[name](*map(plain, inputs)))
        if name in DERIVED:
            return DERIVED[name](*inputs)
        return refuse(f"np.{name}")

    def __array_function__(self, function: Callable[..., Any], types: Any, arguments: Any, options: Any) -> Any:
        if function is np.where:
            if len(arguments) != 3:
                refuse("np.where without two values")
            return wrap(WHERE(*map(plain, arguments)))
        if function is np.linalg.norm:
            return norm(*arguments, **options)
        if function is np.clip:
            return clip(*arguments, **options)
        return wrap(super().__array_function__(function, types, arguments, options))

    def __getitem__(self, key: Any) -> Any:
        return wrap(self.view(np.ndarray)[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.view(np.ndarray)[key] = value.view(np.ndarray)[()] if isinstance(value, Symbols) else value

    def __bool__(self) -> NoReturn:
        raise TypeError(NO_TRUTH)

    def __float__(self) -> NoReturn:
        raise TypeError(NO_TRUTH)

    __int__ = __index__ = __complex__ = __float__

    def __repr__(self) -> str:
        return f"<symbols of shape {self.shape}>"

    __str__ = __repr__

    def clip(self, low: Any = None, high: Any = None) -> Any:  # type: ignore[override]
        return clip(self, low, high)

    def dot(self, other: Any) -> Any:  # type: ignore[override]
        return np.dot(self, other)


def reduced(
    function: Callable[..., Any], name: str, x: Any, axis: Any = 0, keepdims: bool = False, initial: Any = None
) -> Any:
    """Apply function.reduce(x) in a fixed order: pairs of neighbours first, so that dependency chains are short."""
    x = np.asarray(x, dtype=object)
    axes = range(x.ndim) if axis is None else [axis] if np.ndim(axis) == 0 else axis
    axes = sorted(a % x.ndim for a in axes)
    y = np.moveaxis(x, axes, range(len(axes))).reshape(-1, *(n for k, n in enumerate(x.shape) if k not in axes))
    if len(y) == 0:
        if name not in ("add", "multiply"):
            raise ValueError(f"np.{name}.reduce of no numbers")
        result = np.full(y.shape[1:], {"add": 0.0, "multiply": 1.0}[name], dtype=object)
    else:
        while len(y) > 1:
            half = len(y) // 2
            rest = y[2 * half :]
            y = np.concatenate([np.asarray(function(y[0 : 2 * half : 2], y[1 : 2 * half : 2]), dtype=object), rest])
        result = y[0]
    if initial is not None:
        result = function(result, initial)
    return np.expand_dims(np.asarray(result, dtype=object), axes) if keepdims else result


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord not in (None, 2) or (ord == 2 and np.ndim(x) != 1 and axis is None):
        refuse(f"np.linalg.norm with ord={ord}")
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def clip(x: Any, low: Any = None, high: Any = None) -> Any:
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


class State(Symbols):
    """The state of a robot as seen by a traced function: x (nq + nv), with quantities that follow from it.

    x.q (nq), x.v (nv), x[i]; frames by name or index, world axes:
    x.position(frame) (3,) [m]   x.rotation(frame) (3, 3), frame axes to world axes
    x.velocity(frame) (6,) [rad/s, m/s], angular first
    x.run(op, *arrays, frame=None): any operation of model.ops, such as x.run("energy", x.q, x.v)
    """

    model: Model
    trace: _featherstorm.Trace  # type: ignore[assignment]
    poses: Symbols | None
    parameters: list[Any] | None

    def __new__(cls, model: Model, trace: _featherstorm.Trace, q: Sequence[Any], v: Sequence[Any]) -> Self:
        self = np.asarray([*q, *v], dtype=object).view(cls)
        self.model, self.trace, self.poses, self.parameters = model, trace, None, None
        return self

    @property
    def q(self) -> Symbols:
        return self[: self.model.nq]

    @property
    def v(self) -> Symbols:
        return self[self.model.nq :]

    def pose(self, frame: Frame) -> Symbols:
        if self.poses is None:
            self.poses = self.run("forward_kinematics", self.q)
        k = 12 * self.model.frame(frame)
        return self.poses[k : k + 12]

    def position(self, frame: Frame) -> Symbols:
        return self.pose(frame)[:3]

    def rotation(self, frame: Frame) -> Symbols:
        return self.pose(frame)[3:].reshape(3, 3)

    def velocity(self, frame: Frame) -> Symbols:
        return self.run("frame_velocity", self.q, self.v, frame=frame)

    def run(self, op: str, *arrays: Any, frame: Frame | None = None) -> Any:
        row = next((r for r in self.model.evaluator.ops if r.name == op), None)
        if row is None:
            self.model.row(op)  # raises with the reason
            raise NotImplementedError(f"{op}: a derivative cannot be traced")
        if row.uses_frame != (frame is not None):
            raise TypeError(f"{op} takes {'a' if row.uses_frame else 'no'} frame")
        index = 0 if frame is None else self.model.frame(frame)
        lists = [np.asarray(a, dtype=object).ravel().tolist() for a in arrays]
        if self.parameters is None:
            sizes = [(name, n) for name, n in row.inputs if name in self.model.parameters]
            self.parameters = [self.trace.input(name, n) for name, n in sizes]
        own = len(row.inputs) - len(self.parameters)
        lists[own:own] = self.parameters
        outputs = tuple(symbols(values) for values in self.trace.op(self.model.robot, row, index, lists))
        return outputs[0] if len(outputs) == 1 else outputs


def symbols(values: Sequence[Any]) -> Symbols:
    """Make an array from a list of symbols."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.view(Symbols)


def values_of(x: Any, what: str, size: int | None = None) -> list[Any]:
    """Return the result of a traced function as a list of `size` symbols and numbers (None: any size)."""
    if x is None:
        raise TypeError(f"{what} returned None, expected numbers")
    if isinstance(x, (tuple, list)):
        x = np.concatenate([np.ravel(np.asarray(plain(part), dtype=object)) for part in x]) if len(x) else np.zeros(0)
    flat = [bare(value) for value in np.ravel(np.asarray(plain(x), dtype=object)).tolist()]
    if any(not is_symbol(value) and not isinstance(value, (int, float)) for value in flat):
        raise TypeError(f"{what} returned a {type(x).__name__}, expected traced values and numbers")
    if size is not None and len(flat) != size:
        raise ValueError(f"{what} returned {len(flat)} numbers, expected {size}")
    return flat
