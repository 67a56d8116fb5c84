"""Operations for PyTorch with gradients: the functions of `featherstorm`, behind torch.autograd.

    import featherstorm.torch as fst

    a = fst.fd(model, q, v, tau)          # tensors on the CPU, any of which may require a gradient
    q, v = fst.step(model, q, v, dt=0.01, tau=tau)
    loss(q, v).backward()

Every operation of `model.ops` is a function here, fst.NAME(model, *tensors, frame=None, **numbers); `run` calls one by
its name. Results have the layout of the table of operations: M is packed, poses are rows of 12. A tensor of one
instance applies to the whole batch; its gradient is the sum over the batch. Parameters bound to the model
(`Model.bind`) may be tensors that require gradients. Reverse mode works once (no gradients of gradients), and so does
forward mode (torch.autograd.forward_ad); numbers such as dt and kp are held fixed. `featherstorm.derivatives` defines
the derivatives.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from ._evaluation.evaluation import evaluate, form
from ._robot.numbers import functions_of, step_by, step_numbers, with_numbers
from ._robot.steps import Stepped, activations, step_op
from ._world.gradients import step_jvp, step_vjp
from ._world.passes import world_step
from .typing import ArrayLike, Frame, Names, StepNumbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Unpack

    from .model import Model

__all__ = ["run", "step"]

Call: TypeAlias = "tuple[Model, str, Frame | None, Mapping[str, Any], bool]"  # model, op, frame, numbers, check


class Operation(torch.autograd.Function):
    """An operation as a node of autograd's graph."""

    @staticmethod
    def forward(ctx: Any, call: Call, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.call = call
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        return results(call, "", tensors)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *bars: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        whole = [bar.contiguous() if bar.numel() else bar for bar in bars]
        gradients = results(ctx.call, "_vjp", (*ctx.saved_tensors, *whole))
        return None, *(summed(g, x) for g, x in zip(gradients, ctx.saved_tensors))

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        tensors = ctx.saved_tensors
        full = [torch.zeros_like(x) if t is None else t for t, x in zip(tangents, tensors)]
        return results(ctx.call, "_jvp", (*tensors, *full))


def results(call: Call, suffix: str, tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    model, op, frame, numbers, check = call
    arrays = [x.detach() for x in tensors]
    batch, outputs = evaluate(model, op + suffix, arrays, frame, numbers, check=check, complete=True)
    return tuple(batch.result(view) for view in outputs)


def summed(gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Sum a gradient over the batch where its tensor applied to the whole batch."""
    if gradient.ndim > x.ndim:
        return gradient.sum(0)
    return gradient.sum(0, keepdim=True) if gradient.shape[0] != x.shape[0] else gradient


class SteppedWorld(torch.autograd.Function):
    """A step of a model file's world as a node of autograd's graph.

    Its tensors are q, v, act, ctrl, tau, qacc, then the model's parameters, which are bound to it.
    """

    @staticmethod
    def forward(
        ctx: Any, call: tuple[Model, float | None, int | None, bool], *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        model, dt, substeps, check = ctx.call = call
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        q, v, act, ctrl, tau, qacc = (x.detach() for x in tensors[:6])
        return tuple(world_step(model, q, v, dt, ctrl, act, qacc, tau, substeps, check))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *bars: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        model, dt, substeps, check = ctx.call
        q, v, act, ctrl, tau, qacc, *parameters = ctx.saved_tensors
        whole = [bar.contiguous() for bar in bars]
        found = step_vjp(model, q, v, whole, dt, tau, substeps, act=act, ctrl=ctrl, qacc=qacc, check=check)
        gradients = [summed(g, x) for g, x in zip(found[:5], (q, v, act, ctrl, tau))]
        of_parameters = [summed(g, x.reshape(*x.shape[: x.ndim - g.ndim + 1], *g.shape[1:]) if x.ndim < g.ndim else x)
                         for g, x in zip(found.parameters, parameters)]  # fmt: skip
        return None, *gradients, None, *(g.reshape(x.shape) for g, x in zip(of_parameters, parameters))

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        model, dt, substeps, check = ctx.call
        q, v, act, ctrl, tau, qacc, *_ = ctx.saved_tensors
        moving = (*tangents[:5], *tangents[6:])
        return tuple(step_jvp(model, q, v, moving, dt, tau, substeps, act=act, ctrl=ctrl, qacc=qacc, check=check))


def run(
    model: Model, op: str, *tensors: ArrayLike, frame: Frame | None = None, check: bool = True, **numbers: Any
) -> Any:
    """Run any operation of `model.ops` by name; returns a tensor or a tuple of tensors.

    tensors   inputs in the order of the operation
    numbers   its uniforms, by keyword
    """
    op, given = form(model, op, tensors)
    row = model.row(op)
    given = model.with_parameters(row, given)
    lead = next((x for x in given if isinstance(x, torch.Tensor)), None)
    like = {} if lead is None else {"dtype": lead.dtype, "device": lead.device}
    full = [x if isinstance(x, torch.Tensor) else torch.as_tensor(x, **like) for x in given]
    outputs = Operation.apply((model, op, frame, numbers, check), *full)
    return outputs[0] if len(outputs) == 1 else outputs


@with_numbers(StepNumbers, "torch.step")
def step(
    model: Model,
    q: torch.Tensor,
    v: torch.Tensor,
    dt: float | None = None,
    tau: torch.Tensor | None = None,
    q_target: torch.Tensor | None = None,
    substeps: int | None = None,
    *,
    ctrl: torch.Tensor | None = None,
    act: torch.Tensor | None = None,
    qacc: torch.Tensor | None = None,
    ignore: Names = (),
    check: bool = True,
    **numbers: Unpack[StepNumbers],
) -> Stepped:
    """`featherstorm.step` with gradients with respect to q, v, tau and q_target; each substep takes dt / substeps.

    For a model with a world, gradients are with respect to q, v, act, ctrl and tau, through its contacts
    (`featherstorm.step_vjp`).

    in   numbers  constants for the gradient
    """
    op = step_op(model, "step", ignore)
    if op == "world":
        step_numbers("torch.step", model, op, {**numbers, "q_target": q_target}, 0.0)
        act = activations(model, act)
        like: dict[str, Any] = {"dtype": q.dtype, "device": q.device}
        sizes = (model.n_act, model.n_ctrl, model.nv, model.nv)
        rest = [torch.zeros(n, **like) if x is None else x for x, n in zip((act, ctrl, tau, qacc), sizes)]
        bound = [torch.as_tensor(model.parameter(name), **like) for name in model.parameters]
        return Stepped(*SteppedWorld.apply((model, dt, substeps, check), q, v, *rest, *bound))
    zero, impulse = (torch.zeros(n, dtype=q.dtype, device=q.device) for n in (model.nv, 3 * model.nc))
    drive = (zero if tau is None else tau, zero if q_target is None else q_target)
    controls = {"ctrl": ctrl, "act": act, "qacc": qacc}
    checked = functools.partial(run, check=check)
    return step_by(checked, "torch.step", model, op, (q, v), drive, impulse, dt, substeps, controls, numbers)


__getattr__ = functions_of(__name__, globals(), run)
