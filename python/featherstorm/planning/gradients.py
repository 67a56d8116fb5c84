"""Planning by gradients: iterative LQR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._evaluation.evaluation import check_quaternions
from .._horizon.programs import programs_of
from .._memory.arrays import shape_error
from .._names import expect
from ..device import device_number
from ..operations import difference, integrate
from ..rollout import Rollout
from .planner import Planner, PlanningError

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._memory.host_libraries import Library
    from ..typing import Array, Vector


class ILQR(Planner):
    """Iterative LQR with bounds on the controls (box-DDP, Tassa et al. 2014), on a `Rollout` with a cost or residuals.

        minimise sum_t l(x_t+1, u_t) + l_T(x_T)          over U, lower <= U <= upper
        u = clip(u_t + alpha k_t + K_t (x (-) x_t))      K (nu, 2 nv + n_act)

    An iteration computes derivatives of all control steps of the plan from one batch of changed steps, whatever the
    rollout's law of contacts, functions and sensors are. Derivatives of the costs are exact, by their traces:

        residual r   l = r^T r / 2, l_w = J^T r, l_ww = J^T J with J = dr/dw       (Gauss-Newton)
        cost l       l_w, and l_ww without its negative curvature; a residual besides a cost is part of l

    w are the state, the controls and the sensors, forces and accelerations that the cost reads. Then one rollout tries
    all step sizes. The method needs no noise, and finds precise plans where costs are smooth. A plan that must find a
    new contact first is better sampled.

    iterations   at most, in a call
    tolerance    a call ends when it expects to lower the cost by less than this share of it
    step_sizes   alpha from 1 to 1e-3, in equal ratios
    difference   changes of x and u that derivatives of control steps are computed from

    device       where control steps and rollouts run: "cpu", "cuda", ...; the states that a call gets are on the CPU

    Everything is in double precision. A model with bound parameters has one row of them.
    """

    kind = "best"

    def __init__(
        self,
        rollout: Rollout,
        horizon: int,
        nu: int | None = None,
        *,
        iterations: int = 10,
        lower: float | Vector | None = None,
        upper: float | Vector | None = None,
        tolerance: float = 1e-6,
        step_sizes: int = 16,
        difference: float = 1e-6,
        device: object = "cpu",
    ) -> None:
        if not isinstance(rollout, Rollout):
            raise TypeError(f"ILQR: rollout is a {type(rollout).__name__}, expected a featherstorm.Rollout")
        if all(f is None for f in (rollout.cost, rollout.terminal, rollout.residual, rollout.terminal_residual)):
            raise ValueError("ILQR: the rollout has no cost, expected a cost or a residual")
        expect(tolerance >= 0, "ILQR: tolerance", tolerance, "0 or more")
        expect(difference > 0, "ILQR: difference", difference, "a positive number")
        expect(int(step_sizes) == step_sizes >= 1, "ILQR: step_sizes", step_sizes, "1 or more")
        self.model_rollout, self.device = rollout, device_number(device, "ILQR")
        self.tolerance, self.step_sizes, self.difference = float(tolerance), int(step_sizes), float(difference)
        if nu is None and rollout.op != "world" and rollout.control is None:
            nu = rollout.model.nv
        super().__init__(
            rollout, horizon, nu, samples=1, sigma=0.0, lower=lower, upper=upper, iterations=iterations,
            dtype=np.float64,
        )  # fmt: skip
        self._native: dict[int, _featherstorm.Ilqr] = {}  # by the size of p
        self._last: _featherstorm.Ilqr | None = None
        self._begin = 0.0

    def reset(self, U: npt.ArrayLike | None = None) -> None:
        super().reset(U)
        self._last = None

    def __getstate__(self) -> dict[str, Any]:
        """Support pickle: plans are included, gains and states are not."""
        return {**super().__getstate__(), "_native": {}, "_last": None}

    def native(self, np_: int) -> _featherstorm.Ilqr:
        """Return the engine for p of this size, made at its first use."""
        if np_ not in self._native:
            roll = self.model_rollout
            programs, _ = programs_of(roll, "float64", self.nu, np_, True)
            self._native[np_] = _featherstorm.Ilqr(
                roll.model.evaluator, programs, self.horizon, self.iterations, *self._bounds(), self.tolerance,
                self.step_sizes, self.difference, self.device,
            )  # fmt: skip
        return self._native[np_]

    def _bounds(self) -> tuple[list[float], list[float]]:
        """Return the bounds, or none where all are infinite."""
        lower, upper = (x.tolist() if np.isfinite(x).any() else [] for x in (self.lower, self.upper))
        return lower, upper

    def iterate(self, x: Array, given: dict[str, Any], library: Library) -> npt.NDArray[np.bool_]:
        if not library.readable:
            raise ValueError("ILQR: x is on a device, expected an array of the CPU")
        if unknown := set(given) - {"p", "t0"}:
            raise TypeError(f"ILQR: got {min(unknown)}, expected p alone beside the state and its time")
        roll, model, nx = self.model_rollout, self.model_rollout.model, sum(n for _, n in self.model_rollout.state)
        if tuple(x.shape) != (nx,):
            raise shape_error("ILQR", "x", tuple(x.shape), (nx,))
        if model.quaternions:
            check_quaternions(model, "ILQR", "x", np.asarray(x)[None])
        p = np.asarray(() if given.get("p") is None else given["p"], float)
        rows = p.reshape(-1, p.shape[-1]) if p.ndim == 3 and p.shape[0] == 1 else np.atleast_2d(p)
        if p.ndim > 3 or len(rows) not in ((1, self.horizon) if p.ndim == 3 else (1,)):
            raise shape_error("ILQR", "p", p.shape, (1, self.horizon, "np"))
        state, first = [], 0
        for name, n in roll.state:
            if n:
                state.append((name, np.ascontiguousarray(np.asarray(x, float)[None, first : first + n])))
            first += n
        for name, n in roll.parameters:
            value = np.asarray(model.parameter(name), float)
            if value.size != n:
                raise ValueError(f"ILQR: the parameter {name} has {value.size // n} rows, expected 1")
            state.append((name, np.ascontiguousarray(value.reshape(1, n))))
        engine, plan = self.native(rows.shape[1]), self._plans[0]
        done = engine.improve(state, plan.controls, rows.ravel().tolist(), float(given.get("t0", 0.0)))
        if done:
            plan.restore(engine.u, engine.cost, plan.calls, plan.draws + engine.iterations)
            self._last, self._begin = engine, float(given.get("t0", 0.0))
        return np.array([not done])

    def feedback(self, x: Array, t: float) -> npt.NDArray[np.float64]:
        """Return the control (nu,) for a state x (nx,) measured at the time t [s], between two plans.

        u = clip(u_k + K_k (x (-) x(t))), x(t) on the geodesic between the states of the plan around t; behind the
        horizon those of its last step.
        """
        if self.dt is None:
            raise ValueError("ILQR: dt is missing, and the plan has no time")
        model, states = self.model_rollout.model, self.states
        at = np.clip((t - self._begin) / self.dt, 0.0, self.horizon)
        k = min(int(at), self.horizon - 1)
        nq = model.nq
        (a, b), x = states[k : k + 2], np.asarray(x, float)
        q = integrate(model, a[:nq], difference(model, a[:nq], b[:nq]), at - k)
        rest = a[nq:] + (at - k) * (b[nq:] - a[nq:])
        dx = np.concatenate([difference(model, q, x[:nq]), x[nq:] - rest])
        u: npt.NDArray[np.float64] = np.clip(self.U[k] + self.gains[k] @ dx, self.lower, self.upper)
        return u

    def last(self) -> _featherstorm.Ilqr:
        if self._last is None:
            raise PlanningError("ILQR: there is no plan yet")
        return self._last

    @property
    def gains(self) -> npt.NDArray[np.float64]:
        """Feedback K (horizon, nu, 2 nv + n_act) of the last iteration, about the plan that it began with."""
        return np.array(self.last().gains).reshape(self.horizon, self.nu, -1)

    @property
    def states(self) -> npt.NDArray[np.float64]:
        """States of the plan (horizon + 1, nx), from that of the call on."""
        parts = [np.array(x).reshape(self.horizon + 1, -1) for x in (self.last().q, self.last().v, self.last().act)]
        return np.concatenate(parts, 1)

    @property
    def done(self) -> tuple[int, bool]:
        """Iterations of the last call, and whether it converged."""
        return self.last().iterations, self.last().converged
