"""Results of a rollout, and a rollout that may be repeated with other control sequences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._evaluation.evaluation import check_quaternions, tell_notices
from .._memory.arrays import shape_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from .. import _featherstorm
    from .._memory.arguments import Call
    from ..model import Model
    from ..typing import Array


class RolloutResult(NamedTuple):
    """Results of a rollout; None for results that were not requested.

    costs         (B,) sums over the horizon, infinite where they or the last state are not finite
    final         (B, nx) the last state: q, v, with a world act
    states        (B, T, nx) after each step
    observations  (B, T, n)
    controls      (B, T, nu) the controls U that were used
    """

    costs: Array
    final: Array
    states: Array
    observations: Array
    controls: Array = None


class Results:
    """The results of a rollout of B instances, on the device of its call, or in the memory of `out`.

    outputs   arrays the engine writes: (array of the sequence, memory, first column, columns, True for one row each
              step)
    """

    def __init__(self, call: Call, B: int, out: RolloutResult | None) -> None:
        self.call, self.B, self.out = call, B, out
        self.outputs: list[tuple[str, Any, int, int, bool]] = []
        self.views: dict[str, tuple[Callable[[Sequence[int]], Array], list[int]]] = {}

    def add(self, name: str, tail: list[int], *columns: tuple[str, int, int]) -> None:
        """Add a result (B, *tail), composed of (array, first column, columns)."""
        call, given = self.call, getattr(self.out, name, None)
        if given is None:
            memory, view = call.output(self.B, math.prod(tail))
        else:
            array = call.library.written(given, f"rollout: out.{name}", call.dtype, (self.B, *tail))
            memory, view = array if tail else array[:, None], lambda _: array
        self.outputs += [(written, memory, first, n, len(tail) > 1) for written, first, n in columns]
        self.views[name] = view, tail

    def all(self) -> RolloutResult:
        """Return the results in the form that the user receives; results that were not added are None."""
        result, views = self.call.library.result, self.views
        found = {name: result(view(tail)) for name, (view, tail) in views.items()}
        return RolloutResult(*(found.get(name) for name in RolloutResult._fields))


@dataclass
class PreparedRollout:
    """A rollout whose arrays are open. Each run writes into the memory of the same result.

    state     x0, as the rollout reads it
    times     of the beginnings of the steps and of the end, from the first one [s]
    controls  U, as the rollout reads it; None: drawn
    p         with a row for each instance, as the rollout reads it; None: the same for all
    """

    model: Model
    native: _featherstorm.PreparedRun
    results: Results
    stream: int
    state: Array
    times: npt.NDArray[np.float64]
    controls: Array | None
    p: Array | None

    def begin(self, x0: Array, t0: float, p: Array | None, controls: Array | None = None) -> None:
        """Set what differs in the next run: on the CPU, of the same shapes."""
        if self.model.quaternions:
            check_quaternions(self.model, "rollout", "x0", x0.reshape(-1, x0.shape[-1]))
        np.copyto(self.state, x0)
        times = self.times + t0
        self.native.set("t", times[:-1])
        self.native.set("t_next", times[1:])
        if self.controls is not None and controls is not None:
            np.copyto(self.controls, controls)
        if self.p is not None and p is not None:
            np.copyto(self.p, p)
        elif p is not None:
            self.native.set("p", np.asarray(p, self.state.dtype).astype(float))

    def run(self) -> RolloutResult:
        self.native.run(self.stream)
        tell_notices(self.model)
        return self.results.all()


def warm_start(op: str, model: Model, call: Call, warm: Array, B: int) -> tuple[str, Any, int, int, bool]:
    """Return the array of the sequence from which the solver begins."""
    kinds = {"world": ("qacc", model.nv), "contact_step": ("impulse", 3 * model.nc)}
    if op not in kinds:
        raise ValueError(f"rollout: warm is for contacts, and {model.name} has none")
    name, n = kinds[op]
    array = call.array(warm, "warm")
    shape = tuple(array.shape)
    if shape not in ((n,), (1, n), (B, n)):
        raise shape_error("rollout", "warm", shape, (B, n))
    return name, call.library.memory(array, (1, n) if len(shape) == 1 else shape), 0, n, False
