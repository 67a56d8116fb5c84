"""Contacts and the forces between bodies, as texts of one simulation (positions.py)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from .constraints import CONNECT, Constraints, bodies_of
from .turns import cross, cross_force, dot, joined, product, vector
from .velocities import momentum

ISLANDS = int(mujoco.mjNISLAND)
# arrays of a step that are read off its contacts (host/simulation/contact_readings.h)
COUNT, LINK, SENSOR = READINGS = ("contact_count", "contact_link", "contact_sensor")
SELECTION = "contact_on_"  # of one geom or body, perhaps with one geom alone
SELECTED = 4  # numbers of a selection: a force, and how many contacts there are


def selection(kind: str, index: int, other: int | None = None) -> str:
    """The array of contacts of a "geom" or of the geoms of a "body", other: with this geom alone."""
    return f"{SELECTION}{kind}{index}" + ("" if other is None else f"_geom{other}")


def is_reading(name: str) -> bool:
    return name in READINGS or name.startswith(SELECTION)


class Contacts(Constraints):
    pairs: list[dict[str, Any]]  # of the robot (Robot.contact_pairs)
    sensors: list[int]  # that the engine measures

    @property
    def counts(self) -> Any:
        """Numbers of contacts, of their rows, of contacts with rows, of contacts with a force (4)."""
        return self.state(COUNT) if self.pairs else np.zeros(4)

    def ncon(self) -> Any:
        return [self.counts[0]]

    def nefc(self) -> Any:
        return [self.ne()[0] + self.nf()[0] + self.nl()[0] + self.counts[1]]

    def solver_niter(self) -> Any:
        """Newton's steps, under the first of MuJoCo's islands; 0 where no constraint acts."""
        passes = self.state("passes")[0] if self.m.nv else 0.0
        return [np.where(self.nefc()[0] > 0, passes, 0.0), *[0.0] * (ISLANDS - 1)]

    def selected(self, kind: str, index: int, other: int | None = None) -> Any:
        """Sum of the contact forces on a "geom" or a "body" [N], world axes, and the number of contacts (4)."""
        return self.state(selection(kind, index, other)) if self.pairs else np.zeros(SELECTED)

    def contact_force(self, kind: str, index: int) -> Any:
        """The sum of the forces of its contacts on a "geom" or a "body", world axes."""
        return self.selected(kind, index)[:3]

    def about(self, body: int, point: Any, force: Any, torque: Any) -> Any:
        """A force at a point as moment and force about the centre of mass of a body's tree."""
        return joined(torque + cross(point - self.centre_of(body), force), force)

    @cached_property
    def outer_forces(self) -> list[Any]:
        """On each body: applied, of contacts, of equalities that join two bodies."""
        m = self.m
        total: list[Any] = [np.zeros(6)] * m.nbody
        for b in range(1, m.nbody):
            total[b] = self.about_centre(b)
        touching = {int(m.geom_bodyid[g]) for pair in self.pairs for g in pair["geom"]} - {0}
        for b in sorted(touching):
            x = self.state(LINK)[b]
            total[b] = total[b] + self.about(b, x[6:9], x[0:3], x[3:6])
        row = 0
        for equality, rows in self.equalities:
            if rows > 1:
                self.add_joint_force(equality, self.state("row_force")[row : row + rows], total)
            row += rows
        return total

    def add_joint_force(self, equality: int, force: Any, total: list[Any]) -> None:
        """Add the force of a connect or weld on its two bodies: at their anchors, and the moment."""
        m, data = self.m, self.of("eq_data")[equality]
        at_sites = int(m.eq_objtype[equality]) == int(mujoco.mjtObj.mjOBJ_SITE)
        is_connect = int(m.eq_type[equality]) == CONNECT
        ids = m.eq_obj1id[equality], m.eq_obj2id[equality]
        torque = np.zeros(3) if is_connect else self.weld_torque(equality, at_sites, force[3:6])
        for k, (body, sign) in enumerate(zip(bodies_of(m, equality), (1.0, -1.0))):
            if body:
                anchor = data[0:3] if (k == 0) == is_connect else data[3:6]
                point = self.bodies[body].point(self.of("site_pos")[ids[k]] if at_sites else anchor)
                total[body] = total[body] + sign * self.about(body, point, force[:3], torque)

    def weld_torque(self, equality: int, at_sites: bool, force: Any) -> Any:
        """On the first body, world axes.

        A weld's rows are s Im(conj(q2) q1 r); with w its rate is s / 2 Im(conj(q2) w q1 r).
        """
        m, data = self.m, self.of("eq_data")[equality]
        first, second = m.eq_obj1id[equality], m.eq_obj2id[equality]
        if at_sites:
            turned, other = self.sites[first].quaternion, self.sites[second].quaternion
        else:
            turned, other = product(self.bodies[first].quaternion, data[6:10]), self.bodies[second].quaternion
        back = other * np.array([1.0, -1.0, -1.0, -1.0])
        columns = [product(product(back, np.eye(4)[1 + k]), turned)[1:] for k in range(3)]
        return vector(*(0.5 * data[10] * dot(column, force) for column in columns))

    def cfrc_ext(self) -> Any:
        return self.outer_forces

    @cached_property
    def inner_forces(self) -> list[Any]:
        """Return the force of each body's parent on it, for the body with all that it carries."""
        a, v = self.cacc(), self.velocities
        total: list[Any] = [np.zeros(6)]
        for b in range(1, self.m.nbody):
            own = momentum(self.inertias[b], a[b]) + cross_force(v[b], momentum(self.inertias[b], v[b]))
            total.append(own - self.outer_forces[b])
        for b in reversed(range(1, self.m.nbody)):
            above = self.m.body_parentid[b]
            total[above] = total[above] + total[b]
        return total

    def cfrc_int(self) -> Any:
        return self.inner_forces
