"""Elements of a model file by name or number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._names import hint
from .._optional import mujoco

if TYPE_CHECKING:
    from ..model import Model


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
    return {
        "q": np.array(m.key_qpos[k]),
        "v": np.array(m.key_qvel[k]),
        "act": np.array(m.key_act[k]),
        "ctrl": np.array(m.key_ctrl[k]),
        "mocap_pos": np.array(m.key_mpos[k]),
        "mocap_quat": np.array(m.key_mquat[k]),
        "time": np.array(m.key_time[k]),
    }
