"""The part of a Simulation for the world of a model file: controls, steps, and readings."""

from __future__ import annotations

from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm, _fields
from .._memory.arguments import Call
from ..symbols import symbols, values_of
from .passes import Reporter, WorldReport, passes
from .state import (
    SolveQuantities,
    WorldState,
    contact_place,
    instance_sizes,
    is_at_solve,
    measured_apart,
    measured_size,
)
from .values import bound_values, check_bound, compiled, mocap_poses, number_of, parameter_sizes, with_inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from .._fields.apart import SensorsApart
    from .._memory.host_libraries import Library
    from .._robot.closures import Rigid
    from ..model import Model
    from .state import FieldFunction

    Memory = tuple[Any, Any]  # of the engine, and its view


def adr(model: Model, sensor: int) -> int:
    """Return the first index of a sensor in sensordata."""
    return int(compiled(model).sensor_adr[sensor])


def as_it_is(name: str) -> FieldFunction:
    """Return the algorithm that reads an array of the state unchanged."""
    return lambda fields: fields.state(name).ravel()


class SimulatedWorld:
    """A batch of robots in the world of a model file.

    count     substeps of a step
    ctrl      memory and view (instances, n_ctrl) of the controls; driven: of those of the last step
    begun     quantities at the beginning of the last substep, by their names in mjData, where forces were requested
    fresh     (instances,) True for instances not stepped yet, which have no solution
    law       None for MuJoCo's
    model     with the current poses of mocap bodies; model_at_first: with their initial ones

    All arrays are on the device of `library`; parts that need the CPU are copied there and back.
    """

    def __init__(
        self, model: Model, dtype: str, instances: int, count: int, library: Library, law: Rigid | None = None
    ) -> None:
        self.model, self.dtype, self.instances, self.count, self.library = model, dtype, instances, count, library
        self.model_at_first = model
        self.law = law
        self.passes = passes(model, dtype, count, law=law)
        self.reporter: Reporter | None = None
        self.begun: dict[str, Memory] = {}
        self.readings: dict[str, int] = {}  # of contacts that steps keep, with how many numbers
        self.kernels: dict[str, tuple[_featherstorm.Sequence, dict[str, int]]] = {}
        self.ctrl, self.driven = self.array(model.n_ctrl), self.array(model.n_ctrl)
        self.tau: Memory | None = None  # forces at the joints, from the first step on that has some
        self.is_pushed = False  # whether the last step had
        self.bound = self.bound_of(model)
        self.fresh = np.ones(instances, bool)

    def array(self, n: int) -> Memory:
        memory, view = self.library.output(self.dtype, self.instances, n)
        return memory, view([n])

    def bound_of(self, model: Model) -> dict[str, Any]:
        """Memory of the model's parameters by name."""
        return bound_values(model, Call("step", [("ctrl",)], [self.ctrl[1]]), self.instances, {})

    def move_mocap(self, rows: npt.NDArray[np.bool_], poses: dict[str, npt.NDArray[Any]] | None) -> None:
        """Put the mocap bodies of some instances at poses, or where the model has them.

        The first pose that differs from the model's makes kernels that read poses.

        rows    (instances,) of bool
        poses   mocap_pos (nmocap, 3) [m] and mocap_quat (nmocap, 4), world axes; None: the model's
        Errors: ValueError where a spatial tendon passes an object with a side site on a mocap body.
        """
        home = mocap_poses(self.model_at_first, self.instances)
        now = mocap_poses(self.model, self.instances)
        new = {name: x.copy() for name, x in now.items()}
        for name, x in new.items():
            x[rows] = home[name][rows] if poses is None else poses[name].reshape(x.shape[1:])
        if all(np.array_equal(x, now[name]) for name, x in new.items()):
            return
        moved = with_inputs(self.model, tuple(new)).bind(**new)
        check_bound(moved, "reset")
        if moved.parameters != self.model.parameters:
            self.passes, self.reporter = passes(moved, self.dtype, self.count, law=self.law), None
            self.begun, self.kernels = {}, {}
        self.model, self.bound = moved, self.bound_of(moved)

    def room_for_tau(self) -> Any:
        """The array (instances, nv) that forces at the joints of the next step are written to."""
        self.tau = self.tau or self.array(self.model.nv)
        return self.tau[1]

    def step(self, state: dict[str, Any], after: dict[str, Any], is_pushed: bool, time: float) -> None:
        """From memory of q, v, act, qacc to that of the next. is_pushed: whether forces at the joints act."""
        self.is_pushed = is_pushed
        self.library.assign(self.driven[1], self.ctrl[1], "step", "ctrl")
        self.run(state, after, time)
        self.fresh[:] = False

    def forget(self, rows: npt.NDArray[np.bool_]) -> None:
        """Restart instances."""
        self.fresh |= rows

    @property
    def pushed(self) -> dict[str, Any]:
        return {"qfrc_applied": self.tau[0]} if self.tau is not None and self.is_pushed else {}

    def run(self, state: dict[str, Any], after: dict[str, Any], time: float) -> None:
        given = {**state, **self.pushed, **self.bound, "u": self.driven[0]}
        written = {**after, **{f"at_solve_{name}": memory for name, (memory, _) in self.begun.items()}}
        self.passes.run(self.instances, given, written, time, self.library.stream)

    def watch(self, taken: dict[str, int], before: dict[str, Any], time: float) -> None:
        """Keep the data of each last substep's beginning in all later steps, also the contact readings in `taken`.

        The last step is repeated where it did not keep them.
        """
        new = {
            name: n for name, n in taken.items() if _fields.constraints.is_reading(name) and name not in self.readings
        }
        if self.begun and not new:
            return
        self.readings.update(new)
        at_solve = SolveQuantities(self.model)
        sizes = {**instance_sizes(self.model), **self.readings}
        for name, size in sizes.items():
            at_solve.add(name, size, as_it_is(name))
        self.passes = passes(self.model, self.dtype, self.count, at_solve, self.law)
        self.begun = {name: self.array(size) for name, size in sizes.items()}
        self.run(before, {}, time)

    def quantity(self, what: str, size: int, function: FieldFunction, before: dict[str, Any], time: float) -> Any:
        """Return quantities that the last substep found, (instances, size).

        before: the state at the beginning of the last step, and `time` then.
        """
        if what not in self.kernels:
            at_solve = SolveQuantities(self.model)
            at_solve.add("found", size, function)
            trace = at_solve.record((self.count - 1) * self.model.timestep)
            assert trace is not None
            kernel = _featherstorm.traced_sequence(self.model.evaluator, self.dtype, trace)
            self.kernels[what] = kernel, at_solve.taken
        kernel, taken = self.kernels[what]
        self.watch(taken, before, time)
        library, bound = self.library, self.bound
        begun = {name: array for name, (array, _) in self.begun.items()}
        sizes = {**instance_sizes(self.model), **self.readings, **parameter_sizes(self.model)}
        given = {**begun, **bound}
        names = {**{name: name for name in ("act", "ctrl", *taken)}, "q": "qpos", "v": "qvel"}
        inputs = [(name, given[of], 0, sizes[of], False) for name, of in names.items() if of in given]
        memory, view = library.output(self.dtype, self.instances, size)
        outputs = [("at_solve_found", memory, 0, size, False)]
        kernel.run(1, self.instances, inputs, {"t": [time]}, outputs, stream=library.stream)
        if library.readable or self.fresh.any():
            numbers = np.asarray(view([size]))
            numbers[self.fresh] = 0
            return self.placed(numbers)
        return view([size])

    def placed(self, numbers: npt.NDArray[Any]) -> Any:
        """Numbers (instances, n) of the CPU where the simulation is."""
        if self.library.readable:
            return numbers
        memory, view = self.array(numbers.shape[1])
        _featherstorm.copy(numbers, memory, self.library.stream)
        return view

    def look(
        self, what: str, size: int, function: Callable[[WorldState], Any], state: dict[str, Any], time: float
    ) -> Any:
        """Return quantities that follow from the state, (instances, size)."""
        if what not in self.kernels:
            with closing(_featherstorm.Trace()) as trace:
                x = WorldState.of(self.model, trace, symbols(trace.input("t", 1, True))[0], SolveQuantities(self.model))
                trace.output("found", values_of(function(x), what, size))
            self.kernels[what] = _featherstorm.traced_sequence(self.model.evaluator, self.dtype, trace), {}
        memory, view = self.array(size)
        sizes = {"q": self.model.nq, "v": self.model.nv, "act": self.model.n_act}
        inputs = [(name, state[name], 0, n, False) for name, n in sizes.items() if n]
        if self.model.n_ctrl:
            inputs.append(("ctrl", self.ctrl[0], 0, self.model.n_ctrl, False))
        inputs += [(name, self.bound[name], 0, n, False) for name, n in parameter_sizes(self.model).items()]
        outputs = [("found", memory, 0, size, False)]
        kernel = self.kernels[what][0]
        kernel.run(1, self.instances, inputs, {"t": [time]}, outputs, stream=self.library.stream)
        return view

    def sensor(self, name: str | int, state: dict[str, Any], before: dict[str, Any], time: float, dt: float) -> Any:
        _, k = number_of(self.model, "sensor", name)
        size = measured_size(self.model, k)
        if measured_apart(self.model, k):
            return self.placed(self.apart(state, time)[:, adr(self.model, k) : adr(self.model, k) + size])
        if is_at_solve(compiled(self.model), k):
            return self.quantity(f"sensor{k}", size, lambda fields: fields.sensor(k), before, time - dt)
        return self.look(f"sensor{k}", size, lambda x: x.sensor(k), state, time)

    def apart(self, state: dict[str, Any], time: float) -> npt.NDArray[Any]:
        """sensordata (instances, nsensordata) with the numbers of range finders and of distances that loops find."""
        m = compiled(self.model)

        def pose(name: str) -> npt.NDArray[np.float64]:
            tail = (3, 3) if name.endswith("mat") else (3,)
            count = {"geom": m.ngeom, "site": m.nsite, "cam": m.ncam}[name.split("_")[0]]
            flat = self.look(name, count * int(np.prod(tail)), lambda x: x.instance().field(name), state, time)
            return np.asarray(flat).astype(np.float64).reshape(self.instances, count, *tail)

        sizes = None
        if "geom_size" in self.model.parameters:
            own = np.asarray(self.model.parameter("geom_size"), float).reshape(-1, 3 * m.ngeom)
            sizes = np.broadcast_to(own, (self.instances, 3 * m.ngeom))
        sensordata = np.zeros((self.instances, m.nsensordata), self.dtype)
        self.sensors_apart.measure(lambda names: {name: pose(name) for name in names}, sensordata, sizes)
        return sensordata

    @cached_property
    def sensors_apart(self) -> SensorsApart:
        m = compiled(self.model)
        return _fields.apart.SensorsApart(m, _fields.apart.Rays(m), self.model.robot)

    def report(self, state: dict[str, Any]) -> WorldReport:
        if self.reporter is None:
            self.reporter = Reporter(self.model, self.dtype, self.law)
        given = {**state, **self.pushed, **self.bound, "ctrl": self.ctrl[0]}
        return self.reporter.of(self.instances, given, self.library)

    def site(self, name: str | int, state: dict[str, Any], time: float) -> Any:
        _, k = number_of(self.model, "site", name)
        return self.look(f"site{k}", 3, lambda x: x.site(k), state, time)

    def contact_force(self, name: str | int, kind: str | None, before: dict[str, Any], time: float) -> Any:
        kind, k = contact_place(self.model, name, kind)
        return self.quantity(f"contact_force_{kind}{k}", 3, lambda fields: fields.contact_force(kind, k), before, time)
