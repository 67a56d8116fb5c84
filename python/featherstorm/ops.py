"""Every operation of the table as a function: `ops.rnea(model, q, v, a)`. `dir(ops)` lists them.

The common ones, and all former names, are in the package as well: `fs.rnea`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._evaluation.evaluation import function_of
from ._featherstorm import operation_table
from ._stepping.contact_steps import contact_step, coupled_step, dormand_prince, loop_step, soft_contact_step
from .operations import (
    aba,
    bias,
    crba,
    difference,
    energy,
    fd,
    forward_kinematics,
    frame_velocity,
    integrate,
    jacobian,
    ltdl,
    momentum,
    rnea,
    solve,
    step,
)

if TYPE_CHECKING:
    from ._table import *  # noqa: F403  # what __getattr__ makes

__all__ = [
    "aba", "bias", "contact_step", "coupled_step", "crba", "difference", "dormand_prince", "energy", "fd",
    "forward_kinematics", "frame_velocity", "integrate", "jacobian", "loop_step", "ltdl", "momentum", "rnea",
    "soft_contact_step", "solve", "step",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Return an operation without a function of its own, with the signature and shapes of the table."""
    table = operation_table()
    if name not in table:
        raise AttributeError(f"featherstorm has no operation '{name}'")
    globals()[name] = function_of(name, table[name])
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*__all__, *operation_table()})
