"""Whether a ray meets the zone of a site, for touch sensors: numbers may be traced. p + x v, x >= 0, in the site's axes."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from .turns import dot, vector

SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX = (
    int(kind)
    for kind in (
        mujoco.mjtGeom.mjGEOM_SPHERE,
        mujoco.mjtGeom.mjGEOM_CAPSULE,
        mujoco.mjtGeom.mjGEOM_ELLIPSOID,
        mujoco.mjtGeom.mjGEOM_CYLINDER,
        mujoco.mjtGeom.mjGEOM_BOX,
    )
)
FAR = 1e15  # beyond all that a ray may meet


def within_quadric(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """From where to where a x^2 + 2 b x + c <= 0; an empty stretch where it nowhere is."""
    square = b * b - a * c
    crosses, steep = square >= 0, a > 1e-15
    root, over = np.sqrt(np.maximum(square, 0.0)), 1 / np.where(steep, a, 1.0)
    first = np.where(steep, (-b - root) * over, np.where(c <= 0, -FAR, FAR))
    last = np.where(steep, (-b + root) * over, np.where(c <= 0, FAR, -FAR))
    return np.where(np.logical_or(crosses, a <= 1e-15), first, FAR), np.where(
        np.logical_or(crosses, a <= 1e-15), last, -FAR
    )


def within_slab(p: Any, v: Any, half: float) -> tuple[Any, Any]:
    """From where to where |p + x v| <= half."""
    crosses = np.absolute(v) > 1e-15
    over = 1 / np.where(crosses, v, 1.0)
    a, b = (-half - p) * over, (half - p) * over
    inside = np.absolute(p) <= half
    first = np.where(crosses, np.minimum(a, b), np.where(inside, -FAR, FAR))
    return first, np.where(crosses, np.maximum(a, b), np.where(inside, FAR, -FAR))


def met(stretches: list[tuple[Any, Any]]) -> Any:
    """Whether stretches of the ray share a place ahead."""
    first, last = stretches[0]
    for a, b in stretches[1:]:
        first, last = np.maximum(first, a), np.minimum(last, b)
    return np.logical_and(first <= last, last >= 0)


def ball(p: Any, v: Any, radius: float) -> Any:
    return within_quadric(dot(v, v), dot(v, p), dot(p, p) - radius**2)


def pipe(p: Any, v: Any, radius: float) -> Any:
    return within_quadric(v[0] * v[0] + v[1] * v[1], v[0] * p[0] + v[1] * p[1], p[0] * p[0] + p[1] * p[1] - radius**2)


def meets(kind: int, size: Any, p: Any, v: Any) -> Any:
    """Whether a ray meets a shape; none of its points need be ahead of p for one inside."""
    if kind == SPHERE:
        return met([ball(p, v, size[0])])
    if kind == ELLIPSOID:
        w = 1 / np.asarray(size)
        return met([ball(p * w, v * w, 1.0)])
    if kind == BOX:
        return met([within_slab(p[k], v[k], size[k]) for k in range(3)])
    body = met([pipe(p, v, size[0]), within_slab(p[2], v[2], size[1])])
    if kind == CYLINDER:
        return body
    up, down = vector(0, 0, size[1]), vector(0, 0, -size[1])
    ends = np.logical_or(met([ball(p - up, v, size[0])]), met([ball(p - down, v, size[0])]))
    return np.logical_or(body, ends)
