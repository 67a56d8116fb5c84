"""The record of a closed loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


@dataclass
class Run:
    """A closed loop.

    seconds      simulated time [s];  fell  time of the fall [s], None without one
    reached      of a task with `hold`: the time at which its goal began to hold for as long [s], None if it never did.
                 The run ends there
    velocities   (n, k) Task.velocity after every step that counts: of a quadruped forward, to the left, turn rate
    error        root mean square of the task's error from SETTLED on, without RECOVERY after each push; NaN if the robot
                 fell before
    succeeded    by the rule of the task
    plan_times   (plans,) time that this computer took for each plan but the first [s]
    late         share of plans that took longer than a control step; in real time of those that were not ready in time
    failed       plans without a sample of finite cost, where the last plan went on
    slipped      in real time: the greatest delay of a step of the robot behind the clock [s]
    """

    seconds: float = 0.0
    fell: float | None = None
    reached: float | None = None
    velocities: Array = field(default_factory=lambda: np.zeros((0, 3)))
    error: float = float("nan")
    succeeded: bool = False
    plan_times: Array = field(default_factory=lambda: np.zeros(0))
    late: float = 0.0
    failed: int = 0
    slipped: float = 0.0
