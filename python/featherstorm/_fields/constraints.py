"""Rows of constraints, contacts, and the forces between bodies, as traced quantities of one simulation (positions.py).

Rows of equalities, dry friction and limits are those that exist, with the counts of active rows.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

from .._robot.mjcf import FAR
from .forces import Forces, momentum
from .positions import BALL, FREE, cross, cross_force, dot, joined

if TYPE_CHECKING:
    import numpy.typing as npt

CONNECT, WELD, TENDON = (int(getattr(mujoco.mjtEq, "mjEQ_" + kind)) for kind in ("CONNECT", "WELD", "TENDON"))
LEAST_JACOBIAN = 1e-15  # as of core/constraint/rows.h
NO_CONSTRAINTS = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
NO_EQUALITIES = int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
NO_FRICTION = int(mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS)
NO_LIMITS = int(mujoco.mjtDisableBit.mjDSBL_LIMIT)


def is_off(m: Any, flag: int) -> bool:
    return bool(int(m.opt.disableflags) & (flag | NO_CONSTRAINTS))


def moves(m: Any, body: int) -> bool:
    return bool(m.body_dofnum[m.body_weldid[body]])


def bodies_of(m: Any, equality: int) -> tuple[int, int]:
    """The two bodies that a connect or weld joins."""
    ids = int(m.eq_obj1id[equality]), int(m.eq_obj2id[equality])
    if int(m.eq_objtype[equality]) == int(mujoco.mjtObj.mjOBJ_SITE):
        return int(m.site_bodyid[ids[0]]), int(m.site_bodyid[ids[1]])
    return ids


def equality_rows(m: Any, active: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """(equality, rows) of those that act on something that moves."""
    if is_off(m, NO_EQUALITIES):
        return []
    found = []
    for e in np.flatnonzero(active).tolist():
        kind = int(m.eq_type[e])
        if kind not in (CONNECT, WELD):
            found.append((e, 1))
        elif any(moves(m, b) for b in bodies_of(m, e)):
            found.append((e, 3 if kind == CONNECT else 6))
    return found


def friction_rows(m: Any) -> int:
    if is_off(m, NO_FRICTION):
        return 0
    return int(np.count_nonzero(m.dof_frictionloss)) + int((np.asarray(m.tendon_frictionloss) > 0).sum())


class LimitOf(NamedTuple):
    """joint, tendon   which of the two it is of, the other -1
    rows             lower and upper, one alone of a ball joint
    """

    joint: int
    tendon: int
    rows: int


def limits_of(m: Any) -> list[LimitOf]:
    if is_off(m, NO_LIMITS):
        return []
    kinds = np.asarray(m.jnt_type)
    joints = [
        LimitOf(j, -1, 1 if kinds[j] == BALL else 2) for j in range(m.njnt) if m.jnt_limited[j] and kinds[j] != FREE
    ]
    return joints + [LimitOf(-1, t, 2) for t in range(m.ntendon) if m.tendon_limited[t]]


def row_count(m: Any, active: npt.NDArray[np.bool_]) -> int:
    """Rows of the engine's array row_force."""
    limits = sum(limit.rows for limit in limits_of(m))
    return sum(rows for _, rows in equality_rows(m, active)) + friction_rows(m) + limits


class LimitRow(NamedTuple):
    """A row of a limit. It acts where left < 0 and it moves something.

    left   distance to the limit less its margin
    moves  1 where its Jacobian is not zero, else 0
    """

    left: Any
    moves: Any

    @property
    def acts(self) -> Any:
        """1 where MuJoCo has the row, else 0."""
        return np.where(self.left < 0, self.moves, 0.0)


