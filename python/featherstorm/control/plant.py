"""A robot in MuJoCo C."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


class Plant:
    """A robot that MuJoCo simulates, under the controls of its actuators.

    model          a mujoco.MjModel; it is copied
    mass           factor of all masses and inertias
    friction       of all geoms and pairs; None: those of the model

    data   the mujoco.MjData;  time [s]
    """

    def __init__(self, model: Any, mass: float = 1.0, friction: float | None = None) -> None:
        self.model = copy.copy(model)
        if mass <= 0 or (friction is not None and friction < 0):
            raise ValueError(f"Plant: mass is {mass} and friction {friction}, expected a positive factor and 0 or more")
        self.data: Any = mujoco.MjData(self.model)
        if mass != 1.0:
            self.model.body_mass[:] *= mass
            self.model.body_inertia[:] *= mass
            mujoco.mj_setConst(self.model, self.data)
        if friction is not None:
            self.model.geom_friction[:, 0] = friction
            self.model.pair_friction[:, :2] = friction

    @property
    def time(self) -> float:
        return float(self.data.time)

    @property
    def state(self) -> Array:
        """(nq + nv) q, then v, as measured."""
        return np.concatenate([self.data.qpos, self.data.qvel])

    def reset(self, q: npt.ArrayLike, settle: float = 0.0, control: npt.ArrayLike = 0.0) -> None:
        """Begin at rest at q (nq), after some time [s] under a control."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = q
        self.data.ctrl[:] = control
        if settle:
            mujoco.mj_step(self.model, self.data, round(settle / self.model.opt.timestep))
            self.data.time = 0.0
        mujoco.mj_forward(self.model, self.data)

    def step(self, control: npt.ArrayLike) -> None:
        """Step once under controls (nu,)."""
        self.data.ctrl[:] = control
        mujoco.mj_step(self.model, self.data)

    def push(self, velocity: npt.ArrayLike) -> None:
        """Change the velocity of a floating root, (2,) [m/s] along x and y of the world.

        Errors: ValueError for a robot whose first joint is not free.
        """
        if self.model.jnt_type[0] != mujoco.mjtJoint.mjJNT_FREE:
            raise ValueError("Plant: push needs a floating root, and the first joint is not free; leave the pushes out")
        self.data.qvel[:2] += velocity

    def position(self, name: str) -> Array:
        """Return the position (3,) of a site, or of a body where no site has the name [m]."""
        d = self.data
        site = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_SITE, name)
        return np.array(d.site_xpos[site] if site >= 0 else d.body(name).xpos)

    @property
    def upright(self) -> float:
        """Vertical component of the trunk's z axis: 1 upright, 0 on its side."""
        w, x, y, z = self.data.qpos[3:7]
        return float(1 - 2 * (x * x + y * y) / (w * w + x * x + y * y + z * z))

    @property
    def heading_velocity(self) -> Array:
        """(3,) velocity of the trunk forward and to its left, in the plane [m/s], and its turn rate [rad/s]."""
        w, x, y, z = self.data.qpos[3:7]
        forward = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z)])
        forward /= max(float(np.hypot(*forward)), 1e-9)
        v, turn = self.data.qvel[:2], self.data.qvel[3:6]
        up = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
        return np.array([forward @ v, forward[0] * v[1] - forward[1] * v[0], up @ turn])
