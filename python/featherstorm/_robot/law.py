"""The law of contacts and constraints: MuJoCo's, or the rigid one."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from .. import _featherstorm


@dataclass(frozen=True)
class Rigid:
    """The law of Signorini and Coulomb: sticking contacts do not creep, sliding ones have exact friction and no lift.

    Geometry, friction, limits, equalities and dry friction come from the file. Softness comes from this law: `solref`,
    `solimp`, `cone` and `impratio` have an effect only in MuJoCo's law.

    frequency      of contacts, limits and equalities as springs [Hz]: a body at rest sinks by g / (2 pi frequency)^2,
                   0.07 mm
    damping_ratio  of these springs; 1 and more does not overshoot
    hold_soft      compliance of stiction and equalities, in parts of their inverse inertia
    restitution    of contacts, 0 to 1: rebound speed / impact speed
    rebound        slowest rebound [m/s]
    push           fastest removal of a penetration [m/s]
    look_ahead     contacts of a larger distance are ignored [m]; at least the motion in one step
    tolerance      velocity error that counts as converged [m/s]
    sweeps         largest number of sweeps over the rows
    polishes       largest number of direct solutions of the active rows, each kept where it is better: for stacks and
                   grippers
    """

    frequency: float = 60.0
    damping_ratio: float = 1.0
    hold_soft: float = 1e-3
    restitution: float = 0.0
    rebound: float = 0.1
    push: float = 1.0
    look_ahead: float = 0.05
    tolerance: float = 1e-6
    sweeps: int = 8
    polishes: int = 2

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            counts = field.name in ("sweeps", "polishes")
            least = 1e-6 if field.name == "frequency" else 0
            if isinstance(value, bool) or not isinstance(value, int if counts else (int, float)):
                raise TypeError(f"Rigid: {field.name} is {value!r}, expected {'an integer' if counts else 'a number'}")
            if not (math.isfinite(value) and value >= least):
                raise ValueError(f"Rigid: {field.name} is {value}, expected {'above' if least else 'at least'} 0")
        if self.restitution > 1:
            raise ValueError(f"Rigid: restitution is {self.restitution}, expected 0 to 1")

    def of_engine(self) -> _featherstorm.RigidLaw:
        law = _featherstorm.RigidLaw()
        for field in fields(self):
            setattr(law, field.name, getattr(self, field.name))
        return law


# for planning with steps of 10 to 20 ms: coarser forces, contacts seen 1 cm ahead
PLANNING = Rigid(look_ahead=0.01, tolerance=1e-3, sweeps=4, polishes=0)


def law_of(law: object, label: str) -> Rigid | None:
    """Return the law as a Rigid, or None for MuJoCo's. Errors: ValueError for another name."""
    if law == "mujoco":
        return None
    if law == "rigid":
        return Rigid()
    if law == "planning":
        return PLANNING
    if isinstance(law, Rigid):
        return law
    raise ValueError(f"{label}: law is {law!r}, expected 'mujoco', 'rigid', 'planning' or a Rigid")
