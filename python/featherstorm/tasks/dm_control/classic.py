"""Small robots: acrobot, ball in cup, cart-pole, pendulum, point mass, reacher."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...loading import from_mujoco
from .suite import PLANE, SuiteTask, ends_of, first_free, joint_positions, square_to_segment
from .tolerance import tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State
    from ...model import Model

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


CUP = [f"cup_part_{k}" for k in range(5)]
THROWS = 12


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
        ball = first_free(THROWS, lambda: rng.uniform([-0.2, 0.2], [0.2, 0.5]), self.touches)
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


LEAST_ANGLE = float(np.arccos(0.9))  # smallest angle between the lines of two directions [rad]


class PointMass(SuiteTask):
    """Bring the point to the origin.

    action       (2,) forces along the tendons' directions, of 0.1 N
    observation  position: x and y [m]; velocity: v [m/s]
    reward       product of factors for a point near the target and for a small action
    memory       directions of the two tendons, x and y (with random_gains)

    random_gains  True: directions are drawn for each episode; False: they are x and y
    """

    domain = "point_mass"
    parts: Mapping[str, int] = {"position": 2, "velocity": 2}

    def __init__(self, random_gains: bool, **arguments: Any) -> None:
        self.random_gains = random_gains
        if random_gains:
            self.memory = {"directions": (2, 2)}
            self.actions = 2
            self.actuate = self.along_directions
        super().__init__(**arguments)

    def model(self) -> Model:
        if not self.random_gains:
            return super().model()
        # actions are clipped before they are rotated, so the controls of the actuators must not be clipped
        m = self.compiled.__copy__()
        m.actuator_ctrllimited[:] = False
        return from_mujoco(m, self.domain)

    def reset(self, m: Memory, rng: Draws) -> Any:
        q = joint_positions(self.compiled, rng)
        if self.random_gains:
            # the cosine of the two directions is between -0.9 and 0.9
            angle = rng.uniform(-np.pi, np.pi)
            apart = rng.uniform(LEAST_ANGLE, np.pi - LEAST_ANGLE)
            other = angle + np.where(rng.random() < 0.5, apart, -apart)
            m.directions = np.stack([np.cos(angle), np.sin(angle), np.cos(other), np.sin(other)])
        return q, np.zeros(2)

    def along_directions(self, x: State, a: Any, m: Memory) -> Any:
        """Return controls of the tendons along the axes that are equivalent to tendons along the directions."""
        low, high = self.compiled.actuator_ctrlrange.T
        return np.clip(a, low, high) @ m.directions

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        target = self.compiled.geom("target")
        radius = float(target.size[0])
        distance = np.linalg.norm(target.pos - x.field("geom_xpos")[self.number("geom", "pointmass")])
        gentle = tolerance(a, margin=1, value_at_margin=0, sigmoid="quadratic").mean()
        return tolerance(distance, (-np.inf, radius), margin=radius) * (gentle + 4) / 5

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        return {"position": x.q, "velocity": x.v}


class Reacher(SuiteTask):
    """Bring the finger to a target, drawn for each episode.

    action       (2,) torques of shoulder and wrist, of 0.05 N m
    observation  position: q [rad]; to_target: from the finger to the target, x and y [m]; velocity: v [rad/s]
    reward       1 if finger and target overlap, else 0
    memory       target: x and y [m]

    radius       of the target [m]
    """

    domain = "reacher"
    parts: Mapping[str, int] = {"position": 2, "to_target": 2, "velocity": 2}
    memory: Mapping[str, Any] = {"target": 2}

    def __init__(self, radius: float, **arguments: Any) -> None:
        self.radius = radius
        super().__init__(**arguments)

    def reset(self, m: Memory, rng: Draws) -> Any:
        angle, distance = rng.uniform(0, 2 * np.pi), rng.uniform(0.05, 0.2)
        m.target = np.stack([distance * np.sin(angle), distance * np.cos(angle)])
        return joint_positions(self.compiled, rng), np.zeros(2)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        reach = self.radius + float(self.compiled.geom("finger").size[0])
        return tolerance(np.linalg.norm(self.to_target(x, m)), (-np.inf, reach))

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        return {"position": x.q, "to_target": self.to_target(x, m), "velocity": x.v}

    def to_target(self, x: State, m: Memory) -> Any:
        return m.target - x.field("geom_xpos")[self.number("geom", "finger"), :2]
