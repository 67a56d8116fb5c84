"""Range finders: rays from sites and from the pixels of cameras (host/world/ray_scene.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .rays import by_rows, ray_scene
from .sensors import CAMERA, PROJECTION, RANGEFINDER

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Array = npt.NDArray[Any]


def has_depth_images(m: Any) -> bool:
    """Return whether lenses of cameras are read: by range finders, or by projections into images."""
    kind, of_cameras = np.asarray(m.sensor_type), np.asarray(m.sensor_objtype) == CAMERA
    return bool(((of_cameras & (kind == RANGEFINDER)) | (kind == PROJECTION)).any())


class RangeFinders:
    """The range finders of a model.

    some    their numbers; none if the file has none or turns sensors off, and none with a history
    poses   fields that they need
    """

    def __init__(self, m: Any) -> None:
        self.some: list[int] = []
        if not (np.asarray(m.sensor_type) == RANGEFINDER).any():
            return
        self.scene = ray_scene(m)
        self.some = self.scene.finders
        on_cameras = {int(m.sensor_objtype[i]) == CAMERA for i in self.some}
        self.places = [("site_xpos", "site_xmat") if False in on_cameras else (None, None)]
        self.places += [("cam_xpos", "cam_xmat") if True in on_cameras else (None, None)]
        self.poses = ["geom_xpos", "geom_xmat", *(name for pair in self.places for name in pair if name)]

    def measure(
        self, poses: Callable[[list[str]], dict[str, Array]], sensordata: Array, sizes: Array | None = None
    ) -> None:
        """Measure the range finders and write their columns of sensordata (n, nsensordata).

        poses   names of fields -> (n, ...) each in double
        sizes   (n, ngeom 3) of geoms, where they are not the model's
        """
        n = len(sensordata)
        if not self.some or not n:
            return
        placed = {name: by_rows(x, n) for name, x in poses(self.poses).items()}
        own = None if sizes is None else by_rows(sizes, n)
        data = sensordata.astype(np.float64, order="C")
        places = [placed.get(name) if name else None for pair in self.places for name in pair]
        self.scene.measure(placed["geom_xpos"], placed["geom_xmat"], own, places, data)
        sensordata[...] = data
