"""Progress bar of a training, in a terminal or a notebook."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from tqdm.auto import tqdm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .training import Training


@contextlib.contextmanager
def progress(training: Training) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show a progress bar of control steps, with the returns; without a terminal, print a line for each evaluation.

        with progress(training) as told:
            training.run(told=told)

    In a notebook the bar is a widget, which needs the package ipywidgets.
    """
    learner = training.learner
    plain = os.environ.get("TERM", "dumb") == "dumb"
    bar = tqdm(
        total=training.settings.steps, initial=learner.steps, unit="step", unit_scale=True, ascii=plain or None, disable=None,
        mininterval=0.2,
    )  # fmt: skip
    shown: dict[str, str] = {}

    def tell(row: dict[str, Any]) -> None:
        shown.update({name: f"{row[name]:.0f}" for name in ("return", "evaluation") if row.get(name) is not None})
        shown.update(workers_in(row))
        bar.set_postfix(shown, refresh=False)
        bar.update(learner.steps - bar.n)
        if bar.disable and "evaluation" in row:
            more = "".join(f"  {name} {x}" for name, x in workers_in(row).items())
            print(
                f"{row['seconds']:7.1f} s  {row['steps']:11,} steps  evaluation {row['evaluation']:8.1f}{more}",
                flush=True,
            )

    with bar:
        yield tell


def workers_in(row: dict[str, Any]) -> dict[str, str]:
    """Return what a row of a distributed run says of its workers."""
    if "workers" not in row:
        return {}
    return {"workers": str(row["workers"]), "retries": str(row["retries"]), "slowest": f"{row['slowest']:.1f}x"}
