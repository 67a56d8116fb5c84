"""Identified numbers in MuJoCo's models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import mujoco
from .._robot.mjcf import Names
from .._world.names import compiled
from .parameters import TABLES, from_pseudo_inertia, inertial_parameters, is_physical, matrix, placement, pseudo_inertia

if TYPE_CHECKING:
    from ..model import Model

JOINTS = {"damping": "dof_damping", "friction": "dof_frictionloss", "armature": "dof_armature"}


def to_mujoco(model: Model) -> Any:
    """Return a copy of the MjModel of a model with the numbers that are bound: inertias, joints, tables of the file.

    The inertia of bodies that are welded together goes to the first of them; the others have none. Numbers that
    MuJoCo's compiler derives follow (mj_setConst).
    Errors: ValueError for a model that was not made of a model file, for numbers that differ between instances, for
    bound names that are no array of an MjModel, for a body that the model lacks, and for an inertia that no physical
    body has.
    """
    m = compiled(model).__copy__()
    if any(name in model.bound for name in TABLES):
        pi, names = inertial_parameters(model), Names(m).body
        of_body = model.robot.frame_bodies
        for b in range(1, m.nbody):
            if names[b] not in model.frame_names:
                raise ValueError(f"to_mujoco: {model.name} has no frame '{names[b]}', a body of its file")
            i = of_body[model.frame_names.index(names[b])]
            if i == 0:
                continue  # welded to the world
            if m.body_weldid[b] != b:
                m.body_mass[b], m.body_inertia[b] = 0, 0
                continue
            # P in the frame of MuJoCo's body
            T = np.linalg.inv(placement(model, names[b])) @ placement(model, model.body_names[i])
            own = from_pseudo_inertia(T @ pseudo_inertia(pi[i - 1]) @ T.T)
            if not is_physical(own):
                raise ValueError(f"to_mujoco: no physical body has the inertia of {names[b]}")
            center = own[1:4] / own[0]
            central = matrix(*own[4:]) - own[0] * (center @ center * np.eye(3) - np.outer(center, center))
            values, axes = np.linalg.eigh(central)
            axes[:, 0] *= np.linalg.det(axes)  # a rotation
            m.body_mass[b], m.body_ipos[b], m.body_inertia[b] = own[0], center, values
            mujoco.mju_mat2Quat(m.body_iquat[b], axes.ravel())
            m.body_sameframe[b] = 0
            m.body_simple[b] = 0
    for name, values in model.bound.items():
        if name in TABLES:
            continue
        field = JOINTS.get(name, name)
        if not hasattr(m, field):
            raise ValueError(f"to_mujoco: {name} is bound, and an MjModel has no array of that name")
        if np.size(values) != np.size(getattr(m, field)):
            raise ValueError(f"to_mujoco: {name} differs between instances, expected one model")
        getattr(m, field)[...] = np.reshape(values, np.shape(getattr(m, field)))
    mujoco.mj_setConst(m, mujoco.MjData(m))
    return m
