"""Videos of closed loops, by MuJoCo's renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import viewing
from ..viewing.camera import follower
from ..viewing.scene import Scene
from .loop import drive

if TYPE_CHECKING:
    from .loop import Run
    from .plant import Plant
    from .trot import Trot


class PlantScene(Scene):
    """A Plant, as MuJoCo draws it."""

    def __init__(self, plant: Plant) -> None:
        self.plant, self.model, self.sims = plant, plant.model, np.array([0])

    def read(self, data: Any) -> None:
        data.qpos[:], data.qvel[:] = self.plant.data.qpos, self.plant.data.qvel
        mujoco.mj_forward(self.model, data)


def film(path: str, task: Trot, seconds: float = 8.0, *, fps: int = 50, **conditions: Any) -> Run:
    """Run a task as `drive` does, and write a video of it. conditions: options of `drive`."""
    plant = task.plant(conditions.get("seed", 0), conditions.pop("mass", 1.0), conditions.pop("friction", None))
    with viewing.Video(path, PlantScene(plant), fps=fps, camera=follower(plant.model, plant.data)) as video:
        return drive(task, seconds, plant=plant, each_step=lambda p: video.until(p.time), **conditions)
