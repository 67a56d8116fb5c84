"""Contacts: what of a robot may touch what, and steps in time with them.

    feet = [fs.Contact(f"{leg}_foot", radius=0.022, friction=0.6) for leg in ("FL", "FR", "RL", "RR")]
    model = fs.load("go2", contacts=feet)
    q, v, impulse = fs.contact_step(model, q, v, dt=4e-3, q_target=target, kp=60, kd=3, substeps=4)

Which contacts there are belongs to the model, whether they touch is found for each instance. Rows of the table beside the
two steps here: contact_jacobian, contact_frames, contact_rates, contact_inertia, contact_system, fd_contacts,
contact_impulse, soft_contact_forces; fs.contact_jacobian(model, q) and so on.
"""

from dataclasses import dataclass

from . import _featherstorm
from .operations import evaluate
from .steps import step_numbers, substep_time


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
    centre: tuple = (0.0, 0.0, 0.0)
    radius: float = 0.0
    friction: float = 0.0
    restitution: float = 0.0
    on: str = ""
    surface: str = "plane"
    rotation: tuple = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    position: tuple = (0.0, 0.0, 0.0)
    surface_radius: float = 0.0
    half_x: float = 0.0
    half_y: float = 0.0
    name: str = ""

    def native(self):
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


def with_contacts(robot, contacts, sweeps=8, relax=2):
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


def contact_step(model, q, v, dt, tau=None, q_target=None, impulse=None, substeps=1, *, check=True, **numbers):
    """A step in time with contacts: `step` with impulses at the contacts, by projected Gauss-Seidel.

        (M + dt D) (v_next - v) = dt (tau - C - D v) + G^T impulse,   q = q (+) v_next dt

    Normal impulses do not pull, tangential ones stay within the friction disc, and bodies do not enter each other but for
    what the sweeps leave.                                                     RBDA (11.35), (11.42)

    in   q (B, nq), v (B, nv), tau (B, nv), q_target (B, nv)
    in   dt [s] of the call; each of `substeps` equal passes takes dt / substeps
    in   impulse (B, nc, 3) [N s], of the last pass, where the sweeps begin; None: zero
    in   numbers: those of `step`; erp, 0 to 1: part of a penetration that is pushed out in a pass; slop [m]: what of it is
         left alone; max_push [m/s]; rebound [m/s]: slower rebounds are none; compliance [1/kg]: softens the normals
    out  q (B, nq), v (B, nv), impulse (B, nc, 3): normal, two tangents, on the link of each contact
    Errors: ValueError for a robot without contacts.
    """
    numbers = step_numbers("contact_step", numbers, substep_time("contact_step", dt, substeps))
    arrays = [q, v, zeros(3 * model.nc) if impulse is None else impulse, *drives(model, tau, q_target)]
    batch, outputs = evaluate(model, "contact_step", arrays, None, numbers, substeps, check)
    return tuple(batch.result(view) for view in outputs)


def soft_contact_step(
    model, q, v, dt, tau=None, q_target=None, deformation=None, substeps=1, *, rolling=0.0, check=True, **numbers
):
    """A step in time with soft contacts: surfaces on springs and dampers, with friction.

    dt / substeps has to be short against sqrt(m / K) and m / D of the contacts.                  RBDA (11.73)-(11.79)

    in   q (B, nq), v (B, nv), tau (B, nv), q_target (B, nv)
    in   dt [s] of the call; each of `substeps` equal passes takes dt / substeps
    in   deformation (B, nc, 3) [m] of the surfaces as they would be at the end of the step if they were left, axes of the
         links that carry them; None: zero
    in   numbers: those of `step`; K_n, K_t [N/m], D_n, D_t [N s/m], all positive: normal and tangential stiffness and
         damping, (nc,) or a number; rolling [s/m]: resistance to the motion of the contact point by normal force
    out  q (B, nq), v (B, nv), deformation (B, nc, 3)
    Errors: TypeError where a stiffness or damping is missing; ValueError for a robot without contacts.
    """
    numbers = {**numbers, "rolling": rolling}
    numbers = step_numbers("soft_contact_step", numbers, substep_time("soft_contact_step", dt, substeps))
    arrays = [q, v, zeros(3 * model.nc) if deformation is None else deformation, *drives(model, tau, q_target)]
    batch, outputs = evaluate(model, "soft_contact_step", arrays, None, numbers, substeps, check)
    return tuple(batch.result(view) for view in outputs)


def zeros(n):
    return [0.0] * n


def drives(model, tau, q_target):
    return [zeros(model.nv) if x is None else x for x in (tau, q_target)]
