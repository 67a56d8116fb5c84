"""Contacts at states of a model file's world, and the accuracy of their forces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _featherstorm
from .passes import solver, state_sizes
from .values import parameter_sizes

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._memory.library import Library
    from .._robot.law import Rigid
    from ..model import Model

# counts of contacts (host/simulation/contact_readings.h), and the index of the count of contacts with rows
COUNT, COUNTS, WITH_ROWS = "contact_count", 4, 2


class WorldReport(NamedTuple):
    """Contacts of a state and the accuracy of their forces.

    contacts    (B,) number of contacts that have forces, or could have: nearer than their margin
    iterations  (B,) iterations of Newton's method; with the rigid law direct solutions and sweeps
    residual    (B,) with MuJoCo's law the residual of the forces over the largest one, with the rigid law the largest
                error of a velocity [m/s]
    gap         (B,) the least distance of contacts [m], below zero for penetrations; 1e10 where no contact is near
    With Runge-Kutta's method all belong to its last stage.
    """

    contacts: npt.NDArray[np.int64]
    iterations: npt.NDArray[np.int64]
    residual: npt.NDArray[Any]
    gap: npt.NDArray[Any]


class Reporter:
    def __init__(self, model: Model, dtype: str, law: Rigid | None) -> None:
        self.model, self.dtype = model, dtype
        self.sequence = _featherstorm.world_sequence(
            model.evaluator, dtype, **solver(model, dtype, law), report=True, forces=False, readings=[COUNT]
        )

    def of(self, instances: int, given: dict[str, Any], library: Library) -> WorldReport:
        """Report on a batch.

        given: memory of q, v, act, qacc, ctrl, qfrc_applied and parameters (instances or 1, n) by name, on the
        library's device.
        """
        model = self.model
        sizes = {**state_sizes(model), "ctrl": model.n_ctrl, "qfrc_applied": model.nv, **parameter_sizes(model)}
        widths = {"passes": 1, "residual": 1, "gap": 1, COUNT: COUNTS}
        found = {name: library.output(self.dtype, instances, n) for name, n in widths.items()}
        if instances:
            inputs = [(name, x, 0, sizes[name], False) for name, x in given.items() if sizes[name]]
            outputs = [(name, x, 0, widths[name], False) for name, (x, _) in found.items()]
            self.sequence.run(1, instances, inputs, {}, outputs, stream=library.stream)
        steps, residual, gap, counts = (np.asarray(view([widths[name]])) for name, (_, view) in found.items())
        return WorldReport(
            counts[:, WITH_ROWS].astype(np.int64), steps[:, 0].astype(np.int64), residual[:, 0], gap[:, 0]
        )
