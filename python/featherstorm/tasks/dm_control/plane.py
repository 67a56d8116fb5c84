"""Distances of segments in the plane of x and z, for contacts between capsules of planar robots.

Arguments are numbers or symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._optional import mujoco

PLANE = [0, 2]  # x and z


def turned(p: Any, angle: Any) -> Any:
    """Rotate p (2,) from x towards z by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * p[0] - s * p[1], s * p[0] + c * p[1]])


def square_to_segment(p: Any, a: Any, b: Any) -> Any:
    """Return the squared distance of p (2,) from the segment a b, whose length is not 0."""
    d = b - a
    r = p - a - d * np.clip(np.dot(p - a, d) / np.dot(d, d), 0.0, 1.0)
    return np.dot(r, r)


def segments_within(reach: float, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return True if the segments a b and c d are nearer than `reach`.

    If segments do not cross, the nearest points include an end of one of them.
    """
    ends = [square_to_segment(p, c, d) for p in (a, b)] + [square_to_segment(p, a, b) for p in (c, d)]
    near = np.minimum.reduce(np.stack(ends)) < reach * reach
    crosses = np.logical_and(side(a, b, c) * side(a, b, d) < 0, side(c, d, a) * side(c, d, b) < 0)
    return np.logical_or(near, crosses)


def side(a: Any, b: Any, p: Any) -> Any:
    """Return a number that is positive if p is to the left of a b."""
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def ends_of(capsule: Any) -> tuple[Any, Any]:
    """Return the ends of a capsule's segment, x and z in the axes of its body."""
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, capsule.quat)
    half = capsule.size[1] * axes.reshape(3, 3)[PLANE, 2]
    return capsule.pos[PLANE] - half, capsule.pos[PLANE] + half
