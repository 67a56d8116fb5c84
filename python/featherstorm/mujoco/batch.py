"""Batch: many simulations of one MuJoCo model, with the interface of mujoco.batch.Batch.

    from featherstorm.mujoco import Batch

    batch = Batch(model, nsim=4096)                    # float32; dtype="float64" for MuJoCo's precision
    qpos, ctrl, xpos = batch.qpos, batch.ctrl, batch.xpos
    for _ in range(1000):
        ctrl[:] = policy(qpos)
        batch.step()

Arrays are (nsim, ...) in the engine's memory, [component][instance], and live. A value written to a field of the state
is used by the next call; every call updates the other fields. Only bound fields are computed. After `step` they are one
substep behind the state, as after mj_step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import mujoco
import numpy as np

from .._fields.table import ACC, DATA_FIELDS, INTEGRATION, MODEL_FIELDS, USER
from ..device import HOST, device_number, device_of
from .arguments import SimulationError, UsageError, one, selected, stage_number, steps, whole
from .device_calls import CallsOnDevice
from .named import NamedViews
from .roll import Recording, roll
from .simulations import Simulations
from .steps import Steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    from typing_extensions import Self

    from ..typing import NumpyArray as Array

    Ids = npt.ArrayLike | None

__all__ = ["DATA_FIELDS", "MODEL_FIELDS", "Batch", "SimulationError"]

CTRL = int(mujoco.mjtState.mjSTATE_CTRL)


class Report(NamedTuple):
    """Accuracy of constraint and contact forces.

    residual  (n,) with MuJoCo's law the residual of the forces over the largest one, with the rigid law the largest
              error of a velocity [m/s]
    gap       (n,) the least distance of contacts [m], below zero for penetrations; 1e10 where no contact is near
    """

    residual: Array
    gap: Array


class Batch(Simulations, NamedViews):
    """nsim simulations of a copy of a model.

    nthread      threads of the engine; 0: one for each processor
    persistent   accepted for compatibility with MuJoCo: each simulation has memory of its own in any case
    dtype        "float32" or "float64"
    device       "cpu", or "cuda", "cuda:1": states and fields are DeviceArrays there, and calls do not wait
                 (docs/mujoco.md)
    law          "mujoco", or "rigid" or a `Rigid`: the law of Signorini and Coulomb
    stream       the number of the stream for work on a device

    state    (nsim, nstate) live, of mjSTATE_INTEGRATION; `rows` has copies in double in MuJoCo's layout
    warning  (nsim, mjNWARNING, 2) last information and number of each of MuJoCo's warnings
    status   (nsim,) 1 where the last call could not be computed, with the reason in `error(sim)`
    Errors: ValueError for models that the engine cannot step, with the reason. Notices list ignored features.
    """

    def __new__(cls, *arguments: Any, device: object = "cpu", **options: Any) -> Self:
        on_device = cls is Batch and device_number(device, "Batch") != HOST
        return cast("Self", object.__new__(BatchOnDevice)) if on_device else object.__new__(cls)

    @property
    def _expanded(self) -> dict[str, Array]:
        return self._variants.expanded

    def expand(self, name: str) -> Array:
        """Make a field of the model, or "opt.NAME", differ per simulation: return a live array (nsim, ...).

        The engine makes kernels for each different model, see docs/mujoco.md. After writing a field that determines
        others, call `set_const`.
        """
        return self._variants.expand(name)

    def values(self, name: str) -> Array | None:
        """Return a field of the model per simulation, None where it is shared.

        Write to it only where it was expanded.
        """
        found = self._variants.values(name)
        return found if name in self._variants.expanded else read_only(found)

    def expanded(self, name: str) -> Array | None:
        """Return the numbers per simulation of a field made by `expand` or `set_const`, None where it is shared.

        Read only.
        """
        if name not in MODEL_FIELDS:
            raise ValueError(f"{name} is not an expandable MjModel field")
        return read_only(self._variants.values(name))

    def set_const(self, ids: Ids = None) -> None:
        """Run mj_setConst for each simulation; the fields that it derives become per simulation."""
        sims = selected(ids, self.nsim)
        self._begin(sims)
        for sim, error in self._variants.set_const(self._sims(sims)).items():
            self._fail([sim], str(error))
        self._check(sims)

    def set_models(self, models: Any | Sequence[Any] | None) -> None:
        """Run simulation i on models[i], or all on one MjModel, or on the batch's model again for None.

        The models must have the sizes of the batch's model; set them again after changing one.
        """
        self._variants.set_models(models)

    @property
    def models(self) -> Any:
        """The models given to `set_models`."""
        models = self._variants.models
        return tuple(models) if isinstance(models, list) else models

    def model_of(self, sim: int) -> Any:
        return self._variants.model_of(one(sim, self.nsim))

    def get_model(self, sim: int, model: Any = None) -> Any:
        """Return the model of a simulation with its own fields: a copy, or written to a model of the same sizes."""
        sim = one(sim, self.nsim)
        return self._variants.write(sim, self.model_of(sim).__copy__() if model is None else model)

    def get_data(self, sim: int, data: Any = None) -> Any:
        """Return the state of a simulation as an MjData; mj_forward of get_model(sim) computes the rest."""
        sim = one(sim, self.nsim)
        if data is None:
            data = mujoco.MjData(self.model)
        mujoco.mj_setState(self.model, data, self.rows(ids=[sim])[0], INTEGRATION)
        return data

    # calls

    def step(self, ids: Ids = None, nstep: int = 1, stage: int = 0) -> None:
        """Advance simulations by nstep steps, then compute fields of the stages up to `stage` at the new state.

        ids   their numbers in order, or a mask (nsim,); None: all
        """
        nstep, stage = steps(nstep), stage_number(stage)
        sims = self._chosen(ids)
        for of, run, _ in self._runs(ids, sims):
            of.advance(nstep, self._memory.names(), run)
            self._renew(of, stage, run)
        self._check(sims)

    def forward(self, ids: Ids = None, stage: int = ACC) -> None:
        """Compute fields of the stages up to `stage` at the state, by default all."""
        stage = stage_number(stage)
        sims = self._chosen(ids)
        for of, run, _ in self._runs(ids, sims):
            self._renew(of, stage, run)
        self._check(sims)

    def reset(self, ids: Ids = None, keyframe: npt.ArrayLike = -1, stage: int = ACC) -> None:
        """Set simulations to their model's defaults, or to keyframes, one for each or for all; then compute fields."""
        stage = stage_number(stage)
        nkey = max(m.nkey for m in self._variants.distinct_models)
        sims = self._chosen(ids)
        numbers = self._sims(sims)
        if device_of(ids) != HOST and np.ndim(keyframe):
            raise ValueError(
                "reset: keyframes of single simulations beside ids on the device are for device='cpu'; on a device "
                "expected one for all that are meant"
            )
        keys = whole(keyframe, (len(numbers),), -1, nkey, "keyframe")
        for key in np.unique(keys).tolist():
            chosen = numbers[keys == key]
            self._reset_to(key, ids, None if len(chosen) == self.nsim else chosen)
        fine = numbers[self._status[numbers] == 0]
        if stage and len(fine):
            for of, run, _ in self._runs(ids, None if len(fine) == self.nsim else fine):
                self._renew(of, stage, run)
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
        """Advance simulations by nstep steps and record after each.

        control   (n, nstep, mj_stateSize(model, control_spec)) state components set before each step, or None
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
            self._variants.expect(int(control_spec))
            control = np.ascontiguousarray(np.broadcast_to(np.asarray(control), (n, nstep, len(columns))), self.dtype)
        recording = Recording(self, n, nstep, record, out or {})
        for of, group in self._works(ids):
            where = np.searchsorted(self._sims(sims), group)
            roll(of, nstep, None if control is None else control[where], columns, recording.of(where))
        self._check(sims)
        return recording.results()

    def jac(self, body: npt.ArrayLike, point: npt.ArrayLike, ids: Ids = None) -> tuple[Array, Array]:
        """Return Jacobians (n, 3, nv) of a world point on a body: of its velocity, and of the body's angular velocity.

        body    a body's number, or one for each simulation (n,)
        point   (3,) or (n, 3)
        """
        sims = selected(ids, self.nsim)
        numbers, nv = self._sims(sims), self.model.nv
        n = len(numbers)
        bodies = whole(body, (n,), 0, self.model.nbody, "body")
        points = np.ascontiguousarray(np.broadcast_to(np.asarray(point, self.dtype), (n, 3)))
        found = np.zeros((2, n, 3, nv), self.dtype)
        for of, group in self._works(ids):
            place = np.searchsorted(numbers, group)
            for b in np.unique(bodies[place]) if nv else ():
                mine = np.flatnonzero(bodies[place] == b)
                some = of if len(mine) == len(place) else Steps(of.engine, of.memory.taken(mine))
                for whole_array, part in zip(found, some.jacobians(int(b), points[place[mine]])):
                    whole_array[place[mine]] = part
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
        """Find the first geom on each ray, as mj_ray does.

        pnt, vec      origins and directions, (3,), (nray, 3) for all simulations, or (n, nray, 3)
        geomgroup     (mjNGROUP,) groups of geoms that rays see; None: all
        flg_static    True: rays also see geoms of static bodies
        bodyexclude   a body whose geoms rays do not see, -1: none; one number or (n, nray)
        Returns dist and geomid (n, nray), -1 for rays without a hit; with `normal` the surface's normal there (n, nray,
        3), else 0.
        """
        sims = selected(ids, self.nsim)
        numbers = self._sims(sims)
        n = len(numbers)
        points, vectors = np.atleast_2d(np.asarray(pnt, np.float64)), np.atleast_2d(np.asarray(vec, np.float64))
        nray = np.broadcast_shapes(points.shape[:-1], vectors.shape[:-1])[-1]
        points, vectors = np.broadcast_to(points, (n, nray, 3)), np.broadcast_to(vectors, (n, nray, 3))
        exclude = whole(bodyexclude, (n, nray), -1, self.model.nbody, "bodyexclude")
        found: tuple[npt.NDArray[Any], ...] = (
            np.full((n, nray), -1.0), np.full((n, nray), -1, np.int32), np.zeros((n, nray, 3)),
        )  # fmt: skip
        for of, group in self._works(ids):
            place = np.searchsorted(numbers, group)
            sizes = of.memory.array(of.input("geom_size")) if "geom_size" in of.engine.varied else None
            some = of.engine.rays.hits(
                of.geom_poses(),
                points[place],
                vectors[place],
                geomgroup,
                flg_static,
                exclude[place],
                sizes,
            )
            for whole_array, part in zip(found, some):
                whole_array[place] = part
        self._check(sims)
        return found if normal else found[:2]

    def report(self, ids: Ids = None) -> Report:
        """Solve the current state anew, as `forward` does, and report the accuracy of forces and contact depths."""
        sims = selected(ids, self.nsim)
        numbers = self._sims(sims)
        found = Report(*(np.zeros(len(numbers), self.dtype) for _ in Report._fields))
        for of, group in self._works(ids):
            for name, x in of.report().items():
                getattr(found, name)[np.searchsorted(numbers, group)] = x
        self._check(sims)
        return found


def read_only(x: Array | None) -> Array | None:
    """Return a view of a NumPy array that cannot be written; others are returned as they are."""
    if not isinstance(x, np.ndarray):
        return x
    view = x.view()
    view.flags.writeable = False
    return view


class BatchOnDevice(CallsOnDevice, Batch):
    """Simulations in a device's memory, made by Batch(device="cuda")."""
