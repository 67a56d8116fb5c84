"""Robots of URDF files in a world, with contacts of their <collision> elements.

The world has the limits and dry friction of joints, equalities for mimic joints, and drives. MuJoCo's compiler reads
URDF as well; the world here equals the one that it makes from the same file. The engine reads the file and makes the
world (host/load/urdf_world.h). The package mujoco finds the convex hulls of meshes, and provides the names of elements
for readings.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._optional import mujoco
from .mjcf import ModelFile, rotation

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Hull = tuple[
        list[list[float]], list[float], list[list[float]], list[tuple[list[float], list[int]]], list[list[int]]
    ]
    Scale = tuple[float, float, float]

FREE, SLIDE = 0, 2  # mjtJoint
MESH = 7  # mjGEOM_MESH


@dataclass(frozen=True)
class UrdfWorld:
    """Options of the world for the robot of a URDF file.

    ground     a horizontal plane at z = 0, the geom "ground"
    motors     one for each joint with one freedom that mimics no other: controls of steps and rollouts are efforts at
               joints [N m | N], within their limits
    timestep   [s]
    packages   folders that contain packages of meshes, or are such packages, searched before those of ROS_PACKAGE_PATH,
               AMENT_PREFIX_PATH and the folders above the file

    Properties that a URDF cannot have take MuJoCo's defaults: friction 1, solref (0.02, 1), solimp (0.9, 0.95, 0.001,
    0.5, 2), pyramids, Euler's integrator.
    """

    ground: bool = False
    motors: bool = False
    timestep: float = 0.002
    packages: Sequence[str | os.PathLike[str]] = ()

    def __post_init__(self) -> None:
        if isinstance(self.packages, (str, os.PathLike)):
            raise TypeError(f"UrdfWorld: packages is {self.packages!r}, expected a list of folders")
        object.__setattr__(self, "packages", tuple(os.fspath(folder) for folder in self.packages))


class Hulls:
    """A reader of meshes by MuJoCo's compiler, which reads each file and scale once."""

    def __init__(self) -> None:
        # (file, scale) -> compiled model with this mesh alone, and the method that gave its inertia
        self.read: dict[tuple[str, Scale], tuple[Any, Any]] = {}

    def __call__(self, file: str, scale: Scale) -> Hull:
        m, _ = self.of(file, scale)
        first, count = int(m.mesh_polyadr[0]), int(m.mesh_polynum[0])
        polygons = []
        for p in range(first, first + count):
            start = int(m.mesh_polyvertadr[p])
            polygons.append((start, start + int(m.mesh_polyvertnum[p])))
        vertices, edges = graph(m)
        # only the vertices of the hull, in the order of the mesh
        used = np.unique(np.concatenate([vertices, *(m.mesh_polyvert[a:b] for a, b in polygons)]))
        corners = m.mesh_vert.astype(np.float64)[used].tolist()
        faces = [
            (
                m.mesh_polynormal[first + k].astype(np.float64).tolist(),
                np.searchsorted(used, m.mesh_polyvert[a:b]).tolist(),
            )
            for k, (a, b) in enumerate(polygons)
        ]
        beside: list[list[int]] = [[] for _ in used]
        for vertex, others in zip(vertices, edges):
            beside[np.searchsorted(used, vertex)] = np.searchsorted(used, others).tolist()
        return rotation(m.mesh_quat[0]).tolist(), m.mesh_pos[0].tolist(), corners, faces, beside

    def of(self, file: str, scale: Scale) -> tuple[Any, Any]:
        key = (file, (float(scale[0]), float(scale[1]), float(scale[2])))
        if key not in self.read:
            self.read[key] = compiled_mesh(file, scale)
        return self.read[key]


def graph(m: Any) -> tuple[npt.NDArray[np.int32], list[npt.NDArray[np.int32]]]:
    """Return the hull of a model with one mesh: its vertices, and for each vertex its neighbours along edges."""
    if m.mesh_graphadr[0] < 0:
        return np.zeros(0, np.int32), []
    g = m.mesh_graph[m.mesh_graphadr[0] :]
    n = int(g[0])
    begins, vertices, ends = g[2 : 2 + n], g[2 + n : 2 + 2 * n], g[2 + 2 * n :]
    return vertices, [vertices[ends[b : b + int(np.argmax(ends[b:] < 0))]] for b in begins]


def compiled_mesh(file: str, scale: Scale) -> tuple[Any, Any]:
    """Compile a mesh.

    Errors: ValueError with the compiler's reason for a file that it cannot read or that has no hull.
    """
    # the frame of a mesh depends on its inertia; a mesh without a volume has only the inertia of its shell
    kinds = mujoco.mjtMeshInertia
    first = ""
    for inertia in (kinds.mjMESH_INERTIA_LEGACY, kinds.mjMESH_INERTIA_CONVEX, kinds.mjMESH_INERTIA_SHELL):
        spec = mujoco.MjSpec()
        spec.add_mesh(name="mesh", file=file, scale=scale, inertia=inertia)
        body = spec.worldbody.add_body(mass=1, inertia=[1, 1, 1])
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="mesh")
        try:
            m = spec.compile()
        except ValueError as error:
            first = first or " ".join(str(error).split())
            continue
        if m.mesh_polynum[0] == 0:
            raise ValueError("it has no convex hull")
        return m, inertia
    raise ValueError(first)


def load_urdf(
    name_or_path: str, floating_base: bool | None, couple: bool, strict: bool, armature: float, world: UrdfWorld
) -> tuple[_featherstorm.Robot, ModelFile | None]:
    """Return the robot with its world, and the file for readings: None without the package mujoco."""
    hulls = Hulls()
    robot = _featherstorm.load(name_or_path, floating_base, couple, strict, armature, world, hulls)
    if importlib.util.find_spec("mujoco") is None:
        return robot, None
    return robot, ModelFile(compiled(robot, hulls), {})


