"""Clock: steps of a simulation in real time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ..mujoco import Batch

if TYPE_CHECKING:
    from collections.abc import Callable

BUDGET = 0.03  # largest time for steps between two frames [s]
LATE = 0.1  # delay that a simulation catches up at most [s]


class Clock:
    """Steps a simulation in real time.

    paused    True while the simulation is paused; set by the viewer
    speed     simulated time divided by real time
    is_over   True after `seconds` of simulated time; with seconds None never
    """

    def __init__(
        self, simulation: Any, step: Callable[[Any], object] | None, speed: float, seconds: float | None
    ) -> None:
        self.simulation, self.speed, self.paused = simulation, speed, False
        self.dt = float(simulation.model.opt.timestep if isinstance(simulation, Batch) else simulation.dt)
        self._step = step or (lambda simulation: simulation.step())
        self._owed = 0.0
        self._last: float | None = None
        self._left = None if seconds is None else max(round(seconds / self.dt), 1)

    @property
    def is_over(self) -> bool:
        return self._left == 0

    def hold(self) -> None:
        """Skip the time until the next call of `advance`."""
        self._last, self._owed = None, 0.0

    def advance(self) -> None:
        """Make the steps that are due in real time, for at most BUDGET seconds."""
        now = time.perf_counter()
        passed = 0.0 if self._last is None else now - self._last
        self._owed = min(self._owed + passed * self.speed, max(LATE * self.speed, 2 * self.dt))
        self._last = now
        while self._owed >= self.dt and not self.is_over and time.perf_counter() - now < BUDGET:
            self.once()
            self._owed -= self.dt

    def once(self) -> None:
        self._step(self.simulation)
        if self._left is not None:
            self._left -= 1

    def reset(self, key: int | None) -> None:
        """Reset all simulations to their defaults, or those of a Batch to a keyframe."""
        if isinstance(self.simulation, Batch):
            self.simulation.reset(keyframe=-1 if key is None else key)
        else:
            self.simulation.reset()
