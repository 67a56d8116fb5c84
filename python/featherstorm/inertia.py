"""Mass, centre of mass and inertia of shapes, for links of a `RobotBuilder`.

shank = fs.inertia.cylinder(2.0, 0.04, 0.4) + fs.inertia.sphere(0.3, 0.05).placed([0, 0, 0.2])
builder.add_link("shank", shank)

Solids have their axis along z and their centre in the origin, except the cone. Masses [kg], lengths [m]. A size that is
negative, zero or not finite raises ValueError; a mass may be zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any as _Any

import numpy as _np

from ._featherstorm import MassProperties

if TYPE_CHECKING:
    import numpy.typing as _npt

sphere = MassProperties.sphere
cylinder = MassProperties.cylinder
capsule = MassProperties.capsule
cone = MassProperties.cone
sphere_shell = MassProperties.sphere_shell
cylinder_shell = MassProperties.cylinder_shell
disc = MassProperties.disc
rod = MassProperties.rod


def _numbers(name: str, x: _npt.ArrayLike, dtype: type, columns: int | None = None) -> _Any:
    a: _Any = _np.asarray(x, dtype=dtype)
    if columns and (a.ndim != 2 or a.shape[1] != columns):
        raise ValueError(f"inertia: {name} has shape {a.shape}, expected (n, {columns})")
    return a.tolist()


def particles(masses: _npt.ArrayLike, points: _npt.ArrayLike) -> MassProperties:
    """Point masses (n,) [kg] at points (n, 3) [m]."""
    return MassProperties.particles(_numbers("masses", masses, float), _numbers("points", points, float, 3))


def box(mass: float, size: _npt.ArrayLike) -> MassProperties:
    """A solid box with edges (3,) along the axes [m]."""
    return MassProperties.box(mass, _numbers("size", size, float))


def ellipsoid(mass: float, semi_axes: _npt.ArrayLike) -> MassProperties:
    """A solid ellipsoid with semi-axes (3,) [m]."""
    return MassProperties.ellipsoid(mass, _numbers("semi_axes", semi_axes, float))


def box_shell(mass: float, size: _npt.ArrayLike) -> MassProperties:
    """The six faces of a box with edges (3,) [m]."""
    return MassProperties.box_shell(mass, _numbers("size", size, float))


def mesh(density: float, vertices: _npt.ArrayLike, triangles: _npt.ArrayLike) -> MassProperties:
    """A solid of this density [kg/m^3] with a closed surface of triangles (n, 3), indices of vertices (m, 3) [m].

    Triangles are counter-clockwise seen from outside. Errors: ValueError where an edge is open or the surface is inside
    out.
    """
    return MassProperties.mesh(
        density, _numbers("vertices", vertices, float, 3), _numbers("triangles", triangles, int, 3)
    )


def mesh_shell(density: float, vertices: _npt.ArrayLike, triangles: _npt.ArrayLike) -> MassProperties:
    """A surface of this density [kg/m^2], open or closed; the other arguments are those of `mesh`."""
    return MassProperties.mesh_shell(
        density, _numbers("vertices", vertices, float, 3), _numbers("triangles", triangles, int, 3)
    )
