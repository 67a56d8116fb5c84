"""Checks of arguments, with the caller's name in their messages, and linear algebra on one thread."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from threadpoolctl import threadpool_limits

from .._names import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ..model import Model
    from ..typing import Doubles as Floats

F = TypeVar("F", bound="Callable[..., Any]")


def on_one_thread(function: F) -> F:
    """Return a function during whose calls NumPy's linear algebra has one thread."""

    @functools.wraps(function)
    def limited(*arguments: Any, **options: Any) -> Any:
        with threadpool_limits(1, "blas"):
            return function(*arguments, **options)

    return cast("F", limited)


def positive(label: str, values: npt.ArrayLike, n: int, *, infinite: bool = False) -> Floats:
    """Return a number or (n,) numbers as (n,). Errors: ValueError for shapes and entries that are not positive."""
    x = np.asarray(values, float)
    if x.shape not in ((), (1,), (n,)):
        raise ValueError(f"{label} has shape {x.shape}, expected a number or ({n},)")
    expected = "positive numbers or infinity" if infinite else "positive finite numbers"
    expect((x > 0).all() and (infinite or np.isfinite(x).all()), label, values, expected)
    return np.broadcast_to(x, (n,))


def rows_of(caller: str, model: Model, *arrays: npt.ArrayLike) -> list[Floats]:
    """Return q, v, a and tau, as many as are given, in double.

    Errors: ValueError for shapes and rows that are not finite.
    """
    found = [np.asarray(x, float) for x in arrays]
    B = len(found[0]) if found[0].ndim == 2 else "B"
    for name, x, n in zip(("q", "v", "a", "tau"), found, (model.nq, model.nv, model.nv, model.nv)):
        if x.shape != (B, n):
            raise ValueError(f"{caller}: {name} has shape {x.shape}, expected ({B}, {n})")
    finite(f"{caller}:", np.concatenate(found, axis=1))
    return found


def finite(label: str, x: Floats) -> None:
    """Raise ValueError where rows (B, ...) are not finite."""
    bad = ~np.isfinite(x).all(axis=tuple(range(1, x.ndim)))
    if bad.any():
        first = np.flatnonzero(bad)[0]
        raise ValueError(f"{label} {bad.sum()} of {len(x)} rows are not finite, first row {first}; leave them out")
