"""Plot of a simulation: a sample of robots over time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._optional import matplotlib, matplotlib_figure, pyplot

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    import numpy.typing as npt

    from ..model import Model

# time; q, v, energy, and force of the floor or number of contacts, for each instance of a sample
Snapshot: TypeAlias = "tuple[float, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]"


def check_plot(path: str) -> None:
    """Raise ValueError for an invalid file before the simulation starts."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"--plot: there is no folder {folder}")
    if not os.path.splitext(path)[1]:
        raise ValueError(f"--plot: {path} has no ending such as .png, .svg or .pdf")
    matplotlib.use("Agg")
    ending = os.path.splitext(path)[1][1:].lower()
    if ending not in matplotlib_figure.Figure().canvas.get_supported_filetypes():
        raise ValueError(f"--plot: .{ending} is not supported; .png, .svg and .pdf are")


def draw(
    path: str, model: Model, history: Sequence[Snapshot], options: argparse.Namespace, world: bool = False
) -> None:
    """Plot the height of a floating base, the positions of the last joints, and the energy.

    Robots on a floor have the speed of the pushes and the force of the floor instead of the energy. A world has the
    number of contacts in addition.
    """
    # times (n,), q, v (n, instance, .), energies and forces (n, instance)
    times, q, v, energies, forces = (np.array(column) for column in zip(*history))
    curves = []
    if model.bodies[0]["type"] == "free":
        curves.append(("height of the base [m]", q[:, :, 2]))
    if model.nc:
        curves.append(("horizontal speed\nof the base [m/s]", np.hypot(v[:, :, 0], v[:, :, 1])))
        curves.append(("force of the floor [weight]", forces / (model.total_mass * np.linalg.norm(model.gravity))))
    else:
        curves.append(("energy [J]", energies))
    if world:
        curves.append(("contacts", forces))
    rows = 1 + len(curves)
    figure, axes = pyplot.subplots(rows, 1, sharex=True, figsize=(9, 1 + 2.4 * rows), constrained_layout=True)
    stands = " on their feet, pushed now and then" if model.nc else ""
    axes[0].set_title(f"{model.name}: {q.shape[1]} of {options.instances} instances{stands}")
    for place, (label, values) in zip(axes, curves):
        place.plot(times, values, lw=0.9)
        place.set_ylabel(label)
    if model.nc:
        axes[0].set_ylim(bottom=min(0, q[:, :, 2].min()))
    for color, k in enumerate([c for c in model.dof_q if c >= 0][-3:]):
        lines = axes[-1].plot(times, q[:, :, k], lw=0.8, color=f"C{color}", alpha=0.6)
        lines[0].set_label(model.q_names[k])
    axes[-1].set_ylabel("position [rad | m]")
    axes[-1].legend(fontsize="small", loc="center right")
    axes[-1].set_xlabel("time [s]")
    figure.savefig(path)
    pyplot.close(figure)
