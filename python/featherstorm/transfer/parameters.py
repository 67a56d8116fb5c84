"""Parameters of an episode in a copy of MuJoCo's model, with the derived quantities that MuJoCo stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .._fields.state import mocap_bodies
from .._world.values import field_of

if TYPE_CHECKING:
    from collections.abc import Mapping

INERTIAS = ("body_mass", "body_inertia", "body_ipos", "body_iquat", "dof_armature")
SHAPES = mujoco.mjtGeom


def write(m: Any, values: Mapping[str, Any]) -> None:
    """Write parameters by name into a model.

    Quantities that MuJoCo's compiler derives from the parameters stay unchanged, as in the engine. The exceptions are
    those that its step uses in their place: subtree masses, the constant inertias of simple joints (dof_M0), and the
    bounds of geoms for the collision search.
    """
    for name, value in values.items():
        field = field_of(name)
        if field.startswith("mocap"):  # a reset places mocap bodies relative to their parents
            bodies = mocap_bodies(m)
            getattr(m, field.replace("mocap", "body"))[bodies] = np.reshape(value, (len(bodies), -1))
            continue
        owner, field = (m.opt, field[4:]) if field.startswith("opt.") else (m, field)
        there = np.asarray(getattr(owner, field))
        if there.ndim:
            there[...] = np.reshape(value, there.shape)
        else:
            setattr(owner, field, type(getattr(owner, field))(np.ravel(value)[0]))
    if not set(values).isdisjoint(INERTIAS):
        twin = m.__copy__()
        mujoco.mj_setConst(twin, mujoco.MjData(twin))
        m.body_subtreemass[:] = twin.body_subtreemass
        simple = np.asarray(m.dof_simplenum) > 0
        m.dof_M0[simple] = twin.dof_M0[simple]
    if "geom_size" in values:
        for g in range(m.ngeom):
            bound(m, g)
    if not set(values).isdisjoint(("geom_size", "geom_pos", "geom_quat")):
        # the bounding volume trees belong to the old positions of the geoms
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)


def bound(m: Any, g: int) -> None:
    """Set the bounding sphere and box of a geom from its size.

    The sphere is that of the box, as large as needed or larger: the collision search only excludes distant geoms by it.
    Planes, meshes and height fields have no bounds by their size.
    """
    a, b, c = m.geom_size[g]
    half = {
        int(SHAPES.mjGEOM_SPHERE): (a, a, a),
        int(SHAPES.mjGEOM_CAPSULE): (a, a, a + b),
        int(SHAPES.mjGEOM_ELLIPSOID): (a, b, c),
        int(SHAPES.mjGEOM_CYLINDER): (a, a, b),
        int(SHAPES.mjGEOM_BOX): (a, b, c),
    }.get(int(m.geom_type[g]))
    if half is not None:
        m.geom_rbound[g] = np.linalg.norm(half)
        m.geom_aabb[g] = (0, 0, 0, *half)
