"""Delays and histories of controls and sensors: the values that steps and fields read, and the update of a step.

The ring buffers are the field `history` of the state; core/actuation/histories.h has the algorithms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .fields.kernels import Output

if TYPE_CHECKING:
    import numpy.typing as npt

    from .fields.instance import Instance
    from .fields.kernels import Outputs

    Array = npt.NDArray[Any]

DELAYED, NEXT = "delayed_controls", "history_next"  # outputs of kernels


class Histories:
    """The histories of an Engine whose model has some."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        m = engine.m
        self.delays_controls = bool(np.any(m.actuator_delay))
        if self.delays_controls and engine.runs_rk4:
            raise ValueError("actuators with a delay are not supported under the integrator RK4")
        self.of_sensors = bool((np.asarray(m.sensor_history)[:, 0] > 0).any())

    def controls(self, state: Array, ctrl: Array) -> Array:
        """Return the controls (n, nu) that act on the actuators at states; ctrl: the given controls."""
        if not self.delays_controls or not len(state):
            return ctrl
        columns, fields = self.engine.layout.columns, {DELAYED: np.empty_like(ctrl, order="C")}
        arrays = {name: state[:, columns[name]] for name in ("history", "time")}
        self.engine.fields.recorded(DELAYED, delayed).run({**arrays, "ctrl": ctrl}, fields, len(state))
        return fields[DELAYED]

    def next(self, state: Array, values: dict[str, Array]) -> Array:
        """Return the histories (n, nhistory) after a step from states."""
        engine, columns = self.engine, self.engine.layout.columns
        arrays = engine.given(state, values)
        arrays["raw_ctrl"] = state[:, columns["ctrl"]]
        kernel = engine.fields.recorded(NEXT, moved_on)
        if self.of_sensors and (sizes := engine.fields.solved((NEXT,))):
            arrays.update(engine.solve(state, values, sizes))
        fields = {NEXT: np.empty((len(state), engine.layout.width("history")), engine.dtype)}
        kernel.run(arrays, fields, len(state))
        return fields[NEXT]


def delayed(instance: Instance) -> Outputs:
    """The algorithm of `controls`."""
    found = instance.run("delayed_controls", *map(instance.state, ("history", "ctrl", "time")), [instance.slack])[0]
    return [(Output(DELAYED, DELAYED, np.arange(len(found))), found.tolist())]


def moved_on(instance: Instance) -> Outputs:
    """The algorithm of `next`."""
    found = instance.history()
    return [(Output(NEXT, NEXT, np.arange(len(found))), found.tolist())]
