"""A training run in a folder: curves, evaluations, checkpoints, the best policy, and its progress bar."""

from __future__ import annotations

import contextlib
import csv
import os
import time
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from .._featherstorm import __version__  # type: ignore[attr-defined]  # a stub has none
from .._memory.arrays import check_memory
from ..model import tell
from ..tasks import make
from . import settings as tables
from .evaluation import Evaluation, run_episodes
from .files import only_writer, read_arrays, replacing, write_arrays
from .policy import Policy
from .ppo import PPO, chunks_of
from .sac import SAC
from .shac import SHAC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from ..environment.batch import EnvBatch
    from .learner import Learner
    from .settings import Settings

KIND, FORMAT, LARGEST = "featherstorm checkpoint", 1, 2**33
POLICY, CHECKPOINT, CURVE = "policy.npz", "checkpoint.npz", "curve.csv"
EPISODES = 100  # in an evaluation
EVALUATED, CONFIRMED = 2**32, 2**33  # added to the run's seed, for evaluations and for the last one
PAUSE = 60.0  # seconds between checkpoints
TIMES = ("collect", "values", "update")
LEARNERS = {"ppo": PPO, "shac": SHAC, "sac": SAC}
COLUMNS = (
    "iteration", "steps", "seconds", "return", "episodes", "evaluation", "evaluation_std", "length", "fell", "kl", "clipped", "norm", "lost",
    "loss", "std", "rate", "entropy", "alpha", "workers", "retries", "slowest", *TIMES,
)  # fmt: skip


