"""Robots from MuJoCo: MJCF files through MuJoCo's own compiled model, never parsed here.

The robot has a tree built from that model, and carries the rest of the file as its world (core/world/world.h).

A body with several joints becomes a chain of massless bodies in the order of its joints, each with its frame at the
joint's anchor. Coordinates are MuJoCo's: q = qpos, v = qvel, so that M, bias and accelerations compare directly.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _featherstorm
from .._optional import mujoco
from .model_files import expect_files, expect_indices, is_framed_in_python, measurable, refuse_nan, with_sensors

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

MESH = 7  # mjGEOM_MESH
JOINT_TYPES = {0: "free", 1: "ball", 2: "prismatic", 3: "revolute"}  # mjtJoint


class ModelFile(NamedTuple):
    """The source of a robot.

    compiled    mujoco.MjModel, which must not be changed
    unmeasured  number of a sensor -> reason why it is not supported
    no_world    reason why the robot has no world, "" if it has one
    """

    compiled: Any
    unmeasured: dict[int, str]
    no_world: str = ""


def load_mjcf(path: str | os.PathLike[str], strict: bool = False) -> tuple[_featherstorm.Robot, ModelFile]:
    """Load the robot of an MJCF file.

    Errors: ImportError without the package mujoco, ValueError for unsupported elements, and for a file, among those
    that it names, that is a pipe or a device.
    """
    expect_files(path)
    try:
        compiled = mujoco.MjModel.from_xml_path(os.fspath(path))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    except RuntimeError as error:  # "Caught an unknown exception!" in MuJoCo 4.0, which keeps a lock
        raise ValueError(f"{path}: {error} MuJoCo may wait for ever at the next file of this process") from None
    name = os.path.splitext(os.path.basename(path))[0]
    return robot_from_mujoco(compiled, name, strict)


def robot_from_mujoco(m: Any, name: str = "robot", strict: bool = False) -> tuple[_featherstorm.Robot, ModelFile]:
    """Make a Robot with its world from a compiled MjModel; `notices` of the result lists the omissions.

    An unsupported sensor is left out alone. Any other unsupported element leaves the world out. strict: both are
    errors.
    """
    expect_indices(m, name)
    names = Names(m)
    tree = tree_from_mujoco(m, name, strict)
    # sensors of cameras that turn by themselves are measured by algorithms in Python (_fields/sensors.py)
    arrays, sensors = tables(m), [i for i in range(m.nsensor) if not is_framed_in_python(m, i)]
    late = {
        i: f"sensor '{names.of('sensor', i)}': nsample, delay and interval are not supported here, expected "
        "featherstorm.mujoco.Batch"
        for i in sensors
        if m.sensor_history[i, 0] > 0
    }
    sensors = [i for i in sensors if i not in late]
    why = why_no_world(m) or (next(iter(late.values()), "") if strict else "")
    if strict:
        if why:
            raise ValueError(f"{name}: {why}")
        return tree.with_world(arrays, names.body, names.joint, True), ModelFile(m.__copy__(), {})

    def world(kept: list[int]) -> _featherstorm.Robot:
        some = arrays if len(kept) == m.nsensor else with_sensors(m, arrays, kept)
        robot = tree.with_world(some, names.body, names.joint)
        if not robot.has_world:
            raise ValueError(robot.notices[-1].removeprefix(LEFT_OUT))
        return robot

    try:
        if why:
            raise ValueError(why)
        robot, _, refused = measurable(world, sensors)
        unmeasured = {**late, **refused}
    except ValueError as error:
        said = [*world_notices(m, names), f"{LEFT_OUT}{error}"]
        return tree_from_mujoco(m, name, False, said), ModelFile(m.__copy__(), {}, str(error))
    if unmeasured:
        said = [f"sensor {names.of('sensor', i)} is not measured: {why}" for i, why in unmeasured.items()]
        tree = tree_from_mujoco(m, name, False, said)
        robot = world([i for i in sensors if i not in unmeasured])
    return robot, ModelFile(m.__copy__(), unmeasured)


LEFT_OUT = "the file's world is left out: "


def tree_from_mujoco(
    m: Any, name: str = "robot", strict: bool = False, more: Iterable[str] = ()
) -> _featherstorm.Robot:
    """Make the robot without its world, with additional notices."""
    refuse(m, name)
    builder = _featherstorm.RobotBuilder(name)
    gravity_off = int(m.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    builder.set_gravity([0.0, 0.0, 0.0] if gravity_off else list(m.opt.gravity))
    names = Names(m)
    for body in range(1, m.nbody):
        add_body(builder, m, names, body)
    for site in range(m.nsite):
        link = names.body[m.site_bodyid[site]]
        if link:  # sites of the world do not move
            builder.add_frame(names.site[site], link, rotation(m.site_quat[site]).tolist(), list(m.site_pos[site]))
    return builder.build([*tree_notices(m, names), *more], strict=strict)


def why_no_world(m: Any) -> str:
    """Return the reason why steps cannot simulate a model's world; "" if they can."""
    if m.nplugin:
        return "plugins are not supported"
    if np.any(m.actuator_delay):
        return "delays of actuators are not supported here, expected featherstorm.mujoco.Batch"
    return ""


