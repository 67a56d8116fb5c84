"""Derivatives of the operations: products of a Jacobian with a cotangent or a tangent, without the Jacobian.

Every operation y = f(x) has two derivatives, made from its traced program. f_vjp gives x_bar = (df/dx)^T y_bar for all
inputs together; f_jvp gives y_tan = (df/dx) x_tan. Forward dynamics is differentiated in its implicit form, all
gradients for about twice its own operations.

    q_bar, v_bar, tau_bar = fs.vjp(model, "fd", (q, v, tau), a_bar)

Derivatives are with respect to components. The four components of a quaternion are treated as variables in R^4, so only
the part of the gradient along the unit sphere is meaningful; its product with the tangent of a path on the manifold is
correct. Numbers that are the same for all instances (dt, kp, ...) are held fixed. Derivatives with respect to
parameters (`Model.bind`) are included: parameters follow the operation's own inputs and outputs.

`featherstorm.torch` and `featherstorm.jax` provide these derivatives to autograd and jax.grad.
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
    """Return the cotangents of all inputs of an operation, x_bar = (df/dx)^T y_bar.

    in   arrays      the operation's inputs, as for `run`
    in   cotangents  of the outputs, in their shapes: an array, or a tuple for several outputs
    out  a tuple with one array for each input, then one for each parameter of the model, in their shapes
    Errors: those of the operation.
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
    """Return the tangents of all outputs of an operation, y_tan = (df/dx) x_tan.

    in   arrays    the operation's inputs, as for `run`
    in   tangents  of the inputs, in their shapes, then of the model's parameters
    out  a tuple with one array for each output
    Errors: those of the operation.
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
    model.row(op)  # an error about an unknown name then shows the name without the suffix
    added = added if isinstance(added, (tuple, list)) else (added,)
    batch, outputs = evaluate(model, op + suffix, (*arrays, *added), frame, numbers, check=check)
    return tuple(batch.result(view) for view in outputs)
