"""The state of a model file's robot as seen by a traced function, and the solution of the last substep's beginning."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm, _fields
from .._names import expect
from ..symbols import State, Symbols, symbols, values_of
from .values import compiled, field_of, number_of, parameter_sizes

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from .._fields.instance import Instance
    from ..model import Model
    from ..typing import Frame

    FieldFunction = Callable[[Instance], Any]

ACCELERATION = 3  # mjSTAGE_ACC


def instance(model: Model, trace: _featherstorm.Trace, given: dict[str, Any]) -> Instance:
    """Return the algorithms of MuJoCo's fields (_fields) on given symbols.

    Missing ones become inputs of the trace.
    """
    m, file = compiled(model), model.file
    active = np.asarray(m.eq_active0, bool)
    varied = tuple(map(field_of, model.parameters))
    sensors = [i for i in range(m.nsensor) if file is None or i not in file.unmeasured]
    shapes = {**_fields.instance.solved_shapes(m, active), **_fields.instance.contact_shapes(m, sensors)}
    del shapes["qfrc_constraint"]  # computed from arrays that sequences have
    shapes.update({name: _fields.kernels.field_shape(m, name) for name in varied})
    found = _fields.instance.Instance(m, model, sensors, active, shapes, trace, varied)
    mocap = _fields.table.mocap_bodies(m)
    still = {
        "qfrc_applied": np.zeros(m.nv),
        "xfrc_applied": np.zeros((m.nbody, 6)),
        "mocap_pos": np.array(m.body_pos[mocap]).reshape(-1, 3),
        "mocap_quat": np.array(m.body_quat[mocap]).reshape(-1, 4),
    }
    found.given.update({name: x for name, x in still.items() if name not in varied}, **given)
    return found


class SolveQuantities:
    """Quantities of the solution at the beginning of the last substep that traced functions request.

    Each is an array of the sequence, named "at_solve_" and the quantity.

    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.functions: dict[str, tuple[int, FieldFunction]] = {}

    def add(self, name: str, size: int, function: FieldFunction) -> str:
        """Request a quantity and return its name."""
        self.functions.setdefault(f"at_solve_{name}", (size, function))
        return f"at_solve_{name}"

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the quantities by name."""
        return {name: size for name, (size, _) in self.functions.items()}

    def record(
        self, before: float, clock: Callable[[_featherstorm.Trace], Any] | None = None
    ) -> _featherstorm.Trace | None:
        """Record the program of all requested quantities; None where there are none.

        before   time from the first substep to the last one [s]
        clock    returns the time, of shape (1,). None: `t` for all instances
        """
        if not self.functions:
            return None
        model = self.model
        with closing(_featherstorm.Trace()) as trace:
            q, v = symbols(trace.input("q", model.nq)), symbols(trace.input("v", model.nv))
            act = symbols(trace.input("act", model.n_act) if model.n_act else [])
            ctrl = symbols(trace.input("ctrl", model.n_ctrl) if model.n_ctrl else [])
            begun = symbols(trace.input("t", 1, True)) if clock is None else clock(trace)
            time = begun + before
            fields = instance(model, trace, {"qpos": q, "qvel": v, "act": act, "ctrl": ctrl, "time": time})
            for name, (size, function) in self.functions.items():
                trace.output(name, values_of(function(fields), name, size))
        return trace


class WorldState(State):
    """The state of a robot with a model file's world as seen by a traced function: x (nq + nv + n_act).

    x.q, x.v, x.act, also x.qpos and x.qvel; x.ctrl (n_ctrl), the actuators' controls of the step that led to x
    x.site(name) (3,) [m], position in the world; x.sensor(name) (dim,), reading of a sensor of the file
    x.contact_force(name) (3,) [N], total force of a geom's or a body's contacts on it, world axes
    x.qacc (nv), accelerations
    and all of symbols.State: x.position(frame), x.rotation(frame), x.velocity(frame), x.run(op, ...)

    Sensors of positions and velocities measure the state x itself. The following belong to the beginning of the last
    substep, as in MuJoCo after a step, with RK4 to its first stage: forces, accelerations and their sensors (MuJoCo's
    stage mjSTAGE_ACC: accelerometer, touch, force, actuatorfrc and others), contact sensors, contact_force and qacc.
    They are zero before the first step.
    """

    time: Any
    at_solve: SolveQuantities
    has_ctrl: bool
    inputs: dict[str, Symbols]
    fields: Instance | None

    @classmethod
    def of(
        cls, model: Model, trace: _featherstorm.Trace, time: Any, at_solve: SolveQuantities, has_ctrl: bool = True
    ) -> Self:
        """Return x as inputs of a trace. time [s]; has_ctrl: whether there are controls yet."""
        act = trace.input("act", model.n_act) if model.n_act else []
        parts = [*trace.input("q", model.nq), *trace.input("v", model.nv), *act]
        return cls.made(model, trace, parts, time, at_solve, has_ctrl)

    @classmethod
    def made(
        cls,
        model: Model,
        trace: _featherstorm.Trace,
        parts: list[Any],
        time: Any,
        at_solve: SolveQuantities,
        has_ctrl: bool = True,
        inputs: dict[str, Symbols] | None = None,
    ) -> Self:
        """Return x from numbers q, v, act. inputs: inputs that the trace has already, by name."""
        self = np.asarray(parts, dtype=object).view(cls)
        self.model, self.trace, self.poses, self.parameters = model, trace, None, None
        self.time, self.at_solve, self.has_ctrl, self.fields = time, at_solve, has_ctrl, None
        self.inputs = {} if inputs is None else inputs
        if model.parameters:
            self.parameters = [self.input(name, n).tolist() for name, n in parameter_sizes(model).items()]
        return self

    @property
    def v(self) -> Symbols:
        return self[self.model.nq : self.model.nq + self.model.nv]

    @property
    def act(self) -> Symbols:
        return self[self.model.nq + self.model.nv :]

    @property
    def qpos(self) -> Symbols:
        return self.q

    @property
    def qvel(self) -> Symbols:
        return self.v

    @property
    def ctrl(self) -> Symbols:
        if not self.has_ctrl:
            raise TypeError("control makes x.ctrl, and cannot read it")
        return self.input("ctrl", self.model.n_ctrl)

    @property
    def qacc(self) -> Symbols:
        return self.quantity("qacc", self.model.nv, lambda fields: fields.state("qacc"))

    def input(self, name: str, size: int) -> Symbols:
        if name not in self.inputs:
            self.inputs[name] = symbols(self.trace.input(name, size) if size else [])
        return self.inputs[name]

    def quantity(self, what: str, size: int, function: FieldFunction) -> Symbols:
        return self.input(self.at_solve.add(what, size, function), size)

    def instance(self) -> Instance:
        """Return the algorithms on the state x."""
        if self.fields is None:
            given = {"qpos": self.q, "qvel": self.v, "act": self.act, "time": self.time.reshape(1)}
            # no algorithm of positions and velocities reads it
            given["ctrl"] = self.ctrl if self.has_ctrl else np.zeros(self.model.n_ctrl)
            bound = {field_of(name): self.inputs[name] for name in self.model.parameters}
            self.fields = instance(self.model, self.trace, given)
            self.fields.given.update({name: x.reshape(self.fields.shapes[name]) for name, x in bound.items()})
        return self.fields

    def site(self, name: Frame) -> Symbols:
        _, k = number_of(self.model, "site", name)
        return symbols(values_of(self.instance().sites[k].position, "site", 3))

    def sensor(self, name: str | int) -> Symbols:
        _, k = number_of(self.model, "sensor", name)
        m = compiled(self.model)
        size = measured_size(self.model, k)
        if what := measured_apart(self.model, k):
            raise ValueError(f"sensor {name} {what}: simulations measure it, functions that are traced do not")
        if is_at_solve(m, k):
            return self.quantity(f"sensor{k}", size, lambda fields: fields.sensor(k))
        return symbols(values_of(self.instance().sensor(k), "sensor", size))

    def contact_force(self, name: str | int, kind: str | None = None) -> Symbols:
        """Return the total contact force on a geom, or on a body where no geom has the name or kind="body"."""
        found = contact_place(self.model, name, kind)
        return self.quantity(f"contact_force_{found[0]}{found[1]}", 3, lambda fields: fields.contact_force(*found))


def contact_place(model: Model, name: str | int, kind: str | None) -> tuple[str, int]:
    """Return ("geom" or "body", number)."""
    expect(kind in (None, "geom", "body"), "contact_force: kind", repr(kind), "'geom' or 'body'")
    return number_of(model, kind or "geom", name, ("body",) if kind is None else ())


def is_at_solve(m: Any, sensor: int) -> bool:
    """Return whether a sensor of a compiled model reads forces, accelerations or contacts, which the solver finds."""
    return int(m.sensor_needstage[sensor]) == ACCELERATION or int(m.sensor_type[sensor]) in _fields.sensors.OF_CONTACTS


def measured_apart(model: Model, sensor: int) -> str:
    """Return why no traced function measures a sensor that simulations do; "" where one does."""
    m = compiled(model)
    if int(m.sensor_type[sensor]) == _fields.sensors.RANGEFINDER:
        return "is a range finder"
    return (
        "measures distances between shapes without a closed form"
        if sensor in _fields.apart.distances_by_loops(m, model.robot)
        else ""
    )


def measured_size(model: Model, sensor: int) -> int:
    """Return the number of components of a sensor. Errors: ValueError with the reason for an unsupported one."""
    m = compiled(model)
    reasons = {**_fields.sensors.open_sensors(m, model.robot), **(model.file.unmeasured if model.file else {})}
    if int(m.opt.disableflags) & _fields.sensors.NO_SENSORS:
        raise ValueError(f"{model.name}: its file turns sensors off")
    if sensor in reasons:
        raise ValueError(
            f"{model.name}: sensor {_fields.sensors.name_of(m, sensor)} is not measured: {reasons[sensor]}"
        )
    return int(m.sensor_dim[sensor])
