"""The samples of a planner's iteration, on their device, and the plan that follows from them.

An iteration waits once, for the new knots of the plan, which are on the CPU.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._memory.arrays import shape_error
from ..device import DeviceArray, dtype_name
from .prepared import PreparedRollout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from .._memory.host_libraries import Library
    from ..typing import Array


class Samples:
    """Samples as knots (robots models samples, K, nu) of a dtype and their costs, on the device of `library`.

    name      for messages
    robots    number of plans, whose samples stand one after the other
    models    how often the samples of a plan stand one after the other, the same each time
    options   of the update: kind, temperature and others (host/planning/plan_updater.h)
    threads   for sums on the CPU
    """

    def __init__(
        self,
        name: str,
        library: Library,
        shape: tuple[int, int, int],
        dtype: str,
        threads: int,
        options: dict[str, Any],
        robots: int = 1,
        models: int = 1,
    ) -> None:
        self.name, self.library, self.options, self.count, self.models = name, library, options, shape[0], models
        self.shape = count, K, nu = robots * models * shape[0], *shape[1:]
        self.updater = _featherstorm.PlanUpdater(
            **options, samples=self.count, steps=K, n=nu, dtype=dtype,
            device=library.device, threads=threads, stream=library.stream,
        )  # fmt: skip
        self.memory = library.buffer(dtype, count, K * nu)
        self.knots: Array = (
            self.memory.view([K, nu])
            if library.readable
            else DeviceArray(self.memory, [K, nu], count, dtype, library.device, library.stream)
        )
        self.prepared: dict[Any, PreparedRollout] = {}  # rollouts of the samples
        self.costs = library.column(library.cost_dtype(dtype), count)

    def controls(self, weights: Array, lower: list[float], upper: list[float]) -> Array:
        """Return the controls (samples, T, nu) of the drawn knots on the CPU. weights (T, K)."""
        count, _, nu = self.shape
        T = len(weights)
        made = _featherstorm.knots("u", self.memory, nu, weights, count, lower, upper)
        out = np.empty((T, nu, count), self.knots.dtype).transpose(2, 0, 1)
        _featherstorm.draw(made, out)
        return out

    def take(self, costs: Array) -> None:
        """Store costs (robots models samples,) of the drawn samples. Errors: ValueError for another shape."""
        found = costs.shape if hasattr(costs, "shape") else np.shape(costs)
        if found != self.shape[:1]:
            raise shape_error(self.name, "costs of the rollout", found, self.shape[:1])
        self.library.fill(self.costs, costs, self.name, "costs")

    def iterate(
        self, plans: Sequence[_featherstorm.SampledPlan], simulate: PreparedRollout | Callable[[], Any]
    ) -> npt.NDArray[np.bool_]:
        """Improve the plans by the iterations of a call; True for those without a finite cost in one of them.

        simulate  a prepared rollout of the samples, or a function that returns their costs, or an object with `costs`
        """
        native: Any = None
        if isinstance(simulate, PreparedRollout):
            native, simulate = (simulate.native if self.library.readable else None), simulate.run

        def run() -> None:
            result = simulate()
            self.take(getattr(result, "costs", result))

        good = self.updater.iterate(plans, native or run, self.costs, self.memory, self.library.stream)
        return np.logical_not(good)

    def of_robots(self, x: Array, given: dict[str, Any]) -> tuple[Array, dict[str, Any]]:
        """Return states (robots, nx) and parameters of the robots with a row for each sample."""
        rows = self.models * self.count
        robots = self.shape[0] // rows
        for name in ("p", "warm"):
            value = given.get(name)
            if value is not None and not hasattr(value, "shape"):
                value = np.asarray(value, self.knots.dtype)
            if value is not None and len(value.shape) > 1:
                if value.shape[0] not in (1, robots):
                    raise shape_error(self.name, name, tuple(value.shape), (robots, f"n{name}"))
                if value.shape[0] == robots:
                    given = {**given, name: self.repeated(value, rows)}
        return self.repeated(x, rows), given

    def repeated(self, rows: Array, times: int) -> Array:
        """Return rows (R, ...) of the library, each `times` times in succession."""
        if self.library.readable:
            return np.repeat(rows, times, 0)
        R, *tail = rows.shape
        memory, view = self.library.output(dtype_name(rows), times * R, math.prod(tail))
        _featherstorm.copy(self.library.memory(rows, (R, math.prod(tail))), memory, self.library.stream, times)
        return view(tail)
