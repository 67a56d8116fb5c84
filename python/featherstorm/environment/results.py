"""Results of a step of environments, as arrays of the user's library."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .._memory.host_libraries import NUMPY
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
    final,
    metric,
    observation,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._memory.library import Library
    from .recording import Recording
    from .storage import Storage


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
