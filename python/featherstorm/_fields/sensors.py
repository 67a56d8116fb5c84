"""Sensors: which of them the engine measures, and frames on mocap bodies, whose pose is a part of the state.

What is not measured is NaN in sensordata, and a Notice says which and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .._robot.model_files import turns_by_itself
from .positions import LEAST, Pose, Positions, product, vector

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from .. import _featherstorm

Kind = mujoco.mjtSensor
NO_SENSORS = int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
RANGEFINDER, TOUCH, CONTACT = int(Kind.mjSENS_RANGEFINDER), int(Kind.mjSENS_TOUCH), int(Kind.mjSENS_CONTACT)
OF_CONTACTS = {TOUCH, CONTACT}
LIMIT_FORCES = {int(Kind.mjSENS_JOINTLIMITFRC), int(Kind.mjSENS_TENDONLIMITFRC)}
TENDON, ADHESION = int(mujoco.mjtTrn.mjTRN_TENDON), int(mujoco.mjtTrn.mjTRN_BODY)
OF_ACTUATORS = {
    int(Kind.mjSENS_ACTUATORVEL),
    int(Kind.mjSENS_ACTUATORFRC),
    int(Kind.mjSENS_JOINTACTFRC),
    int(Kind.mjSENS_TENDONACTFRC),
}
BY_LOOPS = "adhesion between shapes without a closed form"
OF_BODIES = {int(Kind.mjSENS_FORCE), int(Kind.mjSENS_TORQUE)}
POSITION, TURN = int(Kind.mjSENS_FRAMEPOS), int(Kind.mjSENS_FRAMEQUAT)
DISTANCES = {int(Kind.mjSENS_GEOMDIST), int(Kind.mjSENS_GEOMNORMAL), int(Kind.mjSENS_GEOMFROMTO)}
PROJECTION, USER = int(Kind.mjSENS_CAMPROJECTION), int(Kind.mjSENS_USER)
AXES = [int(Kind.mjSENS_FRAMEXAXIS), int(Kind.mjSENS_FRAMEYAXIS), int(Kind.mjSENS_FRAMEZAXIS)]
STATIC = {POSITION, TURN, *AXES, PROJECTION, USER}
ACC = int(mujoco.mjtStage.mjSTAGE_ACC)
REAL, POSITIVE = int(mujoco.mjtDataType.mjDATATYPE_REAL), int(mujoco.mjtDataType.mjDATATYPE_POSITIVE)
Object = mujoco.mjtObj
INERTIA, BODY, GEOM, SITE, CAMERA = (
    int(kind)
    for kind in (Object.mjOBJ_BODY, Object.mjOBJ_XBODY, Object.mjOBJ_GEOM, Object.mjOBJ_SITE, Object.mjOBJ_CAMERA)
)


def rows_of(m: Any, sensors: Iterable[int]) -> list[slice]:
    """Return the rows of sensors in sensordata."""
    return [slice(m.sensor_adr[i], m.sensor_adr[i] + m.sensor_dim[i]) for i in sensors]


def name_of(m: Any, sensor: int) -> str:
    return mujoco.mj_id2name(m, Object.mjOBJ_SENSOR, sensor) or f"sensor{sensor}"


def open_sensors(m: Any, robot: _featherstorm.Robot) -> dict[int, str]:
    """Return the unsupported sensors, with the reasons.

    robot: with the model's pairs of geoms, if a body has adhesion.
    """
    found = {}
    for i, kind in enumerate(map(int, m.sensor_type)):
        if kind == RANGEFINDER or kind in DISTANCES:
            if int(m.sensor_history[i, 0]) > 0:
                found[i] = "histories of range finders and of distances"
            continue
        if kind in OF_BODIES and tendons_pull(m):
            found[i] = "forces of spatial tendons on bodies"
        elif kind in OF_ACTUATORS and adheres_by_loops(m, robot):
            found[i] = f"actuators of a model with {BY_LOOPS}"
        elif kind not in STATIC and not m.nv:
            found[i] = "nothing of the model moves"
    return found


def remembered(m: Any) -> list[int]:
    """Return the sensors with a history."""
    return np.flatnonzero(np.asarray(m.sensor_history)[:, 0] > 0).tolist() if m.nsensor else []


def is_by_frames(m: Any, sensor: int) -> bool:
    """Return whether `Frames` measures a sensor: models without joints, mocap bodies, cameras that track or target."""
    if int(m.sensor_type[sensor]) not in STATIC:
        return False
    return not m.nv or on_mocap(m, sensor) or turns_by_itself(m, sensor)


def tendons_pull(m: Any) -> bool:
    """Return True if a spatial tendon has a force.

    MuJoCo counts it among those on bodies, the algorithms here do not.
    """
    pulled = set(m.actuator_trnid[np.asarray(m.actuator_trntype) == TENDON, 0].tolist())
    for e in np.flatnonzero(np.asarray(m.eq_type) == int(mujoco.mjtEq.mjEQ_TENDON)).tolist():
        pulled |= {int(m.eq_obj1id[e]), int(m.eq_obj2id[e])}
    for t in range(m.ntendon):
        spatial = int(m.wrap_type[m.tendon_adr[t]]) != int(mujoco.mjtWrap.mjWRAP_JOINT)
        own = [
            getattr(m, f"tendon_{name}")[t] for name in ("stiffness", "damping", "frictionloss", "limited", "armature")
        ]
        own += [*np.ravel(m.tendon_stiffnesspoly[t]), *np.ravel(m.tendon_dampingpoly[t])]
        if spatial and (t in pulled or any(own)):
            return True
    return False


def adhering(m: Any) -> set[int]:
    """Bodies with adhesion."""
    return set(m.actuator_trnid[np.asarray(m.actuator_trntype) == ADHESION, 0].tolist())


def adheres_by_loops(m: Any, robot: _featherstorm.Robot) -> bool:
    """Return whether a pair of geoms of a body with adhesion has no closed form: only the step finds such contacts."""
    bodies = adhering(m)
    return bool(bodies) and any(
        not pair["closed_form"] and not bodies.isdisjoint(m.geom_bodyid[list(pair["geom"])].tolist())
        for pair in robot.contact_pairs
    )


def carried_by_mocap(m: Any) -> npt.NDArray[np.bool_]:
    """(nbody) whether a body is a mocap body or fixed to one."""
    found = np.asarray(m.body_mocapid) >= 0
    for b in range(1, m.nbody):
        found[b] |= found[m.body_parentid[b]]
    return found


def body_of(m: Any, kind: int, index: int) -> int:
    """The body that carries an object; 0 for what is none that a body carries."""
    tables = {GEOM: m.geom_bodyid, SITE: m.site_bodyid, CAMERA: m.cam_bodyid}
    if index < 0:
        return 0
    return int(index) if kind in (INERTIA, BODY) else int(tables[kind][index]) if kind in tables else 0


def on_mocap(m: Any, sensor: int) -> bool:
    """Return True if a sensor's object, or its reference, is on a mocap body."""
    if not m.nmocap:
        return False
    carried = carried_by_mocap(m)
    measured = body_of(m, int(m.sensor_objtype[sensor]), int(m.sensor_objid[sensor]))
    reference = body_of(m, int(m.sensor_reftype[sensor]), int(m.sensor_refid[sensor]))
    return bool(carried[measured] or carried[reference])


