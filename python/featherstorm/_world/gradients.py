"""Derivatives of steps of a model file's world, by the implicit form of the solver's equations.

The acceleration a of a substep solves g(a, x) = M a - tau - J' f(J a - aref) = 0 with the forces f of constraints and
contacts. With H = M + J' W J, the last matrix of Newton's method, cotangents follow from H lambda = a_bar and
x_bar = -(dg/dx)' lambda, and tangents from H a_tan = -(dg/dx) x_tan. The smooth parts before and after the solver are
differentiated from their traces (host/gradients/world_gradients.h).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _featherstorm
from .._evaluation.evaluation import check_quaternions, tell_notices
from .._memory.arguments import Arguments
from .._robot.steps import no_world, pass_count, step_op, zeros
from .passes import STATE, passes, solver, state_sizes
from .values import bound_values, check_bound, parameter_sizes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..model import Model
    from ..typing import Array, ArrayLike

# arguments of a step -> the engine's names
INPUTS = {"q": "q", "v": "v", "act": "act", "ctrl": "ctrl", "tau": "qfrc_applied"}


class StepCotangents(NamedTuple):
    """Cotangents of the arguments of a step.

    q, v, act, ctrl, tau   (B, nq), (B, nv), (B, n_act), (B, n_ctrl), (B, nv)
    parameters             a tuple with one array for each parameter of the model, in its shape for each instance
    """

    q: Array
    v: Array
    act: Array
    ctrl: Array
    tau: Array
    parameters: tuple[Array, ...]


class StepTangents(NamedTuple):
    """Tangents of the results of a step: q (B, nq), v (B, nv), act (B, n_act), qacc (B, nv)."""

    q: Array
    v: Array
    act: Array
    qacc: Array


def sizes_of(model: Model) -> dict[str, int]:
    sizes = {**state_sizes(model), "ctrl": model.n_ctrl, "qfrc_applied": model.nv}
    del sizes["qacc"]
    return {**sizes, **parameter_sizes(model)}


def sequence_of(model: Model, dtype: str, reverse: bool, on_device: bool, is_solved: bool = False) -> Any:
    """Return the engine's stages, kept with the model. is_solved: qacc is the solution already."""
    kept = model.__dict__.setdefault("_step_derivatives", {})
    key = (dtype, reverse, on_device, is_solved)
    if key not in kept:
        numbers = solver(model, dtype)
        kept[key] = _featherstorm.gradient_sequence(
            model.evaluator, dtype, reverse, numbers["iterations"], numbers["tolerance"], on_device, is_solved
        )
    return kept[key]


class World:
    """The arrays of a call: the state, the drives, and cotangents or tangents.

    memory   memory that the engine reads, by its names
    added    memory of cotangents or tangents, by their names
    """

    def __init__(
        self,
        label: str,
        model: Model,
        given: dict[str, ArrayLike | None],
        added: dict[str, tuple[ArrayLike | None, int]],
        dt: float | None,
        substeps: int | None,
        check: bool,
    ) -> None:
        if step_op(model, label) != "world":
            raise ValueError(
                f"{label}: {no_world(model)}, expected one from MuJoCo's; of other models' steps "
                "vjp and jvp take the operation by its name"
            )
        _, self.count = pass_count(label, model, "world", dt, substeps)
        check_bound(model, label)
        self.model, self.label = model, label
        sizes = {**state_sizes(model), "ctrl": model.n_ctrl, "tau": model.nv}
        rows = [(name, sizes[name]) for name in given] + [(name, n) for name, (_, n) in added.items()]
        values = [*given.values(), *(x for x, _ in added.values())]
        call = Arguments(label, [zeros(n) if x is None else x for x, (_, n) in zip(values, rows)], rows)
        self.call = call
        self.dtype, self.on_device = call.dtype.name, not call.library.readable
        if check and model.quaternions and call.library.readable:
            check_quaternions(model, label, "q", call.arrays[0])
        if self.on_device and self.count > 1:
            raise ValueError(f"{label}: {self.count} passes, expected 1 in a call on a device")
        memory = {name: x for (name, _), x in zip(rows, call.arrays)}
        memory["qfrc_applied"] = memory.pop("tau")
        self.added = {name: memory.pop(name) for name in added}
        self.memory = memory
        self.bound = bound_values(model, call, call.instances, passes(model, self.dtype, 1).sent)

    def output(self, n: int) -> tuple[Any, Any]:
        memory, view = self.call.output(self.call.instances, n)
        return memory, view([n])

    def run(
        self, sequence: Any, given: dict[str, Any], sizes: dict[str, int], written: dict[str, int]
    ) -> dict[str, Any]:
        """Run the engine's stages; return memory and view of each array in `written` (name, numbers), by name."""
        outputs = {name: self.output(n) for name, n in written.items()}
        inputs = [(name, x, 0, sizes[name], False) for name, x in given.items() if sizes[name]]
        results = [(name, outputs[name][0], 0, n, False) for name, n in written.items() if n]
        sequence.run(1, self.call.instances, inputs, {}, results, stream=self.call.library.stream)
        tell_notices(self.model)
        return outputs

    def states(self) -> list[dict[str, Any]]:
        """Return q, v, act, qacc at the beginning of each substep."""
        model = self.model
        steps, sizes = passes(model, self.dtype, 1), state_sizes(model)
        found = [{name: self.memory[name] for name in STATE}]
        drive = {"ctrl": self.memory["ctrl"], "qfrc_applied": self.memory["qfrc_applied"], **self.bound}
        for _ in range(self.count - 1):
            after = {name: self.output(n)[0] for name, n in sizes.items()}
            steps.run(self.call.instances, {**found[-1], **drive}, after, self.call.library.stream)
            found.append(after)
        return found

    @property
    def drives(self) -> dict[str, Any]:
        return {name: self.memory[name] for name in ("ctrl", "qfrc_applied")} | self.bound


