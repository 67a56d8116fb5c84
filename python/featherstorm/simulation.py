"""Simulation: a batch of robots in time, with its state in the engine."""

from __future__ import annotations

import enum
import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ._evaluation.evaluation import check_quaternions, evaluate, tell_notices
from ._memory.arguments import Arguments, Call, engine_in
from ._memory.arrays import check_memory, mask_of, refuse_pickle, to_numpy
from ._names import Fixed, expect, with_hints
from ._robot.closures import law_of
from ._robot.numbers import step_numbers, with_numbers
from ._robot.steps import independent, no_world, pass_count, refuse_controls, step_op
from ._world.passes import STATE, WorldReport, refuse_law, state_sizes
from ._world.simulated import SimulatedWorld
from ._world.values import MOCAP, check_bound, keyframe
from .device import HOST, device_name, device_number, device_of
from .typing import Array, ArrayLike, Names, StepNumbers

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Unpack

    from . import _featherstorm
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

    Errors: ValueError for a model that carries two of contacts, loops, couplings and world, and does not ignore one;
    for couplings on a device; and for a dt that is not a multiple of the file's timestep.
    """

    _settable = ("time",)

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
        self._pass_time = dt / substeps
        expect(int(instances) >= 0, "Simulation: instances", instances, "0 or more")
        self.dtype = np.dtype(dtype)
        if self.dtype.name not in ("float32", "float64"):
            raise TypeError(f"Simulation: dtype is {self.dtype}, expected float32 or float64")
        self._library = engine_in(number, stream)
        if self._op == "coupled_step" and not self._library.readable:
            raise ValueError(
                "Simulation: couplings are simulated on the CPU alone; on a device call coupled_step, or say "
                "ignore=('couplings',)"
            )
        self.model, self.instances, self.dt, self.substeps = model, int(instances), dt, substeps
        self.device, self.stream, self.law = device_name(number), stream, law
        self.time = 0.0
        self._numbers: dict[str, Any] = {**numbers}
        self._parameters: dict[str, Any] = {}
        own = step_numbers("Simulation", model, self._op, numbers, self._pass_time)
        if self._op != "world":
            model.uniform_values(self._op, own, "Simulation")  # refuses wrong ones now

        def array(*tail: int) -> tuple[_featherstorm.Buffer, Array]:
            memory, view = self._library.output(self.dtype.name, self.instances, math.prod(tail))
            return memory, view(list(tail))

        # (Buffer, view) of q, v and the impulses at contacts, or of q, v, act and qacc, now and after the next step
        tails: list[tuple[int, ...]] = [
            (model.nq,),
            (model.nv,),
            *([(model.nc, 3)] if self._op == "contact_step" else []),
        ]
        if self._op == "world":
            tails = [(n,) for n in state_sizes(model).values()]
            check_bound(model, "Simulation")
            rules = law_of(law, "Simulation")
            self._world = SimulatedWorld(model, self.dtype.name, self.instances, substeps, self._library, rules)
        else:
            refuse_law("Simulation", law)
        if number == HOST:
            each = self.dtype.itemsize * (2 * sum(map(math.prod, tails)) + model.nv)
            check_memory(f"Simulation: {instances} instances", float(instances) * each, "make fewer")
        self._now, self._next = ([array(*tail) for tail in tails] for _ in range(2))
        self._zero, _ = array(model.nv)  # stands for a tau or q_target that step() does not receive
        if self._op == "coupled_step":
            self._u, self._u_next = array(model.nu), array(model.nu)
            self._columns = independent(model)
        self.reset()

    def __reduce__(self) -> NoReturn:
        refuse_pickle("Simulation", "pickle its model, q, v and ctrl, and make a Simulation there")

    @property
    def q(self) -> Array:
        """Positions (B, nq): a view of the state, valid until the next step()."""
        return self._now[0][1]

    @q.setter
    def q(self, value: Array) -> Array:
        self._assign("q", value, self.q)

    @property
    def v(self) -> Array:
        """Velocities (B, nv): a view of the state, valid until the next step()."""
        return self._now[1][1]

    @v.setter
    def v(self, value: Array) -> Array:
        self._assign("v", value, self.v)

    @property
    def impulse(self) -> Array:
        """Contact impulses of the last substep (B, nc, 3) [N s]: normal, two tangents; valid until the next step()."""
        if self._op != "contact_step":
            has = "ignores its contacts" if self.model.nc else "has no contacts"
            raise ValueError(f"Simulation: {self.model.name} {has}")
        return self._now[2][1]

    @property
    def act(self) -> Array:
        """Activations of the file's actuators (B, n_act): a view of the state, valid until the next step()."""
        return self._now[self._of_world("activations", 2)][1]

    @act.setter
    def act(self, value: Array) -> Array:
        self._assign("act", value, self.act)

    @property
    def qacc(self) -> Array:
        """Accelerations of the last substep (B, nv), from which the solver starts; valid until the next step()."""
        return self._now[self._of_world("qacc", 3)][1]

    @property
    def ctrl(self) -> Array:
        """Controls of the file's actuators (B, n_ctrl), to be read and written; they stay until changed."""
        self._of_world("controls")
        return self._world.ctrl[1]

    @ctrl.setter
    def ctrl(self, value: Array) -> Array:
        self._assign("ctrl", value, self.ctrl)

    def sensor(self, name: str | int) -> Array:
        """Return the reading (B, dim) of a sensor of the file, by name or number, without noise.

        Sensors of positions and velocities measure the current state. Sensors of forces and accelerations
        (accelerometer, touch, force, actuatorfrc and others) measure the beginning of the last substep, as in MuJoCo
        after a step, with RK4 its first stage. They are zero before the first step. The first call for one of these
        repeats the last step. On a device the result is a DeviceArray. Some sensors go through the CPU and wait: range
        finders; sensors of forces and accelerations while an instance has not been stepped since its reset; touch and
        force in the cases that `contact_force` names.
        Errors: ValueError for a name that does not exist, and, with the reason, for a sensor that is not supported.
        """
        self._of_world("sensors")
        return self._world.sensor(name, self._memory(self._now), self._memory(self._next), self.time, self.dt)

    def contact_force(self, name: str | int, kind: str | None = None) -> Array:
        """Return the total force (B, 3) [N] of a geom's contacts on it, world axes.

        The force is that of the beginning of the last substep.
        name   of a geom, or of a body where no geom has the name
        kind   "geom" or "body" decides. The force on a body is the sum over its own geoms
        On a device the result is a DeviceArray. The call goes through the CPU and waits where the file has more than 64
        candidate contacts or some between shapes without a closed form, and while an instance has not been stepped
        since its reset.
        """
        self._of_world("contact forces")
        return self._world.contact_force(name, kind, self._memory(self._next), self.time - self.dt)

    def report(self) -> WorldReport:
        """Solve the current state anew; report its contacts, the accuracy of their forces, and their depths.

        Returns NumPy arrays. On a device it waits; contacts are found on the CPU.
        """
        self._of_world("contacts")
        return self._world.report(self._memory(self._now))

    def site(self, name: str | int) -> Array:
        """Return the position of a site (B, 3) [m], world axes."""
        self._of_world("sites")
        return self._world.site(name, self._memory(self._now), self.time)

    def _of_world(self, what: str, at: int = 0) -> int:
        if self._op != "world":
            raise ValueError(f"Simulation: {no_world(self.model)}, and no {what}")
        return at

    def _memory(self, state: list[Any]) -> dict[str, Any]:
        return {name: memory for name, (memory, _) in zip(STATE, state)}

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
        if self._op == "world":
            step_numbers("step", model, "world", {"q_target": q_target, "kp": kp, "kd": kd}, 0.0)
            self._step_world(ctrl if drive is None else drive, tau)
            return
        refuse_controls("step", {"ctrl": ctrl})
        tau = tau if drive is None else drive
        if q_target is not None and np.shape(q_target)[-1:] == (model.nq,) and model.nq != model.nv:
            if device_of(q_target) != HOST:
                raise ValueError(
                    f"step: q_target has shape {tuple(q_target.shape)}, on a device expected "
                    f"{(self.instances, model.nv)}: q_target[:, model.dof_q], and anything where model.dof_q is "
                    "negative"
                )
            target = to_numpy(q_target, "step", "q_target", self.dtype)
            q_target = np.where(model.dof_q >= 0, target[..., model.dof_q], 0).astype(target.dtype)
        if q_target is None and kp is not None:
            raise TypeError("step: kp needs a q_target")
        gains = {name: gain for name, gain in (("kp", kp), ("kd", kd)) if gain is not None}
        numbers = step_numbers("step", model, self._op, {**self._numbers, **gains}, self._pass_time)
        uniforms = model.uniform_values(self._op, numbers, "step")
        given = {"tau": tau, "q_target": q_target}
        names = [name for name, x in given.items() if x is not None]
        # the state decides the batch size and the dtype of the arguments
        rows = [(name, model.nv) for name in ("v", *names)]
        call = Arguments("step", [self.v, *(given[name] for name in names)], rows)
        found = dict(zip(names, call.arrays[1:]))
        drives = [found.get(name, self._zero) for name in given]
        now, after = ([buffer for buffer, _ in state] for state in (self._now, self._next))
        rest = [*drives, *(self._parameter(name) for name in model.parameters)]
        if self._op == "coupled_step":
            self._coupled_step(rest, uniforms)
        else:
            model.evaluator.run(self._op, [*now, *rest], after, uniforms, 0, self.substeps, self.stream, self.instances)
        tell_notices(model)
        self._advance(self.__dict__)

    def _step_world(self, ctrl: ArrayLike | None, tau: ArrayLike | None) -> None:
        if ctrl is not None:
            self._take("ctrl", ctrl, self._world.ctrl[1])
        if tau is not None:
            self._take("tau", tau, self._world.room_for_tau())
        self._world.step(self._memory(self._now), self._memory(self._next), tau is not None, self.time)
        self._advance(self.__dict__)

    def _advance(self, own: dict[str, Any]) -> None:
        """Swap the states. `own` has the attributes; setting them by name would cost 0.6 us each (_names.Fixed)."""
        own["_now"], own["_next"] = own["_next"], own["_now"]
        own["time"] += own["dt"]

    def _take(self, name: str, value: ArrayLike, view: Array) -> None:
        """Copy an argument of a step to the simulation's own memory.

        On a device arrays lie there, and only lists wait.
        """
        if self._library.readable:
            value = self._fitting(name, value, view)
        else:
            value = Call("step", [("v",), (name,)], [self.v, value]).array(value, name)
        self._library.assign(view, value, "step", name)

    def _coupled_step(self, rest: list[Any], uniforms: list[float]) -> None:
        """Compute the next q and v through the independent velocities."""
        run, n = self.model.evaluator.run, self.instances
        own = [self._parameter(name) for name, _ in self.model.row("coupled_position").inputs if name != "q"]
        self._u[1][:] = self.v[:, self._columns]
        run("coupled_position", [self._now[0][0], *own], [self._next[0][0]], [], 0, 1, 0, n)
        after = [self._now[0][0], self._u_next[0]]
        run(self._op, [self._next[0][0], self._u[0], *rest], after, uniforms, 0, self.substeps, 0, n)
        own = [self._parameter(name) for name, _ in self.model.row("coupled_velocity").inputs if name != "u"]
        run("coupled_velocity", [self._u_next[0], *own], [self._next[1][0]], [], 0, 1, 0, n)
        self._now[0], self._next[0] = self._next[0], self._now[0]  # step() swaps them once more

    def _parameter(self, name: str) -> Any:
        """Return a parameter of the model as (1 or B, n) on the device of the state, copied at its first use."""
        if name not in self._parameters:
            row = self.model.row(self._op)
            call = Call("step", [("v",)], [self.v])
            n = dict(row.inputs)[name]
            value = self.model.parameter(name)
            self._parameters[name] = call.kept(value, name, n, row.shapes, self.instances, {})
        return self._parameters[name]

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
        zero = np.zeros(1, self.dtype)
        values_of = [q, v, *([zero] if self._op == "contact_step" else [])]
        states = [*self._now]
        if world:
            values_of += [zero if act is None else self._fitting("act", act, self.act), zero]
            values_of += [self._fitting("ctrl", home["ctrl"], self.ctrl) if home else zero]
            states.append(self._world.ctrl)
            self._world.move_mocap(mask, poses or None)
            self._world.forget(mask)
        for (_, view), values in zip(states, values_of):
            state = np.asarray(view)
            state[mask] = np.broadcast_to(values, view.shape)[mask]
            if state is not view:  # a copy
                self._library.assign(view, state, "reset", "state")
        if restarts:
            self.time = time

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
        bad = np.zeros(self.instances, bool)
        for array in self.state:
            bits: npt.NDArray[Any] = np.asarray(array).T.view(np.int32 if self.dtype.itemsize == 4 else np.int64)
            exponent = bits.dtype.type(0x7F800000 if self.dtype.itemsize == 4 else 0x7FF0000000000000)
            bad |= ((bits & exponent) == exponent).any(axis=0)
        return bad * np.int32(Status.NON_FINITE)