class Frames:
    """Objects of frame sensors of one traced simulation."""

    def __init__(self, instance: Positions) -> None:
        self.instance, self.m = instance, instance.m

    def pose(self, kind: int, index: int) -> Pose:
        instance = self.instance
        if kind == BODY:
            return instance.bodies[index]
        if kind == INERTIA:
            return instance.inertial[index]
        if kind == GEOM:
            return instance.geoms[index]
        if kind == SITE:
            return instance.sites[index]
        return self.camera(index)

    def camera(self, index: int) -> Pose:
        """The pose of a camera.

        Its quaternion is that of the file in its body, as MuJoCo has it for cameras that turn by themselves.
        """
        pose = self.instance.fixed_to_bodies(self.m.cam_bodyid, "cam_pos", "cam_quat")[index]
        if int(self.m.cam_mode[index]):
            pose.position, pose.rotation = (of[index] for of in self.instance.cameras)
        return pose

    def measured(self, sensor: int) -> Any:
        """Return the reading of a sensor of STATIC, before its cutoff."""
        m, kind = self.m, int(self.m.sensor_type[sensor])
        if kind == USER:
            return np.zeros(int(m.sensor_dim[sensor]))
        pose = self.pose(m.sensor_objtype[sensor], m.sensor_objid[sensor])
        relative = m.sensor_refid[sensor] >= 0
        other = self.pose(m.sensor_reftype[sensor], m.sensor_refid[sensor]) if relative else None
        if kind == TURN:
            if other is None:
                return pose.quaternion
            return product(other.quaternion * np.array([1.0, -1.0, -1.0, -1.0]), pose.quaternion)
        if kind == PROJECTION and other is not None:
            return self.pixel(int(m.sensor_refid[sensor]), other.rotation.T @ (pose.position - other.position))
        if kind == POSITION:
            return pose.position if other is None else other.rotation.T @ (pose.position - other.position)
        axis = pose.rotation[:, AXES.index(kind)]
        return axis if other is None else other.rotation.T @ axis

    def pixel(self, camera: int, point: Any) -> Any:
        """Project a point in a camera's axes into its image [pixel], as core/sensor/frames.h does."""
        m = self.m
        pixels, size = np.asarray(m.cam_resolution[camera], float), m.cam_sensorsize[camera]
        if size.all():
            focal = np.asarray(m.cam_intrinsic[camera][:2] / size, float) * pixels  # divided in float, as in MuJoCo
        else:
            focal = np.full(2, 0.5 / np.tan(np.radians(m.cam_fovy[camera]) / 2) * pixels[1])
        z = point[2]
        depth = np.where(np.abs(z) < LEAST, np.where(z < 0, -LEAST, LEAST), z)
        return vector(0.5 * pixels[0] - focal[0] * (point[0] / depth), 0.5 * pixels[1] + focal[1] * (point[1] / depth))


def cut_off(m: Any, sensor: int, values: Any) -> Any:
    """As MuJoCo cuts off: reals both ways, positive numbers above, axes, quaternions and contact sensors not at all."""
    cutoff = 0.0 if int(m.sensor_type[sensor]) == CONTACT else float(m.sensor_cutoff[sensor])
    kind = int(m.sensor_datatype[sensor])
    if cutoff > 0 and kind in (REAL, POSITIVE):
        values = np.minimum(values, cutoff)
    return np.maximum(values, -cutoff) if cutoff > 0 and kind == REAL else values
