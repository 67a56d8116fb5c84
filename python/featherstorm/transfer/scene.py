"""Scene of a MujocoEnv for MuJoCo's renderer."""

from __future__ import annotations

import copy
from typing import Any

import mujoco
import numpy as np

from ..viewing.camera import follower
from ..viewing.scene import Scene, drawn
from .conditions import root_axes

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


class OneScene(Scene):
    """A MujocoEnv, drawn from a copy of its own model, or from its task's `look`."""

    def __init__(self, env: Any) -> None:
        self.env, self.sims = env, np.array([0])
        self.model = drawn(env.task, env.model)
        self.kept = np.zeros(mujoco.mj_stateSize(self.model, STATE))

    def read(self, data: Any) -> None:
        for name in self.env.parameters:
            if (
                not name.startswith("opt_")
                and getattr(self.model, name).shape == getattr(self.env.mj_model, name).shape
            ):
                getattr(self.model, name)[...] = getattr(self.env.mj_model, name)
        mujoco.mj_getState(self.env.mj_model, self.env.mj_data, self.kept, STATE)
        mujoco.mj_setState(self.model, data, self.kept, STATE)
        mujoco.mj_forward(self.model, data)


def along(env: Any) -> Any:
    """Return a camera that follows a moving root; None if the root does not move."""
    if not root_axes(env.model):
        return None
    data = copy.copy(env.mj_data)
    mujoco.mj_kinematics(env.mj_model, data)
    return follower(env.mj_model, data)
