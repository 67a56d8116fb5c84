"""Checks of model files (a named pipe or a device would block) and of compiled models; sensors of a compiled model."""

from __future__ import annotations

import ctypes
import functools
import glob
import html
import os
import re
import stat
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import mujoco

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .. import _featherstorm

KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
NAMED = re.compile(rb"""\b(file\w*|meshdir|texturedir|assetdir)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
MODELS = re.compile(rb"""<\s*(?:include|model)\b[^>]*?\bfile\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def expect_file(path: str | os.PathLike[str]) -> None:
    """Raise ValueError if something that is not a regular file has this path. A missing file passes."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    for is_kind, words in KINDS:
        if is_kind(mode):
            raise ValueError(f"{os.fspath(path)}: is {words}, expected a regular file")


def expect_files(path: str | os.PathLike[str]) -> None:
    """Raise ValueError if a model file, or a file that it names, exists and is not a regular file.

    A name may be relative to the folder of the file, of the model that includes the file, or of the model's assets.
    All these places are checked, because MuJoCo's compiler opens one of them.
    """
    top = os.path.dirname(os.path.abspath(path))
    seen: set[str] = set()
    left = [os.path.abspath(path)]
    names: list[str] = []
    folders = [top]
    while left:
        model = left.pop()
        if model in seen or not os.path.exists(model):
            continue
        seen.add(model)
        expect_file(model)
        with open(model, "rb") as file:
            text = file.read()
        folders.append(os.path.dirname(model))
        for attribute, name in attributes(text):
            if attribute.endswith("dir"):
                folders.extend(os.path.join(top, name) for top in (top, os.path.dirname(model)))
            elif name:
                names.append(name)
        for quoted in MODELS.findall(text):
            left.extend(os.path.join(folder, value_of(quoted)) for folder in (top, os.path.dirname(model)))
    for folder in dict.fromkeys(folders):
        for name in dict.fromkeys(names):
            for place in (name, os.path.basename(name)):
                where = os.path.join(folder, place)
                if not os.path.isdir(where):
                    expect_file(where)


def attributes(text: bytes) -> Iterator[tuple[str, str]]:
    """Yield name and value of each attribute that names a file or a folder of files."""
    for name, *quoted in NAMED.findall(text):
        yield name.decode("ascii"), value_of(quoted).split("://", 1)[-1]


def value_of(quoted: tuple[bytes, ...] | list[bytes]) -> str:
    """Return the value of an attribute in either kind of quotation marks."""
    return html.unescape(b"".join(quoted).decode("utf-8", "surrogateescape"))


TYPES = {
    "jnt_type": "mjtJoint", "geom_type": "mjtGeom", "eq_type": "mjtEq", "eq_objtype": "mjtObj", "wrap_type": "mjtWrap",
    "sensor_type": "mjtSensor", "sensor_objtype": "mjtObj", "sensor_reftype": "mjtObj", "actuator_trntype": "mjtTrn",
    "actuator_dyntype": "mjtDyn", "actuator_gaintype": "mjtGain", "actuator_biastype": "mjtBias",
}  # fmt: skip


@functools.cache
def index_checks() -> tuple[dict[str, list[int]], list[str], Any]:
    """Return the members of each field's enumeration, the fields with indices of an MjModel, and MuJoCo's check."""
    known = {x: [int(y) for y in getattr(mujoco, of).__members__.values()] for x, of in TYPES.items()}
    found = glob.glob(os.path.join(os.path.dirname(mujoco.__file__), "libmujoco.*"))
    check = getattr(ctypes.CDLL(found[0]), "mj_validateReferences", None) if found else None
    if check is not None:
        check.restype, check.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
    return known, [x for x in dir(mujoco.MjModel) if x.endswith(("adr", "id"))], check


def expect_indices(m: Any, name: str) -> None:
    """Raise ValueError for a type that MuJoCo does not have, and for an index that points outside its array.

    MuJoCo checks the indices of its binary files by the same function, which has no interface in Python. A build of
    MuJoCo without it leaves indices up to 2**30 unchecked.
    """
    known, fields, check = index_checks()
    for field, members in known.items():
        unknown = np.flatnonzero(~np.isin(getattr(m, field), members))
        if len(unknown):
            at = int(unknown[0])
            raise ValueError(f"{name}: {field}[{at}] is {getattr(m, field)[at]}, expected a member of {TYPES[field]}")
    for field in fields:
        if np.size(value := getattr(m, field)) and np.max(value) > 2**30:  # sums of these would overflow in the check
            raise ValueError(f"{name}: {field} is out of bounds")
    if check is not None and (reason := check(m._address)) is not None:
        raise ValueError(f"{name}: {reason.decode()}")


def refuse_nan(m: Any, name: str) -> None:
    """Raise ValueError for a number of the file that is NaN, with its field and its element."""
    kinds = {"body": "body", "geom": "geom", "jnt": "joint", "site": "site", "cam": "camera"}
    for field in ("pos", "quat", "ipos", "iquat", "mass", "inertia", "friction", "axis", "range", "damping"):
        for prefix, kind in kinds.items():
            rows = getattr(m, f"{prefix}_{field}", None)
            if not isinstance(rows, np.ndarray) or not len(rows) or not np.isnan(rows).any():
                continue
            row = int(np.isnan(rows).reshape(len(rows), -1).any(1).argmax())
            of = mujoco.mj_id2name(m, getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), row) or row
            raise ValueError(f"{name}: {prefix}_{field} of {kind} {of!r} is {rows[row]}, expected numbers")


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
