"""Range finders: rays from sites and from the pixels of cameras, and what of them sensordata has.

A ray of a site goes along its z axis from its origin. Through the middle of a camera's pixel (column, row), row 0 at
the top, it goes from the camera along ((column + 0.5 - cx) / fx, -(row + 0.5 - cy) / fy, -1), made one long; an
orthographic camera's rays are parallel. Geoms of the body that carries the sensor are not seen. For each ray sensordata
has those that were asked for of distance, direction, origin, point, normal and depth, one after another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

from .rays import dot, hits, unit
from .sensors import CAMERA, NO_SENSORS, PROJECTION, RANGEFINDER, cut_off

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Array = npt.NDArray[Any]

Data = mujoco.mjtRayDataField
ORTHOGRAPHIC = int(mujoco.mjtProjection.mjPROJ_ORTHOGRAPHIC)
MOST_RAYS = 1 << 18  # at once


class Finder(NamedTuple):
    """A sensor. origins, directions (k, 3) of its rays in the axes of the site or camera that they begin at."""

    sensor: int
    number: int  # of the site or camera
    is_camera: bool
    body: int
    origins: Array
    directions: Array


def finders(m: Any) -> list[Finder]:
    if int(m.opt.disableflags) & NO_SENSORS:
        return []
    found = []
    for i in np.flatnonzero(np.asarray(m.sensor_type) == RANGEFINDER).tolist():
        if m.sensor_history[i, 0] > 0:
            continue
        number, is_camera = int(m.sensor_objid[i]), int(m.sensor_objtype[i]) == CAMERA
        body = int((m.cam_bodyid if is_camera else m.site_bodyid)[number])
        rays = pixel_rays(m, number) if is_camera else (np.zeros((1, 3)), np.array([[0.0, 0.0, 1.0]]))
        found.append(Finder(i, number, is_camera, body, *rays))
    return found


def has_depth_images(m: Any) -> bool:
    """Return whether lenses of cameras are read: by range finders, or by projections into images."""
    kind, of_cameras = np.asarray(m.sensor_type), np.asarray(m.sensor_objtype) == CAMERA
    return bool(((of_cameras & (kind == RANGEFINDER)) | (kind == PROJECTION)).any())


def pixel_rays(m: Any, camera: int) -> tuple[Array, Array]:
    """Origins and directions (height width, 3) in the camera's axes, row by row."""
    width, height = map(int, m.cam_resolution[camera])
    sensor, focal, middle = m.cam_sensorsize[camera], m.cam_intrinsic[camera][:2], m.cam_intrinsic[camera][2:]
    size, fovy = np.array([width, height], float), float(m.cam_fovy[camera])
    column, row = np.meshgrid(np.arange(width), np.arange(height))
    pixel = np.stack([column.ravel(), row.ravel()], axis=1) + 0.5
    zeros, ahead = np.zeros((len(pixel), 3)), np.full((len(pixel), 1), -1.0)
    if int(m.cam_projection[camera]) == ORTHOGRAPHIC:
        across = (pixel / (size / 2) - 1) * [fovy / 2, -fovy / 2]
        return np.hstack([across, zeros[:, :1]]), np.hstack([zeros[:, :2], ahead])
    if all(sensor):
        f, c = focal / sensor * size, middle / sensor * size
    else:
        f, c = np.full(2, height / 2 / np.tan(np.radians(fovy) / 2)), size / 2
    along = (pixel - c) / f * [1, -1]
    return zeros, unit(np.hstack([along, ahead]))


class RangeFinders:
    """The range finders of a model; it has none where `some` is empty."""

    def __init__(self, m: Any) -> None:
        self.m, self.some = m, finders(m)
        count = sum(len(f.origins) for f in self.some)
        self.at_once = max(MOST_RAYS // max(count, 1), 1)  # simulations
        self.exclude = np.concatenate([np.full(len(f.origins), f.body) for f in self.some]) if self.some else None
        self.poses = ["geom_xpos", "geom_xmat"]  # fields that they need
        self.poses += ["site_xpos", "site_xmat"] if any(not f.is_camera for f in self.some) else []
        self.poses += ["cam_xpos", "cam_xmat"] if any(f.is_camera for f in self.some) else []

    def measure(
        self, poses: Callable[[list[str]], dict[str, Array]], sensordata: Array, sizes: Array | None = None
    ) -> None:
        """Measure the range finders and write their rows of sensordata (n, size).

        poses   names of fields -> (n, ...) each in double
        sizes   (n, ngeom 3) of geoms, where they are not the model's
        """
        if not self.some or not len(sensordata):
            return
        given = poses(self.poses)
        for first in range(0, len(sensordata), self.at_once):
            rows = slice(first, first + self.at_once)
            own = None if sizes is None else sizes[rows]
            self.measure_some({name: x[rows] for name, x in given.items()}, sensordata[rows], own)

    def measure_some(self, given: dict[str, Array], sensordata: Array, sizes: Array | None) -> None:
        m, n = self.m, len(sensordata)
        starts, ways, axes = [], [], []
        for f in self.some:
            kind = "cam" if f.is_camera else "site"
            R, p = given[f"{kind}_xmat"][:, f.number], given[f"{kind}_xpos"][:, None, f.number]
            starts.append(p + np.einsum("nij,kj->nki", R, f.origins))
            ways.append(np.einsum("nij,kj->nki", R, f.directions))
            axes.append((p, R[:, None, :, 2]))
        origin, direction = np.concatenate(starts, axis=1), np.concatenate(ways, axis=1)
        exclude = np.broadcast_to(np.asarray(self.exclude), origin.shape[:2])
        pose = given["geom_xpos"], given["geom_xmat"]
        distance, _, normal = hits(m, pose, origin, direction, None, True, exclude, sizes)
        first = 0
        for f, (p, z) in zip(self.some, axes):
            rays = slice(first, first + len(f.origins))
            first = rays.stop
            eye = (p, z) if f.is_camera else None
            values = told(
                int(m.sensor_intprm[f.sensor][0]),
                distance[:, rays],
                origin[:, rays],
                direction[:, rays],
                normal[:, rays],
                eye,
            )
            begin, dim = int(m.sensor_adr[f.sensor]), int(m.sensor_dim[f.sensor])
            sensordata[:, begin : begin + dim] = cut_off(m, f.sensor, values.reshape(n, dim))


def told(
    asked: int, distance: Array, origin: Array, direction: Array, normal: Array, eye: tuple[Array, Array] | None
) -> Array:
    """Return the requested data (n, k, size) of rays (n, k): bits of mjtRayDataField.

    A ray without a hit has distance and depth -1 and zeros except for its origin.
    eye   position of the camera and its z axis, backwards, along which depth is measured; None: of a site, depth is
          distance
    """
    hit = distance[..., None] >= 0
    point = np.where(hit, origin + distance[..., None] * direction, 0)
    depth = distance if eye is None else np.where(distance >= 0, -dot(point - eye[0], eye[1]), -1)
    every = {
        Data.mjRAYDATA_DIST: distance[..., None],
        Data.mjRAYDATA_DIR: np.where(hit, direction, 0),
        Data.mjRAYDATA_ORIGIN: origin,
        Data.mjRAYDATA_POINT: point,
        Data.mjRAYDATA_NORMAL: np.where(hit, normal, 0),
        Data.mjRAYDATA_DEPTH: depth[..., None],
    }
    return np.concatenate([x for kind, x in every.items() if asked >> int(kind) & 1], axis=-1)
