"""Linear algebra on one thread: matrices of some hundred rows, for which threads wait longer than they compute."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar, cast

from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def on_one_thread(function: F) -> F:
    """Return a function during whose calls NumPy's linear algebra has one thread."""

    @functools.wraps(function)
    def limited(*arguments: Any, **options: Any) -> Any:
        with threadpool_limits(1, "blas"):
            return function(*arguments, **options)

    return cast("F", limited)
