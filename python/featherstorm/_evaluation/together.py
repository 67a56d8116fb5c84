"""Runs of several robots at the same time, on threads that they share."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from .. import _featherstorm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Together:
    """Functions that are called together again and again, each with its own amount of work.

    The functions with the most work begin first. A thread without a function works on the blocks of the others.

    costs     work of each function: first an estimate in any unit, then its last time [s]
    threads   number of functions that run at the same time, at most; 1: one after the other, in their own order
    """

    def __init__(self, costs: Sequence[float], threads: int) -> None:
        self.costs, self.threads = list(costs), threads

    def __call__(self, functions: Sequence[Callable[[], Any]]) -> list[Any]:
        """Call all functions and return their results.

        After an error no other function begins. It is raised when those that have begun have ended.
        """
        if self.threads == 1 or len(functions) == 1:
            return [f() for f in functions]
        results: list[Any] = [None] * len(functions)
        times = list(self.costs)

        def timed(k: int) -> Callable[[], None]:
            def call() -> None:
                start = time.perf_counter()
                results[k] = functions[k]()
                times[k] = time.perf_counter() - start

            return call

        order = sorted(range(len(functions)), key=lambda k: -self.costs[k])
        _featherstorm.run_together([timed(k) for k in order], self.threads)
        self.costs = times
        return results
