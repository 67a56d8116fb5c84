"""Model: a robot, what its coordinates are called, and the engine that evaluates it. Immutable but for its kernels."""

from __future__ import annotations

import copy
import difflib
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from . import _featherstorm
from ._robot.contacts import Contact, with_contacts
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
    uniforms: tuple[tuple[str, int], ...]  # (name, components) of what is the same for all instances
    shapes: dict[str, tuple[int, ...]]  # of inputs and outputs behind the batch, by name
    uses_frame: bool
    carried: bool  # its outputs are the inputs of the next pass
    given: str  # the row that is given the optional inputs too, where it has kernels of its own
    optional: tuple[str, ...]  # names of inputs that may be left out
    on_device: bool  # takes arrays on a CUDA device; else only once `specialise` has made its kernel

    @classmethod
    def of(cls, r: _featherstorm.OpRow) -> Row:
        arrays = tuple(r.inputs), tuple(r.outputs), tuple(r.uniforms)
        return cls(
            r.name, r.summary, *arrays, r.shapes, r.uses_frame, r.carried, r.given, tuple(r.optional), r.on_device
        )


class Notice(UserWarning):
    """Something fell back to a slower path with the same results, or a file has what no robot has."""


class Model:
    """A robot. Made by `load`, `from_mujoco` or a `RobotBuilder`.

    An operation's first use assembles its kernel for this robot, within milliseconds; `assemble=False`, or the
    environment's FEATHERSTORM_ASSEMBLE=0, leaves it to the kernels that serve any robot.

    nq, nv, nb, nf, nh   numbers of positions, velocities, moving bodies, frames, entries of a packed M
    nc, contacts         number of contacts, and the featherstorm.Contact of each
    joint_names, body_names, frame_names, q_names, v_names
    nl, n_constraints    kinematic loops and their constraints, rows of K
    nu, u_names          independent velocities where joints are coupled; 0 and none where they are not
    has_world, timestep  whether the robot has the world of a model file, and the file's timestep [s]
    compiled             the mujoco.MjModel that it was made of, which nobody may change; None for others
    n_ctrl, n_act        controls and activations of a model file's world; 0 where there is none
    ctrl_lower, ctrl_upper (n_ctrl,)   the controls' ranges, infinite where there is none
    q0 (nq,)             neutral configuration: zeros and unit quaternions
    lower, upper (nv,)   position limits, infinite where there is none [rad | m]
    max_velocity, max_effort, damping, friction, armature (nv,)
    gravity (3,)         [m/s^2], world
    row_start, column    layout of a packed M: row i holds its ancestors from the root, then i
    notices              what the loader left out, a sentence each
    parameters           names of the numbers that can differ from instance to instance, see `bind`
    """

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
        if contacts:
            robot = with_contacts(robot, contacts, sweeps, relax)
        self.robot = robot
        self.contacts = tuple(contacts)
        self._options = {"threads": threads, "isa": isa, "assemble": assemble, "parameters": parameters}
        self.nc = robot.nc
        self.parameters: tuple[str, ...] = (parameters,) if isinstance(parameters, str) else tuple(parameters)
        self.evaluator = _featherstorm.Evaluator(robot, threads, isa, assemble, list(self.parameters))
        self.bound: dict[str, Any] = {}  # name -> values of parameters that were bound; the others are the robot's own
        self._rows: dict[str, Row] = {}
        self._refused: dict[str, str] = {}  # name -> why this robot cannot have it
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
        self.row_start, self.column = constant(robot.row_start), constant(robot.column)
        self.dof_q, self.dof_parent = constant(robot.dof_q), constant(robot.dof_parent)
        self.bodies: tuple[dict[str, Any], ...] = tuple(robot.bodies)
        self.total_mass = sum(body["mass"] for body in self.bodies)
        # (name of the joint, first column) of each quaternion in q
        self.quaternions = tuple((b["joint"], b["quaternion"]) for b in self.bodies if b["quaternion"] is not None)

    @property
    def ops(self) -> dict[str, Row]:
        """The table of operations, by name; without those that this robot has not (of floating bases, loops, coupled
        joints, contacts)."""
        forms = {row.given for row in self._rows.values()}
        return {name: row for name, row in self._rows.items() if name not in self._refused and name not in forms}

    @property
    def isa(self) -> str:
        return self.evaluator.isa

    @property
    def threads(self) -> int:
        return self.evaluator.threads

    def row(self, op: str) -> Row:
        """The row of an operation, or of a derivative: "fd_vjp", "fd_jvp". ValueError where the robot cannot have it."""
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
        """The values of a parameter: what was bound, else the robot's own, of shape (n,) or, for com, inertia and
        position, (nb, 3), (nb, 6), (nb, 3)."""
        if name in self.bound:
            return self.bound[name]
        values = np.array(_featherstorm.parameter_values(self.robot, name))
        return values.reshape(_featherstorm.parameter_shape(self.robot, name))

    def bind(self, **values: ArrayLike) -> Model:
        """The same model with other numbers: arrays of one value, or of one for each instance of a batch (B, ...).

            model = fs.load("go2", parameters=("mass", "friction"))
            heavier = model.bind(mass=model.parameter("mass") * scale[:, None])      # (B, nb)
            a = fs.fd(heavier, q, v, tau)

        What can be bound must be named when loading. Names, shapes, units and axes:

            gravity (3,) [m/s^2], world axes; mass (nb,) [kg] of a moving body with all that is fixed to it;
            com (nb, 3) [m], its centre of mass, and inertia (nb, 6) [kg m^2], xx xy xz yy yz zz about it, in the axes of
            model.body_names; position (nb, 3) [m], that link's origin in its parent's link at q = 0;
            armature, damping, friction, lower, upper, max_effort (nv,)

        Of a model file's robot its tables besides, by MuJoCo's names, "opt_" before options: body_mass (nbody,), geom_friction
        (ngeom, 3), actuator_gainprm, opt_gravity and others; steps of the file's world take these alone.

        Nothing derived is kept: first moments and regrouped inertias are computed where they are used. What MuJoCo's compiler
        derives from a table stays as it was.
        Errors: TypeError for names that were not asked for.
        """
        for name in values:
            if name not in self.parameters:
                named = ", ".join(self.parameters) or "none"
                raise TypeError(f"{self.name}: {name} is a constant of this model; loaded with the parameters {named}")
        model = copy.copy(self)
        model.bound = {**self.bound, **values}
        for kept in ("_rollouts", "_jax"):  # what was made with the other numbers
            model.__dict__.pop(kept, None)
        return model

    def with_parameters(self, row: Row, arrays: Sequence[Array]) -> list[Array]:
        """The arguments of an operation with the parameters between its own inputs and what derivatives add."""
        at = [k for k, (name, _) in enumerate(row.inputs) if name in self.parameters]
        if not at or len(arrays) == len(row.inputs):
            return list(arrays)
        return [*arrays[: at[0]], *(self.parameter(row.inputs[k][0]) for k in at), *arrays[at[0] :]]

    def uniform_values(self, op: str, given: Mapping[str, Any], label: str | None = None) -> list[float]:
        """The numbers of an operation's uniforms, one behind the other; a number stands for equal components."""
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
        """The index of a frame given by name or index; negative ones count from the end. ValueError for one that is not there."""
        if isinstance(frame, str):
            if frame in self.frame_names:
                return self.frame_names.index(frame)
            near = difflib.get_close_matches(frame, self.frame_names, 3)
            hint = f"; did you mean {' or '.join(near)}?" if near else "; model.frame_names lists them"
            raise ValueError(f"{self.name} has no frame '{frame}'{hint}")
        if not -self.nf <= int(frame) < self.nf:
            raise ValueError(f"frame is {frame}, expected 0 to {self.nf - 1}")
        return int(frame) % self.nf

    def joint(self, name: str) -> JointSlices:
        """The slices of q and v of a joint: q[..., model.joint("knee").q]. ValueError for one that is not there."""
        for body in self.bodies:
            if body["joint"] == name:
                return JointSlices(slice(*body["q"]), slice(*body["v"]))
        near = difflib.get_close_matches(name, self.joint_names, 3)
        raise ValueError(
            f"{self.name} has no joint '{name}'" + (f"; did you mean {' or '.join(near)}?" if near else "")
        )

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
        """Makes kernels for this robot now and uses them from now on; True where all of them could be made.

        Assembled where that can be done, as at an operation's first use; else compiled: that takes the compiler's
        seconds the first time, later they come from the cache on disk. Warns with a Notice where there is no compiler
        or the robot is too large; the kernels for any robot serve then.

        device="cuda" or "cuda:1": by NVRTC for that device, which takes up to seconds the first time; kept on disk.
        wait=False: returns a concurrent.futures.Future of the same at once, while the kernels for any robot serve.
        """
        names = [ops] if isinstance(ops, str) else list(ops)
        dtype = np.dtype(dtype).name
        for op in names:
            self.row(op)
        frame, number = self.frame(frame), device_number(device, "specialise")
        if not wait:
            from concurrent.futures import ThreadPoolExecutor  # 4 ms of an import that few need

            pool = ThreadPoolExecutor(1, "featherstorm-specialise")
            future = pool.submit(self._specialise, names, dtype, frame, number)
            pool.shutdown(wait=False)
            return future
        done = self._specialise(names, dtype, frame, number)
        for notice in self.evaluator.take_notices():
            warnings.warn(notice, Notice, stacklevel=2)
        return done

    def _specialise(self, names: Sequence[str], dtype: str, frame: int, device: int) -> bool:
        # a list: all are made, whatever became of the first
        return all([self.evaluator.specialise(op, dtype, frame, device) for op in names])  # noqa: C419

    @property
    def checks(self) -> list[Check]:
        """Results of comparing each kernel specialised for this robot with the generic kernel, in double:
        a `Check` each. One that did not pass is not used, and a Notice said so."""
        return [
            Check(op, dtype, device_name(device), array, error, bound, passed)
            for op, dtype, device, array, error, bound, passed in self.evaluator.checks
        ]

    def specialised(self, op: str, dtype: npt.DTypeLike = "float32", frame: Frame = 0, device: object = "cpu") -> bool:
        """Return whether the operation runs with a kernel specialised for this robot."""
        self.row(op)
        number = device_number(device, "specialised")
        return self.evaluator.specialised(op, np.dtype(dtype).name, self.frame(frame), number)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle: another process makes kernels of its own, from the same numbers."""
        return (_unpickled, (self.robot, self._options, self.contacts, self.bound, self.file))

    def __copy__(self) -> Model:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __deepcopy__(self, memo: object) -> Model:
        return copy.copy(self)  # nothing in it changes but its kernels, which both use

    def __repr__(self) -> str:
        return (
            f"<featherstorm.Model {self.name}: {self.nb} bodies, nq {self.nq}, nv {self.nv}, {self.total_mass:.4g} kg>"
        )


def constant(numbers: list[Any]) -> npt.NDArray[Any]:
    """An array that nobody writes to."""
    array = np.array(numbers)
    array.flags.writeable = False
    return array


def control_range(file: ModelFile | None, n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Lower and upper ends of the ranges of controls (n,)."""
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    if file is not None and n and len(file.compiled.actuator_ctrllimited) == n:
        limited = np.asarray(file.compiled.actuator_ctrllimited, bool)
        lower[limited], upper[limited] = file.compiled.actuator_ctrlrange[limited].T
    return constant(lower.tolist()), constant(upper.tolist())


class Check(NamedTuple):
    """A kernel beside the text in double: the largest difference over the largest number of the output `array`, in the
    worst of some random states, and what was allowed there."""

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
    """The robot that pickle kept as bytes."""
    return _featherstorm.robot_of_bytes(data)


def _unpickled(
    robot: _featherstorm.Robot,
    options: dict[str, Any],
    contacts: tuple[Contact, ...],
    bound: dict[str, Any],
    file: ModelFile | None,
) -> Model:
    model = Model(robot, **options, file=file)
    model.contacts = contacts  # the robot has them already
    return model.bind(**bound) if bound else model
