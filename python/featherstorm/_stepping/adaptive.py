"""Integration with a step size of its own for each instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .._evaluation.evaluation import evaluate
from .._robot.numbers import step_numbers, with_numbers
from .._robot.steps import check_tree, drives
from ..typing import DriveNumbers

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..model import Model
    from ..typing import Array, ArrayLike, Names

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
