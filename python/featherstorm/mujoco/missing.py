"""Fields of mjData that a batch does not have, and the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from mujoco.batch import DATA_FIELDS as MUJOCO_FIELDS

from .._fields.sensors import BY_LOOPS, adheres_by_loops, tendons_pull
from .._fields.table import DATA_FIELDS, INTEGERS, MODEL_FIELDS
from .errors import nearest

if TYPE_CHECKING:
    from .. import _featherstorm

# prefixes of names, and the reason
REASONS = (
    ("flex", "flexible bodies are not supported"),
    ("plugin", "plugins are not supported"),
    (("nJ", "nA"), "the engine has other matrices"),
    (
        ("nisland", "nidof", "tree_", "body_awake", "dof_awake", "parent_awake"),
        "the engine has no islands and no sleep",
    ),
    (("solver_nnz", "solver_fwdinv"), "the engine's solver is another one"),
    (("qLD", "qH", "qLU", "qDeriv", "qfrc_inverse"), "the engine keeps no factors and no inverse dynamics"),
    (("actuator_moment", "moment_"), "the engine keeps no moments of actuators; batch.jac has Jacobians"),
    (("wrap_", "ten_wrap"), "the engine keeps no paths of tendons"),
    ("qfrc_adhesion", "adhesion is not supported"),
    ("bvh_", "the engine has no bounding volumes"),
)


# fields that depend on the moments of actuators
OF_ACTUATORS = frozenset(
    "actuator_length actuator_velocity act_dot actuator_force qfrc_actuator qfrc_smooth qacc_smooth".split()
)
SCALARS = [name for name in INTEGERS if name != "solver_niter"]


def not_of_this_model(m: Any, name: str, robot: _featherstorm.Robot) -> str | None:
    """Return the reason why a supported field is not available for a model; None if it is."""
    if name in ("cfrc_ext", "cfrc_int") and tendons_pull(m):
        return f"{name} is not computed of models with spatial tendons: it needs their forces on bodies"
    if name in OF_ACTUATORS and adheres_by_loops(m, robot):
        return f"{name} is not computed of models with {BY_LOOPS}, which the step alone runs"
    return None


def why_not(m: Any, name: str) -> str:
    """Return the reason why `bind` refuses a name."""
    data = mujoco.MjData(m)
    if name in MUJOCO_FIELDS:
        for words, reason in REASONS:
            if name.startswith(words):
                return f"{name} is not computed: {reason}"
        return f"{name} is not computed"
    if name in MODEL_FIELDS:
        return f"{name} is an MjModel field: use expand({name!r})"
    value = getattr(data, name, None)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{name} is not one of the MjData scalars bind() accepts: {', '.join(sorted(SCALARS))}"
    if isinstance(value, np.ndarray):
        return f"{name} is in the arena, whose size changes from step to step, and cannot be bound"
    if "opt." + name in MODEL_FIELDS:
        return f"{name} is not an MjData array field; it is an MjOption field: use expand('opt.{name}')"
    return f"{name} is not an MjData array field{nearest(name, DATA_FIELDS)}"
