"""Fields of mjData that follow from velocities, forces and accelerations, as traced quantities of one simulation.

Most of them are found by the operations of the table.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

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
    def velocities(self) -> list[Any]:
        """The motion of each body; `rates` on the way, of what each velocity moves."""
        m, S, v = self.m, self.motions, self.state("qvel")
        self.rates: list[Any] = [np.zeros(6)] * m.nv
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
                    self.rates[k] = cross_motion(velocity, S[k])
                velocity = velocity + sum(S[k] * v[k] for k in turns)
            all_bodies.append(velocity)
        return all_bodies

    def cvel(self) -> Any:
        return self.velocities

    def cdof_dot(self) -> Any:
        _ = self.velocities
        return self.rates

    @cached_property
    def subtrees(self) -> tuple[list[Any], list[Any]]:
        """Velocity of the centre of mass, and angular momentum about it, of each body with all that it carries."""
        m, mass, moments = self.m, self.of("body_mass"), self.of("body_inertia")
        total = [mass[b] for b in range(m.nbody)]
        linear: list[Any] = []
        for b in range(m.nbody):
            v = self.velocities[b]
            linear.append((v[3:] + cross(v[:3], self.inertial[b].position - self.centre_of(b))) * mass[b])
        own = list(linear)
        for b in reversed(range(1, m.nbody)):
            above = m.body_parentid[b]
            linear[above], total[above] = linear[above] + linear[b], total[above] + total[b]
        angular: list[Any] = [np.zeros(3)] * m.nbody
        for b in range(m.nbody):
            R = self.inertial[b].rotation
            turning = R @ (moments[b] * (R.T @ self.velocities[b][:3]))
            for above in self.path(b):
                lever = self.inertial[b].position - self.centres[above]
                angular[above] = angular[above] + turning + cross(lever, own[b])
        return [linear[b] * (1 / np.maximum(total[b], LEAST)) for b in range(m.nbody)], angular

    def subtree_linvel(self) -> Any:
        return self.subtrees[0]

    def subtree_angmom(self) -> Any:
        return self.subtrees[1]


DISCRETE = int(mujoco.mjtIntegrator.mjINT_DISCRETE)
NO_GRAVITY = int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)


class Forces(Velocities):
    packed: tuple[Any, Any]  # row_start and column of a packed inertia matrix (Model)
    shapes: dict[str, tuple[int, ...]]  # of what is given

    pairs: list[dict[str, Any]]  # of geoms (Contacts)
    counts: Any  # of contacts

    def run(self, op: str, *arrays: Any) -> Any:
        """An operation of the table; all outputs, flat."""
        raise NotImplementedError

    @cached_property
    def tendons(self) -> Any:
        return self.run("tendons", self.state("qpos"), self.state("qvel"))

    def ten_length(self) -> Any:
        return self.tendons[0]

    def ten_velocity(self) -> Any:
        return self.tendons[1]

    def ten_J(self) -> Any:
        """The entries that MuJoCo keeps."""
        dense = self.tendons[2].reshape(self.m.ntendon, self.m.nv)
        rows = np.repeat(np.arange(self.m.ntendon), self.m.ten_J_rownnz)
        return [dense[r, c] for r, c in zip(rows, self.m.ten_J_colind)]

    @cached_property
    def actuators(self) -> Any:
        return self.run("actuators", *map(self.state, ("qpos", "qvel", "act", "ctrl")))

    def actuator_length(self) -> Any:
        return self.actuators[0]

    def actuator_velocity(self) -> Any:
        return self.actuators[1]

    def act_dot(self) -> Any:
        return self.actuators[2]

    def actuator_force(self) -> Any:
        return self.actuators[3]

    def qfrc_actuator(self) -> Any:
        return self.actuators[4]

    @cached_property
    def passive(self) -> Any:
        return self.run("passive_forces", self.state("qpos"), self.state("qvel"))

    def qfrc_spring(self) -> Any:
        return self.passive[0]

    def qfrc_damper(self) -> Any:
        return self.passive[1]

    def qfrc_gravcomp(self) -> Any:
        return self.passive[2]

    def qfrc_fluid(self) -> Any:
        return self.passive[3]

    def qfrc_passive(self) -> Any:
        spring, damper, gravcomp, fluid = self.passive
        by_actuators = np.asarray(self.m.jnt_actgravcomp, bool)[self.m.dof_jntid]
        return spring + damper + fluid + gravcomp * (1.0 - by_actuators)

    @cached_property
    def mass_and_bias(self) -> Any:
        return self.run("mass_and_bias", self.state("qpos"), self.state("qvel"))

    def qfrc_bias(self) -> Any:
        return self.mass_and_bias[1]

    def M(self) -> Any:
        """The entries that MuJoCo keeps: each row's ancestors, then its own."""
        packed = self.mass_and_bias[0]
        start, column = self.packed
        entry = {(i, int(column[k])): k for i in range(self.m.nv) for k in range(start[i], start[i + 1])}
        rows = np.repeat(np.arange(self.m.nv), self.m.M_rownnz)
        return [packed[entry[int(r), int(c)]] for r, c in zip(rows, self.m.M_colind)]

    def qfrc_smooth(self) -> Any:
        forces = self.qfrc_passive() - self.qfrc_bias() + self.qfrc_actuator() + self.state("qfrc_applied")
        return forces + self.applied_forces

    @cached_property
    def applied_forces(self) -> Any:
        """At the joints, of xfrc_applied: force and moment on each body at its centre of mass, world axes."""
        m, S = self.m, self.motions
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

    def qacc_smooth(self) -> Any:
        if int(self.m.opt.integrator) == DISCRETE:  # with springs and dampers of the end of the step
            return self.state("qacc_smooth")
        names = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied")
        return self.run("smooth_acceleration", *map(self.state, names))[0]

    def qacc(self) -> Any:
        return self.state("qacc")

    def qfrc_constraint(self) -> Any:
        """M (a - a0) where it is not given; exactly zero where no row has a force."""
        if "qfrc_constraint" in self.shapes:
            return self.state("qfrc_constraint")
        forces = self.state("row_force")
        if not len(forces) and not self.pairs:
            return np.zeros(self.m.nv)
        acts = sum(np.absolute(forces), self.counts[3]) > 0
        return np.where(acts, self.times_mass(self.state("qacc") - self.qacc_smooth()), 0.0)

    def times_mass(self, a: Any) -> Any:
        """M a."""
        packed = self.mass_and_bias[0]
        start, column = self.packed
        found: list[Any] = [0.0] * self.m.nv
        for i in range(self.m.nv):
            for k in range(start[i], start[i + 1]):
                j = int(column[k])
                found[i] = found[i] + packed[k] * a[j]
                if j != i:
                    found[j] = found[j] + packed[k] * a[i]
        return vector(*found)

    def cacc(self) -> Any:
        """With gravity: at rest -g."""
        m, S, v, a = self.m, self.motions, self.state("qvel"), self.state("qacc")
        _ = self.velocities
        off = int(m.opt.disableflags) & NO_GRAVITY
        all_bodies = [joined(np.zeros(3), np.zeros(3) if off else -self.of("opt.gravity"))]
        for b in range(1, m.nbody):
            own = range(m.body_dofadr[b], m.body_dofadr[b] + m.body_dofnum[b])
            all_bodies.append(all_bodies[m.body_parentid[b]] + sum(self.rates[k] * v[k] + S[k] * a[k] for k in own))
        return all_bodies