class Training:
    """A training run of one task.

    task      name of a task
    folder    folder for the files; it is made if it does not exist
    settings  of the learner; None: the task's
    start     time.perf_counter() at the zero of `seconds`; None: now
    going_on  accept a folder that contains a run
    workers   a featherstorm.distributed.Workers, on which environments and gradients of PPO are computed; the run has the
              same bits. None: this process
    best      mean return of the best evaluation so far, None before the first
    history   rows of the curve, each a dict by column name

    Files in the folder: policy.npz, the policy of the best evaluation; checkpoint.npz, from which `resume` continues
    bit for bit; curve.csv. `run` locks the folder.
    Errors: ValueError for an unknown task, FileExistsError for a folder with a run or where another process trains,
    OSError for a folder that cannot be written.
    """

    def __init__(
        self,
        task: str,
        folder: str | os.PathLike[str],
        settings: Settings | None = None,
        seed: int = 0,
        threads: int | None = None,
        start: float | None = None,
        going_on: bool = False,
        workers: Any = None,
    ) -> None:
        self.start = time.perf_counter() if start is None else start
        self.task, self.folder, self.seed = task, os.fspath(folder), seed
        if seed < 0:
            raise ValueError(f"train: seed is {seed}, expected 0 or more")
        self.settings = settings or tables.settings_of(task)
        self.threads, self.factor, self.workers = threads, self.factor_now(0), workers
        self.check_memory(1, 1)  # the sizes of observations and actions are not known yet
        env = self.batch(self.settings.envs)
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise NotADirectoryError(f"train: {self.folder} is not a folder")
        if os.path.exists(self.path(CHECKPOINT)) and not going_on:
            raise FileExistsError(
                f"train: there is a run in {self.folder} already; continue it (--resume), or choose another folder"
            )
        os.makedirs(self.folder, exist_ok=True)
        self.check_memory(next(iter(env.groups.values())), env.recording.actions)
        with only_writer(self.folder):  # refuses a second training before it begins
            pass
        learner_of = workers.learner if workers else LEARNERS[self.settings.algorithm]
        self.learner: Learner = learner_of(env, self.settings, seed, threads)
        self.others = env.resized(EPISODES) if self.factor == 1 else make(task).batch(EPISODES, threads=threads)
        self.best: float | None = None
        self.unwritten: Policy | None = None  # the best policy, until it is in its file
        self.history: list[dict[str, Any]] = []
        self.before = 0.0  # seconds of the runs that this one continues

    def __repr__(self) -> str:
        done = f"{self.learner.steps:,} of {self.settings.steps:,} control steps"
        return f"<featherstorm.learning.Training {self.task}: seed {self.seed}, {done}, in {self.folder}>"

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    @property
    def seconds(self) -> float:
        """Seconds since the start, including the runs that this one continues."""
        return self.before + time.perf_counter() - self.start

    def check_memory(self, n: int, m: int) -> None:
        """Raise MemoryError where the learner's arrays do not fit, for n observed numbers and m actions."""
        if self.workers:  # they hold the arrays
            return
        remedy = "change the settings envs, horizon, memory, actor or critic"
        check_memory("train", self.settings.least_memory(n, m), remedy)

    # -- lessons

    def factor_now(self, steps: int) -> float:
        """Return the factor of the penalties after this number of control steps."""
        s = self.settings
        return s.lessons[steps // s.lesson] if steps < s.lesson * len(s.lessons) else 1.0

    def batch(self, envs: int) -> EnvBatch:
        """Make environments of the task with the penalties of the present lesson."""
        task = make(self.task)
        if self.factor != 1:
            if not hasattr(task, "weights"):
                raise ValueError(f"train: lessons are {self.settings.lessons}, but {self.task} has no `weights`")
            task.weights = {name: x * self.factor if x < 0 else x for name, x in task.weights.items()}
        if self.workers:
            return self.workers.batch(task, envs, seed=self.seed, bounds=chunks_of(self.settings, envs).bounds)
        return task.batch(envs, seed=self.seed, threads=self.threads)

    def next_lesson(self) -> None:
        """Give the learner's environments the penalties of the present lesson. They keep their states."""
        factor = self.factor_now(self.learner.steps)
        if factor != self.factor:
            self.factor, before = factor, self.learner.env
            self.learner.env = self.batch(self.settings.envs)
            self.learner.env.restore(before.snapshot())

    # -- running

    def run(
        self,
        minutes: float = float("inf"),
        until: float = float("inf"),
        told: Callable[[dict[str, Any]], object] | None = None,
    ) -> str:
        """Iterate until the first of these limits, and return its name.

        "steps"     the settings' number of control steps
        "minutes"   the minutes of this call
        "return"    the return `until` in an evaluation

        told(row) is called after each iteration. At the end there is an evaluation if there was none before, so that
        every training leaves a policy.
        A file that cannot be written is told by a Notice, and written with the next checkpoint; the last one must be.
        Errors: FileExistsError where another training has begun in the folder; OSError for the last checkpoint.
        """
        saved = time.perf_counter()
        with one_thread(), only_writer(self.folder):
            while (reason := self.reason(minutes, until)) is None:
                self.iterate(told)
                if time.perf_counter() - saved > PAUSE:
                    try:
                        self.save()
                    except OSError as error:
                        tell(f"train: {error}; the training goes on, and the next checkpoint is written in {PAUSE:g} s")
                    saved = time.perf_counter()
            if self.best is None:
                self.judge(self.history[-1] if self.history else {})
            self.save()
        return reason

    def reason(self, minutes: float, until: float) -> str | None:
        if self.best is not None and self.best >= until:
            return "return"
        if self.learner.steps >= self.settings.steps:
            return "steps"
        return "minutes" if time.perf_counter() - self.start >= 60 * minutes else None

    def iterate(self, told: Callable[[dict[str, Any]], object] | None = None) -> None:
        """Run one iteration, and an evaluation if one is due; the last iteration always has one.

        Call it within `one_thread` for reproducible results.
        """
        learner, s = self.learner, self.settings
        self.next_lesson()
        row = learner.iteration()
        row = {"iteration": learner.iterations, "steps": learner.steps, **row, **{n: learner.seconds[n] for n in TIMES}}
        if learner.iterations % s.evaluate == 0 or learner.steps >= s.steps:
            self.judge(row)
        row.setdefault("seconds", self.seconds)
        self.history.append(row)
        if told:
            told(row)

    def judge(self, row: dict[str, Any]) -> None:
        """Evaluate the policy, add the results to a row of the curve, and keep the policy if it is the best so far."""
        found = self.evaluate()
        row.update(evaluation=found.mean, evaluation_std=float(found.returns.std()))
        row.update(length=float(found.lengths.mean()), fell=float(found.fell.mean()))
        row["seconds"] = self.seconds
        if self.best is None or found.mean > self.best:
            self.best = found.mean
            self.unwritten = self.policy()
            try:
                self.write_policy()
            except OSError as error:
                tell(f"train: {error}; the policy is written with the next checkpoint")

    def evaluate(self) -> Evaluation:
        """Run 100 episodes without exploration, from the same seed each time."""
        return self.learner.evaluate(self.others, self.seed + EVALUATED)

    def confirm(self) -> tuple[Evaluation, dict[str, float]]:
        """Read the policy from its file and run it in 100 episodes of an unused seed.

        Return the evaluation and the mean sum of each reward term.
        """
        with one_thread():
            return run_episodes(self.others, Policy.load(self.path(POLICY)), self.seed + CONFIRMED)

    def policy(self) -> Policy:
        return self.learner.policy(
            self.task,
            version=__version__,
            evaluation=self.best,
            seconds=round(self.seconds, 3),
            algorithm=self.learner.name,
        )

    # -- files

    def write_policy(self) -> None:
        if self.unwritten is not None:
            self.unwritten.save(self.path(POLICY))
            self.unwritten = None

    def save(self) -> None:
        """Write the policy if it is not in its file yet, the checkpoint and the curve."""
        self.write_policy()
        numbers, arrays = self.learner.state()
        header = {
            "kind": KIND, "format": FORMAT, "task": self.task, "seed": self.seed, "settings": self.settings.as_table(), "best": self.best,
            "elapsed": self.seconds, "version": __version__, "history": self.history, "learner": numbers,
        }  # fmt: skip
        write_arrays(self.path(CHECKPOINT), header, arrays)
        with replacing(self.path(CURVE), "x", newline="", encoding="utf-8") as file:
            lines = csv.DictWriter(file, COLUMNS)
            lines.writeheader()
            lines.writerows({name: plain(x) for name, x in row.items()} for row in self.history)


def resume(
    task: str,
    folder: str | os.PathLike[str],
    steps: int | None = None,
    threads: int | None = None,
    start: float | None = None,
    changes: Mapping[str, str] | None = None,
    workers: Any = None,
) -> Training:
    """Load a run from its checkpoint. Its further iterations equal those of an uninterrupted run, bit for bit.

    steps     total number of control steps. None: as in the checkpoint
    workers   as for Training
    changes   settings to change from here on, as for Settings.changed; the further iterations then differ
    Errors: FileNotFoundError if there is no checkpoint; ValueError for a checkpoint of another task or a damaged one.
    """
    path = os.path.join(os.fspath(folder), CHECKPOINT)
    if not os.path.exists(path):
        raise FileNotFoundError(f"train: there is no run to resume: no file {path}")
    header, arrays = read_arrays(path, KIND, FORMAT, LARGEST)
    if header.get("task") != task:
        raise ValueError(f"{path}: a checkpoint of {header.get('task')}, expected {task}")
    try:
        table = {**header["settings"], **({} if steps is None else {"steps": steps})}
        settings = tables.of_table(table).changed(changes or {})
        made = Training(task, folder, settings, int(header["seed"]), threads, start, True, workers)
        made.best, made.history, made.before = header["best"], list(header["history"]), float(header["elapsed"])
        made.learner.restore(header["learner"], arrays)
        if changes and "rate" in changes:  # `rate` is the initial value of a controlled quantity
            made.learner.rate = settings.rate
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: cannot resume {task} from this checkpoint: {error}") from None
    return made


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread, since the learner's threads run matrix products in parallel."""
    return threadpool_limits(1, "blas")


def plain(x: Any) -> Any:
    """Format a float with seven digits for the curve; return other values unchanged."""
    if isinstance(x, float):
        return f"{x:.7g}"
    return x


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
