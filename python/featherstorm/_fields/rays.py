"""Rays against geoms, with the results of mj_ray, in double (core/collision/ray.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import _featherstorm
from .errors import UsageError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

Kind = mujoco.mjtGeom
LEAST = 1e-15  # mjMINVAL
GROUPS = int(mujoco.mjNGROUP)


def dot(a: Array, b: Array) -> Array:
    found: Array = (a * b).sum(axis=-1)
    return found


def unit(x: Array) -> Array:
    length = np.sqrt(dot(x, x))[..., None]
    found: Array = x / np.where(length < LEAST, 1, length)
    return found


def seen_geoms(m: Any, geomgroup: Any, flg_static: bool) -> list[int]:
    """Return the geoms that rays see: visible, of the groups, and of bodies that move unless `flg_static`."""
    groups = None if geomgroup is None else np.asarray(geomgroup)
    if groups is not None and groups.shape != (GROUPS,):
        raise UsageError(f"geomgroup has shape {groups.shape}, expected ({GROUPS},)")
    found = []
    for g in range(m.ngeom):
        material = m.geom_matid[g]
        alpha = m.geom_rgba[g][3] if material < 0 else m.mat_rgba[material][3]
        static = m.body_weldid[m.geom_bodyid[g]] == 0
        group = min(max(int(m.geom_group[g]), 0), GROUPS - 1)
        if alpha and (flg_static or not static) and (groups is None or groups[group]):
            found.append(g)
    return found


def met(m: Any, geom: int, p: Array, v: Array, sizes: Array | None = None) -> tuple[Array, Array]:
    """Cast rays p + x v (n, nray, 3) in the axes of a geom: x (n, nray), infinite without a hit, and the normal there.

    sizes   (n, ngeom 3) of geoms, if they are not the model's
    """
    kind, k = Kind(m.geom_type[geom]), m.geom_dataid[geom]
    x, normal = np.empty(p.shape[:-1]), np.empty(p.shape)
    rays = np.ascontiguousarray(p), np.ascontiguousarray(v), x, normal
    if kind == Kind.mjGEOM_HFIELD:
        rows, columns = m.hfield_nrow[k], m.hfield_ncol[k]
        heights = np.asarray(m.hfield_data[m.hfield_adr[k] : m.hfield_adr[k] + rows * columns], float)
        _featherstorm.rays_of_height_field(np.array(m.hfield_size[k]), heights.reshape(rows, columns), *rays)
    elif kind == Kind.mjGEOM_MESH:
        vertices = np.array(m.mesh_vert[m.mesh_vertadr[k] : m.mesh_vertadr[k] + m.mesh_vertnum[k]], float)
        faces = np.array(m.mesh_face[m.mesh_faceadr[k] : m.mesh_faceadr[k] + m.mesh_facenum[k]], np.int32)
        _featherstorm.rays_of_mesh(vertices, faces, *rays)
    elif int(kind) in _featherstorm.closed_rays:
        own = m.geom_size[geom : geom + 1] if sizes is None else sizes[:, 3 * geom : 3 * geom + 3]
        _featherstorm.rays(int(kind), np.array(own, np.float64), *rays)
    else:
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_GEOM, geom) or f"geom{geom}"
        raise UsageError(f"ray: geom '{name}' is a signed distance field, which rays do not see; exclude its group")
    return x, normal


def hits(
    m: Any,
    pose: tuple[Array, Array],
    points: Array,
    vectors: Array,
    geomgroup: Any,
    flg_static: bool,
    exclude: Array,
    sizes: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Return distance, geom and normal (n, nray, ...) of rays from points along vectors (n, nray, 3).

    pose     positions (n, ngeom, 3) and rotations (n, ngeom, 3, 3) of geoms
    exclude  (n, nray) bodies whose geoms a ray does not see
    sizes    (n, ngeom 3) of geoms, where they are not the model's
    """
    if points.size and np.sqrt(dot(vectors, vectors)).min() < LEAST:
        raise UsageError("ray: a vector has no length")
    position, rotation = pose
    best, geomid = np.full(points.shape[:-1], np.inf), np.full(points.shape[:-1], -1, np.int32)
    normals = np.zeros(points.shape)
    for g in seen_geoms(m, geomgroup, flg_static) if points.size else ():
        R = rotation[:, None, g]
        p = np.einsum("...ji,...j->...i", R, points - position[:, None, g])
        v = np.einsum("...ji,...j->...i", R, vectors)
        x, normal = met(m, g, p, v, sizes)
        closer = (x < best) & (exclude != m.geom_bodyid[g])
        best, geomid = np.where(closer, x, best), np.where(closer, np.int32(g), geomid)
        normals = np.where(closer[..., None], np.einsum("...ij,...j->...i", R, normal), normals)
    missed = geomid < 0
    return np.where(missed, -1.0, best), geomid, normals
