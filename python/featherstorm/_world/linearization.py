"""Linear models of steps of a model file's world, by products of derivatives or by differences of steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _featherstorm
from .._evaluation.evaluation import check_quaternions, run
from .._memory.arrays import shape_error
from .._robot.closures import Rigid, law_of
from .gradients import step_vjp
from .passes import world_step
from .values import parameter_sizes

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ..model import Model
    from ..typing import Array, ArrayLike

    Given = Mapping[str, Any]

WIDTH = 1e-6  # of differences in double precision


class Linearization(NamedTuple):
    """The linear model dx_next = A dx + B du with x = (q, v, act).

    Changes of q are tangent vectors as in `integrate`.
    A (B, 2 nv + n_act, 2 nv + n_act), B (B, 2 nv + n_act, nu): of ctrl, without a world of tau or q_target
    """

    A: npt.NDArray[Any]
    B: npt.NDArray[Any]


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
    model: Model, given: Given, dt: float | None, substeps: int | None, law: object = "mujoco", check: bool = True
) -> Linearization:
    """Linearize a step of a model file's world; see derivatives.linearize.

    given   q, v and where they are given act, ctrl, tau, qacc, by name
    """
    given = {name: x for name, x in given.items() if x is not None}
    rules = law_of(law, "linearize")
    if rules is not None or _featherstorm.no_derivatives(model.evaluator):
        return by_differences(model, given, dt, substeps, rules, check)
    q, v = given["q"], given["v"]
    act, ctrl, tau, qacc = map(given.get, ("act", "ctrl", "tau", "qacc"))
    end, _, _, end_qacc = world_step(model, q, v, dt, ctrl, act, qacc, tau, substeps, check)
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
    model: Model, given: Given, dt: float | None, substeps: int | None, rules: Rigid | None, check: bool = True
) -> Linearization:
    """Linearize a step by central differences in double precision.

    The rigid law does all of its sweeps: where they end early, a small change of the state makes a jump.
    """
    law = "mujoco" if rules is None else replace(rules, tolerance=0.0)
    sizes = {"q": model.nq, "v": model.nv, "act": model.n_act, "ctrl": model.n_ctrl, "tau": model.nv, "qacc": model.nv}
    rows = {name: np.atleast_2d(np.asarray(given.get(name, np.zeros(n)))) for name, n in sizes.items()}
    count, nv, na = len(rows["q"]), model.nv, model.n_act
    for name, x in rows.items():
        if x.shape not in ((1, sizes[name]), (count, sizes[name])):
            raise shape_error("linearize", name, x.shape, (count, sizes[name]))
    if check and model.quaternions:
        check_quaternions(model, "linearize", "q", np.ascontiguousarray(rows["q"]))
    n = 2 * nv + na + model.n_ctrl
    e = np.tile(WIDTH * np.concatenate([np.eye(n), -np.eye(n)]), (count, 1))
    at = {k: np.repeat(np.broadcast_to(x, (count, sizes[k])).astype(float), 2 * n, 0) for k, x in rows.items()}
    several = with_repeated_rows(model, parameter_sizes(model), 2 * n)
    at["q"] = run(several, "integrate", at["q"], e[:, :nv], dt=1.0, check=False)
    at["v"] += e[:, nv : 2 * nv]
    at["act"] += e[:, 2 * nv : 2 * nv + na]
    at["ctrl"] += e[:, 2 * nv + na :]
    moved, u, act, acceleration, tau = (at[name] for name in ("v", "ctrl", "act", "qacc", "tau"))
    q_next, v_next, act_next, _ = world_step(
        several, at["q"], moved, dt, u, act, acceleration, tau, substeps, False, law
    )

    def sides(x: Array) -> npt.NDArray[Any]:
        return np.asarray(x).reshape(count, 2, n, x.shape[1])

    end = sides(q_next)
    pairs = with_repeated_rows(model, parameter_sizes(model), n)
    turned = run(pairs, "difference", end[:, 1].reshape(-1, model.nq), end[:, 0].reshape(-1, model.nq), check=False)
    changes = [np.asarray(turned).reshape(count, n, nv)]
    changes += [sides(x)[:, 0] - sides(x)[:, 1] for x in (v_next, act_next)]
    found = np.swapaxes(np.concatenate(changes, 2), 1, 2) / (2 * WIDTH)
    A, B = found[:, :, : 2 * nv + na], found[:, :, 2 * nv + na :]
    return Linearization(A, B) if np.asarray(given["q"]).ndim == 2 else Linearization(A[0], B[0])
