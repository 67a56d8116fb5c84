"""A pole on a cart on a rail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .suite import SuiteTask
from .tolerance import tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State

AT_REST = 0.01  # standard deviation of the first velocities [m/s, rad/s]


class Cartpole(SuiteTask):
    """Balance a pole, or swing it up first.

    action       (1,) force on the cart, of 10 N
    observation  position: the cart's x [m], z and x components of the pole's z axis, world axes; velocity:
                 v [m/s, rad/s]
    reward       (1 + cos) / 2 times factors for a central cart, a small action and a slow pole; sparse: 1 if the cart
                 is within 0.25 m and the cosine is above 0.995
    """

    domain, seconds = "cartpole", 10.0
    parts: Mapping[str, int] = {"position": 3, "velocity": 2}

    def __init__(self, swing_up: bool, sparse: bool, **arguments: Any) -> None:
        self.swing_up, self.sparse = swing_up, sparse
        super().__init__(**arguments)

    def reset(self, m: Memory, rng: Draws) -> Any:
        if self.swing_up:
            q = np.array([0, np.pi]) + rng.normal(0, 0.01, 2)
        else:
            q = rng.uniform([-0.1, -0.034], [0.1, 0.034])
        return q, rng.normal(0, AT_REST, 2)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        cosine = x.rotation("pole_1")[2, 2]
        if self.sparse:
            # the suite's upper bound of the cosine is 1, which rounding may exceed
            return tolerance(x.q[0], (-0.25, 0.25)) * tolerance(cosine, (0.995, np.inf))
        centred = (1 + tolerance(x.q[0], margin=2)) / 2
        gentle = (4 + tolerance(a[0], margin=1, value_at_margin=0, sigmoid="quadratic")) / 5
        slow = (1 + tolerance(x.v[1], margin=5)) / 2
        return (cosine + 1) / 2 * gentle * slow * centred

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        up = x.rotation("pole_1")[:, 2]
        return {"position": [x.q[0], up[2], up[0]], "velocity": x.v}
