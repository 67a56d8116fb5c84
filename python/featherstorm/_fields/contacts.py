"""Contacts and the forces between bodies, as traced quantities of one simulation (positions.py)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from .constraints import Constraints
from .positions import cross, cross_force, joined
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

    @property
    def joins_bodies(self) -> bool:
        """True if an equality joins two bodies (connect, weld)."""
        return any(rows > 1 for _, rows in self.equalities)

    @property
    def forces_on_bodies(self) -> tuple[Any, Any]:
        """Forces of constraint rows, and sums of contacts on bodies, flat; zeros where a model has none."""
        row_force = self.state("row_force") if self.joins_bodies else np.zeros(self.shapes["row_force"])
        links = self.state(LINK) if self.pairs else np.zeros(self.shapes[LINK])
        return row_force, links.ravel()

    @cached_property
    def outer_forces(self) -> list[Any]:
        """Forces on each body: applied, of contacts, of equalities that join two bodies."""
        m, wrenches = self.m, self.state("xfrc_applied")
        if self.joins_bodies:
            no_contacts = np.zeros(self.shapes[LINK]).ravel()
            found = self.run("constraint_wrenches", self.state("qpos"), self.state("row_force"), no_contacts)[0]
            wrenches = wrenches + found.reshape(m.nbody, 6)
        total = [np.zeros(6), *(self.about_centre(b, wrenches[b]) for b in range(1, m.nbody))]
        # contacts are summed about a point of their own, from which no pose of a body is needed
        for b in sorted({int(m.geom_bodyid[g]) for pair in self.pairs for g in pair["geom"]} - {0}):
            x = self.state(LINK)[b]
            total[b] = total[b] + joined(x[3:6] + cross(x[6:9] - self.centre_of(b), x[:3]), x[:3])
        return total

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
