"""Swings up and balances an acrobot, two links with a motor at the elbow alone: python -m featherstorm.examples.acrobot

MPPI finds the swing; near the top a linear feedback is part of the controller that the rollouts simulate, as open-loop
samples of an unstable system tell a planner little.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

import featherstorm as fs
from featherstorm.examples.closed_loop import closed_loop, plot_over_time, run_example
from featherstorm.planning import MPPI
from featherstorm.symbols import State, Symbols

DT = 0.02
TOP = np.array([np.pi, 0.0, 0.0, 0.0])
NEAR = 8000.0  # cost-to-go of the feedback below which it acts: about 0.2 rad from the top


def acrobot(threads: int = 0) -> fs.Model:
    """Two rods of 1 kg and 1 m that hang from a shoulder 2 m above the ground at q = 0; both joints turn about x."""
    builder = fs.RobotBuilder("acrobot")
    rod = [[1 / 12, 0, 0], [0, 1 / 12, 0], [0, 0, 1e-4]]
    for link in ("upper", "lower"):
        builder.add_link(link, 1.0, [0, 0, -0.5], rod)
    builder.add_joint("shoulder", "revolute", "", "upper", position=[0, 0, 2], axis=[1, 0, 0])
    builder.add_joint("elbow", "revolute", "upper", "lower", position=[0, 0, -1], axis=[1, 0, 0], max_effort=[15.0])
    builder.add_frame("tip", "lower", position=[0, 0, -1])
    return fs.Model(builder.build(), threads)


def elbow(x: State, u: Any, t: Symbols, p: Symbols) -> Any:
    return np.concatenate([[0.0], u])


def regulator(model: fs.Model) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """(K, P): the feedback u = -K (x - TOP) and its cost-to-go (x - TOP)' P (x - TOP), from differences of one step."""
    step = fs.Rollout(model, DT, control=elbow, substeps=2)
    h = 1e-5 * np.concatenate([np.eye(5), -np.eye(5)])
    ends = np.concatenate([step(TOP + d[:4], np.full((1, 1, 1), d[4])).final for d in h])
    A, B = np.split((ends[:5] - ends[5:]).T / 2e-5, [4], axis=1)
    P = np.eye(4)
    for _ in range(2000):
        K = np.linalg.solve(0.1 * np.eye(1) + B.T @ P @ B, B.T @ P @ A)
        P = np.eye(4) + A.T @ P @ (A - B @ K)
    return K, P


def make(model: fs.Model) -> fs.Rollout:
    """The rollout: the control is what is added to the elbow's feedback [N m]."""
    K, P = regulator(model)
    highest = sum(float(e[0]) for e in fs.energy(model, TOP[None, :2], np.zeros((1, 2))))

    def from_top(x: State) -> Any:
        """x - TOP with angles from -pi to pi."""
        return np.concatenate([np.remainder(x.q - TOP[:2] + np.pi, 2 * np.pi) - np.pi, x.v])

    def control(x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        d = from_top(x)
        return elbow(x, u - np.where(d @ P @ d < NEAR, K @ d, 0.0), t, p)

    def cost(x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        d = from_top(x)
        energy = np.sum(x.run("energy", x.q, x.v)) - highest
        return np.minimum(d @ P @ d / NEAR, 10.0) + 0.02 * energy**2 + 1e-3 * u @ u

    return fs.Rollout(model, DT, cost, control=control, substeps=2)


def main(
    samples: int = 512, seconds: float = 6.0, threads: int = 0, seed: int = 0, file: str | None = None
) -> tuple[float, float]:
    """Returns the largest distance of the tip from its highest place in the last second [m] and the rate [1/s]."""
    model = acrobot(threads)
    roll = make(model)
    planner = MPPI(
        roll, horizon=75, nu=1, samples=samples, sigma=5.0, knots=25, temperature=1.0, lower=-15, upper=15, seed=seed
    )
    states, _, rate = closed_loop(planner, roll, np.zeros(4), round(seconds / DT))
    tip = fs.forward_kinematics(model, states[:, :2], "tip")[0]
    distance = np.linalg.norm(tip - [0, 0, 4], axis=1)
    worst = distance[-50:].max()
    if file is not None:
        plot_over_time(file, "acrobot, swing-up by MPPI", DT, {"tip below its highest place [m]": 4 - tip[:, 2]})
    print(f"acrobot: tip {100 * worst:.1f} cm from its highest place in the last second, {rate:.0f} plans/s")
    return worst, rate


if __name__ == "__main__":
    run_example(main, "acrobot", __doc__)
