"""Jumps of a Go2 from one place to the next: on level ground, and onto a crate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .quadruped import LEGS, QuadrupedTask
from .task import Plant
from .trot import HIP, add_step, stands_above, with_capsules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ..symbols import State, Symbols
    from ..typing import Doubles as Array


PERIOD = 1.0  # time of a jump [s]
WIDTH = 0.142  # distance of the feet from the middle of the trunk, across it [m]
BEGUN = 0.2  # time at which the robot, which begins above the ground, stands on it [s]
AIR = 0.01  # height above the ground from which on a foot is in the air [m]
WITHIN = 0.1  # distance of a foot from its place after a jump [m]
GRAVITY = 9.81  # [m/s^2]


class Jumps(QuadrupedTask):
    """The task: jump from place to place, one jump a second. Success: all jumps succeed.

    A jump succeeds if all feet were in the air at the same time, and each foot is within 10 cm of its place at the end of
    the second. The run ends after the last jump. Run.velocities has, in place of velocities, the greatest distance of a
    foot from its place after each jump [m], NaN for jumps to come.

    jumps     rows of forward, to the left [m] and turn [rad], each in the frame of the last place
    options   of QuadrupedTask

    places    (n + 1, 4) x, y [m] and yaw [rad] of the trunk, height of the ground [m]
    p         parameters of the cost: the places, (4 n + 4,)
    """

    hold = 0.0
    models: tuple[str, ...] = ("feet", "file")
    robots = ("go2",)
    samples, horizon = 256, 20
    flight = 0.35, 0.65  # beginning and end, in parts of the period
    lift = 0.12  # height of the feet in the middle of a flight [m]
    early = 1.0  # part of a flight in which they gain the height of the ground
    WEIGHTS: ClassVar[Mapping[str, float]] = {
        "place": 20.0, "height": 100.0, "upright": 1.0, "turn": 1.0, "sway": 0.002, "posture": 0.02, "feet": 40.0,
    }  # fmt: skip

    def __init__(
        self,
        jumps: Sequence[Sequence[float]] = ((0.5, 0, 0), (0.4, 0, 0.5), (0, 0.3, 0), (0.5, 0, 0)),
        *,
        model: str | None = None,
        **options: Any,
    ) -> None:
        places = [np.zeros(4)]
        for forward, left, turn, *rise in jumps:
            c, s = np.cos(places[-1][2]), np.sin(places[-1][2])
            places.append(places[-1] + [c * forward - s * left, s * forward + c * left, turn, sum(rise)])
        self.places = np.array(places)
        self.p, self.seconds = self.places.ravel(), PERIOD * (len(places) - 1) + 0.1
        super().__init__(model=model or self.models[0], **options)

    def cost(self, x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        """Return the cost of a control step: distances of trunk and feet from a path that flies from place to place."""
        w, R, (begin, end) = self.weights, x.rotation(self.robot.trunk), self.flight
        up, omega, ahead, left, yaw = R[2], x.v[3:6], p[0], p[1], p[2]
        air, trunk, ground = 0.0, 0.0, 0.0
        for k in range(len(self.places) - 1):
            part = np.clip((t / PERIOD - k - begin) / (end - begin), 0.0, 1.0)
            step = p[4 * k + 4 : 4 * k + 8] - p[4 * k : 4 * k + 4]
            ahead, left, yaw = ahead + part * step[0], left + part * step[1], yaw + part * step[2]
            trunk, ground = trunk + part * step[3], ground + np.minimum(part / self.early, 1.0) * step[3]
            air = air + 4 * part * (1 - part)  # parabolas
        hop = GRAVITY / 8 * (PERIOD * (end - begin)) ** 2  # of a free flight
        c, s = np.cos(yaw), np.sin(yaw)
        total = w["place"] * ((x.q[0] - ahead) ** 2 + (x.q[1] - left) ** 2)
        total = total + w["height"] * (x.q[2] - self.robot.height - trunk - hop * air) ** 2
        total = total + w["upright"] * (up[0] ** 2 + up[1] ** 2 + (1 - up[2]) ** 2)
        total = total + w["turn"] * ((R[0, 0] - c) ** 2 + (R[1, 0] - s) ** 2)
        total = total + w["sway"] * (omega[0] ** 2 + omega[1] ** 2)
        total = total + w["posture"] * np.sum((u - self.stance) ** 2)
        for leg in LEGS:
            foot, (a, b) = x.position(f"{leg}_foot"), below(leg)
            high = self.robot.foot + ground + self.lift * air + self.clearance(foot[0], t)
            off = (foot[0] - ahead - c * a + s * b) ** 2 + (foot[1] - left - s * a - c * b) ** 2 + (foot[2] - high) ** 2
            total = total + w["feet"] * off
        return total

    def clearance(self, x: Any, t: Any) -> Any:
        """Return the additional height of a foot at x [m] at the time t [s]."""
        return 0.0

    def plant(self, seed: int = 0, mass: float = 1.0, friction: float | None = None) -> Plant:
        return Jumper(super().plant(seed, mass, friction), self)

    def is_reached(self, plant: Plant) -> bool:
        assert isinstance(plant, Jumper)
        return plant.leapt and bool((plant.landings < WITHIN).all())

    def velocity(self, plant: Plant) -> Array:
        assert isinstance(plant, Jumper)
        return plant.landings.copy()


class Crate(Jumps):
    """The task: get onto a crate whose side is 1 m ahead. Success: all feet on it for half a second, within 6 s.

    The crate is that of DIAL-MPC's example, 0.62 m by 0.92 m; there it is 0.6 m high. The plan's path is a jump to the side of
    the crate and one onto it. The planner's model has the crate. A fall is a trunk upside down.

    rise      height of the crate [m]
    options   of QuadrupedTask
    """

    hold = 0.5
    models = ("file",)
    samples = 128
    flight, lift, early = (0.35, 0.85), 0.15, 0.25
    bounds = np.array([-0.5, -0.3, -2.7]), np.array([0.5, 2.0, -0.85])
    pairs = (("base", "crate"), *(
        (f"{leg}_{part}", on) for leg in LEGS for part in ("foot", "calf", "thigh") for on in ("ground", "crate")
    ))  # fmt: skip
    edge, size = 0.99, (0.62, 0.92)  # [m]
    WEIGHTS: ClassVar[Mapping[str, float]] = {**Jumps.WEIGHTS, "height": 10.0, "upright": 6.0, "turn": 5.0}

    def __init__(self, rise: float = 0.4, **options: Any) -> None:
        self.rise = rise
        super().__init__(((0.65, 0, 0), (0.7, 0, 0, rise)), **options)
        self.seconds = 6.0

    def spec(self) -> Any:
        spec = super().spec()
        add_step(spec, "crate", self.edge, (*self.size, self.rise))
        return spec

    def planner_spec(self) -> Any:
        return with_capsules(super().planner_spec())

    def clearance(self, x: Any, t: Any) -> Any:
        """Return the additional height of a foot: 10 cm before the edge, from the flight onto the crate on."""
        return 0.1 * np.where(t > PERIOD * (1 + self.flight[0]), np.clip((self.edge + 0.05 - x) / 0.05, 0.0, 1.0), 0.0)

    def is_reached(self, plant: Plant) -> bool:
        return stands_above(self.robot, plant, self.edge, self.rise)

    def has_fallen(self, plant: Plant) -> bool:
        return not plant.upright > 0.0


class Jumper(Plant):
    """A robot whose landings are recorded.

    landings   (n,) greatest distance of a foot from its place at the end of each jump [m], NaN for jumps to come
    leapt      whether all feet were in the air at the same time in each jump so far
    """

    def __init__(self, plant: Plant, task: Jumps) -> None:
        self.model, self.data, self.task = plant.model, plant.data, task
        self.landings = np.full(len(task.places) - 1, np.nan)
        self.jump, self.leapt, self.in_air = 0, True, False

    def step(self, control: npt.ArrayLike) -> None:
        super().step(control)
        feet = np.array([self.position(f"{leg}_foot") for leg in LEGS])
        if self.time > BEGUN and (feet[:, 2] > self.task.robot.foot + AIR).all():
            self.in_air = True
        if self.jump < len(self.landings) and self.time > (self.jump + 1) * PERIOD - 1e-6:
            x, y, yaw, _ = self.task.places[self.jump + 1]
            turned = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
            places = [x, y] + np.array([below(leg) for leg in LEGS]) @ turned.T
            self.landings[self.jump] = np.linalg.norm(feet[:, :2] - places, axis=1).max()
            self.jump, self.leapt, self.in_air = self.jump + 1, self.leapt and self.in_air, False


def below(leg: str) -> tuple[float, float]:
    """Return the place of a foot that stands, in the trunk's frame: forward and to the left [m]."""
    return (HIP if leg[0] == "F" else -HIP), (WIDTH if leg[1] == "L" else -WIDTH)
