"""Steps in time: which operation moves a model on, its numbers, and what `dt`, `substeps` and `ignore` mean in every call.

    dt        time that a call moves on [s]
    substeps  equal passes that share dt
    ignore    what of "contacts", "loops", "couplings" a call shall not know of, though the model carries it

A model with contacts is moved on by contact_step, with loops by loop_step, with couplings by coupled_step, else by step.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .. import _featherstorm

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ..typing import Array, Names


class Carrier(Protocol):
    """What steps ask of a model."""

    name: str
    nc: int
    nl: int
    nu: int
    nv: int
    u_names: tuple[str, ...]
    v_names: tuple[str, ...]


# what a model can carry beside its tree -> how many, which operation moves it on
CARRIED = {"contacts": ("nc", "contact_step"), "loops": ("nl", "loop_step"), "couplings": ("nu", "coupled_step")}


@functools.lru_cache(256)
def step_defaults(op: str, dt: float) -> dict[str, float | None]:
    """The numbers of an operation that steps, for substeps of the time dt, where they are not given; None: they must be."""
    return {name: None if np.isnan(x) else x for name, x in _featherstorm.step_defaults(op, dt)}


STEP_DEFAULTS = step_defaults("step", 1.0)


def substep_time(label: str, dt: float, substeps: int) -> float:
    """The time of one of the substeps that share dt. Raises ValueError for a dt or substeps that are not positive."""
    if not dt > 0 or not np.isfinite(dt):
        raise ValueError(f"{label}: dt is {dt}, expected a positive number of seconds")
    if int(substeps) != substeps or substeps < 1:
        raise ValueError(f"{label}: substeps is {substeps}, expected 1 or more")
    return dt / int(substeps)


def carried(model: Carrier, label: str, ignore: Names = ()) -> tuple[str, ...]:
    """What the model carries and the call does not ignore, as a tuple of names of CARRIED."""
    ignore = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    unknown = [name for name in ignore if name not in CARRIED]
    if unknown:
        raise ValueError(f"{label}: ignore has {unknown[0]!r}, expected some of {', '.join(CARRIED)}")
    return tuple(name for name, (count, _) in CARRIED.items() if getattr(model, count) and name not in ignore)


def step_op(model: Carrier, label: str, ignore: Names = ()) -> str:
    """The operation that moves the model on. Raises ValueError where none takes all that it carries."""
    names = carried(model, label, ignore)
    if len(names) > 1:
        raise ValueError(
            f"{label}: {model.name} carries {' and '.join(names)}, which no operation steps together; "
            f"ignore={names[:-1]!r} leaves {names[-1]} alone"
        )
    return CARRIED[names[0]][1] if names else "step"


def step_numbers(op: str, given: Mapping[str, Any], dt: float) -> dict[str, Any]:
    """The uniforms of an operation that steps, for substeps of the time dt."""
    defaults = step_defaults(op, float(dt))
    unknown = set(given) - set(defaults)
    if unknown:
        raise TypeError(f"{op}: unknown number {', '.join(sorted(unknown))}; there are {', '.join(defaults)}")
    numbers = {**defaults, **{name: x for name, x in given.items() if x is not None}, "dt": dt}
    missing = [name for name, x in numbers.items() if x is None]
    if missing:
        raise TypeError(f"{op}: {', '.join(missing)} must be given")
    return numbers


# operations on the tree that leave loops open and coupled joints free -> what takes loops, couplings; None: nothing does
TREE_ALONE: dict[str, tuple[str | None, str | None]] = {
    **dict.fromkeys(("fd", "aba", "aba_f_ext", "fd_timed"), ("fd_loops", "fd_coupled")),
    **dict.fromkeys(("rnea", "rnea_f_ext", "rnea_timed"), ("id_loops", "coupled_id")),
    **dict.fromkeys(
        ("fd_derivatives", "fd_linearization", "fd_timed_derivatives"), ("vjp of fd_loops", "vjp of fd_coupled")
    ),
    **dict.fromkeys(("rnea_derivatives", "rnea_timed_derivatives"), ("vjp of id_loops", "vjp of coupled_id")),
    **dict.fromkeys(("fd_second_derivatives", "fd_parameter_derivatives", "hybrid_derivatives"), (None, None)),
    "hybrid_dynamics": ("hybrid_loops", None),
    **dict.fromkeys(("rk4_step", "rk4_step_timed", "dormand_prince"), ("loop_step", "coupled_step")),
}
CONTACTLESS = ("rk4_step", "rk4_step_timed", "dormand_prince")  # move on in time as if nothing touched


def check_tree(model: Carrier, op: str, ignore: Names = (), label: str | None = None) -> None:
    """Raises ValueError where the operation would leave out what the model carries and the call does not ignore."""
    names = carried(model, label or op, ignore)
    if op not in TREE_ALONE:
        return
    for name, instead in zip(("loops", "couplings", "contacts"), (*TREE_ALONE[op], "contact_step")):
        if name in names and (name != "contacts" or op in CONTACTLESS):
            call = f"call {instead}, or " if instead else ""
            raise ValueError(
                f"{label or op}: {model.name} carries {name}, which {label or op} does not take: "
                f"{call}say ignore={names!r} for the tree alone"
            )


def zeros(n: int) -> list[float]:
    """What stands for an array of n numbers that is not given, in any place."""
    return [0.0] * n


def drives(model: Carrier, tau: Array, q_target: Array) -> list[Array]:
    """The torques and targets of a step."""
    return [zeros(model.nv) if x is None else x for x in (tau, q_target)]


def independent(model: Carrier) -> npt.NDArray[np.intp]:
    """The columns of v that are u, the velocities of `model.u_names`."""
    return np.array([model.v_names.index(name) for name in model.u_names])
