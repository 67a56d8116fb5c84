"""One simulation whose numbers are not known yet: the texts of all fields begin with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...symbols import State, symbols
from .forces import NO_GRAVITY, Forces
from .sensors import NO_SENSORS, STATIC, Frames, cut_off, on_mocap, rows_of
from .turns import dot, vector

if TYPE_CHECKING:
    from ... import _featherstorm
    from ...model import Model


class Instance(Forces):
    """Its methods are the fields of mjData, by MuJoCo's names.

    m         the compiled model
    model     the engine's of it
    sensors   those that the engine measures
    shapes    name -> shape of what may be given: fields of the state, qacc, qfrc_constraint
    given     name -> symbols of what the fields that were asked for take
    """

    def __init__(
        self,
        m: Any,
        model: Model,
        sensors: list[int],
        shapes: dict[str, tuple[int, ...]],
        trace: _featherstorm.Trace,
    ) -> None:
        self.m, self.model, self.sensors, self.trace, self.shapes = m, model, sensors, trace, shapes
        self.packed = model.row_start, model.column
        self.given: dict[str, Any] = {}

    def state(self, name: str) -> Any:
        if name not in self.given:
            shape = self.shapes[name]
            size = int(np.prod(shape))
            self.given[name] = symbols(self.trace.input(name, size) if size else []).reshape(shape)
        return self.given[name]

    def run(self, op: str, *arrays: Any) -> Any:
        if not self.m.nv:
            raise ValueError(f"{op}: nothing of the model moves, and the engine has no operations of it")
        row = self.model.row(op)
        if row.given and len(arrays) > len(row.inputs):  # with its optional inputs it is another row
            op = row.given
        found = State(self.model, self.trace, [], []).run(op, *arrays)
        return found if isinstance(found, tuple) else (found,)

    def sensed(self) -> Any:
        """Of all sensors, then potential and kinetic energy."""
        names = ("qpos", "qvel", "qacc", "act", "ctrl", "time", "xfrc_applied")
        return self.run("sensors", *map(self.state, names))[0]

    def energy(self) -> Any:
        if not self.m.nv:
            off = int(self.m.opt.disableflags) & NO_GRAVITY
            weights = [mass * dot(self.of("opt.gravity"), p) for mass, p in zip(self.of("body_mass"), self.xipos())]
            return vector(0.0 if off else -sum(weights), 0.0)
        return self.sensed()[self.m.nsensordata :]

    def measured(self, stage: int) -> dict[int, Any]:
        """First column in sensordata -> numbers, of the sensors of a stage that are known."""
        m, frames = self.m, Frames(self)
        if int(m.opt.disableflags) & NO_SENSORS:
            return {}
        chosen = [i for i in range(m.nsensor) if m.sensor_needstage[i] == stage]
        moving = [i for i in chosen if (on_mocap(m, i) or not m.nv) and int(m.sensor_type[i]) in STATIC]
        found = {int(m.sensor_adr[i]): cut_off(m, i, frames.measured(i)) for i in moving}
        others = [i for i in chosen if i in self.sensors and i not in moving]
        if others:
            sensed = self.sensed()
            found.update({rows.start: sensed[rows] for rows in rows_of(m, others)})
        return found
