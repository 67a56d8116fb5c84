"""A planner in a thread of its own, and the closed loop in real time, whose robot runs in another process."""

from __future__ import annotations

import atexit
import multiprocessing
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _featherstorm
from ..planning import PlanningError
from .loop import Recorder, Run, push_steps

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    from typing_extensions import Self

    from ..planning import Planner
    from ..typing import Doubles as Array
    from .task import Task


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


class PlanTimes(NamedTuple):
    """Times of the plans of a Receding [s], in their order.

    spent   time of a plan
    age     time from the measurement of its state until it was ready
    late    share of plans that were not ready when they should have begun to act
    failed  plans without a sample of finite cost
    """

    spent: Array
    age: Array
    late: float
    failed: int


class Receding:
    """A planner that plans again and again from the newest state, in a thread.

        with Receding(planner, p=target) as receding:
            while True:
                receding.submit(measured_state(), receding.clock())
                send(receding.control(receding.clock()))

    planner   its rollout is a featherstorm.Rollout. Nobody else may call it meanwhile
    clock     returns the time [s] of states and controls
    latency   time [s] from the measurement of a state until its plan acts; None: the mean of the last ones and four
              standard deviations, measured: a longer latency costs little, a late plan more. A plan that is late acts as
              soon as it is ready
    given     passed on to the rollout; `given` may be changed meanwhile

    The plan that acts stays in force while none is ready, and after a plan without a sample of finite cost.
    """

    def __init__(
        self,
        planner: Planner,
        *,
        clock: Callable[[], float] = time.monotonic,
        latency: float | None = None,
        **given: Any,
    ) -> None:
        self.planner, self.clock, self.latency, self.given = planner, clock, latency, given
        self._loop = _featherstorm.RecedingLoop(latency)

    def __repr__(self) -> str:
        return f"<featherstorm.control.Receding: latency {self.expected_latency:.3g} s, {self.planner!r}>"

    @property
    def expected_latency(self) -> float:
        return self._loop.expected_latency

    def __enter__(self) -> Self:
        self._loop.start(self._plan, self.clock, self.planner.t0)
        atexit.register(self.stop)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the thread after its present plan."""
        self._loop.stop()
        atexit.unregister(self.stop)

    def submit(self, x: npt.ArrayLike, t: float) -> None:
        """Give the state x (nx,) measured at the time t [s]. It replaces one that no plan has begun with.

        Errors: the error that has ended the thread, such as one of the rollout's arguments.
        """
        self._loop.submit(np.ravel(np.asarray(x, float)), t)

    def control(self, t: float) -> Array:
        """Return the control (nu,) that acts at the time t [s], at once."""
        return self.planner.control(t)

    @property
    def times(self) -> PlanTimes:
        spent, age, late, failed = self._loop.times()
        return PlanTimes(np.array(spent), np.array(age), late / max(len(age), 1), failed)

    def _plan(self, x: Array, t: float, latency: float) -> bool:
        robots = self.planner.robots
        try:
            self.planner.command(x if robots is None else x.reshape(robots, -1), t, latency=latency, **self.given)
        except PlanningError:
            return False
        return True
