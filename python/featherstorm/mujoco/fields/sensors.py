"""Sensors: which of them the engine measures, and frames on mocap bodies, whose pose is a part of the state.

What is not measured is NaN in sensordata, and a Notice says which and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .turns import product

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from .positions import Pose, Positions

Kind = mujoco.mjtSensor
NO_SENSORS = int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
# the engine's row gives zeros for these: they need what is not in it yet (core/sensor/readings.h, is_open)
OPEN = {
    Kind.mjSENS_TOUCH: "contacts",
    Kind.mjSENS_RANGEFINDER: "rays",
    Kind.mjSENS_JOINTLIMITPOS: "forces of limits",
    Kind.mjSENS_JOINTLIMITVEL: "forces of limits",
    Kind.mjSENS_JOINTLIMITFRC: "forces of limits",
    Kind.mjSENS_TENDONLIMITPOS: "forces of limits",
    Kind.mjSENS_TENDONLIMITVEL: "forces of limits",
    Kind.mjSENS_TENDONLIMITFRC: "forces of limits",
}
BETWEEN_LINKS = (Kind.mjSENS_FORCE, Kind.mjSENS_TORQUE)
JOINING = (mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD)
AXES = (Kind.mjSENS_FRAMEXAXIS, Kind.mjSENS_FRAMEYAXIS, Kind.mjSENS_FRAMEZAXIS)
STATIC = (Kind.mjSENS_FRAMEPOS, Kind.mjSENS_FRAMEQUAT, *AXES)
WITHOUT_FRAME = (Kind.mjSENS_CLOCK, Kind.mjSENS_E_POTENTIAL, Kind.mjSENS_E_KINETIC)
Object = mujoco.mjtObj
FRAMES = (Object.mjOBJ_BODY, Object.mjOBJ_XBODY, Object.mjOBJ_GEOM, Object.mjOBJ_SITE, Object.mjOBJ_CAMERA)


def rows_of(m: Any, sensors: Iterable[int]) -> list[slice]:
    """Where sensors are in sensordata."""
    return [slice(m.sensor_adr[i], m.sensor_adr[i] + m.sensor_dim[i]) for i in sensors]


def name_of(m: Any, sensor: int) -> str:
    return mujoco.mj_id2name(m, Object.mjOBJ_SENSOR, sensor) or f"sensor{sensor}"


def open_sensors(m: Any) -> dict[int, str]:
    """Sensors that the engine reads and has no numbers for, with what is missing."""
    found = {i: OPEN[Kind(t)] for i, t in enumerate(m.sensor_type) if Kind(t) in OPEN}
    joined = any(t in JOINING for t in m.eq_type)
    for i, t in enumerate(m.sensor_type):
        if joined and t in BETWEEN_LINKS:
            found[i] = "forces of equalities that join two bodies"
        if t not in STATIC and (on_mocap(m, i) or not m.nv):
            found[i] = "velocities and accelerations of bodies that do not move by themselves"
    return found


def carried_by_mocap(m: Any) -> npt.NDArray[np.bool_]:
    """(nbody) whether a body is a mocap body or fixed to one."""
    found = np.asarray(m.body_mocapid) >= 0
    for b in range(1, m.nbody):
        found[b] |= found[m.body_parentid[b]]
    return found


def body_of(m: Any, kind: int, index: int) -> int:
    """The body that carries an object; 0 for what is none that a body carries."""
    if index < 0 or kind not in FRAMES:
        return 0
    if kind in (Object.mjOBJ_BODY, Object.mjOBJ_XBODY):
        return int(index)
    table = {Object.mjOBJ_GEOM: m.geom_bodyid, Object.mjOBJ_SITE: m.site_bodyid, Object.mjOBJ_CAMERA: m.cam_bodyid}
    return int(table[Object(kind)][index])


def on_mocap(m: Any, sensor: int) -> bool:
    """Whether what a sensor measures, or what it is measured in, is on a mocap body."""
    if not m.nmocap:
        return False
    carried = carried_by_mocap(m)
    at = (m.sensor_objtype[sensor], m.sensor_objid[sensor]), (m.sensor_reftype[sensor], m.sensor_refid[sensor])
    return bool(any(carried[body_of(m, int(kind), int(index))] for kind, index in at))


class Frames:
    """Objects of frame sensors in a text of one simulation."""

    def __init__(self, instance: Positions) -> None:
        self.instance, self.m = instance, instance.m

    def pose(self, kind: int, index: int) -> Pose:
        instance = self.instance
        if kind == Object.mjOBJ_XBODY:
            return instance.bodies[index]
        if kind == Object.mjOBJ_BODY:
            return instance.inertial[index]
        if kind == Object.mjOBJ_GEOM:
            return instance.geoms[index]
        if kind == Object.mjOBJ_SITE:
            return instance.sites[index]
        return instance.fixed_to_bodies(self.m.cam_bodyid, "cam_pos", "cam_quat")[index]

    def measured(self, sensor: int) -> Any:
        """What a sensor of STATIC measures, before it is cut off."""
        m, kind = self.m, m_kind(self.m, sensor)
        pose = self.pose(m.sensor_objtype[sensor], m.sensor_objid[sensor])
        relative = m.sensor_refid[sensor] >= 0
        other = self.pose(m.sensor_reftype[sensor], m.sensor_refid[sensor]) if relative else None
        if kind == Kind.mjSENS_FRAMEQUAT:
            if other is None:
                return pose.quaternion
            return product(other.quaternion * np.array([1.0, -1.0, -1.0, -1.0]), pose.quaternion)
        if kind == Kind.mjSENS_FRAMEPOS:
            return pose.position if other is None else other.rotation.T @ (pose.position - other.position)
        axis = pose.rotation[:, AXES.index(kind)]
        return axis if other is None else other.rotation.T @ axis


def m_kind(m: Any, sensor: int) -> Any:
    return Kind(m.sensor_type[sensor])


def cut_off(m: Any, sensor: int, values: Any) -> Any:
    """As MuJoCo cuts off: reals both ways, positive numbers above, axes and quaternions not at all."""
    cutoff = float(m.sensor_cutoff[sensor])
    kind = m.sensor_datatype[sensor]
    if cutoff <= 0 or kind not in (mujoco.mjtDataType.mjDATATYPE_REAL, mujoco.mjtDataType.mjDATATYPE_POSITIVE):
        return values
    low = -cutoff if kind == mujoco.mjtDataType.mjDATATYPE_REAL else -np.inf
    values = np.minimum(values, cutoff)
    return np.maximum(values, low) if np.isfinite(low) else values


def with_sensors(m: Any, tables: dict[str, Any], keep: list[int], energy: bool) -> dict[str, Any]:
    """The tables of a compiled model (featherstorm.robot.mjcf) with some of its sensors alone, and behind them sensors of
    potential and kinetic energy."""
    chosen = dict(tables)
    extra = 2 if energy else 0
    for name in (n for n in tables if n.startswith("sensor_") and n != "sensor_user"):
        field = getattr(m, name)
        width = int(np.prod(field.shape[1:]))
        rows = np.vstack([np.reshape(field, (-1, width))[keep], np.zeros((extra, width))])
        chosen[name] = np.ravel(rows).astype(np.float64)
    last = len(keep)
    for k, kind in enumerate((Kind.mjSENS_E_POTENTIAL, Kind.mjSENS_E_KINETIC)[:extra]):
        chosen["sensor_type"][last + k] = int(kind)
        chosen["sensor_dim"][last + k] = 1
        chosen["sensor_adr"][last + k] = m.nsensordata + k
        chosen["sensor_objid"][last + k] = chosen["sensor_refid"][last + k] = -1
    names = np.asarray(m.name_sensoradr)[keep]
    chosen["name_sensoradr"] = np.concatenate([names, np.zeros(extra)]).astype(np.float64)
    chosen["nsensor"] = np.array([float(last + extra)])
    chosen["nsensordata"] = np.array([float(m.nsensordata + extra)])
    return chosen
