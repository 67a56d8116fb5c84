"""Rollouts of lists of models and states, with the interface of mujoco.rollout.

    from featherstorm.mujoco import rollout

    state, sensordata = rollout.rollout(model, data, initial_state, control)       # as mujoco.rollout.rollout

The number of MjData in `data` is the number of threads; `data` is not changed. Arrays are MuJoCo's, rows of double, for
any dtype of the engine. Equal models share their kernels, which are kept for later calls.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

from .._fields.table import USER
from ..model import tell
from .arguments import refuse_callbacks
from .engine import Engine
from .programs import looks
from .robots import mocap_acts
from .roll import Part, roll
from .steps import Steps
from .storage import Storage
from .variants import EQ_ACTIVE, MOCAP, model_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from typing_extensions import Self

    from ..typing import NumpyArray as Array


FULL_PHYSICS = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
CTRL = int(mujoco.mjtState.mjSTATE_CTRL)
KEPT = 32  # largest number of engines that are kept
_engines: OrderedDict[tuple[Any, ...], Engine] = OrderedDict()
_lock = threading.Lock()


def engine_of(m: Any, dtype: str, threads: int, spec: int = 0) -> Engine:
    """Return the engine of a model, shared by equal models.

    spec: mjtState bits of fields that may change during a run.
    """
    of_state: tuple[str, ...] = ("eq_active",) if spec & EQ_ACTIVE and m.neq else ()
    if spec & MOCAP and mocap_acts(m):
        of_state += ("mocap_pos", "mocap_quat")
    key = (model_key(m), dtype, threads, of_state)
    with _lock:
        if key not in _engines:
            active = np.ones(m.neq, bool) if "eq_active" in of_state else None
            engine = Engine(m.__copy__(), dtype, threads, active, of_state=of_state, looks=looks)
            for sentence in engine.left_out:
                tell(sentence)
            _engines[key] = engine
            while len(_engines) > KEPT:
                _engines.popitem(last=False)
        _engines.move_to_end(key)
        return _engines[key]


class Rollout:
    """Rollouts on a number of threads; 0: only the calling thread.

    dtype  "float64" or "float32", the precision of the engine
    """

    def __init__(self, *, nthread: int | None = None, dtype: npt.DTypeLike = "float64") -> None:
        self.nthread = nthread or 0
        self.dtype = np.dtype(dtype).name
        self.open = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.open = False

    def rollout(
        self,
        model: Any | Sequence[Any],
        data: Any | Sequence[Any],
        initial_state: npt.ArrayLike,
        control: npt.ArrayLike | None = None,
        *,
        control_spec: int = CTRL,
        skip_checks: bool = False,
        nstep: int | None = None,
        initial_warmstart: npt.ArrayLike | None = None,
        state: Array | None = None,
        sensordata: Array | None = None,
        chunk_size: int | None = None,
    ) -> tuple[Array, Array]:
        """Roll out controls from initial states.

        model              an MjModel, or one for each rollout, of the same sizes
        data               an MjData, or one for each thread
        initial_state      (nbatch or 1, nstate) of mjSTATE_FULLPHYSICS
        control            (nbatch or 1, nstep or 1, ncontrol), None: zeros
        control_spec       mjtState bits of mjSTATE_USER that make a control
        initial_warmstart  (nbatch or 1, nv), None: zeros
        state, sensordata  (nbatch, nstep, ...) output arrays, None: new ones
        chunk_size         checked, but not used: the engine chooses its blocks itself
        skip_checks        arrays have their full shapes, models and data are lists, nothing is inferred or made
        Returns state (nbatch, nstep, nstate) and sensordata (nbatch, nstep, nsensordata). A rollout with a warning
        stops; its last numbers are repeated.
        """
        if not self.open:
            raise RuntimeError("rollout requested after thread pool shutdown")
        spec = int(control_spec)
        call = _Call(model, initial_state, control, initial_warmstart, state, sensordata, nstep)
        if not skip_checks:
            call = _inferred(call, spec, chunk_size)
            data = data if isinstance(data, list) else [data]
        self._check(data, chunk_size, call.nstep)
        if call.nstep and len(call.initial_state):
            _run(call, spec, self.dtype, self.nthread)
        return call.state, call.sensordata  # None with skip_checks, as MuJoCo has it

    def _check(self, data: Any, chunk_size: int | None, nstep: int | None) -> None:
        refuse_callbacks()
        if not len(data):
            raise ValueError("The list of data instances is empty")
        if self.nthread == 0 and len(data) > 1:
            raise ValueError("More than one data instance passed but rollout is configured to run on main thread")
        if self.nthread > 0 and len(data) != self.nthread:
            raise ValueError(f"Length of data: {len(data)} not equal to nthread: {self.nthread}")
        for k, d in enumerate(data):
            if d.threadpool:
                raise ValueError(f"data[{k}] has a thread pool, which the engine's threads do not combine with")
        if nstep is None or nstep < 0:
            raise ValueError("nstep must be non-negative")
        if chunk_size is not None and chunk_size < 1:
            raise ValueError("chunk_size must be a positive integer")


class _Call(NamedTuple):
    """Arguments of a call, by their names in Rollout.rollout."""

    model: Any
    initial_state: Any
    control: Any
    initial_warmstart: Any
    state: Any
    sensordata: Any
    nstep: Any


def _inferred(call: _Call, spec: int, chunk_size: Any) -> _Call:
    """Return the arguments with a model for each rollout, and arrays with their full shapes."""
    if spec & ~USER:
        raise ValueError("control_spec can only contain bits in mjSTATE_USER")
    for name, value in (("nstep", call.nstep), ("chunk_size", chunk_size)):
        if value is not None and (not isinstance(value, (int, np.integer)) or isinstance(value, bool)):
            raise ValueError(f"{name} must be an integer")
    if call.nstep is not None and call.nstep < 0:
        raise ValueError("nstep must be non-negative")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("chunk_size must be a positive integer")
    given = call._asdict()
    dimensions = {"initial_state": 2, "initial_warmstart": 2, "control": 3, "state": 3, "sensordata": 3}
    arrays = {name: _array(name, given[name], most) for name, most in dimensions.items() if given[name] is not None}
    nbatch = _common(0, 1, arrays)
    models = [call.model] if isinstance(call.model, mujoco.MjModel) else list(call.model)
    if nbatch == 1:
        nbatch = len(models)
    if len(models) not in (1, nbatch):
        raise ValueError(f"nbatch inferred as {nbatch} but model is length {len(models)}")
    over_time = {name: x for name, x in arrays.items() if x.ndim == 3}
    nstep = _common(1, 1 if call.nstep is None else int(call.nstep), over_time)
    sizes = [_sizes(m, spec) for m in models]
    if any(size != sizes[0] for size in sizes):
        raise ValueError("models are not compatible")
    nstate, ncontrol, nv, nsensordata = sizes[0]
    trailing = {
        "initial_state": nstate, "state": nstate, "control": ncontrol, "initial_warmstart": nv,
        "sensordata": nsensordata,
    }  # fmt: skip
    for name, n in trailing.items():
        if name in arrays and arrays[name].shape[-1] != n:
            raise ValueError(f"trailing dimension of {name} must be {n}, got {arrays[name].shape[-1]}")

    def spread(name: str, *shape: int) -> Any:
        return np.broadcast_to(arrays[name], (*shape, arrays[name].shape[-1])) if name in arrays else None

    return _Call(
        models * nbatch if len(models) == 1 else models, spread("initial_state", nbatch), spread("control", nbatch, nstep),
        spread("initial_warmstart", nbatch), arrays.get("state", np.empty((nbatch, nstep, nstate))),
        arrays.get("sensordata", np.empty((nbatch, nstep, nsensordata))), nstep,
    )  # fmt: skip


def _array(name: str, x: Any, most: int) -> Array:
    """Return an array with all its dimensions; missing ones are added in front."""
    if not isinstance(x, (np.ndarray, float)):
        raise ValueError(f"{name} must be a numpy array or float")
    array = np.asarray(x)
    if array.ndim > most:
        raise ValueError(f"{name} can have at most {most} dimensions")
    shaped = array.reshape((1,) * (most - array.ndim) + array.shape)
    return np.ascontiguousarray(shaped, np.float64)


def _common(dimension: int, value: int, arrays: dict[str, Array]) -> int:
    """Return the common size of arrays in a dimension; 1 goes with any, and is the start value of an unknown size."""
    for name, array in arrays.items():
        size = array.shape[dimension]
        if size == value or size == 1:
            continue
        if value != 1:
            raise ValueError(f"dimension {dimension} inferred as {value} but {name} has {size}")
        value = size
    return value


def _sizes(m: Any, spec: int) -> tuple[int, int, int, int]:
    return mujoco.mj_stateSize(m, FULL_PHYSICS), mujoco.mj_stateSize(m, spec), m.nv, m.nsensordata


def _run(call: _Call, spec: int, dtype: str, nthread: int) -> None:
    """Run rollouts by model; equal models run together."""
    initial, control, warmstart = (
        None if x is None else np.asarray(x, np.float64)
        for x in (call.initial_state, call.control, call.initial_warmstart)
    )
    assert initial is not None
    models, state, sensordata = list(call.model)[: len(initial)], call.state, call.sensordata
    if len(models) != len(initial):
        raise ValueError(f"there are {len(models)} models for {len(initial)} initial states")
    groups: dict[int, tuple[Engine, list[int]]] = {}
    known: dict[int, Engine] = {}
    for k, m in enumerate(models):
        if id(m) not in known:
            known[id(m)] = engine_of(m, dtype, max(nthread, 1), 0 if control is None else spec)
        engine = known[id(m)]
        groups.setdefault(id(engine), (engine, []))[1].append(k)
    for engine, members in groups.values():
        where = np.array(members)
        layout, n = engine.layout, len(members)
        rows = np.repeat(engine.initial[None], n, axis=0)
        rows[:, layout.columns_of(FULL_PHYSICS)] = initial[where]
        rows[:, layout.columns["qacc_warmstart"]] = 0 if warmstart is None else warmstart[where]
        columns = layout.columns_of(spec)
        memory = Storage(engine.m, dtype, n, layout=layout)
        memory.set_rows(slice(None), rows)
        states = [] if state is None else [(layout.columns_of(FULL_PHYSICS), state)]
        senses = {} if sensordata is None or not sensordata.shape[-1] else {"sensordata": sensordata}
        for name, x in senses.items():
            memory.bind(name, x.shape[-1:], engine.unknown)
        part = None if control is None else np.asarray(control[where], dtype)
        roll(Steps(engine, memory), call.nstep, part, columns, Part(states, senses, where))


_persistent: Rollout | None = None


def shutdown_persistent_pool() -> None:
    """Delete the Rollout that `persistent_pool` kept. No threads end, because all rollouts share the engine's."""
    global _persistent
    if _persistent is not None:
        _persistent.close()
    _persistent = None


def rollout(
    model: Any | Sequence[Any],
    data: Any | Sequence[Any],
    initial_state: npt.ArrayLike,
    control: npt.ArrayLike | None = None,
    *,
    persistent_pool: bool = False,
    dtype: npt.DTypeLike = "float64",
    **options: Any,
) -> tuple[Array, Array]:
    """Roll out controls from initial states: `Rollout.rollout` with a thread for each MjData of `data`."""
    global _persistent
    data = data if isinstance(data, list) else [data]
    nthread = len(data) if len(data) > 1 else 0
    if not persistent_pool:
        with Rollout(nthread=nthread, dtype=dtype) as rolling:
            return rolling.rollout(model, data, initial_state, control, **options)
    if _persistent is None or (_persistent.nthread, _persistent.dtype) != (nthread, np.dtype(dtype).name):
        _persistent = Rollout(nthread=nthread, dtype=dtype)
    return _persistent.rollout(model, data, initial_state, control, **options)
