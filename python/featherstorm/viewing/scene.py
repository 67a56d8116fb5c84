"""Scenes: models for drawing simulations, and their present states."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .._world.values import compiled
from ..environment.batch import EnvBatch
from ..mujoco import Batch
from ..operations import forward_kinematics
from ..simulation import Simulation
from .picture import Picture, turn
from .robots import look

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..model import Model
    from ..typing import NumpyArray as Array


STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
MOST = 400  # largest number of robots in a picture; MuJoCo's compiler and viewers take seconds for more


class Scene:
    """Base class of scenes.

    model   the model that MuJoCo draws
    sims    (n,) numbers of the shown simulations
    read    (data) -> None: write the present state to mjData
    """

    model: Any
    sims: Array

    def read(self, data: Any) -> None:
        raise NotImplementedError

    def take(self, data: Any) -> None:
        """Copy a user's changes of `data` to the simulation, if the scene supports it."""


class One(Scene):
    """One simulation of a batch. MuJoCo draws the model itself, with tendons, sites and contacts."""

    def __init__(self, batch: Batch, sim: int) -> None:
        self._batch, self.sims = batch, np.array([sim])
        self.model = batch.get_model(sim)
        self._written: Array | None = None

    def read(self, data: Any) -> None:
        self._written = self._batch.rows(STATE, self.sims)[0]
        mujoco.mj_setState(self.model, data, self._written, STATE)
        mujoco.mj_forward(self.model, data)

    def take(self, data: Any) -> None:
        """Copy state, controls and forces that a user of a viewer has set."""
        now = np.zeros(mujoco.mj_stateSize(self.model, STATE))
        mujoco.mj_getState(self.model, data, now, STATE)
        if self._written is not None and not np.array_equal(now, self._written):
            self._batch.set_rows(now, STATE, self.sims)


class Several(Scene):
    """A grid of simulations of a batch. Each robot looks as its model does at the start."""

    def __init__(self, batch: Batch, sims: Array, spacing: float | None) -> None:
        self._batch, self.sims = batch, sims
        self._picture = Picture(batch.model, len(sims), spacing)
        self.model = self._picture.model
        models = [batch.get_model(i) if self._differs() else batch.model for i in sims]
        self._copies = [(m, mujoco.MjData(m)) for m in models]
        self._xpos, self._xquat = (np.zeros((len(sims), batch.model.nbody, n)) for n in (3, 4))

    def _differs(self) -> bool:
        return self._batch.models is not None or bool(self._batch._expanded)

    def read(self, data: Any) -> None:
        in_order, place = np.unique(self.sims, return_inverse=True)
        rows = self._batch.rows(STATE, in_order)[place]
        for k, ((m, own), row) in enumerate(zip(self._copies, rows)):
            mujoco.mj_setState(m, own, row, STATE)
            mujoco.mj_kinematics(m, own)
            self._xpos[k], self._xquat[k] = own.xpos, own.xquat
        self._picture.place(data, self._xpos, self._xquat)
        mujoco.mj_forward(self.model, data)


class Worlds(Scene):
    """Environments of robots with a model file's world: one environment as MuJoCo draws it, or a grid of several.

    Parameters drawn for an episode, such as positions of geoms, are not shown; the file or the task's `look` defines
    the appearance.
    """

    def __init__(self, batch: EnvBatch, sims: Array, spacing: float | None) -> None:
        self._batch, self.sims = batch, sims
        self._m = drawn(batch.task, batch.model)
        self._own = mujoco.MjData(self._m)
        self._picture = Picture(self._m, len(sims), spacing) if len(sims) > 1 else None
        self.model = self._m if self._picture is None else self._picture.model
        self._xpos, self._xquat = (np.zeros((len(sims), self._m.nbody, n)) for n in (3, 4))

    def read(self, data: Any) -> None:
        q = np.asarray(self._batch.q)[self.sims]
        if self._picture is None:
            data.qpos[:], data.qvel[:] = q[0], np.asarray(self._batch.v)[self.sims[0]]
        else:
            for k, own in enumerate(q):
                self._own.qpos[:] = own
                mujoco.mj_kinematics(self._m, self._own)
                self._xpos[k], self._xquat[k] = self._own.xpos, self._own.xquat
            self._picture.place(data, self._xpos, self._xquat)
        mujoco.mj_forward(self.model, data)


