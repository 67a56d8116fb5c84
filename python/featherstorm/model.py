"""Model: a robot, the names of its coordinates, and the engine that evaluates it. Immutable except for its kernels."""

from __future__ import annotations

import copy
import sys
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from . import _featherstorm
from ._names import Fixed, hint
from ._robot.closures import Contact, with_contacts
from .device import device_name, device_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Future

    import numpy.typing as npt

    from ._robot.mjcf import ModelFile
    from .typing import Array, ArrayLike, Frame, Names


class Row(NamedTuple):
    """An operation of the table with its sizes for one model."""

    name: str
    summary: str
    inputs: tuple[tuple[str, int], ...]  # (name, components)
    outputs: tuple[tuple[str, int], ...]
    uniforms: tuple[tuple[str, int], ...]  # (name, components) of numbers that all instances share
    shapes: dict[str, tuple[int, ...]]  # shapes of inputs and outputs without the batch axis, by name
    uses_frame: bool
    carried: bool  # its outputs are the inputs of the next substep
    given: str  # the operation with the optional inputs, where that one has its own kernels
    optional: tuple[str, ...]  # names of inputs that may be omitted
    on_device: bool  # True: takes arrays on a CUDA device; False: only after `specialise` has made its kernel

    @classmethod
    def of(cls, r: _featherstorm.OpRow) -> Row:
        arrays = tuple(r.inputs), tuple(r.outputs), tuple(r.uniforms)
        return cls(
            r.name, r.summary, *arrays, r.shapes, r.uses_frame, r.carried, r.given, tuple(r.optional), r.on_device
        )


class Notice(UserWarning):
    """The engine fell back to a slower path with the same results, or a file has something that no real robot has."""


