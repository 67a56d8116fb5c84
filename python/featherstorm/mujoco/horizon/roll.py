"""Rollouts: steps with controls for each, as one run or step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..advance import LAST, NO_AUTORESET, NUMBER, Rows, advance
from ..observing import observe_step, watched
from .fused import roll_as_one
from .recording import fresh

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..engine import Engine
    from .recording import Part

    Array = npt.NDArray[Any]


def roll(
    engine: Engine,
    r: Rows,
    nstep: int,
    control: Array | None,
    columns: Array,
    fields: dict[str, Array],
    part: Part,
) -> None:
    """Run nstep steps of simulations, in place: as one run, or step by step where a simulation is bad.

    control   (n, nstep, len(columns)) values of these columns of the state before each step
    fields    name -> (n, k) bound fields, updated by the last step
    """
    if roll_as_one(engine, r, nstep, control, columns, fields, part):
        return
    n = len(r.time)
    shown = {**{name: fresh(engine, name, n, x.shape[2]) for name, x in part.fields.items()}, **fields}
    warnings = np.zeros_like(r.warning)
    going = np.arange(n)
    for k in range(nstep):
        if not len(going):
            break
        everything = Rows(r.state, r.time, warnings, r.values)
        now = everything if len(going) == n else everything.taken(going)
        seen = shown if len(going) == n else {name: x[going] for name, x in shown.items()}
        if control is not None:
            now.state[:, columns] = control[going, k]
        last = advance(engine, now, 1, watched(engine, seen))
        if last is not None:
            observe_step(engine, now.state, now.values, last, seen)
        some = part if len(going) == n else part.among(going)
        some.write(k, now.state, now.time, seen)
        if len(going) < n:
            everything.put(going, now)
            for name, x in seen.items():
                shown[name][going] = x
        stopped = now.warning[:, :, NUMBER].any(axis=1)
        if stopped.any():
            part.among(going[stopped]).repeat(k)
            going = going[~stopped]
    count_warnings(engine, r, warnings)


def count_warnings(engine: Engine, r: Rows, new: Array) -> None:
    """Add new warnings; a simulation that was reset has only these."""
    rows = np.flatnonzero(new[:, :, NUMBER].any(axis=1))
    if not int(engine.m.opt.disableflags) & NO_AUTORESET:
        r.warning[rows] = 0
    r.warning[rows, :, NUMBER] += new[rows, :, NUMBER]
    r.warning[rows, :, LAST] = np.where(new[rows, :, NUMBER] > 0, new[rows, :, LAST], r.warning[rows, :, LAST])
