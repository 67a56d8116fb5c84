"""Robots of the velocity tasks as MuJoCo models: collision geoms, motors and sensors.

Go1 and G1 are the files of the package mjlab (asset_zoo/robots/unitree_go1/xmls/go1.xml and unitree_g1/xmls/g1.xml),
whose links have the numbers of MuJoCo Menagerie; Go2 is the built-in robot "go2". Meshes are used only for drawing.
Motors, dry friction, contacts, sensors and solver options are those of MuJoCo Playground's feet-only models
(locomotion/go1/xmls, locomotion/g1/xmls). One difference remains: Playground's solver stops after one iteration (Go1)
or three (G1), and ours iterates to convergence.
"""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._optional import mujoco
from ..loading import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEGS = ("FR", "FL", "RR", "RL")
FLOOR = "floor"


class Motor(NamedTuple):
    """Motor: stiffness [N m/rad], damping [N m s/rad], effort [N m], armature [kg m^2], dry friction [N m]."""

    kp: float
    kd: float
    effort: float
    armature: float
    friction: float


# hip, thigh and calf of a leg
GO1 = (Motor(35, 0.5, 23.7, 0.005, 0.3), Motor(35, 0.5, 23.7, 0.005, 0.3), Motor(35, 0.5, 35.55, 0.005, 1.0))
# Efforts are those of the URDF; armature and dry friction those of MuJoCo Menagerie's unitree_go2/go2.xml. The
# stiffness is that of its go2_mjx.xml, so that 16.1 kg sink as little as the Go1's 12.7 kg. The damping is ours, scaled
# by the same ratio (Menagerie has 0.5, and 2 more in the joints).
GO2 = (Motor(50, 0.6, 23.7, 0.01, 0.2), Motor(50, 0.6, 23.7, 0.01, 0.2), Motor(50, 0.6, 45.43, 0.01, 0.2))
# by a part of the joint's name; the first match applies
G1 = {
    "hip_pitch": Motor(75, 2, 88, 0.01017752004, 0.1),
    "hip_roll": Motor(75, 2, 139, 0.025101925, 0.1),
    "hip_yaw": Motor(75, 2, 88, 0.01017752004, 0.1),
    "knee": Motor(75, 2, 139, 0.025101925, 0.1),
    "ankle_pitch": Motor(20, 1, 50, 0.00721945, 0.1),
    "ankle_roll": Motor(2, 0.2, 50, 0.00721945, 0.1),
    "waist_yaw": Motor(75, 2, 88, 0.01017752004, 0.1),
    "waist": Motor(75, 2, 50, 0.00721945, 0.1),
    "shoulder": Motor(75, 2, 25, 0.003609725, 0.1),
    "elbow": Motor(75, 2, 25, 0.003609725, 0.1),
    "wrist_roll": Motor(2, 0.2, 25, 0.003609725, 0.1),
    "wrist": Motor(2, 0.2, 5, 0.00425, 0.1),
}
# imu of the Go2 (unitree_ros go2_description)
GO2_IMU = (-0.02557, 0.0, 0.04232)


def mjlab_file(robot: str) -> str:
    """Return the path of a robot's .xml in the package mjlab, which is not imported.

    Errors: FileNotFoundError if the package is not installed.
    """
    found = importlib.util.find_spec("mjlab")
    folders = list(found.submodule_search_locations or []) if found else []
    path = os.path.join(*folders[:1], "asset_zoo", "robots", f"unitree_{robot}", "xmls", f"{robot}.xml")
    if not folders or not os.path.exists(path):
        raise FileNotFoundError(
            f"the model of the {robot} is a file of the package mjlab (asset_zoo/robots/unitree_{robot}/xmls/{robot}.xml), which is "
            "not installed: python -m pip install --no-deps mjlab"
        )
    return path


def links(robot: str, drawn: bool = False) -> Any:
    """Return an MjSpec of mjlab's file, without sensors. drawn: with its meshes, which do not collide."""
    spec = mujoco.MjSpec.from_file(mjlab_file(robot))
    if not drawn:
        for geom in list(spec.geoms):
            if geom.type == mujoco.mjtGeom.mjGEOM_MESH:
                spec.delete(geom)
        for mesh in list(spec.meshes):
            spec.delete(mesh)
    for sensor in list(spec.sensors):
        spec.delete(sensor)
    return spec


