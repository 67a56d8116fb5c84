"""Swings up the pole of a cart-pole and balances it, by MPPI: python -m featherstorm.examples.cartpole"""

from typing import Any

import numpy as np

import featherstorm as fs
from featherstorm.examples.closed_loop import closed_loop, plot_over_time, run_example
from featherstorm.planning import MPPI
from featherstorm.symbols import State, Symbols


def cost(x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
    """Upright is q[1] = 0, the rail's middle q[0] = 0; near the ends of the rail it gets steep."""
    upright = 1 - np.cos(x.q[1])
    beyond = np.maximum(np.abs(x.q[0]) - 1.5, 0)
    speed = 0.01 * x.v[0] ** 2 + 0.02 * x.v[1] ** 2
    return 5 * upright + 0.1 * x.q[0] ** 2 + speed + 100 * beyond**2 + 1e-3 * u[0] ** 2


def main(
    samples: int = 512, seconds: float = 5.0, threads: int = 0, seed: int = 0, file: str | None = None
) -> tuple[float, float]:
    """Returns the largest angle from upright in the last second [rad] and the control rate [1/s]."""
    model = fs.load("cartpole", threads=threads)
    # one motor: on the cart
    roll = fs.Rollout(
        model,
        dt=0.02,
        cost=cost,
        control=lambda x, u, t, p: np.concatenate([u, [0.0]]),
        substeps=2,
        limit_stiffness=1e4,
        limit_damping=1e2,
    )
    planner = MPPI(
        roll, horizon=60, nu=1, samples=samples, sigma=4.0, knots=15, temperature=1.0, lower=-10, upper=10, seed=seed
    )
    hanging = np.array([0.0, np.pi, 0.0, 0.0])
    states, _, rate = closed_loop(planner, roll, hanging, round(seconds / roll.dt))
    angles = np.arctan2(np.sin(states[:, 1]), np.cos(states[:, 1]))
    angle = np.abs(angles[-50:]).max()
    if file is not None:
        curves = {"from upright [degrees]": np.degrees(angles), "cart [m]": states[:, 0]}
        plot_over_time(file, "cartpole, swing-up by MPPI", roll.dt, curves)
    print(f"cartpole: {np.degrees(angle):.2f} degrees from upright in the last second, {rate:.0f} plans/s")
    return angle, rate


if __name__ == "__main__":
    run_example(main, "cartpole", __doc__)
