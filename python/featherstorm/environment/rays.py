"""Rays against geoms in closed form, of single environments, for range finders and height scans.

A ray p + x v meets a surface at the least x >= 0, from inside as well as from outside, as in mj_ray. p, v (3,) in the
geom's axes, size (3,) are symbols or numbers; each function returns x, FAR or more without a hit.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


FAR = 1e6  # [lengths of v]
LEAST = 1e-12  # smallest divisor


def dot(a: Any, b: Any) -> Any:
    return (a * b).sum()


def least(*found: Any) -> Any:
    x = found[0]
    for y in found[1:]:
        x = np.minimum(x, y)
    return x


def safe(x: Any) -> Any:
    """Return x, bounded away from zero."""
    return np.where(np.abs(x) < LEAST, LEAST, x)


def ahead(x: Any, *conditions: Any) -> Any:
    """Return x where it is ahead and all conditions hold."""
    return np.where(functools.reduce(np.logical_and, conditions, x >= 0), x, FAR)


def roots(a: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:
    """Return both x of a x^2 + 2 b x + c = 0, the lesser first, and whether they are real; a >= 0."""
    square = b * b - a * c
    root, real = np.sqrt(np.maximum(square, 0.0)), np.logical_and(square >= 0, a > LEAST)
    return (-b - root) / np.maximum(a, LEAST), (-b + root) / np.maximum(a, LEAST), real


def plane(p: Any, v: Any, size: Any) -> Any:
    x = -p[2] / safe(v[2])
    # seen from above alone; a size of zero is unbounded
    inside = [np.logical_or(np.abs(p[k] + x * v[k]) <= size[k], size[k] <= 0) for k in (0, 1)]
    return ahead(x, v[2] < -LEAST, *inside)


def sphere(p: Any, v: Any, size: Any) -> Any:
    first, last, real = roots(dot(v, v), dot(p, v), dot(p, p) - size[0] ** 2)
    return least(ahead(first, real), ahead(last, real))


def ellipsoid(p: Any, v: Any, size: Any) -> Any:
    return sphere(p / size, v / size, np.ones(3))


def side(p: Any, v: Any, size: Any) -> Any:
    """The side of a cylinder of radius size[0] and half length size[1]."""
    first, last, real = roots(dot(v[:2], v[:2]), dot(p[:2], v[:2]), dot(p[:2], p[:2]) - size[0] ** 2)
    return least(*(ahead(x, real, np.abs(p[2] + x * v[2]) <= size[1]) for x in (first, last)))


def capsule(p: Any, v: Any, size: Any) -> Any:
    found = [side(p, v, size)]
    for end in (1.0, -1.0):
        c = np.concatenate([p[:2], np.array([p[2] - end * size[1]], object)]).view(type(p))
        first, last, real = roots(dot(v, v), dot(c, v), dot(c, c) - size[0] ** 2)
        found += [ahead(x, real, end * (c[2] + x * v[2]) >= 0) for x in (first, last)]
    return least(*found)


def cylinder(p: Any, v: Any, size: Any) -> Any:
    found = [side(p, v, size)]
    for end in (1.0, -1.0):
        x = (end * size[1] - p[2]) / safe(v[2])
        at = p[:2] + x * v[:2]
        found.append(ahead(x, np.abs(v[2]) > LEAST, dot(at, at) <= size[0] ** 2))
    return least(*found)


def box(p: Any, v: Any, size: Any) -> Any:
    both = [((-size[k] - p[k]) / safe(v[k]), (size[k] - p[k]) / safe(v[k])) for k in range(3)]
    enters, leaves = both[0][0], both[0][1]
    enters, leaves = np.minimum(enters, leaves), np.maximum(enters, leaves)
    for a, b in both[1:]:
        enters, leaves = np.maximum(enters, np.minimum(a, b)), np.minimum(leaves, np.maximum(a, b))
    return np.where(leaves >= np.maximum(enters, 0.0), np.where(enters >= 0, enters, leaves), FAR)


KINDS: dict[int, Callable[[Any, Any, Any], Any]] = {
    0: plane,
    2: sphere,
    3: capsule,
    4: ellipsoid,
    5: cylinder,
    6: box,
}  # mjtGeom


def cast(x: Any, point: Any, direction: Any, geoms: Sequence[str | int], far: float) -> Any:
    """Cast a ray; see EnvironmentState.ray."""
    from .._world.names import compiled, number_of

    m, texts = compiled(x.model), x.instance()
    position, turn, sizes = texts.geom_xpos(), texts.geom_xmat(), texts.of("geom_size")
    p, v = np.asarray(point, object), np.asarray(direction, object)
    if p.shape != (3,) or v.shape != (3,):
        raise ValueError(f"x.ray: point has shape {p.shape}, direction {v.shape}, expected (3,) each")
    kind = type(x.q)
    p, v, found = p.view(kind), v.view(kind), far
    for name in geoms:
        _, k = number_of(x.model, "geom", name)
        if int(m.geom_type[k]) not in KINDS:
            raise ValueError(f"x.ray: geom {name} is no plane, sphere, capsule, ellipsoid, cylinder or box")
        axes = np.asarray(turn[k], object).reshape(3, 3).view(kind)
        place = np.asarray(position[k], object).view(kind)
        size = np.asarray(sizes[k], object).view(kind)
        found = np.minimum(found, KINDS[int(m.geom_type[k])](axes.T @ (p - place), axes.T @ v, size))
    return found
