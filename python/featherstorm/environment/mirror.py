"""Mirror images of numbers in a robot's middle plane, y = 0 of its root, and the image of each joint.

If the robot is symmetric, the mirror image of an episode is an episode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import mujoco

if TYPE_CHECKING:
    from ..typing import ArrayLike

# largest distance of a joint from the mirror image of another [m], and of their axes [1 - cosine]
FAR, ASKEW = 0.02, 0.02


class Mirror:
    """The map y[i] = sign[i] x[source[i]] of the last axis. Applied twice, it gives x.

    source   (n,)
    sign     (n,) 1 or -1. None: 1
    """

    def __init__(self, source: ArrayLike, sign: ArrayLike | None = None) -> None:
        self.source = np.asarray(source, int)
        self.sign = np.ones(len(self.source)) if sign is None else np.asarray(sign, float)
        places = np.arange(len(self.source))
        is_one = (
            self.sign.shape == places.shape
            and (np.abs(self.sign) == 1).all()
            and (np.sort(self.source) == places).all()
        )
        if not is_one or (self.source[self.source] != places).any() or (self.sign[self.source] != self.sign).any():
            raise ValueError(
                f"mirror: places {self.source.tolist()} with signs {self.sign.tolist()}, expected numbers that change "
                "places in pairs"
            )

    def __len__(self) -> int:
        return len(self.source)

    def __call__(self, x: Any) -> Any:
        return x[..., self.source] * self.sign.astype(x.dtype)

    def of_each(self, inner: Mirror) -> Mirror:
        """Return the mirror of groups of len(inner) numbers each, or of a matrix (len(self), len(inner)): Q A P^T."""
        source = self.source[:, None] * len(inner) + inner.source
        return Mirror(source.ravel(), (self.sign[:, None] * inner.sign).ravel())


VECTOR = Mirror((0, 1, 2), (1, -1, 1))  # a velocity, a force, a direction
AXIAL = Mirror((0, 1, 2), (-1, 1, -1))  # an angular velocity, a torque
COMMAND = Mirror((0, 1, 2), (1, -1, -1))  # vx, vy, wz
SCALAR = Mirror((0,))


def joined(*parts: Mirror) -> Mirror:
    """Return the mirror of arrays one after the other."""
    starts = np.cumsum([0, *map(len, parts)])
    return Mirror(
        np.concatenate([part.source + start for part, start in zip(parts, starts)]),
        np.concatenate([part.sign for part in parts]),
    )


def of_joints(compiled: Any) -> Mirror:
    """Return the mirror of a robot's hinges and slides, in their order.

    Images are found from positions and axes at qpos0 of MuJoCo's model, in the axes of its root.
    Errors: ValueError for a joint without an image.
    """
    m, data = compiled, mujoco.MjData(compiled)
    mujoco.mj_kinematics(m, data)
    single = np.isin(m.jnt_type, (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE))
    joints = np.flatnonzero(single)
    root = m.body_rootid[m.jnt_bodyid[joints]]
    axes = data.xmat[root].reshape(-1, 3, 3)
    place = np.einsum("nij,ni->nj", axes, data.xanchor[joints] - data.xpos[root])
    axis = np.einsum("nij,ni->nj", axes, data.xaxis[joints])
    turns = m.jnt_type[joints] == mujoco.mjtJoint.mjJNT_HINGE
    image = VECTOR(axis) * np.where(turns, -1, 1)[:, None]
    distance = np.linalg.norm(place[:, None] - VECTOR(place), axis=2)  # (joint, image)
    cosine = axis @ image.T
    unlike = turns[:, None] != turns
    error = distance / FAR + (1 - np.abs(cosine)) / ASKEW + np.where(unlike, np.inf, 0)
    source = error.argmin(1)
    for i, k in enumerate(source):
        if distance[i, k] > FAR or 1 - abs(cosine[i, k]) > ASKEW or source[k] != i:
            raise ValueError(f"mirror: joint {m.joint(joints[i]).name} has no joint that is its image")
    return Mirror(source, np.sign(cosine[np.arange(len(source)), source]))
