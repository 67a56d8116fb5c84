"""Control steps per second of a quadruped, with a traced cost: python -m featherstorm.examples.rollout_rate"""

import time

import numpy as np

import featherstorm as fs


def cost(x, u, t, p):
    """Stand at the height p[0] with the trunk upright, quietly."""
    up = x.rotation("base")[2, 2]
    return (x[2] - p[0]) ** 2 + (1 - up) + 0.01 * np.sum(x.v[:6] ** 2) + 1e-3 * u @ u


def control(x, u, t, p):
    """The controls are targets of the twelve joints; the base is not driven."""
    return np.zeros(18), np.concatenate([np.zeros(6), u])


def main(samples=4096, horizon=25, substeps=2, dtype="float32", repeats=5, threads=1):
    """Returns control steps per second of wall time, the best of some repeats."""
    model = fs.load("go2", threads=threads)
    roll = fs.Rollout(model, dt=0.02, cost=cost, control=control, substeps=substeps, kp=30.0, kd=1.0)
    # samples last in memory, as the engine reads them
    U = np.random.default_rng(0).normal(0, 0.1, (horizon, 12, samples)).astype(dtype).transpose(2, 0, 1)
    x0 = np.r_[model.q0, np.zeros(model.nv)].astype(dtype)
    roll(x0, U, p=[0.3])
    spent = []
    for _ in range(repeats):
        start = time.perf_counter()
        costs = roll(x0, U, p=[0.3]).costs
        spent.append(time.perf_counter() - start)
    rate = samples * horizon / min(spent)
    assert np.isfinite(costs).all()
    print(
        f"go2, {dtype}, {threads} thread: {rate / 1e6:.2f} M control steps/s of {substeps} substeps, "
        f"{1e9 / rate / substeps:.0f} ns a substep with cost and controller"
    )
    return rate


if __name__ == "__main__":
    main()
