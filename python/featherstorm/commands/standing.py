"""Built-in robots on their feet: the spheres of the links that may touch the floor, and the pose that drives hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._evaluation.evaluation import run
from .._robot.closures import Contact
from ..model import Model

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from ..simulation import Simulation

FRICTION = 0.8
STIFFNESS = (
    1.5  # of a joint, in units of weight times height of the base; an inverted pendulum on stiff feet needs about 0.5
)
DAMPING_TIME = 0.05  # kd / kp [s]


@dataclass(frozen=True)
class Stance:
    """Feet and pose of a standing robot.

    feet     link -> centres of its spheres (n, 3) [m], in its axes
    radius   of the spheres [m]
    joints   name of a joint or its ending -> position [rad]
    push     speed of the whole robot [m/s] that the drives, which do not balance, can absorb; it also scales the random
             differences of the first states from the pose
    """

    feet: dict[str, list[tuple[float, float, float]]]
    radius: float
    joints: dict[str, float] = field(default_factory=dict)
    push: float = 0.5


def corners(x: Iterable[float], y: Iterable[float], z: float) -> list[tuple[float, float, float]]:
    return [(a, b, z) for a in x for b in y]


# radii and positions are those of the collision shapes in the robots' files
STANCES = {
    "go2": Stance(
        {f"{leg}_foot": [(-0.002, 0, 0)] for leg in ("FL", "FR", "RL", "RR")},
        0.022,
        {"thigh_joint": 0.8, "calf_joint": -1.6},
    ),
    "hyq": Stance(
        {f"{leg}_foot": [(0, 0, 0)] for leg in ("lf", "rf", "lh", "rh")},
        0.02175,
        {"f_hfe_joint": 0.75, "f_kfe_joint": -1.5, "h_hfe_joint": -0.75, "h_kfe_joint": 1.5},
    ),
    "anymal_c": Stance(
        {f"{leg}_FOOT": [(0, 0, 0.0225)] for leg in ("LF", "RF", "LH", "RH")},
        0.03,
        {"F_HFE": 0.4, "F_KFE": -0.8, "H_HFE": -0.4, "H_KFE": 0.8},
    ),
    "humanoid": Stance(
        {
            f"foot_{side}": [(-0.07, -0.01, 0), (-0.07, 0.01, 0), (0.14, -0.03, 0), (0.14, 0.03, 0)]
            for side in ("right", "left")
        },
        0.027,
        push=0.1,
    ),
    "g1": Stance(
        {f"{side}_ankle_roll_link": corners((-0.05, 0.125), (-0.025, 0.025), -0.025) for side in ("left", "right")},
        0.01,
        push=0.1,
    ),
    "atlas": Stance(
        {
            "l_foot": corners((-0.0876, 0.1728), (-0.0626, 0.066), -0.07645),
            "r_foot": corners((-0.0876, 0.1728), (-0.066, 0.0626), -0.07645),
        },
        0.0,
        push=0.05,
    ),
}


def on_feet(model: Model, stance: Stance, assemble: bool = True) -> Model:
    """Return the model with contacts between its feet and the floor."""
    contacts = [
        Contact(link, centre, stance.radius, FRICTION, name=f"{link} {k}")
        for link, centres in stance.feet.items()
        for k, centre in enumerate(centres)
    ]
    return Model(model.robot, model.threads, model.isa, assemble, contacts=contacts)


def pose(model: Model, stance: Stance) -> npt.NDArray[np.float64]:
    """Return q (nq) of the standing robot, with its feet on the floor. The model is that of `on_feet`."""
    q = np.array(model.q0)
    for name, column in zip(model.v_names, model.dof_q):
        for ending, angle in stance.joints.items():
            if column >= 0 and name.endswith(ending):
                q[column] = angle
    gap, *_ = run(model, "contact_jacobian", q)
    q[2] -= gap.min()
    return q


def gains(model: Model, q: npt.NDArray[np.float64]) -> dict[str, npt.NDArray[np.float64]]:
    """Return kp and kd for Simulation.step, equal for all joints, from the robot's weight and height."""
    kp = STIFFNESS * 9.81 * model.total_mass * q[2]
    joints = model.dof_q >= 6
    return {"kp": kp * joints, "kd": DAMPING_TIME * kp * joints}


def start(
    model: Model, stance: Stance, q: npt.NDArray[np.float64], instances: int, seed: int, dtype: npt.DTypeLike
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return (q, v) at rest, near the pose and up to some centimetres above the floor."""
    random = np.random.default_rng(seed).random((instances, model.nq))
    joints = [column for column in model.dof_q if column >= 7]
    result = np.tile(q, (instances, 1))
    result[:, joints] += 0.4 * stance.push * (random[:, joints] - 0.5)
    result[:, 2] += 0.1 * stance.push * random[:, 2]
    return result.astype(dtype), np.zeros((instances, model.nv), dtype)


class Pushes:
    """Horizontal impulses on the whole robot: mass times a speed of up to `speed` [m/s].

    Each robot gets one impulse a second on average.
    """

    def __init__(self, speed: float, seed: int) -> None:
        self.speed, self.random, self.count = speed, np.random.default_rng([seed, 1]), 0

    def __call__(self, sim: Simulation) -> None:
        hit = np.flatnonzero(self.random.random(sim.instances) < sim.dt)
        speed, angle = self.random.random((2, len(hit))) * [[self.speed], [2 * np.pi]]
        sim.v[hit, 0] += speed * np.cos(angle)
        sim.v[hit, 1] += speed * np.sin(angle)
        self.count += len(hit)


UPRIGHT = 0.7  # fraction of the pose's height above which a robot counts as standing


def report(sim: Simulation, q: npt.NDArray[np.float64], pushes: Pushes) -> None:
    standing = int(np.count_nonzero(sim.q[:, 2] > UPRIGHT * q[2]))
    print(
        f"standing: {standing} of {sim.instances} robots after {sim.time:.1f} s, with their base above "
        f"{UPRIGHT * q[2]:.2f} m, and {pushes.count} pushes of up to {pushes.speed:g} m/s"
    )
