"""A planner in the loop with a simulated robot: what the examples of planning share."""

import time

import numpy as np


def closed_loop(planner, roll, x, steps, **given):
    """Runs planner.command and the plant, which is `roll` itself in float64 for one step, by turns.

    in   x (nq + nv), given: passed on to the rollout (p)
    out  states (steps + 1, nq + nv), controls (steps, nu), control rate [1/s] of the planner alone
    """
    states, controls, spent = [np.asarray(x, dtype=float)], [], 0.0
    for k in range(steps):
        start = time.perf_counter()
        u = planner.command(states[-1], t0=k * roll.dt, **given)
        spent += time.perf_counter() - start
        controls.append(u.astype(float))
        states.append(roll(states[-1], controls[-1][None, None], t0=k * roll.dt, **given).final[0])
    return np.array(states), np.array(controls), steps / spent
