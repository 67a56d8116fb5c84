"""A planner in a thread of its own, so that a slow plan stops nothing."""

from __future__ import annotations

import atexit
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _featherstorm
from ..planning import PlanningError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    from typing_extensions import Self

    from ..planning import Planner

    Array = npt.NDArray[Any]


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
