"""Clock: steps of a simulation by the clock on the wall."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ..mujoco import Batch

if TYPE_CHECKING:
    from collections.abc import Callable

BUDGET = 0.03  # seconds that steps may take between two frames
LATE = 0.1  # seconds that a simulation may be behind before it gives up catching up


class Clock:
    """paused, speed   speed: of the simulation beside the wall's clock
    is_over         once so many seconds were simulated; None: never
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
        """No time passes until the next call of `advance`."""
        self._last, self._owed = None, 0.0

    def advance(self) -> None:
        """As many steps as the wall's clock asks for, and for no longer than a frame."""
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
        """All simulations to their defaults, or those of a Batch to a keyframe."""
        if isinstance(self.simulation, Batch):
            self.simulation.reset(keyframe=-1 if key is None else key)
        else:
            self.simulation.reset()
