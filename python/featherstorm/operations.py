"""The operations as functions of a model and arrays: batch first, any array library, results in the same library.

Arrays are (n,) for one instance or (B, n); float32 or float64, the same for all arrays of a call. Results are views of
the engine's memory with strides (1, stride), instance fastest. Coordinates: `q` of a free joint is position, then the
quaternion w x y z; its `v` is the linear velocity in world axes, then the angular velocity in the body's axes.

Arrays on a CUDA device, all of a call on the same one, are read in place. Results are on that device, and calls do not
wait for them (see `device`).

Errors: ValueError for shapes, quaternions and devices; TypeError for dtypes; NotImplementedError for an operation that
this build lacks. NaN in an instance stays in that instance. `check=False` skips the check of quaternions, which is
never made on a device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ._evaluation.evaluation import evaluate, run
from ._memory.arrays import library_of, shape_error
from ._names import with_hints
from ._robot.numbers import step_numbers, with_numbers
from ._robot.steps import (
    Stepped,
    activations,
    check_tree,
    drives,
    independent,
    pass_count,
    refuse_controls,
    step_op,
    substep_time,
    zeros,
)
from ._world.passes import refuse_law, world_step
from .device import DeviceArray
from .typing import Array, ArrayLike, Frame, Names, StepNumbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Unpack

    from ._memory.arguments import Arguments
    from .model import Model


@with_hints
def rnea(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Inverse dynamics: the forces at the joints that make the robot accelerate by `a`.

        tau = M(q) a + C(q, v) - sum J_i^T f_ext_i          RBDA section 5.4, Table 5.2

    in   q (B, nq), v (B, nv), a (B, nv)
    in   f_ext (B, nb, 6) or (B, 6 nb): moment about its origin [N m] and force [N] on each moving body, world axes
    out  tau (B, nv) [N m | N]
    Cost O(nb). Contacts do not change it.
    Errors: ValueError for a model with loops or couplings (id_loops, coupled_id) unless ignore=("loops", "couplings").
    """
    check_tree(model, "rnea", ignore)
    return single(model, "rnea", [q, v, a, f_ext], check)


@with_hints
def bias(model: Model, q: ArrayLike, v: ArrayLike, *, check: bool = True) -> Array:
    """The bias force: gravity, Coriolis and centrifugal forces.

        C(q, v) = rnea(q, v, 0)          RBDA (6.1), Table 5.1

    in   q (B, nq) [rad | m], v (B, nv) [rad/s | m/s]
    out  tau (B, nv) [N m | N]
    """
    return single(model, "bias", [q, v], check)


@with_hints
def crba(model: Model, q: ArrayLike, packed: bool = False, *, check: bool = True) -> Array:
    """The joint-space inertia matrix M(q), symmetric and positive definite, by composite rigid bodies.

        M_ij = S_i^T I^c_i X_ij S_j          RBDA Table 6.2, section 6.4

    in   q (B, nq) [rad | m]
    out  M (B, nv, nv) [kg m^2 | kg m | kg]; with packed=True (B, nh), the branch-sparse lower triangle:
         entries row_start[i] to row_start[i + 1] of the model are row i, at the columns `model.column`
    """
    batch, (M,) = evaluate(model, "crba", [q], check=check)
    return batch.result(M if packed else dense(model, batch, M))


def dense(model: Model, batch: Arguments, packed: Array) -> Array:
    """Expand a packed symmetric matrix (B, nh) to (B, nv, nv); entries of different branches are zero."""
    n = model.nv
    row = np.repeat(np.arange(n), np.diff(model.row_start))
    where = np.full((n, n), model.nh)
    where[row, model.column] = where[model.column, row] = np.arange(model.nh)
    return batch.library.spread(packed, where)


