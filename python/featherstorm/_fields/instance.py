"""One simulation whose numbers are not known yet: the functions of all fields take it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..symbols import State, symbols, values_of
from .constraints import COUNT, LINK, SELECTED, SELECTION, SENSOR, Contacts, is_reading, row_count
from .forces import NO_GRAVITY
from .positions import dot, vector
from .sensors import (
    LIMIT_FORCES,
    NO_SENSORS,
    OF_BODIES,
    OF_CONTACTS,
    Frames,
    cut_off,
    is_by_frames,
    remembered,
    rows_of,
)
from .table import ACC, POS, VEL

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from .. import _featherstorm
    from ..model import Model

# what the solver finds beside the readings of contacts
SOLVED = ("qacc", "qacc_smooth", "qfrc_constraint", "row_force", "passes")


SLACK = 1e-15  # mjMINVAL
# names of fields of poses -> the property that has the poses; those of their parts
POSES = {"x": "bodies", "xi": "inertial", "geom_x": "geoms", "site_x": "sites"}
ATTRIBUTES = {"pos": "position", "quat": "quaternion", "mat": "rotation"}
OF_POSES = {f"{a}{b}": (of, part) for a, of in POSES.items() for b, part in ATTRIBUTES.items()}
# fields that are found together: a property, or an operation (Forces.OPERATIONS) -> its results, "": none of mjData
TOGETHER = {
    "kinematics": " xanchor xaxis", "cameras": "cam_xpos cam_xmat", "lights": "light_xpos light_xdir",
    "velocities": "cvel cdof_dot", "subtrees": "subtree_linvel subtree_angmom", "tendons": "ten_length ten_velocity",
    "actuators": "actuator_length actuator_velocity act_dot actuator_force qfrc_actuator",
    "passive_forces": "qfrc_spring qfrc_damper qfrc_gravcomp qfrc_fluid", "mass_and_bias": " qfrc_bias",
}  # fmt: skip
RESULTS = {name: (of, k) for of, names in TOGETHER.items() for k, name in enumerate(names.split(" ")) if name}


class Instance(Contacts):
    """All computed fields of mjData, by MuJoCo's names (`field`).

    m         the compiled model
    model     the engine's of it
    sensors   those that the engine measures
    active    which equalities act
    varied    fields of the model that differ between simulations
    shapes    name -> shape of what may be given: fields of the state and varied ones, and what the solver finds
    slack     times of samples of a history that are closer are the same [s]; rounding of the time in float32 is less
    given     name -> symbols of what the fields that were asked for take
    at_rest   whether nothing is solved for yet: what the solver finds is zero
    """

    at_rest = False

    def __init__(
        self,
        m: Any,
        model: Model,
        sensors: list[int],
        active: npt.NDArray[np.bool_],
        shapes: dict[str, tuple[int, ...]],
        trace: _featherstorm.Trace,
        varied: tuple[str, ...] = (),
        dtype: str = "float64",
    ) -> None:
        self.m, self.model, self.sensors, self.active, self.shapes = m, model, sensors, active, shapes
        self.trace, self.varied = trace, varied
        self.switched = "eq_active" in model.parameters
        self.packed = model.row_start, model.column
        self.pairs = model.robot.contact_pairs
        self.given: dict[str, Any] = {}
        self.slack = SLACK if dtype == "float64" else float(m.opt.timestep) / 64

    def state(self, name: str) -> Any:
        if name not in self.given:
            shape = (SELECTED,) if name.startswith(SELECTION) else self.shapes[name]
            size = int(np.prod(shape))
            if self.at_rest and (name in SOLVED or is_reading(name)):
                self.given[name] = np.zeros(shape)
                return self.given[name]
            self.given[name] = symbols(self.trace.input(name.replace(".", "_"), size) if size else []).reshape(shape)
        return self.given[name]

    def of(self, name: str) -> Any:
        return self.state(name) if name in self.varied else super().of(name)

    def field(self, name: str) -> Any:
        """A computed field of mjData, flat or in rows."""
        if name in OF_POSES:
            of, part = OF_POSES[name]
            return [getattr(pose, part) for pose in getattr(self, of)]
        if name in RESULTS:
            of, k = RESULTS[name]
            return (self.found(of) if of in self.OPERATIONS else getattr(self, of))[k]
        return self.state(name) if name == "qacc" else getattr(self, name)

    def run(self, op: str, *arrays: Any) -> Any:
        if not self.m.nv:
            raise ValueError(f"{op}: nothing of the model moves, and the engine has no operations of it")
        row = self.model.row(op)
        parameters = self.model.parameters
        if row.given and len(arrays) > len(row.inputs) - len(parameters):  # with its optional inputs it is another row
            op = row.given
        state = State(self.model, self.trace, [], [])
        state.parameters = [self.state(name.replace("opt_", "opt.")).ravel().tolist() for name in parameters]
        found = state.run(op, *arrays)
        return found if isinstance(found, tuple) else (found,)

    def sensed(self, sensors: Iterable[int]) -> Any:
        """Return the numbers of all sensors, then potential and kinetic energy where the robot has sensors of them.

        sensors: those whose numbers are read; of the solver's results only those that they need are inputs.
        """
        m, kinds = self.m, {int(self.m.sensor_type[i]) for i in sensors}
        needs_acceleration = any(int(m.sensor_needstage[i]) == ACC for i in sensors)
        names = ("qpos", "qvel", "qacc", "act", "ctrl", "time", "xfrc_applied")
        given = [np.zeros(m.nv) if n == "qacc" and not needs_acceleration else self.state(n) for n in names]
        row_force, links, touched = (np.zeros(self.shapes[name]).ravel() for name in ("row_force", LINK, SENSOR))
        if kinds & OF_BODIES:
            row_force, links = self.forces_on_bodies
        if kinds & LIMIT_FORCES:
            row_force = self.state("row_force")
        if kinds & OF_CONTACTS and self.pairs:
            touched = self.state(SENSOR)
        return self.run("sensors", *given, row_force, links, touched)[0]

    def sensor(self, i: int) -> Any:
        """Return the reading of one sensor, which must be supported."""
        m = self.m
        if is_by_frames(m, i):
            return cut_off(m, i, Frames(self).measured(i))
        return self.sensed([i])[next(iter(rows_of(m, [i])))]

    @property
    def energy(self) -> Any:
        if not self.m.nv:
            off = int(self.m.opt.disableflags) & NO_GRAVITY
            places = self.field("xipos")
            weights = [mass * dot(self.of("opt.gravity"), p) for mass, p in zip(self.of("body_mass"), places)]
            return vector(0.0 if off else -sum(weights), 0.0)
        return self.sensed([])[self.m.nsensordata :]

    def measured(self, stage: int) -> dict[int, Any]:
        """Return first column in sensordata -> numbers, of the known sensors of a stage.

        Old ones of those that are delayed.
        """
        found = self.fresh(stage)
        if old := {int(self.m.sensor_adr[i]) for i in remembered(self.m)} & set(found):
            told = self.run("delayed_sensors", self.state("history"), self.sensed_of(found), *self.now)[0]
            found.update({first: told[first : first + len(found[first])] for first in old})
        return found

    @property
    def now(self) -> tuple[Any, Any]:
        """The time, and how close times are the same [s]."""
        return self.state("time"), [self.slack]

    def sensed_of(self, found: dict[int, Any]) -> Any:
        """All numbers of sensors from those that are known; the others are zero."""
        numbers: list[Any] = [0.0] * self.model.robot.n_sensordata
        for first, x in found.items():
            numbers[first : first + len(x)] = values_of(x, "sensordata")
        return symbols(numbers)

    def history(self) -> Any:
        """The histories after a step, as core/actuation/histories.h moves them on."""
        found = {first: x for stage in (POS, VEL, ACC) for first, x in self.fresh(stage).items()}
        given = self.state("history"), self.state("raw_ctrl"), self.sensed_of(found)
        return self.run("advanced_histories", *given, *self.now)[0]

    def fresh(self, stage: int) -> dict[int, Any]:
        """First column in sensordata -> what the sensors of a stage measure, of those that are known."""
        m, frames = self.m, Frames(self)
        if int(m.opt.disableflags) & NO_SENSORS:
            return {}
        chosen = [i for i in range(m.nsensor) if m.sensor_needstage[i] == stage]
        moving = [i for i in chosen if is_by_frames(m, i)]
        found = {int(m.sensor_adr[i]): cut_off(m, i, frames.measured(i)) for i in moving}
        others = [i for i in chosen if i in self.sensors and i not in moving]
        if others:
            sensed = self.sensed(others)
            found.update({rows.start: sensed[rows] for rows in rows_of(m, others)})
        return found


def contact_shapes(m: Any, sensors: Iterable[int]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of readings of contacts. sensors: those that the engine measures."""
    if not m.nv:
        return {COUNT: (0,), LINK: (0, 9), SENSOR: (0,)}
    numbers = sum(int(m.sensor_dim[i]) for i in sensors if int(m.sensor_type[i]) in OF_CONTACTS)
    return {COUNT: (4,), LINK: (int(m.nbody), 9), SENSOR: (numbers,)}


def solved_shapes(m: Any, active: npt.NDArray[np.bool_]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the solver's results."""
    rows = row_count(m, active) if m.nv else 0
    sizes = {"qacc": m.nv, "qacc_smooth": m.nv, "qfrc_constraint": m.nv, "row_force": rows, "passes": 1 if m.nv else 0}
    return {name: (size,) for name, size in sizes.items()}