def compiled(robot: _featherstorm.Robot, hulls: Hulls) -> Any:
    """Return a mujoco.MjModel of the robot's world, with the same names and numbers."""
    tables = {name: np.array(numbers) for name, numbers in robot.world_tables.items()}
    spec = mujoco.MjSpec()
    spec.modelname = robot.name
    spec.option.timestep = tables["opt.timestep"][0]
    spec.option.gravity = tables["opt.gravity"]
    # any mass here: the actual numbers are set afterwards
    spec.compiler.balanceinertia, spec.compiler.boundmass, spec.compiler.boundinertia = True, 1e-6, 1e-9
    add_bodies(spec, tables, mujoco)
    add_geoms(spec, tables, hulls, mujoco)
    joints = names_of(tables, "jnt")
    for i, name in enumerate(names_of(tables, "actuator")):
        limit = tables["actuator_ctrlrange"].reshape(-1, 2)[i]
        motor = spec.add_actuator(name=name, target=joints[int(tables["actuator_trnid"][2 * i])], ctrlrange=limit)
        motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
    for i, data in enumerate(tables.get("eq_data", np.zeros(0)).reshape(-1, 12)):
        pair = {f"name{k}": joints[int(tables[f"eq_obj{k}id"][i])] for k in (1, 2)}
        spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT, data=data, **pair)
    m = spec.compile()
    for name, numbers in tables.items():
        if name.startswith(("body_", "jnt_", "dof_", "geom_", "actuator_", "eq_")) and hasattr(m, name):
            field = getattr(m, name)
            if field.dtype.kind == "f":
                field[...] = numbers.reshape(field.shape)
    return m


def names_of(tables: dict[str, npt.NDArray[np.float64]], kind: str) -> list[str]:
    """Return the names of the elements of a kind, in order."""
    text = tables["names"].astype(np.uint8).tobytes()
    starts = tables.get(f"name_{kind}adr", np.zeros(0)).astype(int)
    return [text[start : text.index(b"\0", start)].decode() for start in starts]


def body_names(tables: dict[str, npt.NDArray[np.float64]]) -> list[str]:
    """Return the names of the moving bodies; a link named "world", MuJoCo's name of the ground, gets another name."""
    names = names_of(tables, "body")[1:]
    other = "world_link"
    while other in names:
        other += "_"
    return [other if name == "world" else name for name in names]


def add_bodies(spec: Any, tables: dict[str, npt.NDArray[np.float64]], mujoco: Any) -> None:
    bodies, joints = [spec.worldbody], names_of(tables, "jnt")
    wide = {
        name: tables[f"body_{name}"].reshape(-1, n)
        for name, n in (("pos", 3), ("quat", 4), ("ipos", 3), ("iquat", 4), ("inertia", 3))
    }
    for b, name in enumerate(body_names(tables), 1):
        body = bodies[int(tables["body_parentid"][b])].add_body(name=name, pos=wide["pos"][b], quat=wide["quat"][b])
        bodies.append(body)
        body.explicitinertial = True
        body.mass, body.ipos, body.inertia = tables["body_mass"][b], wide["ipos"][b], np.maximum(wide["inertia"][b], 0)
        # else MuJoCo's compiler equates the axes of inertia and of the body (body_sameframe), and so do its steps
        body.iquat = wide["iquat"][b]
        j = b - 1
        kind, v = int(tables["jnt_type"][j]), int(tables["jnt_dofadr"][j])
        if kind == FREE:
            body.add_freejoint(name=joints[j])
            continue
        body.add_joint(
            name=joints[j],
            type=mujoco.mjtJoint.mjJNT_SLIDE if kind == SLIDE else mujoco.mjtJoint.mjJNT_HINGE,
            axis=tables["jnt_axis"].reshape(-1, 3)[j],
            range=tables["jnt_range"].reshape(-1, 2)[j],
            actfrcrange=tables["jnt_actfrcrange"].reshape(-1, 2)[j],
            damping=[tables["dof_damping"][v], 0, 0],
            frictionloss=tables["dof_frictionloss"][v],
            armature=tables["dof_armature"][v],
        )


def add_geoms(spec: Any, tables: dict[str, npt.NDArray[np.float64]], hulls: Hulls, mujoco: Any) -> None:
    """Add the geoms.

    A mesh is placed by the frame of its file; the compiler moves that frame to the one of its inertia.
    """
    meshes = list(hulls.read.items())
    for number, ((file, scale), (_, inertia)) in enumerate(meshes):
        spec.add_mesh(name=f"mesh{number}", file=file, scale=scale, inertia=inertia)
    bodies = [spec.worldbody, *(spec.body(name) for name in body_names(tables))]
    positions, turns = (tables.get(f"geom_{of}", np.zeros(0)).reshape(-1, n) for of, n in (("pos", 3), ("quat", 4)))
    for g, name in enumerate(names_of(tables, "geom")):
        kind, mesh = int(tables["geom_type"][g]), int(tables["geom_dataid"][g])
        R, r, size = rotation(turns[g]), positions[g], tables["geom_size"].reshape(-1, 3)[g]
        if kind == MESH:
            m = meshes[mesh][1][0]
            R = R @ rotation(m.mesh_quat[0]).T
            r, size = r - R @ m.mesh_pos[0], np.zeros(3)
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, R.ravel())
        geom = bodies[int(tables["geom_bodyid"][g])].add_geom(
            name=name, type=mujoco.mjtGeom(kind), pos=r, quat=quat, size=size
        )
        if kind == MESH:
            geom.meshname = f"mesh{mesh}"
