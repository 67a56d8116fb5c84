"""Swings up an acrobot, two links with a motor at the elbow alone, by MPPI: python -m featherstorm.examples.acrobot"""

import numpy as np

import featherstorm as fs
from featherstorm.examples.closed_loop import closed_loop
from featherstorm.planning import MPPI


def acrobot(threads=0):
    """Two rods of 1 kg and 1 m that hang from a shoulder 2 m above the ground at q = 0; x is the axis of both joints."""
    builder = fs.RobotBuilder("acrobot")
    rod = [[1 / 12, 0, 0], [0, 1 / 12, 0], [0, 0, 1e-4]]
    for link in ("upper", "lower"):
        builder.add_link(link, 1.0, [0, 0, -0.5], rod)
    builder.add_joint("shoulder", "revolute", "", "upper", position=[0, 0, 2], axis=[1, 0, 0])
    builder.add_joint("elbow", "revolute", "upper", "lower", position=[0, 0, -1], axis=[1, 0, 0], max_effort=[15.0])
    builder.add_frame("tip", "lower", position=[0, 0, -1])
    return fs.Model(builder.build(), threads)


def cost(x, u, t, p):
    """How far the tip is from its highest place, 4 m above the ground."""
    tip = x.position("tip") - np.array([0.0, 0.0, 4.0])
    return tip @ tip + 0.01 * x.v @ x.v + 1e-4 * u[0] ** 2


def main(samples=1024, seconds=8.0, threads=0, seed=0):
    """Returns the largest distance of the tip from its highest place in the last second [m] and the control rate [1/s]."""
    model = acrobot(threads)
    roll = fs.Rollout(
        model, dt=0.02, cost=cost, control=lambda x, u, t, p: np.concatenate([[0.0], u]), substeps=2,
        terminal=lambda x, t, p: 10 * cost(x, np.zeros(1), t, p),
    )  # fmt: skip
    planner = MPPI(
        roll, horizon=75, nu=1, samples=samples, sigma=6.0, knots=25, temperature=1.0, lower=-15, upper=15, seed=seed
    )
    states, _, rate = closed_loop(planner, roll, np.zeros(4), round(seconds / roll.dt))
    tip = fs.forward_kinematics(model, states[-50:, :2], "tip")[0]
    distance = np.linalg.norm(tip - [0, 0, 4], axis=1).max()
    print(f"acrobot: tip {100 * distance:.1f} cm from its highest place in the last second, {rate:.0f} plans/s")
    return distance, rate


if __name__ == "__main__":
    main()
