"""Simulation: a batch of robots in time, with its state in the engine."""

from __future__ import annotations

import enum
import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import _featherstorm
from ._evaluation.evaluation import check_quaternions, evaluate, tell_notices
from ._memory.arguments import Arguments, Call, engine_in
from ._memory.arrays import check_memory, mask_of, refuse_pickle, to_numpy
from ._names import Fixed, expect, with_hints
from ._robot.closures import law_of
from ._robot.numbers import step_numbers, with_numbers
from ._robot.steps import no_world, pass_count, refuse_controls, step_op
from ._world.passes import WorldReport, refuse_law
from ._world.readings import WorldReadings
from ._world.values import MOCAP, bound_values, check_bound, keyframe, with_mocap_poses
from .device import HOST, device_name, device_number, device_of
from .typing import Array, ArrayLike, Names, StepNumbers

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Unpack

    from .model import Model


class Status(enum.IntFlag):
    """Faults of an instance; see `Simulation.status`."""

    NON_FINITE = 1
    """The state has a NaN or an infinity. Remedy: a smaller dt or more substeps, smaller gains; then reset(mask)."""


class Simulation(Fixed):
    """A batch of `instances` robots, advanced in time with all that the model carries.

        sim = fs.Simulation(model, 4096, dt=2e-3, substeps=2)
        sim.step(tau)                                        # or sim.step(q_target=target, kp=50, kd=2)
        q, v = sim.state
        sim.reset(sim.status != 0)

        sim = fs.Simulation(fs.load("scene.xml"), 4096)      # steps of the file's timestep, as in MuJoCo
        sim.step(ctrl)                                       # controls of the file's actuators
        sim.sensor("imu"), sim.contact_force("foot"), sim.site("tip")

    Steps are semi-implicit, with implicit damping. A model with contacts is advanced by `contact_step`, whose impulses
    are kept from step to step, with loops by `loop_step`, with couplings by `coupled_step`. Coupled joints follow their
    drivers, whatever q and v say. The world of a model file is advanced with its actuators, contacts, constraints and
    integrator; its state also has act and qacc.

    dt                  time of one step() [s]; each of `substeps` substeps takes dt / substeps, in one call of the
                        engine. With a world dt is a multiple of the file's timestep; None: `substeps` of it, 1 if these
                        are not given
    law                 of a world's contacts and constraints: "mujoco", or "rigid" or a `Rigid`, the law of Signorini
                        and Coulomb (docs/mujoco.md)
    ignore              names among "contacts", "loops", "couplings", "world" that are ignored although the model
                        carries them
    numbers             kp, kd, ...: typing.StepNumbers, which featherstorm.step describes
    device, stream      as for `zeros`. On a device q, v and all readings are DeviceArrays, and tau, q_target and ctrl
                        must be there too. step() does not wait; reset(), status, energy() and report() go through the
                        CPU and wait. A world's first step and readings make kernels there, in seconds

    Errors: ValueError for a model that carries two of contacts, loops, couplings and world, and does not ignore one,
    and for a dt that is not a multiple of the file's timestep.
    """

    @with_numbers(StepNumbers)
    def __init__(
        self,
        model: Model,
        instances: int,
        dt: float | None = None,
        substeps: int | None = None,
        device: object = "cpu",
        dtype: npt.DTypeLike = "float32",
        stream: int = 0,
        *,
        law: object = "mujoco",
        ignore: Names = (),
        **numbers: Unpack[StepNumbers],
    ) -> None:
        number = device_number(device, "Simulation")
        self._op = step_op(model, "Simulation", ignore)
        dt, substeps = pass_count("Simulation", model, self._op, dt, substeps)
        expect(int(instances) >= 0, "Simulation: instances", instances, "0 or more")
        self.dtype = np.dtype(dtype)
        if self.dtype.name not in ("float32", "float64"):
            raise TypeError(f"Simulation: dtype is {self.dtype}, expected float32 or float64")
        self.model, self.instances, self.dt, self.substeps = model, int(instances), dt, substeps
        self.device, self.stream, self.law = device_name(number), stream, law
        self._library, self._numbers = engine_in(number, stream), numbers
        given = self._gains("Simulation", {})
        rules = law_of(law, "Simulation")
        if self._op == "world":
            check_bound(model, "Simulation")
        else:
            refuse_law("Simulation", law)
        # shapes of q, v and the impulses at contacts, or of q, v, act and qacc
        tails = [(model.nq,), (model.nv,), *([(model.nc, 3)] if self._op == "contact_step" else [])]
        if self._op == "world":
            tails += [(model.n_act,), (model.nv,)]
        if number == HOST:
            each = self.dtype.itemsize * (2 * sum(map(math.prod, tails)) + model.nv)
            check_memory(f"Simulation: {instances} instances", float(instances) * each, "make fewer")
        self._native = _featherstorm.Simulation(
            model.evaluator, self.instances, dt, substeps, [ignore] if isinstance(ignore, str) else list(ignore), given,
            None if rules is None else rules.of_engine(), self.dtype.name, number, stream,
        )  # fmt: skip
        # views of the state, now and after the next step
        self._now, self._next = (
            [self._view(buffer, tail) for buffer, tail in zip(self._native.buffers(after), tails)]
            for after in (False, True)
        )
        self._bind(model)
        if self._op == "world":
            self._ctrl = self._view(self._native.controls, (model.n_ctrl,))
        self.reset()

    def _view(self, buffer: _featherstorm.Buffer, tail: tuple[int, ...]) -> Array:
        return self._library.view(buffer, self.dtype.name, self.instances, tail)

    def _bind(self, model: Model) -> None:
        """Take the parameters of a model, which is self.model or one with further parameters."""
        bound = bound_values(model, Call("step", [("v",)], [self.v]), self.instances, {})
        for name, memory in bound.items():
            self._native.parameter(name, memory)
        readings = vars(self).get("_readings")
        if readings and readings.model.evaluator is model.evaluator:
            readings.model, readings.bound = model, bound
        elif self._op == "world":
            self._readings = WorldReadings(model, self.dtype.name, self.instances, self._native, self._library, bound)

    def __reduce__(self) -> NoReturn:
        refuse_pickle("Simulation", "pickle its model, q, v and ctrl, and make a Simulation there")

    @property
    def q(self) -> Array:
        """Positions (B, nq): a view of the state, valid until the next step()."""
        return self._now[0]

    @q.setter
    def q(self, value: Array) -> Array:
        self._assign("q", value, self.q)

    @property
    def v(self) -> Array:
        """Velocities (B, nv): a view of the state, valid until the next step()."""
        return self._now[1]

    @v.setter
    def v(self, value: Array) -> Array:
        self._assign("v", value, self.v)

    @property
    def impulse(self) -> Array:
        """Contact impulses of the last substep (B, nc, 3) [N s]: normal, two tangents; valid until the next step()."""
        if self._op != "contact_step":
            has = "ignores its contacts" if self.model.nc else "has no contacts"
            raise ValueError(f"Simulation: {self.model.name} {has}")
        return self._now[2]

    @property
    def act(self) -> Array:
        """Activations of the file's actuators (B, n_act): a view of the state, valid until the next step()."""
        return self._now[self._of_world("activations", 2)]

    @act.setter
    def act(self, value: Array) -> Array:
        self._assign("act", value, self.act)

    @property
    def qacc(self) -> Array:
        """Accelerations of the last substep (B, nv), from which the solver starts; valid until the next step()."""
        return self._now[self._of_world("qacc", 3)]

    @property
    def ctrl(self) -> Array:
        """Controls of the file's actuators (B, n_ctrl), to be read and written; they stay until changed."""
        self._of_world("controls")
        return self._ctrl

    @ctrl.setter
    def ctrl(self, value: Array) -> Array:
        self._assign("ctrl", value, self.ctrl)

    def sensor(self, name: str | int) -> Array:
        """Return the reading (B, dim) of a sensor of the file, by name or number, without noise.

        Sensors of positions and velocities measure the current state. Sensors of forces and accelerations
        (accelerometer, touch, force, actuatorfrc and others) measure the beginning of the last substep, as in MuJoCo
        after a step, with RK4 its first stage. They are zero before the first step. The first call for one of these
        repeats the last step. On a device the result is a DeviceArray. Some sensors go through the CPU and wait: range
        finders, distances between shapes without a closed form, and sensors of forces and accelerations while an
        instance has not been stepped since its reset.
        Errors: ValueError for a name that does not exist, and, with the reason, for a sensor that is not supported.
        """
        self._of_world("sensors")
        return self._readings.sensor(name)

    def contact_force(self, name: str | int, kind: str | None = None) -> Array:
        """Return the total force (B, 3) [N] of a geom's contacts on it, world axes.

        The force is that of the beginning of the last substep.
        name   of a geom, or of a body where no geom has the name
        kind   "geom" or "body" decides. The force on a body is the sum over its own geoms
        On a device the result is a DeviceArray. The call goes through the CPU and waits while an instance has not been
        stepped since its reset.
        """
        self._of_world("contact forces")
        return self._readings.contact_force(name, kind)

    def report(self) -> WorldReport:
        """Solve the current state anew; report its contacts, the accuracy of their forces, and their depths.

        Returns NumPy arrays. On a device it waits.
        """
        self._of_world("contacts")
        return self._readings.report(law_of(self.law, "Simulation"))

    def site(self, name: str | int) -> Array:
        """Return the position of a site (B, 3) [m], world axes."""
        self._of_world("sites")
        return self._readings.site(name)

    def _of_world(self, what: str, at: int = 0) -> int:
        if self._op != "world":
            raise ValueError(f"Simulation: {no_world(self.model)}, and no {what}")
        return at

    @property
    def time(self) -> float:
        """Time of all instances [s]; it may be set."""
        return self._native.time

    @time.setter
    def time(self, value: float) -> None:
        self._native.time = value

    @property
    def state(self) -> tuple[Array, Array]:
        """(q, v): views that are valid until the next step(); copy what you keep."""
        return self.q, self.v

    def _assign(self, name: str, value: Array, view: Array) -> None:
        if device_of(value) == HOST:
            value = self._fitting(name, value, view)
            if name == "q":
                check_quaternions(self.model, "Simulation", "q", np.atleast_2d(value))
        self._library.assign(view, value, "Simulation", name)

    def _fitting(self, name: str, value: Array, view: Array) -> npt.NDArray[Any]:
        array = to_numpy(value, "Simulation", name, self.dtype)
        if array.shape not in (view.shape, view.shape[1:], (1, *view.shape[1:])):
            raise ValueError(f"Simulation: {name} has shape {array.shape}, expected {view.shape}")
        return array

    @with_hints
    def step(
        self,
        drive: ArrayLike | None = None,
        q_target: Array = None,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        *,
        tau: ArrayLike | None = None,
        ctrl: ArrayLike | None = None,
    ) -> None:
        """Advance all instances by dt under tau + kp (q_target - q) - kd v, with tau and q_target held constant.

        in   drive  tau; with a world ctrl
        in   tau (B, nv) [N m | N]; q_target (B, nv), or (B, nq) whose quaternions are ignored
        in   kp, kd (nv,) or a number, the same for all instances; they act on coordinates whose v is dq/dt
        in   ctrl (B, n_ctrl) controls of the file's actuators; None: the previous ones. tau is added at the joints;
             q_target, kp and kd are refused
        """
        model = self.model
        name = "ctrl" if self._op == "world" else "tau"
        if drive is not None and {"ctrl": ctrl, "tau": tau}[name] is not None:
            raise TypeError(f"step: {name} is given twice")
        given, gains = {"tau": tau, "q_target": q_target}, {"kp": kp, "kd": kd}
        if self._op == "world":
            step_numbers("step", model, "world", {"q_target": q_target, **gains}, 0.0)
            ctrl = ctrl if drive is None else drive
            if ctrl is not None:
                self._take("ctrl", ctrl, self._ctrl)
            if tau is not None and self._library.readable:
                given["tau"] = self._fitting("tau", tau, self.v).astype(self.dtype, copy=False)
        else:
            refuse_controls("step", {"ctrl": ctrl})
            given["tau"] = tau if drive is None else drive
            if q_target is not None and np.shape(q_target)[-1:] == (model.nq,) and model.nq != model.nv:
                given["q_target"] = self._along_v(q_target)
            if q_target is None and kp is not None:
                raise TypeError("step: kp needs a q_target")
        gains = {name: gain for name, gain in gains.items() if gain is not None}
        numbers = self._gains("step", gains) if gains else {}
        names = [name for name, x in given.items() if x is not None]
        # the state decides the batch size and the dtype of the arguments
        call = Arguments(
            "step", [self.v, *(given[name] for name in names)], [(name, model.nv) for name in ("v", *names)]
        )
        found = dict(zip(names, call.arrays[1:]))
        self._native.step(found.get("tau"), found.get("q_target"), numbers)
        tell_notices(model)
        own = self.__dict__  # setting attributes by name would cost 0.6 us each (_names.Fixed)
        own["_now"], own["_next"] = own["_next"], own["_now"]

    def _gains(self, label: str, gains: dict[str, Any]) -> dict[str, list[float]]:
        """Return the numbers of the constructor, of which `gains` replace some, as lists. Errors: those of step_numbers."""
        given = {name: x for name, x in {**self._numbers, **gains}.items() if x is not None}
        numbers = step_numbers(label, self.model, self._op, given, self.dt / self.substeps)
        if self._op != "world":
            self.model.uniform_values(self._op, numbers, label)  # refuses wrong ones
        return {name: np.ravel(np.asarray(x, float)).tolist() for name, x in given.items()}

    def _along_v(self, q_target: Array) -> Array:
        """Return targets (..., nv) from (..., nq), without quaternions."""
        model = self.model
        if device_of(q_target) != HOST:
            raise ValueError(
                f"step: q_target has shape {tuple(q_target.shape)}, on a device expected "
                f"{(self.instances, model.nv)}: q_target[:, model.dof_q], and anything where model.dof_q is negative"
            )
        target = to_numpy(q_target, "step", "q_target", self.dtype)
        return np.where(model.dof_q >= 0, target[..., model.dof_q], 0).astype(target.dtype)

    def _take(self, name: str, value: ArrayLike, view: Array) -> None:
        """Copy an argument of a step to the simulation's own memory.

        On a device arrays lie there, and only lists wait.
        """
        if self._library.readable:
            value = self._fitting(name, value, view)
        else:
            value = Call("step", [("v",), (name,)], [self.v, value]).array(value, name)
        self._library.assign(view, value, "step", name)

    @with_hints
    def reset(
        self,
        mask: npt.ArrayLike | None = None,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        *,
        key: str | int | None = None,
        act: ArrayLike | None = None,
    ) -> None:
        """Set instances to q (default model.q0, with a world the file's qpos0), v and act (default zero).

        mask   (B,) of bool; None: all. q, v, act: (n,) or (B, n); the masked rows are used
        key    keyframe of the file, by name or number: gives the arguments that are None, ctrl, and the poses of mocap
               bodies. None: ctrl is zero and mocap bodies have the model's poses
        Without a mask `time`, which all instances share, is set to the keyframe's, or zero.
        On a device it goes through the CPU and waits.
        Errors: ValueError for a keyframe that moves a mocap body on which a spatial tendon passes an object with a side
        site.
        """
        world = self._op == "world"
        if key is not None or act is not None:
            self._of_world("keyframes" if act is None else "activations")
        home = {} if key is None else keyframe(self.model, key)
        time = float(home.pop("time", 0.0))
        poses: dict[str, npt.NDArray[Any]] = {name: home.pop(name) for name in MOCAP if name in home}
        home = {name: x.astype(self.dtype) for name, x in home.items()}
        q, v, act = (home.get(name) if x is None else x for name, x in (("q", q), ("v", v), ("act", act)))
        if q is None:
            compiled = self.model.compiled if world else None
            q = self.model.q0 if compiled is None else np.array(compiled.qpos0)
            q = q.astype(self.dtype)
        q = self._fitting("q", q, self.q)
        v = self._fitting("v", np.zeros(self.model.nv, self.dtype) if v is None else v, self.v)
        check_quaternions(self.model, "reset", "q", np.atleast_2d(q))
        restarts = mask is None
        mask = mask_of("reset", mask, self.instances)
        ctrl = None
        if world:
            act = None if act is None else self._fitting("act", act, self.act)
            ctrl = self._fitting("ctrl", home["ctrl"], self.ctrl) if home else None
            self._move_mocap(mask, poses or None)
        self._native.reset(
            mask.tobytes(), *(None if x is None else np.atleast_2d(np.asarray(x)) for x in (q, v, act, ctrl))
        )
        if restarts:
            self.time = time

    def _move_mocap(self, rows: npt.NDArray[np.bool_], poses: dict[str, npt.NDArray[Any]] | None) -> None:
        """Put the mocap bodies of some instances at poses, None: where the file has them.

        The first pose that differs from the model's makes kernels that read poses.
        """
        model = self._readings.model
        moved = with_mocap_poses(model, self.model, rows, poses)
        if moved is None:
            return
        check_bound(moved, "reset")
        if moved.parameters != model.parameters:
            self._native.continue_with(moved.evaluator)
        self._bind(moved)

    def __repr__(self) -> str:
        return (
            f"<featherstorm.Simulation {self.model.name}: {self.instances} instances, {self.dtype}, dt {self.dt:g} s "
            f"in {self.substeps} substeps, {self.device}, time {self.time:g} s>"
        )

    def energy(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Kinetic and potential energy (B,) [J]."""
        _, (columns,) = evaluate(self.model, "energy", [self.q, self.v], check=False)
        columns = np.asarray(columns)
        return columns[:, 0], columns[:, 1]

    @property
    def status(self) -> npt.NDArray[np.int32]:
        """Status bits (B,) int32, 0 where an instance has no fault."""
        finite = np.frombuffer(self._native.finite(), bool)
        return ~finite * np.int32(Status.NON_FINITE)
