"""Other libraries in `bench --report`: from a file of bench/peers.py, or timed here through Python."""

from __future__ import annotations

import importlib.util
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _featherstorm, loading, model as models, operations
from ..._optional import pinocchio
from ..._robot.states import random_state
from ...convert import to_pinocchio
from .measure import Case, clock_of, per_instance, rounds

if TYPE_CHECKING:
    import numpy.typing as npt

    from .measure import Plan, Spread

KINDS = {"rnea": "inverse dynamics", "crba": "inertia matrix", "fd": "forward dynamics", "step": "a step"}
# patterns of names of libraries; Pinocchio evaluates one state a call in float64
COLUMNS = (
    "pinocchio/(?!float|double-lanes)",
    "mujoco",
    "featherstorm/double/assembled",
    "featherstorm/float/assembled",
)


def read(path: str) -> dict[str, Any]:
    """Read the record of a file and check it."""
    with open(path, encoding="utf-8") as file:
        try:
            record = json.load(file)
        except ValueError as error:
            raise ValueError(f"--peers: {path} is not JSON: {error}") from None
    missing = [name for name in ("machine", "date", "commit", "robots") if name not in record]
    if missing:
        raise ValueError(f"--peers: {path} has no {missing[0]}; expected a file that bench/peers.py wrote")
    return record


def recorded(record: dict[str, Any]) -> list[tuple[str, str, list[float | None]]]:
    """Return rows of kind, robot, and the fastest time of each of COLUMNS [ns], or None if there is no time."""
    rows = []
    for kind, what in KINDS.items():
        for robot, result in record["robots"].items():
            times = [
                min(
                    (t["median"] for t in result["times"] if t["kind"] == kind and re.match(library, t["library"])),
                    default=None,
                )
                for library in COLUMNS
            ]
            if any(t is not None for t in times[:2]) and any(t is not None for t in times[2:]):
                rows.append((what, robot, times))
    return rows


def here(name: str, plan: Plan) -> str | list[tuple[str, Spread, Spread]]:
    """Return rows of kind, and nanoseconds of Pinocchio and of featherstorm for one state from Python.

    If Pinocchio cannot be timed, the result is the reason as a string.
    """
    if importlib.util.find_spec("pinocchio") is None:
        return "Pinocchio is not installed here (the package pin)."
    path = {robot: (file, floating) for robot, file, _, floating in _featherstorm.robots()}.get(name)
    if path is None:
        return f"Pinocchio is not timed on {name}: it is not a built-in robot."
    file = f"{_featherstorm.robot_directory()}/{path[0]}"
    his = pinocchio.buildModelFromUrdf(file, *([pinocchio.JointModelFreeFlyer()] if path[1] else []))
    data, model = his.createData(), loading.load(name, threads=1)
    # Pinocchio's URDF reader has no rotors
    his.armature = np.abs(tangent(model, model.q0, his)) @ model.armature
    check_agreement(his, data, model)
    q, v = (x[0].copy() for x in to_pinocchio(model, *random_state(model, 1), his))
    tau = np.zeros(his.nv)
    calls = {
        "rnea": lambda: pinocchio.rnea(his, data, q, v, tau),
        "crba": lambda: pinocchio.crba(his, data, q),
        "fd": lambda: pinocchio.aba(his, data, q, v, tau),
    }
    times = rounds(list(calls.values()), plan, clock_of(model))
    ours = per_instance([Case(model, op, plan["instances"], "float64") for op in calls], plan)
    return [(KINDS[op], t, u) for op, t, u in zip(calls, times, ours)]


def tangent(model: models.Model, q: npt.NDArray[np.float64], his: Any) -> npt.NDArray[np.float64]:
    """Return T with v_pinocchio = T v."""
    return to_pinocchio(model, np.tile(q, (model.nv, 1)), np.eye(model.nv), his)[1].T


def check_agreement(his: Any, data: Any, model: models.Model) -> None:
    """Raise ValueError if the inertia matrices differ; they satisfy M = T^T M_pinocchio T."""
    q, _ = random_state(model, 4, seed=3)
    for row, p, mine in zip(q, to_pinocchio(model, q, None, his), operations.crba(model, q)):
        T, M = tangent(model, row, his), pinocchio.crba(his, data, p)
        theirs = T.T @ (np.triu(M) + np.triu(M, 1).T) @ T
        if not np.abs(theirs - mine).max() < 1e-9 * np.abs(mine).max():
            raise ValueError(f"bench --report: the inertia matrices of Pinocchio and ours differ for {model.name}")
