"""Results of a rollout, on the host and on devices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._memory.arguments import Call
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
