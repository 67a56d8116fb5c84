"""Derivatives of steps of a model file's world, by the implicit form of the solver's equations.

The acceleration a of a substep solves g(a, x) = M a - tau - J' f(J a - aref) = 0 with the forces f of constraints and
contacts. With H = M + J' W J, the last matrix of Newton's method, cotangents follow from H lambda = a_bar and
x_bar = -(dg/dx)' lambda, and tangents from H a_tan = -(dg/dx) x_tan. The smooth parts before and after the solver are
differentiated from their traces (host/gradients/world_gradients.h).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _featherstorm
from .._evaluation.evaluation import check_quaternions, run, tell_notices
from .._memory.arguments import Arguments
from .._memory.arrays import shape_error
from .._robot.law import law_of
from .._robot.steps import no_world, pass_count, step_op, zeros
from .passes import STATE, passes, solver, state_sizes, world_step
from .values import bound_values, check_bound, parameter_sizes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from .._robot.law import Rigid
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


class Linearization(NamedTuple):
    """The linear model dx_next = A dx + B du with x = (q, v, act).

    Changes of q are tangent vectors as in `integrate`.
    A (B, 2 nv + n_act, 2 nv + n_act), B (B, 2 nv + n_act, nu): of ctrl, without a world of tau or q_target
    """

    A: npt.NDArray[Any]
    B: npt.NDArray[Any]


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
        drive = {"u": self.memory["ctrl"], "qfrc_applied": self.memory["qfrc_applied"], **self.bound}
        for _ in range(self.count - 1):
            after = {name: self.output(n)[0] for name, n in sizes.items()}
            steps.run(self.call.instances, {**found[-1], **drive}, after, 0.0, self.call.library.stream)
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


def turns(model: Model) -> list[tuple[int, int]]:
    """Return for each quaternion its first index in q, and in v that of its angular velocity in the body's axes."""
    return [(b["quaternion"], b["v"][1] - 3) for b in model.bodies if b["quaternion"] is not None]


def plain(model: Model) -> npt.NDArray[np.intp]:
    """Return the indices (n, 2) in q and in v of coordinates that do not belong to a quaternion."""
    found = []
    for b in model.bodies:
        count = b["v"][1] - b["v"][0] - (0 if b["quaternion"] is None else 3)
        found += [(b["q"][0] + k, b["v"][0] + k) for k in range(count)]
    return np.array(found, np.intp).reshape(-1, 2)


