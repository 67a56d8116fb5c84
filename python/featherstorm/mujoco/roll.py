"""Rollouts of a batch: records, and steps with controls for each, as one run of the engine or step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._fields.kernels import SOLVED
from .._fields.sensors import rows_of
from .._fields.table import INTEGERS, STAGES, parts_of
from .._memory.named_buffers import NamedBuffers, columns_of_array
from .engine import ARRAYS
from .observing import ALL, compute, measures_apart
from .programs import MOVED, NO_AUTORESET, NUMBER
from .steps import Steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..typing import NumpyArray as Array
    from .engine import Engine
    from .simulations import Simulations
    from .storage import Storage


class Recording:
    """Arrays (n, nstep, ...) that a rollout of a batch writes."""

    def __init__(self, batch: Simulations, n: int, nstep: int, record: Iterable[Any], out: Mapping[Any, Array]) -> None:
        self.arrays: dict[Any, Array] = {}
        self.states: list[tuple[Array, Array]] = []  # columns of the state, (n, nstep, k)
        self.fields: dict[str, Array] = {}  # name -> (n, nstep, k)
        layout = batch._memory.layout
        for item in record:
            dtype = batch.dtype
            if isinstance(item, str):
                batch.bind(item)  # raises for unknown names
                shape = np.shape(getattr(batch.template, item))
                if item == "eq_active":
                    dtype = batch.template.eq_active.dtype
                if item in INTEGERS:
                    dtype = np.dtype(np.int32)
            else:
                shape = (len(layout.columns_of(int(item))),)
            array = given(out, item, (n, nstep, *shape), dtype)
            flat = array.reshape(n, nstep, int(np.prod(shape)))
            if isinstance(item, str) and item in STAGES:
                self.fields[item] = flat
            else:
                columns = layout.columns[item] if isinstance(item, str) else None
                chosen = layout.columns_of(int(item)) if columns is None else np.arange(columns.start, columns.stop)
                self.states.append((chosen, flat))
            self.arrays[item] = array

    def of(self, where: Array) -> Part:
        """Return the records of some of the simulations."""
        return Part(self.states, {name: x for name, x in self.fields.items() if x.shape[2]}, where)

    def results(self) -> dict[Any, Array]:
        return self.arrays


def given(out: Mapping[Any, Array], item: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return the array of a record: the caller's, or a new one."""
    array = out.get(item)
    if array is None:
        return np.empty(shape, dtype)
    right = isinstance(array, np.ndarray) and array.shape == shape and array.dtype == dtype
    if not right or not array.flags.c_contiguous or not array.flags.writeable:
        raise ValueError(f"out[{item!r}] must be a writable C-contiguous {dtype} array of shape {shape}")
    return array


class Part:
    """Records of the simulations `where` of a recording."""

    def __init__(self, states: list[tuple[Array, Array]], fields: dict[str, Array], where: Array) -> None:
        self.states, self.fields, self.where = states, fields, where

    def among(self, rows: Array) -> Part:
        return Part(self.states, self.fields, self.where[rows])

    def write(self, k: int, memory: Storage) -> None:
        """Record the state after step k."""
        for columns, array in self.states:
            found = memory.state[:, columns]
            if len(columns) and columns[0] == 0:
                found[:, 0] = memory.time
            array[self.where, k] = found
        for name, array in self.fields.items():
            array[self.where, k] = memory.array(memory.fields[name])

    def repeat(self, k: int) -> None:
        """Repeat the record of step k in all later ones."""
        for array in [*(array for _, array in self.states), *self.fields.values()]:
            array[self.where, k + 1 :] = array[self.where, k][:, None]


def fresh(engine: Engine, name: str, n: int, size: int) -> Array:
    """Allocate a field of n simulations; unsupported sensors are NaN."""
    field = np.zeros((n, size), engine.dtype)
    if name == "sensordata":
        for rows in rows_of(engine.m, engine.unknown):
            field[:, rows] = np.nan
    return field


DRIVING = ("ctrl", "qfrc_applied", "xfrc_applied")  # fields that may differ from step to step
MOST_NUMBERS = 1 << 24  # largest size of a run's states at once


def roll_as_one(steps: Steps, nstep: int, control: Array | None, columns: Array, part: Part) -> bool:
    """Like `roll` (roll.py). Returns False, with nothing done, where the steps must run one by one."""
    engine, memory = steps.engine, steps.memory
    fields = {name: memory.array(memory.fields[name]) for name in memory.names()}
    wanted = {**part.fields, **fields}
    if engine.has_histories:
        return False
    if not engine.moves or (engine.runs_rk4 and wanted) or not can_drive(engine, control, columns):
        return False
    whole = Whole(steps, nstep, control, columns, list(wanted))
    with np.errstate(invalid="ignore", over="ignore"):
        if not whole.run():
            return False
    whole.record(part, fields)
    whole.leave()
    return True


def can_drive(engine: Engine, control: Array | None, columns: Array) -> bool:
    """Return True if controls are inputs of steps."""
    if control is None:
        return True
    read = {c for name in DRIVING for c in range(engine.layout.columns[name].start, engine.layout.columns[name].stop)}
    return set(columns.tolist()) <= read


