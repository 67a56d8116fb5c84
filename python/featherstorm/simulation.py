"""Simulation: a batch of robots in time, with its state in the engine."""

from __future__ import annotations

import enum
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .device import HOST, device_name, device_number, device_of
from .memory.arguments import Arguments, Call, engine_in
from .memory.arrays import to_numpy
from .robot.steps import independent, step_numbers, step_op, substep_time
from .table.evaluation import check_quaternions, evaluate, tell_notices

if TYPE_CHECKING:
    import numpy.typing as npt

    from . import _featherstorm
    from .model import Model
    from .typing import Array, ArrayLike, Names


class Status(enum.IntFlag):
    """What is wrong with an instance; see `Simulation.status`."""

    NON_FINITE = 1
    """The state has a NaN or an infinity. Remedy: a smaller dt or more substeps, smaller gains; then reset(mask)."""


class Simulation:
    """`instances` robots, advanced together with what the model carries (semi-implicit, damping implicit).

        sim = fs.Simulation(model, 4096, dt=2e-3, substeps=2)
        sim.step(tau)                                        # or sim.step(q_target=target, kp=50, kd=2)
        q, v = sim.state
        sim.reset(sim.status != 0)

    A model with contacts is advanced by `contact_step`, whose impulses are kept from step to step, with loops by
    `loop_step`, with couplings by `coupled_step`; coupled joints follow their drivers, whatever q and v say.

    dt                  time of one step() [s]; each of `substeps` passes takes dt / substeps, in one call of the engine
    ignore              what of "contacts", "loops", "couplings" shall not count though the model carries it
    numbers             kp, kd, limit_stiffness, limit_damping, friction_velocity: see featherstorm.step; those of
                        featherstorm.contact_step or loop_step besides
    device, stream      as for a Batch. On a device q and v are DeviceArrays, tau and q_target lie there too, and step()
                        does not wait; reset(), status and energy() go through the CPU and wait
    Errors: ValueError for a model that carries two of the three and does not ignore one, and for couplings on a device.
    """

    def __init__(
        self,
        model: Model,
        instances: int,
        dt: float,
        substeps: int = 1,
        device: object = "cpu",
        dtype: npt.DTypeLike = "float32",
        stream: int = 0,
        *,
        ignore: Names = (),
        **numbers: ArrayLike,
    ) -> None:
        number = device_number(device, "Simulation")
        self._pass_time = substep_time("Simulation", dt, substeps)
        if int(instances) < 0:
            raise ValueError(f"Simulation: instances is {instances}, expected 0 or more")
        self.dtype = np.dtype(dtype)
        if self.dtype.name not in ("float32", "float64"):
            raise TypeError(f"Simulation: dtype is {self.dtype}, expected float32 or float64")
        self._op = step_op(model, "Simulation", ignore)
        self._library = engine_in(number, stream)
        if self._op == "coupled_step" and not self._library.readable:
            raise ValueError(
                "Simulation: couplings are simulated on the CPU alone; on a device call coupled_step, or say "
                "ignore=('couplings',)"
            )
        model.row(self._op)
        self.model, self.instances, self.dt, self.substeps = model, int(instances), float(dt), int(substeps)
        self.device, self.stream = device_name(number), stream
        self.time = 0.0
        self._numbers = numbers
        self._parameters: dict[str, Any] = {}
        model.uniform_values(self._op, step_numbers(self._op, numbers, self._pass_time))  # refuses wrong ones now

        def array(*tail: int) -> tuple[_featherstorm.Buffer, Array]:
            memory, view = self._library.output(self.dtype.name, self.instances, math.prod(tail))
            return memory, view(list(tail))

        # (Buffer, view) of q, v and the impulses at contacts, now and after the next step
        touching = self._op == "contact_step"
        tails = [(model.nq,), (model.nv,), *([(model.nc, 3)] if touching else [])]
        self._now, self._next = ([array(*tail) for tail in tails] for _ in range(2))
        self._zero, _ = array(model.nv)  # what is not given to step()
        if self._op == "coupled_step":
            self._u, self._u_next = array(model.nu), array(model.nu)
            self._columns = independent(model)
        self.reset()

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
        """Impulses of the last substep at contacts (B, nc, 3) [N s]: normal, two tangents; valid until the next step()."""
        if self._op != "contact_step":
            has = "ignores its contacts" if self.model.nc else "has no contacts"
            raise ValueError(f"Simulation: {self.model.name} {has}")
        return self._now[2][1]

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

    def step(
        self,
        tau: ArrayLike | None = None,
        q_target: Array = None,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
    ) -> None:
        """Advances all instances by dt under tau + kp (q_target - q) - kd v, with tau and q_target held constant.

        in   tau (B, nv) [N m | N]; q_target (B, nv), or (B, nq) whose quaternions count for nothing
        in   kp, kd (nv,) or a number, the same for all instances; they act where v is dq/dt
        """
        model = self.model
        if q_target is not None and np.shape(q_target)[-1:] == (model.nq,) and model.nq != model.nv:
            if device_of(q_target) != HOST:
                raise ValueError(
                    f"step: q_target has shape {tuple(q_target.shape)}, on a device expected {(self.instances, model.nv)}: "
                    "q_target[:, model.dof_q], and anything where model.dof_q is negative"
                )
            target = to_numpy(q_target, "step", "q_target", self.dtype)
            q_target = np.where(model.dof_q >= 0, target[..., model.dof_q], 0).astype(target.dtype)
        if q_target is None and kp is not None:
            raise TypeError("step: kp needs a q_target")
        gains = {name: gain for name, gain in (("kp", kp), ("kd", kd)) if gain is not None}
        numbers = step_numbers(self._op, {**self._numbers, **gains}, self._pass_time)
        uniforms = model.uniform_values(self._op, numbers)
        given = {"tau": tau, "q_target": q_target}
        names = [name for name, x in given.items() if x is not None]
        # the state decides the batch size and the dtype of what comes in
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
        self._now, self._next = self._next, self._now
        self.time += self.dt

    def _coupled_step(self, rest: list[Any], uniforms: list[float]) -> None:
        """The next q and v by way of the independent velocities."""
        run, n = self.model.evaluator.run, self.instances
        own = [self._parameter(name) for name, _ in self.model.row("coupled_position").inputs if name != "q"]
        self._u[1][:] = self.v[:, self._columns]
        run("coupled_position", [self._now[0][0], *own], [self._next[0][0]], [], 0, 1, 0, n)
        after = [self._now[0][0], self._u_next[0]]
        run(self._op, [self._next[0][0], self._u[0], *rest], after, uniforms, 0, self.substeps, 0, n)
        own = [self._parameter(name) for name, _ in self.model.row("coupled_velocity").inputs if name != "u"]
        run("coupled_velocity", [self._u_next[0], *own], [self._next[1][0]], [], 0, 1, 0, n)
        self._now[0], self._next[0] = self._next[0], self._now[0]  # step() exchanges them once more

    def _parameter(self, name: str) -> Any:
        """A parameter of the model as (1 or B, n) where the state is, taken when it was first used."""
        if name not in self._parameters:
            row = self.model.row(self._op)
            call = Call("step", [("v",)], [self.v])
            n = dict(row.inputs)[name]
            value = self.model.parameter(name)
            self._parameters[name] = call.kept(value, name, n, row.shapes, self.instances, {})
        return self._parameters[name]

    def reset(self, mask: npt.ArrayLike | None = None, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Sets instances to q (default model.q0) and v (default zero).

        mask   (B,) of bool; None: all. q, v: (n,) or (B, n), of which the masked rows are taken
        """
        q = self._fitting("q", self.model.q0.astype(self.dtype) if q is None else q, self.q)
        v = self._fitting("v", np.zeros(self.model.nv, self.dtype) if v is None else v, self.v)
        check_quaternions(self.model, "reset", "q", np.atleast_2d(q))
        if mask is None:
            mask = np.ones(self.instances, bool)
        mask = np.asarray(mask)
        if mask.dtype != bool or mask.shape != (self.instances,):
            raise ValueError(f"reset: mask is {mask.dtype} of shape {mask.shape}, expected bool ({self.instances},)")
        values_of = [q, v, *([np.zeros(1, self.dtype)] if self._op == "contact_step" else [])]
        for (_, view), values in zip(self._now, values_of):
            state = np.asarray(view)
            state[mask] = np.broadcast_to(values, view.shape)[mask]
            if state is not view:  # a copy
                self._library.assign(view, state, "reset", "state")

    def energy(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Kinetic and potential energy (B,) [J]."""
        _, (columns,) = evaluate(self.model, "energy", [self.q, self.v], check=False)
        columns = np.asarray(columns)
        return columns[:, 0], columns[:, 1]

    @property
    def status(self) -> npt.NDArray[np.int32]:
        """Status bits (B,) int32, 0 where all is well."""
        bad = np.zeros(self.instances, bool)
        for array in self.state:
            bits: npt.NDArray[Any] = np.asarray(array).T.view(np.int32 if self.dtype.itemsize == 4 else np.int64)
            exponent = bits.dtype.type(0x7F800000 if self.dtype.itemsize == 4 else 0x7FF0000000000000)
            bad |= ((bits & exponent) == exponent).any(axis=0)
        return bad * np.int32(Status.NON_FINITE)
