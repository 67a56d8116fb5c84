"""Programs of a task that are run again for derivatives, and their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...device import HOST
from ..recording import ACTION, MEMORY, REWARD, TAKEN, Stage, after_of, final
from .arithmetic import arithmetic_of
from .parts import Part
from .passes import MOVED, passes_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..kernels import Kernels
    from .parts import Place


class Programs:
    """Programs of a task that are run again and differentiated.

    take, drive, passes   the action of a step, the drives of a substep, and the substeps
    of_take, of_drive, of_finish   their cotangents, None where there are none
    """

    def __init__(self, kernels: Kernels, at: Place) -> None:
        r = kernels.recording
        self.kernels = kernels
        self.arithmetic = arithmetic_of(at, kernels.model, kernels.dtype)
        self.passes = passes_of(kernels, self.arithmetic, at.library.device != HOST, self.pulled)
        (take,), (drive,), finish = r.before, r.each_pass, r.after[0]
        self.take, self.drive = self.of(take), self.of(drive)
        self.groups = {final(group): group for group in r.groups}
        self.written = [name for name in (*MOVED, MEMORY) if after_of(name) in finish.trace.outputs]
        self.of_take = self.pulled(take, [TAKEN], (ACTION,))
        remembers = [after_of(MEMORY)] if after_of(MEMORY) in drive.trace.outputs else []
        driven = [self.passes.drive] if self.passes.drive in drive.trace.outputs else []
        self.drive_remembers = bool(remembers)
        # what cotangents are taken by: the state, the memory, what drives; parameters, times and draws are held
        by = (*MOVED, self.passes.drive, TAKEN, MEMORY)
        self.of_drive = self.pulled(drive, [*driven, *remembers], by)
        of = [REWARD, *self.groups, *map(after_of, self.written)]
        self.of_finish = self.pulled(finish, of, (*by, *self.passes.quantities))

    def of(self, stage: Stage) -> Part:
        """A stage run alone. Arrays that change places are read by the first name, and written by it."""
        there = {new: old for old, new in stage.swaps}
        writes = {there.get(name, name): n for name, n in stage.trace.outputs.items()}
        return Part(self.kernels.made([], [], [stage]), stage.trace.inputs, writes)

    def pulled(self, stage: Stage, of: list[str], by: Iterable[str]) -> Part | None:
        taken = [name for name in by if name in stage.trace.inputs]
        if not of or not taken:
            return None
        trace = stage.trace.vjp(of, taken)
        # numbers that are drawn are drawn again, by the counters of the step
        alone = Stage(trace, [], draws=stage.draws)
        drawn = {name for _, name, _ in stage.draws}
        counters = {"env_key": 6, "env_episode": 1, "env_step": 1} if drawn else {}
        reads = {name: n for name, n in {**trace.inputs, **counters}.items() if name not in drawn}
        return Part(self.kernels.made([], [], [alone]), reads, trace.outputs)
