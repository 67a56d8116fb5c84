"""Variants: compiled MuJoCo models of one topology as one Model, whose instances have the numbers of these models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _fields
from .._optional import mujoco
from .._robot.mjcf import Names as ElementNames, robot_from_mujoco, tables, tree_from_mujoco
from ..model import Model
from .values import clear_same_frames

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

SAME_FRAME = ("body_sameframe", "geom_sameframe", "site_sameframe")
# the layout of MuJoCo's sparse inertia matrix, which steps do not use
LAYOUT = ("M_colind", "M_rownnz")


def variants(
    models: Iterable[Any], name: str, threads: int, isa: str, assemble: bool, parameters: tuple[str, ...]
) -> Model:
    """Return one Model of MuJoCo models that differ in numbers alone; see from_mujoco."""
    compiled = [compiled_of(x, k) for k, x in enumerate(models)]
    if not compiled:
        raise ValueError("from_mujoco: there are no models, expected 1 or more")
    first = compiled[0]
    for k, m in enumerate(compiled[1:], 1):
        check_elements(first, m, k)
    base = with_elements_of_all(compiled)
    found = differing(compiled, read_by_steps(base, name))
    names = tuple(dict.fromkeys((*map(array_name, found), *parameters)))
    clear_same_frames(base, names)
    robot, file = robot_from_mujoco(base, name)
    model = Model(robot, threads, isa, assemble, names, file=file)
    if not model.has_world:
        raise ValueError(f"from_mujoco: {file.no_world}")
    return model.bind(**{array_name(table): values for table, values in found.items()})


def array_name(table: str) -> str:
    """Return the name of a table's parameter."""
    return table.replace("opt.", "opt_")


def compiled_of(given: Any, k: int) -> Any:
    m = given.compile() if isinstance(given, mujoco.MjSpec) else given
    if not isinstance(m, mujoco.MjModel):
        raise TypeError(f"from_mujoco: models[{k}] is a {type(m).__name__}, expected mujoco.MjModel or mujoco.MjSpec")
    return m


def field(m: Any, table: str) -> npt.NDArray[Any]:
    """Return a table of a compiled model, "opt.NAME" for options."""
    return np.atleast_1d(getattr(m.opt, table[4:]) if table.startswith("opt.") else getattr(m, table))


def check_elements(first: Any, m: Any, k: int) -> None:
    """Raise ValueError where a model has other numbers of elements than the first one."""
    for size in (
        "nq",
        "nv",
        "nu",
        "na",
        "nbody",
        "njnt",
        "ngeom",
        "nsite",
        "neq",
        "ntendon",
        "nsensor",
        "npair",
        "nmocap",
    ):
        if getattr(m, size) != getattr(first, size):
            raise ValueError(
                f"from_mujoco: models[{k}] has {size} {getattr(m, size)}, models[0] has {getattr(first, size)}; models "
                "with other elements are groups of a Fleet"
            )


def with_elements_of_all(compiled: list[Any]) -> Any:
    """Return the first model, with an element, such as dry friction, wherever one of the models has it."""
    base = compiled[0].__copy__()
    for table, decides in _fields.inputs.TABLES.items():
        if decides and field(base, table).size:
            own, values = field(base, table), np.stack([field(m, table) for m in compiled])
            most = np.take_along_axis(values, np.abs(values).argmax(0)[None], 0)[0]
            put(base, table, np.where(own == 0, most, own))
    return base


def put(m: Any, table: str, values: npt.NDArray[Any]) -> None:
    """Write a table of a compiled model."""
    if table.startswith("opt."):
        setattr(m.opt, table[4:], values.item())
    else:
        getattr(m, table)[...] = values


def read_by_steps(m: Any, name: str) -> set[str]:
    """Return the tables that the world of a model is read from."""
    names, read = ElementNames(m), []  # type: ignore[var-annotated]
    tree_from_mujoco(m, name).with_world(tables(m), names.body, names.joint, read=read)
    return set(read)


def differing(compiled: list[Any], read: set[str]) -> dict[str, npt.NDArray[Any]]:
    """Return the tables in which models differ: name -> numbers (B, ...)."""
    first, found = compiled[0], {}
    for table in sorted(_fields.table.MODEL_FIELDS | read):
        if table in (*SAME_FRAME, *LAYOUT) or not (table in read or _fields.inputs.is_read_here(first, table)):
            continue
        own = field(first, table)
        others = [field(m, table) for m in compiled]
        k = next((k for k, x in enumerate(others) if not np.array_equal(x, own, equal_nan=own.dtype.kind == "f")), 0)
        if k == 0:
            continue
        if table not in _fields.inputs.TABLES or not _fields.inputs.is_input(first, table):
            raise ValueError(
                f"from_mujoco: models[{k}] differs from models[0] in {table}, which is no input of steps; make a model of "
                "each kind, and a Fleet of these"
            )
        found[table] = np.stack(others)
    if any(not np.array_equal(getattr(m, table), getattr(first, table)) for table in SAME_FRAME for m in compiled):
        kinds = [table.partition("_")[0] for table in SAME_FRAME]
        for frame in ("body_ipos", "body_iquat", *(f"{kind}_{x}" for kind in kinds[1:] for x in ("pos", "quat"))):
            if len(field(first, frame)):
                found.setdefault(frame, np.stack([field(m, frame) for m in compiled]))
    return found
