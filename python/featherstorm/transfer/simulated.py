"""One simulation by MuJoCo: its parameters, and its forces and accelerations for an environment's functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .._fields.table import mocap_bodies
from .._world.values import field_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..typing import Doubles as Array


INERTIAS = ("body_mass", "body_inertia", "body_ipos", "body_iquat", "dof_armature")
SHAPES = mujoco.mjtGeom


def write(m: Any, values: Mapping[str, Any]) -> None:
    """Write parameters by name into a model.

    Quantities that MuJoCo's compiler derives from the parameters stay unchanged, as in the engine. The exceptions are
    those that its step uses in their place: subtree masses, the constant inertias of simple joints (dof_M0), and the
    bounds of geoms for the collision search.
    """
    for name, value in values.items():
        field = field_of(name)
        if field.startswith("mocap"):  # a reset places mocap bodies relative to their parents
            bodies = mocap_bodies(m)
            getattr(m, field.replace("mocap", "body"))[bodies] = np.reshape(value, (len(bodies), -1))
            continue
        owner, field = (m.opt, field[4:]) if field.startswith("opt.") else (m, field)
        there = np.asarray(getattr(owner, field))
        if there.ndim:
            there[...] = np.reshape(value, there.shape)
        else:
            setattr(owner, field, type(getattr(owner, field))(np.ravel(value)[0]))
    if not set(values).isdisjoint(INERTIAS):
        twin = m.__copy__()
        mujoco.mj_setConst(twin, mujoco.MjData(twin))
        m.body_subtreemass[:] = twin.body_subtreemass
        simple = np.asarray(m.dof_simplenum) > 0
        m.dof_M0[simple] = twin.dof_M0[simple]
    if "geom_size" in values:
        for g in range(m.ngeom):
            bound(m, g)
    if not set(values).isdisjoint(("geom_size", "geom_pos", "geom_quat")):
        # the bounding volume trees belong to the old positions of the geoms
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)


def bound(m: Any, g: int) -> None:
    """Set the bounding sphere and box of a geom from its size.

    The sphere is that of the box, as large as needed or larger: the collision search only excludes distant geoms by it.
    Planes, meshes and height fields have no bounds by their size.
    """
    a, b, c = m.geom_size[g]
    half = {
        int(SHAPES.mjGEOM_SPHERE): (a, a, a),
        int(SHAPES.mjGEOM_CAPSULE): (a, a, a + b),
        int(SHAPES.mjGEOM_ELLIPSOID): (a, b, c),
        int(SHAPES.mjGEOM_CYLINDER): (a, a, b),
        int(SHAPES.mjGEOM_BOX): (a, b, c),
    }.get(int(m.geom_type[g]))
    if half is not None:
        m.geom_rbound[g] = np.linalg.norm(half)
        m.geom_aabb[g] = (0, 0, 0, *half)


STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
AFTER_CONSTRAINTS = frozenset({"cacc", "cfrc_ext", "cfrc_int"})  # computed on demand (mj_rnePostConstraint)
OF_SUBTREES = frozenset({"subtree_linvel", "subtree_angmom"})  # mj_subtreeVel
RUNGE_KUTTA = int(mujoco.mjtIntegrator.mjINT_RK4)


class Simulated:
    """One simulation.

    m               the model; its parameters may be written between steps
    data            mjData as after mj_step
    at_solve        quantities at the beginning of the last substep
    at_last_stage   quantities of the last evaluation of the equations of motion

    environment.state.EnvironmentState distinguishes the same times.
    """

    def __init__(self, m: Any) -> None:
        self.m, self.data = m, mujoco.MjData(m)
        self._again = mujoco.MjData(m)
        self._before = np.zeros(mujoco.mj_stateSize(m, STATE))
        self._is_again = False
        self._has_stages = int(m.opt.integrator) == RUNGE_KUTTA

    def step(self, ctrl: Array, is_last: bool) -> None:
        """Make a substep.

        is_last   True for the last substep of a control step; `at_solve` belongs to its beginning
        """
        if self.m.nu:
            self.data.ctrl[:] = ctrl
        if is_last:
            mujoco.mj_getState(self.m, self.data, self._before, STATE)
            self._is_again = False
        mujoco.mj_step(self.m, self.data)

    @property
    def at_solve(self) -> Measured:
        return Measured(self.m, self.again() if self._has_stages else self.data, self.again)

    @property
    def at_last_stage(self) -> Measured:
        # The fields after the constraints use velocities, and mj_step has already updated those; with Runge-Kutta there
        # are no older ones.
        return Measured(self.m, self.data, (lambda: self.data) if self._has_stages else self.again)

    def again(self) -> Any:
        """Recompute mjData at the beginning of the last substep."""
        if not self._is_again:
            mujoco.mj_setState(self.m, self._again, self._before, STATE)
            mujoco.mj_forward(self.m, self._again)
            self._is_again = True
        return self._again


class Measured:
    """Quantities of mjData, by the methods of _fields.instance.Instance that environments request.

    again   returns mjData for fields that mj_step does not compute
    """

    def __init__(self, m: Any, data: Any, again: Callable[[], Any]) -> None:
        self._m, self._data, self._again = m, data, again

    def state(self, name: str) -> Array:
        return np.array(getattr(self._data, name), float)

    def field(self, name: str) -> Array:
        """Return a field of mjData by MuJoCo's name, and compute it if mj_step has not."""
        m, d = self._m, self._data
        if name in AFTER_CONSTRAINTS:
            d = self._again()
            mujoco.mj_rnePostConstraint(m, d)
        elif name in OF_SUBTREES:
            mujoco.mj_subtreeVel(m, d)
        elif name == "energy":
            mujoco.mj_energyPos(m, d)
            mujoco.mj_energyVel(m, d)
        return np.array(getattr(d, name), float)

    def sensor(self, k: int) -> Array:
        first = int(self._m.sensor_adr[k])
        return self.state("sensordata")[first : first + int(self._m.sensor_dim[k])]

    def contact_force(self, kind: str, number: int) -> Array:
        return self.selected(kind, number)[:3]

    def selected(self, kind: str, number: int, other: int | None = None) -> Array:
        """Return the sum of contact forces on a "geom" or a "body" [N], world axes, and the number of contacts (4).

        other   count only contacts with this geom
        """
        m, d, total, force = self._m, self._data, np.zeros(4), np.zeros(6)
        for k in range(d.ncon):
            contact = d.contact[k]
            own = contact.geom if kind == "geom" else m.geom_bodyid[contact.geom]
            sign = float(own[1] == number) - float(own[0] == number)
            if sign and (other is None or contact.geom[int(sign < 0)] == other):
                mujoco.mj_contactForce(m, d, k, force)
                total[:3] += sign * (contact.frame.reshape(3, 3).T @ force[:3])
                total[3] += 1
        return total
