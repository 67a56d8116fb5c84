"""A quadrotor flies a figure eight, by MPPI: python -m featherstorm.examples.quadrotor [--plot FILE]

A free body with four rotors. The planner's controls are the thrust and the three body rates; a rate loop, which the
rollouts simulate as a part of the controller, turns them into the thrusts of the rotors, each within its limits. A rotor
that pushes with f turns the body against its spin with REACTION f.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

import featherstorm as fs
from featherstorm.examples.closed_loop import closed_loop, run_example
from featherstorm.planning import MPPI
from featherstorm.symbols import State, Symbols

DT = 0.02
MASS, INERTIA = 1.0, np.array([0.010, 0.010, 0.018])  # [kg], [kg m^2]
ARM, REACTION, STRONGEST = 0.17, 0.016, 6.0  # hub to rotor [m], [m], greatest thrust of a rotor [N]
RATE_GAIN = np.array([20.0, 20.0, 8.0])  # of the rate loop [1/s]
G = 9.80665
PERIOD = 6.0  # of the figure [s]

# thrust and moment about the body's axes of the rotors' thrusts: rotors at +x, +y, -x, -y, spinning by turns
ROTORS = np.array([[1, 1, 1, 1], [0, ARM, 0, -ARM], [-ARM, 0, ARM, 0], [REACTION, -REACTION, REACTION, -REACTION]])


def quadrotor(threads: int = 0) -> fs.Model:
    builder = fs.RobotBuilder("quadrotor")
    builder.add_link("body", MASS, [0, 0, 0], np.diag(INERTIA).tolist())
    builder.float_root("body")
    builder.set_gravity([0, 0, -G])
    return fs.Model(builder.build(), threads)


def path(t: Any) -> tuple[Any, Any]:
    """Return the desired place and velocity of the quadrotor: a figure eight of 3 m by 1.5 m that rises and falls [m, m/s]."""
    w = 2 * np.pi / PERIOD
    position = [1.5 * np.sin(w * t), 0.75 * np.sin(2 * w * t), 1 + 0.2 * np.cos(w * t)]
    velocity = [1.5 * w * np.cos(w * t), 1.5 * w * np.cos(2 * w * t), -0.2 * w * np.sin(w * t)]
    return np.stack(position), np.stack(velocity)


def rotor_thrusts(rates: Symbols, u: Symbols) -> Any:
    """The rotors' thrusts [N] for controls u = (thrust [N], body rates [rad/s]) at the body rates `rates`."""
    moment = INERTIA * RATE_GAIN * (u[1:] - rates)
    return np.clip(np.linalg.inv(ROTORS) @ np.concatenate([u[:1], moment]), 0.0, STRONGEST)


def control(x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
    """Force in world axes and moment in body axes, as the free joint has them."""
    wrench = ROTORS @ rotor_thrusts(x.v[3:], u)
    return np.concatenate([x.rotation("body")[:, 2] * wrench[0], wrench[1:]])


def cost(x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
    position, velocity = path(t)
    error, slip = x.q[:3] - position, x.v[:3] - velocity
    heading = x.rotation("body")[1, 0]  # 0: the nose points along x
    effort = 1e-3 * (u[0] - MASS * G) ** 2 + 2e-3 * u[1:] @ u[1:]
    return 20 * error @ error + 0.5 * slip @ slip + heading**2 + effort


def plot(file: str, states: npt.NDArray[np.float64]) -> None:
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot(xlabel="x [m]", ylabel="y [m]", aspect="equal", title="quadrotor, figure eight by MPPI")
    wanted = path(DT * np.arange(len(states)))[0]
    axes.plot(wanted[0], wanted[1], "--", color="0.6", label="path")
    axes.plot(states[:, 0], states[:, 1], label="flown, from rest")
    figure.legend(loc="outside lower center", ncols=2)
    figure.savefig(file, dpi=120)


def main(
    samples: int = 1024, seconds: float = 8.0, threads: int = 0, seed: int = 0, file: str | None = None
) -> tuple[float, float, float]:
    """Returns the largest distance from the path after the first 2 s [m], the root of its mean square, and the rate."""
    model = quadrotor(threads)
    roll = fs.Rollout(model, DT, cost, control=control, substeps=2)
    planner = MPPI(
        roll,
        horizon=30,
        nu=4,
        samples=samples,
        sigma=[2.0, 1.5, 1.5, 0.5],
        knots=8,
        interpolation="cubic",
        temperature=0.3,
        lower=[0.0, -6.0, -6.0, -2.0],
        upper=[4 * STRONGEST, 6.0, 6.0, 2.0],
        seed=seed,
    )
    planner.reset(np.tile([MASS * G, 0, 0, 0], (30, 1)))
    start = np.concatenate([path(0.0)[0], [1, 0, 0, 0], np.zeros(6)])
    states, _, rate = closed_loop(planner, roll, start, round(seconds / DT))
    error = np.linalg.norm(states[:, :3] - path(DT * np.arange(len(states)))[0].T, axis=1)[round(2 / DT) :]
    worst, mean = error.max(), np.sqrt(np.mean(error**2))
    if file is not None:
        plot(file, states)
    print(
        f"quadrotor: {100 * mean:.1f} cm from the path in the mean after 2 s, at most {100 * worst:.1f} cm, at up to "
        f"{np.linalg.norm(states[:, 7:10], axis=1).max():.1f} m/s; {rate:.0f} plans/s"
    )
    return worst, mean, rate


if __name__ == "__main__":
    run_example(main, "quadrotor", __doc__)
