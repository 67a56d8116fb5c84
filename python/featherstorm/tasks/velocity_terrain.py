"""Quadrupeds that follow a velocity command on slopes, stairs and among obstacles.

Each environment has its own ground, which gets harder with the robot's success. The ground is a plane and boxes; their
positions, sizes and slope are parameters of the model. Environments share nothing and gather nothing from a table. The
heights in the observation follow in closed form from the same parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import mujoco
from .velocity_quadruped import OnGo2, QuadrupedJoystick, at_random, join
from .velocity_robots import add_floor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..environment.draws import Draws, Memory, Parameters
    from ..environment.state import EnvironmentState as State

KINDS = ("slope", "stairs_up", "stairs_down", "obstacles")
BOXES, LEVELS = 8, 10
DEPTH, FLAT, FAR = 0.31, 1.3, 20.0  # stairs: depth of a step, first step and end from the middle [m]
CLEAR, REACH = (1.5, 4.0)  # obstacles: half width of the flat square, largest distance of their centres [m]
BURIED = -10.0  # height of the centre of unused boxes [m]
# height samples ahead of and to the left of the robot [m]: 17 x 11 points, 0.1 m apart
SCAN = np.stack(np.meshgrid(np.linspace(-0.8, 0.8, 17), np.linspace(-0.5, 0.5, 11), indexing="ij"), -1).reshape(-1, 2)


def stairs_up(height: Any) -> tuple[Any, Any]:
    """Return stairs up: a flat strip of 2.6 m, with four steps up on each side along x.

    The result is (places, sizes) of the boxes (BOXES, 3) [m].
    """
    places, sizes = [], []
    for side in (-1.0, 1.0):
        for k in range(BOXES // 2):
            near, top = FLAT + DEPTH * k, (k + 1) * height
            places.append([side * (near + FAR) / 2, 0.0, top / 2])
            sizes.append([(FAR - near) / 2, FAR, top / 2])
    return table(places), table(sizes)


def stairs_down(height: Any) -> tuple[Any, Any]:
    """Return stairs down: a square pyramid, with the robot on top."""
    tops = [(BOXES - k) * height for k in range(BOXES)]
    sizes = [[FLAT + DEPTH * k, FLAT + DEPTH * k, top / 2] for k, top in enumerate(tops)]
    return table([[0.0, 0.0, top / 2] for top in tops]), table(sizes)


def obstacles(height: Any, u: Any) -> tuple[Any, Any]:
    """Return obstacles: boxes of 1 to 2 m about a flat square of 3 m, one in each eighth of the circle.

    height   height of half of the boxes; the others have half of it
    u        (BOXES, 5) uniform in 0 to 1
    """
    angle = (np.arange(BOXES) + 0.2 + 0.6 * u[:, 0]) * (2 * np.pi / BOXES)
    sizes, top = 0.5 + 0.5 * u[:, 2:4], height * np.where(u[:, 4] < 0.5, 0.5, 1.0)
    near = CLEAR + np.maximum(sizes[:, 0], sizes[:, 1])
    away = near + (REACH - near) * u[:, 1]  # distance along the axis with the larger distance
    ahead, left = np.cos(angle), np.sin(angle)
    away = away / np.maximum(np.abs(ahead), np.abs(left))
    places = np.stack([away * ahead, away * left, top / 2], axis=1)
    return places, np.stack([sizes[:, 0], sizes[:, 1], top / 2], axis=1)


def heights(points: Any, quat: Any, places: Any, sizes: Any) -> Any:
    """Return the heights (n) [m] of the ground: of the plane through the origin, or of the top of a higher box.

        h = max(-(n_x x + n_y y) / n_z, p_z + s_z of boxes with |x - p_x| <= s_x, |y - p_y| <= s_y),  n the plane's z
                                                                                                      axis

    points   (n, 2)
    quat     (4) orientation of the plane
    places, sizes   centres and half sizes (k, 3) of boxes along the axes
    """
    w, x, y, z = quat
    normal = 2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)
    found = -(normal[0] * points[:, 0] + normal[1] * points[:, 1]) / normal[2]
    for place, size in zip(places, sizes):
        beyond = np.maximum(np.abs(points[:, 0] - place[0]) - size[0], np.abs(points[:, 1] - place[1]) - size[1])
        found = np.maximum(found, np.where(beyond <= 0, place[2] + size[2], BURIED))
    return found


class TerrainQuadruped(QuadrupedJoystick):
    """A quadruped on a slope, on stairs up or down, or among obstacles.

    The definition is QuadrupedJoystick's, with these changes:

    ground    drawn for each episode, all kinds with equal probability. The difficulty is d = (level + u) / 10, u
              uniform in 0 to 1. Slopes are 0.4 d in any direction, steps 0.05 + 0.18 d [m] high and 0.31 deep,
              obstacles 0.05 + 0.2 d [m] high (legged_gym's utils/terrain.py)
    levels    0 to 9, one for each kind; an environment keeps them over episodes. A level rises if the robot did not
              fall, came more than 2.3 m away from its start, and walked more than 0.75 of the commanded distance, along
              the commands. It falls if the robot fell or walked less than 0.5 of it. Above 9 a level is drawn (idea:
              Rudin et al. 2021, Learning to Walk in Minutes)
    observe   additional heights at 187 points about the robot, which turn with it: root minus ground minus the height
              of the stance, clipped to +-1 [m], with noise of 0.1 for the actor. actor (235), critic (310)

    Heights of feet in the reward are those above the ground.

    Differences from legged_gym:
    - Kinds have equal probabilities; legged_gym has 0.1 smooth slopes, 0.1 rough slopes, 0.35 and 0.25 stairs, 0.2
      obstacles.
    - Slopes have no flat middle.
    - Stairs up are on two sides; legged_gym has them on all four sides of a pit. Stairs have 4 or 8 steps instead of 9.
    - There are 8 obstacles; legged_gym has 20, and some of them are holes.
    - Levels begin with 0 instead of 0 to 5. legged_gym changes them by the distance from the origin (up: 4 m; down:
      half of the last command's distance), which says little if commands change every 5 s.
    """

    parameters: tuple[str, ...] = (*QuadrupedJoystick.parameters, "geom_pos", "geom_size", "geom_quat")
    # rise: height and slopes of the ground at the robot's start
    # walked: distance along the commands, commanded distance, largest distance from the start, 1 after a fall
    memory: Mapping[str, Any] = {**QuadrupedJoystick.memory, "rise": 3, "levels": len(KINDS), "kind": 1, "walked": 4}
    kept: tuple[str, ...] = ("levels", "kind", "walked")
    kinds: tuple[str, ...] = KINDS
    scan_noise = 0.1
    points = SCAN

    def add_ground(self, spec: Any) -> None:
        floor = add_floor(spec)
        for k in range(BOXES):
            spec.worldbody.add_geom(
                name=f"box{k}", type=mujoco.mjtGeom.mjGEOM_BOX, pos=[0, 0, BURIED], size=[1, 1, 1], contype=1, conaffinity=0,
                condim=3, priority=1, friction=floor.friction,
            )  # fmt: skip

    def model(self) -> Any:
        found: Any = super().model()
        boxes = [found.compiled.geom(f"box{k}").id for k in range(BOXES)]
        self.boxes = slice(boxes[0], boxes[-1] + 1)
        return found

    # -- episodes

    def randomise(self, rng: Draws, p: Parameters, m: Memory) -> dict[str, Any]:
        found = super().randomise(rng, p, m)
        m.levels = self.next_levels(m, rng)
        m.kind, m.walked = rng.integers(len(self.kinds)), 0.0
        kind = m.kind[0]
        level = sum(np.where(is_kind(kind, k), m.levels[k], 0.0) for k in range(len(self.kinds)))
        ground = self.ground(kind, (level + rng.random()) / LEVELS, rng)
        place, size, quat = (at_random(getattr(p, name)) for name in ("geom_pos", "geom_size", "geom_quat"))
        quat[self.floor], place[self.boxes], size[self.boxes] = ground
        m.rise = join(heights(np.zeros((1, 2)), *ground), slope_of(ground[0]))
        friction = found["geom_friction"]
        friction[self.boxes, 0] = friction[self.floor, 0]
        return {**found, "geom_friction": friction, "geom_pos": place, "geom_size": size, "geom_quat": quat}

    def ground(self, kind: Any, d: Any, rng: Draws) -> tuple[Any, Any, Any]:
        """Return the plane's quaternion, and positions and sizes of the boxes, for a kind number and a difficulty."""
        heading = rng.uniform(-np.pi, np.pi)
        tilt = np.where(is_kind(kind, 0), np.arctan(0.4 * d), 0.0)
        quat = [np.cos(tilt / 2), np.sin(tilt / 2) * np.cos(heading), np.sin(tilt / 2) * np.sin(heading), 0.0]
        step, block = 0.05 + 0.18 * d, 0.05 + 0.2 * d
        places, sizes = np.tile([0.0, 0.0, BURIED], (BOXES, 1)), np.ones((BOXES, 3))
        for k, found in enumerate((stairs_up(step), stairs_down(step), obstacles(block, rng.random((BOXES, 5)))), 1):
            places, sizes = (np.where(is_kind(kind, k), new, old) for new, old in zip(found, (places, sizes)))
        return join(*quat), places, sizes

    def next_levels(self, m: Memory, rng: Draws) -> Any:
        """Return the levels after the episode that ended; unchanged if there was none."""
        walked, asked, far, fell = m.walked
        copes = np.logical_and(np.logical_and(fell < 0.5, far > 2.3), walked > 0.75 * asked)
        fails = np.logical_or(fell > 0.5, walked < 0.5 * asked)
        change = np.where(copes, 1.0, np.where(fails, -1.0, 0.0))
        own = np.stack([is_kind(m.kind[0], k) for k in range(len(self.kinds))])
        found = np.maximum(m.levels + np.where(own, change, 0.0), 0.0)
        return np.where(found > LEVELS - 0.5, rng.integers(LEVELS), found)

    def reset(self, m: Memory, rng: Draws) -> tuple[Any, Any]:
        q, v = super().reset(m, rng)
        return self.lifted(q, m), v

    def lifted(self, q: Any, m: Memory) -> Any:
        """Raise a configuration from level ground to the episode's ground, plus 0.25 m times the slope."""
        rise, along_x, along_y = m.rise
        steep = np.sqrt(along_x**2 + along_y**2)
        return join(q[:2], q[2] + rise + along_x * q[0] + along_y * q[1] + 0.25 * steep, q[3:])

    # -- a control step

    def heights_at(self, x: State, m: Memory, points: Any) -> Any:
        """Return the heights of the ground (n) [m] at points (n, 2)."""
        place, size, quat = (x.parameter(name) for name in ("geom_pos", "geom_size", "geom_quat"))
        return heights(points, quat[self.floor], place[self.boxes], size[self.boxes])

    def feet_heights(self, x: State, m: Memory) -> Any:
        feet = np.stack([x.site(leg) for leg in ("FR", "FL", "RR", "RL")])
        return feet[:, 2] - self.heights_at(x, m, feet[:, :2])

    def scan(self, x: State, m: Memory) -> Any:
        """Return the heights of the root above ground points about it, minus the height of the stance (187) [m]."""
        ahead = x.rotation(self.root)[:2, 0]
        ahead = ahead / np.sqrt((ahead**2).sum())
        turn = np.stack([ahead, np.stack([-ahead[1], ahead[0]])], axis=1)
        ground = self.heights_at(x, m, x.q[:2] + (turn @ self.points.T).T)
        return np.minimum(np.maximum(x.q[2] - ground - self.start[2], -1.0), 1.0)

    def after(self, x: State, a: Any, m: Memory, rng: Draws) -> None:
        asked = np.sqrt((m.command[:2] ** 2).sum())
        along = (m.command[:2] * x.sensor("local_linvel")[:2]).sum() / np.maximum(asked, 1e-6)
        fell = np.where(self.terminate(x, m), 1.0, 0.0)
        far = np.maximum(m.walked[2], np.sqrt((x.q[:2] ** 2).sum()))
        m.walked = join(m.walked[0] + along * self.dt, m.walked[1] + asked * self.dt, far, fell)
        super().after(x, a, m, rng)

    def observe(self, x: State, m: Memory, rng: Draws) -> dict[str, Any]:
        found, clean = super().observe(x, m, rng), self.scan(x, m)
        wide = self.noise * self.scan_noise
        seen = clean + rng.uniform(-wide, wide, len(clean)) if self.noise else clean
        return {"actor": join(found["actor"], seen), "critic": join(found["critic"], clean)}


class Go1JoystickTerrain(TerrainQuadruped):
    """Unitree Go1 on slopes, stairs and among obstacles."""


class Go2JoystickTerrain(OnGo2, TerrainQuadruped):
    """Unitree Go2 on slopes, stairs and among obstacles."""


def is_kind(kind: Any, k: int) -> Any:
    """Return True if the number of a kind is k."""
    return np.abs(kind - k) < 0.5


def slope_of(quat: Any) -> tuple[Any, Any]:
    """Return the slopes of a plane along x and along y, from its quaternion."""
    w, x, y, z = quat
    upright = 1 - 2 * (x * x + y * y)
    return -2 * (x * z + w * y) / upright, -2 * (y * z - w * x) / upright


def table(rows: Any) -> Any:
    """Return a matrix of numbers and symbols from its rows."""
    return join(*(number for row in rows for number in row)).reshape(len(rows), -1)


TASKS = {"Go1JoystickTerrain": Go1JoystickTerrain, "Go2JoystickTerrain": Go2JoystickTerrain}
