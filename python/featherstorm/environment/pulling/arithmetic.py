"""Arithmetic on cotangents between programs, by numpy on the CPU, by kernels on a device: sums, choices, finiteness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _featherstorm
from ...device import HOST
from ...symbols import Symbols, symbols, values_of
from .parts import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...model import Model
    from .parts import Arrays, Place

    Array = Any


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
            trace = _featherstorm.Trace()
            try:
                for name, value in function({name: symbols(trace.input(name, n)) for name, n in sizes.items()}).items():
                    trace.output(name, values_of(value, name))
            finally:
                trace.close()
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
