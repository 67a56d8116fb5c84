"""Quadrupeds that follow a velocity command on a sum of sines, different for each environment.

The ground is a function, without a table of heights: z = h(x, y) = sum of a sin(k x + l y + phase). Each foot is a
sphere with its own plane. Before each substep the plane becomes the tangent plane of the ground at the point nearest to
the foot. Distances and normals are therefore those of the ground itself, and the point of contact lies on the ground.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import mujoco
from .velocity_quadruped import OnGo2, QuadrupedJoystick, at_random, join
from .velocity_robots import FLOOR, LEGS, add_floor
from .velocity_terrain import LEVELS, TerrainQuadruped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..environment.draws import Draws, Memory, Parameters
    from ..environment.state import EnvironmentState as State

WAVES = 3
LENGTHS = (1.2, 4.0)  # range of wave lengths [m]
LEAST, MOST = 0.02, 0.15  # sum of amplitudes of the easiest and of the hardest ground [m]
ITERATIONS = 4  # iterations of Newton's method
NEAR = 0.06  # largest distance of a sphere's centre from the ground for which the nearest point is exact [m]


def heights(points: Any, waves: Any) -> Any:
    """Return h (n) [m] at points (n, 2) [m].

    waves   (k, 4) amplitude [m], wave numbers along x and y [rad/m], phase [rad]
    """
    return sum(a * np.sin(k * points[:, 0] + l * points[:, 1] + phase) for a, k, l, phase in waves)


def slopes(points: Any, waves: Any) -> Any:
    """Return the slopes of the ground along x and y (n, 2) at points (n, 2)."""
    found: Any = 0.0
    for a, k, l, phase in waves:
        rises = a * np.cos(k * points[:, 0] + l * points[:, 1] + phase)
        found = found + np.stack([k * rises, l * rises], axis=1)
    return found


def nearest(middles: Any, waves: Any) -> Any:
    """Return the points (x, y) (n, 2) of the ground nearest to given points (n, 3) [m].

        minimise 1/2 |p - c|^2 + 1/2 (h(p) - c_z)^2 by Newton's method from p = c, with
        gradient p - c + e grad h, Hessian 1 + grad h grad h^T + e hess h, e = h(p) - c_z

    In the Hessian e is at least -NEAR. This keeps the Hessian positive definite above valleys whose radius of curvature
    exceeds NEAR.
    """
    x, y = middles[:, 0], middles[:, 1]
    for _ in range(ITERATIONS):
        away = -middles[:, 2]
        along, across, xx, xy, yy = [0.0] * 5
        for a, k, l, phase in waves:
            angle = k * x + l * y + phase
            sin, cos = a * np.sin(angle), a * np.cos(angle)
            away, along, across = away + sin, along + k * cos, across + l * cos
            xx, xy, yy = xx - k * k * sin, xy - k * l * sin, yy - l * l * sin
        bent = np.maximum(away, -NEAR)
        gx, gy = x - middles[:, 0] + away * along, y - middles[:, 1] + away * across
        hxx, hxy, hyy = 1 + along * along + bent * xx, along * across + bent * xy, 1 + across * across + bent * yy
        rate = 1 / (hxx * hyy - hxy * hxy)
        x, y = x - rate * (hyy * gx - hxy * gy), y - rate * (hxx * gy - hxy * gx)
    return np.stack([x, y], axis=1)


def planes(middles: Any, waves: Any) -> tuple[Any, Any]:
    """Return the tangent planes of the ground at the points nearest to given points (n, 3).

    The result is positions (n, 3) [m] and quaternions w x y z (n, 4).
    """
    at = nearest(middles, waves)
    slope = slopes(at, waves)
    up = 1 / np.sqrt(1 + (slope**2).sum(axis=1))  # z of the normal, which is up (-slope, 1)
    w = np.sqrt((1 + up) / 2)
    place = np.stack([at[:, 0], at[:, 1], heights(at, waves)], axis=1)
    turn = np.stack([w, slope[:, 1] * up / (2 * w), -slope[:, 0] * up / (2 * w), 0 * w], axis=1)
    return place, turn


class WaveQuadruped(TerrainQuadruped):
    """A quadruped on its own waves.

    The definition is QuadrupedJoystick's, with TerrainQuadruped's height scan and rules for levels.

    ground    drawn for each episode: three waves in any directions, 1.2 to 4 m long, with any phases. Their amplitudes
              add up to 0.02 + 0.13 d [m], with the difficulty d = (level + u) / 10, u uniform in 0 to 1

    Only feet collide with the ground. The ground is exact: contacts, foot heights in the reward and the scan all use h
    itself.
    """

    parameters = (*QuadrupedJoystick.parameters, "geom_pos", "geom_quat")
    kinds: tuple[str, ...] = ("waves",)
    memory: Mapping[str, Any] = {**QuadrupedJoystick.memory, "levels": 1, "kind": 1, "walked": 4, "waves": (WAVES, 4)}
    kept = ("levels", "kind", "walked", "waves")

    def add_ground(self, spec: Any) -> None:
        """Add one plane for each foot, which collides only with this foot; the floor collides with nothing."""
        add_floor(spec).contype = 0
        for k, leg in enumerate(LEGS):
            add_floor(spec, name=f"{FLOOR}_{leg}").contype = 1 << k
            spec.geom(leg).conaffinity = 1 << k

    def model(self) -> Any:
        found: Any = QuadrupedJoystick.model(self)
        m = found.compiled
        data = mujoco.MjData(m)
        data.qpos = self.start
        mujoco.mj_kinematics(m, data)
        self.planes = [m.geom(f"{FLOOR}_{leg}").id for leg in LEGS]
        self.feet = np.array([data.geom(leg).xpos for leg in LEGS])  # initial positions on level ground, without yaw
        self.radius = float(m.geom(LEGS[0]).size[0])
        return found

    # -- episodes

    def randomise(self, rng: Draws, p: Parameters, m: Memory) -> dict[str, Any]:
        found = QuadrupedJoystick.randomise(self, rng, p, m)
        m.levels = self.next_levels(m, rng)
        m.walked = 0.0
        m.waves = self.drawn_waves((m.levels[0] + rng.random()) / LEVELS, rng)
        friction = found["geom_friction"]
        friction[self.planes, 0] = friction[self.floor, 0]
        return {**found, "geom_friction": friction}

    def drawn_waves(self, d: Any, rng: Draws) -> Any:
        """Draw waves (WAVES, 4) of a difficulty."""
        share = rng.uniform(0.5, 1.0, WAVES)
        height = (LEAST + (MOST - LEAST) * d) * share / share.sum()
        number, heading = 2 * np.pi / rng.uniform(*LENGTHS, WAVES), rng.uniform(-np.pi, np.pi, WAVES)
        phase = rng.uniform(-np.pi, np.pi, WAVES)
        return np.stack([height, number * np.cos(heading), number * np.sin(heading), phase], axis=1)

    def lifted(self, q: Any, m: Memory) -> Any:
        """Raise a configuration above level ground so that no foot penetrates the waves, and one touches them."""
        cos, sin = 1 - 2 * q[6] ** 2, 2 * q[3] * q[6]
        x, y = self.feet[:, 0], self.feet[:, 1]
        feet = np.stack([q[0] + cos * x - sin * y, q[1] + sin * x + cos * y], axis=1)
        steep = np.sqrt(1 + (slopes(feet, m.waves) ** 2).sum(axis=1))
        above = heights(feet, m.waves) + self.radius * steep - self.feet[:, 2]
        highest = above[0]
        for k in range(1, len(LEGS)):
            highest = np.maximum(highest, above[k])
        return join(q[:2], q[2] + highest, q[3:])

    # -- a control step

    def adapt(self, x: State, m: Memory) -> dict[str, Any]:
        """Return the planes under the feet, as parameters."""
        place, turn = at_random(x.parameter("geom_pos")), at_random(x.parameter("geom_quat"))
        feet = np.stack([x.site(leg) for leg in LEGS])
        place[self.planes], turn[self.planes] = planes(feet, m.waves)
        return {"geom_pos": place, "geom_quat": turn}

    def heights_at(self, x: State, m: Memory, points: Any) -> Any:
        return heights(points, m.waves)


class Go1JoystickWaves(WaveQuadruped):
    """Unitree Go1 on waves."""


class Go2JoystickWaves(OnGo2, WaveQuadruped):
    """Unitree Go2 on waves."""


TASKS = {"Go1JoystickWaves": Go1JoystickWaves, "Go2JoystickWaves": Go2JoystickWaves}
