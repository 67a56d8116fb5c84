"""Comparison of a policy's episodes in the engine and in MuJoCo."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .conditions import Conditions, check_commands, prepared
from .episodes import check_policy, mean_of, ours
from .pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..environment.batch import EnvBatch
    from ..environment.env import Env
    from .episodes import Episode, Policy

TRACKING = {"tracking_lin_vel": "linear tracking", "tracking_ang_vel": "angular tracking"}
ENGINES = ("featherstorm", "mujoco")


class Row(NamedTuple):
    """One figure over all episodes in both engines, with standard errors of the means.

    kind   "return", "length", "fell", "term", "share" or "rate"
    """

    name: str
    kind: str
    ours: float
    ours_error: float
    mujoco: float
    mujoco_error: float

    @property
    def difference(self) -> float:
        """(MuJoCo's - ours) / |ours|; infinite if only ours is zero."""
        away = self.mujoco - self.ours
        return 0.0 if away == 0 else away / abs(self.ours) if self.ours else math.copysign(math.inf, away)


class Comparison:
    """Figures of a policy in both engines.

    rows        figures of both engines
    episodes    engine name -> its episodes, in the order of environments
    """

    def __init__(
        self, task: str, conditions: Conditions, episodes: dict[str, list[Episode]], bounds: dict[str, float]
    ) -> None:
        """Compute the figures. bounds: largest value of a step's reward term, by name, for the terms that have one."""
        self.task, self.conditions, self.episodes = task, conditions, episodes
        self.rows = rows_of(episodes[ENGINES[0]], episodes[ENGINES[1]], bounds)

    @property
    def difference(self) -> float:
        """Relative difference of the mean returns, (MuJoCo's - ours) / |ours|."""
        return self.rows[0].difference

    @property
    def spread(self) -> float:
        """Standard error of that difference, from the differences of the single episodes, relative to ours."""
        here, there = (np.array([e.reward for e in self.episodes[name]]) for name in ENGINES)
        return float(mean_of(there - here)[1] / abs(here.mean())) if here.mean() else math.inf

    def within(self, most: float) -> bool:
        return abs(self.difference) <= most

    # -- output

    def heads(self) -> tuple[str, ...]:
        return ("", "here", "+-", "MuJoCo", "+-", "difference")

    def cells(self) -> list[tuple[str, ...]]:
        return [
            (row.name, shown(row.ours), shown(row.ours_error), shown(row.mujoco), shown(row.mujoco_error), percent(row.difference))
            for row in self.rows
        ]  # fmt: skip

    def markdown(self) -> str:
        heads = self.heads()
        lines = [f"| {' | '.join(heads)} |", f"|---|{'---:|' * (len(heads) - 1)}"]
        return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in self.cells())]) + "\n"

    def csv(self) -> str:
        """Return the episodes as CSV, one line each."""
        file = io.StringIO()
        names = list(self.episodes[ENGINES[0]][0].terms)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["engine", "env", "return", "length", "fell", "non_finite", "commands", *names])
        for engine, episodes in self.episodes.items():
            for k, e in enumerate(episodes):
                terms = [e.terms[name] for name in names]
                writer.writerow([engine, k, e.reward, e.length, int(e.fell), int(e.lost), e.commands, *terms])
        return file.getvalue()

    def table(self) -> dict[str, Any]:
        """Return the comparison as plain numbers and strings."""
        c = self.conditions
        return {
            "task": self.task,
            "seed": c.seed,
            "episodes": len(self.episodes[ENGINES[0]]),
            "commands": c.commands,
            "difference": finite(self.difference),
            "difference_error": finite(self.spread),
            "rows": [{**row._asdict(), "difference": finite(row.difference)} for row in self.rows],
            "runs": {
                name: [{**e._asdict(), "return": e.reward} for e in episodes]
                for name, episodes in self.episodes.items()
            },
        }

    def json(self) -> str:
        return json.dumps(self.table(), indent=1) + "\n"


