"""Parameters of an episode in a copy of MuJoCo's model, with the derived quantities that MuJoCo stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .._world.values import field_of
from ..mujoco.state import mocap_bodies

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
    if "body_mass" in values:
        m.body_subtreemass[:] = subtree_masses(m)
    if not set(values).isdisjoint(INERTIAS) and np.any(m.dof_simplenum):
        twin = m.__copy__()
        mujoco.mj_setConst(twin, mujoco.MjData(twin))
        simple = np.asarray(m.dof_simplenum) > 0
        m.dof_M0[simple] = twin.dof_M0[simple]
    if "geom_size" in values:
        for g in range(m.ngeom):
            bound(m, g)
    if not set(values).isdisjoint(("geom_size", "geom_pos", "geom_quat")):
        # the bounding volume trees belong to the old positions of the geoms
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)


def subtree_masses(m: Any) -> Any:
    found = np.array(m.body_mass)
    for body in range(m.nbody - 1, 0, -1):
        found[m.body_parentid[body]] += found[body]
    return found


def bound(m: Any, g: int) -> None:
    """Set the bounding sphere and box of a geom from its size.

    Planes, meshes and height fields have no bounds by their size.
    """
    kind, (a, b, c) = int(m.geom_type[g]), m.geom_size[g]
    half = {
        int(SHAPES.mjGEOM_SPHERE): (a, a, a),
        int(SHAPES.mjGEOM_CAPSULE): (a, a, a + b),
        int(SHAPES.mjGEOM_ELLIPSOID): (a, b, c),
        int(SHAPES.mjGEOM_CYLINDER): (a, a, b),
        int(SHAPES.mjGEOM_BOX): (a, b, c),
    }.get(kind)
    if half is None:
        return
    round_ones = (SHAPES.mjGEOM_SPHERE, SHAPES.mjGEOM_CAPSULE, SHAPES.mjGEOM_ELLIPSOID)
    m.geom_rbound[g] = (
        max(half)
        if kind in map(int, round_ones)
        else np.hypot(a, b)
        if kind == SHAPES.mjGEOM_CYLINDER
        else np.sqrt(a * a + b * b + c * c)
    )
    m.geom_aabb[g] = (0, 0, 0, *half)
