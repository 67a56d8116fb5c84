"""Sequences that cotangents are found by, on the CPU or a device, and the arithmetic on cotangents between them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _featherstorm
from ...device import HOST, DeviceArray, device_of, dtype_name, place
from ...symbols import Symbols, symbols, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..._memory.host_libraries import Library
    from ...model import Model

    Arrays = dict[str, Any]  # (B, n) by name: numpy's, or the engine's own on a device
    Array = Any


def bar(name: str) -> str:
    return f"{name}_bar"


class Place:
    """Device and dtype of arrays (instances, n)."""

    def __init__(self, library: Library, instances: int, dtype: Any) -> None:
        self.library, self.instances, self.dtype = library, instances, np.dtype(dtype)
        self.name = self.dtype.name  # numpy makes it anew each time

    def output(self, n: int) -> tuple[Any, Any]:
        """Memory for (instances, n), and a view of it."""
        memory, view = self.library.output(self.name, self.instances, n)
        return memory, view([n])

    def zeros(self, n: int) -> Any:
        """(1, n), which stands for all instances."""
        return np.zeros((1, n), self.dtype)

    def memory(self, x: Any) -> Any:
        """Return the memory of an array (instances, n) or (1, n) that the engine reads."""
        return self.library.memory(x, tuple(x.shape))

    def copy(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return np.array(x)
        memory, view = self.output(int(x.shape[1]))
        _featherstorm.copy(self.memory(x), memory, self.library.stream)
        return view

    def given(self, x: Any, n: int, what: str) -> Any:
        """An array that a user gave, as (instances, n).

        ValueError for one of another shape or place, TypeError for another dtype on a
        device.
        """
        found = device_of(x)
        if found == HOST:
            x = np.asarray(x, self.dtype)
        elif found != self.library.device:
            raise ValueError(f"pull_back: {what} is on {place(found)}, expected {place(self.library.device)}")
        elif dtype_name(x) != self.name:
            raise TypeError(f"pull_back: {what} is {dtype_name(x)}, expected {self.dtype}")
        shape, expected = tuple(x.shape), (self.instances, n)
        if shape != expected and not (n == 1 and shape == expected[:1]):
            raise ValueError(f"pull_back: {what} has shape {shape}, expected {expected[:1] if n == 1 else expected}")
        if isinstance(x, DeviceArray):
            return DeviceArray(x.buffer, [n], self.instances, x.dtype, x.device, x.stream, x.first)
        return x.reshape(expected)


def row_of(x: Any, t: int) -> Any:
    """x[t] of an array (T, B, n)."""
    if not isinstance(x, DeviceArray):
        return x[t]
    n = x.tail[1]
    first = (x.first or 0) + t * n
    return DeviceArray(x.buffer, [n], x.instances, x.dtype, x.device, x.stream, first)


class Part:
    """A sequence with what it reads and writes.

    reads, writes   numbers of arrays by name
    """

    def __init__(self, sequence: Any, reads: Mapping[str, int], writes: Mapping[str, int]) -> None:
        self.sequence, self.reads = sequence, {name: n for name, n in reads.items() if n}
        self.writes = {name: n for name, n in writes.items() if n}

    def __call__(self, arrays: Mapping[str, Any], at: Place) -> Arrays:
        """Return its outputs from arrays by name; missing arrays are zero."""
        inputs = [(name, at.memory(arrays[name]), 0, n, False) for name, n in self.reads.items() if name in arrays]
        found = {name: at.output(n) for name, n in self.writes.items()}
        written = [(name, memory, 0, self.writes[name], False) for name, (memory, _) in found.items()]
        self.sequence.run(1, at.instances, inputs, {}, written, None, at.library.stream)
        return {name: view for name, (_, view) in found.items()}


class Arithmetic:
    """On the CPU. Arrays (B, n); `done` (B, 1) is 1 where an episode ended, else 0."""

    def add(self, place: Place, x: Array, y: Array) -> Array:
        return x + y

    def add_to(self, bars: Arrays, found: Mapping[str, Array], place: Place) -> Arrays:
        """Adds cotangents "NAME_bar" to those of NAME."""
        for called, x in found.items():
            name = called.removesuffix("_bar")
            bars[name] = self.add(place, bars[name], x) if name in bars else x
        return bars

    def going(self, place: Place, done: Array, x: Array) -> Array:
        """x where the episode goes on, else zeros."""
        return np.where(done > 0, x.dtype.type(0), x)

    def chosen(self, place: Place, done: Array, after: Array, last: Array, n: int) -> Array:
        """`after` where the episode goes on, `last` where it ended; None: zeros."""
        after, last = (place.zeros(n) if x is None else x for x in (after, last))
        return np.where(done > 0, last, after)

    def finite(self, place: Place, arrays: Mapping[str, Array]) -> tuple[Arrays, Array]:
        """Return the arrays with zeros for each instance that has a number that is not finite.

        Also return (B, 1): 1 for these instances, else 0.
        """
        fine = np.logical_and.reduce([np.isfinite(x).all(1) for x in arrays.values()])[:, None]
        return {name: np.where(fine, x, x.dtype.type(0)) for name, x in arrays.items()}, np.where(fine, 0, 1)

    def squares(self, place: Place, arrays: Mapping[str, Array]) -> Any:
        """Sums of squares of each instance's numbers (B,), on the CPU; a device is waited for."""
        return sum(np.square(x, dtype=float).sum(1) for x in arrays.values())

    def times(self, place: Place, factor: Any, x: Array) -> Array:
        """factor (B,) of the CPU."""
        return (x * factor[:, None]).astype(x.dtype)


