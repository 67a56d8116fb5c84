"""What MuJoCo's renderer draws of an environment in MuJoCo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from ..viewing.scene import Scene

if TYPE_CHECKING:
    from .env import MujocoEnv

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


class OneScene(Scene):
    """An environment, drawn by its own model."""

    def __init__(self, env: MujocoEnv) -> None:
        self.env, self.sims = env, np.array([0])
        self.model = env.mj_model.__copy__()
        self.kept = np.zeros(mujoco.mj_stateSize(self.model, STATE))

    def read(self, data: Any) -> None:
        for name in self.env.parameters:
            if hasattr(self.model, name):
                getattr(self.model, name)[...] = getattr(self.env.mj_model, name)
        mujoco.mj_getState(self.env.mj_model, self.env.mj_data, self.kept, STATE)
        mujoco.mj_setState(self.model, data, self.kept, STATE)
        mujoco.mj_forward(self.model, data)


def scene_of(env: MujocoEnv) -> OneScene:
    return OneScene(env)
