"""A ball on a string, and a cup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .plane import PLANE, ends_of, square_to_segment
from .starts import first_free
from .suite import SuiteTask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State

CUP = [f"cup_part_{k}" for k in range(5)]
TRIES = 12


class BallInCup(SuiteTask):
    """Swing the ball into the cup.

    action       (2,) forces on the cup along x and z, of 5 N
    observation  position: of the cup, then of the ball, x and z [m]; velocity: v [m/s]
    reward       1 if the ball is in the cup, else 0

    The ball begins without touching the cup, as in the suite: at the first of 12 draws without contact. All 12 touch in
    1 of 10^8 episodes.
    """

    domain, dt = "ball_in_cup", 0.02
    parts: Mapping[str, int] = {"position": 4, "velocity": 4}

    def reset(self, m: Memory, rng: Draws) -> Any:
        ball = first_free(TRIES, lambda: rng.uniform([-0.2, 0.2], [0.2, 0.5]), self.touches)
        return np.concatenate([np.zeros(2), ball]), np.zeros(4)

    def touches(self, ball: Any) -> Any:
        """Return True if the ball, at its joint positions x and z, touches the cup at the position of the file."""
        c = self.compiled
        centre = ball + (c.body("ball").pos - c.body("cup").pos)[PLANE]
        near = []
        for part in map(c.geom, CUP):
            reach = float(part.size[0] + c.geom("ball").size[0])
            near.append(square_to_segment(centre, *ends_of(part)) < reach * reach)
        return np.logical_or.reduce(np.stack(near))

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        c = self.compiled
        apart = np.abs(x.site("target") - x.position("ball"))
        room = c.site("target").size - c.geom("ball").size[0]
        return np.where(np.logical_and(apart[0] < room[0], apart[2] < room[2]), 1.0, 0.0)

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        return {"position": x.q, "velocity": x.v}
