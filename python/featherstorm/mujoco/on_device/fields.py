"""Kernels for the fields of a batch on a device.

One thing is otherwise than on the CPU: where all simulations of an engine have one model, each kernel is told which of
them began anew within the step (`anew`, programs.end). For these it gives the numbers of a step from the defaults,
which are known.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from ... import _featherstorm
from ...symbols import symbols
from ..advance import Rows, advance
from ..fields.instance import Instance
from ..fields.kernels import FieldKernels, Kernel, Outputs
from ..fields.table import ACC, POS, VEL, parts_of
from ..horizon.recording import fresh
from ..observing import measures_apart, observe_step, watched

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ..engine import Engine
    from .memory import DeviceMemory, Place

    Array = npt.NDArray[Any]

ALL = (POS, VEL, ACC)
NWARNING = int(mujoco.mjtWarning.mjNWARNING)


def comes_from_cpu(engine: Engine, name: str) -> bool:
    """Return True if no kernel on a device computes a field (from_cpu.py)."""
    return measures_apart(engine, parts_of([name], ALL))


class DeviceFields(FieldKernels):
    """engine   whose fields they are; its own kernels are the CPU's"""

    def __init__(self, engine: Engine) -> None:
        own = engine.fields
        super().__init__(engine.m, own.model, own.sensors, own.active, own.dtype, own.varied)
        self.engine = engine
        self.first: dict[str, Array] = {}  # numbers (n) of fields after a step from the defaults

    def after_defaults(self, name: str) -> Array:
        if name not in self.first:
            engine = self.engine
            row = np.array(engine.initial[None], engine.dtype, order="F")
            found = {name: fresh(engine, name, 1, int(np.size(getattr(self.data, name))))}
            rows = Rows(row, row[:, 0].astype(np.float64), np.zeros((1, NWARNING, 2), np.int32), {})
            if (last := advance(engine, rows, 1, watched(engine, found))) is not None:
                observe_step(engine, rows.state, {}, last, found)
            self.first[name] = found[name][0]
        return self.first[name]

    def record(self, text: Callable[[Instance], Outputs]) -> Kernel:
        trace = _featherstorm.Trace()
        instance = Instance(self.m, self.model, self.sensors, self.active, self.shapes, trace, self.varied, self.dtype)
        try:
            outputs = text(instance)
            anew = None if self.varied else symbols(trace.input("anew", 1))[0]
            for output, values in outputs:
                if anew is not None:
                    usual = self.after_defaults(output.field)[output.columns]
                    values = np.where(anew > 0, usual, symbols(values)).tolist()
                trace.output(output.name, values)
        finally:
            trace.close()
        sequence = _featherstorm.traced_sequence(self.model.evaluator, self.dtype, trace)
        given = tuple(name for name, x in instance.given.items() if x.size)
        return Kernel(sequence, given, tuple(output for output, _ in outputs))


def run_kernel(
    kernel: Kernel, arrays: dict[str, Place], anew: Any, fields: dict[str, Place], memory: DeviceMemory
) -> None:
    """Run a kernel of fields.

    arrays   of the names in kernel.given
    anew     memory (nsim or 1, 1), None where the kernel has no such input
    fields   outputs, by name
    """
    inputs = [arrays[name].named(name.replace(".", "_")) for name in kernel.given if name in arrays]
    if anew is not None:
        inputs.append(("anew", anew, 0, 1, False))
    outputs, apart = [], []
    for o in kernel.outputs:
        field, count = fields[o.field], len(o.columns)
        if o.contiguous:
            outputs.append((o.name, field.buffer, field.first + int(o.columns[0]), count, False))
        else:
            apart.append((o, memory.room(f"apart {o.name}", count)))
            outputs.append(apart[-1][1].named(o.name))
    kernel.sequence.run(1, memory.nsim, inputs, {}, outputs, stream=memory.stream)
    for o, found in apart:
        for first, at, count in runs(o.columns):
            memory.copy(found.columns(first, count), fields[o.field].columns(at, count))


def runs(columns: Array) -> list[tuple[int, int, int]]:
    """Neighbours among columns: (place of the first, its column, how many)."""
    starts = [0, *(np.flatnonzero(np.diff(columns) != 1) + 1).tolist(), len(columns)]
    return [(a, int(columns[a]), b - a) for a, b in pairwise(starts) if b > a]
