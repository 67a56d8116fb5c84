"""Control a robot in MuJoCo by planning its motion, and report errors, falls and the time of the plans.

control go2                                   a Go2 trots at 0.8 m/s for 8 s
control go2 --speed 0.5 --turn 0.5            turns while it walks
control go2 --push 1.0 --mass 1.2             pushed three times, 20 % heavier than its model
control go2 --video trot.mp4                  writes a video
control go2 --runs 20                         repeats it with other seeds
control go2 --clock                           robot and planner in two processes, in real time

The planner (DIAL) simulates a model of the robot on four point feet. The robot is MuJoCo's, with all of its collision
elements, and a plan acts a latency after the state that it was made for. Without --clock time is the robot's, which
waits for every plan. The exit code is 0 if no run falls and the root mean square error of the velocity stays below
--within.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

from .. import control, viewing
from . import positive, seconds

if TYPE_CHECKING:
    import argparse

    from ..control.loop import Run
    from ..control.trot import Trot

ROBOTS, TASKS = ("go2",), ("trot",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("robot", choices=ROBOTS, metavar="ROBOT", help=f"one of {', '.join(ROBOTS)}")
    parser.add_argument("--task", choices=TASKS, default="trot", help="default: %(default)s")
    parser.add_argument("--speed", type=float, default=0.8, help="forward [m/s] (default: %(default)s)")
    parser.add_argument("--side", type=float, default=0.0, help="to the left [m/s] (default: %(default)s)")
    parser.add_argument("--turn", type=float, default=0.0, help="[rad/s] (default: %(default)s)")
    parser.add_argument("--seconds", type=seconds, default=8.0, help="of a run (default: %(default)s)")
    parser.add_argument("--runs", type=positive, default=1, help="with seeds from --seed on (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--push", type=float, default=0.0, help="size of three pushes of each run [m/s]")
    parser.add_argument("--mass", type=float, default=1.0, help="factor of the robot's masses (default: %(default)s)")
    parser.add_argument("--friction", type=float, help="of the robot's feet and the floor (default: those of its file)")
    parser.add_argument("--clock", action="store_true", help="the robot runs in real time, in a process of its own")
    parser.add_argument("--latency", type=float, help="of a plan [s] (default: 0.02; with --clock as measured)")
    parser.add_argument("--no-prediction", action="store_true", help="plan from the measured state, which is late")
    parser.add_argument("--samples", type=positive, default=256, help="of an iteration (default: %(default)s)")
    parser.add_argument("--iterations", type=positive, default=2, help="of a plan (default: %(default)s)")
    parser.add_argument("--threads", type=positive, default=1, help="of the planner (default: %(default)s)")
    parser.add_argument("--within", type=seconds, default=0.1, help="error of success [m/s] (default: %(default)s)")
    parser.add_argument("--video", metavar="FILE", help="writes a video of the first run, such as trot.mp4")


def main(options: argparse.Namespace) -> int:
    drive = control.drive  # first: without MuJoCo it says how to install it
    if options.video:
        viewing.check_video(options.video)
    task = control.Trot(
        options.speed, options.side, options.turn, samples=options.samples, iterations=options.iterations,
        threads=options.threads,
    )  # fmt: skip
    conditions = {"mass": options.mass, "friction": options.friction, "push": options.push}
    if options.clock and (options.video or options.no_prediction):
        raise ValueError("--clock has no video and always predicts: leave out --video and --no-prediction")
    if options.clock:
        conditions["latency"] = options.latency
    else:
        conditions["latency"] = 0.02 if options.latency is None else options.latency
        conditions["predict"] = not options.no_prediction
    found: list[Run] = []
    for seed in tqdm(range(options.seed, options.seed + options.runs), unit="run", disable=None, leave=False):
        if options.video and not found:
            found.append(control.film(options.video, task, options.seconds, seed=seed, **conditions))
            print(f"video: {os.path.abspath(options.video)}")
        else:
            found.append(
                (control.drive_live if options.clock else drive)(task, options.seconds, seed=seed, **conditions)
            )
    return report(found, task, options)


def report(found: list[Run], task: Trot, options: argparse.Namespace) -> int:
    falls = [run for run in found if run.fell is not None]
    print(f"{options.robot} {options.task}: {len(found)} runs of {options.seconds:g} s, {len(falls)} falls")
    for run in falls[:3]:
        print(f"  fell after {run.fell:.2f} s")
    errors = np.array([run.error for run in found])
    speeds = np.concatenate([run.velocities for run in found])
    if len(speeds):
        forward, side, turn = speeds.mean(axis=0)
        print(
            f"velocity: error {np.nanmean(errors):.3f} m/s (root mean square in the plane from 2 s on, worst run {np.nanmax(errors):.3f}), "
            f"mean {forward:.2f} m/s forward, {side:+.2f} m/s to the left, {turn:+.2f} rad/s"
        )
    times = 1e3 * np.concatenate([run.plan_times for run in found])
    if len(times):
        late = float(np.mean([run.late for run in found]))
        p50, p95, p99 = np.percentile(times, [50, 95, 99])
        meant = "were late" if options.clock else f"longer than {1e3 * task.dt:g} ms"
        print(
            f"plans: {len(times)} of {options.samples} samples x {options.iterations} iterations x {task.horizon} steps; "
            f"{p50:.1f} ms (p50), {p95:.1f} (p95), {p99:.1f} (p99), {100 * late:.1f} % {meant}"
        )
    if options.clock:
        time, slipped = sum(run.seconds for run in found), max(run.slipped for run in found)
        print(
            f"clock: {len(times) / time:.0f} plans a second; the robot's steps came up to {1e3 * slipped:.1f} ms late"
        )
    if failed := sum(run.failed for run in found):
        print(f"{failed} plans had no sample of finite cost", file=sys.stderr)
    return 0 if not falls and np.nanmax(errors, initial=0.0) < options.within else 1
