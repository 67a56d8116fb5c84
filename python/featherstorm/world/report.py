"""What touches at states of a model file's world, and how well the forces there are solved."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _featherstorm
from ..model import Notice
from ..table.evaluation import run
from .passes import solver, state_sizes
from .values import parameter_sizes

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..memory.library import Library
    from ..model import Model
    from ..robot.law import Rigid


class WorldReport(NamedTuple):
    """contacts    (B,) how many contacts have forces, or could have: nearer than their margin
    iterations  (B,) steps of Newton's method, of the rigid law direct solutions and sweeps
    residual    (B,) of MuJoCo's law what is left of the forces beside the greatest, of the rigid one the largest error of a velocity [m/s]
    gap         (B,) the least distance of contacts [m], below zero where they are deep; 1e10 where none is near
    With Runge-Kutta's method the last three are of its last stage.
    """

    contacts: npt.NDArray[np.int64]
    iterations: npt.NDArray[np.int64]
    residual: npt.NDArray[Any]
    gap: npt.NDArray[Any]


def find_contacts(model: Model, q: npt.NDArray[Any]) -> tuple[Any, ...]:
    """What the row `contacts` finds at positions (n, nq)."""
    with warnings.catch_warnings():
        # that the row has no kernel of its own is no concern of who asks what touches
        warnings.simplefilter("ignore", Notice)
        return tuple(run(model, "contacts", q, check=False))


def touching(model: Model, q: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """How many contacts are nearer than their margin at positions (n, nq)."""
    pairs = model.robot.contact_pairs
    if not pairs or not len(q):
        return np.zeros(len(q), np.int64)
    margin = np.repeat([p["includemargin"] for p in pairs], [p["slots"] for p in pairs])
    distance = np.asarray(find_contacts(model, q)[0])
    found: npt.NDArray[np.int64] = (distance.reshape(len(q), -1) < margin).sum(axis=1)
    return found


class Reporter:
    def __init__(self, model: Model, dtype: str, law: Rigid | None) -> None:
        self.model, self.dtype = model, dtype
        self.sequence = _featherstorm.world_sequence(
            model.evaluator, dtype, **solver(model, dtype, law), report=True, forces=False
        )

    def of(
        self, q: npt.NDArray[Any], given: dict[str, Any], library: Library, bound: dict[str, Any] | None = None
    ) -> WorldReport:
        """q (instances, nq) on the CPU; given: memory of q, v, act, qacc, ctrl, qfrc_applied and parameters (instances or 1, n) by
        name, in the library's place; bound: the parameters' numbers on the CPU, where they are not the model's."""
        model, instances = self.model, len(q)
        sizes = {**state_sizes(model), "ctrl": model.n_ctrl, "qfrc_applied": model.nv, **parameter_sizes(model)}
        found = {name: library.output(self.dtype, instances, 1) for name in ("passes", "residual", "gap")}
        if instances:
            inputs = [(name, x, 0, sizes[name], False) for name, x in given.items() if sizes[name]]
            outputs = [(name, x, 0, 1, False) for name, (x, _) in found.items()]
            self.sequence.run(1, instances, inputs, {}, outputs, stream=library.stream)
        steps, residual, gap = (np.asarray(view([1]))[:, 0] for _, view in found.values())
        return WorldReport(touching(model.bind(**bound) if bound else model, q), steps.astype(np.int64), residual, gap)
