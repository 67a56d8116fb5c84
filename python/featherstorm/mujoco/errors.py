"""Errors of a batch: of single simulations, and of arguments."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from .._fields.errors import UsageError as UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt


class SimulationError(RuntimeError):
    """Some simulations of a call could not be computed.

    They keep the state from before the call; the others advanced. `ids` has their numbers, `batch.error(i)` the reason
    for each.
    """

    def __init__(self, ids: npt.NDArray[Any], message: str, ncall: int | None = None) -> None:
        self.ids, self._arguments = ids, (ids, message, ncall)
        some = ", ".join(str(i) for i in ids[:5]) + (", ..." if len(ids) > 5 else "")
        of = "" if ncall is None else f" of {ncall}"
        super().__init__(f"{len(ids)}{of} simulations ({some}); simulation {ids[0]}: {message}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickle: the error of a worker is raised in the process that waits for it."""
        return type(self), self._arguments


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a hint at similar names, "" if there are none."""
    near = difflib.get_close_matches(name, list(names), 3)
    return f" (did you mean {', '.join(map(repr, near))}?)" if near else ""
