"""What MuJoCo's renderer draws of an environment in MuJoCo."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from ..viewing.scene import Scene
from .conditions import root_axes

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


class OneScene(Scene):
    """A MujocoEnv, drawn by a copy of its own model."""

    def __init__(self, env: Any) -> None:
        self.env, self.sims = env, np.array([0])
        self.model = env.mj_model.__copy__()
        self.kept = np.zeros(mujoco.mj_stateSize(self.model, STATE))

    def read(self, data: Any) -> None:
        for name in self.env.parameters:
            if not name.startswith("opt_"):
                getattr(self.model, name)[...] = getattr(self.env.mj_model, name)
        mujoco.mj_getState(self.env.mj_model, self.env.mj_data, self.kept, STATE)
        mujoco.mj_setState(self.model, data, self.kept, STATE)
        mujoco.mj_forward(self.model, data)


def follower(env: Any) -> Any:
    """A camera that goes along with a root that moves, from the side; None where nothing moves away."""
    if not root_axes(env.model):
        return None
    camera, m = mujoco.MjvCamera(), env.mj_model
    camera.type, camera.trackbodyid = int(mujoco.mjtCamera.mjCAMERA_TRACKING), int(m.jnt_bodyid[0])
    below = np.asarray(m.body_rootid) == m.body_rootid[camera.trackbodyid]
    reach = np.ptp(env.simulated.now.xipos[below], axis=0).max()
    camera.distance, camera.azimuth, camera.elevation = max(3.0 * reach, 1.5), 110.0, -15.0
    return camera
