"""Contacts that are declared by hand: pairs of surfaces that may touch.

    feet = [fs.Contact(f"{leg}_foot", radius=0.022, friction=0.6) for leg in ("FL", "FR", "RL", "RR")]
    model = fs.load("go2", contacts=feet)
    q, v, impulse = fs.contact_step(model, q, v, dt=4e-3, q_target=target, kp=60, kd=3, substeps=4)

The list of contacts belongs to the model; each instance finds which of them touch. Operations for contacts besides
contact_step and soft_contact_step: contact_jacobian, contact_frames, contact_rates, contact_inertia, contact_system,
fd_contacts, contact_impulse, soft_contact_forces; call them as fs.contact_jacobian(model, q) and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import _featherstorm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..typing import Matrix, Vector


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
            self.name or self.link,
            self.link,
            centre,
            float(self.radius),
            self.on,
            self.surface,
            rotation,
            position,
            *numbers,
        )


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
