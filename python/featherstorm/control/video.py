"""Closed loops on a page in the browser and as videos, by MuJoCo's renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import viewing
from ..viewing.camera import follower
from ..viewing.scene import Scene
from .loop import Loop, drive

if TYPE_CHECKING:
    from .plant import Plant
    from .run import Run
    from .task import Task


class PlantScene(Scene):
    """A Plant, as MuJoCo draws it."""

    def __init__(self, plant: Plant) -> None:
        self.plant, self.model, self.sims = plant, plant.model, np.array([0])

    def read(self, data: Any) -> None:
        data.qpos[:], data.qvel[:] = self.plant.data.qpos, self.plant.data.qvel
        mujoco.mj_forward(self.model, data)


class LoopScene(PlantScene):
    """A closed loop that a page steps. Its reset begins it anew."""

    def __init__(self, task: Task, seconds: float | None, conditions: dict[str, Any]) -> None:
        self.task, self.seconds, self.conditions = task, seconds, conditions
        self.loop = Loop(task, seconds, **conditions)
        self.dt = self.loop.dt
        super().__init__(self.loop.plant)

    def reset(self) -> None:
        self.loop = Loop(self.task, self.seconds, **self.conditions)
        self.plant = self.loop.plant

    def step(self) -> None:
        self.loop.step()


def film(path: str, task: Task, seconds: float | None = None, *, fps: int = 50, **conditions: Any) -> Run:
    """Run a task as `drive` does, and write a video of it. conditions: options of `drive`."""
    plant = task.plant(conditions.get("seed", 0), conditions.pop("mass", 1.0), conditions.pop("friction", None))
    with viewing.Video(path, PlantScene(plant), fps=fps, camera=follower(plant.model, plant.data)) as video:
        return drive(task, seconds, plant=plant, each_step=lambda p: video.until(p.time), **conditions)


def watch(task: Task, seconds: float | None = None, *, page: dict[str, Any] | None = None, **conditions: Any) -> Run:
    """Run a task as `drive` does, on a page in the browser, until Ctrl-C. page: options of `viewing.view`."""
    scene = LoopScene(task, seconds, conditions)
    viewing.view(scene, **(page or {}))
    return scene.loop.finish()
