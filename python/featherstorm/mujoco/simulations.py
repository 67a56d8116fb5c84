"""The simulations of a batch: their arrays, their engines in a call, and their failures."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import mujoco
import numpy as np

from .._memory.process import refuse_pickle
from .._robot.law import law_of
from ..device import device_name, device_number
from .advance import Rows
from .arguments import one, selected
from .errors import SimulationError, UsageError
from .fields.sensors import rows_of
from .fields.table import DATA_FIELDS, STAGES
from .memory import Memory
from .missing import not_of_this_model, why_not
from .robots import refuse_callbacks, tell
from .state import COMPONENTS, INTEGRATION, KEYS
from .variants import Variants

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from .engine import Engine

    Array = npt.NDArray[Any]
    Ids = npt.ArrayLike | None

DTYPES = ("float32", "float64")


class Work:
    """The simulations of a call that run on one engine.

    Live arrays for all of them, else copies that are written back.
    """

    def __init__(self, memory: Memory, engine: Engine, sims: Any, values: dict[str, Array]) -> None:
        self.memory, self.engine, self.sims = memory, engine, sims
        rows = Rows(memory.state, memory.time, memory.warning, {name: values[name] for name in engine.varied})
        fields = {name: memory.fields[name] for name in memory.names()}
        self.rows = rows if sims is None else rows.taken(sims)
        self.fields = fields if sims is None else {name: x[sims] for name, x in fields.items()}

    def put_back(self) -> None:
        if self.sims is not None:
            memory = self.memory
            Rows(memory.state, memory.time, memory.warning, {}).put(self.sims, self.rows)
            for name, x in self.fields.items():
                memory.fields[name][self.sims] = x


class Simulations:
    """Base of Batch; its attributes are described there."""

    _kind_of_variants: type[Variants] = Variants

    def __init__(
        self,
        model: Any,
        nsim: int,
        nthread: int = 0,
        persistent: bool = False,
        *,
        dtype: npt.DTypeLike = "float32",
        device: object = "cpu",
        law: object = "mujoco",
        stream: int = 0,
    ) -> None:
        if not isinstance(model, mujoco.MjModel):
            raise TypeError(f"Batch: model is a {type(model).__name__}, expected mujoco.MjModel")
        if not isinstance(nsim, (int, np.integer)) or isinstance(nsim, bool):
            raise TypeError(f"Batch: nsim is {nsim!r}, expected an integer")
        if nsim < 1:
            raise ValueError(f"nsim must be positive, got {nsim}")
        number = device_number(device, "Batch")
        name = np.dtype(dtype).name
        if name not in DTYPES:
            raise TypeError(f"Batch: dtype is {name}, expected float32 or float64")
        refuse_callbacks()
        self.model, self.nsim, self.persistent, self.dtype = model, int(nsim), bool(persistent), np.dtype(name)
        self.law, self.device, self.stream = law, device_name(number), int(stream)
        self._variants = self._kind_of_variants(model, self.nsim, name, max(int(nthread), 0), law_of(law, "Batch"))
        self.nthread = int(nthread) if nthread > 0 else self._variants.own.model.threads
        self._make_memory(number)
        self._status = np.zeros(self.nsim, np.int32)
        self.status = self._status.view()
        self.status.flags.writeable = False
        self._errors: dict[int, str] = {}
        tell(self._variants.own.left_out)

    def _make_memory(self, device: int) -> None:
        """Allocate memory for all simulations, at the model's defaults."""
        self._memory = Memory(self.model, self.nsim, self.dtype.name)
        self._memory.set_rows(slice(None), self._variants.own.initial)

    def __reduce__(self) -> NoReturn:
        refuse_pickle("Batch", "pickle its model and rows(), and make a Batch there, whose set_rows takes them")

    @property
    def state(self) -> Array:
        return self._memory.state

    @property
    def warning(self) -> Array:
        return self._memory.warning

    @property
    def nstate(self) -> int:
        return self._memory.layout.size

    @cached_property
    def template(self) -> Any:
        """An MjData of the model, for shapes."""
        return mujoco.MjData(self.model)

    def __getattr__(self, name: str) -> Any:
        if name in DATA_FIELDS:
            return self.bind(name)
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"'Batch' object has no attribute {name!r}; {why_not(self.model, name)}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in DATA_FIELDS:
            object.__setattr__(self, name, value)
        elif name in STAGES:
            raise UsageError(
                f"{name} is computed by every call and cannot be written; write fields of the state (qpos, ctrl, ...) "
                "or expand fields of the model"
            )
        else:
            self.bind(name)[...] = value

    def bind(self, name: str) -> Array:
        """Return a live array (nsim, ...) of a field of mjData. Fields that calls compute are read only."""
        if name not in DATA_FIELDS:
            raise ValueError(why_not(self.model, name))
        shape = np.shape(getattr(self.template, name))
        if name in COMPONENTS:
            return self._memory.component(name, shape)
        if (reason := not_of_this_model(self.model, name, self._variants.own.model.robot)) is not None:
            raise ValueError(reason)
        is_new = name not in self._memory.fields
        bound = self._memory.bind(name, shape)
        if is_new and name == "sensordata":
            for rows in rows_of(self.model, self._variants.own.unknown):
                self._memory.fields[name][:, rows] = np.nan
        return bound

    def rows(self, spec: int = INTEGRATION, ids: Ids = None) -> Array:
        """Return states in contiguous rows of double, (n, mj_stateSize(model, spec)): a copy."""
        self._memory.read_time()
        sims = self._sims(selected(ids, self.nsim))
        whole_rows = self._memory.state[sims].astype(np.float64)
        whole_rows[:, 0] = self._memory.time[sims]
        return np.ascontiguousarray(whole_rows[:, self._memory.layout.columns_of(int(spec))])

    def set_rows(self, rows: npt.ArrayLike, spec: int = INTEGRATION, ids: Ids = None) -> None:
        """Write rows in the layout of `rows`, or one row for all simulations."""
        columns = self._memory.layout.columns_of(int(spec))
        sims = self._sims(selected(ids, self.nsim))
        given = np.asarray(rows, np.float64)
        if given.shape not in ((len(columns),), (len(sims), len(columns))):
            raise ValueError(f"rows have shape {given.shape}, expected ({len(sims)}, {len(columns)})")
        self._memory.read_time()
        self._memory.state[np.ix_(sims, columns)] = given
        if 0 in columns:
            self._memory.time[sims] = np.broadcast_to(given, (len(sims), len(columns)))[:, 0]

    def error(self, sim: int) -> str:
        """Return the error of a simulation in its last call, or ""."""
        return self._errors.get(one(sim, self.nsim), "")

    def _begin(self, sims: Array | None) -> None:
        chosen = self._sims(sims)
        self._status[chosen] = 0
        for sim in list(self._errors):
            if self._status[sim] == 0:
                del self._errors[sim]

    def _fail(self, sims: Any, message: str) -> None:
        for sim in self._sims(sims).tolist() if not isinstance(sims, list) else sims:
            self._status[sim], self._errors[sim] = 1, message

    def _check(self, sims: Array | None) -> None:
        chosen = self._sims(sims)
        failed = chosen[self._status[chosen] != 0]
        if len(failed):
            raise SimulationError(failed, self.error(int(failed[0])), len(chosen))

    def _sims(self, sims: Any) -> Array:
        return np.arange(self.nsim) if sims is None else np.asarray(sims)

    def _defaults(self, engine: Engine, key: int, sims: Array | None) -> Array:
        """Return rows of a keyframe of simulations, of their defaults for -1."""
        values = {name: self._variants.inputs[name] for name in engine.varied}
        row = engine.keyframe(key, values if sims is None else {name: x[sims] for name, x in values.items()})
        own = {name: x for name, x in self._variants.differing.items() if name in KEYS and key >= 0}
        if not own:
            return row
        rows = np.repeat(row[None], self.nsim if sims is None else len(sims), axis=0)
        for name, x in own.items():
            columns = engine.layout.columns[KEYS[name]]
            rows[:, columns] = x[self._sims(sims), key].reshape(len(rows), -1)
        return rows

    @property
    def _active(self) -> Array:
        return self._memory.state[:, self._memory.layout.columns["eq_active"]]

    def _works(self, ids: Ids) -> Iterator[Work]:
        """Iterate over the simulations of a call by engine.

        Failures are recorded, and changes are written back after each.
        """
        refuse_callbacks()
        sims = selected(ids, self.nsim)
        self._begin(sims)
        if sims is not None and not len(sims):
            return
        self._memory.read_time()
        self._variants.look_at_mocap(self._memory.state)
        for engine, group in self._variants.groups(sims, self._active):
            if isinstance(engine, Exception):
                self._fail(group, str(engine))
                continue
            work = Work(self._memory, engine, group, self._variants.inputs)
            yield work
            work.put_back()
        self._memory.renew_integers()
