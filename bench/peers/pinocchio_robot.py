"""The robot in Pinocchio's conventions."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from .robots import Description, Order, rotation


class PinocchioRobot:
    """Base velocity [linear; angular] in the base's axes, quaternion xyzw:  v_pin = T v,  T = blkdiag(R^T, 1)."""

    def __init__(self, ours: Description, folder: Path):
        import pinocchio

        model = (
            pinocchio.buildModelFromUrdf(str(ours.file), pinocchio.JointModelFreeFlyer())
            if ours.floating
            else pinocchio.buildModelFromUrdf(str(ours.file))
        )
        if model.nq != ours.nq or model.nv != ours.nv:
            raise RuntimeError(f"Pinocchio has nq {model.nq}, nv {model.nv}")
        index = {("root" if n == "root_joint" else n): k for k, n in enumerate(model.names)}
        self.order = Order(
            ours, {n: model.idx_qs[k] for n, k in index.items()}, {n: model.idx_vs[k] for n, k in index.items()}
        )
        self.model, self.floating = model, ours.floating
        # its reader of URDF files has no rotors
        model.armature = self.order.give(ours.armature[None], self.order.v)[0]
        turned = [np.eye(3) for _ in range(model.njoints)]
        self.file = folder / "robot.pinocchio"
        with open(self.file, "w") as f:
            for k in range(1, model.njoints):
                kind = model.joints[k].shortname()
                if kind in ("JointModelRevoluteUnaligned", "JointModelPrismaticUnaligned"):
                    # its joints about a coordinate axis are faster: the body's frame is turned until this is one
                    joint = model.joints[k].createData()
                    model.joints[k].calc(joint, pinocchio.neutral(model))
                    turns = "Revolute" in kind
                    axis = np.asarray(joint.S).ravel()[3 * turns :][:3]
                    n = int(np.argmax(np.abs(axis)))
                    turned[k] = -np.eye(3)
                    turned[k][n - 1, n - 1] = 1
                    if np.any(turned[k][:, n] != axis):
                        raise RuntimeError(f"bench/peers/pinocchio.cpp does not know joints about {axis}")
                    kind = f"JointModel{'R' if turns else 'P'}{'XYZ'[n]}"
                if not re.fullmatch("JointModel([RP][XYZ]|FreeFlyer)", kind):
                    raise RuntimeError(f"bench/peers/pinocchio.cpp does not know {kind}")
                X, I, F = model.jointPlacements[k], model.inertias[k], turned[k]
                P = turned[model.parents[k]].T
                at = model.idx_vs[k]
                numbers = np.concatenate(
                    [
                        (P @ X.rotation @ F).ravel(),
                        P @ X.translation,
                        [I.mass],
                        F.T @ I.lever,
                        (F.T @ I.inertia @ F).ravel(),
                        model.armature[at : at + model.nvs[k]],
                    ]
                )
                print(model.names[k], kind, model.parents[k], *map(repr, map(float, numbers)), file=f)

    def states(self, s: dict) -> dict:
        if self.floating:
            s = {name: x.copy() for name, x in s.items()}
            self.R = rotation(s["q"][:, 3:7])
            s["q"][:, 3:7] = s["q"][:, [4, 5, 6, 3]]
            for name in ("v", "a", "tau"):
                s[name][:, :3] = np.einsum("nji,nj->ni", self.R, s[name][:, :3])
            # the derivative of T v:  R^T a - w x R^T v
            self.wxv = np.cross(s["v"][:, 3:6], s["v"][:, :3])
            s["a"][:, :3] -= self.wxv
        return self.order.states(s)

    def back(self, kind: str, x: np.ndarray) -> np.ndarray:
        x = self.order.back(kind, x)
        if not self.floating:
            return x
        if kind == "crba":
            n = len(self.order.v)
            M = x.reshape(-1, n, n).copy()
            M[:, :3] = self.R @ M[:, :3]
            M[:, :, :3] = M[:, :, :3] @ self.R.transpose(0, 2, 1)
            return M.reshape(-1, n * n)
        linear = x[:, :3] + self.wxv if kind == "fd" else x[:, :3]
        return np.concatenate([np.einsum("nij,nj->ni", self.R, linear), x[:, 3:]], 1)
