"""Rollouts: steps with controls for each, as one run or step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..programs import NO_AUTORESET, NUMBER
from ..steps import Steps
from .fused import roll_as_one

if TYPE_CHECKING:
    import numpy.typing as npt

    from .recording import Part

    Array = npt.NDArray[Any]


def roll(steps: Steps, nstep: int, control: Array | None, columns: Array, part: Part) -> None:
    """Run nstep steps of the simulations of a storage on the host, as one run or, where one is bad, step by step.

    Bound fields are computed too.

    control   (n, nstep, len(columns)) values of these columns of the state before each step
    part      records, of fields that are bound
    """
    if not roll_as_one(steps, nstep, control, columns, part):
        before, steps.memory.counted[...] = steps.memory.counted.copy(), 0
        roll_one_by_one(steps, nstep, control, columns, part)
        add_warnings(steps, before)


def roll_one_by_one(steps: Steps, nstep: int, control: Array | None, columns: Array, part: Part) -> None:
    """Like `roll`, step by step; a simulation with a warning stops."""
    memory, going = steps.memory, np.arange(steps.memory.instances)
    some, names = steps, memory.names()
    for k in range(nstep):
        if control is not None:
            some.memory.state[:, columns] = control[going, k]
        some.advance(1, names)
        part.among(going).write(k, some.memory)
        stopped = some.memory.counted[:, :, NUMBER].any(axis=1)
        if not stopped.any() and k < nstep - 1:
            continue
        part.among(going[stopped]).repeat(k)
        if some is not steps:
            memory.put(going, some.memory)
        going = going[~stopped]
        if k == nstep - 1 or not len(going):
            break
        some = Steps(steps.engine, memory.taken(going))


def add_warnings(steps: Steps, before: Array) -> None:
    """Add new warnings to those before; a simulation that was reset has only the new ones."""
    counted, resets = steps.memory.counted, not int(steps.engine.m.opt.disableflags) & NO_AUTORESET
    new = counted[:, :, NUMBER] > 0
    rows = new.any(axis=1)
    before[rows & resets] = 0
    before[:, :, NUMBER] += counted[:, :, NUMBER]
    counted[:, :, NUMBER] = before[:, :, NUMBER]
    counted[:, :, 0] = np.where(new, counted[:, :, 0], before[:, :, 0])
