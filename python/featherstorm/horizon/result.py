"""What a rollout returns, from the host and from devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..typing import Array


class RolloutResult(NamedTuple):
    """costs (B,), sums over the horizon, NaN where the last state is not finite; final (B, nq + nv), the last state;
    states (B, T, nq + nv) after each step, observations (B, T, n), and controls (B, T, nu), the U that was used; None
    where they were not asked for."""

    costs: Array
    final: Array
    states: Array
    observations: Array
    controls: Array = None
