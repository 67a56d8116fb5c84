"""Control a robot in MuJoCo by planning its motion, and report errors, falls and the time of the plans.

control go2                                   a Go2 trots at 0.8 m/s for 8 s
control go2 --speed 0.5 --turn 0.5            turns while it walks
control go2 --push 1.0 --mass 1.2             pushed three times, 20 % heavier than its model
control go2 --model file                      the planner's model has all collision elements of the file
control go2 --task stand-up                   stands up from its belly
control go2 --task jumps                      jumps from place to place, once a second
control go2 --task crate                      gets onto a crate of 40 cm
control g1 --task walk --speed 0.3            a G1 walks
control cartpole --view                       on a page in the browser
control go2 --video trot.mp4                  writes a video
control go2 --runs 20                         repeats it with other seeds
control go2 --clock                           robot and planner in two processes, in real time

The planner (DIAL) has a model of its own. The robot is MuJoCo's, with all of its collision elements, and a plan acts a
latency after the state that it was made for. Without --clock time is the robot's, which waits for every plan. The exit
code is 0 if every run succeeds: a trot if the robot does not fall and the root mean square error of its velocity stays
below --within, other tasks by their rules (docs/control.md).
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from .. import control, viewing
from . import positive, seconds

if TYPE_CHECKING:
    import argparse

    from ..control.task import Run, Task

# robot -> its tasks, the default one first -> the class in featherstorm.control
TASKS = {
    "go2": {"trot": "Trot", "stand-up": "StandUp", "climb": "Climb", "jumps": "Jumps", "crate": "Crate"},
    "go1": {"trot": "Trot"},
    "g1": {"stand": "G1Stand", "step": "G1Step", "walk": "G1Walk"},
    "humanoid": {"stand-up": "HumanoidStandUp"},
    "cartpole": {"swing-up": "CartPole"},
    "acrobot": {"swing-up": "Acrobot"},
    "panda": {"push": "PushBox"},
}
# options that apply only to some tasks
ONLY = {
    "speed": ("trot", "climb", "walk"), "side": ("trot",), "turn": ("trot",), "model": ("trot", "jumps"),
    "within": ("trot", "walk"), "push": ("trot", "stand-up", "climb", "jumps", "crate", "stand", "step", "walk"),
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("robot", choices=TASKS, metavar="ROBOT", help=f"one of {', '.join(TASKS)}")
    tasks = ", ".join(dict.fromkeys(name for tasks in TASKS.values() for name in tasks))
    parser.add_argument("--task", metavar="NAME", help=f"one of {tasks} (default: the robot's first one of these)")
    parser.add_argument(
        "--model", help="of the planner of a trot or of jumps: feet or file (default: feet; for a go1 file)"
    )
    parser.add_argument("--speed", type=float, help="forward [m/s] (default: 0.8, climb: 0.5, walk: 0.4)")
    parser.add_argument("--side", type=float, help="to the left [m/s] (default: 0)")
    parser.add_argument("--turn", type=float, help="[rad/s] (default: 0)")
    parser.add_argument("--seconds", type=seconds, help="of a run (default: as the task says)")
    parser.add_argument("--runs", type=positive, default=1, help="with seeds from --seed on (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--push", type=float, help="size of three pushes of each run of a legged robot [m/s]")
    parser.add_argument("--mass", type=float, default=1.0, help="factor of the robot's masses (default: %(default)s)")
    parser.add_argument(
        "--friction", type=float, help="of the robot's geoms and the ground (default: those of its file)"
    )
    parser.add_argument("--clock", action="store_true", help="the robot runs in real time, in a process of its own")
    parser.add_argument("--latency", type=float, help="of a plan [s] (default: 0.02; with --clock as measured)")
    parser.add_argument("--no-prediction", action="store_true", help="plan from the measured state, which is late")
    parser.add_argument("--samples", type=positive, help="of an iteration (default: as the task says)")
    parser.add_argument("--iterations", type=positive, help="of a plan (default: as the task says)")
    parser.add_argument("--threads", type=positive, default=1, help="of the planner (default: %(default)s)")
    parser.add_argument("--within", type=seconds, help="error of success [m/s] (default: trot 0.1, walk 0.15)")
    parser.add_argument("--video", metavar="FILE", help="writes a video of the first run, such as trot.mp4")
    parser.add_argument("--view", action="store_true", help="shows one run on a page in the browser, until Ctrl-C")


def main(options: argparse.Namespace) -> int:
    drive = control.drive  # first: without MuJoCo it says how to install it
    if options.video:
        viewing.check_video(options.video)
    if options.clock and (options.video or options.view or options.no_prediction):
        raise ValueError(
            "--clock has no video, no page, and always predicts: leave out --video, --view, --no-prediction"
        )
    if options.view and (options.video or options.runs > 1):
        raise ValueError("--view shows one run on a page: leave out --video, --runs")
    task = make(options)
    conditions: dict[str, Any] = {"mass": options.mass, "friction": options.friction, "push": options.push or 0.0}
    if options.clock:
        conditions["latency"] = options.latency
    else:
        conditions["latency"] = 0.02 if options.latency is None else options.latency
        conditions["predict"] = not options.no_prediction
    if options.view:
        return report([control.watch(task, options.seconds, seed=options.seed, **conditions)], task, options)
    length = options.seconds or task.seconds
    run: Any = control.drive_live if options.clock else drive
    found: list[Run] = []
    for seed in tqdm(range(options.seed, options.seed + options.runs), unit="run", disable=None, leave=False):
        if options.video and not found:
            found.append(control.film(options.video, task, length, seed=seed, **conditions))
            print(f"video: {os.path.abspath(options.video)}")
        else:
            found.append(run(task, length, seed=seed, **conditions))
    return report(found, task, options)


def make(options: argparse.Namespace) -> Task:
    """Return the task that the options name.

    Errors: ValueError for a task that the robot has not, and for an option without effect.
    """
    tasks = TASKS[options.robot]
    options.task = options.task or next(iter(tasks))
    if options.task not in tasks:
        raise ValueError(f"--task is {options.task!r}, expected one of {', '.join(tasks)} for a {options.robot}")
    given = {name: getattr(options, name) for name in ("samples", "iterations", "threads")}
    for name, those in ONLY.items():
        value = getattr(options, name)
        if value is not None and options.task not in those:
            among = ", ".join(those[:-1]) + " and " if those[1:] else ""
            raise ValueError(f"--{name} is for {among}{those[-1]}, not for {options.task}")
        if value is not None and name not in ("within", "push"):
            given[name] = value
    if options.robot in ("go1", "go2"):
        given["robot"] = options.robot
    task: Task = getattr(control, tasks[options.task])(**given)
    if options.within is not None:
        task.within = options.within
    return task


def report(found: list[Run], task: Task, options: argparse.Namespace) -> int:
    falls = [run for run in found if run.fell is not None]
    succeeded = sum(run.succeeded for run in found)
    print(f"{options.robot} {options.task}: {succeeded} of {len(found)} runs succeeded, {len(falls)} falls")
    for run in falls[:3]:
        print(f"  fell after {run.fell:.2f} s")
    if task.hold is None and task.unit == "m":
        if away := [run.error for run in found if np.isfinite(run.error)]:
            print(f"place: {np.mean(away):.3f} m from the first one (root mean square, worst run {max(away):.3f})")
    elif task.hold is None:
        errors = np.array([run.error for run in found])
        speeds = np.concatenate([run.velocities for run in found if len(run.velocities)] or [np.zeros((0, 3))])
        if len(speeds):
            forward, side, turn = speeds.mean(axis=0)[:3]
            print(
                f"velocity: error {np.nanmean(errors):.3f} m/s (root mean square in the plane from 2 s on, worst run {np.nanmax(errors):.3f}), "
                f"mean {forward:.2f} m/s forward, {side:+.2f} m/s to the left, {turn:+.2f} rad/s"
            )
    elif options.task == "jumps":
        if landed := [run.velocities[-1] for run in found if len(run.velocities)]:
            off = 100 * np.concatenate(landed)
            print(f"landings: {np.nanmedian(off):.1f} cm from their places (median), {np.nanmax(off):.1f} cm (worst)")
    elif reached := [run.reached for run in found if run.reached is not None]:
        print(
            f"goal: held for {task.hold:g} s from {np.median(reached):.2f} s on (median), {max(reached):.2f} s (worst)"
        )
    times = 1e3 * np.concatenate([run.plan_times for run in found])
    if len(times):
        late = float(np.mean([run.late for run in found]))
        p50, p95, p99 = np.percentile(times, [50, 95, 99])
        meant = "were late" if options.clock else f"longer than {1e3 * task.dt:g} ms"
        print(
            f"plans: {len(times)} of {task.samples} samples x {task.iterations} iterations x {task.horizon} steps; "
            f"{p50:.1f} ms (p50), {p95:.1f} (p95), {p99:.1f} (p99), {100 * late:.1f} % {meant}"
        )
    if options.clock:
        time, slipped = sum(run.seconds for run in found), max(run.slipped for run in found)
        print(
            f"clock: {len(times) / time:.0f} plans a second; the robot's steps came up to {1e3 * slipped:.1f} ms late"
        )
    if failed := sum(run.failed for run in found):
        print(f"{failed} plans had no sample of finite cost", file=sys.stderr)
    return 0 if succeeded == len(found) else 1
