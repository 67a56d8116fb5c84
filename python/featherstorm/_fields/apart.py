"""Sensors that no kernel measures: range finders (host/world/ray_scene.h), and distances between geoms whose shapes have
no closed form, which loops of the engine find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .rays import Rays, by_rows
from .sensors import CAMERA, NO_SENSORS, PROJECTION, RANGEFINDER, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from .. import _featherstorm

    Array = npt.NDArray[Any]


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
