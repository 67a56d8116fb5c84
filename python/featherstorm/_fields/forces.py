"""Fields of mjData that follow from velocities, forces and accelerations, as traced quantities of one simulation."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import mujoco
import numpy as np

from .positions import FREE, HINGE, LEAST, SLIDE, Positions, cross, cross_motion, joined, vector


def momentum(inertia: Any, v: Any) -> Any:
    """Inertia (10) of positions.py times a motion: moment and force."""
    I = vector(*inertia[[0, 3, 4, 3, 1, 5, 4, 5, 2]]).reshape(3, 3)
    h, mass = inertia[6:9], inertia[9]
    return joined(I @ v[:3] + cross(h, v[3:]), mass * v[3:] - cross(h, v[:3]))


class Velocities(Positions):
    @cached_property
    def velocities(self) -> tuple[list[Any], list[Any]]:
        """The motion of each body, and the rate of the motion of each velocity coordinate."""
        m, S, v = self.m, self.cdof, self.state("qvel")
        rates: list[Any] = [np.zeros(6)] * m.nv
        all_bodies: list[Any] = [np.zeros(6)]
        for b in range(1, m.nbody):
            velocity = all_bodies[m.body_parentid[b]]
            for j in self.joints(b):
                first, kind = m.jnt_dofadr[j], m.jnt_type[j]
                if kind == FREE:  # the moves first, along fixed axes
                    velocity = velocity + sum(S[k] * v[k] for k in range(first, first + 3))
                    first += 3
                turns = range(first, first + (1 if kind in (SLIDE, HINGE) else 3))
                for k in turns:
                    rates[k] = cross_motion(velocity, S[k])
                velocity = velocity + sum(S[k] * v[k] for k in turns)
            all_bodies.append(velocity)
        return all_bodies, rates

    @cached_property
    def subtrees(self) -> tuple[list[Any], list[Any]]:
        """Velocity of the centre of mass, and angular momentum about it, of each body with all that it carries."""
        m, mass, moments, motions = self.m, self.of("body_mass"), self.of("body_inertia"), self.velocities[0]
        total = [mass[b] for b in range(m.nbody)]
        linear: list[Any] = []
        for b in range(m.nbody):
            v = motions[b]
            linear.append((v[3:] + cross(v[:3], self.inertial[b].position - self.centre_of(b))) * mass[b])
        own = list(linear)
        for b in reversed(range(1, m.nbody)):
            above = m.body_parentid[b]
            linear[above], total[above] = linear[above] + linear[b], total[above] + total[b]
        angular: list[Any] = [np.zeros(3)] * m.nbody
        for b in range(m.nbody):
            R = self.inertial[b].rotation
            turning = R @ (moments[b] * (R.T @ motions[b][:3]))
            for above in self.path(b):
                lever = self.inertial[b].position - self.subtree_com[above]
                angular[above] = angular[above] + turning + cross(lever, own[b])
        return [linear[b] * (1 / np.maximum(total[b], LEAST)) for b in range(m.nbody)], angular


DISCRETE = int(mujoco.mjtIntegrator.mjINT_DISCRETE)
NO_GRAVITY = int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)


class Forces(Velocities):
    packed: tuple[Any, Any]  # row_start and column of a packed inertia matrix (Model)
    shapes: dict[str, tuple[int, ...]]  # of what is given

    pairs: list[dict[str, Any]]  # of geoms (Contacts)
    counts: Any  # of contacts
    # operations of the table -> the arrays that they take
    OPERATIONS: ClassVar[dict[str, tuple[str, ...]]] = {
        "tendons": ("qpos", "qvel"), "actuators": ("qpos", "qvel", "act", "ctrl"), "passive_forces": ("qpos", "qvel"),
        "mass_and_bias": ("qpos", "qvel"),
        "smooth_acceleration": ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied"),
    }  # fmt: skip

    def run(self, op: str, *arrays: Any) -> Any:
        """An operation of the table; all outputs, flat."""
        raise NotImplementedError

    def found(self, op: str) -> Any:
        """The outputs of one of OPERATIONS, run once."""
        if op not in self.ran:
            self.ran[op] = self.run(op, *map(self.state, self.OPERATIONS[op]))
        return self.ran[op]

    @cached_property
    def ran(self) -> dict[str, Any]:
        return {}

    def tendon_row(self, tendon: int) -> Any:
        """The Jacobian of a tendon's length (nv)."""
        return self.found("tendons")[2].reshape(self.m.ntendon, self.m.nv)[tendon]

    @property
    def ten_J(self) -> Any:
        """The entries that MuJoCo keeps."""
        rows = np.repeat(np.arange(self.m.ntendon), self.m.ten_J_rownnz)
        return [self.tendon_row(r)[c] for r, c in zip(rows, self.m.ten_J_colind)]

    @property
    def qfrc_passive(self) -> Any:
        spring, damper, gravcomp, fluid = self.found("passive_forces")
        by_actuators = np.asarray(self.m.jnt_actgravcomp, bool)[self.m.dof_jntid]
        return spring + damper + fluid + gravcomp * (1.0 - by_actuators)

    @property
    def M(self) -> Any:
        """The entries that MuJoCo keeps: each row's ancestors, then its own."""
        packed = self.found("mass_and_bias")[0]
        start, column = self.packed
        entry = {(i, int(column[k])): k for i in range(self.m.nv) for k in range(start[i], start[i + 1])}
        rows = np.repeat(np.arange(self.m.nv), self.m.M_rownnz)
        return [packed[entry[int(r), int(c)]] for r, c in zip(rows, self.m.M_colind)]

    @property
    def qfrc_smooth(self) -> Any:
        bias, driven = self.found("mass_and_bias")[1], self.found("actuators")[4]
        return self.qfrc_passive - bias + driven + self.state("qfrc_applied") + self.applied_forces

    @property
    def applied_forces(self) -> Any:
        """At the joints, of xfrc_applied: force and moment on each body at its centre of mass, world axes."""
        m, S = self.m, self.cdof
        forces: list[Any] = [0.0] * m.nv
        for b in range(1, m.nbody):
            moment_and_force = self.about_centre(b, self.state("xfrc_applied")[b])
            k = self.last_velocity(b)
            while k >= 0:
                forces[k] = forces[k] + np.sum(S[k] * moment_and_force)
                k = int(m.dof_parentid[k])
        return vector(*forces)

    def about_centre(self, body: int, x: Any) -> Any:
        """Return a force and moment on a body, at its centre of mass, as moment and force about its tree's centre."""
        lever = self.inertial[body].position - self.centre_of(body)
        return joined(x[3:] + cross(lever, x[:3]), x[:3])

    @property
    def qacc_smooth(self) -> Any:
        if int(self.m.opt.integrator) == DISCRETE:  # with springs and dampers of the end of the step
            return self.state("qacc_smooth")
        return self.found("smooth_acceleration")[0]

    @property
    def qfrc_constraint(self) -> Any:
        """M (a - a0) where it is not given; exactly zero where no row has a force."""
        if "qfrc_constraint" in self.shapes:
            return self.state("qfrc_constraint")
        forces = self.state("row_force")
        if not len(forces) and not self.pairs:
            return np.zeros(self.m.nv)
        acts = sum(np.absolute(forces), self.counts[3]) > 0
        (product,) = self.run("mul", self.found("mass_and_bias")[0], self.state("qacc") - self.qacc_smooth)
        return np.where(acts, product, 0.0)

    @cached_property
    def cacc(self) -> list[Any]:
        """With gravity: at rest -g."""
        m, S, v, a, rates = self.m, self.cdof, self.state("qvel"), self.state("qacc"), self.velocities[1]
        off = int(m.opt.disableflags) & NO_GRAVITY
        all_bodies = [joined(np.zeros(3), np.zeros(3) if off else -self.of("opt.gravity"))]
        for b in range(1, m.nbody):
            own = range(m.body_dofadr[b], m.body_dofadr[b] + m.body_dofnum[b])
            all_bodies.append(all_bodies[m.body_parentid[b]] + sum(rates[k] * v[k] + S[k] * a[k] for k in own))
        return all_bodies