@with_hints
def ltdl(model: Model, M_packed: ArrayLike) -> Array:
    """The factorisation of an inertia matrix without fill-in.

        M = L^T D L          RBDA Table 6.3

    in   M (B, nh) [kg m^2 | kg m | kg], from crba(packed=True)
    out  L (B, nh): L below the diagonal, 1/D on it
    """
    return single(model, "ltdl", [M_packed], False)


@with_hints
def solve(model: Model, L: ArrayLike, b: Array) -> Array:
    """The solution of M x = b with the factor of ltdl.

        x = M^-1 b          RBDA Table 6.5

    in   L (B, nh), b (B, nv) [N m | N] or (B, nv, k) for k right-hand sides
    out  x like b
    """
    if len(np.shape(b)) < 3:
        return single(model, "solve", [L, b], False)
    columns = np.shape(b)[2]
    if columns == 0:
        return b
    parts = [evaluate(model, "solve", [L, b[:, :, k]]) for k in range(columns)]
    batch = parts[0][0]
    return batch.result(batch.library.stack([x for _, (x,) in parts]))


@with_hints
def aba(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Forward dynamics by articulated bodies: the acceleration under `tau`.

        a = M(q)^-1 (tau - C(q, v) + sum J_i^T f_ext_i)          RBDA Table 7.1

    in   q (B, nq), v (B, nv), tau (B, nv) [N m | N]
    in   f_ext as in `rnea`
    out  a (B, nv) [rad/s^2 | m/s^2]
    Cost O(nb). Contacts of the model are ignored: pass their forces as f_ext, or use fd_contacts or contact_step.
    Errors: ValueError for a model with loops or couplings (fd_loops, fd_coupled) unless ignore=("loops", "couplings").
    """
    check_tree(model, "aba", ignore)
    return single(model, "aba", [q, v, tau, f_ext], check)


@with_hints
def fd(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    ignore: Names = (),
    check: bool = True,
) -> Array:
    """Forward dynamics by the algorithm that is fastest for this robot: articulated bodies, or the factors of M.

        a = M(q)^-1 (tau - C(q, v) + sum J_i^T f_ext_i)          RBDA Table 7.1, section 6.1

    in   q (B, nq) [rad | m], v (B, nv) [rad/s | m/s], tau (B, nv) [N m | N]
    in   f_ext (B, nb, 6) or (B, 6 nb): moment about its origin [N m] and force [N] on each moving body, world axes
    out  a (B, nv) [rad/s^2 | m/s^2]
    Contacts of the model are ignored: pass their forces as f_ext, or use fd_contacts or contact_step.
    Errors: those of `aba`.
    """
    check_tree(model, "fd", ignore)
    return single(model, "fd", [q, v, tau, f_ext], check)


@with_hints
def forward_kinematics(
    model: Model, q: ArrayLike, frame: Frame | None = None, *, check: bool = True
) -> tuple[Array, Array]:
    """Poses of frames in the world.

        X_i = X_parent X_J(q_i) X_T          RBDA (2.46)-(2.57)

    in   q (B, nq) [rad | m]; frame: name or index, None for all
    out  positions (B, nf, 3) [m] and rotations (B, nf, 3, 3) from frame axes to world axes; (B, 3) and (B, 3, 3) for
         one frame
    """
    batch, (pose,) = evaluate(model, "forward_kinematics", [q], check=check)
    rotation = pose[:, :, 3:].reshape(batch.instances, model.nf, 3, 3)
    position = pose[:, :, :3]
    if frame is not None:
        k = model.frame(frame)
        position, rotation = position[:, k], rotation[:, k]
    return batch.result(position), batch.result(rotation)


@with_hints
def jacobian(model: Model, q: ArrayLike, frame: Frame, *, check: bool = True) -> Array:
    """The Jacobian of a frame: angular velocity first, then the velocity of the frame's origin, world axes.

        v_f = J_f v          RBDA (2.18), Example 4.2

    in   q (B, nq) [rad | m]; frame: name or index
    out  J (B, 6, nv) [1 | m]
    """
    return single(model, "jacobian", [q], check, frame)


@with_hints
def frame_velocity(model: Model, q: ArrayLike, v: ArrayLike, frame: Frame, *, check: bool = True) -> Array:
    """Angular velocity and velocity of the origin of a frame, world axes.

        v_f = J_f v          RBDA (4.6)

    in   q (B, nq) [rad | m], v (B, nv) [rad/s | m/s]; frame: name or index
    out  (B, 6) [rad/s, m/s]
    """
    return single(model, "frame_velocity", [q, v], check, frame)


@with_hints
def energy(model: Model, q: ArrayLike, v: ArrayLike, *, check: bool = True) -> tuple[Array, Array]:
    """Kinetic and potential energy; the potential is zero where all mass is at the world's origin.

        T = 1/2 v^T M v,   V = -sum m_i g . c_i          RBDA (2.67)

    in   q (B, nq) [rad | m], v (B, nv) [rad/s | m/s]
    out  kinetic (B,), potential (B,) [J]
    """
    batch, (columns,) = evaluate(model, "energy", [q, v], check=check)
    return batch.result(columns[:, 0]), batch.result(columns[:, 1])


class Momentum(NamedTuple):
    """Centre of mass and momentum, world axes.

    com           (B, 3) [m] centre of mass
    com_velocity  (B, 3) [m/s]
    h             (B, 6) [N m s, N s] angular momentum about the world's origin, then linear momentum
    h_com         (B, 3) [N m s] angular momentum about the centre of mass
    """

    com: Array
    com_velocity: Array
    h: Array
    h_com: Array


@with_hints
def momentum(model: Model, q: ArrayLike, v: ArrayLike, *, check: bool = True) -> Momentum:
    """Centre of mass, its velocity, and momentum of the robot, as a `Momentum`.

        h = sum X_i^T I_i v_i          RBDA (2.58)-(2.61)

    in   q (B, nq) [rad | m], v (B, nv) [rad/s | m/s]
    out  com (B, 3) [m], com_velocity (B, 3) [m/s]; h (B, 6) [N m s, N s] about the world's origin, angular first;
         h_com (B, 3) [N m s] about the centre of mass; world axes
    """
    return Momentum(*run(model, "momentum", q, v, check=check))


@with_hints
def integrate(model: Model, q: ArrayLike, v: ArrayLike, dt: float, *, check: bool = True) -> Array:
    """The position reached from `q` with the constant velocity `v` after the time `dt`, quaternions renormalised.

        q_next = q (+) v dt          exponential map of each joint's motion

    in   q (B, nq) [rad | m], v (B, nv) [rad/s | m/s], dt [s]
    out  q_next (B, nq) [rad | m]
    """
    return run(model, "integrate", q, v, dt=dt, check=check)


@with_hints
def difference(model: Model, q0: ArrayLike, q1: ArrayLike, *, check: bool = True) -> Array:
    """The constant velocity that leads from `q0` to `q1` in unit time, turning by at most half a turn.

        q0 (+) v = q1          the inverse of integrate

    in   q0 (B, nq), q1 (B, nq) [rad | m]
    out  v (B, nv) [rad | m]
    """
    return single(model, "difference", [q0, q1], check)


@with_hints
@with_numbers(StepNumbers)
def step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    dt: float | None = None,
    tau: ArrayLike | None = None,
    q_target: ArrayLike | None = None,
    substeps: int | None = None,
    *,
    ctrl: ArrayLike | None = None,
    act: ArrayLike | None = None,
    qacc: ArrayLike | None = None,
    t: float = 0.0,
    law: object = "mujoco",
    ignore: Names = (),
    check: bool = True,
    **numbers: Unpack[StepNumbers],
) -> Stepped:
    """Advance the state by one step, with all that the model carries.

    The world of a model file is stepped as in MuJoCo, with the file's actuators, contacts, constraints, timestep and
    integrator. Other models are stepped by semi-implicit Euler, where damping, kd and dry friction are implicit:

        (M + dt D) a = tau + kp (q_target - q) - C - D v,   v += a dt,   q = q (+) v dt          core/step/step.h

    in   q (B, nq) [rad | m], v (B, nv) [rad/s | m/s], tau (B, nv) [N m | N], q_target (B, nv) [rad | m]
    in   dt [s] of the call; each of `substeps` equal substeps takes dt / substeps, None: one substep. With a world dt
         is a multiple of model.timestep, None: `substeps` of it
    in   ctrl (B, n_ctrl), act (B, n_act), qacc (B, nv): with a world only: controls and activations of the actuators,
         the accelerations that the solver starts from; default zero, but act must be given where the world has some:
         it is a part of the state. tau is added at the joints
    in   t  the time [s]; no step depends on it
    in   law  of a world's contacts and constraints: "mujoco", or "rigid" or a `Rigid`, the law of Signorini and Coulomb
         (docs/mujoco.md)
    in   ignore  names among "contacts", "loops", "couplings", "world" that the step ignores although the model carries
         them
    in   numbers  those of `typing.StepNumbers`, none with a world; a number fills an array; the same for all instances
    out  q (B, nq), v (B, nv), as a `Stepped`, which also has act and qacc
    Contacts: impulses begin at zero in every call; `contact_step` takes and returns them. Couplings: positions and
    velocities of coupled joints follow their drivers, whatever q and v say.
    On a device all arrays of a world lie there. Its first call makes kernels, in seconds; later calls do not wait.
    Errors: ValueError for a model that carries two of contacts, loops, couplings and world, and does not ignore one.
    """
    op = step_op(model, "step", ignore)
    if op == "world":
        step_numbers("step", model, op, {**numbers, "q_target": q_target}, 0.0)
        act = activations(model, act)
        return Stepped(*world_step(model, q, v, dt, ctrl, act, qacc, tau, substeps, check, law))
    refuse_law("step", law)
    refuse_controls("step", {"ctrl": ctrl, "act": act, "qacc": qacc})
    dt, substeps = pass_count("step", model, op, dt, substeps)
    uniforms = step_numbers("step", model, op, numbers, substep_time("step", dt, substeps))
    drive = drives(model, tau, q_target)
    if op == "coupled_step":
        u = independent_velocity(model, v)
        q = run(model, "coupled_position", q, check=check)
        batch, (q, u) = evaluate(model, op, [q, u, *drive], None, uniforms, substeps, check, "step")
        return Stepped(batch.result(q), run(model, "coupled_velocity", batch.result(u)))
    impulse = [zeros(3 * model.nc)] if op == "contact_step" else []
    batch, (q, v, *_) = evaluate(model, op, [q, v, *impulse, *drive], None, uniforms, substeps, check, "step")
    return Stepped(batch.result(q), batch.result(v))


def independent_velocity(model: Model, v: Array) -> Array:
    """Return the velocities u (B, nu) of joints that are not coupled, from v (B, nv)."""
    if isinstance(v, DeviceArray):
        raise ValueError(
            "step: v of coupled joints is a DeviceArray, expected an array of a library, or call coupled_step"
        )
    array = np.asarray(v, float) if library_of(v) is None else v
    if array.ndim not in (1, 2) or array.shape[-1] != model.nv:
        raise shape_error("step", "v", array.shape, (*array.shape[:-1], model.nv))
    u = array[..., independent(model)]
    return u.tolist() if library_of(v) is None else u


def single(
    model: Model,
    op: str,
    arguments: Sequence[ArrayLike | None],
    check: bool,
    frame: Frame | None = None,
    caller: str | None = None,
) -> Array:
    """Run an operation and return its only output."""
    batch, (output,) = evaluate(model, op, arguments, frame, check=check, caller=caller)
    return batch.result(output)
