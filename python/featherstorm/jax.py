"""Operations for JAX with gradients: the functions of `featherstorm` under jax.jit, jax.grad and jax.vmap.

    import featherstorm.jax as fsj

    a = fsj.fd(model, q, v, tau)
    gradient = jax.grad(lambda tau: (fsj.fd(model, q, v, tau) ** 2).sum())(tau)

Every operation of `model.ops` is a function here, fsj.NAME(model, *arrays, frame=None, **numbers); `run` calls one by
its name. Results have the layout of the table of operations: M is packed, poses are rows of 12. An array of one
instance applies to the whole batch. Parameters bound to the model (`Model.bind`) are differentiated as well. Only
reverse mode exists (jax.custom_vjp); numbers such as dt and kp are held fixed. The work is done on the CPU through
jax.pure_callback; under vmap the batches are joined. Quaternions are not checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from . import _featherstorm
from ._evaluation.evaluation import evaluate, form
from ._robot.numbers import functions_of, step_by, step_numbers, with_numbers
from ._robot.steps import Stepped, activations, step_op
from ._world.gradients import step_vjp
from ._world.passes import world_step
from .typing import ArrayLike, Frame, Names, StepNumbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import Unpack

    from .model import Model

__all__ = ["run", "step"]

jax.tree_util.register_pytree_node(Stepped, lambda x: ((*x, *x.rest), None), lambda _, parts: Stepped(*parts))


def call(
    model: Model, op: str, frame: Frame | None, numbers: Mapping[str, Any], arrays: Sequence[jax.Array]
) -> tuple[jax.Array, ...]:
    """Call an operation or a derivative of one, as a callback on arrays (..., n) of equal leading axes."""
    row = model.row(op)
    lead, dtype = arrays[0].shape[:-1], arrays[0].dtype
    shapes = tuple(jax.ShapeDtypeStruct((*lead, n), dtype) for _, n in row.outputs)  # type: ignore[no-untyped-call]

    def host(*arrays: Any) -> tuple[Any, ...]:
        batch = np.shape(arrays[0])[:-1]
        rows = [np.asarray(x).reshape(-1, *row.shapes[name]) for x, (name, _) in zip(arrays, row.inputs)]
        _, outputs = evaluate(model, op, rows, frame, numbers, check=False, complete=True)
        return tuple(np.ascontiguousarray(y).reshape(*batch, n) for y, (_, n) in zip(outputs, row.outputs))

    return jax.pure_callback(host, shapes, *arrays, vmap_method="broadcast_all")


def differentiable(
    model: Model, op: str, frame: Frame | None, numbers: tuple[tuple[str, Any], ...]
) -> Callable[..., tuple[jax.Array, ...]]:
    """Return the operation with its gradient.

    The model keeps it, because jax.jit caches by the identity of the function.
    """
    kept = model.__dict__.setdefault("_jax", {})
    key = (op, frame, numbers)
    if key not in kept:
        kept[key] = make(model, op, frame, numbers)
    return kept[key]


def make(
    model: Model, op: str, frame: Frame | None, numbers: tuple[tuple[str, Any], ...]
) -> Callable[..., tuple[jax.Array, ...]]:
    uniforms = {name: np.asarray(value) if isinstance(value, tuple) else value for name, value in numbers}

    @jax.custom_vjp
    def operation(*arrays: jax.Array) -> tuple[jax.Array, ...]:
        return call(model, op, frame, uniforms, arrays)

    def forward(*arrays: jax.Array) -> tuple[tuple[jax.Array, ...], tuple[jax.Array, ...]]:
        return operation(*arrays), arrays

    def backward(arrays: tuple[jax.Array, ...], bars: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        return call(model, op + "_vjp", frame, uniforms, (*arrays, *bars))

    operation.defvjp(forward, backward)
    return operation


def run(model: Model, op: str, *arrays: ArrayLike, frame: Frame | None = None, **numbers: Any) -> Any:
    """Run any operation of `model.ops` by name; returns an array or a tuple of arrays.

    arrays    inputs in the order of the operation
    numbers   its uniforms, by keyword
    """
    op, given = form(model, op, arrays)
    row = model.row(op)
    given = model.with_parameters(row, given)
    if len(given) != len(row.inputs):
        names = ", ".join(name for name, _ in row.inputs)
        raise TypeError(f"{op}: got {len(given)} arrays, expected {len(row.inputs)}: {names}")
    dtype = jnp.result_type(*(x for x in given if hasattr(x, "dtype"))) if given else None
    flat = []
    for x, (name, n) in zip(given, row.inputs):
        x = jnp.asarray(x, dtype)
        tail = row.shapes[name]
        if x.shape[x.ndim - len(tail) :] == tail:
            x = x.reshape((*x.shape[: x.ndim - len(tail)], n))
        if x.ndim == 0 or x.shape[-1] != n:
            raise ValueError(f"{op}: {name} has shape {x.shape}, expected (..., {n})")
        flat.append(x)
    lead = jnp.broadcast_shapes(*(x.shape[:-1] for x in flat))
    flat = [jnp.broadcast_to(x, (*lead, x.shape[-1])) for x in flat]
    key = tuple((k, tuple(np.ravel(v).tolist()) if np.ndim(v) else float(v)) for k, v in sorted(numbers.items()))
    outputs = differentiable(model, op, frame, key)(*flat)
    return outputs[0] if len(outputs) == 1 else outputs


@with_numbers(StepNumbers, "jax.step")
def step(
    model: Model,
    q: jax.Array,
    v: jax.Array,
    dt: float | None = None,
    tau: ArrayLike | None = None,
    q_target: ArrayLike | None = None,
    substeps: int | None = None,
    *,
    ctrl: ArrayLike | None = None,
    act: ArrayLike | None = None,
    qacc: ArrayLike | None = None,
    ignore: Names = (),
    **numbers: Unpack[StepNumbers],
) -> Stepped:
    """`featherstorm.step` with gradients with respect to q, v, tau and q_target; each substep takes dt / substeps.

    For a model with a world, gradients are with respect to q, v, act, ctrl and tau, through its contacts
    (`featherstorm.step_vjp`).

    in   numbers  constants for the gradient
    """
    op = step_op(model, "step", ignore)
    if op == "world":
        step_numbers("jax.step", model, op, {**numbers, "q_target": q_target}, 0.0)
        act = activations(model, act)
        sizes = {
            "q": model.nq, "v": model.nv, "act": model.n_act, "ctrl": model.n_ctrl, "tau": model.nv, "qacc": model.nv,
        }  # fmt: skip
        arrays = [
            jnp.zeros(n, q.dtype) if x is None else jnp.asarray(x, q.dtype)
            for x, n in zip((q, v, act, ctrl, tau, qacc), sizes.values())
        ]
        for name, x in zip(sizes, arrays):
            if x.ndim == 0 or x.shape[-1] != sizes[name]:
                raise ValueError(f"step: {name} has shape {x.shape}, expected (..., {sizes[name]})")
        for name in model.parameters:
            shape = _featherstorm.parameter_shape(model.robot, name)
            x = jnp.asarray(model.parameter(name), q.dtype)
            arrays.append(x.reshape(*x.shape[: x.ndim - len(shape)], -1))
        lead = jnp.broadcast_shapes(*(x.shape[:-1] for x in arrays))
        whole = [jnp.broadcast_to(x, (*lead, x.shape[-1])) for x in arrays]
        return Stepped(*world_operation(model, dt, substeps)(*whole))
    zero, impulse = jnp.zeros(model.nv, q.dtype), jnp.zeros(3 * model.nc, q.dtype)
    drive = (zero if tau is None else tau, zero if q_target is None else q_target)
    controls = {"ctrl": ctrl, "act": act, "qacc": qacc}
    return step_by(run, "jax.step", model, op, (q, v), drive, impulse, dt, substeps, controls, numbers)


def world_operation(model: Model, dt: float | None, substeps: int | None) -> Callable[..., tuple[jax.Array, ...]]:
    """Return the step of a model file's world with its gradient; the model keeps it.

    Its arguments are q, v, act, ctrl, tau, qacc and the model's parameters, of equal leading axes.
    """
    kept = model.__dict__.setdefault("_jax", {})
    key = ("world", dt, substeps)
    if key in kept:
        return kept[key]
    model.__dict__.setdefault("_passes", {}), model.__dict__.setdefault("_step_derivatives", {})
    own = [np.prod(_featherstorm.parameter_shape(model.robot, name), dtype=int) for name in model.parameters]
    tails = [tuple(_featherstorm.parameter_shape(model.robot, name)) for name in model.parameters]

    def on_host(f: Callable[..., Any], sizes: Sequence[int], arrays: Sequence[jax.Array]) -> tuple[jax.Array, ...]:
        lead, dtype = arrays[0].shape[:-1], arrays[0].dtype
        shapes = tuple(jax.ShapeDtypeStruct((*lead, n), dtype) for n in sizes)  # type: ignore[no-untyped-call]

        def host(*arrays: Any) -> tuple[Any, ...]:
            batch = np.shape(arrays[0])[:-1]
            rows = [np.ascontiguousarray(x).reshape(-1, np.shape(x)[-1]) for x in arrays]
            numbers = {name: x.reshape(-1, *tail) for name, x, tail in zip(model.parameters, rows[6:], tails)}
            found = f(model.bind(**numbers) if numbers else model, *rows[:6], *rows[6 + len(tails) :])
            return tuple(np.ascontiguousarray(y).reshape(*batch, n) for y, n in zip(found, sizes))

        return jax.pure_callback(host, shapes, *arrays, vmap_method="broadcast_all")

    def forward_on_host(m: Model, q: Any, v: Any, act: Any, ctrl: Any, tau: Any, qacc: Any) -> Any:
        return world_step(m, q, v, dt, ctrl, act, qacc, tau, substeps, False)

    def backward_on_host(m: Model, q: Any, v: Any, act: Any, ctrl: Any, tau: Any, qacc: Any, *bars: Any) -> Any:
        found = step_vjp(m, q, v, bars, dt, tau, substeps, act=act, ctrl=ctrl, qacc=qacc, check=False)
        return *found[:5], *found.parameters

    states = (model.nq, model.nv, model.n_act, model.nv)
    inputs = (model.nq, model.nv, model.n_act, model.n_ctrl, model.nv)

    @jax.custom_vjp
    def operation(*arrays: jax.Array) -> tuple[jax.Array, ...]:
        return on_host(forward_on_host, states, arrays)

    def forward(*arrays: jax.Array) -> tuple[tuple[jax.Array, ...], tuple[jax.Array, ...]]:
        return operation(*arrays), arrays

    def backward(arrays: tuple[jax.Array, ...], bars: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        found = on_host(backward_on_host, (*inputs, *own), (*arrays, *bars))
        return *found[:5], jnp.zeros_like(arrays[5]), *found[5:]

    operation.defvjp(forward, backward)
    kept[key] = operation
    return operation


__getattr__ = functions_of(__name__, globals(), run)
