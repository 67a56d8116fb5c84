"""Rays against the geoms of a model, and the sensors that no kernel measures.

Rays have the results of mj_ray, in double (host/world/ray_scene.h). The sensors are range finders, and distances
between geoms whose shapes have no closed form, which loops of the engine find.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import _featherstorm
from .._robot.mjcf import flat
from .sensors import CAMERA, NO_SENSORS, PROJECTION, RANGEFINDER, rows_of
from .table import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ..typing import NumpyArray as Array


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


def has_depth_images(m: Any) -> bool:
    """Return whether lenses of cameras are read: by range finders, or by projections into images."""
    kind, of_cameras = np.asarray(m.sensor_type), np.asarray(m.sensor_objtype) == CAMERA
    return bool(((of_cameras & (kind == RANGEFINDER)) | (kind == PROJECTION)).any())


def distances_by_loops(m: Any, robot: _featherstorm.Robot) -> list[int]:
    """Return the sensors of a compiled model whose distances loops find, of those that the world of its robot has."""
    if int(m.opt.disableflags) & NO_SENSORS or not robot.has_world:
        return []
    first = set(robot.sensors_by_loops)
    return [i for i in range(m.nsensor) if m.sensor_dim[i] and int(m.sensor_adr[i]) in first]


class SensorsApart:
    """These sensors of a model.

    rays    of the model
    robot   its robot, or None where nothing of the model moves
    some    numbers of the sensors; range finders with a history are not among them
    poses   fields that they need
    """

    def __init__(self, m: Any, rays: Rays, robot: _featherstorm.Robot | None) -> None:
        self.m, self.rays, self.robot = m, rays, robot
        self.finders = rays.scene.finders if (np.asarray(m.sensor_type) == RANGEFINDER).any() else []
        self.distances = [] if robot is None else distances_by_loops(m, robot)
        self.some = [*self.finders, *self.distances]
        on_cameras = {int(m.sensor_objtype[i]) == CAMERA for i in self.finders}
        # positions and rotations of sites and of cameras, None where no range finder is on one
        self.places: list[str | None] = [None] * 4
        if False in on_cameras:
            self.places[:2] = "site_xpos", "site_xmat"
        if True in on_cameras:
            self.places[2:] = "cam_xpos", "cam_xmat"
        self.poses = ["geom_xpos", "geom_xmat", *(name for name in self.places if name)]

    def measure(
        self, poses: Callable[[list[str]], dict[str, Array]], sensordata: Array, sizes: Array | None = None
    ) -> None:
        """Write the numbers of these sensors into sensordata (n, nsensordata).

        poses   names of fields -> (n, ...) each in double
        sizes   (n, 3 ngeom) of geoms, where they are not the model's
        """
        n = len(sensordata)
        if not self.some or not n:
            return
        placed = {name: by_rows(x, n) for name, x in poses(self.poses).items()}
        position, rotation = placed["geom_xpos"], placed["geom_xmat"]
        own = None if sizes is None else by_rows(sizes, n)
        found = np.zeros((n, max(self.m.nsensordata, self.robot.n_sensordata if self.robot else 0)))
        if self.finders:
            places = [placed[name] if name else None for name in self.places]
            self.rays.scene.measure(position, rotation, own, places, found)
        if self.distances and self.robot is not None:
            self.robot.measure_distances(position, rotation, own, found)
        for columns in rows_of(self.m, self.some):
            sensordata[:, columns] = found[:, columns]