class Whole:
    """A rollout while it runs; the simulations do not change before `leave`.

    moved    name -> (n, nstep + 1, k) fields of the state that steps change, from the beginning on
    found    name -> (n, nstep, k) of the solver
    """

    def __init__(self, steps: Steps, nstep: int, control: Array | None, columns: Array, fields: list[str]) -> None:
        engine = steps.engine
        self.steps, self.engine, self.r = steps, engine, steps.memory
        self.nstep, self.control, self.columns = nstep, control, columns
        self.parts = parts_of(fields, ALL)
        n, layout = self.r.instances, engine.layout
        self.moved = {
            name: np.empty((n, nstep + 1, layout.width(name)), engine.dtype) for name in MOVED if layout.width(name)
        }
        sizes = {name: size for name, size in engine.fields.solved(self.parts).items() if name != "qacc" and size}
        self.found = {name: np.zeros((n, nstep, size), engine.dtype) for name, size in sizes.items()}

    def driven(self, name: str) -> Array | None:
        """Return the controls of a field of the state for each step, None where it is constant."""
        columns = self.engine.layout.columns[name]
        mine = np.flatnonzero((self.columns >= columns.start) & (self.columns < columns.stop))
        return self.control[:, :, mine[0] : mine[-1] + 1] if self.control is not None and len(mine) else None

    def run(self) -> bool:
        """Run the rollout; return False where a number is bad."""
        engine, r = self.engine, self.r
        n, layout = r.instances, engine.layout
        if not self.steps.looks_fine():
            return False
        if sum(x.size for x in (*self.moved.values(), *self.found.values())) > MOST_NUMBERS:
            return False
        inputs = self.steps.inputs_before_look()
        if self.control is not None:
            each = {ARRAYS[name]: x for name in DRIVING if (x := self.driven(name)) is not None}
            inputs = [i for i in inputs if i[0] not in each]
            inputs += [(name, x, 0, x.shape[2], True) for name, x in each.items()]
        outputs = [(ARRAYS[name], x[:, 1:], 0, x.shape[2], True) for name, x in self.moved.items()]
        outputs += [(name, x, 0, x.shape[2], True) for name, x in self.found.items()]
        for name, x in self.moved.items():
            x[:, 0] = r.state[:, layout.columns[name]]
        if "qpos" in self.moved:
            self.moved["qpos"][:, 0] = r.array(self.steps.state("qpos"))
        outputs += self.steps.looked("odd")
        engine.sequence_for(outputs, self.steps.looks).run(self.nstep, n, inputs, {}, outputs)  # type: ignore[union-attr]  # the engine moves
        return not self.steps.odd_numbers.any()

    @property
    def step_length(self) -> Array:
        """Return the timestep (n, 1), or (1, 1) where it is the same for all."""
        return np.reshape(self.steps.step_length(), (-1, 1))

    def times(self) -> Array:
        """Return the time (n, nstep) at the end of each step."""
        ends: Array = self.r.time[:, None] + self.step_length * np.arange(1, self.nstep + 1)
        return ends

    def record(self, part: Part, fields: dict[str, Array]) -> None:
        for columns, array in part.states:
            array[part.where] = self.states(columns, array.dtype)
        n, size = self.r.instances, self.nstep
        names = [*{**part.fields, **fields}]
        sizes = {name: (part.fields[name].shape[2] if name in part.fields else fields[name].shape[1]) for name in names}
        shown = {name: fresh(self.engine, name, n * size, sizes[name]) for name in names}
        given = self.given() if names else {}
        places, outputs = ({name: columns_of_array(x) for name, x in arrays.items()} for arrays in (given, shown))
        compute(self.engine, self.engine.fields, self.parts, places, outputs, NamedBuffers(self.engine.dtype, n * size))
        for name, x in shown.items():
            every = x.reshape(n, size, sizes[name])
            if name in part.fields:
                part.fields[name][part.where] = every
            if name in fields:
                fields[name][:] = every[:, -1]

    def states(self, columns: Array, dtype: Any) -> Array:
        """Return the state (n, nstep, len(columns)) after each step."""
        layout, r = self.engine.layout, self.r
        found = np.empty((r.instances, self.nstep, len(columns)), dtype)
        driven = {} if self.control is None else {column: k for k, column in enumerate(self.columns.tolist())}
        for k, column in enumerate(columns.tolist()):
            name = next(name for name, c in layout.columns.items() if c.start <= column < c.stop)
            own = int(column - layout.columns[name].start)
            if name == "time":
                found[:, :, k] = self.times()
            elif name in self.moved:
                found[:, :, k] = self.moved[name][:, 1:, own]
            elif column in driven and self.control is not None:
                found[:, :, k] = self.control[:, :, driven[column]]
            else:
                found[:, :, k] = r.state[:, column, None]
        return found

    def given(self) -> dict[str, Array]:
        """Return the inputs of field kernels (n nstep, k): the state before each step, and its solution."""
        n, layout = self.r.instances, self.engine.layout
        read = {name for kernel in self.engine.fields.kernels(self.parts) for name in kernel.given}
        arrays = {}
        for name, place in self.steps.given().items():
            if name not in read and not measures_apart(self.engine, self.parts):
                continue
            each = self.driven(name) if name in DRIVING else None
            if name in self.moved:
                each = self.moved[name][:, :-1]
            if name == "time":
                each = (self.times() - self.step_length)[:, :, None].astype(self.engine.dtype)
            if each is None:
                each = np.repeat(self.r.array(place)[:, None], self.nstep, axis=1)
            arrays[name] = each.reshape(n * self.nstep, -1)
        if "qacc_warmstart" in self.moved:
            arrays["qacc"] = self.moved["qacc_warmstart"][:, 1:].reshape(n * self.nstep, layout.width("qvel"))
        arrays.update({name: x.reshape(n * self.nstep, -1) for name, x in self.found.items() if name in SOLVED})
        return arrays

    def leave(self) -> None:
        """Set the simulations to their state at the end."""
        r, layout = self.r, self.engine.layout
        r.time[:] = self.times()[:, -1]
        for name, x in self.moved.items():
            r.state[:, layout.columns[name]] = x[:, -1]
        if self.control is not None:
            r.state[:, self.columns] = self.control[:, -1]
        r.state[:, 0] = r.time


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
