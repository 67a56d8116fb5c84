"""Elements of a model file by name, and its tables that differ between instances (Model.bind).

Parameters by MuJoCo's names, "opt_" before options.

Variants are compiled models of one topology as one Model, whose instances have the numbers of these models.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm, _fields
from .._names import hint
from .._optional import mujoco
from .._robot.mjcf import Names as ElementNames, robot_from_mujoco, tables, tree_from_mujoco
from .._robot.model_files import expect_indices
from ..model import Model

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from .._memory.arguments import Call
    from ..typing import Pairs


def compiled(model: Model) -> Any:
    """Return the MjModel behind a model. Errors: ValueError where there is none."""
    if model.compiled is None:
        raise ValueError(f"{model.name} was not made of a model file, whose names this asks for")
    return model.compiled


def number_of(model: Model, kind: str, name: str | int, others: tuple[str, ...] = ()) -> tuple[str, int]:
    """Return (kind, number) of an element: of `kind`, else of one of `others`, such as "geom", "body".

    Numbers are of `kind`.

    Errors: ValueError for a name or a number that does not exist.
    """
    m = compiled(model)
    if not isinstance(name, str):
        count = getattr(m, "n" + kind)
        if not 0 <= int(name) < count:
            raise ValueError(f"{kind} is {name}, expected 0 to {count - 1}")
        return kind, int(name)
    known = []
    for one in (kind, *others):
        of = getattr(mujoco.mjtObj, "mjOBJ_" + one.upper())
        found = mujoco.mj_name2id(m, of, name)
        if found >= 0:
            return one, found
        known += [mujoco.mj_id2name(m, of, k) or "" for k in range(getattr(m, "n" + one))]
    more = hint(name, known, f"; there are: {', '.join(filter(None, known)) or 'none'}")
    raise ValueError(f"{model.name} has no {' or '.join((kind, *others))} '{name}'{more}")


def keyframe(model: Model, key: str | int) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Return a keyframe of the file: q, v, act, ctrl, poses of mocap bodies (mocap_pos, mocap_quat) and its time."""
    m, (_, k) = compiled(model), number_of(model, "key", key)
    tables = {"q": "qpos", "v": "qvel", "act": "act", "ctrl": "ctrl", "mocap_pos": "mpos", "mocap_quat": "mquat"}
    return {name: np.array(getattr(m, f"key_{table}")[k]) for name, table in {**tables, "time": "time"}.items()}


MOCAP = ("mocap_pos", "mocap_quat")  # poses of mocap bodies: parameters here, part of the state in MuJoCo


def field_of(name: str) -> str:
    """Return MuJoCo's name of a parameter."""
    return name.replace("opt_", "opt.", 1) if name.startswith("opt_") else name


def parameter_sizes(model: Model) -> dict[str, int]:
    return {name: math.prod(_featherstorm.parameter_shape(model.robot, name)) for name in model.parameters}


def clear_same_frames(m: Any, parameters: Iterable[str]) -> bool:
    """Clear the marks of frames whose numbers are parameters, in a compiled model; return True if there were some.

    Where the frame of a geom, a site or an inertia equals that of its body, MuJoCo's compiler marks it in
    geom_sameframe and similar fields, and steps do not read the numbers: a plane at the origin of the file would stay
    there, whatever was bound. MuJoCo's own set_const clears these marks as well.
    """
    moved = {name.split("_")[0] for name in _fields.inputs.FRAMES.intersection(parameters)}
    # geoms and sites may equal a frame of inertia
    kinds = ("body", "geom", "site") if "body" in moved else sorted(moved)
    same = [getattr(m, f"{kind}_sameframe") for kind in kinds]
    if not any(np.any(marks) for marks in same):
        return False
    for marks in same:
        marks[:] = 0
    return True


def mocap_poses(model: Model, instances: int) -> dict[str, npt.NDArray[Any]]:
    """Return the poses of mocap bodies, {} without any.

    mocap_pos (instances, nmocap, 3), mocap_quat (instances, nmocap, 4)
    """
    if model.compiled is None or not model.compiled.nmocap:
        return {}
    found = {}
    for name in MOCAP:
        shape = _featherstorm.parameter_shape(model.robot, name)
        found[name] = np.broadcast_to(np.asarray(model.parameter(name)), (instances, *shape))
    return found


def with_mocap_poses(
    model: Model, at_first: Model, rows: npt.NDArray[np.bool_], poses: dict[str, npt.NDArray[Any]] | None
) -> Model | None:
    """Return the model with the mocap bodies of some instances at other poses; None where no pose changes.

    at_first   the model as it was loaded
    rows       (instances,) of bool
    poses      mocap_pos (nmocap, 3) [m] and mocap_quat (nmocap, 4), world axes; None: those at first
    """
    home, now = mocap_poses(at_first, len(rows)), mocap_poses(model, len(rows))
    new = {name: x.copy() for name, x in now.items()}
    for name, x in new.items():
        x[rows] = home[name][rows] if poses is None else poses[name].reshape(x.shape[1:])
    same = all(np.array_equal(x, now[name]) for name, x in new.items())
    return None if same else with_inputs(model, tuple(new)).bind(**new)


