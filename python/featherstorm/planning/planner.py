"""Planners: plans, samples about them, and their time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._evaluation.evaluation import tell_notices
from .._horizon.samples import Samples
from .._memory.arguments import place_of
from .._memory.arrays import shape_error
from .._names import Fixed, expect
from ..noise import INTERPOLATIONS, interpolation_weights
from ..rollout import Rollout
from .models import first_of, with_models

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from .._horizon.prepared import PreparedRollout
    from .._memory.host_libraries import Library
    from ..typing import Array, Vector


class PlanningError(ValueError):
    """No sample of an iteration has a finite cost: the state is not finite, or every sample diverges."""


class Planner(Fixed):
    """Base of the planners: a plan, samples about it, and the shift from one call to the next.

    rollout          see featherstorm.planning
    horizon, nu      control steps of a plan, controls of a step; nu None: the number of actuators, for a rollout of a
                     model file's world
    samples          control sequences of an iteration; the first is the plan itself
    sigma            standard deviation of the noise of a knot: a number, (nu,), (K, nu), or (iterations, K, nu)
    lower, upper     bounds of the controls, numbers or (nu,); None: the ranges of the file's actuators where U are
                     their controls, else none
    iterations       improvements of the plan in a call
    first_iterations improvements in the first call after a reset; None: as many. The additional ones come first and
                     have the noise of the first iteration
    knots            number K of knots, at equal distances; None: one for each control step
    interpolation    "linear", "cubic" or "hold", see featherstorm.noise.interpolation_weights
    seed             the same calls give the same plans, for any number of threads
    dtype            of U and x0
    dt               time of a control step [s]; None: that of the rollout, if it has one
    robots           None: one plan. R: a plan for each of R robots of the model, improved in one call. Then x is (R, nx),
                     p (np,) or (R, np), controls are (R, nu) and plans (R, ...). Plan k is that of a planner of its
                     own with the seed `seed` + k
    models           number M of sets of the model's bound parameters (Model.bind): those with M rows have a row for each
                     set. Each sample is simulated with every set: the rollout gets M samples rows, those of a set one
                     after the other. Predictions use the first set
    risk             cost of a sample from its costs with all models: "mean", "max", or a number a, 0 < a <= 1: the mean
                     of the share a of its greatest costs, CVaR (host/planning/sampled_plan.h)
    workers          a featherstorm.distributed.Workers, on which the samples are simulated: the same plans, bit for bit.
                     None: this process

    U (horizon, nu)  controls of the plan;  plan_knots (K, nu)  its knots;  t0  its beginning [s]
    cost             of the best sample of the last iteration, with robots (R,)
    failed           with robots: (R,) whether no sample of the robot had a finite cost in the last call; its plan goes on
    calls            calls since the last reset
    """

    kind: str  # the update (host/planning/plan_updater.h)

    def __init__(
        self,
        rollout: Callable[..., Any],
        horizon: int,
        nu: int | None = None,
        *,
        samples: int = 1024,
        sigma: npt.ArrayLike = 1.0,
        lower: float | Vector | None = None,
        upper: float | Vector | None = None,
        iterations: int = 1,
        first_iterations: int | None = None,
        knots: int | None = None,
        interpolation: str = "linear",
        seed: int = 0,
        dtype: npt.DTypeLike = "float32",
        dt: float | None = None,
        robots: int | None = None,
        models: int = 1,
        risk: str | float = "mean",
        workers: Any = None,
    ) -> None:
        name = type(self).__name__
        if not callable(rollout):
            raise TypeError(f"{name}: rollout is a {type(rollout).__name__}, expected a function")
        lowest, highest = getattr(rollout, "lower", None), getattr(rollout, "upper", None)
        if nu is None:
            if lowest is None:
                raise TypeError(f"{name}: nu is missing: only rollouts of a model file's actuators say it themselves")
            nu = len(lowest)
        if lowest is not None and len(lowest) == nu:
            lower = lowest if lower is None else lower
            upper = highest if upper is None else upper
        first = iterations if first_iterations is None else first_iterations
        counts = {
            "horizon": horizon, "nu": nu, "samples": samples, "iterations": iterations, "first_iterations": first,
            "knots": 1 if knots is None else knots, "robots": 1 if robots is None else robots, "models": models,
        }  # fmt: skip
        for what, n in counts.items():
            if int(n) != n or n < 1:
                raise ValueError(f"{name}: {what} is {n}, expected 1 or more")
        expect(first >= iterations, f"{name}: first_iterations", first, f"{iterations} or more, the iterations")
        named = {"mean": 1.0, "max": 0.0}
        if risk not in named and (isinstance(risk, str) or not 0 < risk <= 1):
            raise ValueError(f"{name}: risk is {risk!r}, expected mean, max or a number above 0, at most 1")
        self.models, self.worst = int(models), float(named.get(risk, risk))  # type: ignore[arg-type]
        self.rollout, self.horizon, self.nu, self.samples = rollout, int(horizon), int(nu), int(samples)
        self.iterations, self.first_iterations = int(iterations), int(first)
        self.seed, self.dtype, self.interpolation = int(seed), np.dtype(dtype), interpolation
        self.dt = getattr(rollout, "dt", None) if dt is None else float(dt)
        self.knots = self.horizon if knots is None else min(int(knots), self.horizon)
        self.weights = interpolation_weights(self.horizon, self.knots, interpolation)
        self.sigma = self.noise("sigma", sigma)
        self.lower, self.upper = self.row("lower", lower, -np.inf), self.row("upper", upper, np.inf)
        if not (self.lower <= self.upper).all():
            raise ValueError(f"{name}: lower is {lower} and upper is {upper}, expected lower <= upper")
        threads = getattr(getattr(rollout, "model", None), "threads", 1)
        self.threads = threads if isinstance(threads, int) and threads > 0 else 1
        self.robots = None if robots is None else int(robots)
        self.failed = np.zeros(self.robots or 1, bool)
        self.t0: float | None = None
        self._kept: dict[tuple[int, int], Samples] = {}  # by device and stream
        self._predicting: Rollout | None = None
        self._predictions: dict[Any, PreparedRollout] = {}
        self._simulated = rollout
        if self.models > 1 and isinstance(rollout, Rollout):
            self._simulated = with_models(rollout, name, self.models, self.samples, self.robots or 1)
        self._plans = self._new_plans()
        self._remote = None if workers is None else workers.samples(self)

    def _new_plans(self) -> list[_featherstorm.SampledPlan]:
        options = {"sigma_min": [], "adapt": 0.0, "noise_cost": 0.0, **self.spread()}
        options.update(models=self.models, worst=self.worst)
        return [
            _featherstorm.SampledPlan(
                self.horizon, self.samples, self.nu, self.dtype.name, self.kind, self.sigma.ravel().tolist(),
                *self._bounds(), self.iterations, self.first_iterations, self.knots,
                INTERPOLATIONS.index(self.interpolation), self.seed + k, **options,
            )
            for k in range(self.robots or 1)
        ]  # fmt: skip

    def _bounds(self) -> tuple[list[float], list[float]]:
        return self.lower.tolist(), self.upper.tolist()

    def __getstate__(self) -> dict[str, Any]:
        """Support pickle: plans are included, the memory of samples and workers are not."""
        plans = [(plan.knots, plan.cost, plan.calls, plan.draws) for plan in self._plans]
        none: dict[str, Any] = {"_kept": {}, "_predicting": None, "_predictions": {}, "_remote": None}
        return {**self.__dict__, **none, "_plans": plans}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._plans = self._new_plans()
        for plan, kept in zip(self._plans, state["_plans"]):
            plan.restore(*kept)

    def __repr__(self) -> str:
        plans = "" if self.robots is None else f"{self.robots} robots, "
        dt = "" if self.dt is None else f" of {self.dt:g} s"
        return (
            f"<featherstorm.planning.{type(self).__name__}: {plans}horizon {self.horizon} steps{dt}, {self.nu} controls, "
            f"{self.samples} samples, {self.iterations} iterations, {self.dtype}>"
        )

    def row(self, what: str, value: npt.ArrayLike | None, default: float | None) -> npt.NDArray[np.float64]:
        value = np.asarray(default if value is None else value, dtype=float)
        if value.shape not in ((), (self.nu,)):
            name = type(self).__name__
            raise ValueError(f"{name}: {what} has shape {value.shape}, expected ({self.nu},) or a number")
        return np.ascontiguousarray(np.broadcast_to(value, (self.nu,)))

    def noise(self, what: str, value: npt.ArrayLike) -> npt.NDArray[np.float64]:
        array = np.asarray(value, dtype=float)
        if not (array >= 0).all() or not np.isfinite(array).all():
            raise ValueError(f"{type(self).__name__}: {what} is {value!r}, expected numbers of 0 or more")
        if array.shape in ((self.knots, self.nu), (self.iterations, self.knots, self.nu)):
            return array
        return self.row(what, array, None)

    def _of_robots(self, numbers: list[Any], *tail: int) -> npt.NDArray[Any]:
        """Return numbers of each plan as an array (R, *tail), without robots (*tail)."""
        array = np.array(numbers, self.dtype).reshape(len(self._plans), *tail)
        return array[0] if self.robots is None else array

    @property
    def U(self) -> npt.NDArray[Any]:
        return self._of_robots([plan.controls for plan in self._plans], self.horizon, self.nu)

    @property
    def plan_knots(self) -> npt.NDArray[Any]:
        return self._of_robots([plan.knots for plan in self._plans], self.knots, self.nu)

    @property
    def cost(self) -> Any:
        costs = [plan.cost for plan in self._plans]
        return costs[0] if self.robots is None else np.array(costs)

    @property
    def calls(self) -> int:
        return self._plans[0].calls

    def reset(self, U: npt.ArrayLike | None = None) -> None:
        """Restart with the plan U (horizon, nu), or its knots (K, nu); None: the controls nearest to zero.

        Knots are fitted to U by least squares. With robots U may also be (R, horizon, nu) or (R, K, nu).
        """
        array = np.asarray([] if U is None else U, dtype=float)
        shapes = [(self.horizon, self.nu), (self.knots, self.nu)]
        several = self.robots is not None and array.ndim == 3 and len(array) == self.robots
        if U is not None and array.shape[several:] not in shapes:
            raise shape_error(type(self).__name__, "U", array.shape, shapes[0])
        for k, plan in enumerate(self._plans):
            plan.reset((array[k] if several else array).ravel().tolist())
        vars(self).update(t0=None)

    def command(
        self, x: Array, t0: float | None = None, *, latency: float = 0.0, predict: bool = True, **given: Any
    ) -> Array:
        """Return the control (nu,) for the state x (nx,), from an improved plan.

        in   t0       the time of x [s]. The last plan is shifted by the time that has passed since then. None: a control
                      step has passed, and the rollouts begin at 0
        in   latency  the plan acts from t0 + latency on [s]: `predict` carries the state there, where the plan begins.
                      The result is the first control of the plan
        in   predict  False: the plan begins at t0, with the state as it is, although it acts later
        in   given    passed on to the rollout: p and warm of featherstorm.Rollout
        out  the control belongs to the library of x and is on its device where x is on one
        Errors: ValueError where time runs backwards; PlanningError where no sample has a finite cost. The plan is then
        as before the call, and `control` goes on with it.
        """
        self.improve(x, t0, given, latency, predict)
        u = np.ascontiguousarray(self.plan_knots[..., 0, :])  # the first knot is the first control
        return place_of(x, type(self).__name__, "x").placed(u)

    def plan(self, x: Array, t0: float | None = None, **given: Any) -> npt.NDArray[Any]:
        """Improve the plan for the state x without a shift, and return it, U (horizon, nu)."""
        self.improve(x, t0, given, shift=False)
        return self.U

    def control(self, t: float) -> npt.NDArray[Any]:
        """Return the control (nu,) that acts at a time t [s].

        It is that of the last plan that acts by then, so a plan with a latency does not count before its time. Before
        the first plan it is that of `reset`, behind the horizon the plan's last one.
        Errors: ValueError where the time of a control step is not known.
        """
        if self.dt is None:
            raise ValueError(f"{type(self).__name__}: dt is missing, and the plan has no time")
        return self._acting(t, self.dt)[..., 0, :]

    def _acting(self, t: float, dt: float, step: float = 0.0, count: int = 1) -> npt.NDArray[Any]:
        """Return the controls (count, nu), or (R, count, nu), that act at the times t, t + step, ... [s]."""
        u = _featherstorm.acting(self._plans, t, dt, step, count).astype(self.dtype)
        return u[0] if self.robots is None else u

    def predict(self, x: Array, t0: float, latency: float, **given: Any) -> npt.NDArray[Any]:
        """Return the state (nx,) that the robot has `latency` [s] after x, under the controls that act until then.

        The model of the rollout, which is a featherstorm.Rollout, is stepped in its substeps; the latency is rounded to
        them.
        """
        roll = self.rollout
        if not isinstance(roll, Rollout):
            raise TypeError(f"{type(self).__name__}: predict needs a featherstorm.Rollout, not a function of yours")
        if self._predicting is None:
            model = first_of(roll.model, self.models)
            options = {**roll.options, "pairs": None}
            self._predicting = Rollout(model, roll.dt / roll.substeps, control=roll.control, substeps=1, **options)
        step = self._predicting.dt
        count = round(latency / step)
        expect(count >= 0, f"{type(self).__name__}: latency", latency, "0 or more")
        x = np.asarray(x, self.dtype)
        if count == 0:
            return x
        U, p = self._acting(t0, self.dt or roll.dt, step, count), given.get("p")
        if p is not None and np.ndim(p) == 3:  # numbers for each control step of a plan: those of its first
            p = p[:, 0]
        one, again = self.robots is None, given.get("warm") is None
        key = x.shape, count, () if p is None else np.shape(p)
        prepared = self._predictions.get(key) if again else None
        if prepared is None:
            given = {**given, "p": None if p is None else np.array(p, self.dtype), "t0": t0}
            prepared = self._predicting._prepare(np.array(x), U[None] if one else U, **given)
            if again:
                self._predictions[key] = prepared
        else:
            prepared.begin(x, t0, p, U)
        final: npt.NDArray[Any] = np.array(prepared.run().final)
        return final[0] if one else final

    def elapsed(self, t0: float | None) -> float:
        """Return the control steps from the beginning of the last plan to a time."""
        if self.calls == 0:
            return 0.0
        if t0 is None or self.t0 is None or self.dt is None:
            return 1.0
        name, after = type(self).__name__, f"{self.t0} or later, the time of the last plan"
        expect(t0 >= self.t0 - 1e-9, f"{name}: t0", t0, after)
        return (t0 - self.t0) / self.dt

    def improve(
        self,
        x: Array,
        t0: float | None,
        given: dict[str, Any],
        latency: float = 0.0,
        predict: bool = True,
        shift: bool = True,
    ) -> None:
        """Improve the plan. It stays as it is if an error is raised."""
        name, takes_knots = type(self).__name__, getattr(self.rollout, "takes_knots", False)
        library = place_of(x, name, "x")
        if not library.readable and (self._remote or not takes_knots):
            remedy = "workers must be None" if self._remote else "the rollout must be a featherstorm.Rollout"
            raise TypeError(f"{name}: x is on a device, for which {remedy}")
        acts = None if t0 is None else t0 + latency
        if latency and predict and t0 is not None:
            x, t0 = self.predict(x, t0, latency, **given), acts
        elif latency and t0 is None:
            raise ValueError(f"{name}: latency is {latency}, which needs the time t0 of the state")
        x = library.cast(x, name, "x", self.dtype)
        expected: tuple[int | str, ...] = ("nx",) if self.robots is None else (self.robots, "nx")
        if len(x.shape) != len(expected) or (self.robots is not None and x.shape[0] != self.robots):
            raise shape_error(name, "x", tuple(x.shape), expected)
        if self.robots is not None and not self._remote:
            x, given = self.samples_in(library).of_robots(x, given)
        if t0 is not None:
            given = {**given, "t0": t0}
        plans, elapsed = self._plans, self.elapsed(t0) if shift else 0.0
        for plan in plans:
            plan.begin(elapsed)
        try:
            failed = self.iterate(x, given, library)
            if failed.all():
                raise PlanningError(f"{name}: no sample has a finite cost; is the state finite?")
        except BaseException:
            for plan in plans:
                plan.cancel()
            raise
        times = [np.nan if time is None else time for time in (t0, acts)]
        for plan in plans:
            plan.commit(*times)
        vars(self).update(t0=t0, failed=failed)

    def iterate(self, x: Array, given: dict[str, Any], library: Library) -> npt.NDArray[np.bool_]:
        """Improve the plans; return for which there was no sample with a finite cost."""
        samples = self.samples_in(library)
        failed = samples.iterate(self._plans, self.simulation(x, samples, given))
        if isinstance(self.rollout, Rollout):
            tell_notices(self.rollout.model)
        return failed

    def simulation(self, x: Array, samples: Samples, given: dict[str, Any]) -> PreparedRollout | Callable[[], Any]:
        """Return a rollout, or a function that simulates the samples, as they are drawn when it is called."""
        if (remote := self._remote) is not None:
            return lambda: remote.costs(x, given)
        rollout, p = self._simulated if self.models > 1 else self.rollout, given.get("p")
        # only the state, the time and p differ from an earlier plan
        sizes: tuple[int, ...] = () if p is None else np.shape(p)
        again = type(x) is np.ndarray and samples.library.readable and len(sizes) < 3 and given.get("warm") is None
        key = rollout, x.shape, sizes
        if again and key in samples.prepared:
            prepared = samples.prepared[key]
            prepared.begin(x, given.get("t0", 0.0), p)
            return prepared
        if self.knots < self.horizon and getattr(self.rollout, "takes_knots", False):
            between = {"horizon": self.horizon, "interpolation": self.interpolation, "bounds": self._bounds()}
            given = {**given, **between}
        elif self.knots < self.horizon:
            return lambda: rollout(x, samples.controls(self.weights, *self._bounds()), **given)
        if not isinstance(rollout, Rollout):
            return lambda: rollout(x, samples.knots, **given)
        if again and len(sizes) == 2:
            given = {**given, "p": np.array(p, self.dtype)}
        prepared = rollout._prepare(np.array(x) if again else x, samples.knots, **given)
        if again:
            samples.prepared[key] = prepared
        return prepared

    def samples_in(self, library: Library) -> Samples:
        """Return the memory of samples on the device of a library, made at its first use."""
        key, options = (library.device, library.stream), self.options()
        if key not in self._kept or self._kept[key].options != options:
            shape = (self.samples, self.knots, self.nu)
            name = type(self).__name__
            robots = len(self._plans)
            self._kept[key] = Samples(name, library, shape, self.dtype.name, self.threads, options, robots, self.models)
        self._kept[key].library = library
        return self._kept[key]

    def options(self) -> dict[str, Any]:
        """Return the options of the update (host/planning/plan_updater.h); they may change between calls."""
        spread = self.kind == "elite_mean" or getattr(self, "adapt", 0.0) > 0
        return {"kind": self.kind, "temperature": 1.0, "standardised": False, "elites": 1, "spread": spread}

    def spread(self) -> dict[str, Any]:
        """Return options of the plan: sigma_min, adapt, noise_cost (host/planning/sampled_plan.h)."""
        return {}
