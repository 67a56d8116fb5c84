"""Train a policy for a task on the CPU, with PPO, SHAC or SAC.

train Hopper-v5 --until 2500              ends when the mean return of 100 episodes without exploration reaches 2500
train Hopper-v5 --until 3000 --resume     continues from the checkpoint in the folder, bit for bit; --set changes
                                          settings
train Ant-v5 --seed 3 --minutes 6 --out runs/ant
train Ant-v5 --workers 2 --out runs/ant2  runs PPO on two workers of a Ray cluster (docs/distributed.md)

The folder (--out) contains policy.npz (the policy of the best evaluation, featherstorm.learning.Policy),
checkpoint.npz, curve.csv, and curves for TensorBoard if the package tensorboardX is installed. At the end, the policy
is read from its file and run in 100 episodes of another seed. The settings of each task are in
python/featherstorm/learning/settings.py; --set changes them, as in --set envs=512 --set actor=128,64.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from .._optional import tensorboardX
from ..distributed import Workers
from ..learning import Policy, Training, progress, resume, settings_of
from . import positive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


ENDED = {"return": "the return is reached", "steps": "all steps are taken", "minutes": "the time is over"}
SHOWN = (  # columns with curves
    "return", "evaluation", "length", "fell", "kl", "clipped", "norm", "lost", "loss", "std", "rate", "entropy", "alpha",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="a task's name, such as Hopper-v5 (docs/tasks.md)")
    parser.add_argument(
        "--algorithm",
        choices=("ppo", "shac", "sac"),
        help="ppo; shac: by the simulation's gradients; sac: in few steps, from a memory of them (default: ppo, with --resume that of the run)",
    )
    parser.add_argument("--seed", type=int, help="default: 0, with --resume that of the run")
    parser.add_argument("--minutes", type=float, default=math.inf, help="of this call, after which it ends")
    parser.add_argument("--steps", type=positive, help="control steps in all (default: the task's settings)")
    parser.add_argument("--until", type=float, default=math.inf, metavar="RETURN", help="ends at this mean return")
    parser.add_argument("--out", metavar="DIR", help="default: runs/TASK-SEED")
    parser.add_argument("--resume", action="store_true", help="goes on from the checkpoint in the folder")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the learner, several times"
    )
    parser.add_argument(
        "--workers",
        type=workers_of,
        metavar="N",
        help="of a Ray cluster: that of RAY_ADDRESS, else one that is started here; auto: one for each machine (default: this process)",
    )
    parser.add_argument("--threads", type=positive, help="default: all cores")
    parser.add_argument("--onnx", metavar="FILE", help="writes the policy as an ONNX model too")


def main(options: argparse.Namespace) -> int:
    start = time.perf_counter()
    if not options.minutes > 0:
        raise ValueError(f"--minutes is {options.minutes}, expected a time above 0")
    with contextlib.ExitStack() as stack:
        workers = stack.enter_context(Workers(options.workers)) if options.workers else None
        return train(options, begin(options, start, workers))


def workers_of(text: str) -> int | str:
    """Parse a number of workers."""
    try:
        return text if text == "auto" else positive(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{text!r}, expected auto or a whole number above 0") from None


def train(options: argparse.Namespace, training: Training) -> int:
    s, learner = training.settings, training.learner
    print(
        f"{options.task}: seed {training.seed}, {s.envs} environments, {s.horizon} steps an iteration, nets "
        f"{[learner.actor.weights[0].shape[1], *s.actor, len(learner.log_std)]} and {list(s.critic)}, in {training.folder}"
    )
    try:
        with contextlib.ExitStack() as stack:
            told = [stack.enter_context(x) for x in (progress(training), curves(training))]
            reason = training.run(options.minutes, options.until, lambda row: [tell(row) for tell in told])
    except KeyboardInterrupt:
        print(f"--resume goes on from the checkpoint in {training.folder}, if there is one", file=sys.stderr)
        raise
    report(training, reason)
    if options.onnx:
        Policy.load(training.path("policy.npz")).to_onnx(options.onnx)
        print(f"onnx: {os.path.abspath(options.onnx)}")
    return 0 if reason == "return" or options.until == math.inf else 1


def begin(options: argparse.Namespace, start: float, workers: Workers | None) -> Training:
    changes = {}
    for text in options.set:
        name, equal, value = text.partition("=")
        if not equal:
            raise ValueError(f"--set is {text!r}, expected NAME=VALUE")
        changes[name] = value
    folder = options.out or os.path.join("runs", f"{options.task}-{options.seed or 0}")
    if options.resume:
        if options.algorithm or (options.seed is not None and options.out):
            raise ValueError(
                "--resume: the run has its seed and its algorithm; expected no --algorithm, and --seed or --out"
            )
        return resume(options.task, folder, options.steps, options.threads, start, changes, workers)
    if options.steps:
        changes["steps"] = str(options.steps)
    settings = settings_of(options.task, options.algorithm or "ppo").changed(changes)
    return Training(options.task, folder, settings, options.seed or 0, options.threads, start, workers=workers)


@contextlib.contextmanager
def curves(training: Training) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Write curves for TensorBoard, over control steps."""
    try:
        SummaryWriter = tensorboardX.SummaryWriter
    except ImportError:
        print("note: no curves for TensorBoard, the package tensorboardX is not installed", file=sys.stderr)
        yield lambda row: None
        return
    with SummaryWriter(training.path("tensorboard"), purge_step=training.learner.steps) as writer:

        def tell(row: dict[str, Any]) -> None:
            for name in SHOWN:
                if row.get(name) is not None:
                    writer.add_scalar(f"train/{name}", row[name], row["steps"])

        yield tell


def report(training: Training, reason: str) -> None:
    learner = training.learner
    shares = ", ".join(f"{name} {x:.1f} s" for name, x in learner.seconds.items())
    print(
        f"{ENDED[reason]}: {learner.steps:,} steps, {training.seconds:.1f} s ({shares}); best evaluation "
        f"{training.best:.1f}"
    )
    found, terms = training.confirm()
    print(
        f"policy: {os.path.abspath(training.path('policy.npz'))}: return {found.mean:.1f} +- {found.returns.std():.1f}, "
        f"length {found.lengths.mean():.0f}, ended early {100 * found.fell.mean():.0f} %, in 100 episodes of another seed"
    )
    for name, x in terms.items():
        print(f"  {name:24} {x:10.2f}")