# Tables of limits with sides that may be infinite, and the number used instead: traced constants must be finite.
LIMITS, FAR = ("jnt_range", "tendon_range"), 1e10
# Fields of the compiled model that serve display alone.
UNUSED = ("bvh_", "flex", "light_", "mat_", "oct_", "path", "plugin", "skin_", "tex", "vis", "text_", "mesh_")
# Fields with the convex hulls of meshes, used where a mesh may touch.
HULLS = tuple(f"mesh_{name}" for name in ("vert", "vertadr", "vertnum", "graph", "graphadr")) + tuple(
    f"mesh_poly{name}" for name in ("adr", "num", "normal", "vert", "vertadr", "vertnum")
)


def collides(m: Any) -> npt.NDArray[np.bool_]:
    """Return for each geom whether it may touch another."""
    found = np.asarray((m.geom_contype | m.geom_conaffinity) != 0)
    found[[*m.pair_geom1, *m.pair_geom2]] = True
    return found


RANGEFINDER = 7  # mjSENS_RANGEFINDER
DISTANCES = (39, 40, 41)  # mjSENS_GEOMDIST, mjSENS_GEOMNORMAL, mjSENS_GEOMFROMTO
BODY = 1  # mjOBJ_BODY


def has_measured_distance(m: Any) -> npt.NDArray[np.bool_]:
    """Return for each geom whether a sensor measures its distance to other geoms."""
    found = np.zeros(m.ngeom, bool)
    for i in np.flatnonzero(np.isin(m.sensor_type, DISTANCES)):
        for kind, k in ((m.sensor_objtype[i], m.sensor_objid[i]), (m.sensor_reftype[i], m.sensor_refid[i])):
            found |= np.asarray(m.geom_bodyid) == k if kind == BODY else np.arange(m.ngeom) == k
    return found


def flat(m: Any, name: str) -> npt.NDArray[np.float64]:
    """Return the numbers of a field of a compiled model, or of "opt.NAME" of its options; characters as their codes."""
    values = getattr(m.opt, name[4:]) if name.startswith("opt.") else getattr(m, name)
    return np.ravel(np.asarray(np.frombuffer(values, np.uint8) if isinstance(values, bytes) else values, np.float64))


def tables(m: Any) -> dict[str, npt.NDArray[np.float64]]:
    """Return the numbers of a compiled model by name, flat; options as "opt.name", characters as their codes."""
    hulls = HULLS if ((collides(m) | has_measured_distance(m)) & (m.geom_type == MESH)).any() else ()
    rays = _featherstorm.ray_tables if RANGEFINDER in m.sensor_type else ()
    found = {}
    for of, prefix in ((m, ""), (m.opt, "opt.")):
        for name in dir(of):
            if name.startswith("_") or (of is m and name.startswith(UNUSED) and name not in hulls and name not in rays):
                continue
            values = getattr(of, name)
            is_array = isinstance(values, np.ndarray) and values.dtype.kind in "fiub"
            if is_array or isinstance(values, (int, float, bytes)):
                found[prefix + name] = flat(m, prefix + name)
    for name in LIMITS:
        found[name] = np.where(np.isinf(found[name]), np.sign(found[name]) * FAR, found[name])
    # parts of the state: active equalities, and poses of mocap bodies
    mocap = np.argsort(m.body_mocapid)[np.sort(m.body_mocapid) >= 0]
    found["eq_active"] = np.asarray(m.eq_active0, np.float64)
    found["mocap_pos"], found["mocap_quat"] = np.ravel(m.body_pos[mocap]), np.ravel(m.body_quat[mocap])
    return found


