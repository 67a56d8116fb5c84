"""A runner in the plane with two legs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .starts import settled
from .suite import SuiteTask
from .tolerance import tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State

RUN = 10.0  # speed of reward 1 [m/s]
SETTLING = 200  # substeps before an episode


class Cheetah(SuiteTask):
    """Run in the direction +x.

    action       (6,) torques of the hind, then the fore leg: thigh, shin, foot; of 120, 90, 60, 90, 60, 30 N m
    observation  position: q without x [m, rad]; velocity: v [m/s, rad/s]
    reward       forward speed of the centre of mass / 10 m/s, from 0 to 1

    An episode begins with one of `starts` states, with equal probability. They are drawn when the task is made, with
    the suite's distribution: joints uniform in their ranges, then 2 s of settling.
    """

    domain, seconds = "cheetah", 10.0
    parts: Mapping[str, int] = {"position": 8, "velocity": 9}

    def __init__(self, starts: int = 256, **arguments: Any) -> None:
        if int(starts) != starts or starts < 1:
            raise ValueError(f"cheetah: starts is {starts}, expected 1 or more")
        self.starts = int(starts)
        super().__init__(**arguments)

    @cached_property
    def first(self) -> npt.NDArray[Any]:
        """First states (starts, nq + nv)."""
        m = self.compiled
        limited = np.asarray(m.jnt_limited, bool)  # each joint has one coordinate
        low, high = (np.where(limited, m.jnt_range[:, k], m.qpos0) for k in range(2))
        return settled(m, lambda rng: rng.uniform(low, high), SETTLING, self.starts)

    def reset(self, m: Memory, rng: Draws) -> Any:
        chosen = rng.choice(self.first)
        return chosen[: self.compiled.nq], chosen[self.compiled.nq :]

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        speed = x.sensor("torso_subtreelinvel")[0]
        return tolerance(speed, (RUN, np.inf), margin=RUN, value_at_margin=0, sigmoid="linear")

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        return {"position": x.q[1:], "velocity": x.v}
