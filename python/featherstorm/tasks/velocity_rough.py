"""Quadrupeds that follow a velocity command on a height field.

The definition is MuJoCo Playground's Go1JoystickRoughTerrain, with our own field. All environments share the field, and
each stands at another location on it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import mujoco
from .velocity_quadruped import OnGo2, QuadrupedJoystick, at_random
from .velocity_robots import FLOOR

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..environment.draws import Draws, Memory, Parameters

HALF, RISE = 20.0, 0.05  # of the field: half its side, height of its highest point above its lowest [m]
CELLS = 256
AROUND = 2.0  # largest distance of an environment from the middle of the field, along each side [m]


@cache
def rocks(cells: int = CELLS, seed: int = 0) -> npt.NDArray[np.float64]:
    """Return heights from 0 to 1 (cells, cells).

    They are noise whose power falls with the square of the wave number, with waves of 0.3 m and longer.
    """
    rng = np.random.default_rng(seed)
    waves = np.fft.fftfreq(cells, 2 * HALF / cells)  # [1/m]
    length = np.hypot(waves[:, None], waves[None, :])
    shape = np.where((length > 0.2) & (length < 1 / 0.3), 1 / np.maximum(length, 0.2), 0.0)
    field = np.fft.ifft2(np.fft.fft2(rng.normal(size=(cells, cells))) * shape).real
    return np.asarray((field - field.min()) / np.ptp(field))


class RoughQuadruped(QuadrupedJoystick):
    """A quadruped on rocks up to 5 cm high, by QuadrupedJoystick's definition.

    The field is 40 m by 40 m, with a resolution of 0.16 m. Each episode shifts it by up to 2 m along each of its sides.
    Heights of feet in the reward are those above z = 0, as in Playground. A robot falls at the edge of the field. With
    the changing commands of the task, 3 of 100 episodes of 20 s reach the edge; a constant command above 1 m/s may also
    reach it.
    """

    parameters = (*QuadrupedJoystick.parameters, "geom_pos")
    height = 0.35

    def add_ground(self, spec: Any) -> None:
        """Add the height field, with its lowest point at z = 0."""
        spec.add_hfield(name="rocks", size=[HALF, HALF, RISE, 1.0], nrow=CELLS, ncol=CELLS, userdata=rocks().ravel())
        spec.worldbody.add_geom(
            name=FLOOR, type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="rocks", contype=1, conaffinity=0, condim=3, priority=1,
            friction=[1.0, 0.005, 0.0001],
        )  # fmt: skip

    def randomise(self, rng: Draws, p: Parameters, m: Memory) -> dict[str, Any]:
        place = at_random(p.geom_pos)
        place[self.floor, :2] = rng.uniform(-AROUND, AROUND, 2)
        return {**super().randomise(rng, p, m), "geom_pos": place}


class Go1JoystickRough(RoughQuadruped):
    """Unitree Go1 on rocks."""


class Go2JoystickRough(OnGo2, RoughQuadruped):
    """Unitree Go2 on rocks."""

    height = RoughQuadruped.height


TASKS = {"Go1JoystickRough": Go1JoystickRough, "Go2JoystickRough": Go2JoystickRough}
