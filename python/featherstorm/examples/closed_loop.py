"""A planner in the loop with a simulated robot, its plot and its command line: what the examples of planning share."""

import argparse
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from featherstorm.planning import Planner
from featherstorm.rollout import Rollout


def closed_loop(
    planner: Planner, roll: Rollout, x: npt.ArrayLike, steps: int, **given: Any
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
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


def plot_over_time(file: str, title: str, dt: float, curves: Mapping[str, npt.NDArray[np.float64]]) -> None:
    """Draws curves {label with its unit: (steps + 1,)}, one below the other, over the time [s] of the control steps."""
    figure = Figure(figsize=(7, 1 + 1.8 * len(curves)), layout="constrained")
    figure.suptitle(title)
    for axes, (label, y) in zip(figure.subplots(len(curves), sharex=True, squeeze=False)[:, 0], curves.items()):
        axes.plot(dt * np.arange(len(y)), y)
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
    axes.set_xlabel("time [s]")
    figure.savefig(file, dpi=120)


def run_example(main: Callable[..., object], name: str, description: str | None) -> None:
    """Calls main(file=...) with the file of --plot."""
    parser = argparse.ArgumentParser(prog=f"python -m featherstorm.examples.{name}", description=description)
    parser.add_argument(
        "--plot", metavar="FILE", default=f"{name}.png", help="where the plot goes (default: %(default)s)"
    )
    main(file=parser.parse_args().plot)
