"""Readings of a Simulation in the world of a model file: sensors, sites, forces and reports of contacts."""

from __future__ import annotations

from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm, _fields
from ..symbols import symbols, values_of
from .passes import STATE, Reporter, WorldReport
from .state import SolveQuantities, WorldState, contact_place, is_at_solve, measured_apart, measured_size
from .values import compiled, number_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from .._fields.apart import SensorsApart
    from .._memory.host_libraries import Library
    from .._robot.closures import Rigid
    from ..model import Model
    from .state import FieldFunction


class WorldReadings:
    """Readings of one simulation.

    model   with the current poses of mocap bodies
    native  the engine's simulation, of `instances`
    bound   memory of the model's parameters by name
    """

    def __init__(
        self,
        model: Model,
        dtype: str,
        instances: int,
        native: _featherstorm.Simulation,
        library: Library,
        bound: dict[str, Any],
    ) -> None:
        self.model, self.dtype, self.instances = model, dtype, instances
        self.native, self.library, self.bound = native, library, bound
        self.made: dict[str, _featherstorm.WorldReading] = {}
        self.reporter: Reporter | None = None

    def measured(self, what: str, size: int, traced: Callable[[], Any], at_solve: bool) -> Any:
        """Return the numbers (instances, size) of a traced program, which is made once for each `what`."""
        if what not in self.made:
            self.made[what] = _featherstorm.WorldReading(self.model.evaluator, self.dtype, traced(), at_solve)
        return self.library.view(self.native.measure(self.made[what]), self.dtype, self.instances, [size])

    def found(self, what: str, size: int, function: FieldFunction) -> Any:
        """Return quantities at the beginning of the last substep, (instances, size)."""

        def traced() -> Any:
            quantities = SolveQuantities(self.model)
            quantities.add("found", size, function)
            return quantities.record(0.0)

        return self.measured(what, size, traced, True)

    def current(self, what: str, size: int, function: Callable[[WorldState], Any]) -> Any:
        """Return quantities that follow from the state, (instances, size)."""

        def traced() -> Any:
            with closing(_featherstorm.Trace()) as trace:
                x = WorldState.of(self.model, trace, symbols(trace.input("t", 1, True))[0], SolveQuantities(self.model))
                trace.output("found", values_of(function(x), what, size))
            return trace

        return self.measured(what, size, traced, False)

    def site(self, name: str | int) -> Any:
        _, k = number_of(self.model, "site", name)
        return self.current(f"site{k}", 3, lambda x: x.site(k))

    def contact_force(self, name: str | int, kind: str | None) -> Any:
        kind, k = contact_place(self.model, name, kind)
        return self.found(f"contact_force_{kind}{k}", 3, lambda fields: fields.contact_force(kind, k))

    def sensor(self, name: str | int) -> Any:
        _, k = number_of(self.model, "sensor", name)
        size = measured_size(self.model, k)
        if measured_apart(self.model, k):
            first = int(compiled(self.model).sensor_adr[k])
            return self.library.placed(self.apart()[:, first : first + size])
        if is_at_solve(compiled(self.model), k):
            return self.found(f"sensor{k}", size, lambda fields: fields.sensor(k))
        return self.current(f"sensor{k}", size, lambda x: x.sensor(k))

    def apart(self) -> npt.NDArray[Any]:
        """sensordata (instances, nsensordata) with the numbers of range finders and of distances that loops find."""
        m = compiled(self.model)

        def pose(name: str) -> npt.NDArray[np.float64]:
            tail = (3, 3) if name.endswith("mat") else (3,)
            count = {"geom": m.ngeom, "site": m.nsite, "cam": m.ncam}[name.split("_")[0]]
            flat = self.current(name, count * int(np.prod(tail)), lambda x: x.instance().field(name))
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

    def report(self, law: Rigid | None) -> WorldReport:
        if self.reporter is None:
            self.reporter = Reporter(self.model, self.dtype, law)
        given = {**dict(zip(STATE, self.native.buffers())), **self.bound, "ctrl": self.native.controls}
        if self.native.applied is not None:
            given["qfrc_applied"] = self.native.applied
        return self.reporter.of(self.instances, given, self.library)
