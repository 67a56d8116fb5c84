"""Errors of a batch, and arguments of calls: selections of simulations, and whole numbers."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .._fields.table import UsageError as UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt


class SimulationError(RuntimeError):
    """Some simulations of a call could not be computed.

    They keep the state from before the call; the others advanced. `ids` has their numbers, `batch.error(i)` the reason
    for each.
    """

    def __init__(self, ids: npt.NDArray[Any], message: str, ncall: int | None = None) -> None:
        self.ids, self._arguments = ids, (ids, message, ncall)
        some = ", ".join(str(i) for i in ids[:5]) + (", ..." if len(ids) > 5 else "")
        of = "" if ncall is None else f" of {ncall}"
        super().__init__(f"{len(ids)}{of} simulations ({some}); simulation {ids[0]}: {message}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickle: the error of a worker is raised in the process that waits for it."""
        return type(self), self._arguments


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a hint at similar names, "" if there are none."""
    near = difflib.get_close_matches(name, list(names), 3)
    return f" (did you mean {', '.join(map(repr, near))}?)" if near else ""


CALLBACKS = ("act_bias", "act_dyn", "act_gain", "contactfilter", "control", "passive", "sensor")


def refuse_callbacks() -> None:
    """Raise an error where a callback of MuJoCo is installed, because simulations would not call it."""
    for name in CALLBACKS:
        get = getattr(mujoco, f"get_mjcb_{name}", None)
        if get is not None and get() is not None:
            raise UsageError(f"mjcb_{name} is installed: the engine does not call MuJoCo's callbacks")


def selected(ids: npt.ArrayLike | None, nsim: int) -> npt.NDArray[np.int32] | None:
    """Return the simulations of a call from whole numbers in order, or from a mask (nsim,). None: all of them.

    Numbers are checked before any is converted to 32 bits.
    """
    if ids is None:
        return None
    given = np.asarray(ids)
    if given.dtype == bool:
        if given.shape != (nsim,):
            raise UsageError(f"a boolean mask has shape {given.shape}, expected ({nsim},)")
        return None if given.all() else np.flatnonzero(given).astype(np.int32)
    if given.ndim != 1:
        raise UsageError(f"ids have {given.ndim} dimensions, expected one")
    if given.size == 0:
        return np.zeros(0, np.int32)
    if given.dtype.kind not in "iu":
        raise UsageError(f"ids must be integers, got {given.dtype}")
    if (wrong := np.flatnonzero(given[1:] <= given[:-1])).size:
        first = wrong[0]
        raise UsageError(f"ids must be sorted and unique, got {given[first]} before {given[first + 1]}")
    for end in (given[0], given[-1]):
        if not 0 <= end < nsim:
            raise UsageError(f"ids must be in [0, {nsim}), got {end}")
    return given.astype(np.int32)


def one(sim: Any, nsim: int) -> int:
    """Return the number of a simulation."""
    if not 0 <= int(sim) < nsim:
        raise IndexError(f"sim must be in [0, {nsim}), got {sim}")
    return int(sim)


def whole(x: npt.ArrayLike, shape: tuple[int, ...], low: int, end: int, name: str) -> npt.NDArray[np.int32]:
    """Return whole numbers from `low` to below `end`, broadcast to a shape."""
    given = np.asarray(x)
    if given.dtype.kind not in "iu":
        raise UsageError(f"{name} must be integers, got {given.dtype}")
    wrong = given[(given < low) | (given >= end)]
    if wrong.size:
        raise UsageError(f"{name} must be in [{low}, {end}), got {wrong.flat[0]}")
    return np.ascontiguousarray(np.broadcast_to(given, shape), np.int32)


def steps(nstep: Any) -> int:
    if not isinstance(nstep, (int, np.integer)) or isinstance(nstep, bool):
        raise TypeError(f"nstep is {nstep!r}, expected an integer")
    if nstep < 1:
        raise UsageError(f"nstep must be positive, got {nstep}")
    return int(nstep)


def stage_number(stage: Any) -> int:
    """Return a stage of MuJoCo's forward dynamics: mjSTAGE_NONE, mjSTAGE_POS, mjSTAGE_VEL, mjSTAGE_ACC."""
    if not 0 <= int(stage) <= 3:
        raise UsageError(f"stage must be in [mjSTAGE_NONE, mjSTAGE_ACC] = [0, 3], got {stage}")
    return int(stage)
