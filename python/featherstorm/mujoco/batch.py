"""Batch: many simulations of one MuJoCo model, with the face of mujoco.batch.Batch.

    from featherstorm.mujoco import Batch

    batch = Batch(model, nsim=4096)                    # float32; dtype="float64" for MuJoCo's precision
    qpos, ctrl, xpos = batch.qpos, batch.ctrl, batch.xpos
    for _ in range(1000):
        ctrl[:] = policy(qpos)
        batch.step()

Arrays are (nsim, ...) in the engine's memory, [component][instance], and live: what is written to a field of the state is the
simulation's at its next call, other fields are renewed by every call. Only fields that were bound are computed. They are one
substep behind the state after `step`, as those of mj_step are.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from ..device import HOST, device_number
from .advance import Rows, advance, check_controls
from .arguments import one, selected, stage_number, steps, whole
from .callbacks import refuse_callbacks
from .errors import SimulationError, UsageError
from .fields.sensors import rows_of
from .fields.table import ACC, DATA_FIELDS, POS, STAGES, VEL
from .memory import Memory
from .missing import why_not
from .named import NamedViews
from .observing import observe, observe_step
from .rays import hits
from .robots import tell
from .rolling import Recording, roll
from .state import COMPONENTS, INTEGRATION, USER
from .variants import MODEL_FIELDS, Variants

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from .engine import Engine

    Array = npt.NDArray[Any]
    Ids = npt.ArrayLike | None

__all__ = ["DATA_FIELDS", "MODEL_FIELDS", "Batch", "SimulationError"]

CTRL = int(mujoco.mjtState.mjSTATE_CTRL)
DTYPES = ("float32", "float64")


class Work:
    """The simulations of a call that run on one engine: live arrays where these are all, else copies that are put back."""

    def __init__(self, memory: Memory, engine: Engine, sims: Any) -> None:
        self.memory, self.engine, self.sims = memory, engine, sims
        rows = Rows(memory.state, memory.time, memory.warning)
        fields = {name: memory.fields[name] for name in memory.names()}
        self.rows = rows if sims is None else rows.taken(sims)
        self.fields = fields if sims is None else {name: x[sims] for name, x in fields.items()}

    def put_back(self) -> None:
        if self.sims is not None:
            memory = self.memory
            Rows(memory.state, memory.time, memory.warning).put(self.sims, self.rows)
            for name, x in self.fields.items():
                memory.fields[name][self.sims] = x


class Batch(NamedViews):
    """nsim simulations of a copy of a model.

    nthread      threads of the engine; 0: one for each processor
    persistent   taken for MuJoCo's sake: each simulation has memory of its own in any case
    dtype        "float32" or "float64"
    device       "cpu"

    state    (nsim, nstate) live, of mjSTATE_INTEGRATION; `rows` has copies in double as MuJoCo takes them
    warning  (nsim, mjNWARNING, 2) last information and number of each of MuJoCo's warnings
    status   (nsim,) 1 where the last call could not be computed, and `error(sim)` says why
    Errors: ValueError for models that the engine cannot step, with the reason. Notices say what is left out.
    """

    def __init__(
        self,
        model: Any,
        nsim: int,
        nthread: int = 0,
        persistent: bool = False,
        *,
        dtype: npt.DTypeLike = "float32",
        device: object = "cpu",
    ) -> None:
        if not isinstance(model, mujoco.MjModel):
            raise TypeError(f"Batch: model is a {type(model).__name__}, expected mujoco.MjModel")
        if not isinstance(nsim, (int, np.integer)) or isinstance(nsim, bool):
            raise TypeError(f"Batch: nsim is {nsim!r}, expected an integer")
        if nsim < 1:
            raise ValueError(f"nsim must be positive, got {nsim}")
        if device_number(device, "Batch") != HOST:
            raise ValueError(
                f"Batch: device is {device!r}, expected 'cpu': simulations on devices are not supported yet"
            )
        name = np.dtype(dtype).name
        if name not in DTYPES:
            raise TypeError(f"Batch: dtype is {name}, expected float32 or float64")
        refuse_callbacks()
        self.model, self.nsim, self.persistent, self.dtype = model, int(nsim), bool(persistent), np.dtype(name)
        self._variants = Variants(model, self.nsim, name, max(int(nthread), 0))
        self.nthread = int(nthread) if nthread > 0 else self._variants.own.model.threads
        self._memory = Memory(model, self.nsim, name)
        self._memory.set_rows(slice(None), self._variants.own.initial)
        self._status = np.zeros(self.nsim, np.int32)
        self.status = self._status.view()
        self.status.flags.writeable = False
        self._errors: dict[int, str] = {}
        tell(self._variants.own.left_out)

    # arrays

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
                f"{name} is computed by every call and cannot be written; write fields of the state (qpos, ctrl, ...) or expand "
                "fields of the model"
            )
        else:
            self.bind(name)[...] = value

    def bind(self, name: str) -> Array:
        """A live array (nsim, ...) of a field of mjData. Fields that calls compute can be read alone."""
        if name not in DATA_FIELDS:
            raise ValueError(why_not(self.model, name))
        shape = np.shape(getattr(self.template, name))
        if name in COMPONENTS:
            return self._memory.component(name, shape)
        is_new = name not in self._memory.fields
        bound = self._memory.bind(name, shape)
        if is_new and name == "sensordata":
            for rows in rows_of(self.model, self._variants.own.unknown):
                self._memory.fields[name][:, rows] = np.nan
        return bound

    def rows(self, spec: int = INTEGRATION, ids: Ids = None) -> Array:
        """States in contiguous rows of double, (n, mj_stateSize(model, spec)): a copy."""
        self._memory.read_time()
        sims = self._sims(selected(ids, self.nsim))
        whole_rows = self._memory.state[sims].astype(np.float64)
        whole_rows[:, 0] = self._memory.time[sims]
        return np.ascontiguousarray(whole_rows[:, self._memory.layout.columns_of(int(spec))])

    def set_rows(self, rows: npt.ArrayLike, spec: int = INTEGRATION, ids: Ids = None) -> None:
        """Writes what `rows` reads, or one row for all simulations."""
        columns = self._memory.layout.columns_of(int(spec))
        sims = self._sims(selected(ids, self.nsim))
        given = np.asarray(rows, np.float64)
        if given.shape not in ((len(columns),), (len(sims), len(columns))):
            raise ValueError(f"rows have shape {given.shape}, expected ({len(sims)}, {len(columns)})")
        self._memory.read_time()
        self._memory.state[np.ix_(sims, columns)] = given
        if 0 in columns:
            self._memory.time[sims] = np.broadcast_to(given, (len(sims), len(columns)))[:, 0]

    # fields of the model

    @property
    def _expanded(self) -> dict[str, Array]:
        return self._variants.expanded

    def expand(self, name: str) -> Array:
        """Gives a field of the model, or "opt.NAME" of its options, numbers per simulation: a live array (nsim, ...).

        The engine makes kernels for each different model, see docs/mujoco.md. After writing what other fields follow from, call
        `set_const`.
        """
        return self._variants.expand(name)

    def values(self, name: str) -> Array | None:
        """What a field of the model has per simulation, None where it is shared; to be written only where it was expanded."""
        found = self._variants.values(name)
        if found is None or name in self._variants.expanded:
            return found
        view = found.view()
        view.flags.writeable = False
        return view

    def expanded(self, name: str) -> Array | None:
        """The numbers per simulation that a field of the model has by `expand` or `set_const`, None where it is shared; to be
        read alone."""
        if name not in MODEL_FIELDS:
            raise ValueError(f"{name} is not an expandable MjModel field")
        found = self._variants.values(name)
        if found is None:
            return None
        view = found.view()
        view.flags.writeable = False
        return view

    def set_const(self, ids: Ids = None) -> None:
        """mj_setConst for each simulation; what it derives becomes per simulation."""
        sims = selected(ids, self.nsim)
        self._begin(sims)
        for sim, error in self._variants.set_const(self._sims(sims)).items():
            self._fail([sim], str(error))
        self._check(sims)

    def set_models(self, models: Any | Sequence[Any] | None) -> None:
        """Runs simulation i on models[i], all on one MjModel, or on the batch's again for None. The models must have the sizes of
        the batch's; set them again after changing one."""
        self._variants.set_models(models)

    @property
    def models(self) -> Any:
        """What `set_models` was given."""
        models = self._variants.models
        return tuple(models) if isinstance(models, list) else models

    def model_of(self, sim: int) -> Any:
        return self._variants.model_of(one(sim, self.nsim))

    def get_model(self, sim: int, model: Any = None) -> Any:
        """The model of a simulation with its own fields: a copy, or written to a model of the same sizes."""
        sim = one(sim, self.nsim)
        return self._variants.write(sim, self.model_of(sim).__copy__() if model is None else model)

    def get_data(self, sim: int, data: Any = None) -> Any:
        """The state of a simulation as an MjData; mj_forward of get_model(sim) computes the rest."""
        sim = one(sim, self.nsim)
        if data is None:
            data = mujoco.MjData(self.model)
        mujoco.mj_setState(self.model, data, self.rows(ids=[sim])[0], INTEGRATION)
        return data

    # calls

    def step(self, ids: Ids = None, nstep: int = 1, stage: int = 0) -> None:
        """Advances simulations by nstep steps, then computes fields of the stages up to `stage` at the new state.

        ids   their numbers in order, or a mask (nsim,); None: all
        """
        nstep, stage = steps(nstep), stage_number(stage)
        for work in self._works(ids):
            last = advance(work.engine, work.rows, nstep, bool(work.fields))
            if last is not None:
                observe_step(work.engine, work.rows.state, last, work.fields)
            self._observe(work, stage)
        self._check(selected(ids, self.nsim))

    def forward(self, ids: Ids = None, stage: int = ACC) -> None:
        """Computes fields of the stages up to `stage` at the state, by default all."""
        stage = stage_number(stage)
        for work in self._works(ids):
            self._observe(work, stage)
        self._check(selected(ids, self.nsim))

    def reset(self, ids: Ids = None, keyframe: npt.ArrayLike = -1, stage: int = ACC) -> None:
        """Sets simulations to their model's defaults, or to keyframes, one for each or for all; then computes fields."""
        stage, sims = stage_number(stage), selected(ids, self.nsim)
        numbers = self._sims(sims)
        nkey = max(m.nkey for m in self._distinct_models())
        keys = whole(keyframe, (len(numbers),), -1, nkey, "keyframe")
        self._begin(sims)
        for key in np.unique(keys):
            chosen = numbers[keys == key].astype(np.int32)
            for engine, group in self._variants.groups(chosen, self._active):
                try:
                    row = engine.keyframe(int(key)) if not isinstance(engine, Exception) else None
                except ValueError as error:
                    engine, row = error, None
                if row is None:
                    self._fail(group, str(engine))
                else:
                    self._memory.set_rows(group, row)
                    self._memory.warning[group] = 0
        failed = dict(self._errors)
        if stage:
            fine = numbers[self._status[numbers] == 0]
            for work in self._works(fine.astype(np.int32) if len(fine) < self.nsim else None):
                self._observe(work, stage)
        for sim, message in failed.items():
            self._fail([sim], message)
        self._check(sims)

    def rollout(
        self,
        nstep: int,
        control: npt.ArrayLike | None = None,
        control_spec: int = CTRL,
        record: Sequence[Any] = ("qpos",),
        ids: Ids = None,
        out: Mapping[Any, Array] | None = None,
    ) -> dict[Any, Array]:
        """Advances simulations by nstep steps and records after each.

        control   (n, nstep, mj_stateSize(model, control_spec)) what is set before each step, or None: nothing is
        record    names of fields, or mjtState bits of a state vector
        out       record -> array to record into
        Returns record -> (n, nstep, ...). A simulation with a new warning stops; its last numbers are repeated.
        """
        nstep, sims = steps(nstep), selected(ids, self.nsim)
        n = self.nsim if sims is None else len(sims)
        if int(control_spec) & ~USER:
            raise UsageError("control_spec must be a subset of mjSTATE_USER")
        columns = self._memory.layout.columns_of(int(control_spec))
        if control is not None:
            control = np.ascontiguousarray(np.broadcast_to(np.asarray(control), (n, nstep, len(columns))), self.dtype)
        recording = Recording(self, n, nstep, record, out or {})
        for work in self._works(ids):
            where = np.searchsorted(self._sims(sims), self._sims(work.sims))
            part = None if control is None else control[where]
            roll(work.engine, work.rows, nstep, part, columns, work.fields, recording.of(where))
        self._check(sims)
        return recording.results()

    def jac(self, body: npt.ArrayLike, point: npt.ArrayLike, ids: Ids = None) -> tuple[Array, Array]:
        """Jacobians (n, 3, nv) each of a point of the world on a body: of its velocity, and of the body's turning.

        body    a body's number, or one for each simulation (n,)
        point   (3,) or (n, 3)
        """
        sims = selected(ids, self.nsim)
        numbers, nv = self._sims(sims), self.model.nv
        n = len(numbers)
        bodies = whole(body, (n,), 0, self.model.nbody, "body")
        points = np.ascontiguousarray(np.broadcast_to(np.asarray(point, self.dtype), (n, 3)))
        found = np.zeros((2, n, 3, nv), self.dtype)
        for work in self._works(ids):
            place = np.searchsorted(numbers, self._sims(work.sims))
            for b in np.unique(bodies[place]) if nv else ():
                of = np.flatnonzero(bodies[place] == b)
                jacp, jacr = work.engine.jacobians(int(b), work.rows.state[of], points[place[of]])
                found[0, place[of]], found[1, place[of]] = jacp, jacr
        self._check(sims)
        return found[0], found[1]

    def ray(
        self,
        pnt: npt.ArrayLike,
        vec: npt.ArrayLike,
        geomgroup: npt.ArrayLike | None = None,
        flg_static: bool = True,
        bodyexclude: npt.ArrayLike = -1,
        ids: Ids = None,
        normal: bool = False,
    ) -> tuple[Array, ...]:
        """Where rays first meet a geom, as mj_ray.

        pnt, vec      origins and directions, (3,), (nray, 3) for all simulations, or (n, nray, 3)
        geomgroup     (mjNGROUP,) which groups of geoms are seen; None: all
        flg_static    whether geoms of bodies that do not move are
        bodyexclude   a body whose geoms are not, -1: none; one number or (n, nray)
        Returns dist and geomid (n, nray), -1 where nothing is met; with `normal` the surface's there (n, nray, 3), else 0.
        """
        sims = selected(ids, self.nsim)
        numbers = self._sims(sims)
        n = len(numbers)
        points, vectors = np.atleast_2d(np.asarray(pnt, np.float64)), np.atleast_2d(np.asarray(vec, np.float64))
        nray = np.broadcast_shapes(points.shape[:-1], vectors.shape[:-1])[-1]
        points, vectors = np.broadcast_to(points, (n, nray, 3)), np.broadcast_to(vectors, (n, nray, 3))
        exclude = whole(bodyexclude, (n, nray), -1, self.model.nbody, "bodyexclude")
        found = np.full((n, nray), -1.0), np.full((n, nray), -1, np.int32), np.zeros((n, nray, 3))
        for work in self._works(ids):
            place = np.searchsorted(numbers, self._sims(work.sims))
            pose = work.engine.geom_poses(work.rows.state)
            some = hits(work.engine.m, pose, points[place], vectors[place], geomgroup, flg_static, exclude[place])
            for whole_array, part in zip(found, some):
                whole_array[place] = part
        self._check(sims)
        return found if normal else found[:2]

    # errors

    def error(self, sim: int) -> str:
        """What was wrong with a simulation in its last call, or ""."""
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

    # work

    def _sims(self, sims: Any) -> Array:
        return np.arange(self.nsim) if sims is None else np.asarray(sims)

    @property
    def _active(self) -> Array:
        return self._memory.state[:, self._memory.layout.columns["eq_active"]]

    def _distinct_models(self) -> list[Any]:
        models = self._variants.models
        return models if isinstance(models, list) else [self.model if models is None else models]

    def _works(self, ids: Ids) -> Iterator[Work]:
        """The simulations of a call by their engine; failures are noted. What is changed is put back behind each."""
        refuse_callbacks()
        sims = selected(ids, self.nsim)
        self._begin(sims)
        if sims is not None and not len(sims):
            return
        self._memory.read_time()
        for engine, group in self._variants.groups(sims, self._active):
            if isinstance(engine, Exception):
                self._fail(group, str(engine))
                continue
            still = engine.moved_mocap(self._memory.state if group is None else self._memory.state[group])
            if len(still):
                fine = np.delete(self._sims(group), still)
                self._fail(self._sims(group)[still].tolist(), engine.mocap_message)
                if not len(fine):
                    continue
                group = fine
            work = Work(self._memory, engine, group)
            yield work
            work.put_back()

    def _observe(self, work: Work, stage: int) -> None:
        stages = tuple(s for s in (POS, VEL, ACC) if s <= stage)
        if ACC in stages:
            with np.errstate(invalid="ignore"):
                check_controls(work.engine, work.rows)
        if stages and work.fields:
            observe(work.engine, work.rows.state, work.fields, stages)
