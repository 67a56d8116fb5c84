"""Robustness of a policy: its return under changed masses, friction, latency and pushes, in both engines."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import pyplot
from .comparison import ENGINES, Comparison, compare
from .conditions import Conditions, prepared, root_axes
from .episodes import mean_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..environment.env import Env
    from .episodes import Policy
    from .pool import Pool

# field of Conditions -> values; field -> label
SWEEPS: dict[str, tuple[float, ...]] = {
    "mass": (0.6, 0.8, 1.0, 1.2, 1.4),
    "friction": (0.4, 0.7, 1.0, 1.3, 1.6),
    "latency": (0, 1, 2, 3, 4),
    "push": (0.0, 0.5, 1.0, 1.5, 2.0),
}
LABELS = {
    "mass": "masses, times the task's",
    "friction": "friction, times the task's",
    "latency": "latency [control steps]",
    "push": "pushes every 2 s [m/s]",
}

Swept = dict[str, dict[float, Comparison]]


def sweep(
    make: Callable[[], Env],
    policy: Policy,
    episodes: int,
    conditions: Conditions,
    pool: Pool,
    say: Callable[[int], object] = int,
    sweeps: Mapping[str, tuple[float, ...]] = SWEEPS,
) -> Swept:
    """Return comparisons by the name of the changed quantity and by its value. One quantity changes at a time.

    A robot whose root does not move gets no pushes.
    """
    done: dict[Conditions, Comparison] = {}
    batches: dict[bool, Any] = {}
    found: Swept = {}
    for name, values in kinds_of(make(), sweeps).items():
        for value in values:
            changed: dict[str, Any] = {name: int(value) if name == "latency" else float(value)}
            other = dataclasses.replace(conditions, **changed)
            if other not in done:
                if other.scaled not in batches:
                    task = prepared(make(), other.scaled, bool(other.commands))
                    batches[other.scaled] = task.batch(episodes, other.seed, autoreset="disabled")
                done[other] = compare(make, policy, episodes, other, pool, say, batches[other.scaled])
            found.setdefault(name, {})[value] = done[other]
    return found


def kinds_of(task: Env, sweeps: Mapping[str, tuple[float, ...]] = SWEEPS) -> dict[str, tuple[float, ...]]:
    """Return the sweeps that apply to a task."""
    moves = root_axes(task.model())
    return {name: values for name, values in sweeps.items() if name != "push" or moves}


def count_of(task: Env) -> int:
    """Return the number of different conditions in the sweeps of a task."""
    return sum(len(values) - 1 for values in kinds_of(task).values()) + 1


def table_of(swept: Swept) -> dict[str, list[dict[str, Any]]]:
    """Return plain numbers for each engine: returns, their standard errors, and the fraction that ended early."""
    return {
        name: [
            {
                "value": value,
                **{
                    engine: dict(zip(("return", "error"), mean_of(e.reward for e in comparison.episodes[engine])))
                    | {"ended_early": mean_of(e.fell for e in comparison.episodes[engine])[0]}
                    for engine in ENGINES
                },
            }
            for value, comparison in values.items()
        ]
        for name, values in swept.items()
    }


def plot(path: str, swept: Swept, title: str) -> None:
    """Plot the returns over each changed quantity; bands are two standard errors."""
    figure, axes = pyplot.subplots(
        1, len(swept), figsize=(1 + 3.2 * len(swept), 3.4), sharey=True, constrained_layout=True
    )
    for axis, (name, rows) in zip(np.atleast_1d(axes), table_of(swept).items()):
        values = [row["value"] for row in rows]
        for engine, label, style in ((ENGINES[0], "featherstorm", "o-"), (ENGINES[1], "MuJoCo", "s--")):
            mean, error = (np.array([row[engine][what] for row in rows]) for what in ("return", "error"))
            axis.plot(values, mean, style, label=label, markersize=4)
            axis.fill_between(values, mean - 2 * error, mean + 2 * error, alpha=0.2)
        axis.set_xlabel(LABELS[name])
        axis.grid(alpha=0.3)
    first = np.atleast_1d(axes)[0]
    first.set_ylabel("return of an episode")
    first.legend()
    figure.suptitle(title)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
