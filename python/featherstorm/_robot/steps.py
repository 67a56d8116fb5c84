"""Steps in time: the operation that steps a model, its numbers, and the meaning of `dt`, `substeps` and `ignore`.

    dt        time of the call [s]
    substeps  number of equal substeps that share dt
    ignore    names among "contacts", "loops", "couplings", "world" that a call ignores although the model carries them

A model with contacts is stepped by contact_step, with loops by loop_step, with couplings by coupled_step, with the
world of a model file by the step of that file, else by step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .. import _featherstorm
from ..device import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from typing_extensions import Self

    from ..typing import Array, Names
    from .mjcf import ModelFile


class Carrier(Protocol):
    """The attributes of a model that steps need."""

    name: str
    nc: int
    nl: int
    nu: int
    nv: int
    n_act: int
    has_world: bool
    timestep: float
    parameters: tuple[str, ...]
    u_names: tuple[str, ...]
    v_names: tuple[str, ...]
    file: ModelFile | None


class Stepped(tuple[Any, Any]):
    """Result of a step: the pair (q, v), and the rest of the state as attributes.

    It has two items for every robot, so that code for a robot also runs the world of a model file.

        q, v = fs.step(model, q, v, dt, tau)                                # a robot
        x = fs.step(model, x.q, x.v, ctrl=ctrl, act=x.act, qacc=x.qacc)     # the world of a model file

    q, v    (B, nq), (B, nv) at the end of the step
    act     (B, n_act) activations of the actuators; without a world (B, 0)
    qacc    (B, nv) accelerations, from which the next solver starts; without a world (B, 0)
    """

    rest: tuple[Array, Array]  # act and qacc; None without a world

    def __new__(cls, q: Array, v: Array, act: Array = None, qacc: Array = None) -> Self:
        self = super().__new__(cls, (q, v))
        self.rest = act, qacc
        return self

    @property
    def q(self) -> Array:
        return self[0]

    @property
    def v(self) -> Array:
        return self[1]

    @property
    def act(self) -> Array:
        return empty_like(self.q) if self.rest[0] is None else self.rest[0]

    @property
    def qacc(self) -> Array:
        return empty_like(self.q) if self.rest[1] is None else self.rest[1]

    def __getnewargs__(self) -> tuple[Array, ...]:
        return *self, *self.rest

    def __repr__(self) -> str:
        return f"Stepped(q={self.q!r}, v={self.v!r}, act={self.act!r}, qacc={self.qacc!r})"


def empty_like(q: Array) -> Array:
    """Return an array (0,) or (B, 0) of the library and on the device of q."""
    return q.part(0, [0]) if isinstance(q, DeviceArray) else q[..., :0]


# part of a model besides its tree -> (attribute with its count, operation that steps it); "world" is not in the table
CARRIED = {
    "contacts": ("nc", "contact_step"),
    "loops": ("nl", "loop_step"),
    "couplings": ("nu", "coupled_step"),
    "world": ("has_world", "world"),
}


def substep_time(label: str, dt: float, substeps: int) -> float:
    """Return the time of one of the substeps that share dt.

    Errors: ValueError for a dt or substeps that are not positive.
    """
    given = None if type(dt) is float else np.asarray(dt)
    if given is not None and (given.ndim or given.dtype.kind not in "fiu"):
        what = f"an array of shape {given.shape}" if given.ndim else repr(dt)
        raise TypeError(f"{label}: dt is {what}, expected a number of seconds; an array may be another argument's")
    if not dt > 0 or not np.isfinite(dt):
        raise ValueError(f"{label}: dt is {dt}, expected a positive number of seconds")
    if int(substeps) != substeps or not 1 <= substeps < 2**31:
        expected = "1 or more" if substeps < 2**31 else "less than 2^31"
        raise ValueError(f"{label}: substeps is {substeps}, expected {expected}")
    return dt / int(substeps)


def no_world(model: Carrier) -> str:
    """Return a clause with the reason why a call does not step a world: the call ignores it, or the model has none."""
    if model.has_world:
        return f"{model.name} ignores its file's world"
    if model.file and model.file.no_world:
        return f"the world of {model.name}'s file is left out ({model.file.no_world})"
    return f"{model.name} has no world of a model file"


def pass_count(label: str, model: Carrier, op: str, dt: float | None, substeps: int | None) -> tuple[float, int]:
    """Complete dt and substeps where one or both are missing. A world is stepped by its file's timestep alone.

    Errors: TypeError where dt is missing; ValueError for a dt or substeps that are not positive, or not those of the
    file.
    """
    if op != "world":
        if dt is None:
            raise TypeError(f"{label}: dt is missing: {no_world(model)}, and no timestep")
        substeps = 1 if substeps is None else substeps
        substep_time(label, dt, substeps)
        return float(dt), int(substeps)
    known = _featherstorm.world_inputs()
    if odd := [name for name in model.parameters if name not in known]:
        raise ValueError(
            f"{label}: {model.name} has the parameters {', '.join(odd)}, which the step of a model file's world does "
            "not take: name tables of the file (body_mass, geom_friction), or say ignore='world'"
        )
    h = model.timestep
    if dt is None:
        substeps = 1 if substeps is None else substeps
        substep_time(label, h, substeps)
        return h * int(substeps), int(substeps)
    substep_time(label, dt, 1 if substeps is None else substeps)
    count = max(round(dt / h), 1)
    if abs(dt - count * h) > 1e-6 * dt or substeps not in (None, count):
        given = f"dt is {dt}" + ("" if substeps is None else f" in {substeps} substeps")
        raise ValueError(
            f"{label}: {given}, expected a multiple of {h:g}, the timestep of {model.name}'s file, which its world is "
            "stepped by"
        )
    return float(dt), count


def refuse_controls(label: str, given: Mapping[str, Any]) -> None:
    """Raise TypeError for arguments that only a step of a world has; arrays without numbers are those of `Stepped`."""
    found = [name for name, x in given.items() if x is not None and np.shape(x)[-1:] != (0,)]
    if found:
        raise TypeError(
            f"{label}: {', '.join(found)}: only the step of a model file's world takes that; joints are driven by tau"
        )


def activations(model: Carrier, act: Array) -> Array:
    """Return act. Errors: ValueError where it is missing although actuators have activations."""
    if act is None and model.n_act:
        raise ValueError(
            f"step: act is missing, expected the activations (..., {model.n_act}) of {model.name}'s actuators; begin "
            "with zeros, then pass `act` of the previous step"
        )
    return act


def carried(model: Carrier, label: str, ignore: Names = ()) -> tuple[str, ...]:
    """Return the parts that the model carries and the call does not ignore, as a tuple of names of CARRIED."""
    ignore = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    unknown = [name for name in ignore if name not in CARRIED]
    if unknown:
        raise ValueError(f"{label}: ignore has {unknown[0]!r}, expected some of {', '.join(CARRIED)}")
    return tuple(name for name, (count, _) in CARRIED.items() if getattr(model, count) and name not in ignore)


def step_op(model: Carrier, label: str, ignore: Names = ()) -> str:
    """Return the operation that steps the model. Errors: ValueError where no operation steps all that it carries."""
    names = carried(model, label, ignore)
    if len(names) > 1:
        last = "the file's world" if names[-1] == "world" else names[-1]
        raise ValueError(
            f"{label}: {model.name} carries {' and '.join((*names[:-1], last))}, which no operation steps together; "
            f"ignore={names[:-1]!r} leaves {last} alone"
        )
    return CARRIED[names[0]][1] if names else "step"


# operations on the tree, which ignore loops and couplings -> counterparts for (loops, couplings); None: no counterpart
TREE_ALONE: dict[str, tuple[str | None, str | None]] = {
    **dict.fromkeys(("fd", "aba", "aba_f_ext", "fd_timed"), ("fd_loops", "fd_coupled")),
    **dict.fromkeys(("rnea", "rnea_f_ext", "rnea_timed"), ("id_loops", "coupled_id")),
    **dict.fromkeys(
        ("fd_derivatives", "fd_linearization", "fd_timed_derivatives"), ("vjp of fd_loops", "vjp of fd_coupled")
    ),
    **dict.fromkeys(("rnea_derivatives", "rnea_timed_derivatives"), ("vjp of id_loops", "vjp of coupled_id")),
    **dict.fromkeys(("fd_second_derivatives", "fd_parameter_derivatives", "hybrid_derivatives"), (None, None)),
    "hybrid_dynamics": ("hybrid_loops", None),
    **dict.fromkeys(("rk4_step", "rk4_step_timed", "dormand_prince"), ("loop_step", "coupled_step")),
}
CONTACTLESS = ("rk4_step", "rk4_step_timed", "dormand_prince")  # steps that ignore contacts


def check_tree(model: Carrier, op: str, ignore: Names = (), label: str | None = None) -> None:
    """Raise ValueError where the operation would leave out a part that the model carries; `ignore` names exceptions."""
    names = carried(model, label or op, ignore)
    if op not in TREE_ALONE:
        return
    taken_by = (
        ("loops", TREE_ALONE[op][0]),
        ("couplings", TREE_ALONE[op][1]),
        ("contacts", "contact_step"),
        ("world", "step"),
    )
    names = tuple(name for name in names if name != "world" or op in CONTACTLESS)
    for name, instead in taken_by:
        if name in names and (name not in ("contacts", "world") or op in CONTACTLESS):
            call = f"call {instead}, or " if instead else ""
            raise ValueError(
                f"{label or op}: {model.name} carries {name}, which {label or op} does not take: "
                f"{call}say ignore={names!r} for the tree alone"
            )


def zeros(n: int) -> list[float]:
    """Return a list for a missing array of n numbers, valid on any device."""
    return [0.0] * n


def drives(model: Carrier, tau: Array, q_target: Array) -> list[Array]:
    """Return the torques and targets of a step."""
    return [zeros(model.nv) if x is None else x for x in (tau, q_target)]


def independent(model: Carrier) -> npt.NDArray[np.intp]:
    """Return the columns of v that are u, the velocities of `model.u_names`."""
    return np.array([model.v_names.index(name) for name in model.u_names])
