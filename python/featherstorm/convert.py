"""Conversion of states to and from Pinocchio's layout.

Pinocchio's free-flyer has the quaternion x y z w behind the position, and both halves of its velocity in the body's
axes. Ours has w x y z, and the linear velocity in world axes. The order of joints may differ (Pinocchio sorts the
children of a link by name), and Pinocchio's unlimited revolute joints have q = (cos, sin).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._evaluation.evaluation import check_quaternions
from ._memory.arguments import Arguments
from ._memory.arrays import not_on_cpu
from ._robot.mjcf import rotations
from .device import HOST, device_of, place

if TYPE_CHECKING:
    import numpy.typing as npt

    from .model import Model
    from .typing import Array, ArrayLike


def to_pinocchio(model: Model, q: ArrayLike, v: ArrayLike | None = None, pinocchio_model: Any = None) -> Array:
    """Convert (q, v), or q alone, to Pinocchio's layout; both (B, n) or (n,).

    pinocchio_model   a pinocchio.Model of the same robot: the result has its order of joints, matched by name. None:
                      the order is ours and unlimited joints stay plain angles
    """
    return converted("to_pinocchio", model, q, v, pinocchio_model)


def from_pinocchio(model: Model, q: ArrayLike, v: ArrayLike | None = None, pinocchio_model: Any = None) -> Array:
    """Convert (q, v), or q alone, from Pinocchio's layout to ours, the inverse of `to_pinocchio`; both (B, n) or (n,).

    Errors: ValueError for a joint that the Pinocchio model lacks, for wrong shapes, and for quaternions that are not
    unit.
    """
    return converted("from_pinocchio", model, q, v, pinocchio_model)


def converted(op: str, model: Model, q: ArrayLike, v: ArrayLike | None, pinocchio_model: Any) -> Array:
    """Return the states of one layout in the other one; to Pinocchio's for the op "to_pinocchio"."""
    to, columns = op == "to_pinocchio", joint_columns(model, pinocchio_model)
    his_nq = sum(n for *_, n, _ in columns)
    batch, arrays = states(op, model, q, v, model.nq if to else his_nq)
    B, dtype = batch.instances, batch.dtype
    found, speeds = np.empty((B, his_nq if to else model.nq), dtype), np.empty((B, model.nv), dtype)
    ours, his = (arrays[0], found) if to else (found, arrays[0])
    if to:
        check_quaternions(model, op, "q", ours)
    for body, at_q, at_v, n, wide in columns:
        (begin, end), of_v = body["q"], slice(*body["v"])
        his_v = slice(at_v, at_v + of_v.stop - of_v.start)
        # columns of equal numbers in both layouts; his quaternion has its w last
        mine, there = [*range(begin, end)], [*range(at_q, at_q + n)]
        if body["quaternion"] is not None:
            there[-4:] = [at_q + n - 1, *there[-4:-1]]
        if wide and to:
            his[:, at_q], his[:, at_q + 1] = np.cos(ours[:, begin]), np.sin(ours[:, begin])
        elif wide:
            ours[:, begin] = np.arctan2(his[:, at_q + 1], his[:, at_q])
        elif to:
            his[:, there] = ours[:, mine]
        else:
            ours[:, mine] = his[:, there]
        if v is None:
            continue
        source, target = (of_v, his_v) if to else (his_v, of_v)
        speeds[:, target] = arrays[1][:, source]
        if body["type"] == "free":
            R = rotations(ours[:, begin + 3 : end])
            linear = arrays[1][:, source.start : source.start + 3]
            speeds[:, target.start : target.start + 3] = np.einsum("bji,bj->bi" if to else "bij,bj->bi", R, linear)
    if not to:
        check_quaternions(model, op, "q", ours)
    return batch.result(found) if v is None else (batch.result(found), batch.result(speeds))


def states(
    op: str, model: Model, q: ArrayLike, v: ArrayLike | None, nq: int
) -> tuple[Arguments, list[npt.NDArray[Any]]]:
    """Return the arguments of a call and the arrays of all instances."""
    given = [("q", nq, q)] + ([] if v is None else [("v", model.nv, v)])
    for name, _, x in given:
        if (device := device_of(x)) != HOST:
            raise not_on_cpu(f"{op}: {name}", place(device))
    batch = Arguments(op, [x for *_, x in given], [(name, n) for name, n, _ in given])
    return batch, [np.broadcast_to(x, (batch.instances, n)) for x, (_, n, _) in zip(batch.arrays, given)]


def joint_columns(model: Model, other: Any) -> list[tuple[dict[str, Any], int, int, int, bool]]:
    """Return (body, first column of q, first column of v, width of q, True if q is (cos, sin)) of each joint there."""
    if other is None:
        return [(b, b["q"][0], b["v"][0], b["q"][1] - b["q"][0], False) for b in model.bodies]
    columns = []
    names = list(other.names)
    for body in model.bodies:
        name = body["joint"]
        if name not in names:
            name = "root_joint" if body["type"] == "free" and "root_joint" in names else None
        if name is None:
            raise ValueError(f"joint '{body['joint']}' is not in the Pinocchio model, which has {', '.join(names[1:])}")
        joint = other.joints[names.index(name)]
        width = body["q"][1] - body["q"][0]
        columns.append((body, joint.idx_q, joint.idx_v, joint.nq, joint.nq == 2 and width == 1))
    if sum(n for *_, n, _ in columns) != other.nq:
        raise ValueError(f"the Pinocchio model has nq {other.nq}, and joints that '{model.name}' has not")
    return columns