def rates(q: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the matrices (B, 4, 3) of dq/dt = rates w, for quaternions (B, 4) and body angular velocities w."""
    w, x, y, z = q.T
    return 0.5 * np.stack([np.stack(row, 1) for row in ((-x, -y, -z), (w, -z, y), (z, w, -x), (-y, x, w))], 1)


WIDTH = 1e-6  # of differences in double precision


def with_repeated_rows(model: Model, sizes: dict[str, int], n: int) -> Model:
    """Return the model with n copies of each row of bound parameters that has one for each instance."""
    model.__dict__.setdefault("_step_derivatives", {})  # bound models share it
    bound = {name: np.asarray(model.parameter(name)) for name in model.parameters}
    rows = {name: np.repeat(x, n, 0) if x.size > sizes[name] else x for name, x in bound.items()}
    return model.bind(**rows) if rows else model


def on_coordinates(model: Model, q: npt.NDArray[Any], e: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert changes e (B, nv) of q (+) e to changes (B, nq) of q."""
    found = np.zeros((len(e), model.nq), e.dtype)
    of_q, of_v = plain(model).T
    found[:, of_q] = e[:, of_v]
    for k, first in turns(model):
        found[:, k : k + 4] = np.einsum("bij,bj->bi", rates(q[:, k : k + 4]), e[:, first : first + 3])
    return found


def from_coordinates(model: Model, q: npt.NDArray[Any], change: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert changes (B, nq) of q to e (B, nv) of q (+) e, for quaternions of length 1: rates^T rates = 1 / 4."""
    return on_tangent_space(model, q, change, 4.0)


def on_tangent_space(
    model: Model, q: npt.NDArray[Any], bars: npt.NDArray[Any], of_turns: float = 1.0
) -> npt.NDArray[Any]:
    """Convert cotangents (B, nq) of q to cotangents (B, nv) of e in q (+) e.

    of_turns   factor of the angular parts
    """
    found = np.zeros((len(bars), model.nv), bars.dtype)
    of_q, of_v = plain(model).T
    found[:, of_v] = bars[:, of_q]
    for k, first in turns(model):
        turn = np.einsum("bij,bi->bj", rates(q[:, k : k + 4]), bars[:, k : k + 4])
        found[:, first : first + 3] = of_turns * turn
    return found


def linearize_world(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    dt: float | None = None,
    tau: ArrayLike | None = None,
    substeps: int | None = None,
    *,
    ctrl: ArrayLike | None = None,
    act: ArrayLike | None = None,
    qacc: ArrayLike | None = None,
    law: object = "mujoco",
    check: bool = True,
) -> Linearization:
    """Linearize a step of a model file's world; see derivatives.linearize."""
    rules = law_of(law, "linearize")
    if rules is not None or _featherstorm.no_derivatives(model.evaluator):
        return by_differences(model, q, v, dt, tau, substeps, ctrl, act, qacc, rules, check)
    end, _, _, end_qacc = world_step(model, q, v, dt, ctrl, act, qacc, tau, substeps, 0.0, check)
    q_next = np.asarray(end)
    batched, dtype = q_next.ndim == 2, q_next.dtype
    q_next = np.atleast_2d(q_next)
    count, nv, na = len(q_next), model.nv, model.n_act
    n = 2 * nv + na
    q_bar = np.zeros((count, n, model.nq), dtype)
    of_q, of_v = plain(model).T
    q_bar[:, of_v, of_q] = 1
    for k, first in turns(model):
        # w = 4 rates^T dq/dt for unit quaternions
        q_bar[:, first : first + 3, k : k + 4] = 4 * np.swapaxes(rates(q_next[:, k : k + 4]), 1, 2)
    rest = np.broadcast_to(np.eye(n, dtype=dtype)[:, nv:], (count, n, n - nv)).reshape(count * n, n - nv)

    def repeated(x: ArrayLike | None, size: int) -> Any:
        if x is None or not size:
            return None
        return np.repeat(np.broadcast_to(np.asarray(x, dtype).reshape(-1, size), (count, size)), n, 0)

    at = repeated(q, model.nq)
    found = step_vjp(
        with_repeated_rows(model, parameter_sizes(model), n),
        at,
        repeated(v, nv),
        (q_bar.reshape(count * n, model.nq), rest[:, :nv], rest[:, nv:]),
        dt,
        repeated(tau, nv),
        substeps,
        ctrl=repeated(ctrl, model.n_ctrl),
        act=repeated(act, na),
        qacc=repeated(end_qacc if substeps in (None, 1) else qacc, nv),
        check=False,
    )
    columns = [on_tangent_space(model, at, np.asarray(found.q)), np.asarray(found.v), np.asarray(found.act)]
    A = np.concatenate(columns, 1).reshape(count, n, n)
    B = np.asarray(found.ctrl).reshape(count, n, model.n_ctrl)
    return Linearization(A, B) if batched else Linearization(A[0], B[0])


def by_differences(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    dt: float | None,
    tau: ArrayLike | None,
    substeps: int | None,
    ctrl: ArrayLike | None,
    act: ArrayLike | None,
    qacc: ArrayLike | None,
    rules: Rigid | None,
    check: bool,
) -> Linearization:
    """Linearize a step by central differences in double precision.

    The rigid law does all of its sweeps: where they end early, a small change of the state makes a jump.
    """
    law = "mujoco" if rules is None else replace(rules, tolerance=0.0)
    sizes = {"q": model.nq, "v": model.nv, "act": model.n_act, "ctrl": model.n_ctrl, "tau": model.nv, "qacc": model.nv}
    given = {"q": q, "v": v, "act": act, "ctrl": ctrl, "tau": tau, "qacc": qacc}
    rows = {k: np.zeros((1, n)) if given[k] is None else np.atleast_2d(np.asarray(given[k])) for k, n in sizes.items()}
    count, nv, na = len(rows["q"]), model.nv, model.n_act
    for name, x in rows.items():
        if x.shape not in ((1, sizes[name]), (count, sizes[name])):
            raise shape_error("linearize", name, x.shape, (count, sizes[name]))
    if check and model.quaternions:
        check_quaternions(model, "linearize", "q", np.ascontiguousarray(rows["q"]))
    n = 2 * nv + na + model.n_ctrl
    e = np.tile(WIDTH * np.concatenate([np.eye(n), -np.eye(n)]), (count, 1))
    at = {k: np.repeat(np.broadcast_to(x, (count, sizes[k])).astype(float), 2 * n, 0) for k, x in rows.items()}
    at["q"] = run(model, "integrate", at["q"], e[:, :nv], dt=1.0, check=False)
    at["v"] += e[:, nv : 2 * nv]
    at["act"] += e[:, 2 * nv : 2 * nv + na]
    at["ctrl"] += e[:, 2 * nv + na :]
    q_next, v_next, act_next, _ = world_step(
        with_repeated_rows(model, parameter_sizes(model), 2 * n),
        at["q"],
        at["v"],
        dt,
        at["ctrl"],
        at["act"],
        at["qacc"],
        at["tau"],
        substeps,
        0.0,
        False,
        law,
    )

    def sides(x: Array) -> npt.NDArray[Any]:
        return np.asarray(x).reshape(count, 2, n, x.shape[1])

    end = sides(q_next)
    turned = run(model, "difference", end[:, 1].reshape(-1, model.nq), end[:, 0].reshape(-1, model.nq), check=False)
    changes = [np.asarray(turned).reshape(count, n, nv)]
    changes += [sides(x)[:, 0] - sides(x)[:, 1] for x in (v_next, act_next)]
    found = np.swapaxes(np.concatenate(changes, 2), 1, 2) / (2 * WIDTH)
    A, B = found[:, :, : 2 * nv + na], found[:, :, 2 * nv + na :]
    return Linearization(A, B) if np.asarray(q).ndim == 2 else Linearization(A[0], B[0])
