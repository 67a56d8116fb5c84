"""Sensors of a compiled MuJoCo model: its tables with a subset of them, and the subset that the engine supports."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .. import _featherstorm

ENERGIES = (43, 44)  # mjSENS_E_POTENTIAL, mjSENS_E_KINETIC


def with_sensors(m: Any, tables: dict[str, Any], keep: Sequence[int], energy: bool = False) -> dict[str, Any]:
    """Return the tables of a compiled model (mjcf.py) with only some of its sensors, then sensors of both energies.

    energy   True: append sensors of potential and kinetic energy
    """
    chosen = dict(tables)
    extra = 2 if energy else 0
    for name in (n for n in tables if n.startswith("sensor_") and n != "sensor_user"):
        field = getattr(m, name)
        width = int(np.prod(field.shape[1:]))
        rows = np.vstack([np.reshape(field, (-1, width))[list(keep)], np.zeros((extra, width))])
        chosen[name] = np.ravel(rows).astype(np.float64)
    last = len(keep)
    for k, kind in enumerate(ENERGIES[:extra]):
        chosen["sensor_type"][last + k] = kind
        chosen["sensor_dim"][last + k] = 1
        chosen["sensor_adr"][last + k] = m.nsensordata + k
        chosen["sensor_objid"][last + k] = chosen["sensor_refid"][last + k] = -1
    names = np.asarray(m.name_sensoradr)[list(keep)]
    chosen["name_sensoradr"] = np.concatenate([names, np.zeros(extra)]).astype(np.float64)
    chosen["nsensor"] = np.array([float(last + extra)])
    chosen["nsensordata"] = np.array([float(m.nsensordata + extra)])
    return chosen


CAMERA = 7  # mjOBJ_CAMERA
FRAMES = (8, *range(26, 31))  # mjSENS_CAMPROJECTION, mjSENS_FRAMEPOS to mjSENS_FRAMEZAXIS


def turns_by_itself(m: Any, sensor: int) -> bool:
    """Return whether a sensor measures, or measures in the axes of, a camera that tracks or targets a body."""
    objects = ("obj", "ref")
    cameras = [
        int(getattr(m, f"sensor_{o}id")[sensor]) for o in objects if getattr(m, f"sensor_{o}type")[sensor] == CAMERA
    ]
    return any(m.cam_mode[k] for k in cameras)


def is_framed_in_python(m: Any, sensor: int) -> bool:
    """Return whether a sensor measures the pose of such a camera, or in its image."""
    return int(m.sensor_type[sensor]) in FRAMES and turns_by_itself(m, sensor)


def measurable(
    world: Callable[[list[int]], _featherstorm.Robot], sensors: list[int]
) -> tuple[_featherstorm.Robot, list[int], dict[int, str]]:
    """Return the robot whose world has all supported sensors, these sensors, and the reasons for the others.

    world   makes a robot whose world has the given sensors. Raises ValueError for an unsupported one; an unnamed sensor
            is named by its index in that list
    Errors: ValueError for faults other than sensors.
    """
    try:
        return world(sensors), sensors, {}
    except ValueError:
        robot = world([])
    kept, refused = [], {}
    for i in sensors:
        try:
            world([i])
            kept.append(i)
        except ValueError as error:
            refused[i] = re.sub(r"^sensor \d+:", f"sensor {i}:", str(error))
    return world(kept) if kept else robot, kept, refused