def tell(sentence: str) -> None:
    """Warn with a Notice at the line outside of this package that made the call."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, Notice, stacklevel=level)


class Model(Fixed):
    """A robot. Made by `load`, `from_mujoco` or a `RobotBuilder`.

    The first use of an operation assembles its kernel for this robot, within milliseconds. With `assemble=False`, or
    the environment variable FEATHERSTORM_ASSEMBLE=0, the kernels for any robot are used instead.

    nq, nv, nb, nf, nh   numbers of positions, velocities, moving bodies, frames, entries of a packed M
    nc, contacts         number of contacts, and the featherstorm.Contact of each
    joint_names, body_names, frame_names, q_names, v_names
    nl, n_constraints    kinematic loops and their constraints, rows of K
    nu, u_names          independent velocities where joints are coupled; else 0 and none
    has_world, timestep  True if the robot has the world of a model file, and the file's timestep [s]
    compiled             the mujoco.MjModel that the model was made from, which must not be changed; None for others
    n_ctrl, n_act        controls and activations of a model file's world; 0 without a world
    ctrl_lower, ctrl_upper (n_ctrl,)   ranges of the controls, infinite for a control without a range
    q0 (nq,)             neutral configuration: zeros and unit quaternions
    lower, upper (nv,)   position limits, infinite for a coordinate without limits [rad | m]
    max_velocity, max_effort, damping, friction, armature (nv,)
    gravity (3,)         [m/s^2], world axes
    row_start, column    layout of a packed M: row i holds its ancestors from the root, then i
    notices              what the loader left out, one sentence for each omission
    parameters           names of the numbers that can differ between instances, see `bind`

    Attributes cannot be set: `load` again with other arguments, or `bind` other numbers.
    """

    _maker = "load"
    _way = "load(...) makes another model, and numbers named by load(..., parameters=...) are changed by bind(...)"

    def __init__(
        self,
        robot: _featherstorm.Robot,
        threads: int = 0,
        isa: str = "",
        assemble: bool = True,
        parameters: Names = (),
        contacts: Sequence[Contact] = (),
        sweeps: int = 8,
        relax: int = 2,
        file: ModelFile | None = None,
    ) -> None:
        if not isinstance(threads, (int, np.integer)) or not 0 <= threads < 2**31:
            raise ValueError(f"{robot.name}: threads is {threads!r}, expected a whole number of 0 or more")
        if contacts:
            robot = with_contacts(robot, contacts, sweeps, relax)
        self.robot = robot
        self.contacts = tuple(contacts)
        self._options = {"threads": threads, "isa": isa, "assemble": assemble, "parameters": parameters}
        self.nc = robot.nc
        self.parameters: tuple[str, ...] = (parameters,) if isinstance(parameters, str) else tuple(parameters)
        self.evaluator = _featherstorm.Evaluator(robot, threads, isa, assemble, list(self.parameters))
        self.bound: dict[str, Any] = {}  # name -> values of bound parameters; the others are the robot's own
        self._rows: dict[str, Row] = {}
        self._refused: dict[str, str] = {}  # name of an operation -> why this robot does not support it
        for r in self.evaluator.ops:
            self._rows[r.name] = Row.of(r)
            if r.refused:
                self._refused[r.name] = r.refused
        self._derivatives: dict[str, Row] = {}
        self.name, self.nq, self.nv, self.nb = robot.name, robot.nq, robot.nv, robot.nb
        self.nf, self.nh, self.nl, self.nu = robot.nf, robot.nh, robot.nl, robot.nu
        self.n_constraints = robot.n_constraints
        self.n_ctrl, self.n_act = robot.n_ctrl, robot.n_act
        self.has_world, self.timestep, self.file = robot.has_world, robot.timestep, file
        self.compiled = file and file.compiled
        self.ctrl_lower, self.ctrl_upper = control_range(file, self.n_ctrl)
        self.joint_names, self.body_names = tuple(robot.joint_names), tuple(robot.body_names)
        self.frame_names, self.notices = tuple(robot.frame_names), tuple(robot.notices)
        self.q_names, self.v_names, self.u_names = tuple(robot.q_names), tuple(robot.v_names), tuple(robot.u_names)
        self.q0, self.gravity = constant(robot.q0), constant(robot.gravity)
        self.lower, self.upper = constant(robot.lower), constant(robot.upper)
        self.max_velocity, self.max_effort = constant(robot.max_velocity), constant(robot.max_effort)
        self.damping, self.friction, self.armature = map(constant, (robot.damping, robot.friction, robot.armature))
        self.row_start = constant(robot.row_start)
        self.dof_q, self.dof_parent = constant(robot.dof_q), constant(robot.dof_parent)
        self.bodies: tuple[dict[str, Any], ...] = tuple(robot.bodies)
        self.total_mass = sum(body["mass"] for body in self.bodies)
        # (name of the joint, first column) of each quaternion in q
        self.quaternions = tuple((b["joint"], b["quaternion"]) for b in self.bodies if b["quaternion"] is not None)

    @cached_property
    def column(self) -> npt.NDArray[Any]:
        """Return the column of each entry of a packed M."""
        return constant(self.robot.column)

    @property
    def ops(self) -> dict[str, Row]:
        """The table of operations by name, excluding operations this robot does not support.

        Operations may need a floating base, loops, coupled joints or contacts.
        """
        forms = {row.given for row in self._rows.values()}
        return {name: row for name, row in self._rows.items() if name not in self._refused and name not in forms}

    @property
    def isa(self) -> str:
        return self.evaluator.isa

    @property
    def threads(self) -> int:
        return self.evaluator.threads

    def row(self, op: str) -> Row:
        """Return the table entry of an operation or of its derivative ("fd_vjp", "fd_jvp").

        Errors: ValueError where the robot does not support the operation; NotImplementedError for an unknown name.
        """
        refused = self._refused.get(op) or self._refused.get(op[:-4])
        if refused:
            raise ValueError(f"{op}: {refused}")
        if op in self._rows:
            return self._rows[op]
        if op not in self._derivatives:
            if not op.endswith(("_vjp", "_jvp")) or op[:-4] not in self._rows:
                raise NotImplementedError(
                    f"{op}: this build has no operation of that name; it has {', '.join(self._rows)}"
                )
            self._derivatives[op] = Row.of(self.evaluator.row(op))
        return self._derivatives[op]

    def parameter(self, name: str) -> Array:
        """Return the values of a parameter: the bound ones, else the robot's own.

        The robot's own have shape (n,), or (nb, 3), (nb, 6), (nb, 3) for com, inertia, position.
        """
        if name in self.bound:
            return self.bound[name]
        values = np.array(_featherstorm.parameter_values(self.robot, name))
        return values.reshape(_featherstorm.parameter_shape(self.robot, name))

    def bind(self, **values: ArrayLike) -> Model:
        """Return the same model with other numbers: one value for all instances, or one for each (B, ...).

            model = fs.load("go2", parameters=("mass", "friction"))
            heavier = model.bind(mass=model.parameter("mass") * scale[:, None])      # (B, nb)
            a = fs.fd(heavier, q, v, tau)

        Only parameters named when loading can be bound. Names, shapes, units and axes:

            gravity (3,) [m/s^2], world axes; mass (nb,) [kg] of a moving body with all that is fixed to it;
            com (nb, 3) [m], its centre of mass, and inertia (nb, 6) [kg m^2], xx xy xz yy yz zz about it, in the axes
            of model.body_names; position (nb, 3) [m], that link's origin in its parent's link at q = 0; armature,
            damping, friction, lower, upper, max_effort (nv,)

        For the robot of a model file also its tables, by MuJoCo's names, with "opt_" before options: body_mass
        (nbody,), geom_friction (ngeom, 3), actuator_gainprm, opt_gravity and others. Steps of the file's world take
        these tables alone.

        No derived number is stored: first moments and regrouped inertias are computed at each use. Numbers that
        MuJoCo's compiler derived from a table stay unchanged.
        Errors: TypeError for names that were not given when loading.
        """
        for name in values:
            if name not in self.parameters:
                named = ", ".join(self.parameters) or "none"
                raise TypeError(f"{self.name}: {name} is a constant of this model; loaded with the parameters {named}")
        model = copy.copy(self)
        vars(model).update(bound={**self.bound, **values})
        for kept in ("_rollouts", "_jax"):  # made with the old numbers
            model.__dict__.pop(kept, None)
        return model

    def with_parameters(self, row: Row, arrays: Sequence[Array]) -> list[Array]:
        """Insert the parameters into the arguments of an operation, between its own inputs and those of derivatives."""
        at = [k for k, (name, _) in enumerate(row.inputs) if name in self.parameters]
        if not at or len(arrays) == len(row.inputs):
            return list(arrays)
        return [*arrays[: at[0]], *(self.parameter(row.inputs[k][0]) for k in at), *arrays[at[0] :]]

    def uniform_values(self, op: str, given: Mapping[str, Any], label: str | None = None) -> list[float]:
        """Return the uniforms of an operation as one flat list; a single number fills all components of its uniform."""
        row, values = self.row(op), []
        if given.keys() != {name for name, _ in row.uniforms}:
            expected = ", ".join(name for name, _ in row.uniforms) or "none"
            raise TypeError(f"{label or op}: got the numbers {', '.join(sorted(given)) or 'none'}, expected {expected}")
        for name, n in row.uniforms:
            value = given[name]
            if isinstance(value, (int, float)):
                values.extend([float(value)] * n)
                continue
            value = np.asarray(value, dtype=float)
            if value.shape not in ((), (n,)):
                raise ValueError(f"{label or op}: {name} has shape {value.shape}, expected ({n},) or a number")
            values.extend(np.broadcast_to(value, (n,)).tolist())
        return values

    def frame(self, frame: Frame) -> int:
        """Return the index of a frame given by name or index; negative indices count from the end.

        Errors: ValueError for a frame that does not exist.
        """
        if isinstance(frame, str):
            if frame in self.frame_names:
                return self.frame_names.index(frame)
            more = hint(frame, self.frame_names, "; model.frame_names lists them")
            raise ValueError(f"{self.name} has no frame '{frame}'{more}")
        if not -self.nf <= int(frame) < self.nf:
            raise ValueError(f"frame is {frame}, expected 0 to {self.nf - 1}")
        return int(frame) % self.nf

    def joint(self, name: str) -> JointSlices:
        """Return the slices of q and v of a joint: q[..., model.joint("knee").q].

        Errors: ValueError for a joint that does not exist.
        """
        for body in self.bodies:
            if body["joint"] == name:
                return JointSlices(slice(*body["q"]), slice(*body["v"]))
        raise ValueError(f"{self.name} has no joint '{name}'{hint(name, self.joint_names)}")

    @overload
    def specialise(
        self, ops: Names = ..., dtype: npt.DTypeLike = ..., frame: Frame = ..., *, device: object = ...
    ) -> bool: ...
    @overload
    def specialise(
        self, ops: Names = ..., dtype: npt.DTypeLike = ..., frame: Frame = ..., wait: bool = ..., device: object = ...
    ) -> bool | Future[bool]: ...
    def specialise(
        self,
        ops: Names = ("rnea", "crba", "fd"),
        dtype: npt.DTypeLike = "float32",
        frame: Frame = 0,
        wait: bool = True,
        device: object = "cpu",
    ) -> bool | Future[bool]:
        """Make kernels for this robot now and use them from now on; return True if all of them could be made.

        Kernels are assembled where possible, as at the first use of an operation, else compiled. Compilation takes
        seconds the first time; later the kernels come from the cache on disk. A Notice tells where there is no compiler
        or the robot is too large; the kernels for any robot are used then.

        device="cuda" or "cuda:1": compile by NVRTC for that device, which takes up to seconds the first time; kept on
        disk. wait=False: return a concurrent.futures.Future of the same result at once; meanwhile the kernels for any
        robot are used.
        """
        names = [ops] if isinstance(ops, str) else list(ops)
        dtype = np.dtype(dtype).name
        for op in names:
            self.row(op)
        frame, number = self.frame(frame), device_number(device, "specialise")
        if not wait:
            from concurrent.futures import ThreadPoolExecutor  # here: the import takes 4 ms and is rarely needed

            pool = ThreadPoolExecutor(1, "featherstorm-specialise")
            future = pool.submit(self._specialise, names, dtype, frame, number)
            pool.shutdown(wait=False)
            return future
        done = self._specialise(names, dtype, frame, number)
        for notice in self.evaluator.take_notices():
            tell(notice)
        return done

    def _specialise(self, names: Sequence[str], dtype: str, frame: int, device: int) -> bool:
        # a list: all are made, even where the first one fails
        return all([self.evaluator.specialise(op, dtype, frame, device) for op in names])  # noqa: C419

    @property
    def checks(self) -> list[Check]:
        """Results of checking each kernel made for this robot, one `Check` for each.

        Each kernel is compared with the algorithm in double that reads the model as data. A kernel that does not pass
        is not used, and a Notice names it.
        """
        return [
            Check(op, dtype, device_name(device), array, error, bound, passed)
            for op, dtype, device, array, error, bound, passed in self.evaluator.checks
        ]

    def specialised(self, op: str, dtype: npt.DTypeLike = "float32", frame: Frame = 0, device: object = "cpu") -> bool:
        """Return True if the operation runs with a kernel made for this robot."""
        self.row(op)
        number = device_number(device, "specialised")
        return self.evaluator.specialised(op, np.dtype(dtype).name, self.frame(frame), number)

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickle: the other process makes its own kernels from the same numbers."""
        return (_unpickled, (self.robot, self._options, self.contacts, self.bound, self.file))

    def __copy__(self) -> Model:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __deepcopy__(self, memo: object) -> Model:
        return copy.copy(self)  # only its kernels change, and both copies share them

    def __repr__(self) -> str:
        return (
            f"<featherstorm.Model {self.name}: {self.nb} bodies, nq {self.nq}, nv {self.nv}, {self.total_mass:.4g} kg>"
        )


