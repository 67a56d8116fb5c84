"""Robots in a plane with contacts: cheetah, finger, hopper, walker."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...loading import from_mujoco
from .suite import PLANE, SuiteTask, ends_of, first_free, joint_positions, segments_within, settled, turned
from .tolerance import tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State
    from ...model import Model

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


SPIN = 15.0  # speed [rad/s]
FREE_DAMPING = 0.03  # damping of the spinning hinge [N m s/rad]
TRIES = 10


class Finger(SuiteTask):
    """Common parts of spinning and turning.

    action       (2,) torques, of 30 and 15 N m
    observation  position: angles of the finger [rad], tip of the body relative to the hinge, x and z [m]; velocity:
                 v [rad/s]; touch: log(1 + forces [N]) at the fingertip's upper and lower side

    Forces are those at the beginning of the last substep. An episode begins without touching, as in the suite: at the
    first of 10 draws without contact. All 10 touch in 1 of 10^10 episodes.
    """

    domain, dt = "finger", 0.02
    parts: Mapping[str, int] = {"position": 4, "velocity": 3, "touch": 2}

    def reset(self, m: Memory, rng: Draws) -> Any:
        q = first_free(TRIES, lambda: joint_positions(self.compiled, rng), self.touches)
        return q, np.zeros(3)

    def touches(self, q: Any) -> Any:
        """Return True if the fingertip touches the body; nothing else can touch."""
        c = self.compiled
        angle = q - c.qpos0
        first, second, spinner = (c.body(name).pos[PLANE] for name in ("proximal", "distal", "spinner"))
        tip, distal = c.geom("fingertip"), first + turned(second, angle[0])
        near = []
        a, b = (distal + turned(end, angle[0] + angle[1]) for end in ends_of(tip))
        for cap in (c.geom("cap1"), c.geom("cap2")):
            p, q = (spinner + turned(end, angle[2]) for end in ends_of(cap))
            near.append(segments_within(float(tip.size[0] + cap.size[0]), a, b, p, q))
        return np.logical_or(*near)

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        forces = np.concatenate([x.sensor("touchtop"), x.sensor("touchbottom")])
        position = np.concatenate([x.sensor("proximal"), x.sensor("distal"), self.tip(x)])
        return {"position": position, "velocity": x.v, "touch": np.log(1 + forces)}

    def tip(self, x: State) -> Any:
        """Return the position of the body's tip relative to the hinge, x and z [m]."""
        return (x.sensor("tip") - x.sensor("spinner"))[PLANE]


class FingerSpin(Finger):
    """Spin the body. The reward is 1 if the hinge turns at -15 rad/s or faster, else 0."""

    def model(self) -> Model:
        m = self.compiled.__copy__()
        m.dof_damping[m.joint("hinge").dofadr[0]] = FREE_DAMPING
        return from_mujoco(m, self.domain)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        return np.where(x.sensor("hinge_velocity")[0] <= -SPIN, 1.0, 0.0)


class FingerTurn(Finger):
    """Turn the body's tip to a target, drawn for each episode. The reward is 1 if the tip is in the target, else 0.

    observation  also target_position: relative to the hinge, x and z [m]; dist_to_target: of the tip from the target's
                 surface [m]
    memory       target: relative to the hinge, x and z [m]

    radius       of the target [m]
    """

    parts: Mapping[str, int] = {**Finger.parts, "target_position": 2, "dist_to_target": 1}
    memory: Mapping[str, Any] = {"target": 2}

    def __init__(self, radius: float, **arguments: Any) -> None:
        self.radius = radius
        super().__init__(**arguments)

    def reset(self, m: Memory, rng: Draws) -> Any:
        angle = rng.uniform(-np.pi, np.pi)
        far = float(self.compiled.geom("cap1").size.sum())
        m.target = np.stack([far * np.sin(angle), far * np.cos(angle)])
        return super().reset(m, rng)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        return np.where(self.distance(x, m) <= 0, 1.0, 0.0)

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        return {**super().sees(x, m), "target_position": m.target, "dist_to_target": self.distance(x, m)}

    def distance(self, x: State, m: Memory) -> Any:
        return np.linalg.norm(m.target - self.tip(x)) - self.radius


