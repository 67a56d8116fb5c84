"""Records of a rollout: arrays of all simulations, and parts of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._fields.sensors import rows_of
from ..._fields.table import INTEGERS, STAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from ..engine import Engine
    from ..simulations import Simulations
    from ..storage import Storage

    Array = npt.NDArray[Any]


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