def with_inputs(model: Model, names: tuple[str, ...]) -> Model:
    """Return the model whose steps take these tables of its file as inputs too; it keeps what was bound.

    Kept with the model.
    """
    parameters = tuple(dict.fromkeys((*model.parameters, *names)))
    if parameters == model.parameters:
        return model
    made = model.__dict__.setdefault("_with_inputs", {})
    if parameters not in made:
        options: dict[str, Any] = {**model._options, "parameters": parameters}
        made[parameters] = type(model)(model.robot, **options, file=model.file)
        vars(made[parameters]).update(contacts=model.contacts)
    found: Model = made[parameters].bind(**model.bound)
    return found


def with_pairs(model: Model, pairs: Pairs) -> Model:
    """Return the model with only some of the pairs of geoms that may touch; it keeps what was bound.

    pairs   "floor": those of a moving body with a geom that does not move; or names, ("FL_foot", "ground"), of geoms or
            of bodies, which stand for all of their geoms; ("FL_foot", "floor") those of one with what does not move
    Kept with the model.
    Errors: ValueError for a name that does not exist, and for two names without a pair.
    """
    if isinstance(pairs, str) and pairs != "floor":
        raise ValueError(f"pairs is {pairs!r}, expected 'floor' or pairs of names of geoms and bodies")
    key = pairs if isinstance(pairs, str) else tuple(tuple(pair) for pair in pairs)
    made = model.__dict__.setdefault("_with_pairs", {})
    if key not in made:
        m = compiled(model)
        body, still = np.asarray(m.geom_bodyid), np.asarray(m.body_weldid)[np.asarray(m.geom_bodyid)] == 0

        def geoms(name: str | int) -> set[int]:
            if name == "floor":
                return set(np.flatnonzero(still).tolist())
            kind, number = number_of(model, "geom", name, ("body",))
            return {number} if kind == "geom" else set(np.flatnonzero(body == number).tolist())

        may = [tuple(pair["geom"]) for pair in model.robot.contact_pairs]
        kept: set[tuple[int, ...]] = set()
        if isinstance(key, str):
            kept = {p for p in may if still[list(p)].any()}
        for one in () if isinstance(key, str) else key:
            if len(one) != 2:
                raise ValueError(f"pairs have {one!r}, expected two names")
            first, second = (geoms(name) for name in one)
            found = {p for p in may if (p[0] in first and p[1] in second) or (p[1] in first and p[0] in second)}
            if not found:
                raise ValueError(f"pairs have {one!r}, of which no geoms may touch in {model.name}'s file")
            kept |= found
        robot = model.robot.with_pairs(sorted(kept))
        options: dict[str, Any] = {**model._options}
        made[key] = type(model)(robot, **options, file=model.file)
        vars(made[key]).update(contacts=model.contacts)
    found_model: Model = made[key].bind(**model.bound)
    return found_model


def check_bound(model: Model, label: str) -> None:
    """Raise ValueError for bound numbers that the step does not support.

    These are numbers of elements that the file does not have, and tables that decide which elements exist.
    """
    if not model.parameters:
        return
    m, values = compiled(model), {}
    for name in model.parameters:
        if not _fields.inputs.is_input(m, field_of(name)):
            raise ValueError(
                f"{label}: {name} decides what there is in {model.name}'s file, and is no parameter of its step"
            )
        n = parameter_sizes(model)[name]
        bound = np.asarray(model.parameter(name), float).reshape(-1, n)
        own = np.ravel(_featherstorm.parameter_values(model.robot, name))
        if _fields.inputs.TABLES[field_of(name)] and (bound[:, own == 0] != 0).any():
            raise ValueError(
                f"{label}: cannot bind {name}: it is zero in {model.name}'s file, so the model has no such element"
            )
        values[field_of(name)] = bound
    _fields.inputs.check_values(m, values)


def bound_values(model: Model, call: Call, instances: int, sent: dict[tuple[Any, ...], Any]) -> dict[str, Any]:
    """Return the memory (1 or instances, n) of the parameters, by name. `sent` stores the copies on devices."""
    found = {}
    for name, n in parameter_sizes(model).items():
        tail = tuple(_featherstorm.parameter_shape(model.robot, name))
        found[name] = call.kept(model.parameter(name), name, n, {name: tail}, instances, sent)
    return found


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
    expect_indices(base, name)
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
    for size in "nq nv nu na nbody njnt ngeom nsite neq ntendon nsensor npair nmocap".split():
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
