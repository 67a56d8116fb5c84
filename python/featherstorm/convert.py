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
    batch, arrays = states("to_pinocchio", model, q, v)
    check_quaternions(model, "to_pinocchio", "q", arrays[0])
    columns = joint_columns(model, pinocchio_model)
    nq = sum(n for *_, n, _ in columns)
    q, v = arrays[0], arrays[1] if v is not None else None
    p = np.empty((batch.instances, nq), batch.dtype)
    u = np.empty((batch.instances, model.nv), batch.dtype)
    for body, at_q, at_v, n, wide in columns:
        mine, his = slice(*body["q"]), slice(at_q, at_q + n)
        mine_v = slice(*body["v"])
        his_v = slice(at_v, at_v + mine_v.stop - mine_v.start)
        if wide:
            p[:, at_q], p[:, at_q + 1] = np.cos(q[:, mine.start]), np.sin(q[:, mine.start])
        else:
            p[:, his] = q[:, mine]
        if v is not None:
            u[:, his_v] = v[:, mine_v]
        if body["quaternion"] is not None:
            w = mine.stop - 4
            p[:, at_q + n - 4 : at_q + n] = q[:, [w + 1, w + 2, w + 3, w]]
        if body["type"] == "free" and v is not None:
            R = rotations(q[:, mine.start + 3 : mine.stop])
            u[:, at_v : at_v + 3] = np.einsum("bji,bj->bi", R, v[:, mine_v.start : mine_v.start + 3])
    return batch.result(p) if v is None else (batch.result(p), batch.result(u))


def from_pinocchio(model: Model, q: ArrayLike, v: ArrayLike | None = None, pinocchio_model: Any = None) -> Array:
    """Convert (q, v), or q alone, from Pinocchio's layout to ours, the inverse of `to_pinocchio`; both (B, n) or (n,).

    Errors: ValueError for a joint that the Pinocchio model lacks, for wrong shapes, and for quaternions that are not
    unit.
    """
    columns = joint_columns(model, pinocchio_model)
    batch, arrays = states("from_pinocchio", model, q, v, sum(n for *_, n, _ in columns))
    p, u = arrays[0], arrays[1] if v is not None else None
    q = np.empty((batch.instances, model.nq), batch.dtype)
    v = np.empty((batch.instances, model.nv), batch.dtype)
    for body, at_q, at_v, n, wide in columns:
        mine, his = slice(*body["q"]), slice(at_q, at_q + n)
        mine_v = slice(*body["v"])
        his_v = slice(at_v, at_v + mine_v.stop - mine_v.start)
        if wide:
            q[:, mine.start] = np.arctan2(p[:, at_q + 1], p[:, at_q])
        else:
            q[:, mine] = p[:, his]
        if u is not None:
            v[:, mine_v] = u[:, his_v]
        if body["quaternion"] is not None:
            x = at_q + n - 4
            q[:, mine.stop - 4 : mine.stop] = p[:, [x + 3, x, x + 1, x + 2]]
        if body["type"] == "free" and u is not None:
            R = rotations(q[:, mine.start + 3 : mine.stop])
            v[:, mine_v.start : mine_v.start + 3] = np.einsum("bij,bj->bi", R, u[:, at_v : at_v + 3])
    check_quaternions(model, "from_pinocchio", "q", q)
    return batch.result(q) if u is None else (batch.result(q), batch.result(v))


def states(
    op: str, model: Model, q: ArrayLike, v: ArrayLike | None, nq: int | None = None
) -> tuple[Arguments, list[npt.NDArray[Any]]]:
    """Return the arguments of a call and the arrays of all instances."""
    given = [("q", nq or model.nq, q)] + ([] if v is None else [("v", model.nv, v)])
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


def rotations(quat_wxyz: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert unit quaternions (B, 4) to rotation matrices (B, 3, 3)."""
    w, x, y, z = quat_wxyz.T
    R = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(R), -1, 0)
