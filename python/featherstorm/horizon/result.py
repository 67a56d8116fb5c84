"""What a rollout returns, from the host and from devices."""

from typing import NamedTuple


class RolloutResult(NamedTuple):
    """costs (B,), sums over the horizon, NaN where the last state is not finite; final (B, nq + nv), the last state;
    states (B, T, nq + nv) after each step, observations (B, T, n), and controls (B, T, nu), the U that was used; None
    where they were not asked for."""

    costs: object
    final: object
    states: object
    observations: object
    controls: object = None
