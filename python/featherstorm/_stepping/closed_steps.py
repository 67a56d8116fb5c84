"""Steps in time of robots with kinematic loops or coupled joints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._evaluation.evaluation import evaluate
from .._robot.steps import drives, step_numbers, substep_time

if TYPE_CHECKING:
    from ..model import Model
    from ..typing import Array, ArrayLike


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
    **numbers: ArrayLike,
) -> tuple[Array, Array]:
    """A step in time of closed loops: `step` with the forces that keep them closed.

        (M + dt D) a = tau - C - D v + K^T lambda,   K a = k(rate)                     RBDA (8.37)-(8.41), (8.12)

    in   q (B, nq) [rad | m], v (B, nv) [rad/s | m/s], tau (B, nv) [N m | N], q_target (B, nv) [rad | m]
    in   dt [s] of the call; each of `substeps` equal substeps takes dt / substeps
    in   numbers: those of `step`; rate [1/s], with which open loops close, stable below 1 / substep time, default
         0.1 / substep time; tolerance of the rank of the constraints
    out  q (B, nq), v (B, nv)
    Errors: ValueError for a robot without loops.
    """
    numbers = step_numbers("loop_step", numbers, substep_time("loop_step", dt, substeps))
    batch, outputs = evaluate(model, "loop_step", [q, v, *drives(model, tau, q_target)], None, numbers, substeps, check)
    return tuple(batch.result(view) for view in outputs)


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
    **numbers: ArrayLike,
) -> tuple[Array, Array]:
    """A step in time of coupled joints: `step` in the velocities u of `model.u_names`, v = G u.

        G^T (M + dt D) G u' = G^T (tau - C - D v)                                      RBDA section 9.6

    in   q (B, nq), coupled positions as coupled_position gives them; u (B, nu), tau (B, nv), q_target (B, nv)
    in   dt [s] of the call; each of `substeps` equal substeps takes dt / substeps
    in   numbers: those of `step`
    out  q (B, nq), u (B, nu)
    Errors: ValueError for a robot without couplings.
    """
    numbers = step_numbers("coupled_step", numbers, substep_time("coupled_step", dt, substeps))
    batch, outputs = evaluate(
        model, "coupled_step", [q, u, *drives(model, tau, q_target)], None, numbers, substeps, check
    )
    return tuple(batch.result(view) for view in outputs)