def compare(
    make: Callable[[], Env],
    policy: Policy,
    episodes: int = 20,
    conditions: Conditions | None = None,
    pool: Pool | None = None,
    say: Callable[[int], object] = int,
    batch: EnvBatch | None = None,
) -> Comparison:
    """Run `episodes` episodes of a policy in the engine (float32) and in MuJoCo.

    Seeds, commands and parameters are the same.

    make     function that returns the task, such as functools.partial(fs.tasks.make, "Hopper-v5")
    policy   function from observations (B, n), or a dict of observation groups, to actions (B, m), such as a
             featherstorm.learning.Policy
    pool     pool that runs MuJoCo's episodes. None: a new one in this process
    batch    a batch of the task `prepared` for these conditions, whose kernels are reused
    say      say(1) is called after each finished episode

    Errors: ValueError for a policy whose sizes are not the task's, a task without a model file, or commands that the
    task does not have.
    """
    conditions = conditions or Conditions()
    if pool is None:
        with Pool(make, policy, 1) as own:
            return compare(make, policy, episodes, conditions, own, say, batch)
    task: Any = prepared(make(), conditions.scaled, bool(conditions.commands)) if batch is None else batch.task
    check_commands(task, conditions.commands)
    batch = task.batch(episodes, conditions.seed, autoreset="disabled") if batch is None else batch.resized(episodes)
    check_policy(policy, task, batch.groups, batch.recording.actions)
    found = {
        ENGINES[0]: ours(batch, policy, conditions, say),
        ENGINES[1]: pool.episodes([(conditions, k) for k in range(episodes)], say),
    }
    return Comparison(type(task).__name__, conditions, found, bounds_of(batch.task))


def bounds_of(task: Any) -> dict[str, float]:
    """Return the largest reward of a step for following a velocity, by the term's name."""
    weights = getattr(task, "weights", {})
    return {name: task.reward_scale * weights[name] for name in TRACKING if weights.get(name)}


def rows_of(here: Sequence[Episode], there: Sequence[Episode], bounds: dict[str, float]) -> list[Row]:
    both = (here, there)

    def row(name: str, kind: str, of: Callable[[Episode], float]) -> Row:
        return Row(name, kind, *(x for e in both for x in mean_of(map(of, e))))

    found = [
        row("return", "return", lambda e: e.reward),
        row("length", "length", lambda e: e.length),
        row("ended early", "fell", lambda e: e.fell),
    ]
    if any(e.lost for e in (*here, *there)):
        found.append(row("not finite", "fell", lambda e: e.lost))
    names = here[0].terms if here else {}
    for name, bound in bounds.items() if set(bounds) <= set(names) else ():  # averaged over all control steps
        found.append(Row(f"{TRACKING[name]}, of its bound", "share", *(x for e in both for x in share(e, name, bound))))
    if any(e.commands for e in here):
        found.append(Row("falls in 1000 commands", "rate", *(x for e in both for x in falls(e))))
    return [*found, *(row(name, "term", lambda e, name=name: e.terms[name]) for name in names)]  # type: ignore[misc]


def share(episodes: Sequence[Episode], term: str, bound: float) -> tuple[float, float]:
    """Return the sum of a term as a fraction of its bound, and the standard error."""
    steps = np.array([e.length for e in episodes], float)
    each = np.array([e.terms[term] for e in episodes]) / bound
    mean = each.sum() / steps.sum()
    return float(mean), mean_of((each - mean * steps) / steps.mean())[1]


def falls(episodes: Sequence[Episode]) -> tuple[float, float]:
    commands, fell = sum(e.commands for e in episodes), sum(e.fell for e in episodes)
    return 1000 * fell / commands, 1000 * math.sqrt(fell) / commands


def shown(x: float) -> str:
    return f"{x:.0f}" if abs(x) >= 1000 else f"{x:.4g}"


def percent(x: float) -> str:
    return f"{100 * x:+.2f} %" if math.isfinite(x) else "-"


def finite(x: float) -> float | None:
    return x if math.isfinite(x) else None
