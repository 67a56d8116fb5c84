"""The simulations of a batch: their arrays, their engines in a call, and their failures."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import mujoco
import numpy as np

from .._fields.table import ACC, COMPONENTS, DATA_FIELDS, INTEGRATION, KEYS, POS, STAGES, VEL
from .._memory.arrays import refuse_pickle
from .._names import Fixed
from .._robot.closures import law_of
from ..device import HOST, device_name, device_number, device_of
from ..model import tell
from .arguments import SimulationError, UsageError, one, refuse_callbacks, selected
from .robots import not_of_this_model, why_not
from .steps import Steps
from .storage import Storage
from .variants import Variants

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from .._memory.named_buffers import Columns
    from ..typing import NumpyArray as Array
    from .engine import Engine

    Ids = npt.ArrayLike | None

DTYPES = ("float32", "float64")
MOST_PARTS = 4  # copies of some simulations on the host whose memory is kept


class Simulations(Fixed):
    """Base of Batch; its attributes are described there."""

    _kind_of_variants: type[Variants] = Variants
    _settable = tuple(DATA_FIELDS)
    _way = "expand(...) and set_models(...) change models, and bind(...) has fields of mjData"

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
        self._memory = Storage(model, name, self.nsim, number, self.stream)
        self._variants.memory, self._memory.inputs = self._memory, self._variants.inputs
        self._steps: dict[Engine, Steps] = {}
        self._parts: dict[tuple[Engine, int], Steps] = {}
        self._start()
        self._status = np.zeros(self.nsim, np.int32)
        self.status = self._status.view()
        self.status.flags.writeable = False
        self._errors: dict[int, str] = {}
        for sentence in self._variants.own.left_out:
            tell(sentence)

    def _start(self) -> None:
        """Set all simulations to the model's defaults."""
        self._memory.set_rows(slice(None), self._variants.own.initial)

    def __reduce__(self) -> NoReturn:
        refuse_pickle("Batch", "pickle its model and rows(), and make a Batch there, whose set_rows takes them")

    def __repr__(self) -> str:
        m = self.model
        return (
            f"<featherstorm.mujoco.{type(self).__name__}: {self.nsim} simulations, nq {m.nq}, nv {m.nv}, nu {m.nu}, "
            f"{self.dtype}, timestep {m.opt.timestep:g} s, {self.device}>"
        )

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
            super().__setattr__(name, value)
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
        return self._memory.bind(name, shape, self._variants.own.unknown)

    def rows(self, spec: int = INTEGRATION, ids: Ids = None) -> Array:
        """Return states in contiguous rows of double, (n, mj_stateSize(model, spec)): a copy."""
        memory = self._memory
        memory.read_time()
        sims = self._sims(selected(ids, self.nsim))
        whole_rows = memory.numpy(memory.live_state)[sims].astype(np.float64)
        whole_rows[:, 0] = memory.times(self._timesteps())[sims]
        return np.ascontiguousarray(whole_rows[:, memory.layout.columns_of(int(spec))])

    def _timesteps(self) -> list[float]:
        return [engine.timestep for engine in (*self._steps, self._variants.own)]

    def set_rows(self, rows: npt.ArrayLike, spec: int = INTEGRATION, ids: Ids = None) -> None:
        """Write rows in the layout of `rows`, or one row for all simulations."""
        columns = self._memory.layout.columns_of(int(spec))
        sims = self._sims(selected(ids, self.nsim))
        given = np.asarray(rows, np.float64)
        if given.shape not in ((len(columns),), (len(sims), len(columns))):
            raise ValueError(f"rows have shape {given.shape}, expected ({len(sims)}, {len(columns)})")
        memory = self._memory
        memory.read_time()
        state = memory.numpy(memory.live_state)
        state[np.ix_(sims, columns)] = given
        if not memory.readable:
            memory.send(state, memory.live_state)
        elif 0 in columns:
            memory.time[sims] = np.broadcast_to(given, (len(sims), len(columns)))[:, 0]

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
        values = {name: self._memory.numpy(self._memory.inputs[name]) for name in engine.varied}
        row = engine.keyframe(key, values if sims is None else {name: x[sims] for name, x in values.items()})
        own = {name: x for name, x in self._variants.differing.items() if name in KEYS and key >= 0}
        if not own:
            return row
        rows = np.repeat(row[None], self.nsim if sims is None else len(sims), axis=0)
        for name, x in own.items():
            columns = engine.layout.columns[KEYS[name]]
            rows[:, columns] = x[self._sims(sims), key].reshape(len(rows), -1)
        return rows

    def _reset_to(self, key: int, ids: Any, sims: Array | None) -> None:
        """Set simulations to a keyframe, or to their defaults for -1, without warnings; record failures."""
        for engine, group in self._engines(sims):
            try:
                row = self._defaults(engine, key, group)
            except ValueError as error:
                self._fail(group, str(error))
                continue
            rows = slice(None) if group is None else group
            self._memory.set_rows(rows, row)
            self._memory.counted[rows] = 0

    @property
    def _active(self) -> Array:
        return self._memory.state[:, self._memory.layout.columns["eq_active"]]

    def _steps_of(self, engine: Engine) -> Steps:
        """Return the steps of an engine for all simulations, kept while the engine is used."""
        if engine not in self._steps:
            used = [self._variants.own, *self._variants.engines.values()]
            self._steps = {other: steps for other, steps in self._steps.items() if other in used}
            self._steps[engine] = Steps(engine, self._memory)
        return self._steps[engine]

    def _part(self, engine: Engine, sims: Array) -> Steps:
        """Return the steps of an engine for copies of some simulations; memory is kept for later calls."""
        key = engine, len(sims)
        if key not in self._parts:
            while len(self._parts) >= MOST_PARTS:
                del self._parts[next(iter(self._parts))]
            self._parts[key] = Steps(engine, self._memory.taken(sims))
        else:
            self._parts[key].memory.take(self._memory, sims)
        return self._parts[key]

    def _chosen(self, ids: Any) -> Array | None:
        """Return the simulations of a call by number, and forget their errors.

        None stands for all, or on a device for those of a mask there.
        """
        is_mask = not self._memory.readable and device_of(ids) != HOST
        sims = None if is_mask else selected(ids, self.nsim)
        self._begin(sims)
        return sims

    def _runs(self, ids: Any, sims: Array | None) -> Iterator[tuple[Steps, Columns | None, Array | None]]:
        """Iterate over the simulations of a call by engine: steps, their mask on a device, their numbers.

        Numbers are None for all. On the host some simulations are copies, which are written back.
        Failures are recorded.

        ids   as given; on a device they may be a mask there
        sims  the same by number
        """
        memory = self._memory
        for engine, group in self._engines(sims):
            if group is None:
                yield self._steps_of(engine), None, None
            else:
                some = self._part(engine, group)
                yield some, None, group
                memory.put(group, some.memory)
        memory.renew_integers()

    def _engines(self, sims: Array | None) -> Iterator[tuple[Engine, Array | None]]:
        """Iterate over the engines of a call, with the numbers of their simulations; record failures."""
        refuse_callbacks()
        if sims is not None and not len(sims):
            return
        self._memory.read_time()
        self._variants.look_at_mocap(self._memory.state)
        for engine, group in self._variants.groups(sims, self._active):
            if isinstance(engine, Exception):
                self._fail(group, str(engine))
            else:
                yield engine, group

    def _works(self, ids: Ids) -> Iterator[tuple[Steps, Array]]:
        """Iterate over the simulations of a call that reads states, by engine: steps on the host, and numbers."""
        sims = self._chosen(ids)
        for steps, _, group in self._runs(ids, sims):
            yield steps, self._sims(group)

    def _renew(self, steps: Steps, stage: int, run: Columns | None) -> None:
        """Compute the bound fields of the stages up to `stage` at the states."""
        if stages := tuple(s for s in (POS, VEL, ACC) if s <= stage):
            steps.observe(stages, self._memory.names(), run)
