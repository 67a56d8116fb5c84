"""The closed loop with a clock: the robot runs in a process of its own, in real time."""

from __future__ import annotations

import multiprocessing
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from .loop import Recorder, Run, push_steps
from .receding import Receding

if TYPE_CHECKING:
    import numpy.typing as npt

    from .task import Task

    Array = npt.NDArray[np.float64]

AHEAD = 0.3  # time of the targets that the robot has [s]


def drive_live(
    task: Task,
    seconds: float | None = None,
    *,
    latency: float | None = None,
    push: float = 0.0,
    mass: float = 1.0,
    friction: float | None = None,
    seed: int = 0,
) -> Run:
    """Run a task as `drive` does, in real time: the robot steps in another process, and waits for no plan.

    seconds   None: those of the task
    latency   of a plan [s]; None: as Receding measures it
    out       Run, whose `plan_times` are those of Receding, `late` counts plans that were not ready in time, and
              `slipped` is the greatest delay of a step of the robot behind the clock [s]
    """
    seconds = task.seconds if seconds is None else seconds
    planner, plant = task.planner(seed), task.plant(seed)
    push_steps(task, plant, push)  # raises its error here, not in the robot's process
    planner.command(plant.state, 0.0, p=task.p)  # makes the kernels
    planner.reset(np.tile(task.rest, (task.horizon, 1)))
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    robot = context.Process(target=live, args=(there, task, seconds, push, mass, friction, seed), daemon=True)
    robot.start()
    there.close()
    try:
        begin, h = here.recv()  # the robot is ready, and its clock runs

        def clock() -> float:
            return time.monotonic() - begin  # the same in both processes

        steps, sent = round(AHEAD / h), -1
        with Receding(planner, clock=clock, latency=latency, p=task.p) as receding:
            while True:
                state: Any = None
                while here.poll(0.0005):
                    state = here.recv()
                    if isinstance(state, Run):
                        run, times = state, receding.times
                        run.plan_times, run.late, run.failed = times.spent, times.late, times.failed
                        return run
                if state is not None:
                    receding.submit(state[1:], state[0])
                if planner.calls != sent:
                    sent, t = planner.calls, clock()
                    here.send((t, np.array([receding.control(t + h * j) for j in range(steps)], float)))
    finally:
        robot.join(5.0)
        robot.terminate()


def live(pipe: Any, task: Task, seconds: float, push: float, mass: float, friction: float | None, seed: int) -> None:
    """Step the robot in real time until its time is over or it has fallen; send states, receive targets."""
    plant, rng = task.plant(seed, mass, friction), np.random.default_rng(seed)
    h = plant.model.opt.timestep
    recorder, pushes = Recorder(task, h), push_steps(task, plant, push)
    begin = time.monotonic()
    pipe.send((begin, h))
    table: tuple[float, Array] = (0.0, task.rest[None])
    for k in range(round(seconds / h)):
        t = k * h
        early = t - (time.monotonic() - begin)
        if early > 0:
            time.sleep(early)
        recorder.run.slipped = max(recorder.run.slipped, -early)
        while pipe.poll():
            table = pipe.recv()
        if k in pushes:
            angle = rng.uniform(0, 2 * np.pi)
            plant.push(push * np.array([np.cos(angle), np.sin(angle)]))
            recorder.pushed(k)
        plant.step(table[1][min(max(round((t - table[0]) / h), 0), len(table[1]) - 1)])
        if k % 5 == 0:
            pipe.send(np.concatenate([[t + h], plant.state]))
        if not recorder.add(k, plant):
            break
    pipe.send(recorder.finish())
