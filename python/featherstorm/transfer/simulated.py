"""One simulation by MuJoCo, with its data at the times that an environment's functions see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

if TYPE_CHECKING:
    from .numbers import Array

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
AFTER_CONSTRAINTS = frozenset({"cacc", "cfrc_ext", "cfrc_int"})  # computed on demand (mj_rnePostConstraint)
OF_SUBTREES = frozenset({"subtree_linvel", "subtree_angmom"})  # mj_subtreeVel
RUNGE_KUTTA = int(mujoco.mjtIntegrator.mjINT_RK4)


class Simulated:
    """One simulation.

    m       the model; its parameters may be written between episodes
    data    mjData as after mj_step
    now     mjData at the state itself
    felt    mjData at the beginning of the last substep, for forces and accelerations
    left    mjData of the last evaluation of the equations of motion

    environment.state.EnvironmentState distinguishes the same three times.
    """

    def __init__(self, m: Any) -> None:
        self.m, self.data = m, mujoco.MjData(m)
        self._now, self._felt = mujoco.MjData(m), mujoco.MjData(m)
        self._before = np.zeros(mujoco.mj_stateSize(m, STATE))
        self._is_new, self._is_felt, self.begins = False, False, True
        # cache of the states: sensor -> (its slice in sensordata, True if it reads `felt`)
        self.sensors: dict[str | int, tuple[slice, bool]] = {}
        self._by_stages = int(m.opt.integrator) == RUNGE_KUTTA

    def begin(self, q: Array, v: Array, act: Array) -> None:
        """Begin an episode, without contacts and accelerations, and with zero controls."""
        m, d = self.m, self.data
        mujoco.mj_resetData(m, d)
        d.qpos[:], d.qvel[:] = q, v
        if m.na:
            d.act[:] = act
        mujoco.mj_resetData(m, self._now)
        self.begins, self._is_new = True, False

    def go_on(self, qacc: Array, time: float) -> None:
        """Continue within an episode, with the accelerations of the last substep as warm start."""
        if self.m.nv:
            self.data.qacc_warmstart[:] = qacc
        self.data.time, self.begins = time, False

    def step(self, ctrl: Array, is_last: bool) -> None:
        """Make a substep.

        is_last   True for the last substep of a control step; `felt` belongs to its beginning
        """
        if self.m.nu:
            self.data.ctrl[:] = ctrl
        if is_last:
            mujoco.mj_getState(self.m, self.data, self._before, STATE)
            self._is_felt = False
        mujoco.mj_step(self.m, self.data)
        self.begins, self._is_new = False, False

    def move(self, q: Array, v: Array) -> None:
        """Change the state between two steps; `felt` is unchanged."""
        _ = self.felt
        self.data.qpos[:], self.data.qvel[:] = q, v
        self._is_new = False

    @property
    def now(self) -> Any:
        """mjData with positions and velocities of the state itself."""
        m, d, new = self.m, self.data, self._now
        if not self._is_new:
            new.qpos[:], new.qvel[:], new.ctrl[:], new.time = d.qpos, d.qvel, d.ctrl, d.time
            if m.na:
                new.act[:] = d.act
            mujoco.mj_fwdPosition(m, new)
            mujoco.mj_sensorPos(m, new)
            mujoco.mj_fwdVelocity(m, new)
            mujoco.mj_sensorVel(m, new)
            self._is_new = True
            if self.begins:
                self._rest(new)
        return new

    def _rest(self, d: Any) -> None:
        """Compute forces and accelerations at the beginning of an episode, without contacts."""
        m = self.m
        mujoco.mj_fwdActuation(m, d)
        mujoco.mj_fwdAcceleration(m, d)
        d.qacc[:], d.qfrc_constraint[:] = 0, 0
        d.efc_force[:] = 0
        mujoco.mj_sensorAcc(m, d)

    @property
    def felt(self) -> Any:
        """mjData with forces and accelerations at the beginning of the last substep."""
        if self.begins:
            return self.now
        return self._again() if self._by_stages else self.data

    def _again(self) -> Any:
        """Recompute mjData at the beginning of the last substep."""
        if not self._is_felt:
            mujoco.mj_setState(self.m, self._felt, self._before, STATE)
            mujoco.mj_forward(self.m, self._felt)
            self._is_felt = True
        return self._felt

    @property
    def left(self) -> Any:
        """mjData as after mj_step: of the last evaluation of the equations of motion."""
        return self.now if self.begins else self.data

    def field(self, d: Any, name: str) -> Array:
        """Return a field of mjData by MuJoCo's name, and compute it if MuJoCo has not."""
        if name in AFTER_CONSTRAINTS:
            # These fields use velocities, and mj_step has already updated those; with Runge-Kutta `left` has no older
            # ones.
            d = self._again() if d is self.data and not self._by_stages else d
            mujoco.mj_rnePostConstraint(self.m, d)
        elif name in OF_SUBTREES:
            mujoco.mj_subtreeVel(self.m, d)
        elif name == "energy":
            mujoco.mj_energyPos(self.m, d)
            mujoco.mj_energyVel(self.m, d)
        return np.array(getattr(d, name), float)

    def contact_force(self, kind: str, number: int, other: int | None = None) -> Array:
        """Return the sum of contact forces on a "geom" or a "body" (3) [N], world axes.

        The forces are those at the beginning of the last substep.

        other   count only contacts with this geom
        """
        m, d, total, force = self.m, self.felt, np.zeros(3), np.zeros(6)
        for k in range(0 if self.begins else d.ncon):
            contact = d.contact[k]
            own = contact.geom if kind == "geom" else m.geom_bodyid[contact.geom]
            sign = float(own[1] == number) - float(own[0] == number)
            if sign and (other is None or contact.geom[int(sign < 0)] == other):
                mujoco.mj_contactForce(m, d, k, force)
                total += sign * (contact.frame.reshape(3, 3).T @ force[:3])
        return total

    def touches(self, geom: int, other: int | None) -> float:
        """Return 1 if a geom had a contact (with `other` if given) at the beginning of the last substep, else 0."""
        d = self.felt
        for k in range(0 if self.begins else d.ncon):
            pair = d.contact[k].geom
            if geom in pair and (other is None or other in pair):
                return 1.0
        return 0.0
