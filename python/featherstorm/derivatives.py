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

import numpy as np

from ._evaluation.evaluation import evaluate
from ._memory.arrays import shape_error
from ._robot.numbers import step_numbers, with_numbers
from ._robot.steps import pass_count, refuse_controls, step_op
from ._world.linearization import Linearization, from_coordinates, linearize_world, on_coordinates, with_repeated_rows
from ._world.passes import refuse_law
from .device import HOST, device_of
from .typing import Array, ArrayLike, Frame, Names, StepNumbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Unpack

    from .model import Model


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


@with_numbers(StepNumbers)
def linearize(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    dt: float | None = None,
    tau: ArrayLike | None = None,
    substeps: int | None = None,
    *,
    q_target: ArrayLike | None = None,
    ctrl: ArrayLike | None = None,
    act: ArrayLike | None = None,
    qacc: ArrayLike | None = None,
    law: object = "mujoco",
    ignore: Names = (),
    check: bool = True,
    **numbers: Unpack[StepNumbers],
) -> Linearization:
    """Linearize `step` in its state and controls, x = (q, v), with a model file's world x = (q, v, act).

        dx_next = A dx + B du          [mjd_transitionFD]

    Changes of q are in the tangent space, as for `integrate` and in MuJoCo: nv of them. u are the controls of a world's
    actuators, and of other robots the joint forces tau, or the targets where q_target is given. The law is that of
    `step` with the same `law`; declared contacts are those of `contact_step` with the impulses that its sweeps find.

    A world's step by MuJoCo's law is differentiated through its equations. Central differences in double precision are
    used for the rigid law, with all of its sweeps, and for what has no derivatives of its own: the integrator discrete,
    diagexact, noslip, moving surfaces. Where a contact begins, ends or starts to slide within 1e-6 of the state, these
    are of neither side.

    in   q, v, dt, tau, q_target, substeps, ctrl, act, qacc, ignore  as for `step`; arrays on the CPU
    in   law      of a world's contacts and constraints, as for `step`
    in   numbers  those of `typing.StepNumbers`
    out  Linearization, in NumPy, of the dtype of q; by differences float64
    Cost: 2 nv + n_act times step_vjp, by differences 2 (2 nv + n_act + n_ctrl) times step; of a robot without a world
    3 nv times the derivative of its step.
    Errors: ValueError for arrays on a device, and for couplings; with a world those of step_vjp.
    """
    if device_of(q) != HOST:
        raise ValueError("linearize: q is on a device, expected an array of the CPU")
    op = step_op(model, "linearize", ignore)
    if op == "world":
        step_numbers("linearize", model, op, {**numbers, "q_target": q_target}, 0.0)
        inputs = {"q": q, "v": v, "act": act, "ctrl": ctrl, "tau": tau, "qacc": qacc}
        return linearize_world(model, inputs, dt, substeps, law, check)
    refuse_law("linearize", law)
    refuse_controls("linearize", {"ctrl": ctrl, "act": act, "qacc": qacc})
    if op == "coupled_step":
        raise ValueError(f"linearize: {model.name} carries couplings, whose step has no derivatives here")
    dt, substeps = pass_count("linearize", model, op, dt, substeps)
    uniforms = step_numbers("linearize", model, op, numbers, dt / substeps)
    rows, nv = np.asarray(q), model.nv
    batched, state = rows.ndim == 2, np.atleast_2d(rows)
    count, dtype = len(state), state.dtype if state.dtype == np.float32 else np.dtype(np.float64)
    sizes = dict(model.row(op).inputs)
    given: dict[str, Any] = {"q": state, "v": v, "tau": tau, "target": q_target}
    for name, x in given.items():
        if x is not None and np.shape(x) not in ((sizes[name],), (1, sizes[name]), (count, sizes[name])):
            raise shape_error("linearize", name, np.shape(x), (count, sizes[name]))
    values = {
        name: np.broadcast_to(0.0 if given.get(name) is None else np.asarray(given[name], dtype), (count, n))
        for name, n in sizes.items()
        if name not in model.parameters
    }
    n = 3 * nv  # changes of q, v and u
    directions = np.tile(np.eye(n, dtype=dtype), (count, 1))
    tangents = {name: np.zeros((count * n, x.shape[1]), dtype) for name, x in values.items()}
    tangents["q"] = on_coordinates(model, np.repeat(values["q"], n, 0), directions[:, :nv])
    tangents["v"] = directions[:, nv : 2 * nv]
    tangents["tau" if q_target is None else "target"] = directions[:, 2 * nv :]
    repeated = with_repeated_rows(model, sizes, n)
    names = list(values)

    def shaped(name: str, x: Any) -> Any:
        return x.reshape(len(x), model.nc, 3) if name == "impulse" else x

    for _ in range(substeps):
        at = [shaped(name, np.repeat(x, n, 0)) for name, x in values.items()]
        changes = [shaped(name, tangents[name]) for name in names]
        changes += [np.zeros((count * n, sizes[name]), dtype) for name in model.parameters]
        changes = list(jvp(repeated, op, at, changes, check=False, **uniforms))
        batch, outputs = evaluate(model, op, [shaped(name, x) for name, x in values.items()], None, uniforms, 1, check)
        for name, change, view in zip(names, changes, outputs):  # the outputs take the places of the first inputs
            tangents[name] = np.asarray(change).reshape(count * n, sizes[name])
            values[name] = np.asarray(batch.result(view)).reshape(count, sizes[name])
    moved = from_coordinates(model, np.repeat(values["q"], n, 0), tangents["q"])
    found = np.concatenate([moved, tangents["v"]], 1).reshape(count, n, 2 * nv).swapaxes(1, 2)
    A, B = found[:, :, : 2 * nv], found[:, :, 2 * nv :]
    return Linearization(A, B) if batched else Linearization(A[0], B[0])
