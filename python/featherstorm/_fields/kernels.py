"""Kernels for the fields that are asked for."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import mujoco
import numpy as np
import numpy.typing as npt

from .. import _featherstorm
from ..symbols import symbols, values_of
from .constraints import READINGS
from .instance import SOLVED as OF_SOLVER, Instance, contact_shapes, solved_shapes
from .table import COMPONENTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._memory.named_buffers import Columns, NamedBuffers
    from ..model import Model

    NamedColumns = dict[str, Columns]

# what the solver finds: fields that take it need the equations of motion solved
SOLVED = (*OF_SOLVER, *READINGS)
MOST_OUTPUTS = 40  # of a kernel
ENERGY = int(mujoco.mjtEnableBit.mjENBL_ENERGY)


class Output(NamedTuple):
    """An output of a kernel, and which columns of a field it is."""

    name: str
    field: str
    columns: npt.NDArray[np.intp]

    @property
    def contiguous(self) -> bool:
        return len(self.columns) > 0 and int(self.columns[-1] - self.columns[0]) == len(self.columns) - 1


Outputs: TypeAlias = list[tuple[Output, Any]]


class Kernel(NamedTuple):
    """A kernel for some fields.

    given   names of what it takes
    """

    sequence: _featherstorm.Sequence
    given: tuple[str, ...]
    outputs: tuple[Output, ...]

    def run(
        self, arrays: NamedColumns, fields: NamedColumns, buffers: NamedBuffers, anew: Columns | None = None
    ) -> None:
        """Compute fields.

        arrays   of the names in `given`
        fields   outputs, by name
        anew     the input `anew` of kernels that have it (FieldKernels), of one row or of all
        """
        inputs = [arrays[name].named(name.replace(".", "_")) for name in self.given if name in arrays]
        if anew is not None:
            inputs.append(anew.named("anew"))
        outputs, apart = [], []
        for o in self.outputs:
            if o.contiguous:
                place = fields[o.field].part(int(o.columns[0]), len(o.columns))
            else:
                place = buffers.columns_for(f"apart {o.name}", len(o.columns))
                apart.append((o, place))
            outputs.append(place.named(o.name))
        self.sequence.run(1, buffers.instances, inputs, {}, outputs, stream=buffers.stream)
        for o, found in apart:
            for first, at, count in neighbours(o.columns):
                buffers.copy(found.part(first, count), fields[o.field].part(at, count))


class FieldKernels:
    """Kernels for the fields of one model, made when they are first asked for.

    sensors         those that the engine measures
    varied          fields of the model that are given too
    after_defaults  on a device, where no field of the model differs: the numbers (n) of a field after a step from the
                    defaults. Kernels give these where their input `anew` is above zero
    """

    def __init__(
        self,
        m: Any,
        model: Model,
        sensors: list[int],
        active: npt.NDArray[np.bool_],
        dtype: str,
        varied: tuple[str, ...] = (),
        after_defaults: Callable[[str], npt.NDArray[Any]] | None = None,
    ) -> None:
        self.after_defaults = after_defaults
        self.m, self.model, self.sensors, self.active, self.dtype = m, model, sensors, active, dtype
        self.data = data = mujoco.MjData(m)
        self.shapes = {name: tuple(np.shape(getattr(data, name))) or (1,) for name in COMPONENTS}
        self.varied = varied
        self.shapes.update({name: field_shape(m, name) for name in varied})
        self.shapes.update(solved_shapes(m, active), **contact_shapes(m, sensors), point=(3,))
        self.shapes["raw_ctrl"] = (m.nu,)
        self.made: dict[tuple[str, ...], list[Kernel]] = {}

    def kernels(self, parts: tuple[str, ...]) -> list[Kernel]:
        """Return the kernels of what `parts_of` returns."""
        if not parts:
            return []
        if parts not in self.made:
            self.made[parts] = self.make(parts)
        return self.made[parts]

    def solved(self, parts: tuple[str, ...]) -> dict[str, int]:
        """Return the solver's results that kernels read, with their sizes."""
        taken = {name for kernel in self.kernels(parts) for name in kernel.given}
        return {name: int(np.prod(self.shapes[name])) for name in SOLVED if name in taken}

    def jacobian(self, body: int) -> Kernel:
        """Return the kernel of jacp and jacr (3 nv each) of a world `point` on a body."""
        part = (f"jacobian {body}",)
        if part not in self.made:

            def function(instance: Instance) -> Outputs:
                both = zip(("jacp", "jacr"), instance.jacobian(body, instance.state("point")))
                return [(output(name, values_of(x, name)), values_of(x, name)) for name, x in both]

            self.made[part] = [self.record(function)]
        return self.made[part][0]

    def recorded(self, name: str, function: Callable[[Instance], Outputs]) -> Kernel:
        """Return the kernel of a function that is no field, by its name."""
        if (name,) not in self.made:
            self.made[name,] = [self.record(function)]
        return self.made[name,][0]

    def make(self, parts: tuple[str, ...]) -> list[Kernel]:
        made = []
        for first in range(0, len(parts), MOST_OUTPUTS):
            some = parts[first : first + MOST_OUTPUTS]
            made.append(self.record(lambda instance: [x for part in some for x in self.outputs(instance, part)]))  # noqa: B023
        return [kernel for kernel in made if kernel.outputs]

    def record(self, function: Callable[[Instance], Outputs]) -> Kernel:
        with closing(_featherstorm.Trace()) as trace:
            instance = Instance(
                self.m, self.model, self.sensors, self.active, self.shapes, trace, self.varied, self.dtype
            )
            whole = function(instance)
            anew: Any = symbols(trace.input("anew", 1))[0] if self.after_defaults else None
            for output, values in whole:
                if self.after_defaults:
                    usual = self.after_defaults(output.field)[output.columns]
                    values = np.where(anew > 0, usual, symbols(values)).tolist()
                trace.output(output.name, values)
        sequence = _featherstorm.traced_sequence(self.model.evaluator, self.dtype, trace)
        given = tuple(name for name, x in instance.given.items() if x.size)
        return Kernel(sequence, given, tuple(output for output, _ in whole))

    def outputs(self, instance: Instance, part: str) -> Outputs:
        name, _, stage = part.partition(" ")
        if not np.size(getattr(self.data, name)) or (name == "energy" and not int(self.m.opt.enableflags) & ENERGY):
            return []
        if not stage:
            values = values_of(instance.field(name), name)
            return [(output(name, values), values)]
        found = sorted(instance.measured(int(stage)).items())
        columns = [first + k for first, x in found for k in range(len(x))]
        values = [number for _, x in found for number in values_of(x, name)]
        return [(Output(name + stage, name, np.array(columns)), values)] if values else []


def field_shape(m: Any, name: str) -> tuple[int, ...]:
    """Return the shape of a field of a model, of "opt.NAME" of its options, or of poses of mocap bodies."""
    if name.startswith("mocap"):
        return m.nmocap, 3 if name == "mocap_pos" else 4
    return tuple(np.shape(getattr(m.opt, name[4:]) if name.startswith("opt.") else getattr(m, name)))


def output(name: str, values: list[Any]) -> Output:
    """A whole field."""
    return Output(name, name, np.arange(len(values)))


def neighbours(columns: npt.NDArray[np.intp]) -> list[tuple[int, int, int]]:
    """Return the runs of consecutive columns: (index of the first, its column, their number)."""
    starts = [0, *(np.flatnonzero(np.diff(columns) != 1) + 1).tolist(), len(columns)]
    return [(a, int(columns[a]), b - a) for a, b in pairwise(starts) if b > a]
