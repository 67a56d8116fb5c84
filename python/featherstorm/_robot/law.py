"""The law that contacts and constraints follow: MuJoCo's, or the rigid one."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from .. import _featherstorm


@dataclass(frozen=True)
class Rigid:
    """Signorini's and Coulomb's law: contacts hold still and slide true, and do not lift what slides.

    Geometry, friction, limits, equalities and dry friction are the file's. How soft they are is the law's: `solref`, `solimp`, `cone` and
    `impratio` are MuJoCo's law alone.

    frequency      of contacts, limits and equalities as springs [Hz]: a body at rest sinks by g / (2 pi frequency)^2, 0.07 mm
    damping_ratio  of these; 1 and more does not overshoot
    hold_soft      how far what is held, by friction or an equality, gives way, in parts of its inverse inertia
    restitution    of contacts, 0 to 1: the part of a speed that a rebound has
    rebound        slowest rebound [m/s]
    push           fastest removal of a penetration [m/s]
    look_ahead     contacts that are further apart are not looked at [m]: at least the way of a step
    tolerance      error of a velocity that is left alone [m/s]
    sweeps         over the rows, at most
    polishes       direct solutions of the rows that act, at most, each kept where it is better: for stacks and grippers
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


def law_of(law: object, label: str) -> Rigid | None:
    """None for MuJoCo's. ValueError for another name."""
    if law == "mujoco":
        return None
    if law == "rigid":
        return Rigid()
    if isinstance(law, Rigid):
        return law
    raise ValueError(f"{label}: law is {law!r}, expected 'mujoco', 'rigid' or a Rigid")
