"""Steps of a model file's world for batches, by MuJoCo's integrators and the file's own timestep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _featherstorm
from .._evaluation.evaluation import check_quaternions, tell_notices
from .._memory.arguments import Arguments
from .._robot.closures import Rigid, law_of
from .._robot.steps import pass_count, zeros
from .values import bound_values, check_bound, parameter_sizes

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._memory.host_libraries import Library
    from ..model import Model
    from ..typing import Array, ArrayLike

STATE = ("q", "v", "act", "qacc")


def solver(model: Model, dtype: str, law: Rigid | None = None) -> dict[str, Any]:
    """Return the numbers of the solver, and its law. The file's `iterations` bounds its iterations."""
    iterations, tolerance = _featherstorm.solver_options(model.evaluator, dtype)
    return {"iterations": iterations, "tolerance": tolerance, "rigid": law and law.of_engine()}


def state_sizes(model: Model) -> dict[str, int]:
    """Return the sizes of the arrays that a step advances."""
    return {"q": model.nq, "v": model.nv, "act": model.n_act, "qacc": model.nv}


def refuse_law(label: str, law: object) -> None:
    """Raise ValueError for a law given with a model without a world, or with contacts declared by hand."""
    if law_of(law, label) is not None:
        raise ValueError(f"{label}: law is {law!r}, which the worlds of model files alone have")


class Passes:
    """`count` substeps of the file's timestep under the same controls: kernels for one dtype.

    law   None for MuJoCo's
    """

    def __init__(self, model: Model, dtype: str, count: int, law: Rigid | None = None) -> None:
        self.model = model
        if "opt_timestep" in model.parameters:
            raise ValueError(
                f"{model.name}: opt_timestep is a parameter of the model, but all instances share their time here, "
                "expected featherstorm.mujoco.Batch, where each has its own"
            )
        self.sent: dict[tuple[Any, ...], Any] = {}  # parameters on devices
        self.sequence = _featherstorm.environment_sequence(
            model.evaluator, dtype, "world", count, [], [], [], **solver(model, dtype, law)
        )

    def run(self, instances: int, given: dict[str, Any], written: dict[str, Any], stream: int = 0) -> None:
        """Run the substeps.

        given    arrays (instances, n) or rows of q, v, act, qacc, ctrl, qfrc_applied and the model's parameters, by name
        written  memory of the results, by name
        All arrays are on one device, where the work is put on `stream`.
        """
        model = self.model
        sizes = {**state_sizes(model), "ctrl": model.n_ctrl, "qfrc_applied": model.nv, **parameter_sizes(model)}
        inputs = [(name, x, 0, sizes[name], False) for name, x in given.items() if sizes[name]]
        outputs = [(name, x, 0, sizes[name], False) for name, x in written.items() if sizes[name]]
        self.sequence.run(1, instances, inputs, {}, outputs, stream=stream)
        tell_notices(model)


def passes(model: Model, dtype: str, count: int, law: Rigid | None = None) -> Passes:
    """Return Passes, kept with the model."""
    kept = model.__dict__.setdefault("_passes", {})
    key = (dtype, count, law)
    if key not in kept:
        kept[key] = Passes(model, dtype, count, law)
    found: Passes = kept[key]
    return found


def world_step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    dt: float | None,
    ctrl: ArrayLike | None,
    act: ArrayLike | None,
    qacc: ArrayLike | None,
    tau: ArrayLike | None,
    substeps: int | None,
    check: bool,
    law: object = "mujoco",
) -> tuple[Array, Array, Array, Array]:
    """Return q, v, act and qacc after a step of a model file's world; see operations.step."""
    _, count = pass_count("step", model, "world", dt, substeps)
    check_bound(model, "step")
    sizes = state_sizes(model)
    given = {"q": q, "v": v, "act": act, "qacc": qacc, "ctrl": ctrl, "tau": tau}
    sizes.update(ctrl=model.n_ctrl, tau=model.nv)
    values = [zeros(sizes[name]) if x is None else x for name, x in given.items()]
    call = Arguments("step", values, list(sizes.items()))
    if check and model.quaternions and call.library.readable:
        check_quaternions(model, "step", "q", call.arrays[0])
    memory = dict(zip(("q", "v", "act", "qacc", "ctrl", "qfrc_applied"), call.arrays))
    outputs = {name: call.output(call.instances, sizes[name]) for name in STATE}
    written = {name: array for name, (array, _) in outputs.items()}
    steps = passes(model, call.dtype.name, count, law=law_of(law, "step"))
    memory.update(bound_values(model, call, call.instances, steps.sent))
    steps.run(call.instances, memory, written, call.library.stream)
    q, v, act, qacc = (call.result(view([sizes[name]])) for name, (_, view) in outputs.items())
    return q, v, act, qacc


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
