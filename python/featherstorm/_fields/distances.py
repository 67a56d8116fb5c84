"""Sensors of distances between geoms whose shapes have no closed form: loops of the engine find them, which no kernel contains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .sensors import NO_SENSORS, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from .. import _featherstorm

    Array = npt.NDArray[Any]


def by_loops(m: Any, robot: _featherstorm.Robot) -> list[int]:
    """Return the sensors of a compiled model whose distances are found by loops, of those that the world of its robot has."""
    if int(m.opt.disableflags) & NO_SENSORS or not robot.has_world:
        return []
    first = set(robot.sensors_by_loops)
    return [i for i in range(m.nsensor) if m.sensor_dim[i] and int(m.sensor_adr[i]) in first]


class GeomDistances:
    """These sensors of a model.

    some    their numbers
    poses   fields that they need
    """

    poses = ("geom_xpos", "geom_xmat")

    def __init__(self, m: Any, robot: _featherstorm.Robot) -> None:
        self.m, self.robot, self.some = m, robot, by_loops(m, robot)

    def measure(
        self, poses: Callable[[list[str]], dict[str, Array]], sensordata: Array, sizes: Array | None = None
    ) -> None:
        """Write the numbers of these sensors into sensordata (n, nsensordata).

        poses   names of fields -> (n, ngeom, ...) each, in double
        sizes   (n, 3 ngeom) of geoms, where they are not the model's
        """
        n = len(sensordata)
        if not self.some or not n:
            return
        placed = [np.ascontiguousarray(x.reshape(n, -1)) for x in map(poses(list(self.poses)).__getitem__, self.poses)]
        own = None if sizes is None else np.ascontiguousarray(sizes, np.float64)
        found = np.zeros((n, self.robot.n_sensordata))
        self.robot.measure_distances(placed[0], placed[1], own, found)
        for rows in rows_of(self.m, self.some):
            sensordata[:, rows] = found[:, rows]
