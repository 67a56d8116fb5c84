"""The state of an environment's robot as seen by its functions, with rays for range finders and height scans."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm, _fields
from .._optional import mujoco
from .._world.state import SolveQuantities, WorldState, contact_place
from .._world.values import compiled, number_of
from ..symbols import Symbols, bare, symbols, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._fields.instance import Instance
    from ..model import Model
    from ..typing import Names


def cast(x: Any, point: Any, direction: Any, geoms: Sequence[str | int], far: float) -> Any:
    """Cast a ray; see EnvironmentState.ray."""
    m, fields = compiled(x.model), x.instance()
    position, turn, sizes = fields.field("geom_xpos"), fields.field("geom_xmat"), fields.of("geom_size")
    p, v = np.asarray(point, object), np.asarray(direction, object)
    if p.shape != (3,) or v.shape != (3,):
        raise ValueError(f"x.ray: point has shape {p.shape}, direction {v.shape}, expected (3,) each")
    kind = type(x.q)
    p, v, found = p.view(kind), v.view(kind), far
    for name in geoms:
        _, k = number_of(x.model, "geom", name)
        if int(m.geom_type[k]) not in _featherstorm.closed_rays:
            raise ValueError(f"x.ray: geom {name} is no plane, sphere, capsule, ellipsoid, cylinder or box")
        axes = np.asarray(turn[k], object).reshape(3, 3).view(kind)
        place = np.asarray(position[k], object).view(kind)
        given = [[bare(number) for number in y] for y in (sizes[k], axes.T @ (p - place), axes.T @ v)]
        found = np.minimum(found, symbols([fields.trace.ray(int(m.geom_type[k]), *given)])[0])
    return found


class EnvironmentState(WorldState):
    """A world.state.WorldState with further members.

    x.time () [s], x.steps ()   since the episode began
    x.field(name)               a field of mjData by MuJoCo's name, of its shape. Fields of positions and velocities
                                belong to the state itself; forces, accelerations and counts of contacts (ncon, nefc) to
                                the beginning of the last substep
    x.left(name)                a field as mj_step leaves it in mjData: of the last evaluation of the equations of
                                motion, which is at the beginning of the last substep, with RK4 at its last stage
    x.ray(point, direction, geoms, far)   distance along a ray (3,), (3,) to the first of some geoms, by name or number;
                                          [lengths of
                                direction], at most `far`. Planes are seen from above, others from both sides, in closed
                                form
    x.parameter(name)           a parameter of the model (Env.parameters) as drawn
    x.contact_force(name, other=...)   (3,) [N] of contacts with another geom alone, by its name or number
    x.touches(name, other)      () 1 where a geom had a contact with another, or with any, at the beginning of the last
                                substep, else 0, like MuJoCo's contact sensor
    """

    steps: Any
    at_last_stage: SolveQuantities
    begins: bool

    def begin(self, steps: Any, at_last_stage: SolveQuantities) -> EnvironmentState:
        self.steps, self.at_last_stage, self.begins = steps, at_last_stage, False
        return self

    def field(self, name: str) -> Any:
        shape = self.shape_of(name)
        if is_of_forces(name):
            found = self.quantity(f"field_{name}", math.prod(shape), lambda fields: fields.field(name))
        else:
            found = symbols(values_of(self.instance().field(name), name, math.prod(shape)))
        return found.reshape(shape)

    def left(self, name: str) -> Any:
        shape, size = self.shape_of(name), math.prod(self.shape_of(name))
        self.check_solved()
        if self.begins:
            return self.found(size, lambda fields: fields.field(name)).reshape(shape)
        array = self.at_last_stage.add(f"left_{name}", size, lambda fields: fields.field(name))
        return self.input(array, size).reshape(shape)

    def ray(self, point: Any, direction: Any, geoms: Names | Sequence[int], far: float = 100.0) -> Any:
        names: Sequence[str | int] = [geoms] if isinstance(geoms, (str, int)) else list(geoms)
        return cast(self, point, direction, names, far)

    def shape_of(self, name: str) -> tuple[int, ...]:
        known = _fields.table.STAGES
        if name not in known:
            raise ValueError(f"x.field: mjData has no field '{name}' that is computed; there are {', '.join(known)}")
        data = self.model.__dict__.setdefault("_mjdata", None) or mujoco.MjData(self.model.compiled)
        self.model.__dict__["_mjdata"] = data
        return tuple(np.shape(getattr(data, name)))

    def parameter(self, name: str) -> Any:

        if name not in self.inputs or name not in self.model.parameters:
            known = ", ".join(self.model.parameters) or "none"
            raise ValueError(f"x.parameter: '{name}' is no parameter of the environment; there are: {known}")
        return self.inputs[name].reshape(tuple(_featherstorm.parameter_shape(self.model.robot, name)))

    def touches(self, name: str | int, other: str | int | None = None) -> Any:
        _, geom = number_of(self.model, "geom", name)
        second = None if other is None else number_of(self.model, "geom", other)[1]

        what = f"touches{geom}_{'' if second is None else second}"
        return np.minimum(self.quantity(what, 1, lambda fields: fields.selected("geom", geom, second)[3:])[0], 1.0)

    def contact_force(self, name: str | int, kind: str | None = None, other: str | int | None = None) -> Symbols:
        if other is None:
            return super().contact_force(name, kind)
        place, index = contact_place(self.model, name, kind)
        second = number_of(self.model, "geom", other)[1]

        what = f"contact_force_{place}{index}_{second}"
        return symbols(self.quantity(what, 3, lambda fields: fields.selected(place, index, second)[:3]))

    def quantity(self, what: str, size: int, function: Callable[[Instance], Any]) -> Any:
        self.check_solved()
        if self.begins:
            return self.found(size, function)
        return super().quantity(what, size, function)

    def check_solved(self) -> None:
        """Raise ValueError where a substep is still to come, so that its forces are not known."""
        if not self.has_ctrl:
            raise ValueError(
                "actuate and adapt run before a substep, which finds forces, accelerations and contacts: expected that "
                "reward, terminate, after or observe read these, and keep in the memory m what actuate needs"
            )

    def found(self, size: int, function: Callable[[Instance], Any]) -> Symbols:
        """Return a quantity of the solution.

        Zeros at the beginning of an episode, without contacts and accelerations.
        """
        fields = self.instance()
        fields.at_rest = True
        return symbols(values_of(function(fields), "a field", size))


class BeginningState(EnvironmentState):
    """The state at the beginning of an episode; controls are zero."""

    @property
    def ctrl(self) -> Symbols:
        return symbols([0.0] * self.model.n_ctrl)


def beginning(
    model: Model, trace: _featherstorm.Trace, parts: list[Any], parameters: dict[str, Symbols]
) -> BeginningState:
    """Return the state that a reset made."""
    clock = symbols([0.0])[0]
    x = BeginningState.made(
        model, trace, parts, np.asarray(clock, dtype=object), SolveQuantities(model), inputs=parameters
    )
    x.begin(0.0, SolveQuantities(model))
    x.begins = True
    return x


def is_of_forces(name: str) -> bool:
    return _fields.table.STAGES[name] == _fields.table.ACC or name in _fields.table.OF_CONTACTS
