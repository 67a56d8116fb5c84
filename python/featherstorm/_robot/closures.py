"""Loops and couplings of joints, declared contacts, and laws of contact, which a model carries beside its tree.

Contacts are pairs of surfaces that may touch.

    feet = [fs.Contact(f"{leg}_foot", radius=0.022, friction=0.6) for leg in ("FL", "FR", "RL", "RR")]
    model = fs.load("go2", contacts=feet)
    q, v, impulse = fs.contact_step(model, q, v, dt=4e-3, q_target=target, kp=60, kd=3, substeps=4)

The list of contacts belongs to the model; each instance finds which of them touch. Operations for contacts besides
contact_step and soft_contact_step: contact_jacobian, contact_frames, contact_rates, contact_inertia, contact_system,
fd_contacts, contact_impulse, soft_contact_forces; call them as fs.contact_jacobian(model, q) and so on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from .. import _featherstorm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..typing import Matrix, Vector

IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Loop:
    """A joint that closes a kinematic loop.

    The tree's joints stay as they are; `fd_loops`, `loop_step` and the other operations on loops keep the loop closed.

    predecessor, successor   links or frames that it joins; "" is the world
    type        the free motions, by the frames' z axis: "fixed" none, "revolute" the rotation about z, "prismatic" the
                translation along z, "helical" both with `parameter` [m/rad] between them, "rack_pinion" a pinion of
                radius `parameter` [m] that rolls along the predecessor's x, "cylindrical" rotation and translation,
                "universal" rotations about the predecessor's z and the successor's x, "planar" the x-y plane and the
                rotation about z, "spherical" all rotations, "point_on_line" all rotations and the translation along the
                predecessor's z
    at          (3,) [m] the joint in the predecessor, its link's axes
    rotation    (3, 3) the joint's axes in the predecessor, as columns
    on          (3,) [m] the joint in the successor, its link's axes
    on_rotation (3, 3) the joint's axes in the successor, as columns
    name        for messages

    Errors, when added to a robot: ValueError for a link that does not exist, an unknown type, one body on both sides,
    or a matrix that is not a rotation. Rigid Body Dynamics Algorithms, section 8.3 and Table 8.1.
    """

    predecessor: str
    successor: str
    type: str = "revolute"
    at: Vector = (0.0, 0.0, 0.0)
    on: Vector = (0.0, 0.0, 0.0)
    rotation: Matrix = IDENTITY
    on_rotation: Matrix = IDENTITY
    parameter: float = 0.0
    name: str = "loop"


@dataclass(frozen=True)
class Coupling:
    """A joint whose position follows others: q = sum ratio * q_driver + offset. Gears, mimic joints, differentials.

    joint     name of a joint of one freedom
    drivers   {name of a joint of one freedom: ratio}; drivers may not be coupled themselves
    offset    [rad | m]

    Operations on coupled joints (`fd_coupled`, `coupled_step`) take u (B, nu), the velocities of `model.u_names`.
    Errors, when added to a robot: ValueError. Rigid Body Dynamics Algorithms, section 9.6.
    """

    joint: str
    drivers: dict[str, float] = field(default_factory=dict)
    offset: float = 0.0


@dataclass(frozen=True)
class Contact:
    """A sphere of a link against a surface of the world or of another link.

    link                link that carries the sphere
    centre, radius      of the sphere, in the link's axes [m]; radius 0 is a point
    friction            Coulomb's coefficient
    restitution         0 to 1
    on                  link that carries the surface; "" is the world
    surface             "plane": z = 0, solid below; "sphere": solid inside; "cavity": solid outside
    rotation, position  of the surface's frame in that link (3, 3), (3,) [m]
    surface_radius      of a sphere or cavity [m]
    half_x, half_y      half lengths of a bounded plane [m]; 0, 0: unbounded
    name                for messages; "": the name of the link

    Errors, when added to a robot: ValueError that names the contact.
    """

    link: str
    centre: Vector = (0.0, 0.0, 0.0)
    radius: float = 0.0
    friction: float = 0.0
    restitution: float = 0.0
    on: str = ""
    surface: str = "plane"
    rotation: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    position: Vector = (0.0, 0.0, 0.0)
    surface_radius: float = 0.0
    half_x: float = 0.0
    half_y: float = 0.0
    name: str = ""

    def native(self) -> _featherstorm.ContactSpec:
        numbers = [float(x) for x in (self.surface_radius, self.half_x, self.half_y, self.friction, self.restitution)]
        centre, position = ([float(x) for x in array] for array in (self.centre, self.position))
        rotation = [[float(x) for x in row] for row in self.rotation]
        return _featherstorm.ContactSpec(
            self.name or self.link, self.link, centre, float(self.radius), self.on, self.surface, rotation,
            position, *numbers,
        )  # fmt: skip


def with_contacts(
    robot: _featherstorm.Robot, contacts: Iterable[Contact], sweeps: int = 8, relax: int = 2
) -> _featherstorm.Robot:
    """Return a Robot with these contacts in place of its own.

    sweeps, relax   numbers of sweeps of projected Gauss-Seidel, and of further sweeps without the push that removes
                    penetrations; both are part of the kernels. More sweeps solve gaps and friction more accurately
    Errors: TypeError for an object that is not a Contact; ValueError that names the contact.
    """
    contacts = tuple(contacts)
    for contact in contacts:
        if not isinstance(contact, Contact):
            raise TypeError(f"contacts: got a {type(contact).__name__}, expected a featherstorm.Contact")
    return robot.with_contacts([contact.native() for contact in contacts], sweeps, relax)


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
        for each in fields(self):
            value = getattr(self, each.name)
            counts = each.name in ("sweeps", "polishes")
            least = 1e-6 if each.name == "frequency" else 0
            if isinstance(value, bool) or not isinstance(value, int if counts else (int, float)):
                raise TypeError(f"Rigid: {each.name} is {value!r}, expected {'an integer' if counts else 'a number'}")
            if not (math.isfinite(value) and value >= least):
                raise ValueError(f"Rigid: {each.name} is {value}, expected {'above' if least else 'at least'} 0")
        if self.restitution > 1:
            raise ValueError(f"Rigid: restitution is {self.restitution}, expected 0 to 1")

    def of_engine(self) -> _featherstorm.RigidLaw:
        law = _featherstorm.RigidLaw()
        for each in fields(self):
            setattr(law, each.name, getattr(self, each.name))
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
