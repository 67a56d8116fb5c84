"""The engine's kernels for one compiled model: steps, solutions of the equations of motion, fields."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import _featherstorm
from .._fields.apart import Rays, SensorsApart
from .._fields.constraints import is_reading
from .._fields.inputs import TABLES, array_name
from .._fields.kernels import FieldKernels
from .._fields.sensors import open_sensors
from .._fields.table import Layout
from ..model import Model
from .robots import WorldRobot, mocap_acts, sentences, still_robot

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from .._robot.closures import Rigid

    Values = dict[str, npt.NDArray[Any]]  # of fields of the model that differ, (n, k) by name
    Output = tuple[str, Any, int, int, bool]  # of a sequence
    Looks = Callable[["Engine"], tuple[Any, Any]]

RK4, EULER = int(mujoco.mjtIntegrator.mjINT_RK4), int(mujoco.mjtIntegrator.mjINT_EULER)

NO_CLAMP = int(mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL)

# fields of the state by the names of the arrays of a step (host/simulation/world_sequence.h)
ARRAYS = {
    "qpos": "q", "qvel": "v", "act": "act", "qacc_warmstart": "qacc", "ctrl": "ctrl", "qfrc_applied": "qfrc_applied",
    "xfrc_applied": "xfrc_applied",
}  # fmt: skip
# the state of the last evaluation of Runge-Kutta's method
LAST_STAGE = {"qpos": "q_i", "qvel": "v_i", "act": "act_i"}


class Engine:
    """Kernels of one compiled model.

    m       a compiled model, which must not be changed afterwards
    layout  of the rows of its state
    fields  kernels of its fields
    read    fields of the model that its world was read from
    unknown, left_out   unsupported sensors; a sentence for each ignored feature
    varied, tables      fields of the model that differ between simulations and are given with their states; those of
                        them that are inputs of the engine's operations
    """

    def __init__(
        self,
        m: Any,
        dtype: str,
        threads: int,
        active: npt.NDArray[np.bool_] | None = None,
        law: Rigid | None = None,
        varied: tuple[str, ...] = (),
        of_state: tuple[str, ...] = (),
        looks: Looks | None = None,
    ) -> None:
        """Make the kernels of a model.

        active    equalities that are active, where not those of the model's defaults
        law       None for MuJoCo's
        varied    fields of the model that are inputs
        of_state  fields of the state that are inputs: active equalities among `active`, poses of mocap bodies
        looks     programs.looks for batches on the host, whose steps find bad numbers themselves; None on devices
        """
        self.m, self.dtype, self.threads, self.law = m, dtype, threads, law
        self.varied = tuple(name for name in varied if field_size(m, name))
        self.tables = tuple(name for name in self.varied if name in TABLES) + of_state if m.nv else ()
        self.parameters = tuple(map(array_name, self.tables))
        self.layout = Layout(m)
        self.moves = m.nv > 0
        self.unknown: dict[int, str] = {}
        left_out: list[str] = []
        sensors: list[int] = []
        self.active = np.array(m.eq_active0, bool) if active is None else active
        if self.moves:
            world = self.world(m)
            self.model, sensors = Model(world.robot, threads, parameters=self.parameters), world.sensors
            self.unknown, left_out, self.read = world.unknown, world.left_out, world.read
        else:
            self.model, self.read = Model(still_robot(), threads), set()
            self.unknown = open_sensors(m, self.model.robot)
        self.left_out = sentences(m, left_out, self.unknown)
        self.fields = FieldKernels(m, self.model, sensors, self.active, dtype, self.varied)
        self.rays = Rays(m)
        self.apart = SensorsApart(m, self.rays, self.model.robot if self.moves else None)
        clamps = not int(m.opt.disableflags) & NO_CLAMP
        self.clamps = np.asarray(m.actuator_ctrllimited, bool).reshape(m.nu) & clamps
        self.timestep = float(m.opt.timestep)
        self.runs_rk4 = int(m.opt.integrator) == RK4
        # quaternions begin there in qpos
        self.quaternions = [
            int(m.jnt_qposadr[j]) + (3 if m.jnt_type[j] == 0 else 0) for j in range(m.njnt) if m.jnt_type[j] in (0, 1)
        ]
        self.mocap_acts = self.moves and mocap_acts(m)
        self.follows_mocap = "mocap_pos" in self.tables
        self.has_histories = self.moves and m.nhistory > 0
        self.delays_controls = self.has_histories and bool(np.any(m.actuator_delay))
        if self.delays_controls and self.runs_rk4:
            raise ValueError("actuators with a delay are not supported under the integrator RK4")
        self.traced: dict[Any, _featherstorm.Sequence] = {}  # programs
        # by the readings of contacts that they have
        self.stepping: dict[tuple[tuple[str, ...], bool], _featherstorm.Sequence] = {}
        self.solving: dict[tuple[str, ...], _featherstorm.Sequence] = {}
        self.sequence_for([], looks)  # raises where the engine cannot step the model

    def sequence_for(self, outputs: list[Output], looks: Looks | None) -> _featherstorm.Sequence | None:
        """Return steps that have these outputs, and the programs of `looks` in each step."""
        if not self.moves:
            return None
        key = readings_of(outputs), looks is not None
        if key not in self.stepping:
            self.stepping[key] = self.world_sequence(self.model, looks=looks, readings=key[0])
        return self.stepping[key]

    def solver_for(self, outputs: list[Output], looks: Looks | None) -> _featherstorm.Sequence | None:
        """Return steps that have these outputs and return the solution at their beginning."""
        if not self.runs_rk4 or not self.moves:
            return self.sequence_for(outputs, looks)
        readings = readings_of(outputs)
        if readings not in self.solving:
            self.solving[readings] = self.world_sequence(self.euler, readings=readings)
        return self.solving[readings]

    @cached_property
    def euler(self) -> Model:
        """The model with Euler's method."""
        m = self.m.__copy__()
        m.opt.integrator = EULER
        return Model(self.world(m).robot, self.threads, parameters=self.parameters)

    @cached_property
    def reporter(self) -> _featherstorm.Sequence | None:
        """Steps that report the accuracy of the solution at their beginning."""
        if not self.moves:
            return None
        return self.world_sequence(self.euler if self.runs_rk4 else self.model, report=True)

    def program(self, key: Any, trace: Callable[[], _featherstorm.Trace]) -> _featherstorm.Sequence:
        """Return the sequence of a traced program, made when it is first needed."""
        if key not in self.traced:
            self.traced[key] = _featherstorm.traced_sequence(self.model.evaluator, self.dtype, trace())
        return self.traced[key]

    def world(self, m: Any) -> WorldRobot:
        """Return the robot of a model with the active equalities."""
        if not np.array_equal(self.active, np.asarray(m.eq_active0, bool)):
            m = m.__copy__()
            m.eq_active0[:] = self.active
        return WorldRobot(m)

    def world_sequence(
        self, model: Model, report: bool = False, looks: Looks | None = None, readings: tuple[str, ...] = ()
    ) -> _featherstorm.Sequence:
        options: dict[str, Any] = {
            "iterations": max(int(self.m.opt.iterations), 1),  # which may have changed since the model was loaded
            "tolerance": _featherstorm.solver_options(model.evaluator, self.dtype)[1],
            "rigid": None if self.law is None else self.law.of_engine(),
            "readings": list(readings),
        }
        if looks is None:
            return _featherstorm.world_sequence(model.evaluator, self.dtype, report=report, forces=False, **options)
        before, after = looks(self)
        return _featherstorm.environment_sequence(
            model.evaluator, self.dtype, "world", 1, [], [before], [after], **options
        )

    @cached_property
    def initial(self) -> npt.NDArray[np.float64]:
        """The row of the model's defaults."""
        return self.layout.initial()

    def defaults(self, values: Values) -> npt.NDArray[np.float64]:
        """The row of the model's defaults, or rows (n, layout.size) where the defaults differ."""
        differing = [one for one in self.layout.defaults() if one[0] in values]
        if not differing:
            return self.initial
        rows = np.repeat(self.initial[None], len(values[differing[0][0]]), axis=0)
        for name, columns, places in differing:
            rows[:, columns] = values[name][:, places]
        return rows

    def keyframe(self, key: int, values: Values) -> npt.NDArray[np.float64]:
        """Return the row of a keyframe, of the defaults for -1.

        Errors: ValueError where the model has no such keyframe.
        """
        if key >= self.m.nkey:
            raise ValueError(f"keyframe is {key}, the simulation's model has {self.m.nkey}")
        return self.defaults(values) if key < 0 else self.layout.initial(key)

    def step_length(self, values: Values) -> float | npt.NDArray[np.float64]:
        """Return the timestep [s], (n,) where it differs."""
        if "opt.timestep" not in values:
            return self.timestep
        return np.asarray(values["opt.timestep"][:, 0], np.float64)

    def moved_mocap(self, state: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the rows of states with a mocap body that left the model's pose and on which a moving body depends."""
        if not self.mocap_acts or self.follows_mocap:
            return np.zeros(0, np.intp)
        both = slice(self.layout.columns["mocap_pos"].start, self.layout.columns["mocap_quat"].stop)
        return np.flatnonzero((state[:, both] != self.initial[both].astype(self.dtype)).any(axis=1))


def readings_of(outputs: list[Output]) -> tuple[str, ...]:
    """Return the outputs that are readings of contacts."""
    return tuple(sorted(name for name, *_ in outputs if is_reading(name)))


def field_size(m: Any, name: str) -> int:
    """Return the number of components of a model's field."""
    return int(np.size(getattr(m.opt, name[4:]) if name.startswith("opt.") else getattr(m, name)))
