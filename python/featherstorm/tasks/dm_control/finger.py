"""A finger with two joints that can turn a body on a hinge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...loading import from_mujoco
from .plane import PLANE, ends_of, segments_within, turned
from .starts import first_free, joint_positions
from .suite import SuiteTask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State
    from ...model import Model

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
