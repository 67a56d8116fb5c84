"""Arrays of environments in the engine's memory, on the host or on a device, and results of a step as the user's arrays."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._memory.arrays import check_memory
from .._memory.host_libraries import NUMPY, Library
from .._memory.named_buffers import Columns, NamedBuffers
from ..device import DeviceArray
from .recording import (
    DONE,
    LAST_LENGTH,
    LAST_RETURN,
    LAST_TERMS,
    LOST,
    REWARD,
    TERMINATED,
    TERMS,
    TRUNCATED,
    Recording,
    final,
    metric,
    observation,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy.typing as npt

    Bound = list[tuple[str, Any, int, int, bool]]  # arrays of a sequence (_featherstorm.Sequence.run)


class Storage(NamedBuffers):
    """Arrays (instances, n) by name, without arrays of size zero.

    doubled   names of arrays with two buffers, which `turn` swaps
    """

    def __init__(
        self, library: Library, dtype: str, instances: int, sizes: Mapping[str, int], doubled: Iterable[str]
    ) -> None:
        super().__init__(dtype, instances, library.device, library.stream)
        self.library = library
        self.sizes = {name: n for name, n in sizes.items() if n}
        doubled = list(doubled)
        if self.readable:
            numbers = sum(self.sizes.values()) + sum(self.sizes[name] for name in doubled)
            check_memory(f"{instances} environments", np.dtype(dtype).itemsize * instances * numbers, "make fewer")
        self.places = {name: self.place(n) for name, n in self.sizes.items()}
        self.others = {name: self.place(self.sizes[name]) for name in doubled}

    def __contains__(self, name: str) -> bool:
        return name in self.places

    def place(self, n: int) -> tuple[Columns, Any, Any]:
        """Allocate memory: return it, a view (instances, n), and one (instances,) where n is 1."""
        place = Columns(self.buffer(n), 0, n)
        return place, self.array(place), self.array(place, []) if n == 1 else None

    def turn(self) -> None:
        for name, other in self.others.items():
            self.places[name], self.others[name] = other, self.places[name]

    def follow(self, stream: int) -> None:
        """Use this stream of the device for all later work on the arrays; readers wait for it."""
        if stream == self.stream:
            return
        _featherstorm.synchronise(self.device, self.stream)
        self.stream = self.library.stream = stream
        for _, *views in (*self.places.values(), *self.others.values()):
            for view in views:
                if isinstance(view, DeviceArray):
                    view.stream = stream

    def memory(self, name: str) -> Any:
        return self.places[name][0].buffer

    def view(self, name: str) -> Any:
        """Return the view (instances, n); on the host it may be written."""
        return self.places[name][1]

    def numbers(self, name: str) -> Any:
        """Return an array of one number as (instances,)."""
        return self.places[name][2]

    def bound(self, names: Iterable[str], others: Mapping[str, str] | None = None) -> Bound:
        """Return arrays of a sequence; others: array -> its name here."""
        called = {name: name for name in names if name in self.places} | dict(others or {})
        return [self.places[of][0].named(name) for name, of in called.items()]

    def put(self, name: str, values: Any, rows: npt.NDArray[np.bool_] | None = None) -> None:
        """Write values, broadcast to the array, to all rows or to those of a mask.

        Values are on the host; writing to a device waits.
        """
        view = self.view(name)
        if isinstance(view, np.ndarray):
            view[slice(None) if rows is None else rows] = values
            return
        if isinstance(values, DeviceArray) and rows is None:
            view[:] = values
            return
        state = np.array(view)
        state[slice(None) if rows is None else rows] = values
        self.send(state, self.places[name][0])


class Rows:
    """An array (steps, B, n) on the device and of the dtype of a storage."""

    def __init__(self, storage: Storage, steps: int, n: int) -> None:
        self.all: Any = np.empty((steps, storage.instances, n), storage.dtype)

    def written(self, name: str, first: int = 0) -> tuple[str, Any, int, int, bool]:
        """Return it as an array of a sequence whose first step is number `first` here."""
        memory = self.all[first:].transpose(1, 0, 2)
        return name, memory, 0, memory.shape[2], True

    def begin(self, view: Any) -> None:
        """Copy an array (B, n) of the engine to the first step."""
        self.all[0] = view

    def last(self) -> Any:
        """The last step (B, n)."""
        return self.all[-1]

    def numbers(self) -> Any:
        """All numbers (steps, B, n)."""
        return self.all

    def column(self) -> Any:
        """All numbers (steps, B), of an array of one number."""
        return self.all[..., 0]

    def flags(self) -> Any:
        """All numbers as bool (steps, B), of an array of one number."""
        return self.column() > 0


class DeviceRows(Rows):
    """The same in the engine's memory on a device; flags there are numbers 0 and 1."""

    def __init__(self, storage: Storage, steps: int, n: int) -> None:
        self.steps, self.n = steps, n
        self.buffer = storage.buffer(steps * n)
        self.place = storage.instances, storage.dtype, storage.device, storage.stream

    def part(self, first: int, tail: list[int], axis: int = 0) -> DeviceArray:
        return DeviceArray(self.buffer, tail, *self.place, first, axis)

    def written(self, name: str, first: int = 0) -> tuple[str, Any, int, int, bool]:
        return name, self.part(first * self.n, [(self.steps - first) * self.n]).memory, 0, self.n, True

    def begin(self, view: Any) -> None:
        self.part(0, [self.n])[:] = view

    def last(self) -> Any:
        return self.part((self.steps - 1) * self.n, [self.n])

    def numbers(self) -> Any:
        return self.part(0, [self.steps, self.n], 1)

    def column(self) -> Any:
        return self.part(0, [self.steps], 1)

    def flags(self) -> Any:
        return self.column()


