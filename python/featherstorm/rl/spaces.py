"""Action and observation spaces of gymnasium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.spaces import Box, Dict

if TYPE_CHECKING:
    from gymnasium import Space

    from ..environment.batch import EnvBatch


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