class Robots(Scene):
    """A grid of instances of a Simulation, or of environments of robots without a world."""

    def __init__(self, simulation: Simulation | EnvBatch, sims: Array, spacing: float | None, file: str | None) -> None:
        self._simulation, self.sims = simulation, sims
        robot = simulation.model
        m, names = look(robot, file)
        self._picture = Picture(m, len(sims), spacing)
        self.model = self._picture.model
        frames = {name: k for k, name in enumerate(robot.frame_names)}
        # pairs of a body in the look and the frame that it follows
        follows = [(b, frames[name]) for b, name in enumerate(names) if name in frames]
        self._bodies, self._frames = (np.array(x) for x in zip(*follows))
        self._xpos = np.zeros((len(sims), m.nbody, 3))
        self._xquat = np.tile([1.0, 0, 0, 0], (len(sims), m.nbody, 1))

    def read(self, data: Any) -> None:
        q = np.asarray(self._simulation.q)[self.sims].astype(np.float64)
        position, rotation = forward_kinematics(self._simulation.model, q, check=False)
        self._xpos[:, self._bodies] = position[:, self._frames]
        self._xquat[:, self._bodies] = np.apply_along_axis(turn, -1, rotation[:, self._frames].reshape(len(q), -1, 9))
        self._picture.place(data, self._xpos, self._xquat)
        mujoco.mj_forward(self.model, data)


def drawn(task: Any, model: Model) -> Any:
    """Return a copy of the model that shows a task's robot.

    Renderers write to the model that they draw, so a copy is needed.

    Errors: ValueError for a look whose bodies, joints or controls are not those of the file.
    """
    m, look = compiled(model), task.look()
    for size in ("nbody", "nq", "nv", "na", "nu") if look is not None else ():
        if getattr(look, size) != getattr(m, size):
            raise ValueError(
                f"{type(task).__name__}: its look has {size} = {getattr(look, size)}, expected {getattr(m, size)} as the file has"
            )
    return copy.copy(m if look is None else look)


def scene_of(
    simulation: Batch | Simulation | EnvBatch | Scene,
    ids: npt.ArrayLike | None,
    spacing: float | None,
    file: str | None = None,
) -> Scene:
    """Make the scene of a simulation, or return a given scene. ids: numbers of simulations; None: all."""
    if isinstance(simulation, Scene):
        return simulation
    if not isinstance(simulation, (Batch, Simulation, EnvBatch)):
        raise TypeError(
            f"a {type(simulation).__name__} cannot be shown, expected featherstorm.mujoco.Batch or featherstorm.Simulation, "
            "or the EnvBatch of an environment"
        )
    count = count_of(simulation)
    sims = np.arange(count) if ids is None else np.atleast_1d(np.asarray(ids))
    if sims.ndim != 1 or not len(sims) or sims.dtype.kind not in "iu" or sims.min() < 0 or sims.max() >= count:
        raise ValueError(f"ids are {ids!r}, expected numbers from 0 to {count - 1}, one at least")
    if len(sims) > MOST:
        raise ValueError(f"ids: {len(sims)} simulations are selected, expected {MOST} at most; choose fewer with ids")
    if spacing is not None and not spacing >= 0:
        raise ValueError(f"spacing is {spacing}, expected 0 or more")
    if isinstance(simulation, EnvBatch) and simulation.op == "world":
        return Worlds(simulation, sims, spacing)
    if not isinstance(simulation, Batch):
        return Robots(simulation, sims, spacing, file)
    return One(simulation, int(sims[0])) if len(sims) == 1 else Several(simulation, sims, spacing)


def count_of(simulation: Batch | Simulation | EnvBatch) -> int:
    if isinstance(simulation, EnvBatch):
        return simulation.num_envs
    return simulation.nsim if isinstance(simulation, Batch) else simulation.instances
