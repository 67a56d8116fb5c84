"""Derivatives of the operations: products of a Jacobian with a cotangent or a tangent, without the Jacobian.

Every operation y = f(x) has two more, made from its traced program: f_vjp gives x_bar = (df/dx)^T y_bar for all inputs
together, f_jvp gives y_tan = (df/dx) x_tan. Forward dynamics is differentiated in its implicit form, all gradients for
about twice its own operations.

    q_bar, v_bar, tau_bar = fs.vjp(model, "fd", (q, v, tau), a_bar)

Derivatives are with respect to components: a quaternion's four are those of a function on all of R^4, of which only the
part along the unit sphere has a meaning. Multiplied with the tangent of a path on the manifold they give what they should.
Numbers that are the same for all instances (dt, kp, ...) are held fixed. Of parameters (`Model.bind`) they are outputs and
inputs as well, behind those of the operation.

`featherstorm.torch` and `featherstorm.jax` put these behind autograd and jax.grad.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._evaluation.evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .model import Model
    from .typing import Array, ArrayLike, Frame


def vjp(
    model: Model,
    op: str,
    arrays: Sequence[ArrayLike],
    cotangents: ArrayLike | Sequence[ArrayLike],
    frame: Frame | None = None,
    *,
    check: bool = True,
    **numbers: ArrayLike,
) -> tuple[Array, ...]:
    """The cotangents of all inputs of an operation, x_bar = (df/dx)^T y_bar.

    in   arrays      the operation's inputs, as for `run`
    in   cotangents  of its outputs, shaped as they are: an array, or a tuple where it has several
    out  a tuple with one array for each input, then for each parameter of the model, shaped as they are
    Errors: as the operation.
    """
    return product(model, op, "_vjp", arrays, cotangents, frame, check, numbers)


def jvp(
    model: Model,
    op: str,
    arrays: Sequence[ArrayLike],
    tangents: ArrayLike | Sequence[ArrayLike],
    frame: Frame | None = None,
    *,
    check: bool = True,
    **numbers: ArrayLike,
) -> tuple[Array, ...]:
    """The tangents of all outputs of an operation, y_tan = (df/dx) x_tan.

    in   arrays    the operation's inputs, as for `run`
    in   tangents  of its inputs, shaped as they are, then of the model's parameters
    out  a tuple with one array for each output
    Errors: as the operation.
    """
    return product(model, op, "_jvp", arrays, tangents, frame, check, numbers)


def product(
    model: Model,
    op: str,
    suffix: str,
    arrays: Sequence[ArrayLike],
    added: Any,
    frame: Frame | None,
    check: bool,
    numbers: Mapping[str, Any],
) -> tuple[Array, ...]:
    model.row(op)  # refuses unknown names by their own
    added = added if isinstance(added, (tuple, list)) else (added,)
    batch, outputs = evaluate(model, op + suffix, (*arrays, *added), frame, numbers, check=check)
    return tuple(batch.result(view) for view in outputs)