class Constraints(Forces):
    active: npt.NDArray[np.bool_]  # which equalities act
    switched = False  # whether these are switched by the state
    varied: tuple[str, ...] = ()  # fields of the model that differ between simulations

    @cached_property
    def equalities(self) -> list[tuple[int, int]]:
        return equality_rows(self.m, self.active)

    @cached_property
    def limits(self) -> list[LimitRow]:
        m, found = self.m, []
        for joint, tendon, rows in limits_of(m):
            if joint >= 0:
                ends, margin = self.of("jnt_range")[joint], self.of("jnt_margin")[joint]
            else:
                ends, margin = self.of("tendon_range")[tendon], self.of("tendon_margin")[tendon]
            lower, upper = np.clip(ends, -FAR, FAR)
            if rows == 1:
                sides = [np.maximum(lower, upper) - self.ball_angle(joint)]
            else:
                y = self.found("tendons")[0][tendon] if tendon >= 0 else self.state("qpos")[m.jnt_qposadr[joint]]
                sides = [y - lower, upper - y]
            moves = 1.0 if joint >= 0 else self.is_nonzero(self.tendon_row(tendon))
            found += [LimitRow(x - margin, moves) for x in sides]
        return found

    def ball_angle(self, joint: int) -> Any:
        """Return the angle of a ball joint, the shorter way around."""
        first = self.m.jnt_qposadr[joint]
        q = self.state("qpos")[first : first + 4]
        square = dot(q[1:], q[1:])
        return np.where(square > 1e-30, 2 * np.arctan2(np.sqrt(np.maximum(square, 1e-30)), np.absolute(q[0])), 0.0)

    def is_nonzero(self, row: Any) -> Any:
        """1 where some entry of a row's Jacobian is not zero, else 0: the engine and MuJoCo have no row there."""
        return np.where(sum((np.absolute(x) for x in row), 0.0) > LEAST_JACOBIAN, 1.0, 0.0)

    def equality_moves(self, equality: int) -> Any:
        """1 where the rows of a tendon equality are not zero; rows of joints and of bodies are taken to be nonzero."""
        m = self.m
        if int(m.eq_type[equality]) != TENDON:
            return 1.0
        y, x = int(m.eq_obj1id[equality]), int(m.eq_obj2id[equality])
        if x < 0:
            return self.is_nonzero(self.tendon_row(y))
        c, dx = self.of("eq_data")[equality], self.found("tendons")[0][x] - self.of("tendon_length0")[x]
        slope = c[1] + dx * (2.0 * c[2] + dx * (3.0 * c[3] + dx * 4.0 * c[4]))
        return self.is_nonzero(self.tendon_row(y) - slope * self.tendon_row(x))

    @property
    def ne(self) -> Any:
        total: Any = 0.0
        for e, rows in self.equalities:
            there = self.equality_moves(e) * float(rows)
            total = total + (np.where(self.state("eq_active")[e] > 0, there, 0.0) if self.switched else there)
        return [total]

    @property
    def nf(self) -> Any:
        if is_off(self.m, NO_FRICTION):
            return [0.0]
        total: Any = 0.0
        for name in ("dof_frictionloss", "tendon_frictionloss"):
            usual, losses = np.asarray(getattr(self.m, name)), self.of(name)
            there = usual != 0 if name.startswith("dof") else usual > 0
            for k in np.flatnonzero(there).tolist():
                row = 1.0 if name.startswith("dof") else self.is_nonzero(self.tendon_row(k))
                total = total + (np.where(np.absolute(losses[k]) > 0, row, 0.0) if name in self.varied else row)
        return [total]

    @property
    def nl(self) -> Any:
        return [sum((limit.acts for limit in self.limits), 0.0)]


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

    @property
    def ncon(self) -> Any:
        return [self.counts[0]]

    @property
    def nefc(self) -> Any:
        return [self.ne[0] + self.nf[0] + self.nl[0] + self.counts[1]]

    @property
    def solver_niter(self) -> Any:
        """Newton's steps, under the first of MuJoCo's islands; 0 where no constraint acts."""
        passes = self.state("passes")[0] if self.m.nv else 0.0
        return [np.where(self.nefc[0] > 0, passes, 0.0), *[0.0] * (ISLANDS - 1)]

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
    def cfrc_ext(self) -> list[Any]:
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

    @property
    def cfrc_int(self) -> list[Any]:
        """Return the force of each body's parent on it, for the body with all that it carries."""
        a, v = self.cacc, self.velocities[0]
        total: list[Any] = [np.zeros(6)]
        for b in range(1, self.m.nbody):
            own = momentum(self.cinert[b], a[b]) + cross_force(v[b], momentum(self.cinert[b], v[b]))
            total.append(own - self.cfrc_ext[b])
        for b in reversed(range(1, self.m.nbody)):
            above = self.m.body_parentid[b]
            total[above] = total[above] + total[b]
        return total