class Names:
    """Unique names of all bodies, joints and sites, also where the file gives none; "" is the world.

    Names of the file take precedence: a default name such as "joint1" yields to an element of that name. Bodies, sites
    and links share their names.

    link    of each joint, the link behind it where the body has another joint
    fixed   of each body, the joint between its last link and its own frame
    """

    def __init__(self, m: Any) -> None:
        def given(kind: str, index: int) -> str:
            return mujoco.mj_id2name(m, getattr(mujoco.mjtObj, "mjOBJ_" + kind.upper()), index) or ""

        def of(kind: str, index: int) -> str:
            return given(kind, index) or f"{kind}{index}"

        frames: set[str] = set()
        joints: set[str] = set()

        def unique(name: str, suffix: str, taken: set[str]) -> str:
            while name in taken:
                name += suffix
            taken.add(name)
            return name

        counts = {"body": m.nbody, "site": m.nsite, "joint": m.njnt}
        elements = [(kind, i) for kind, n in counts.items() for i in range(n)]
        found = {("body", 0): ""}
        for kind, i in sorted(elements[1:], key=lambda element: not given(*element)):
            found[kind, i] = unique(of(kind, i), "_" + kind, joints if kind == "joint" else frames)
        self.body, self.site, self.joint = ([found[kind, i] for i in range(n)] for kind, n in counts.items())
        self.link = [unique(name + "_joint_link", "_", frames) for name in self.joint]
        self.fixed = [unique(name + "_fixed", "_", joints) for name in self.body]
        self.of = of


def add_body(builder: _featherstorm.RobotBuilder, m: Any, names: Names, body: int) -> None:
    """Add one link per joint; a fixed joint attaches the body's own link where the anchor is not the body's origin."""
    name = names.body[body]
    principal = rotation(m.body_iquat[body])
    inertia = principal @ np.diag(m.body_inertia[body]) @ principal.T
    builder.add_link(name, m.body_mass[body], list(m.body_ipos[body]), symmetric(inertia).tolist())
    parent = names.body[m.body_parentid[body]]
    R, r = rotation(m.body_quat[body]), np.array(m.body_pos[body])
    joints = range(m.body_jntadr[body], m.body_jntadr[body] + m.body_jntnum[body])
    anchor = np.zeros(3)  # of the last joint, body axes
    for j in joints:
        kind = JOINT_TYPES[int(m.jnt_type[j])]
        at, axis = np.array(m.jnt_pos[j]), np.array(m.jnt_axis[j])
        if kind == "free":  # q is the pose itself
            builder.add_joint(names.joint[j], kind, "", name, **coordinates(m, j))
            return
        # the joint's frame at its anchor; at q = qpos0 the body has its pose of the file
        r, anchor = r + R @ (at - anchor), at
        reference = m.qpos0[m.jnt_qposadr[j]]
        if kind == "prismatic":
            r = r - R @ axis * reference
        elif kind == "revolute":
            R = R @ turn(axis, -reference)
        last = j == joints[-1] and not anchor.any()
        child = name if last else names.link[j]
        if not last:
            builder.add_link(child)
        builder.add_joint(names.joint[j], kind, parent, child, R.tolist(), list(r), list(axis), **coordinates(m, j))
        parent, R, r = child, np.eye(3), np.zeros(3)
    if parent != name:
        builder.add_joint(names.fixed[body], "fixed", parent, name, R.tolist(), list(r - R @ anchor))


