"""Fields of mjData that follow from velocities, as traced quantities of one simulation (positions.py)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

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
