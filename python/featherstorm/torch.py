"""Operations for PyTorch with gradients: the functions of `featherstorm`, behind torch.autograd.

    import featherstorm.torch as fst

    a = fst.fd(model, q, v, tau)          # tensors on the CPU, any of which may require a gradient
    q, v = fst.step(model, q, v, dt=0.01, tau=tau)
    loss(q, v).backward()

Every operation of `model.ops` is a function here, fst.NAME(model, *tensors, frame=None, **numbers), as is `run` for those
known by name. Results are those of the operations' rows: M is packed, poses are rows of 12. Tensors of one row stand for
the whole batch; their gradients are sums over it. Parameters bound to the model (`Model.bind`) may be tensors that require
gradients. Reverse mode once (no gradients of gradients) and forward mode (torch.autograd.forward_ad); numbers such as
dt and kp are held fixed. See `featherstorm.derivatives` for what is differentiated.
"""

import torch

from . import _featherstorm
from .operations import evaluate
from .robot.steps import check_tree, independent, step_numbers, step_op, substep_time

__all__ = ["run", "step"]


class Operation(torch.autograd.Function):
    """An operation as a node of autograd's graph. call: (model, op, frame, numbers, check)."""

    @staticmethod
    def forward(ctx, call, *tensors):
        ctx.call = call
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        return results(call, "", tensors)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *bars):
        bars = [bar.contiguous() if bar.numel() else bar for bar in bars]
        gradients = results(ctx.call, "_vjp", (*ctx.saved_tensors, *bars))
        return None, *(summed(g, x) for g, x in zip(gradients, ctx.saved_tensors))

    @staticmethod
    def jvp(ctx, _, *tangents):
        tensors = ctx.saved_tensors
        full = [torch.zeros_like(x) if t is None else t for t, x in zip(tangents, tensors)]
        return results(ctx.call, "_jvp", (*tensors, *full))


def results(call, suffix, tensors):
    model, op, frame, numbers, check = call
    batch, outputs = evaluate(model, op + suffix, [x.detach() for x in tensors], frame, numbers, check=check)
    return tuple(batch.result(view) for view in outputs)


def summed(gradient, x):
    """The gradient of a tensor that stood for the whole batch is the sum over it."""
    if gradient.ndim > x.ndim:
        return gradient.sum(0)
    return gradient.sum(0, keepdim=True) if gradient.shape[0] != x.shape[0] else gradient


def run(model, op, *tensors, frame=None, check=True, **numbers):
    """Any operation of `model.ops` by name: tensors in its order, its uniforms by keyword; a tensor or a tuple of them."""
    row = model.row(op)
    tensors = model.with_parameters(row, tensors)
    lead = next((x for x in tensors if isinstance(x, torch.Tensor)), None)
    like = {} if lead is None else {"dtype": lead.dtype, "device": lead.device}
    tensors = [x if isinstance(x, torch.Tensor) else torch.as_tensor(x, **like) for x in tensors]
    outputs = Operation.apply((model, op, frame, numbers, check), *tensors)
    return outputs[0] if len(outputs) == 1 else outputs


def step(model, q, v, dt, tau=None, q_target=None, substeps=1, *, ignore=(), check=True, **numbers):
    """`featherstorm.step` with gradients with respect to q, v, tau and q_target; `substeps` passes share dt."""
    op = step_op(model, "step", ignore)
    numbers = step_numbers(op, numbers, substep_time("step", dt, substeps))
    zero = torch.zeros(model.nv, dtype=q.dtype, device=q.device)
    drive = (zero if tau is None else tau, zero if q_target is None else q_target)
    state = (q, v)
    if op == "contact_step":
        state = (q, v, torch.zeros(3 * model.nc, dtype=q.dtype, device=q.device))
    elif op == "coupled_step":
        state = (run(model, "coupled_position", q), v[..., independent(model)])
    for _ in range(substeps):
        state = run(model, op, *state, *drive, check=check, **numbers)
    if op == "coupled_step":
        return state[0], run(model, "coupled_velocity", state[1])
    return state[0], state[1]


def __getattr__(name):
    table = _featherstorm.operation_table()
    if name not in table:
        raise AttributeError(f"module 'featherstorm.torch' has no attribute '{name}'")

    def function(model, *tensors, frame=None, ignore=(), check=True, **numbers):
        check_tree(model, name, ignore)
        return run(model, name, *tensors, frame=frame, check=check, **numbers)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{table[name]['summary']}, with gradients; see model.ops[{name!r}] for its arrays."
    globals()[name] = function
    return function
