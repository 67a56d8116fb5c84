"""Inertial parameters of bodies: ten numbers each, their pseudo-inertia, and their axes.

pi = m, m c (3), Ixx Iyy Izz Ixy Ixz Iyz about the link's origin, entries of the matrix, in the axes of the link
(model.body_names). The pseudo-inertia P (4, 4) has the same numbers:

    P = [Sigma  m c; m c^T  m],  Sigma = 1/2 tr(I) 1 - I            Wensing, Kim and Slotine 2018, (11)

A body with positive density exists if and only if P is positive definite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import mujoco
from .._robot.mjcf import Names
from .._world.values import compiled, with_inputs

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..model import Model
    from ..typing import Doubles as Floats


NAMES = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
TABLES = ("mass", "com", "inertia")  # names of the same numbers in Model.bind
LEAST = 1e-6  # least eigenvalue of a prior's pseudo-inertia, as a part of the largest


def matrix(xx: Floats, yy: Floats, zz: Floats, xy: Floats, xz: Floats, yz: Floats) -> Floats:
    """Return symmetric matrices (..., 3, 3)."""
    return np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=-1).reshape(*np.shape(xx), 3, 3)


def pseudo_inertia(pi: npt.ArrayLike) -> Floats:
    """Return the pseudo-inertia (..., 4, 4) [kg m^2, kg m, kg] of parameters (..., 10)."""
    pi = np.asarray(pi, float)
    rotational = matrix(*np.moveaxis(pi[..., 4:], -1, 0))
    P = np.zeros((*pi.shape[:-1], 4, 4))
    P[..., :3, :3] = np.trace(rotational, axis1=-2, axis2=-1)[..., None, None] / 2 * np.eye(3) - rotational
    P[..., :3, 3] = P[..., 3, :3] = pi[..., 1:4]
    P[..., 3, 3] = pi[..., 0]
    return P


def from_pseudo_inertia(P: Floats) -> Floats:
    """Return the parameters (..., 10) of pseudo-inertias (..., 4, 4)."""
    sigma = P[..., :3, :3]
    rotational = np.trace(sigma, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - sigma
    rows, columns = (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)
    return np.concatenate([P[..., 3, 3, None], P[..., :3, 3], rotational[..., rows, columns]], axis=-1)


def placement(model: Model, frame: str) -> Floats:
    """Return the placement (4, 4) of a frame in its body, [R r; 0 1]."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = model.robot.frame_placements[model.frame_names.index(frame)]
    return T


def link_map(model: Model) -> Floats:
    """Return A (nb, 10, 10): parameters in the axes of the model's bodies are A times those in the axes of links.

    P_body = T P_link T^T,  T = [R r; 0 1] the placement of the link in its body
    """
    T = np.array([placement(model, name) for name in model.body_names[1:]]).reshape(-1, 4, 4)
    P = T[:, None] @ pseudo_inertia(np.eye(10)) @ np.swapaxes(T, 1, 2)[:, None]
    return np.swapaxes(from_pseudo_inertia(P), 1, 2)


def inertial_parameters(model: Model) -> Floats:
    """Return the inertial parameters (nb, 10) of a model in the axes of its links.

    Errors: ValueError for a model whose masses differ between instances.
    """
    mass, com, inertia = (np.asarray(model.parameter(name), float) for name in TABLES)
    if (mass.ndim, com.ndim, inertia.ndim) != (1, 2, 2):
        raise ValueError(f"identify: {model.name} has bound masses that differ between instances, expected one robot")
    c2 = np.sum(com**2, axis=1)[:, None, None] * np.eye(3) - com[:, :, None] * com[:, None, :]
    xx, xy, xz, yy, yz, zz = inertia.T
    about_origin = matrix(xx, yy, zz, xy, xz, yz) + mass[:, None, None] * c2
    rows, columns = (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)
    return np.concatenate([mass[:, None], mass[:, None] * com, about_origin[:, rows, columns]], axis=1)


def with_inertias(model: Model, pi: npt.ArrayLike, **others: npt.ArrayLike) -> Model:
    """Return the model with other inertial parameters (nb, 10), bound as mass, com and inertia.

    others   further parameters of Model.bind, such as damping (nv,)
    """
    pi = np.asarray(pi, float).reshape(-1, 10)
    mass = pi[:, 0]
    com = np.divide(pi[:, 1:4], mass[:, None], out=np.zeros((len(pi), 3)), where=mass[:, None] != 0)
    c2 = np.sum(com**2, axis=1)[:, None, None] * np.eye(3) - com[:, :, None] * com[:, None, :]
    central = matrix(*pi[:, 4:].T) - mass[:, None, None] * c2
    inertia = central[:, (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)]
    return with_inputs(model, (*TABLES, *others)).bind(mass=mass, com=com, inertia=inertia, **others)


def nearest_physical(P: Floats) -> Floats:
    """Return pseudo-inertias (..., 4, 4) with eigenvalues of at least LEAST times the largest one."""
    values, vectors = np.linalg.eigh(P)
    floor = LEAST * values[..., -1:]
    return np.where(
        (values[..., :1] >= floor)[..., None],
        P,
        (vectors * np.maximum(values, floor)[..., None, :]) @ np.swapaxes(vectors, -1, -2),
    )


def is_physical(pi: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return for parameters (..., 10) whether a body with positive density has them.

    The mass and the inertia about the centre are positive, and principal inertias satisfy the triangle inequality.
    """
    found: npt.NDArray[np.bool_] = np.linalg.eigvalsh(pseudo_inertia(pi))[..., 0] > 0
    return found


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
