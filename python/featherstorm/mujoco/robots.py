"""The robot of a compiled model with its world; features and fields of mjData that a batch does not have, and the reasons."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from mujoco.batch import DATA_FIELDS as MUJOCO_FIELDS

from .. import _featherstorm
from .._fields.constraints import CONNECT, WELD
from .._fields.sensors import (
    BY_LOOPS,
    NO_SENSORS,
    RANGEFINDER,
    adheres_by_loops,
    adhering,
    body_of,
    carried_by_mocap,
    is_by_frames,
    name_of,
    on_mocap,
    open_sensors,
    tendons_pull,
)
from .._fields.table import DATA_FIELDS, INTEGERS, MODEL_FIELDS
from .._robot.mjcf import LEFT_OUT, Names, tables, tree_from_mujoco
from .._robot.model_files import expect_indices, measurable, with_sensors
from .arguments import nearest

SITE_OF_TENDON = int(mujoco.mjtWrap.mjWRAP_SITE)
OBSTACLES = {int(mujoco.mjtWrap.mjWRAP_SPHERE), int(mujoco.mjtWrap.mjWRAP_CYLINDER)}
AT_SITES = {int(mujoco.mjtTrn.mjTRN_SITE), int(mujoco.mjtTrn.mjTRN_SLIDERCRANK)}


def refuse(m: Any) -> None:
    """Raise an error for features that the engine cannot simulate."""
    for count, what in (
        ("nflex", "flexible bodies (flex)"),
        ("nplugin", "plugins"),
    ):
        if getattr(m, count):
            raise ValueError(f"the model has {what}, which are not supported")
    if getattr(m, "nplastic", 0):
        raise ValueError("the model has plastic springs (springyield), which are not supported")
    if not 0 <= m.opt.solver <= 2:
        raise mujoco.FatalError(f"mj_fwdConstraint: unknown solver type {m.opt.solver}")


def mocap_acts(m: Any) -> bool:
    """Return whether the motion or a measured sensor depends on the poses of mocap bodies."""
    if not m.nmocap:
        return False
    carried = carried_by_mocap(m)
    bodies: list[int] = []
    for e in range(m.neq):
        if int(m.eq_type[e]) in (CONNECT, WELD):
            bodies += [body_of(m, int(m.eq_objtype[e]), int(k)) for k in (m.eq_obj1id[e], m.eq_obj2id[e])]
    for w in range(m.nwrap):
        if int(m.wrap_type[w]) == SITE_OF_TENDON:
            bodies.append(int(m.site_bodyid[m.wrap_objid[w]]))
        if int(m.wrap_type[w]) in OBSTACLES:
            bodies.append(int(m.geom_bodyid[m.wrap_objid[w]]))
            if m.wrap_prm[w] >= 0:
                bodies.append(int(m.site_bodyid[round(m.wrap_prm[w])]))  # the side site
    for a in range(m.nactuator):
        if int(m.actuator_trntype[a]) in AT_SITES:
            bodies += [int(m.site_bodyid[k]) for k in m.actuator_trnid[a] if k >= 0]
    of_places = [is_by_frames(m, i) or int(m.sensor_type[i]) == RANGEFINDER for i in range(m.nsensor)]
    if any(on_mocap(m, i) and not of_places[i] for i in range(m.nsensor)):
        return True
    paired = {int(g) for g in (*m.pair_geom1, *m.pair_geom2)}
    for g in range(m.ngeom):
        if m.geom_contype[g] or m.geom_conaffinity[g] or g in paired:
            bodies.append(int(m.geom_bodyid[g]))
    return bool(carried[bodies].any()) if bodies else False


class WorldRobot:
    """The robot of a compiled model, with its world.

    robot      with sensors of its energies after its own
    sensors    numbers of the sensors that it measures
    unknown    sensor -> reason why it is not supported
    left_out   a sentence for each other feature of the model that is ignored
    read       fields of the model that the world depends on
    """

    def __init__(self, m: Any) -> None:
        expect_indices(m, "model")
        refuse(m)
        base = tree_from_mujoco(m)
        names = Names(m)
        arrays = tables(m)
        without_sensors = bool(int(m.opt.disableflags) & NO_SENSORS)
        if without_sensors:
            arrays["opt.disableflags"] = arrays["opt.disableflags"] - NO_SENSORS

        self.read: set[str] = set()

        def world(sensors: list[int]) -> _featherstorm.Robot:
            read: list[str] = []
            some = with_sensors(m, arrays, sensors, energy=True)
            robot = base.with_world(some, names.body, names.joint, read=read)
            self.read.update(read)
            if not robot.has_world:
                raise ValueError(robot.notices[-1].removeprefix(LEFT_OUT))
            return robot

        self.unknown = open_sensors(m, world([]) if adhering(m) else base)
        apart = [int(m.sensor_type[i]) == RANGEFINDER or is_by_frames(m, i) for i in range(m.nsensor)]
        keep = [i for i in range(m.nsensor) if not (i in self.unknown or apart[i] or without_sensors)]
        self.robot, self.sensors, refused = measurable(world, keep)
        self.unknown.update(refused)
        self.left_out = self.robot.notices[len(base.notices) :]


def sentences(m: Any, left_out: list[str], unknown: dict[int, str]) -> list[str]:
    """Return a sentence for each feature that a simulation ignores."""
    if not unknown:
        return left_out
    some = ", ".join(f"{name_of(m, i)} ({why})" for i, why in list(unknown.items())[:4])
    return [*left_out, f"sensors are NaN in sensordata: {some}" + (", ..." if len(unknown) > 4 else "")]


def still_robot() -> _featherstorm.Robot:
    """Make a robot for models in which nothing moves: the engine does not support robots without joints."""
    builder = _featherstorm.RobotBuilder("still")
    builder.add_link("link", 1.0, [0, 0, 0], np.eye(3).tolist())
    builder.add_joint("joint", "revolute", "", "link")
    return builder.build([])


# prefixes of names, and the reason
REASONS = (
    ("flex", "flexible bodies are not supported"),
    ("plugin", "plugins are not supported"),
    (("nJ", "nA"), "the engine has other matrices"),
    (
        ("nisland", "nidof", "tree_", "body_awake", "dof_awake", "parent_awake"),
        "the engine has no islands and no sleep",
    ),
    (("solver_nnz", "solver_fwdinv"), "the engine's solver is another one"),
    (("qLD", "qH", "qLU", "qDeriv", "qfrc_inverse"), "the engine keeps no factors and no inverse dynamics"),
    (("actuator_moment", "moment_"), "the engine keeps no moments of actuators; batch.jac has Jacobians"),
    (("wrap_", "ten_wrap"), "the engine keeps no paths of tendons"),
    ("qfrc_adhesion", "adhesion is not supported"),
    ("bvh_", "the engine has no bounding volumes"),
)


# fields that depend on the moments of actuators
OF_ACTUATORS = frozenset(
    "actuator_length actuator_velocity act_dot actuator_force qfrc_actuator qfrc_smooth qacc_smooth".split()
)
SCALARS = [name for name in INTEGERS if name != "solver_niter"]


def not_of_this_model(m: Any, name: str, robot: _featherstorm.Robot) -> str | None:
    """Return the reason why a supported field is not available for a model; None if it is."""
    if name in ("cfrc_ext", "cfrc_int") and tendons_pull(m):
        return f"{name} is not computed of models with spatial tendons: it needs their forces on bodies"
    if name in OF_ACTUATORS and adheres_by_loops(m, robot):
        return f"{name} is not computed of models with {BY_LOOPS}, which the step alone runs"
    return None


def why_not(m: Any, name: str) -> str:
    """Return the reason why `bind` refuses a name."""
    data = mujoco.MjData(m)
    if name in MUJOCO_FIELDS:
        for words, reason in REASONS:
            if name.startswith(words):
                return f"{name} is not computed: {reason}"
        return f"{name} is not computed"
    if name in MODEL_FIELDS:
        return f"{name} is an MjModel field: use expand({name!r})"
    value = getattr(data, name, None)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{name} is not one of the MjData scalars bind() accepts: {', '.join(sorted(SCALARS))}"
    if isinstance(value, np.ndarray):
        return f"{name} is in the arena, whose size changes from step to step, and cannot be bound"
    if "opt." + name in MODEL_FIELDS:
        return f"{name} is not an MjData array field; it is an MjOption field: use expand('opt.{name}')"
    return f"{name} is not an MjData array field{nearest(name, DATA_FIELDS)}"