def step_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    cotangents: Sequence[ArrayLike | None],
    dt: float | None = None,
    tau: ArrayLike | None = None,
    substeps: int | None = None,
    *,
    ctrl: ArrayLike | None = None,
    act: ArrayLike | None = None,
    qacc: ArrayLike | None = None,
    check: bool = True,
) -> StepCotangents:
    """The cotangents of all arguments of a step of a model file's world, x_bar = (dx_next/dx)^T x_next_bar.

        H lambda = a_bar,   x_bar = -(dg/dx)^T lambda          g(a, x) = 0 the solver's equations, H = dg/da

    in   q, v, dt, tau, substeps, ctrl, act, qacc  as for `step`; with the qacc that this step returned, the solver
         converges at once
    in   cotangents  of q (B, nq), v (B, nv), act (B, n_act) and qacc (B, nv) that `step` returns; None, or omitted at
         the end: zeros
    out  StepCotangents
    Derivatives go through the contacts: active contacts and their sliding are those of the solution. They are with
    respect to components, as for `vjp`, except that changes of a quaternion's length have no effect. With several
    substeps in a call each is solved once more.
    Errors: those of `step`; ValueError for the integrator discrete, flag diagexact, the rigid law, and several substeps
    on a device.
    """
    names, sizes = ("q_next_bar", "v_next_bar", "act_next_bar", "qacc_next_bar"), state_sizes(model)
    padded = [*cotangents, *[None] * (len(names) - len(cotangents))]
    if len(padded) > len(names):
        raise TypeError(f"step_vjp: got {len(cotangents)} cotangents, expected at most {len(names)}: q, v, act, qacc")
    added = {name: (x, n) for name, x, n in zip(names, padded, sizes.values())}
    given = {"q": q, "v": v, "act": act, "qacc": qacc, "ctrl": ctrl, "tau": tau}
    world = World("step_vjp", model, given, added, dt, substeps, check)
    sequence = sequence_of(model, world.dtype, True, world.on_device)
    written = {f"{name}_bar": n for name, n in sizes_of(model).items()}
    all_sizes = {**sizes_of(model), **sizes, **{name: n for name, (_, n) in added.items()}}
    bars, total = world.added, dict[str, Any]()
    for state in reversed(world.states()):
        found = world.run(sequence, {**state, **world.drives, **bars}, all_sizes, written)
        bars = {f"{name}_next_bar": found[f"{name}_bar"][0] for name in ("q", "v", "act")}
        for name, (_, view) in found.items():
            if name not in ("q_bar", "v_bar", "act_bar") and name in total:
                view += total[name]
            total[name] = view
    results = {name: world.call.result(view) for name, view in total.items()}
    of_parameters = tuple(results[f"{name}_bar"] for name in parameter_sizes(model))
    return StepCotangents(*[*(results[f"{name}_bar"] for name in INPUTS.values()), of_parameters])


def step_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tangents: Sequence[ArrayLike | None],
    dt: float | None = None,
    tau: ArrayLike | None = None,
    substeps: int | None = None,
    *,
    ctrl: ArrayLike | None = None,
    act: ArrayLike | None = None,
    qacc: ArrayLike | None = None,
    check: bool = True,
) -> StepTangents:
    """The tangents of all results of a step of a model file's world, x_next_tan = (dx_next/dx) x_tan.

        H a_tan = -(dg/dx) x_tan          g(a, x) = 0 the solver's equations, H = dg/da

    in   q, v, dt, tau, substeps, ctrl, act, qacc  as for `step`
    in   tangents  of q (B, nq), v (B, nv), act (B, n_act), ctrl (B, n_ctrl), tau (B, nv), then of the model's
         parameters; None, or omitted at the end: zeros. Those of quaternions are rates along the unit sphere; parts
         that change the length are ignored
    out  StepTangents
    Derivatives go through the contacts.
    Errors: those of step_vjp.
    """
    sizes = sizes_of(model)
    padded = [*tangents, *[None] * (len(sizes) - len(tangents))]
    if len(padded) > len(sizes):
        raise TypeError(f"step_jvp: got {len(tangents)} tangents, expected at most {len(sizes)}: {', '.join(sizes)}")
    added = {f"{name}_tan": (x, n) for (name, n), x in zip(sizes.items(), padded)}
    given = {"q": q, "v": v, "act": act, "qacc": qacc, "ctrl": ctrl, "tau": tau}
    world = World("step_jvp", model, given, added, dt, substeps, check)
    sequence = sequence_of(model, world.dtype, False, world.on_device)
    of_state = state_sizes(model)
    written = {f"{name}_next_tan": n for name, n in of_state.items()}
    all_sizes = {**sizes, **of_state, **{name: n for name, (_, n) in added.items()}}
    moving, found = world.added, {}
    for state in world.states():
        found = world.run(sequence, {**state, **world.drives, **moving}, all_sizes, written)
        moving = {**moving, **{f"{name}_tan": found[f"{name}_next_tan"][0] for name in ("q", "v", "act")}}
    return StepTangents(*(world.call.result(found[name][1]) for name in written))
