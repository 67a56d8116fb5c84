"""Contacts and the forces between bodies, as texts of one simulation (positions.py)."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import mujoco
import numpy as np

from .constraints import CONNECT, Constraints, bodies_of
from .turns import cross, cross_force, dot, joined, product, vector
from .velocities import momentum

ISLANDS = int(mujoco.mjNISLAND)
PYRAMIDAL = int(mujoco.mjtCone.mjCONE_PYRAMIDAL)
OVERRIDE = int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
REACH = frozenset({"geom_margin", "geom_gap", "pair_margin", "pair_gap"})


class Slot(NamedTuple):
    """A place for a contact.

    distance, point, axes   of the operation `contacts`: there is one where distance <= detection; axes by rows
    force                   (dim) normal, tangents, torques, in its axes
    geoms, bodies           its two geoms and their bodies; the force is on the second
    """

    distance: Any
    point: Any
    axes: Any
    force: Any
    geoms: tuple[int, int]
    bodies: tuple[int, int]
    dim: int
    detection: Any
    margin: Any


def slot_count(pairs: list[dict[str, Any]]) -> int:
    return int(sum(pair["slots"] for pair in pairs))


def force_count(pairs: list[dict[str, Any]]) -> int:
    """Numbers of the engine's array contact_force."""
    return int(sum(pair["slots"] * pair["dim"] for pair in pairs))


class Contacts(Constraints):
    pairs: list[dict[str, Any]]  # of the robot (Robot.contact_pairs)

    @cached_property
    def slots(self) -> list[Slot]:
        if not self.pairs:
            return []
        # of the row `contacts`, whose text is too long to be traced for robots with hundreds of pairs
        distance, point, axes = map(self.state, ("contact_dist", "contact_pos", "contact_frame"))
        force, row = self.state("contact_force"), 0
        found: list[Slot] = []
        for pair in self.pairs:
            bodies = int(self.m.geom_bodyid[pair["geom"][0]]), int(self.m.geom_bodyid[pair["geom"][1]])
            detection, margin = self.reach_of(pair)
            for _ in range(pair["slots"]):
                k, dim = len(found), pair["dim"]
                found.append(
                    Slot(
                        distance[k], point[k], axes[k], force[row : row + dim],
                        pair["geom"], bodies, dim, detection, margin,
                    )
                )  # fmt: skip
                row += dim
        return found

    def reach_of(self, pair: dict[str, Any]) -> tuple[Any, Any]:
        """Below which distance a pair of geoms has contacts, and below which these have forces."""
        if REACH.isdisjoint(self.varied) or int(self.m.opt.enableflags) & OVERRIDE:
            return pair["detection"], pair["includemargin"]
        g, h = pair["geom"]
        named = [i for i in range(self.m.npair) if {g, h} == {int(self.m.pair_geom1[i]), int(self.m.pair_geom2[i])}]
        if named:
            margin, gap = self.of("pair_margin")[named[0]], self.of("pair_gap")[named[0]]
        else:
            margin, gap = (self.of(name)[g] + self.of(name)[h] for name in ("geom_margin", "geom_gap"))
        return margin + gap, margin

    def ncon(self) -> Any:
        return [sum((np.where(s.distance <= s.detection, 1.0, 0.0) for s in self.slots), 0.0)]

    def nefc(self) -> Any:
        pyramids = int(self.m.opt.cone) == PYRAMIDAL
        total = self.ne()[0] + self.nf()[0] + self.nl()[0]
        for s in self.slots:
            rows = 2.0 * (s.dim - 1) if pyramids and s.dim > 1 else float(s.dim)
            total = total + np.where(s.distance < s.margin, rows, 0.0)
        return [total]

    def solver_niter(self) -> Any:
        """Newton's steps, under the first of MuJoCo's islands; 0 where no constraint acts."""
        passes = self.state("passes")[0] if self.m.nv else 0.0
        return [np.where(self.nefc()[0] > 0, passes, 0.0), *[0.0] * (ISLANDS - 1)]

    def wrench(self, s: Slot) -> tuple[Any, Any]:
        """Force and torque of a contact on its second body, world axes."""
        force, torque = np.zeros(3), np.zeros(3)
        for k in range(s.dim):
            along = s.force[k] * s.axes[k % 3]
            force, torque = (force + along, torque) if k < 3 else (force, torque + along)
        return force, torque

    def contact_force(self, kind: str, index: int) -> Any:
        """The sum of the forces of its contacts on a "geom" or a "body", world axes."""
        total: Any = np.zeros(3)
        for s in self.slots:
            own = s.geoms if kind == "geom" else s.bodies
            sign = float(own[1] == index) - float(own[0] == index)
            if sign:
                total = total + sign * self.wrench(s)[0]
        return total

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
        for s in self.slots:
            force, torque = self.wrench(s)
            for body, sign in zip(s.bodies, (-1.0, 1.0)):
                if body:
                    total[body] = total[body] + sign * self.about(body, s.point, force, torque)
        row = 0
        for equality, rows in self.equalities:
            if rows > 1:
                self.add_joint_force(equality, self.state("row_force")[row : row + rows], total)
            row += rows
        return total

    def add_joint_force(self, equality: int, force: Any, total: list[Any]) -> None:
        """Of a connect or weld on its two bodies: at their anchors, and what turns."""
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
        """On the first body, world axes. A weld's rows are s Im(conj(q2) q1 r); with w its rate is s / 2 Im(conj(q2) w q1 r)."""
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
        """What the body above exerts on each, with all that it carries."""
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
