"""The closed loop of a planner and a robot, in the robot's time, also on a page and as a video."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import viewing
from ..planning import PlanningError
from ..viewing.camera import follower
from ..viewing.scene import Scene
from .task import Plant, Run as Run, Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..typing import Doubles as Array


SETTLED = 2.0  # errors count from this time on [s]
PUSHES = 3 / 8, 5 / 8, 7 / 8  # times of the pushes, in parts of the task's time
RECOVERY = 1.0  # time after a push in which errors do not count [s]


class Recorder:
    """Record of a run, made step by step."""

    def __init__(self, task: Task, timestep: float) -> None:
        self.task, self.h, self.run = task, timestep, Run()
        self.counts_from = round(SETTLED / timestep)
        self.sum = 0.0  # of squared errors
        self.holds_since: float | None = None
        self.velocities: list[Array] = []

    def pushed(self, step: int) -> None:
        self.counts_from = max(self.counts_from, step + round(RECOVERY / self.h))

    def add(self, step: int, plant: Plant) -> bool:
        """Record a step; return False if the run is over: the robot has fallen, or has held its goal."""
        run, task = self.run, self.task
        run.seconds = plant.time
        if step >= self.counts_from:
            self.velocities.append(task.velocity(plant))
            self.sum += task.error(plant) ** 2
            run.error = (self.sum / len(self.velocities)) ** 0.5
        if task.has_fallen(plant):
            run.fell = plant.time
        elif task.hold is not None:
            if not task.is_reached(plant):
                self.holds_since = None
            elif self.holds_since is None:
                self.holds_since = plant.time
            if self.holds_since is not None and plant.time - self.holds_since >= task.hold - self.h:
                run.reached = self.holds_since
        return run.fell is None and run.reached is None

    def finish(self) -> Run:
        """Return the record of the run, which is over."""
        self.run.velocities = np.array(self.velocities).reshape(len(self.velocities), -1 if self.velocities else 3)
        self.run.succeeded = self.task.has_succeeded(self.run)
        return self.run


class Loop:
    """A closed loop that is stepped from outside. The arguments are those of `drive`.

    task, plant, planner   the robot is `plant`;  dt  time of a step of the robot [s]
    """

    def __init__(
        self,
        task: Task,
        seconds: float | None = None,
        *,
        latency: float = 0.02,
        predict: bool = True,
        push: float = 0.0,
        mass: float = 1.0,
        friction: float | None = None,
        seed: int = 0,
        plant: Plant | None = None,
    ) -> None:
        seconds = task.seconds if seconds is None else seconds
        if seconds <= 0 or latency < 0 or push < 0:
            raise ValueError(f"drive: seconds {seconds}, latency {latency}, push {push}: expected positive numbers")
        self.task, self.latency, self.predict, self.push = task, latency, predict, push
        self.plant = task.plant(seed, mass, friction) if plant is None else plant
        self.planner, self.rng = task.planner(seed), np.random.default_rng(seed)
        self.dt = float(self.plant.model.opt.timestep)
        self.period, self.left, self.k = round(task.dt / self.dt), round(seconds / self.dt), 0
        self.pushes = push_steps(task, self.plant, push)
        self.recorder, self.spent = Recorder(task, self.dt), list[float]()

    def plan(self, t: float) -> None:
        """Plan from the robot's state, which is that of the time t [s]."""
        begin = time.perf_counter()
        try:
            self.planner.command(self.plant.state, t, latency=self.latency, predict=self.predict, p=self.task.p)
        except PlanningError:
            self.recorder.run.failed += 1
        self.spent.append(time.perf_counter() - begin)

    def step(self) -> bool:
        """Plan where it is time to, and step the robot; return False, and do nothing, where the run is over."""
        if self.left == 0:
            return False
        k, t, plant = self.k, self.k * self.dt, self.plant
        if k % self.period == 0:
            self.plan(t)
        if k in self.pushes:
            angle = self.rng.uniform(0, 2 * np.pi)
            plant.push(self.push * np.array([np.cos(angle), np.sin(angle)]))
            self.recorder.pushed(k)
        plant.step(self.planner.control(t))
        self.k, self.left = k + 1, self.left - 1
        if not self.recorder.add(k, plant):
            self.left = 0
        return True

    def finish(self) -> Run:
        """Return the record of the steps so far."""
        run = self.recorder.finish()
        run.plan_times = np.array(self.spent[1:])
        run.late = float(np.mean(run.plan_times > self.task.dt)) if len(run.plan_times) else 0.0
        return run


def push_steps(task: Task, plant: Plant, push: float) -> set[int]:
    """Return the steps of the robot before which a run has its pushes, none if their size is 0.

    Errors: ValueError for a robot without a floating root.
    """
    if not push:
        return set()
    plant.push(np.zeros(2))  # raises the error before the run
    return {round(part * task.seconds / plant.model.opt.timestep) for part in PUSHES}


def drive(
    task: Task, seconds: float | None = None, *, each_step: Callable[[Plant], object] | None = None, **conditions: Any
) -> Run:
    """Run a task in closed loop until its time is over, the robot has fallen, or it has held its goal.

    Time is the robot's: a plan from the state at the time t acts from t + latency on, however long this computer takes
    for it. Every control step of the planner has a plan.

    seconds    None: those of the task
    each_step  called after each step of the robot
    conditions:
    latency    of a plan [s], 0.02;  predict  whether the plan begins at the state that the model predicts for then
    push       size of three changes of a floating root's velocity, in random directions, after 3/8, 5/8 and 7/8 of the
               task's time, unless the run is over before [m/s]
    mass, friction   of the robot alone (Plant); the planner's model stays as it is
    seed       of the planner, the first pose and the pushes
    plant      the robot; None: that of the task
    """
    loop = Loop(task, seconds, **conditions)
    while loop.step():
        if each_step is not None:
            each_step(loop.plant)
    return loop.finish()


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