def constant(numbers: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return a read-only array."""
    array = np.array(numbers)
    array.flags.writeable = False
    return array


def control_range(file: ModelFile | None, n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the lower and the upper ends of the ranges of controls, (n,) each."""
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    if file is not None and n and len(file.compiled.actuator_ctrllimited) == n:
        limited = np.asarray(file.compiled.actuator_ctrllimited, bool)
        lower[limited], upper[limited] = file.compiled.actuator_ctrlrange[limited].T
    return constant(lower.tolist()), constant(upper.tolist())


class Check(NamedTuple):
    """Comparison of a kernel with the algorithm in double.

    error   the largest difference over the largest number of the output `array`, in the worst of some random states
    bound   the largest error allowed
    """

    op: str
    dtype: str
    device: str
    array: str
    error: float
    bound: float
    passed: bool


class JointSlices(NamedTuple):
    q: slice
    v: slice


def robot_of_bytes(data: bytes) -> _featherstorm.Robot:
    """Return the robot that pickle stored as bytes."""
    return _featherstorm.robot_of_bytes(data)


def _unpickled(
    robot: _featherstorm.Robot,
    options: dict[str, Any],
    contacts: tuple[Contact, ...],
    bound: dict[str, Any],
    file: ModelFile | None,
) -> Model:
    model = Model(robot, **options, file=file)
    vars(model).update(contacts=contacts)  # the robot has them already
    return model.bind(**bound) if bound else model