def solids(spec: Any) -> list[Any]:
    """Return the geoms that are not meshes."""
    return [geom for geom in spec.geoms if geom.type != mujoco.mjtGeom.mjGEOM_MESH]


def decorate(spec: Any) -> None:
    """Add a sky, a light, and a checkered look of the world's geoms."""
    texture, role = mujoco.mjtTexture, mujoco.mjtTextureRole.mjTEXROLE_RGB
    spec.add_texture(
        name="sky", type=texture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, rgb1=[0.6, 0.75, 0.9], rgb2=[1, 1, 1],
        width=256, height=256,
    )  # fmt: skip
    spec.add_texture(
        name="squares", type=texture.mjTEXTURE_2D, builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER, rgb1=[0.35, 0.4, 0.45],
        rgb2=[0.45, 0.5, 0.55], width=256, height=256,
    )  # fmt: skip
    material = spec.add_material(name="squares", texrepeat=[1, 1], texuniform=True)
    material.textures[role] = "squares"
    for geom in spec.worldbody.geoms:
        geom.material = "squares"
    spec.worldbody.add_light(
        pos=[0, 0, 5], dir=[0, 0, -1], type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, diffuse=[0.6, 0.6, 0.6]
    )


class Scenery:
    """Base class of tasks whose model is built from an MjSpec, for simulation and for drawing."""

    start: Any  # q at the beginning of an episode

    def spec(self, drawn: bool = False) -> Any:
        """Return an MjSpec of the robot on its ground. drawn: add the geometry for drawing, without new bodies."""
        raise NotImplementedError(f"{type(self).__name__} has no method `spec`")

    def scene(self) -> Any:
        """Return the mujoco.MjModel of the robot on its ground."""
        return self.spec().compile()

    def look(self) -> Any:
        """Return the model for drawing: with meshes if the robot has them, a checkered floor and a sky."""
        spec = self.spec(drawn=True)
        if spec.meshes:
            for geom in solids(spec):
                geom.group = 3 if geom.parent.name != "world" else 0
        decorate(spec)
        m = spec.compile()
        data = mujoco.MjData(m)
        data.qpos[:] = self.start
        mujoco.mj_kinematics(m, data)
        bodies = data.xipos[np.asarray(m.body_weldid) > 0]
        m.stat.center[:], m.stat.extent = bodies.mean(axis=0), 2 * np.ptp(bodies, axis=0).max()
        return m


class Weighted(Scenery):
    """Base class of tasks whose reward is a weighted sum of terms; terms whose weight is 0 are omitted."""

    weights: Mapping[str, float]

    def terms(self, x: Any, a: Any, m: Any) -> dict[str, Any]:
        """Return the reward terms, without weights."""
        raise NotImplementedError(f"{type(self).__name__} has no method `terms`")

    def reward(self, x: Any, a: Any, m: Any) -> dict[str, Any]:
        found = self.terms(x, a, m)
        return {name: weight * found[name] for name, weight in self.weights.items() if weight}


def spec_of(compiled: Any) -> Any:
    """Return an MjSpec with the bodies, joints and geoms of a compiled model.

    The model must have one joint per body and no meshes.
    """
    m, spec = compiled, mujoco.MjSpec()
    spec.compiler.degree = False
    bodies = [spec.worldbody]
    for b in range(1, m.nbody):
        body = bodies[m.body_parentid[b]].add_body(name=m.body(b).name, pos=m.body_pos[b], quat=m.body_quat[b])
        body.explicitinertial, body.mass = True, m.body_mass[b]
        body.ipos, body.iquat, body.inertia = m.body_ipos[b], m.body_iquat[b], m.body_inertia[b]
        bodies.append(body)
        for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
            if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE:
                body.add_freejoint(name=m.joint(j).name)
            else:
                body.add_joint(
                    name=m.joint(j).name,
                    type=mujoco.mjtJoint(int(m.jnt_type[j])),
                    axis=m.jnt_axis[j],
                    pos=m.jnt_pos[j],
                    range=m.jnt_range[j],
                    limited=mujoco.mjtLimited.mjLIMITED_TRUE,
                )
    for g in range(m.ngeom):
        bodies[m.geom_bodyid[g]].add_geom(
            name=m.geom(g).name,
            type=mujoco.mjtGeom(int(m.geom_type[g])),
            size=m.geom_size[g],
            pos=m.geom_pos[g],
            quat=m.geom_quat[g],
        )
    return spec