def coordinates(m: Any, j: int) -> dict[str, Any]:
    """Return limits, damping, friction and armature of a joint, per coordinate."""
    n = {0: 6, 1: 3}.get(int(m.jnt_type[j]), 1)
    at_joint = sum(rotor * gear**2 for rotor, gear in rotors(m, (0, 1), j))
    dofs = slice(m.jnt_dofadr[j], m.jnt_dofadr[j] + n)
    values = {
        "damping": list(np.ravel(m.dof_damping[dofs])),
        "friction": list(np.ravel(m.dof_frictionloss[dofs])),
        "armature": [float(x) + at_joint for x in np.ravel(m.dof_armature[dofs])],
    }
    if n == 1 and m.jnt_limited[j]:
        values["lower"], values["upper"] = ([x] for x in m.jnt_range[j])
    if n == 1 and m.jnt_actfrclimited[j]:
        values["max_effort"] = [min(abs(x) for x in m.jnt_actfrcrange[j])]
    return values


def rotors(m: Any, transmissions: tuple[int, ...], target: int) -> Iterable[tuple[float, float]]:
    """Return (armature, gear) of the actuators that act on a joint or tendon and have an armature: new in MuJoCo 4."""
    for k in np.flatnonzero(getattr(m, "actuator_armature", [])):
        if m.actuator_trntype[k] in transmissions and m.actuator_trnid[k][0] == target:
            yield float(m.actuator_armature[k]), float(np.reshape(m.actuator_gear, (-1, 6))[m.actuator_outadr[k]][0])


def refuse(m: Any, name: str) -> None:
    """Raise ValueError for elements that would make M or the bias force wrong, and for numbers that are NaN."""
    if getattr(m, "nflex", 0):
        raise ValueError(f"{name}: flexible bodies (flex) are not supported")
    refuse_nan(m, name)


def tree_notices(m: Any, names: Names) -> list[str]:
    """Return the omissions in the tree of a model."""
    said = []
    mocap = [names.of("body", int(b)) for b in np.flatnonzero(m.body_mocapid >= 0)]
    if mocap:
        said.append(f"body {', '.join(shortened(mocap))}: mocap bodies stand where the file or a keyframe has them")
    inert = [names.of("tendon", t) for t in range(m.ntendon) if m.tendon_armature[t] or any(rotors(m, (3,), t))]
    if inert:
        said.append(
            f"tendon {', '.join(shortened(inert))}: operations on the tree (crba, rnea, aba, ...) leave the armature "
            "of tendons out"
        )
    return said


def world_notices(m: Any, names: Names) -> list[str]:
    """Return the omissions of a model whose world is left out, a sentence each."""
    said = []

    def say(kind: str, indices: Iterable[int], what: str) -> None:
        found = shortened([names.of(kind, int(i)) for i in indices])
        if found:
            said.append(f"{kind} {', '.join(found)}: {what}")

    say("equality", range(m.neq), "equality constraints are left out")
    springs = [j for j in range(m.njnt) if np.any(m.jnt_stiffness[j])]
    say("joint", springs, "joint springs are left out")
    ball_limits = [j for j in range(m.njnt) if m.jnt_limited[j] and m.jnt_type[j] == 1]
    say("joint", ball_limits, "limits of ball joints are left out")
    say("tendon", range(m.ntendon), "tendons are left out")
    say("actuator", range(m.nu), "actuators are left out; tau acts at the joints")
    say("body", np.flatnonzero(m.body_gravcomp), "gravity compensation is left out")
    if m.opt.density or m.opt.viscosity:
        said.append("forces of the surrounding medium are left out")
    if collides(m).any():
        said.append("contacts of geoms are left out")
    return said


def shortened(found: list[str]) -> list[str]:
    return found if len(found) <= 4 else [*found[:3], f"{len(found) - 3} more"]


def rotation(quat_wxyz: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the rotation matrix of a quaternion."""
    return rotations(np.atleast_2d(quat_wxyz) / np.linalg.norm(quat_wxyz))[0]


def rotations(quat_wxyz: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert unit quaternions (B, 4) to rotation matrices (B, 3, 3)."""
    w, x, y, z = quat_wxyz.T
    R = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(R), -1, 0)


def turn(axis: npt.ArrayLike, angle: float) -> npt.NDArray[np.float64]:
    """Return the rotation by an angle about a unit axis."""
    return rotation([np.cos(angle / 2), *(np.sin(angle / 2) * np.asarray(axis))])


def symmetric(inertia: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return (inertia + inertia.T) / 2
