"""Rays against the geoms of a model, with the results of mj_ray, in double (host/world/ray_scene.h)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import _featherstorm
from .._robot.mjcf import flat
from .errors import UsageError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

LEAST = 1e-15  # mjMINVAL
GROUPS = int(mujoco.mjNGROUP)
FIELD = int(mujoco.mjtGeom.mjGEOM_SDF)


def by_rows(x: Array, n: int) -> npt.NDArray[np.float64]:
    return np.ascontiguousarray(x.reshape(n, -1), np.float64)


class Rays:
    """Rays against the geoms of a compiled model, which must not be changed."""

    def __init__(self, m: Any) -> None:
        self.m = m

    @cached_property
    def scene(self) -> _featherstorm.RayScene:
        return _featherstorm.RayScene({name: flat(self.m, name) for name in _featherstorm.ray_tables})

    def seen(self, geomgroup: Any, flg_static: bool) -> list[bool]:
        """Return which geoms rays see: visible, of the groups, and of bodies that move unless `flg_static`."""
        m, groups = self.m, None if geomgroup is None else np.asarray(geomgroup)
        if groups is not None and groups.shape != (GROUPS,):
            raise UsageError(f"geomgroup has shape {groups.shape}, expected ({GROUPS},)")
        seen = np.array(self.scene.visible, bool)
        if not flg_static:
            seen &= np.asarray(m.body_weldid)[m.geom_bodyid] != 0
        if groups is not None:
            seen &= groups[np.clip(m.geom_group, 0, GROUPS - 1)] != 0
        if (fields := np.flatnonzero(seen & (np.asarray(m.geom_type) == FIELD))).size:
            name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_GEOM, fields[0]) or f"geom{fields[0]}"
            raise UsageError(f"ray: geom '{name}' is a signed distance field, which rays do not see; exclude its group")
        return list(map(bool, seen))

    def hits(
        self,
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
        if points.size and np.sqrt((vectors**2).sum(axis=-1)).min() < LEAST:
            raise UsageError("ray: a vector has no length")
        n, k = points.shape[:2]
        found = np.full((n, k), -1.0), np.full((n, k), -1, np.int32), np.zeros((n, k, 3))
        if points.size:
            seen = self.seen(geomgroup, flg_static)
            position, rotation = (by_rows(x, n) for x in pose)
            own = None if sizes is None else by_rows(sizes, n)
            p, v = (np.ascontiguousarray(x, np.float64) for x in (points, vectors))
            excluded = np.ascontiguousarray(exclude, np.int32)
            self.scene.cast(position, rotation, own, seen, excluded, p, v, *found)
        return found