def rows(storage: Storage, steps: int, n: int) -> Rows:
    return (Rows if storage.readable else DeviceRows)(storage, steps, n)


class Results:
    """Results of a step. give: converts an array of the engine to the user's library."""

    def __init__(self, recording: Recording, storage: Storage, give: Callable[[Any], Any]) -> None:
        self.recording, self.storage, self.give = recording, storage, give

    def numbers(self, name: str) -> Any:
        return self.give(self.storage.numbers(name))

    def flag(self, name: str) -> Any:
        """Return (B,) of bool; for the engine's own arrays on a device numbers 0 and 1."""
        found = self.numbers(name)
        return found > 0 if hasattr(found, "__gt__") and not is_engines(found) else found

    def columns(self, name: str) -> dict[str, Any]:
        """Return the columns of an array with a number for each term of the reward, by name.

        The engine's own arrays on a device are not split.
        """
        if not self.recording.terms:
            return {}
        found = self.give(self.storage.view(name))
        if is_engines(found):
            return {"terms": found}
        return {term: found[:, k] for k, term in enumerate(self.recording.terms)}

    def observed(self, called: Callable[[str], str] = observation) -> Any:
        """Return observations by group."""
        found = {group: self.give(self.storage.view(called(group))) for group in self.recording.groups}
        return found[""] if set(found) == {""} else found

    def info(self) -> dict[str, Any]:
        done, terms = self.flag(DONE), self.columns(TERMS)
        told = {
            name: self.numbers(metric(name)) if n == 1 else self.give(self.storage.view(metric(name)))
            for name, n in self.recording.metrics.items()
        }
        ended = {"return": self.numbers(LAST_RETURN), "length": self.numbers(LAST_LENGTH), **self.columns(LAST_TERMS)}
        return {
            **told,
            **({"reward_terms": terms} if terms else {}),
            "final_obs": self.observed(final),
            "_final_obs": done,
            "final_info": ended,
            "_final_info": done,
            "non_finite": self.flag(LOST),
        }

    def step(self) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        flags = (self.flag(name) for name in (TERMINATED, TRUNCATED))
        return (self.observed(), self.numbers(REWARD), *flags, self.info())


def is_engines(x: Any) -> bool:
    """Return True if an array is the engine's own, on a device."""
    return not isinstance(x, np.ndarray) and type(x).__module__.partition(".")[0] == "featherstorm"


def giver(library: Library) -> Callable[[Any], Any]:
    """Return a conversion of the engine's arrays on the host to arrays of a library there."""
    return (lambda x: x) if library is NUMPY else library.result


def device_giver(name: str | None, lead: Any) -> Callable[[Any], Any]:
    """Return a conversion of the engine's arrays on a device to arrays of a library, in the same memory.

    The library is "torch", "jax", "cupy", or that of the array `lead`; without either arrays stay the engine's own.
    """
    root = name or type(lead).__module__.partition(".")[0].removesuffix("lib")
    if root in ("torch", "cupy"):
        namespace: Any = sys.modules[root]
    elif root == "jax":
        namespace = sys.modules["jax.numpy"]
    elif hasattr(lead, "__array_namespace__"):
        namespace = lead.__array_namespace__()
    else:
        return lambda x: x
    return lambda x: namespace.from_dlpack(x)
