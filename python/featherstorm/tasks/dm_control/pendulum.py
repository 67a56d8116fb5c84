"""A pendulum whose torque is too small to lift it directly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .suite import SuiteTask
from .tolerance import tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State

UPRIGHT = float(np.cos(np.deg2rad(8)))


class Pendulum(SuiteTask):
    """Swing up and stay upright.

    action       (1,) torque [N m]
    observation  orientation: z and x components of the pole's z axis, world axes; velocity: v [rad/s]
    reward       1 within 8 degrees of upright, else 0
    """

    domain = "pendulum"
    parts: Mapping[str, int] = {"orientation": 2, "velocity": 1}

    def reset(self, m: Memory, rng: Draws) -> Any:
        return rng.uniform(-np.pi, np.pi, 1), np.zeros(1)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        # the suite's upper bound of the cosine is 1, which rounding may exceed
        return tolerance(x.rotation("pole")[2, 2], (UPRIGHT, np.inf))

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        up = x.rotation("pole")[:, 2]
        return {"orientation": [up[2], up[0]], "velocity": x.v}