def solve_as_playground(spec: Any, timestep: float) -> None:
    """Select Euler's integrator, with explicit joint damping."""
    spec.option.timestep, spec.option.integrator = timestep, mujoco.mjtIntegrator.mjINT_EULER
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)


def drive(spec: Any, joint: Any, motor: Motor, effort_of_joint: bool = False, damping: float | None = None) -> None:
    """Add a position motor: torque kp (target - q) - kd v, with targets limited to the joint's range.

    effort_of_joint   the effort limits the joint, as in the file of the G1; else it limits the actuator
    damping           of the joint, beside that of the motor, whose whole torque is limited [N m s/rad]. None: the
                      motor's damping is the joint's, and the effort limits the other part of the torque
    """
    limited = mujoco.mjtLimited.mjLIMITED_TRUE
    joint.armature, joint.frictionloss = motor.armature, motor.friction
    joint.damping = [motor.kd if damping is None else damping, 0, 0]
    actuator = spec.add_actuator(name=joint.name, target=joint.name)
    actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
    actuator.set_to_position(kp=motor.kp, **({} if damping is None else {"kv": motor.kd}))
    actuator.ctrlrange, actuator.ctrllimited = joint.range, limited
    reach = [-motor.effort, motor.effort]
    if effort_of_joint:
        joint.actfrcrange, joint.actfrclimited = reach, limited
    else:
        actuator.forcerange, actuator.forcelimited = reach, limited


def sense(spec: Any, name: str, kind: str, site: str) -> None:
    """Add a sensor at a site: gyro, velocimeter, accelerometer, force, or a frame sensor."""
    found = spec.add_sensor(name=name, type=getattr(mujoco.mjtSensor, f"mjSENS_{kind.upper()}"))
    found.objtype, found.objname = mujoco.mjtObj.mjOBJ_SITE, site


def add_floor(spec: Any, friction: float = 0.6, name: str = FLOOR) -> Any:
    """Add a plane whose friction and condim apply to all its contacts."""
    return spec.worldbody.add_geom(
        name=name, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.01], contype=1, conaffinity=0, condim=3, priority=1,
        friction=[friction, 0.005, 0.0001],
    )  # fmt: skip


def quadruped(spec: Any, motors: Sequence[Motor], timestep: float) -> Any:
    """Add motors, sensors and colliding feet to an MjSpec that has sites "imu" and the LEGS."""
    solve_as_playground(spec, timestep)
    for geom in solids(spec):
        geom.contype, geom.conaffinity, geom.condim = 0, 0, 1
        leg = geom.name[:2]
        if geom.name in (f"{leg}_foot", f"{leg}_foot_collision"):
            geom.name, geom.conaffinity = leg, 1
            geom.solimp = [0.9, 0.95, 0.023, 0.5, 2]
    for joint in hinges(spec):
        part = ("hip", "thigh", "calf").index(joint.name.split("_")[1])
        drive(spec, joint, motors[part])
    for name, kind in (
        ("gyro", "gyro"), ("local_linvel", "velocimeter"), ("accelerometer", "accelerometer"),
        ("upvector", "framezaxis"), ("global_linvel", "framelinvel"), ("global_angvel", "frameangvel"),
    ):  # fmt: skip
        sense(spec, name, kind, "imu")
    for leg in LEGS:
        sense(spec, f"{leg}_global_linvel", "framelinvel", leg)
    return spec


def hinges(spec: Any) -> list[Any]:
    return [joint for joint in spec.joints if joint.type == mujoco.mjtJoint.mjJNT_HINGE]


