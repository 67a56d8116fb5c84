"""Rays against geoms, with the results of mj_ray, in double.

A ray p + x v meets a surface at the least x >= 0. Each kind of geom has a function of p and v (..., 3) in the geom's
axes. It returns x (...), infinite without a hit, and the surface's normal there (..., 3). Sizes of geoms are (3,) or
(n, 1, 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .errors import UsageError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

Kind = mujoco.mjtGeom
LEAST = 1e-15  # mjMINVAL
GROUPS = int(mujoco.mjNGROUP)
SLACK = 1e-12  # enlarges the sides of a triangle, so that the cells of a height field overlap
MOST_PAIRS = 1 << 20  # largest number of rays times triangles at once


def roots(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Return both x of a x^2 + 2 b x + c = 0, the lesser first; infinite without real roots."""
    square = b * b - a * c
    real = (square >= 0) & (a >= LEAST)
    root = np.sqrt(np.where(real, square, 0))
    below = np.where(real, a, 1)
    return np.where(real, (-b - root) / below, np.inf), np.where(real, (-b + root) / below, np.inf)


def dot(a: Array, b: Array) -> Array:
    found: Array = (a * b).sum(axis=-1)
    return found


def unit(x: Array) -> Array:
    length = np.sqrt(dot(x, x))[..., None]
    found: Array = x / np.where(length < LEAST, 1, length)
    return found


def at(p: Array, v: Array, x: Array) -> Array:
    """Return the point of the ray at x; p where x is infinite."""
    found: Array = p + np.where(np.isfinite(x), x, 0)[..., None] * v
    return found


