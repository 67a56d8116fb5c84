"""Two links; only the elbow is driven (Coulom 2002)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .suite import SuiteTask
from .tolerance import tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State

ARMS = ("upper_arm", "lower_arm")


class Acrobot(SuiteTask):
    """Bring the tip to the target above.

    action       (1,) torque of the elbow, of 2 N m
    observation  orientations: x components, then z components of the arms' z axes, world axes; velocity: v [rad/s]
    reward       1 if the tip is in the target, decreasing over a distance of 1 m outside; sparse: 0 outside
    """

    domain, seconds = "acrobot", 10.0
    parts: Mapping[str, int] = {"orientations": 4, "velocity": 2}

    def __init__(self, sparse: bool, **arguments: Any) -> None:
        self.sparse = sparse
        super().__init__(**arguments)

    def reset(self, m: Memory, rng: Draws) -> Any:
        return rng.uniform(-np.pi, np.pi, 2), np.zeros(2)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        distance = np.linalg.norm(x.site("target") - x.site("tip"))
        radius = float(self.compiled.site("target").size[0])
        return tolerance(distance, (-np.inf, radius), margin=0 if self.sparse else 1)

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        up = [x.rotation(arm)[:, 2] for arm in ARMS]
        return {"orientations": [*(z[0] for z in up), *(z[2] for z in up)], "velocity": x.v}