class DeviceArithmetic(Arithmetic):
    """The same as kernels on the stream of a device; they are kept by what they take."""

    def __init__(self, model: Model, dtype: str) -> None:
        self.model, self.dtype, self.parts = model, dtype, dict[Any, Part]()
        self.most = float(np.finfo(dtype).max)

    def run(
        self,
        place: Place,
        key: Any,
        arrays: Mapping[str, Array],
        function: Callable[[dict[str, Symbols]], dict[str, Any]],
    ) -> Arrays:
        """Apply `function` to arrays, both by name."""
        sizes = {name: int(x.shape[1]) for name, x in arrays.items()}
        key = (key, *sizes.items())
        if key not in self.parts:
            with closing(_featherstorm.Trace()) as trace:
                for name, value in function({name: symbols(trace.input(name, n)) for name, n in sizes.items()}).items():
                    trace.output(name, values_of(value, name))
            sequence = _featherstorm.traced_sequence(self.model.evaluator, self.dtype, trace)
            self.parts[key] = Part(sequence, trace.inputs, trace.outputs)
        return self.parts[key](arrays, place)

    def add(self, place: Place, x: Array, y: Array) -> Array:
        return self.run(place, "add", {"x": x, "y": y}, lambda a: {"sum": a["x"] + a["y"]})["sum"]

    def going(self, place: Place, done: Array, x: Array) -> Array:
        return self.chosen(place, done, x, None, x.shape[1])

    def chosen(self, place: Place, done: Array, after: Array, last: Array, n: int) -> Array:
        given = {name: x for name, x in (("after", after), ("last", last)) if x is not None}

        def function(a: dict[str, Symbols]) -> dict[str, Any]:
            after, last = (a.get(name, np.zeros(n)) for name in ("after", "last"))
            return {"chosen": np.where(a["done"][0] > 0, last, after)}

        return self.run(place, "chosen", {"done": done, **given}, function)["chosen"]

    def finite(self, place: Place, arrays: Mapping[str, Array]) -> tuple[Arrays, Array]:
        def function(a: dict[str, Symbols]) -> dict[str, Any]:
            # of comparisons `<` alone is false of NaN
            fine = np.logical_and.reduce(np.abs(np.concatenate([*a.values()])) < self.most)
            found = {f"{name}_fine": np.where(fine, x, 0.0) for name, x in a.items()}
            return {**found, "lost": np.where(fine, 0.0, 1.0)}

        found = self.run(place, "finite", arrays, function)
        return {name: found[f"{name}_fine"] for name in arrays}, found["lost"]

    def squares(self, place: Place, arrays: Mapping[str, Array]) -> Any:
        found = self.run(place, "squares", arrays, lambda a: {"sum": sum((x * x).sum() for x in a.values())})
        return np.array(found["sum"], float)[:, 0]

    def times(self, place: Place, factor: Any, x: Array) -> Array:
        given = {"factor": np.asarray(factor, self.dtype)[:, None], "x": x}
        return self.run(place, "times", given, lambda a: {"product": a["factor"][0] * a["x"]})["product"]


def arithmetic_of(place: Place, model: Model, dtype: str) -> Arithmetic:
    return Arithmetic() if place.library.device == HOST else DeviceArithmetic(model, dtype)
