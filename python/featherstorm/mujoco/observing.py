"""Fields of states: the inputs of their kernels, after a step and at a given state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .engine import normalise
from .fields.contacts import is_reading
from .fields.kernels import SOLVED
from .fields.table import ACC, POS, VEL, parts_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from .advance import Last
    from .engine import Engine, Values
    from .fields.kernels import FieldKernels

    Array = npt.NDArray[Any]

ALL = (POS, VEL, ACC)
OF_THE_FIRST = ("sensordata", "cacc")


def observe(
    engine: Engine, state: Array, values: Values, fields: dict[str, Array], stages: tuple[int, ...] = ALL
) -> None:
    """Update fields (n, size) by name, those of some stages, at states as mj_forward does."""
    parts = parts_of(list(fields), stages)
    if not engine.fields.kernels(parts) and not measures_apart(engine, parts):
        return
    arrays = engine.given(state, values)
    if sizes := solved_at(engine.fields, parts, stages):
        arrays.update(engine.solve(state, values, sizes))
    compute(engine, parts, arrays, fields, len(state))


def solved_at(fields: FieldKernels, parts: tuple[str, ...], stages: tuple[int, ...]) -> dict[str, int]:
    """Return the sizes of the solver's arrays that fields need at some stages; before accelerations contacts alone."""
    sizes = fields.solved(parts)
    return sizes if ACC in stages else {name: size for name, size in sizes.items() if is_reading(name)}


def watched(engine: Engine, fields: dict[str, Array]) -> dict[str, int] | None:
    """Return the sizes of the solver's results that a step must return for its fields; None without fields."""
    return engine.fields.solved(parts_of(list(fields), ALL)) if fields else None


def observe_step(engine: Engine, state: Array, values: Values, last: Last, fields: dict[str, Array]) -> None:
    """Update fields with the quantities of a step.

    With Runge-Kutta's method MuJoCo's sensors belong to the first evaluation of the equations, qacc is the mean of all,
    and the rest belongs to the last.
    """
    before = state.copy()
    before[:, : engine.moved] = last.moved
    if engine.runs_rk4 and (first := {name: x for name, x in fields.items() if name in OF_THE_FIRST}):
        observe(engine, before, values, first)
        fields = {name: x for name, x in fields.items() if name not in first}
    parts = parts_of(list(fields), ALL)
    if not engine.fields.kernels(parts) and not measures_apart(engine, parts):
        return
    arrays = engine.given(before, values)
    arrays["qacc"] = np.array(state[:, engine.layout.columns["qacc_warmstart"]])
    arrays.update({name: x for name, x in last.found.items() if name in SOLVED})
    if engine.runs_rk4:
        if "mass" in last.found:
            arrays["qfrc_constraint"] = constraint_forces(engine, last.found["mass"], last.found["b"], arrays["qacc"])
        qvel = engine.layout.columns["qvel"]
        h = np.asarray(engine.step_length(values), engine.dtype).reshape(-1, 1)
        arrays["qacc"] = (state[:, qvel] - before[:, qvel]) / h
        arrays.update({name: last.found[name] for name in ("qvel", "act")})
        arrays["qpos"] = last.found["qpos"].copy()
        for c in engine.quaternions:
            normalise(arrays["qpos"][:, c : c + 4])
    compute(engine, parts, arrays, fields, len(state))


def compute(
    engine: Engine, parts: tuple[str, ...], arrays: dict[str, Array], fields: dict[str, Array], instances: int
) -> None:
    """Run the kernels of fields on given arrays."""
    for kernel in engine.fields.kernels(parts):
        kernel.run(arrays, fields, instances)
    if measures_apart(engine, parts):
        poses = lambda names: engine.poses(arrays, names, instances)  # noqa: E731
        for sensors in engine.apart:
            sensors.measure(poses, fields["sensordata"], arrays.get("geom_size"))


def measures_apart(engine: Engine, parts: tuple[str, ...]) -> bool:
    """Return whether requested sensors are range finders, or measure distances that loops find."""
    return bool(engine.apart) and f"sensordata {POS}" in parts


def constraint_forces(engine: Engine, mass: Array, b: Array, a: Array) -> Array:
    """Return M a - b with packed inertia matrices (n, nh)."""
    start, column = engine.model.row_start, engine.model.column
    forces = -b
    for i in range(engine.m.nv):
        for k in range(start[i], start[i + 1]):
            j = column[k]
            forces[:, i] += mass[:, k] * a[:, j]
            if j != i:
                forces[:, j] += mass[:, k] * a[:, i]
    return forces
