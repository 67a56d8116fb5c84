"""Small vectors and turns of numbers that may be traced: quaternions w x y z, matrices (3, 3), motions (turn, move)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..symbols import is_symbol, symbols


def vector(*numbers: Any) -> Any:
    """An array of single numbers; of symbols where one of them is."""
    flat = [x.item() if isinstance(x, np.ndarray) else x for x in numbers]
    return symbols(flat) if any(map(is_symbol, flat)) else np.array(flat, float)


def joined(*arrays: Any) -> Any:
    """Arrays one behind the other, flat."""
    return vector(*(x for a in arrays for x in np.ravel(a)))


def cross(a: Any, b: Any) -> Any:
    return vector(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a: Any, b: Any) -> Any:
    return np.sum(a * b)


def outer(a: Any, b: Any) -> Any:
    return vector(*(x * y for x in a for y in b)).reshape(len(a), len(b))


def product(p: Any, q: Any) -> Any:
    """The turn q, then p."""
    return vector(
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


def turn_about(axis: Any, angle: Any) -> Any:
    """The quaternion of a turn about a unit axis."""
    half = angle * 0.5
    s = np.sin(half)
    return vector(np.cos(half), s * axis[0], s * axis[1], s * axis[2])


def unit(x: Any) -> Any:
    """x over its length."""
    return x * (1 / np.sqrt(dot(x, x)))


def direction(x: Any) -> Any:
    """x (3,) over its length; (1, 0, 0) where that is less than 1e-15, as MuJoCo has it."""
    square = dot(x, x)
    none = square < 1e-30
    return np.where(none, vector(1, 0, 0), x * (1 / np.sqrt(np.where(none, 1.0, square))))


def matrix(q: Any) -> Any:
    """The rotation matrix of a unit quaternion."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    ww, xx, yy, zz = w * w, x * x, y * y, z * z
    return vector(
        ww + xx - yy - zz, 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), ww - xx + yy - zz, 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), ww - xx - yy + zz,
    ).reshape(3, 3)  # fmt: skip


def cross_motion(v: Any, m: Any) -> Any:
    """v x m of two motions."""
    return joined(cross(v[:3], m[:3]), cross(v[:3], m[3:]) + cross(v[3:], m[:3]))


def cross_force(v: Any, f: Any) -> Any:
    """v x* f of a motion and a force (moment, force)."""
    return joined(cross(v[:3], f[:3]) + cross(v[3:], f[3:]), cross(v[:3], f[3:]))
