"""Steps of robots with declared contacts, loops and couplings, and steps with error control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .._evaluation.evaluation import evaluate
from .._robot.numbers import step_numbers, with_numbers
from .._robot.steps import check_tree, drives, substep_time, zeros
from ..typing import Array, ArrayLike, ContactNumbers, DriveNumbers, LoopNumbers, Names, SoftContactNumbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Unpack

    from ..model import Model


def stepped(
    op: str, model: Model, arrays: Sequence[Any], numbers: Mapping[str, Any], dt: float, substeps: int, check: bool
) -> Any:
    """Return the arrays after a call of a step: (q, v, ...)."""
    uniforms = step_numbers(op, model, op, numbers, substep_time(op, dt, substeps))
    batch, outputs = evaluate(model, op, arrays, None, uniforms, substeps, check)
    return tuple(batch.result(view) for view in outputs)


@with_numbers(ContactNumbers)
def contact_step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    dt: float,
    tau: ArrayLike | None = None,
    q_target: ArrayLike | None = None,
    impulse: ArrayLike | None = None,
    substeps: int = 1,
    *,
    check: bool = True,
    **numbers: Unpack[ContactNumbers],
) -> tuple[Array, Array, Array]:
    """A step in time with contacts: `step` with impulses at the contacts, by projected Gauss-Seidel.

        (M + dt D) (v_next - v) = dt (tau - C - D v) + G^T impulse,   q = q (+) v_next dt   RBDA (11.57)-(11.64), (8.22)

    Normal impulses do not pull, tangential ones stay within the friction disc, and bodies do not penetrate each other,
    up to the error that the sweeps leave.

    in   q (B, nq) [rad | m], v (B, nv) [rad/s | m/s], tau (B, nv) [N m | N], q_target (B, nv) [rad | m]
    in   dt [s] of the call; each of `substeps` equal substeps takes dt / substeps
    in   impulse (B, nc, 3) [N s], of the previous substep, from which the sweeps start; None: zero
    in   numbers  a number fills an array; the same for all instances
    out  q (B, nq), v (B, nv), impulse (B, nc, 3): normal, two tangents, on the link of each contact
    Errors: ValueError for a robot without contacts.
    """
    arrays = [q, v, zeros(3 * model.nc) if impulse is None else impulse, *drives(model, tau, q_target)]
    return stepped("contact_step", model, arrays, numbers, dt, substeps, check)


@with_numbers(SoftContactNumbers)
def soft_contact_step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    dt: float,
    tau: ArrayLike | None = None,
    q_target: ArrayLike | None = None,
    deformation: ArrayLike | None = None,
    substeps: int = 1,
    *,
    check: bool = True,
    **numbers: Unpack[SoftContactNumbers],
) -> tuple[Array, Array, Array]:
    """A step in time with soft contacts: surfaces on springs and dampers, with friction.

        f_n = -K_n z - D_n z',   f_t = -K_t x - D_t x' within the friction disc,   as in `step`    RBDA section 11.8

    dt / substeps must be short against sqrt(m / K) and m / D of the contacts.

    in   q (B, nq) [rad | m], v (B, nv) [rad/s | m/s], tau (B, nv) [N m | N], q_target (B, nv) [rad | m]
    in   dt [s] of the call; each of `substeps` equal substeps takes dt / substeps
    in   deformation (B, nc, 3) [m] of the surfaces, as it would be at the end of the step without contact, axes of the
         links that carry them; None: zero
    in   numbers  a number fills an array; the same for all instances
    out  q (B, nq), v (B, nv), deformation (B, nc, 3)
    Errors: TypeError where a stiffness or damping is missing; ValueError for a robot without contacts.
    """
    arrays = [q, v, zeros(3 * model.nc) if deformation is None else deformation, *drives(model, tau, q_target)]
    return stepped("soft_contact_step", model, arrays, numbers, dt, substeps, check)


@with_numbers(LoopNumbers)
def loop_step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    dt: float,
    tau: ArrayLike | None = None,
    q_target: ArrayLike | None = None,
    substeps: int = 1,
    *,
    check: bool = True,
    **numbers: Unpack[LoopNumbers],
) -> tuple[Array, Array]:
    """A step in time of closed loops: `step` with the forces that keep them closed.

        (M + dt D) a = tau - C - D v + K^T lambda,   K a = k(rate)                     RBDA (8.37)-(8.41), (8.12)

    in   q (B, nq) [rad | m], v (B, nv) [rad/s | m/s], tau (B, nv) [N m | N], q_target (B, nv) [rad | m]
    in   dt [s] of the call; each of `substeps` equal substeps takes dt / substeps
    in   numbers  a number fills an array; the same for all instances
    out  q (B, nq), v (B, nv)
    Errors: ValueError for a robot without loops.
    """
    return stepped("loop_step", model, [q, v, *drives(model, tau, q_target)], numbers, dt, substeps, check)


@with_numbers(DriveNumbers)
def coupled_step(
    model: Model,
    q: ArrayLike,
    u: ArrayLike,
    dt: float,
    tau: ArrayLike | None = None,
    q_target: ArrayLike | None = None,
    substeps: int = 1,
    *,
    check: bool = True,
    **numbers: Unpack[DriveNumbers],
) -> tuple[Array, Array]:
    """A step in time of coupled joints: `step` in the velocities u of `model.u_names`, v = G u.

        G^T (M + dt D) G u' = G^T (tau - C - D v)                                      RBDA section 9.6

    in   q (B, nq), coupled positions as coupled_position gives them; u (B, nu), tau (B, nv), q_target (B, nv)
    in   dt [s] of the call; each of `substeps` equal substeps takes dt / substeps
    in   numbers  a number fills an array; the same for all instances
    out  q (B, nq), u (B, nu)
    Errors: ValueError for a robot without couplings.
    """
    return stepped("coupled_step", model, [q, u, *drives(model, tau, q_target)], numbers, dt, substeps, check)


PASSES = 16  # attempted steps in one call of the engine


class Motion(NamedTuple):
    """Result of `dormand_prince`.

    q, v       (B, nq), (B, nv) at the end
    remaining  (B, 1) [s] time left, 0 where the end was reached
    step       (B, 1) [s] step size to continue with
    """

    q: Array
    v: Array
    remaining: Array
    step: Array


@with_numbers(DriveNumbers)
def dormand_prince(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    duration: float,
    tau: ArrayLike | None = None,
    q_target: ArrayLike | None = None,
    relative: float = 1e-6,
    absolute: float = 1e-8,
    first_step: float = 0.0,
    attempts: int = 10000,
    *,
    ignore: Names = (),
    check: bool = True,
    **numbers: Unpack[DriveNumbers],
) -> Motion:
    """Advance every instance by `duration`, with steps of order 5 whose size adapts to the error of each instance.

        error = sqrt(mean (e / (absolute + relative x))^2) <= 1      Dormand and Prince 1980; RBDA section 10.2

    Here e is the difference between the orders 5 and 4 of a step, and x the distance that a coordinate moves in it, or
    its velocity.

    in   q (B, nq), v (B, nv), duration [s], tau (B, nv), q_target (B, nv)  drives are held
    in   relative, absolute [rad | m and rad/s | m/s]; in float32 not below about 1e-5
    in   first_step [s]  0 for the whole duration, which costs some rejected attempts
    in   attempts  the largest number of steps tried for an instance, rounded up to a multiple of 16
    in   numbers  a number fills an array; the same for all instances
    out  a `Motion`
    Errors: ValueError for a duration, tolerance or number of attempts that is not positive, and for a model with
    contacts, loops or couplings that are not ignored; use `step` for these.
    """
    check_tree(model, "dormand_prince", ignore)
    for name, x in (("duration", duration), ("relative", relative), ("absolute", absolute), ("attempts", attempts)):
        if not x > 0:
            raise ValueError(f"dormand_prince: {name} is {x}, expected more than 0")
    if not first_step >= 0:
        raise ValueError(f"dormand_prince: first_step is {first_step}, expected 0 or more")
    uniforms = {**step_numbers("dormand_prince", model, "step", numbers, 1.0), "tolerances": [absolute, relative]}
    del uniforms["dt"]  # each instance has its own
    state: list[Array] = [q, v, [float(duration)], [float(first_step)], [1.0]]
    for _ in range(-(-int(attempts) // PASSES)):
        batch, outputs = evaluate(
            model, "dormand_prince", [*state, *drives(model, tau, q_target)], None, uniforms, PASSES, check
        )
        state, check = [batch.result(x) for x in outputs], False
        if not (state[2] > 0).any():
            break
    return Motion(*state[:4])
