"""Delays and histories of controls and sensors: the values that steps and fields read, and the update of a step.

The ring buffers are the field `history` of the state; core/actuation/histories.h has the algorithms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._fields.kernels import Output
from .programs import first_bad_control

if TYPE_CHECKING:
    from .._fields.instance import Instance
    from .._fields.kernels import Kernel, Outputs
    from .engine import Engine

DELAYED, NEXT = "delayed_controls", "history_next"  # outputs of kernels


def of_sensors(m: Any) -> bool:
    """Return True if sensors have histories."""
    return bool((np.asarray(m.sensor_history)[:, 0] > 0).any())


def delayed_controls(engine: Engine) -> Kernel:
    """Return the kernel of the controls (nu) that act on actuators, from `history`, `time` and `ctrl` of a state."""

    def program(instance: Instance) -> Outputs:
        ctrl = instance.state("ctrl")
        given = instance.state("history"), ctrl, instance.state("time"), [instance.slack]
        found = instance.run("delayed_controls", *given)[0]
        values = np.where(first_bad_control(engine, ctrl) > len(ctrl) - 0.5, found, 0.0)
        return [(Output(DELAYED, DELAYED, np.arange(len(values))), values.tolist())]

    return engine.fields.recorded(DELAYED, program)


def next_history(engine: Engine) -> Kernel:
    """Return the kernel of the histories (nhistory) after a step from a state."""

    def program(instance: Instance) -> Outputs:
        found = instance.history()
        return [(Output(NEXT, NEXT, np.arange(len(found))), found.tolist())]

    return engine.fields.recorded(NEXT, program)
