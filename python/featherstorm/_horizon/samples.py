"""The samples of a planner's iteration, on their device, and the next plan from them.

An iteration waits once, for the new plan (horizon, nu), which is on the CPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._memory.arrays import shape_error

if TYPE_CHECKING:
    from .._memory.library import Library
    from ..typing import Array


class Samples:
    """Samples U (samples, horizon, nu) of a dtype and their costs, on the device of `library`.

    name      for messages
    options   of the update: kind, temperature and elites (host/rollout/plan_updater.h)
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
    ) -> None:
        self.name, self.library, self.shape, self.dtype = name, library, shape, np.dtype(dtype)
        self.options = options
        self.updater = _featherstorm.PlanUpdater(
            **options, samples=shape[0], steps=shape[1], n=shape[2], dtype=dtype,
            device=library.device, threads=threads, stream=library.stream,
        )  # fmt: skip
        self.costs = library.column(library.cost_dtype(dtype), shape[0])

    def next_plan(self, costs: Array, U: Array) -> _featherstorm.NextPlan:
        """Return the next plan from the samples of an iteration. Raises ValueError for other shapes."""
        for what, x, shape in (("costs", costs, self.shape[:1]), ("controls", U, self.shape)):
            found = x.shape if hasattr(x, "shape") else np.shape(x)
            if found != shape:
                raise shape_error(self.name, f"{what} of the rollout", found, shape)
        self.library.fill(self.costs, costs, self.name, "costs")
        U, _ = self.library.array(U, self.name, "U", self.dtype)
        return self.updater.update(self.costs, self.library.memory(U, self.shape), self.library.stream)