CLEAR = 0.6  # height of the torso above the foot, of their centres of mass [m]
HOP = 2.0  # speed of reward 1 [m/s]


class Hopper(SuiteTask):
    """Stand, or hop in the direction +x.

    action       (4,) torques of waist, hip, knee, ankle; of 30, 40, 30, 10 N m
    observation  position: q without x [m, rad]; velocity: v [m/s, rad/s]; touch: log(1 + forces [N] at toe and heel)
    reward       1 if the torso is 0.6 to 2 m above the foot, else 0; times a factor for a small action (stand), or for
                 a forward speed of the centre of mass near 2 m/s (hop)

    Forces are those at the beginning of the last substep. In the first observation of an episode they are 0. The suite
    has other values if the foot touches in the drawn pose, which happens in 4 of 1000 episodes.
    """

    domain, dt = "hopper", 0.02
    parts: Mapping[str, int] = {"position": 6, "velocity": 7, "touch": 2}

    def __init__(self, hopping: bool, **arguments: Any) -> None:
        self.hopping = hopping
        super().__init__(**arguments)

    def reset(self, m: Memory, rng: Draws) -> Any:
        return joint_positions(self.compiled, rng), np.zeros(self.compiled.nv)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        centres = x.field("xipos")
        height = centres[self.number("body", "torso"), 2] - centres[self.number("body", "foot"), 2]
        standing = tolerance(height, (CLEAR, 2))
        if self.hopping:
            forward = x.sensor("torso_subtreelinvel")[0]
            return standing * tolerance(forward, (HOP, np.inf), HOP / 2, value_at_margin=0.5, sigmoid="linear")
        gentle = tolerance(a, margin=1, value_at_margin=0, sigmoid="quadratic").mean()
        return standing * (gentle + 4) / 5

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        forces = np.concatenate([x.sensor("touch_toe"), x.sensor("touch_heel")])
        return {"position": x.q[1:], "velocity": x.v, "touch": np.log(1 + forces)}


UPRIGHT_HEIGHT = 1.2  # height of the torso [m]


class Walker(SuiteTask):
    """Stand, walk or run in the direction +x.

    action       (6,) torques of the right, then the left leg: hip, knee, ankle; of 100, 50, 20 N m
    observation  orientations: x components of the x and z axes of each body, in the world; height: of the torso [m];
                 velocity: v [m/s, rad/s]
    reward       3/4 for a torso height above 1.2 m, plus 1/4 (1 + cosine of the torso's lean) / 2; unless speed is 0,
                 times (5 f + 1) / 6, f a factor for the forward speed of the centre of mass

    speed        target speed [m/s]; 0 to stand
    """

    domain, seconds, dt = "walker", 25.0, 0.025
    parts: Mapping[str, int] = {"orientations": 14, "height": 1, "velocity": 9}

    def __init__(self, speed: float, **arguments: Any) -> None:
        self.speed = speed
        super().__init__(**arguments)

    def reset(self, m: Memory, rng: Draws) -> Any:
        return joint_positions(self.compiled, rng), np.zeros(self.compiled.nv)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        standing = tolerance(x.position("torso")[2], (UPRIGHT_HEIGHT, np.inf), margin=UPRIGHT_HEIGHT / 2)
        upright = (1 + x.rotation("torso")[2, 2]) / 2
        reward = (3 * standing + upright) / 4
        if self.speed:
            forward = x.sensor("torso_subtreelinvel")[0]
            moving = tolerance(forward, (self.speed, np.inf), self.speed / 2, value_at_margin=0.5, sigmoid="linear")
            reward = reward * (5 * moving + 1) / 6
        return reward

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        axes = x.field("xmat")[1:, [0, 2]]  # rows of xmat are world axes
        return {"orientations": axes, "height": x.position("torso")[2], "velocity": x.v}
