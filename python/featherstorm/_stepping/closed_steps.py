"""Steps in time of robots with kinematic loops or coupled joints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._evaluation.evaluation import evaluate
from .._robot.numbers import step_numbers, with_numbers
from .._robot.steps import drives, substep_time
from ..typing import DriveNumbers, LoopNumbers

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..model import Model
    from ..typing import Array, ArrayLike


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
    op, arrays = "loop_step", [q, v, *drives(model, tau, q_target)]
    uniforms = step_numbers(op, model, op, numbers, substep_time(op, dt, substeps))
    batch, outputs = evaluate(model, op, arrays, None, uniforms, substeps, check)
    return tuple(batch.result(view) for view in outputs)


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
    op, arrays = "coupled_step", [q, u, *drives(model, tau, q_target)]
    uniforms = step_numbers(op, model, op, numbers, substep_time(op, dt, substeps))
    batch, outputs = evaluate(model, op, arrays, None, uniforms, substeps, check)
    return tuple(batch.result(view) for view in outputs)
