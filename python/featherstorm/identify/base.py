"""Regressors with friction, and base parameters: what a log of joint forces can tell.

tau = Y pi + armature a + viscous v + coulomb sign(v) + offset
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypedDict

import numpy as np

from .. import ops
from .._robot.states import random_state
from .._robot.steps import check_tree
from .checks import on_one_thread, rows_of
from .parameters import NAMES, link_map

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from typing_extensions import Unpack

    from ..model import Model
    from ..typing import Doubles as Floats


class Columns(TypedDict, total=False):
    """Numbers of joints beside the inertial parameters, in the order of their columns; False: not among them."""

    armature: bool
    viscous: bool
    coulomb: bool
    offset: bool


COLUMNS = tuple(Columns.__annotations__)


class BaseParameters(NamedTuple):
    """The combinations of parameters that joint forces determine.

        Y pi = Y[:, independent] beta,  beta = combine pi

    names        (p,) of the parameters, "link.m" to "link.Iyz", "joint.viscous"
    independent  (r,) indices of parameters whose columns are a basis; each beta is one of them plus multiples of others
    combine      (r, p)
    condition    of the independent columns over the states, each scaled to length 1
    """

    names: tuple[str, ...]
    independent: npt.NDArray[np.int64]
    combine: Floats
    condition: float

    @property
    def rank(self) -> int:
        return len(self.independent)


def driven(model: Model) -> npt.NDArray[np.int64]:
    """Return the indices of coordinates of joints, the free joint of a floating base excluded."""
    found = [k for body in model.bodies if body["type"] != "free" for k in range(*body["v"])]
    return np.array(found, np.int64)


def column_names(model: Model, columns: tuple[str, ...]) -> tuple[str, ...]:
    names = [f"{body}.{name}" for body in model.body_names[1:] for name in NAMES]
    return (*names, *(f"{model.v_names[k]}.{column}" for column in columns for k in driven(model)))


def chosen(label: str, columns: Mapping[str, object]) -> tuple[str, ...]:
    """Return the requested columns in their order. Errors: TypeError for other names."""
    if unknown := columns.keys() - set(COLUMNS):
        raise TypeError(f"{label}: got {', '.join(sorted(unknown))}, expected {', '.join(COLUMNS)}")
    return tuple(name for name in COLUMNS if columns.get(name))


def regressor(
    model: Model,
    q: npt.ArrayLike,
    v: npt.ArrayLike,
    a: npt.ArrayLike,
    *,
    friction_velocity: float = 0.0,
    **columns: Unpack[Columns],
) -> Floats:
    """Return the matrix that maps the numbers of a robot to its joint forces.

        tau = Y pi,  pi = (ten inertial parameters of each link, then the requested numbers of each joint)

    in   q (B, nq), v (B, nv), a (B, nv)
    in   armature, viscous, coulomb, offset  True: adds a column for each coordinate, free joints excluded: a, v,
         sign(v), 1
    in   friction_velocity [rad/s | m/s]  sign(v) becomes v / sqrt(v^2 + friction_velocity^2)
    out  Y (B, nv, 10 nb + columns); Y.reshape(-1, Y.shape[-1]) stacks the instances
    Inertial parameters are in the axes of links (parameters.py). Source: Atkeson, An and Hollerbach 1986; Garofalo,
    Ott and Albu-Schaeffer 2013, (8)-(12).
    Errors: ValueError for shapes, for rows that are not finite, and for a model with loops or couplings.
    """
    kinds = chosen("regressor", columns)
    check_tree(model, "regressor", ())
    q, v, a = rows_of("regressor", model, q, v, a)
    Y = np.asarray(ops.regressor(model, q, v, a))
    B, nv, n = Y.shape
    # instances are next to each other in the engine's memory: (nb, 10, 10)^T times (nv, nb, 10, B)
    of_links = np.swapaxes(link_map(model), 1, 2) @ np.moveaxis(Y, 0, -1).reshape(nv, n // 10, 10, B)
    dofs = driven(model)
    found = np.zeros((B, nv, n + len(kinds) * len(dofs)))
    found[..., :n] = np.moveaxis(of_links.reshape(nv, n, B), -1, 0)
    smooth = v / np.maximum(np.hypot(v, friction_velocity), np.finfo(float).tiny)
    values = {"armature": a, "viscous": v, "coulomb": smooth, "offset": np.ones_like(v)}
    for k, name in enumerate(kinds):
        found[:, dofs, n + k * len(dofs) + np.arange(len(dofs))] = values[name][:, dofs]
    return found


def base_parameters(
    model: Model,
    states: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike] | None = None,
    *,
    tolerance: float = 1e-8,
    seed: int = 0,
    **columns: Unpack[Columns],
) -> BaseParameters:
    """Find the base parameters of a robot from its regressor over random states.

    A QR factorisation with column pivoting of the stacked regressor, columns scaled to length 1. It ends where every
    column is within `tolerance` of the span of the chosen ones.

    in   states  (q, v, a), (B, n) each; None: random states with v and a ~ N(0, 1), enough for every column
    in   columns  armature, viscous, coulomb, offset of `regressor`
    out  BaseParameters
    Source: Gautier and Khalil 1990; Gautier 1991.
    Errors: ValueError for shapes, for rows that are not finite, and for a model with loops or couplings.
    """
    kinds = chosen("base_parameters", columns)
    names = column_names(model, kinds)
    if states is None:
        B = 10 + 3 * len(names) // model.nv
        states = (*random_state(model, B, seed), random_state(model, B, seed + 1)[1])
    Y = regressor(model, *rows_of("base_parameters", model, *states), **columns)
    return base_of(Y.reshape(-1, len(names)), names, tolerance)


def pivots(A: Floats, tolerance: float) -> npt.NDArray[np.int64]:
    """Return independent columns of a matrix: the longest one, then the one longest beside it, and so on.

    They are the pivots of a QR factorisation with column pivoting, by Gram and Schmidt's method.
    """
    A, found = A.copy(), []
    least = tolerance * np.linalg.norm(A, axis=0).max(initial=0)
    for _ in range(min(A.shape)):
        length = np.linalg.norm(A, axis=0)
        k = int(np.argmax(length))
        if length[k] <= least:
            break
        found.append(k)
        u = A[:, k] / length[k]
        A -= np.outer(u, u @ A)
        A[:, k] = 0
    return np.array(found, np.int64)


@on_one_thread
def base_of(W: Floats, names: tuple[str, ...], tolerance: float) -> BaseParameters:
    """Return the base parameters of a stacked regressor (rows, p)."""
    length = np.linalg.norm(W, axis=0)
    length[length <= 1e-10 * length.max(initial=0)] = 0  # rounding, of parameters without effect
    scaled = np.where(length > 0, W, 0) / np.where(length > 0, length, 1)
    independent = np.sort(pivots(np.asarray(np.linalg.qr(scaled, mode="r")), tolerance))
    rank, basis = len(independent), scaled[:, independent]
    combine = np.linalg.lstsq(basis, scaled, rcond=None)[0] * length / length[independent][:, None]
    combine[np.abs(combine) < 1e-9 * np.abs(combine).max(initial=0)] = 0
    combine[:, independent] = np.eye(rank)
    return BaseParameters(names, independent, combine, float(np.linalg.cond(basis)) if rank else np.inf)
