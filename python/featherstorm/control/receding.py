"""A planner in a thread of its own, so that a slow plan stops nothing."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..planning import PlanningError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    from typing_extensions import Self

    from ..planning import Planner

    Array = npt.NDArray[Any]

MEMORY = 0.9  # weight of the past in the expected latency
LATE = 1e-4  # from this time on a plan is late [s]
MARGIN = 4.0  # standard deviations that the expected latency adds to its mean


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
        if latency is not None and not latency >= 0:
            raise ValueError(f"Receding: latency is {latency}, expected 0 or more")
        self.planner, self.clock, self.latency, self.given = planner, clock, latency, given
        self._mean, self._variance = 0.0, 0.0  # of ages
        self._state: tuple[Array, float] | None = None
        self._new, self._stopped = threading.Condition(), False
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._spent: list[float] = []
        self._age: list[float] = []
        self._late = self._failed = 0

    @property
    def expected_latency(self) -> float:
        return self._mean + MARGIN * self._variance**0.5 if self.latency is None else self.latency

    def __enter__(self) -> Self:
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="featherstorm planner", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the thread after its present plan."""
        with self._new:
            self._stopped = True
            self._new.notify()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def submit(self, x: npt.ArrayLike, t: float) -> None:
        """Give the state x (nx,) measured at the time t [s]. It replaces one that no plan has begun with.

        Errors: the error that has ended the thread, such as one of the rollout's arguments.
        """
        if self._error is not None:
            raise self._error
        with self._new:
            self._state = np.array(x), t
            self._new.notify()

    def control(self, t: float) -> Array:
        """Return the control (nu,) that acts at the time t [s], at once."""
        return self.planner.control(t)

    @property
    def times(self) -> PlanTimes:
        late = self._late / len(self._age) if self._age else 0.0
        return PlanTimes(np.array(self._spent), np.array(self._age), late, self._failed)

    def _run(self) -> None:
        try:
            while True:
                with self._new:
                    self._new.wait_for(lambda: self._stopped or self._state is not None)
                    if self._stopped or self._state is None:
                        return
                    (x, t), self._state = self._state, None
                self._plan(x, t)
        except BaseException as error:
            self._error = error

    def _plan(self, x: Array, t: float) -> None:
        latency, begin = self.expected_latency, time.perf_counter()
        last = self.planner.t0
        if last is not None and t + latency < last:  # the expected latency has shrunk
            latency = last - t
        try:
            self.planner.command(x, t, latency=latency, **self.given)
        except PlanningError:
            self._failed += 1
            return
        age = self.clock() - t
        first = not self._age and not self._mean
        self._mean = age if first else MEMORY * self._mean + (1 - MEMORY) * age
        self._variance = MEMORY * self._variance + (1 - MEMORY) * (age - self._mean) ** 2
        if self.planner.calls == 1:  # kernels were made
            self._mean = self._variance = 0.0
            return
        self._spent.append(time.perf_counter() - begin)
        self._age.append(age)
        self._late += age > latency + LATE
