"""Derivatives of both libraries on one tangent space, so that they can be compared.

Pinocchio's base: velocity u = R^T v and forces in the base's axes, a step of q moves the base by R dx. Ours: the linear
halves in world axes. With P = blkdiag(R^T, 1), and what turning the base by dth does to a vector in its axes, x -> x + x × dth:

    dv_p = P dv + X_v dq,   da_p = P da + X_a dq - E dv_p,   dtau_p = P dtau + X_t dq,   E dv_p = d(w × u)
"""

from __future__ import annotations

import numpy as np

from .robots import Description


def cross(x: np.ndarray) -> np.ndarray:
    """(N, 3) -> (N, 3, 3): the matrix of x ×"""
    zero = np.zeros(len(x))
    return np.array([[zero, -x[:, 2], x[:, 1]], [x[:, 2], zero, -x[:, 0]], [-x[:, 1], x[:, 0], zero]]).transpose(
        2, 0, 1
    )


def jacobians(kind: str, blocks: np.ndarray, robot, s: dict, answer: np.ndarray) -> np.ndarray:
    """Pinocchio's derivatives as ours, (N, nv, 3 nv): by q on the tangent space, by v, by tau ("fd") or a ("rnea").

    in   blocks   its three matrices, each by columns;   robot  the PinocchioRobot
    in   s        our states;   answer  what is differentiated, ours
    """
    n = s["v"].shape[1]
    J_q, J_v, J_x = (robot.order.matrix(x) for x in blocks.reshape(-1, 3, n, n).transpose(1, 0, 3, 2))
    if not robot.floating:
        return np.concatenate([J_q, J_v, J_x], 2)
    Rt = robot.R.transpose(0, 2, 1)

    def base(x):
        return np.einsum("nij,nj->ni", Rt, x[:, :3])

    def turned(x):
        """x -> x + x × dth of the linear half of a vector, as a matrix."""
        X = np.zeros((len(x), n, n))
        X[:, :3, 3:6] = cross(base(x))
        return X

    P = np.tile(np.eye(n), (len(J_q), 1, 1))
    P[:, :3, :3] = Rt
    E = np.zeros_like(P)
    E[:, :3, :3], E[:, :3, 3:6] = cross(s["v"][:, 3:6]), -cross(base(s["v"]))
    back = P.transpose(0, 2, 1)
    if kind == "fd":
        by_v, X = J_v + E, turned(s["tau"])
    else:
        by_v, X = J_v - J_x @ E, turned(s["a"])
    return np.concatenate(
        [back @ (J_q @ P + by_v @ turned(s["v"]) + J_x @ X - turned(answer)), back @ by_v @ P, back @ J_x @ P], 2
    )


def gradient(ours: Description, q: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Our x_bar of all inputs (N, nq + 2 nv) with the part of q on the tangent space, (N, 3 nv)."""
    q_bar, rest = x[:, : ours.nq], x[:, ours.nq :]
    g = np.empty((len(x), ours.nv))
    for name, k, i in zip(ours.joints, ours.q, ours.v):
        if name != "root":
            g[:, i] = q_bar[:, k]
            continue
        g[:, i : i + 3] = q_bar[:, k : k + 3]
        # d(quaternion) = quaternion (0, dth / 2)
        w, r = q[:, k + 3], q[:, k + 4 : k + 7]
        b0, b = q_bar[:, k + 3, None], q_bar[:, k + 4 : k + 7]
        g[:, i + 3 : i + 6] = (w[:, None] * b - b0 * r + np.cross(b, r)) / 2
    return np.concatenate([g, rest], 1)


def ours_as(ours: Description, op: str, s: dict, x: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Our answer, and the cotangent that it is a product with; None where it is the matrices themselves."""
    if op.endswith("_vjp"):
        return gradient(ours, s["q"], x), s["a"] if op == "fd_vjp" else s["tau"]
    n = ours.nv
    matrices = (x[:, n:] if op.startswith("fd") else x).reshape(
        len(x), -1, n, n
    )  # by rows; the first output of fd is a
    return np.concatenate(list(matrices.transpose(1, 0, 2, 3)), 2), None


def difference(ours: Description, op: str, s: dict, x: np.ndarray, J: np.ndarray) -> float:
    """Largest over states of max |x - r| / max |r|, r = J^T y_bar or J itself."""
    mine, cotangent = ours_as(ours, op, s, x)
    r = J[:, :, : mine.shape[-1]] if cotangent is None else np.einsum("nij,ni->nj", J, cotangent)
    axes = tuple(range(1, r.ndim))
    return float(np.max(np.max(np.abs(mine - r), axes) / np.max(np.abs(r), axes)))
