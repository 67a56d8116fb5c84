"""A quadruped's rollouts with a cost of one's own, counted in control steps per second.

python -m featherstorm.examples.quadruped_cost
"""

import time
from typing import Any

import numpy as np

import featherstorm as fs
from featherstorm.symbols import State, Symbols


def cost(x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
    """Stand at the height p[0] with the trunk upright, quietly."""
    up = x.rotation("base")[2, 2]
    return (x[2] - p[0]) ** 2 + (1 - up) + 0.01 * np.sum(x.v[:6] ** 2) + 1e-3 * u @ u


def control(x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
    """The controls are targets of the twelve joints; the base is not driven."""
    return np.zeros(18), np.concatenate([np.zeros(6), u])


def rollout(threads: int, substeps: int = 2) -> fs.Rollout:
    model = fs.load("go2", threads=threads)
    return fs.Rollout(model, dt=0.02, cost=cost, control=control, substeps=substeps, kp=30.0, kd=1.0)


def main(samples: int = 4096, horizon: int = 25, calls: int = 20) -> float:
    """Returns control steps per second of one thread, the best of some calls."""
    roll = rollout(threads=1)
    x0 = np.concatenate([roll.model.q0, np.zeros(roll.model.nv)]).astype(np.float32)
    noise = fs.Noise(samples, np.zeros((horizon, 12)), sigma=0.1, lower=-1, upper=1)
    spent = []
    for _ in range(1 + calls):  # the first one makes the kernel
        start = time.thread_time()
        costs = roll(x0, noise, p=[0.3]).costs
        spent.append(time.thread_time() - start)
    rate = samples * horizon / min(spent[1:])
    print(
        f"{rate / 1e6:.2f} M control steps/s of 2 substeps on one core; the best of {samples} costs {costs.min():.3f}"
    )
    return rate


if __name__ == "__main__":
    main()
