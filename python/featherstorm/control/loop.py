"""The closed loop of a planner and a robot, in the robot's time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..planning import PlanningError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from .plant import Plant
    from .trot import Trot

    Array = npt.NDArray[np.float64]

SETTLED = 2.0  # errors count from this time on [s]
PUSHES = 3.0, 5.0, 7.0  # times of the pushes [s]
RECOVERY = 1.0  # time after a push in which errors do not count [s]


@dataclass
class Run:
    """A closed loop.

    seconds      simulated time [s];  fell  time of the fall [s], None without one
    velocities   (n, 3) forward, to the left, turn rate, after every step that counts
    error        root mean square of the task's error from SETTLED on, without RECOVERY after each push; NaN if the robot
                 fell before
    plan_times   (plans,) time that this computer took for each plan but the first [s]
    late         share of plans that took longer than a control step; in real time of those that were not ready in time
    failed       plans without a sample of finite cost, where the last plan went on
    slipped      in real time: the greatest delay of a step of the robot behind the clock [s]
    """

    seconds: float = 0.0
    fell: float | None = None
    velocities: Array = field(default_factory=lambda: np.zeros((0, 3)))
    error: float = float("nan")
    plan_times: Array = field(default_factory=lambda: np.zeros(0))
    late: float = 0.0
    failed: int = 0
    slipped: float = 0.0


class Recorder:
    """Record of a run, made step by step."""

    def __init__(self, task: Trot, timestep: float) -> None:
        self.task, self.h, self.run = task, timestep, Run()
        self.counts_from = round(SETTLED / timestep)
        self.sum = 0.0  # of squared errors
        self.velocities: list[Array] = []

    def pushed(self, step: int) -> None:
        self.counts_from = max(self.counts_from, step + round(RECOVERY / self.h))

    def add(self, step: int, plant: Plant) -> bool:
        """Record a step; return False if the robot has fallen."""
        run = self.run
        run.seconds = plant.time
        if step >= self.counts_from:
            self.velocities.append(plant.heading_velocity)
            self.sum += self.task.error(plant) ** 2
            run.error = (self.sum / len(self.velocities)) ** 0.5
        if self.task.has_fallen(plant):
            run.fell = plant.time
        return run.fell is None

    def __getstate__(self) -> dict[str, Any]:
        self.run.velocities = np.array(self.velocities).reshape(-1, 3)
        return {"run": self.run}


def drive(
    task: Trot,
    seconds: float = 8.0,
    *,
    latency: float = 0.02,
    predict: bool = True,
    push: float = 0.0,
    mass: float = 1.0,
    friction: float | None = None,
    seed: int = 0,
    each_step: Callable[[Plant], object] | None = None,
    plant: Plant | None = None,
) -> Run:
    """Run a task in closed loop until its time is over or the robot has fallen.

    Time is the robot's: a plan from the state at the time t acts from t + latency on, however long this computer takes
    for it. Every control step of the planner has a plan.

    latency    of a plan [s];  predict  whether the plan begins at the state that the model predicts for then
    push       size of three changes of the root's velocity, in random directions [m/s]
    mass, friction   of the robot alone (Plant); the planner's model stays as it is
    seed       of the planner, the first pose and the pushes
    each_step  called after each step of the robot
    plant      the robot; None: that of the task
    """
    if seconds <= 0 or latency < 0 or push < 0:
        raise ValueError(f"drive: seconds {seconds}, latency {latency}, push {push}: expected positive numbers")
    plant = task.plant(seed, mass, friction) if plant is None else plant
    planner, rng = task.planner(seed), np.random.default_rng(seed)
    h = plant.model.opt.timestep
    period, steps = round(task.dt / h), round(seconds / h)
    pushes = {round(t / h) for t in PUSHES} if push else set()
    recorder, spent = Recorder(task, h), []
    run = recorder.run
    for k in range(steps):
        t = k * h
        if k % period == 0:
            begin = time.perf_counter()
            try:
                planner.command(plant.state, t, latency=latency, predict=predict, p=task.p)
            except PlanningError:
                run.failed += 1
            spent.append(time.perf_counter() - begin)
        if k in pushes:
            angle = rng.uniform(0, 2 * np.pi)
            plant.push(push * np.array([np.cos(angle), np.sin(angle)]))
            recorder.pushed(k)
        plant.step(planner.control(t))
        if each_step is not None:
            each_step(plant)
        if not recorder.add(k, plant):
            break
    run.velocities, run.plan_times = np.array(recorder.velocities).reshape(-1, 3), np.array(spent[1:])
    run.late = float(np.mean(run.plan_times > task.dt)) if len(run.plan_times) else 0.0
    return run
