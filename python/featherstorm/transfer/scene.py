"""What MuJoCo's renderer draws of an environment in MuJoCo."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from ..viewing.camera import follower
from ..viewing.scene import Scene, drawn
from .conditions import root_axes

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


class OneScene(Scene):
    """A MujocoEnv, drawn by a copy of its own model, or by the look of its task."""

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
    """A camera that goes along with a root that moves away; None where none does."""
    return follower(env.mj_model, env.simulated.now) if root_axes(env.model) else None
