"""A Panda's hand follows a moving target, by the cross-entropy method: python -m featherstorm.examples.panda_reach

The path folds the elbow close to its limit; in the first steps the motors' torques are at theirs.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

import featherstorm as fs
from featherstorm.examples.closed_loop import closed_loop, plot_over_time, run_example
from featherstorm.planning import CEM
from featherstorm.symbols import State, Symbols

HAND = "panda_hand_tcp"
START = np.array([0.0, -0.4, 0.0, -2.2, 0.0, 1.8, 0.8, 0.02, 0.02])
GAINS = np.array([150.0, 150.0, 150.0, 150.0, 25.0, 25.0, 25.0, 100.0, 100.0])  # [N m s/rad]
STOPS: dict[str, Any] = {"limit_stiffness": 1e4, "limit_damping": 1e2}
SUBSTEPS = 2


def target(t: Any) -> Any:
    """A loop about a point in front of the robot, 50 cm wide and high, in 5 s [m]."""
    phase = 2 * np.pi / 5 * t
    return np.stack([0.42 + 0.25 * np.sin(phase), 0.075 * np.sin(2 * phase), 0.35 + 0.25 * np.cos(phase)])


def make(model: fs.Model) -> fs.Rollout:
    """The rollout: controls are the velocities of the seven joints of the arm [rad/s]."""
    lower, upper = model.lower[:7] + 0.05, model.upper[:7] - 0.05

    def control(x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        # gravity is held, the drives (kd) are implicit: tau = gravity + kd (u - v), within the motors' limits
        return x.run("gravity", x.q) + GAINS * np.concatenate([u, np.zeros(2)])

    def cost(x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        error = x.position(HAND) - target(t)
        beyond = np.maximum(lower - x.q[:7], 0) + np.maximum(x.q[:7] - upper, 0)
        return 1e3 * error @ error + 0.01 * u @ u + 1e3 * beyond @ beyond

    return fs.Rollout(model, dt=0.02, cost=cost, control=control, substeps=SUBSTEPS, kp=0.0, kd=GAINS, **STOPS)


def torques(
    model: fs.Model, dt: float, states: npt.NDArray[np.float64], controls: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the joint torques of each substep (steps, SUBSTEPS, 9) [N m | N], by inverse dynamics of the motion."""
    q, v = np.split(states[:-1], 2, axis=1)
    tau = fs.gravity(model, q) + GAINS * np.pad(controls, ((0, 0), (0, 2)))
    result = []
    for _ in range(SUBSTEPS):
        q_next, v_next = fs.step(model, q, v, dt / SUBSTEPS, tau=tau, kp=0.0, kd=GAINS, **STOPS)
        a = (v_next - v) / (dt / SUBSTEPS)
        result.append(fs.rnea(model, q, v, a) + model.damping * v_next)
        q, v = q_next, v_next
    return np.stack(result, axis=1)


def main(
    samples: int = 512, seconds: float = 10.0, threads: int = 0, seed: int = 0, file: str | None = None
) -> tuple[float, bool, float, float]:
    """Returns the largest distance of the hand from its target after the first 2 s [m], whether positions, velocities
    and torques kept their limits, the share of control steps with a motor at its limit, and the control rate [1/s]."""
    model = fs.load("panda", threads=threads)
    roll = make(model)
    fastest = 0.9 * model.max_velocity[:7]
    options: dict[str, Any] = {
        "samples": samples,
        "sigma": 0.15,
        "knots": 3,
        "elites": samples // 16,
        "sigma_min": 0.02,
        "seed": seed,
    }
    planner = CEM(roll, horizon=20, nu=7, lower=-fastest, upper=fastest, **options)
    states, controls, rate = closed_loop(planner, roll, np.r_[START, np.zeros(9)], round(seconds / roll.dt))
    q, v = states[:, :9], states[:, 9:]
    error = np.linalg.norm(fs.forward_kinematics(model, q, HAND)[0] - target(roll.dt * np.arange(len(q))).T, axis=1)
    worst = error[round(2 / roll.dt) :].max()
    margins = np.minimum(q - model.lower, model.upper - q)[:, :7].min(axis=1)
    margin = margins.min()
    share = np.abs(torques(model, roll.dt, states, controls)[:, :, :7]) / model.max_effort[:7]
    # at its limit a torque is that up to the rounding of inverse dynamics
    slow = (np.abs(v[:, :7]) < model.max_velocity[:7]).all()
    kept = bool(margin > 0 and slow and share.max() < 1 + 1e-9)
    saturated = (share > 1 - 1e-9).any(axis=(1, 2)).mean()
    if file is not None:
        curves = {"hand to target [mm]": 1000 * error, "next joint limit [rad]": margins}
        plot_over_time(file, "panda, a moving target by CEM", roll.dt, curves)
    print(
        f"panda: at most {1000 * worst:.1f} mm from the moving target after 2 s; {margin:.2f} rad from a joint's "
        f"limit, a motor at its limit in {100 * saturated:.1f} % of the steps; {rate:.0f} plans/s"
    )
    return worst, kept, saturated, rate


if __name__ == "__main__":
    run_example(main, "panda_reach", __doc__)