class Nearest:
    """The first of several surfaces that rays meet."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.x, self.normal = np.full(shape, np.inf), np.zeros((*shape, 3))

    def take(self, x: Array, valid: Array, normal: Array) -> None:
        closer = valid & (x >= 0) & (x < self.x)
        self.x = np.where(closer, x, self.x)
        self.normal = np.where(closer[..., None], normal, self.normal)


def plane(p: Array, v: Array, size: Array) -> tuple[Array, Array]:
    """A plane, seen from the front alone, within a rectangle where it has a size."""
    towards = v[..., 2] <= -LEAST
    x = np.where(towards, -p[..., 2] / np.where(towards, v[..., 2], 1), np.inf)
    s = at(p, v, x)
    for k in range(2):
        x = np.where((size[..., k] <= 0) | (np.abs(s[..., k]) <= size[..., k]), x, np.inf)
    return np.where(x >= 0, x, np.inf), np.broadcast_to([0.0, 0.0, 1.0], p.shape)


def ellipsoid(p: Array, v: Array, size: Array) -> tuple[Array, Array]:
    w = 1 / np.square(size)
    near, far = roots(dot(w * v, v), dot(w * v, p), dot(w * p, p) - 1)
    x = np.where(near >= 0, near, np.where(far >= 0, far, np.inf))
    return x, unit(w * at(p, v, x))


def sphere(p: Array, v: Array, size: Array) -> tuple[Array, Array]:
    near, far = roots(dot(v, v), dot(v, p), dot(p, p) - size[..., 0] ** 2)
    x = np.where(near >= 0, near, np.where(far >= 0, far, np.inf))
    return x, unit(at(p, v, x))


def round_side(p: Array, v: Array, size: Array, found: Nearest) -> None:
    """The side of a cylinder about z: the first of its two hits ahead."""
    p2, v2 = p[..., :2], v[..., :2]
    near, far = roots(dot(v2, v2), dot(v2, p2), dot(p2, p2) - size[..., 0] ** 2)
    x = np.where(near >= 0, near, far)
    s = at(p, v, x)
    found.take(x, np.abs(s[..., 2]) <= size[..., 1], unit(s * [1.0, 1.0, 0.0]))


def capsule(p: Array, v: Array, size: Array) -> tuple[Array, Array]:
    found = Nearest(p.shape[:-1])
    round_side(p, v, size, found)
    for side in (1.0, -1.0):
        end = np.stack([0 * size[..., 1], 0 * size[..., 1], side * size[..., 1]], axis=-1)
        q = p - end
        for x in roots(dot(v, v), dot(v, q), dot(q, q) - size[..., 0] ** 2):
            s = at(p, v, x)
            found.take(x, side * s[..., 2] >= size[..., 1], unit(s - end))
    return found.x, found.normal


def cylinder(p: Array, v: Array, size: Array) -> tuple[Array, Array]:
    found = Nearest(p.shape[:-1])
    crosses = np.abs(v[..., 2]) > LEAST
    for side in (-1.0, 1.0):
        x = np.where(crosses, (side * size[..., 1] - p[..., 2]) / np.where(crosses, v[..., 2], 1), np.inf)
        s = at(p, v, x)
        found.take(x, dot(s[..., :2], s[..., :2]) <= size[..., 0] ** 2, np.broadcast_to([0.0, 0.0, side], p.shape))
    round_side(p, v, size, found)
    return found.x, found.normal


def box(p: Array, v: Array, size: Array) -> tuple[Array, Array]:
    found = Nearest(p.shape[:-1])
    for axis in range(3):
        crosses = np.abs(v[..., axis]) > LEAST
        others = [k for k in range(3) if k != axis]
        for side in (-1.0, 1.0):
            x = np.where(crosses, (side * size[..., axis] - p[..., axis]) / np.where(crosses, v[..., axis], 1), np.inf)
            s = np.abs(at(p, v, x))
            within = (s[..., others[0]] <= size[..., others[0]]) & (s[..., others[1]] <= size[..., others[1]])
            found.take(x, within, np.broadcast_to(side * np.eye(3)[axis], p.shape))
    return found.x, found.normal


def triangles(p: Array, v: Array, corners: Array) -> tuple[Array, Array]:
    """Triangles with corners (n, 3, 3), seen from both sides; normals follow the order of the corners."""
    shape = p.shape[:-1]
    p, v = p.reshape(-1, 3), v.reshape(-1, 3)
    x, first = np.full(len(p), np.inf), np.zeros(len(p), int)
    edge1, edge2 = corners[:, 0] - corners[:, 2], corners[:, 1] - corners[:, 2]
    normal = np.cross(edge1, edge2)
    step = max(MOST_PAIRS // max(len(corners), 1), 1)
    for begin in range(0, len(p), step):
        some = slice(begin, begin + step)
        away = p[some, None] - corners[None, :, 2]
        facing = v[some] @ normal.T
        valid = np.abs(facing) >= LEAST
        down = np.where(valid, facing, 1)
        turned = np.cross(v[some, None], away)
        # away + x v = s edge1 + t edge2, by Cramer's rule
        s, t = dot(turned, edge2[None]) / down, -dot(turned, edge1[None]) / down
        distance = -dot(away, normal[None]) / down
        valid &= (s >= 0) & (t >= 0) & (s + t <= 1) & (distance >= 0)
        distance = np.where(valid, distance, np.inf)
        if distance.shape[1]:
            first[some] = distance.argmin(axis=1)
            x[some] = distance.min(axis=1)
    normals = unit(normal)[first] if len(corners) else np.zeros((len(p), 3))
    return x.reshape(shape), normals.reshape(*shape, 3)


def triangle(p: Array, v: Array, a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """One triangle for each ray, corners (..., 3), seen from both sides; no ray passes between two that share an edge.

    The normal is not of unit length.
    """
    edge1, edge2, away = a - c, b - c, p - c
    normal, turned = np.cross(edge1, edge2), np.cross(v, away)
    facing = dot(v, normal)
    valid = np.abs(facing) >= LEAST
    down = np.where(valid, facing, 1)
    s, t, distance = dot(turned, edge2) / down, -dot(turned, edge1) / down, -dot(away, normal) / down
    valid &= (s >= -SLACK) & (t >= -SLACK) & (s + t <= 1 + SLACK) & (distance >= 0)
    return np.where(valid, distance, np.inf), normal


def crossings(start: Array, step: Array, count: int) -> Array:
    """Return x where start + x step is 0, 1, ..., count - 1: (..., count), 0 where it never is."""
    moves = np.abs(step) >= LEAST
    found: Array = np.where(
        moves[..., None], (np.arange(count) - start[..., None]) / np.where(moves, step, 1)[..., None], 0
    )
    return found


def height_field(p: Array, v: Array, size: Array, heights: Array) -> tuple[Array, Array]:
    """A solid: a box of depth size[3] below z = 0, and the volume below two triangles for each cell above it.

    size      half lengths along x and y, the height of 1 in `heights`, the depth of the box
    heights   (rows along y, columns along x)
    """
    shape = p.shape[:-1]
    p, v = p.reshape(-1, 3), v.reshape(-1, 3)
    found = Nearest(p.shape[:-1])
    down, up = np.array([0, 0, size[3] / 2]), np.array([0, 0, size[2] / 2])
    found.take(*ahead(box(p + down, v, np.array([*size[:2], size[3] / 2]))))
    above, _ = box(p - up, v, np.array([*size[:2], size[2] / 2]))
    some = np.flatnonzero(np.isfinite(above))
    step = max(MOST_PAIRS // sum(heights.shape), 1)
    for first in range(0, len(some), step):
        rays = some[first : first + step]
        part = Nearest(rays.shape)
        surface(p[rays], v[rays], size, heights, part)
        walls(p[rays], v[rays], size, heights, part)
        closer = part.x < found.x[rays]
        found.x[rays[closer]], found.normal[rays[closer]] = part.x[closer], part.normal[closer]
    return found.x.reshape(shape), found.normal.reshape(*shape, 3)


def ahead(met: tuple[Array, Array]) -> tuple[Array, Array, Array]:
    x, normal = met
    return x, np.isfinite(x), normal


def span(p: Array, v: Array, size: Array) -> tuple[Array, Array]:
    """Return the intervals of x (n,) that rays are between the sides of a box."""
    crosses = np.abs(v) > LEAST
    middle, half = (np.where(crosses, y / np.where(crosses, v, 1), 0) for y in (-p, np.broadcast_to(size, p.shape)))
    half = np.where(crosses, np.abs(half), np.inf)
    return (middle - half).max(axis=-1), (middle + half).min(axis=-1)


def surface(p: Array, v: Array, size: Array, heights: Array, found: Nearest) -> None:
    """The triangles of the cells that a ray passes above or below, where it is within the range of heights.

    Cells are found between two crossings of the lines of the grid.
    """
    rows, columns = heights.shape
    cell = np.array([2 * size[0] / (columns - 1), 2 * size[1] / (rows - 1)])
    start, along = (p[:, :2] + size[:2]) / cell, v[:, :2] / cell
    lines = [crossings(start[:, 0], along[:, 0], columns), crossings(start[:, 1], along[:, 1], rows)]
    x = np.sort(np.concatenate([np.zeros((len(p), 1)), *lines], axis=1).clip(min=0), axis=1)
    after = np.concatenate([x[:, 1:], np.full((len(p), 1), np.inf)], axis=1)
    near, far = span(p - [0, 0, size[2] / 2], v, np.array([*size[:2], size[2] / 2]))
    slack = SLACK + 1e-9 * np.abs(far)
    ray, k = np.nonzero((after > x) & (x <= (far + slack)[:, None]) & (after >= (near - slack)[:, None]))
    middle = (x[ray, k] + np.minimum(after[ray, k], x[ray, k] + 1)) / 2
    place = start[ray] + middle[:, None] * along[ray]
    c, r = (np.clip(np.floor(place[:, axis]), 0, (columns, rows)[axis] - 2).astype(int) for axis in range(2))

    def corner(dr: int, dc: int) -> Array:
        return np.stack(
            [(c + dc) * cell[0] - size[0], (r + dr) * cell[1] - size[1], heights[r + dr, c + dc] * size[2]], axis=-1
        )

    for a, b, last in (((0, 0), (0, 1), (1, 1)), ((0, 0), (1, 1), (1, 0))):
        distance, normal = triangle(p[ray], v[ray], corner(*a), corner(*b), corner(*last))
        first = np.full(len(p), np.inf)
        np.minimum.at(first, ray, distance)
        normals, nearest = np.zeros(p.shape), np.isfinite(distance) & (distance == first[ray])
        normals[ray[nearest]] = unit(normal[nearest])
        found.take(first, np.isfinite(first), normals)


def walls(p: Array, v: Array, size: Array, heights: Array, found: Nearest) -> None:
    """The four sides, from z = 0 up to the line between two heights of the edge."""
    for axis, edges in ((0, heights.T[[0, -1]]), (1, heights[[0, -1]])):
        other, crosses = 1 - axis, np.abs(v[:, axis]) > LEAST
        count = edges.shape[1]
        for side, edge in zip((-1.0, 1.0), edges):
            x = np.where(crosses, (side * size[axis] - p[:, axis]) / np.where(crosses, v[:, axis], 1), np.inf)
            s = at(p, v, x)
            y = (s[:, other] + size[other]) * (count - 1) / (2 * size[other])
            first = np.clip(np.floor(y), 0, count - 2).astype(int)
            top = edge[first] * (first + 1 - y) + edge[first + 1] * (y - first)
            within = (np.abs(s[:, other]) <= size[other]) & (s[:, 2] >= 0) & (s[:, 2] < size[2] * top)
            found.take(x, within, np.broadcast_to(side * np.eye(3)[axis], p.shape))


ROUND = {
    Kind.mjGEOM_PLANE: plane,
    Kind.mjGEOM_SPHERE: sphere,
    Kind.mjGEOM_CAPSULE: capsule,
    Kind.mjGEOM_ELLIPSOID: ellipsoid,
    Kind.mjGEOM_CYLINDER: cylinder,
    Kind.mjGEOM_BOX: box,
}


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
    """Cast rays (n, nray, 3) in the axes of a geom. sizes (n, ngeom 3): of geoms, where they are not the model's."""
    kind = Kind(m.geom_type[geom])
    if kind in ROUND:
        size = np.asarray(m.geom_size[geom])
        if sizes is not None:
            size = np.asarray(sizes[:, None, 3 * geom : 3 * geom + 3], np.float64)
        return ROUND[kind](p, v, size)
    if kind == Kind.mjGEOM_HFIELD:
        k = m.geom_dataid[geom]
        rows, columns = m.hfield_nrow[k], m.hfield_ncol[k]
        heights = np.asarray(m.hfield_data[m.hfield_adr[k] : m.hfield_adr[k] + rows * columns], float)
        return height_field(p, v, np.asarray(m.hfield_size[k]), heights.reshape(rows, columns))
    if kind != Kind.mjGEOM_MESH:
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_GEOM, geom) or f"geom{geom}"
        raise UsageError(f"ray: geom '{name}' is a signed distance field, which rays do not see; exclude its group")
    mesh = m.geom_dataid[geom]
    vertices = np.asarray(m.mesh_vert[m.mesh_vertadr[mesh] : m.mesh_vertadr[mesh] + m.mesh_vertnum[mesh]], float)
    faces = np.asarray(m.mesh_face[m.mesh_faceadr[mesh] : m.mesh_faceadr[mesh] + m.mesh_facenum[mesh]])
    x, normal = np.full(p.shape[:-1], np.inf), np.zeros(p.shape)
    # rays that come near the mesh
    _, far = roots(dot(v, v), dot(v, p), dot(p, p) - np.square(vertices).sum(axis=1).max(initial=0) * (1 + 1e-9))
    some = np.isfinite(far) & (far >= 0)
    if some.any():
        x[some], normal[some] = triangles(p[some], v[some], vertices[faces])
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
