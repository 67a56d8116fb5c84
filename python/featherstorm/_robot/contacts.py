"""Contacts: what of a robot may touch what.

    feet = [fs.Contact(f"{leg}_foot", radius=0.022, friction=0.6) for leg in ("FL", "FR", "RL", "RR")]
    model = fs.load("go2", contacts=feet)
    q, v, impulse = fs.contact_step(model, q, v, dt=4e-3, q_target=target, kp=60, kd=3, substeps=4)

Which contacts there are belongs to the model, whether they touch is found for each instance. Rows of the table beside
contact_step and soft_contact_step: contact_jacobian, contact_frames, contact_rates, contact_inertia, contact_system, fd_contacts,
contact_impulse, soft_contact_forces; fs.contact_jacobian(model, q) and so on.
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
    half_x, half_y      of a plane that ends there [m]; 0, 0: it does not end
    name                for messages; "": that of the link

    What is wrong in a contact is told, with its name, where it meets a robot: ValueError.
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
    """A Robot that carries these contacts in place of its own.

    sweeps, relax   of projected Gauss-Seidel: how many, and how many more without the push that undoes penetrations; they
                    are part of the kernels. More meet the gaps and friction better
    Errors: TypeError for what is no Contact; ValueError that names the contact.
    """
    contacts = tuple(contacts)
    for contact in contacts:
        if not isinstance(contact, Contact):
            raise TypeError(f"contacts: got a {type(contact).__name__}, expected a featherstorm.Contact")
    return robot.with_contacts([contact.native() for contact in contacts], sweeps, relax)