def go1_spec(timestep: float = 0.004, drawn: bool = False) -> Any:
    """Return the Unitree Go1 without a ground. The order of the legs is FR, FL, RR, RL."""
    return quadruped(links("go1", drawn), GO1, timestep)


def go2_spec(timestep: float = 0.004) -> Any:
    """Return the Unitree Go2 without a ground. The order of the legs is FL, FR, RL, RR."""
    spec = spec_of(go2_compiled())
    spec.body("base").add_site(name="imu", pos=GO2_IMU)
    for leg in LEGS:
        foot = spec.geom(f"{leg}_foot")
        foot.parent.add_site(name=leg, pos=foot.pos)
    return quadruped(spec, GO2, timestep)


@cache
def go2_compiled() -> Any:
    return load("go2", world=True).compiled


def g1_spec(timestep: float = 0.002, drawn: bool = False) -> Any:
    """Return the Unitree G1 on a floor.

    Feet are boxes that collide with the floor and each other; hands collide with thighs.
    """
    spec = links("g1", drawn)
    solve_as_playground(spec, timestep)
    for geom in solids(spec):
        spec.delete(geom)
    for joint in hinges(spec):
        drive(spec, joint, next(motor for part, motor in G1.items() if part in joint.name), effort_of_joint=True)
    capsule, box = mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_BOX
    for side in ("left", "right"):
        for name, body, radius, ends in (
            ("thigh", "hip_roll_link", 0.06, [0.02, 0, 0, 0.02, 0, -0.2]),
            ("shin", "knee_link", 0.08, [0.02, 0, 0, 0.02, 0, -0.25]),
            ("hand_collision", "wrist_yaw_link", 0.05, [0.05, 0, 0, 0.1, 0, 0]),
        ):
            spec.body(f"{side}_{body}").add_geom(
                name=f"{side}_{name}",
                type=capsule,
                size=[radius, 0, 0],
                fromto=ends,
                contype=0,
                conaffinity=0,
                condim=1,
            )
        spec.body(f"{side}_ankle_roll_link").add_geom(
            name=f"{side}_foot", type=box, size=[0.09, 0.03, 0.008], pos=[0.04, 0, -0.029], contype=0, conaffinity=0, condim=1
        )  # fmt: skip
    spec.worldbody.add_geom(name=FLOOR, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.01])
    for side in ("left", "right"):
        pair = spec.add_pair(name=f"{side}_foot_floor", geomname1=f"{side}_foot", geomname2=FLOOR, condim=3)
        pair.friction = [0.6, 0.6, 0.005, 0.0001, 0.0001]
        spec.add_pair(
            name=f"{side}_hand_thigh", geomname1=f"{side}_hand_collision", geomname2=f"{side}_thigh", condim=1
        )
    spec.add_pair(name="left_foot_right_foot", geomname1="left_foot", geomname2="right_foot", condim=1)
    for part in ("torso", "pelvis"):
        for name, kind in (
            ("upvector", "framezaxis"), ("local_linvel", "velocimeter"), ("accelerometer", "accelerometer"),
            ("gyro", "gyro"), ("global_linvel", "framelinvel"), ("global_angvel", "frameangvel"),
        ):  # fmt: skip
            sense(spec, f"{name}_{part}", kind, f"imu_in_{part}")
    for side in ("left", "right"):
        sense(spec, f"{side}_foot_global_linvel", "framelinvel", f"{side}_foot")
        sense(spec, f"{side}_foot_force", "force", f"{side}_foot")
    return spec


def stance_height(m: Any, joints: Any, geoms: Sequence[str]) -> float:
    """Return the height of an upright robot's root at which the lowest of some spheres touches z = 0 [m].

    joints   positions (n) of the joints
    geoms    names of the spheres
    """
    data = mujoco.MjData(m)
    data.qpos[:7], data.qpos[7:] = [0, 0, 0, 1, 0, 0, 0], joints
    mujoco.mj_kinematics(m, data)
    return float(-np.min([data.geom(g).xpos[2] - m.geom(g).size[0] for g in geoms]))
