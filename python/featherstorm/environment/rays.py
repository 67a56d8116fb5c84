"""Rays of single environments against geoms in closed form, for range finders and height scans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._world.names import compiled, number_of
from ..symbols import bare, symbols

if TYPE_CHECKING:
    from collections.abc import Sequence


def cast(x: Any, point: Any, direction: Any, geoms: Sequence[str | int], far: float) -> Any:
    """Cast a ray; see EnvironmentState.ray."""
    m, fields = compiled(x.model), x.instance()
    position, turn, sizes = fields.geom_xpos(), fields.geom_xmat(), fields.of("geom_size")
    p, v = np.asarray(point, object), np.asarray(direction, object)
    if p.shape != (3,) or v.shape != (3,):
        raise ValueError(f"x.ray: point has shape {p.shape}, direction {v.shape}, expected (3,) each")
    kind = type(x.q)
    p, v, found = p.view(kind), v.view(kind), far
    for name in geoms:
        _, k = number_of(x.model, "geom", name)
        if int(m.geom_type[k]) not in _featherstorm.closed_rays:
            raise ValueError(f"x.ray: geom {name} is no plane, sphere, capsule, ellipsoid, cylinder or box")
        axes = np.asarray(turn[k], object).reshape(3, 3).view(kind)
        place = np.asarray(position[k], object).view(kind)
        given = [[bare(number) for number in y] for y in (sizes[k], axes.T @ (p - place), axes.T @ v)]
        found = np.minimum(found, symbols([fields.trace.ray(int(m.geom_type[k]), *given)])[0])
    return found
