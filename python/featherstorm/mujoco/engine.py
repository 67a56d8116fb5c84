"""The engine's kernels for one compiled model: steps, solutions of the equations of motion, fields."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import _featherstorm
from ..model import Model
from .fields.contacts import is_reading
from .fields.distances import GeomDistances
from .fields.kernels import FieldKernels
from .fields.ranges import RangeFinders
from .fields.sensors import open_sensors
from .histories import Histories
from .inputs import OF_STATE, TABLES, array_name
from .robots import WorldRobot, mocap_acts, sentences, still_robot
from .state import Layout

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._robot.law import Rigid

    Values = dict[str, npt.NDArray[Any]]  # of fields of the model that differ, (n, k) by name

RK4, EULER = int(mujoco.mjtIntegrator.mjINT_RK4), int(mujoco.mjtIntegrator.mjINT_EULER)

QUATERNION_SLACK = {"float32": 1e-5, "float64": 1e-10}  # largest difference of a squared length from 1

NO_CONTACT = 1e10  # the gap without a contact (core/collision/contact_point.h)
MOST = 1e10  # mjMAXVAL: numbers beyond are bad
NO_CLAMP = int(mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL)

# fields of the state by the names of the arrays of a step (host/simulation/world_sequence.h)
ARRAYS = {
    "qpos": "q",
    "qvel": "v",
    "act": "act",
    "qacc_warmstart": "qacc",
    "ctrl": "ctrl",
    "qfrc_applied": "qfrc_applied",
    "xfrc_applied": "xfrc_applied",
}
MOVED = ("qpos", "qvel", "act", "qacc_warmstart")
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
    ) -> None:
        """Make the kernels of a model.

        active    equalities that are active, where not those of the model's defaults
        law       None for MuJoCo's
        varied    fields of the model that are inputs
        of_state  fields of the state that are inputs: active equalities among `active`, poses of mocap bodies
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
        measured: list[RangeFinders | GeomDistances] = [
            RangeFinders(m),
            *([GeomDistances(m, self.model.robot)] if self.moves else []),
        ]
        self.apart = [sensors for sensors in measured if sensors.some]  # sensors that no kernel measures
        clamps = not int(m.opt.disableflags) & NO_CLAMP
        self.clamps = np.asarray(m.actuator_ctrllimited, bool).reshape(m.nu) & clamps
        self.timestep = float(m.opt.timestep)
        self.moved = self.layout.columns["qacc_warmstart"].stop  # columns from 0 on that a step changes
        self.runs_rk4 = int(m.opt.integrator) == RK4
        # quaternions begin there in qpos
        self.quaternions = [
            int(m.jnt_qposadr[j]) + (3 if m.jnt_type[j] == 0 else 0) for j in range(m.njnt) if m.jnt_type[j] in (0, 1)
        ]
        self.mocap_acts = self.moves and mocap_acts(m)
        self.follows_mocap = "mocap_pos" in self.tables
        self.histories = Histories(self) if self.moves and m.nhistory else None
        # by the readings of contacts that they have
        self.stepping: dict[tuple[str, ...], _featherstorm.Sequence] = {}
        self.solving: dict[tuple[str, ...], _featherstorm.Sequence] = {}
        self.sequence  # noqa: B018  # raises where the engine cannot step the model

    @cached_property
    def sequence(self) -> _featherstorm.Sequence | None:
        """Steps without readings of contacts."""
        return self.sequence_for([])

    def sequence_for(self, outputs: list[tuple[str, Any, int, int, bool]]) -> _featherstorm.Sequence | None:
        """Return steps that have these outputs."""
        if not self.moves:
            return None
        readings = readings_of(outputs)
        if readings not in self.stepping:
            self.stepping[readings] = self.world_sequence(self.model, readings=readings)
        return self.stepping[readings]

    def solver_for(self, outputs: list[tuple[str, Any, int, int, bool]]) -> _featherstorm.Sequence | None:
        """Return steps that have these outputs and return the solution at their beginning."""
        if not self.runs_rk4 or not self.moves:
            return self.sequence_for(outputs)
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

    def world(self, m: Any) -> WorldRobot:
        """Return the robot of a model with the active equalities."""
        if not np.array_equal(self.active, np.asarray(m.eq_active0, bool)):
            m = m.__copy__()
            m.eq_active0[:] = self.active
        return WorldRobot(m)

    def world_sequence(
        self, model: Model, report: bool = False, readings: tuple[str, ...] = ()
    ) -> _featherstorm.Sequence:
        iterations = max(int(self.m.opt.iterations), 1)  # which may have changed since the model was loaded
        _, tolerance = _featherstorm.solver_options(model.evaluator, self.dtype)
        rigid = None if self.law is None else self.law.of_engine()
        return _featherstorm.world_sequence(
            model.evaluator, self.dtype, iterations, tolerance, rigid=rigid, report=report, forces=False,
            readings=list(readings),
        )  # fmt: skip

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

    def columns(self, state: npt.NDArray[Any], names: Any) -> list[tuple[str, Any, int, int, bool]]:
        """Return fields of states (n, layout.size) as arrays of a step."""
        found = []
        for name in names:
            columns = self.layout.columns[name]
            if columns.stop > columns.start:
                found.append((ARRAYS[name], state[:, columns], 0, columns.stop - columns.start, False))
        return found

    def inputs(self, state: npt.NDArray[Any], values: Values) -> list[tuple[str, Any, int, int, bool]]:
        """Return the inputs of a step, with quaternions of unit length."""
        given = []
        for name in self.tables:
            x = state[:, self.layout.columns[name]] if name in OF_STATE else values[name]
            given.append((array_name(name), x, 0, x.shape[1], False))
        given += self.columns(state, [name for name in ARRAYS if name not in ("qpos", "ctrl")])
        if self.m.nu:
            given.append(("ctrl", self.controls(state), 0, self.m.nu, False))
        return [("q", self.with_unit_quaternions(state), 0, self.m.nq, False), *given]

    def controls(self, state: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the effective controls at states: old ones where they are delayed, zeros where one is bad."""
        ctrl = state[:, self.layout.columns["ctrl"]]
        if self.histories is not None:
            ctrl = self.histories.controls(state, ctrl)
        if len(rows := self.bad_controls(state)):
            ctrl = ctrl.copy()
            ctrl[rows] = 0
        return ctrl

    def bad_controls(self, state: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the rows of states with a control that is NaN, or beyond MOST where its range does not bound it."""
        ctrl = state[:, self.layout.columns["ctrl"]]
        if not len(rows := bad_rows(ctrl)) or not self.clamps.any():
            return rows
        bad = ~(np.abs(ctrl[rows]) <= MOST) & (~self.clamps | np.isnan(ctrl[rows]))
        found: npt.NDArray[Any] = rows[bad.any(axis=1)]
        return found

    def with_unit_quaternions(self, state: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return qpos of states, a copy where a quaternion is not of unit length."""
        qpos = state[:, self.layout.columns["qpos"]]
        if not self.quaternions or self.are_unit(state):
            return qpos
        qpos = qpos.copy()
        for c in self.quaternions:
            normalise(qpos[:, c : c + 4])
        return qpos

    def are_unit(self, state: npt.NDArray[Any]) -> bool:
        slack = QUATERNION_SLACK[self.dtype]
        first = self.layout.columns["qpos"].start
        for c in self.quaternions:
            norm2 = np.square(state[:, first + c : first + c + 4]).sum(axis=1)
            if not (np.abs(norm2 - 1) <= slack).all():
                return False
        return True

    def step(
        self, state: npt.NDArray[Any], values: Values, nstep: int, more: dict[str, npt.NDArray[Any]] | None = None
    ) -> None:
        """Run nstep steps of states (n, layout.size), in place.

        values  of the fields in `varied`
        more   array of the sequence (host/simulation/world_sequence.h) -> memory (n, k) that receives it at the end
        """
        if self.sequence is None or not len(state):
            return
        if self.histories is not None and nstep != 1:
            raise RuntimeError("steps of a model with histories are taken one by one")
        history = None if self.histories is None else self.histories.next(state, values)
        outputs = self.columns(state, MOVED)
        outputs += [(name, x, 0, x.shape[1], False) for name, x in (more or {}).items() if x.shape[1]]
        self.sequence_for(outputs).run(nstep, len(state), self.inputs(state, values), {}, outputs)  # type: ignore[union-attr]  # it moves
        if history is not None:
            state[:, self.layout.columns["history"]] = history

    def solve(self, state: npt.NDArray[Any], values: Values, sizes: dict[str, int]) -> dict[str, npt.NDArray[Any]]:
        """Return the solver's results at states: arrays (n, size) by name."""
        n = len(state)
        found = {name: np.zeros((n, size), self.dtype) for name, size in sizes.items()}
        outputs = [(name, x, 0, x.shape[1], False) for name, x in found.items() if x.shape[1]]
        if n and (sequence := self.solver_for(outputs)) is not None:
            sequence.run(1, n, self.inputs(state, values), {}, outputs)
        return found

    def report(self, state: npt.NDArray[Any], values: Values) -> dict[str, npt.NDArray[Any]]:
        """Return residual and gap at states, (n, 1) each."""
        n = len(state)
        found = {"residual": np.zeros((n, 1), self.dtype), "gap": np.full((n, 1), NO_CONTACT, self.dtype)}
        if self.reporter is not None and n:
            outputs = [(name, x, 0, 1, False) for name, x in found.items()]
            self.reporter.run(1, n, self.inputs(state, values), {}, outputs)
        return found

    def geom_poses(self, state: npt.NDArray[Any], values: Values) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return positions (n, ngeom, 3) and rotations (n, ngeom, 3, 3) of geoms, in double."""
        found = self.poses(self.given(state, values), ["geom_xpos", "geom_xmat"], len(state))
        return found["geom_xpos"], found["geom_xmat"]

    def poses(self, given: dict[str, npt.NDArray[Any]], names: list[str], n: int) -> dict[str, npt.NDArray[Any]]:
        """Return fields of positions (n, count, 3) and rotations (n, count, 3, 3) for n states in double."""
        widths = {name: np.size(getattr(self.fields.data, name)) for name in names}
        found = {name: np.zeros((n, width), self.dtype) for name, width in widths.items()}
        for kernel in self.fields.kernels(tuple(sorted(names))) if n else ():
            kernel.run(given, found, n)
        tails = {name: (3,) if name.endswith("xpos") else (3, 3) for name in names}
        return {
            name: x.astype(np.float64).reshape(n, x.shape[1] // int(np.prod(tails[name])), *tails[name])
            for name, x in found.items()
        }

    def jacobians(
        self, body: int, state: npt.NDArray[Any], values: Values, point: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return Jacobians (n, 3, nv) of world points (n, 3) on a body: of their velocity, and of its angular one."""
        n, nv = len(state), self.m.nv
        found = {name: np.zeros((n, 3 * nv), self.dtype) for name in ("jacp", "jacr")}
        if n:
            self.fields.jacobian(body).run({**self.given(state, values), "point": point}, found, n)
        return found["jacp"].reshape(n, 3, nv), found["jacr"].reshape(n, 3, nv)

    def given(self, state: npt.NDArray[Any], values: Values) -> dict[str, npt.NDArray[Any]]:
        """Return the inputs of field kernels from states and from fields that differ, with unit quaternions."""
        arrays = {name: values[name] for name in self.varied}
        arrays |= {name: state[:, columns] for name, columns in self.layout.columns.items()}
        arrays["qpos"], arrays["ctrl"] = self.with_unit_quaternions(state), self.controls(state)
        return arrays

    def moved_mocap(self, state: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the rows of states with a mocap body that left the model's pose and on which a moving body depends."""
        if not self.mocap_acts or self.follows_mocap:
            return np.zeros(0, np.intp)
        both = slice(self.layout.columns["mocap_pos"].start, self.layout.columns["mocap_quat"].stop)
        return np.flatnonzero((state[:, both] != self.initial[both].astype(self.dtype)).any(axis=1))


def readings_of(outputs: list[tuple[str, Any, int, int, bool]]) -> tuple[str, ...]:
    """Return the outputs that are readings of contacts."""
    return tuple(sorted(name for name, *_ in outputs if is_reading(name)))


def field_size(m: Any, name: str) -> int:
    """Return the number of components of a model's field."""
    return int(np.size(getattr(m.opt, name[4:]) if name.startswith("opt.") else getattr(m, name)))


def bad_rows(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the rows of x (n, k) with a bad number."""
    if not x.size or (x.max() <= MOST and x.min() >= -MOST):
        return np.zeros(0, np.intp)
    return np.flatnonzero(~(np.abs(x) <= MOST).all(axis=1))


def normalise(q: npt.NDArray[Any]) -> None:
    """Normalise quaternions (n, 4) in place; those of zero length become 1 0 0 0."""
    norm = np.sqrt(np.square(q).sum(axis=1, keepdims=True))
    none = norm[:, 0] < 1e-15
    np.divide(q, norm, out=q, where=norm >= 1e-15)
    q[none] = (1, 0, 0, 0)
