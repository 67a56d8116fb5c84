"""Spaces of gymnasium, and infos of a step in the form of its SyncVectorEnv."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.spaces import Box, Dict

if TYPE_CHECKING:
    import numpy.typing as npt
    from gymnasium import Space

    from ..environment.batch import EnvBatch

    Mask = npt.NDArray[np.bool_]


def action_space(batch: EnvBatch) -> Box[Any]:
    """Return the action space of one environment: Env.action_range, or the ranges of the file's actuators."""
    low, high = batch.recording.low, batch.recording.high
    return Box(low.astype(batch.dtype), high.astype(batch.dtype), dtype=dtype_of(batch))


def observation_space(batch: EnvBatch) -> Space[Any]:
    """Return the observation space of one environment: a Box with Env.observation_range, or a Dict of them."""
    low, high = batch.task.observation_range or (-np.inf, np.inf)
    boxes: dict[str, Space[Any]] = {group: box(batch, group, n, low, high) for group, n in batch.groups.items()}
    return boxes[""] if set(boxes) == {""} else Dict(boxes)


def box(batch: EnvBatch, group: str, n: int, low: Any, high: Any) -> Box[Any]:
    ends: list[Any] = []
    for x in (low, high):
        own = np.asarray(x[group] if hasattr(x, "keys") else x, batch.dtype)
        try:
            ends.append(np.array(np.broadcast_to(own, (n,))))
        except ValueError:
            what = f"the observation {group!r}" if group else "the observation"
            raise ValueError(
                f"{type(batch.task).__name__}: observation_range has shape {own.shape}, {what} has {n} numbers"
            ) from None
    return Box(ends[0], ends[1], dtype=dtype_of(batch))


def dtype_of(batch: EnvBatch) -> Any:
    return batch.dtype.type


# reserved names; RecordEpisodeStatistics writes to "episode"
TAKEN = ("non_finite", "return", "length", "final_obs", "final_info", "episode")


def term(name: str) -> str:
    """Return the name of a reward term in infos."""
    return name if name.startswith("reward_") else f"reward_{name}"


def check_names(batch: EnvBatch) -> None:
    terms = [term(name) for name in batch.terms]
    own = (*TAKEN, *terms, *(f"sum_{name}" for name in terms))
    if taken := [name for name in batch.recording.metrics if name in own or name.startswith("_")]:
        raise ValueError(
            f"{type(batch.task).__name__}: metrics has {taken[0]!r}, which infos need for themselves; taken are "
            f"{', '.join(own)} and names that begin with _"
        )


def add(infos: dict[str, Any], name: str, value: Any, mask: Mask) -> None:
    """Add an entry with values (N, ...) and mask (N,); rows outside the mask are zero."""
    if not mask.any():
        return
    if mask.all():
        found = np.array(value)
    else:
        rows = mask.reshape(mask.shape + (1,) * (value.ndim - 1))
        found = np.where(rows, value, value.dtype.type(0))
    infos[name], infos["_" + name] = found, mask.copy()


def told(batch: EnvBatch, info: dict[str, Any], mask: Mask, ended: Mask) -> dict[str, Any]:
    """Return the infos of a step, for the environments in the mask; ended: those whose episode ended in it."""
    infos: dict[str, Any] = {}
    for name in batch.recording.metrics:
        add(infos, name, info[name], mask)
    for name in batch.terms:
        add(infos, term(name), info["reward_terms"][name], mask)
    add(infos, "non_finite", info["non_finite"], mask & info["non_finite"])
    if ended.any():
        end = info["final_info"]
        add(infos, "return", end["return"], ended)
        add(infos, "length", end["length"].astype(np.int64), ended)
        for name in batch.terms:
            add(infos, f"sum_{term(name)}", end[name], ended)
    return infos


def last_observations(batch: EnvBatch, info: dict[str, Any], ended: Mask) -> npt.NDArray[np.object_]:
    """Return an array (N,) with copies of the last observations of episodes that ended; None for the others."""
    found = np.full(batch.num_envs, None, dtype=object)
    rows = np.flatnonzero(ended)
    dense = info["final_obs"]
    if isinstance(dense, dict):
        own = {group: np.ascontiguousarray(x[rows]) for group, x in dense.items()}
        for k, i in enumerate(rows.tolist()):
            found[i] = {group: x[k] for group, x in own.items()}
        return found
    for i, x in zip(rows.tolist(), np.ascontiguousarray(dense[rows])):
        found[i] = x
    return found


def copied(obs: Any) -> Any:
    """Return observations, or groups of them by name, as copies, row by row."""
    if isinstance(obs, dict):
        return {group: np.array(x, order="C") for group, x in obs.items()}
    return np.array(obs, order="C")
