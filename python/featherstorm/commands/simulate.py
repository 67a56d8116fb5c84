"""Simulate thousands of instances of a robot, and check the result.

The robot decides what is simulated:
  built-in robots with feet     stand on a floor, hold their pose by drives, and are pushed at times
  MJCF files                    are stepped with all their elements, such as actuators, contacts and constraints, from
                                their defaults or a keyframe
  URDF files with --ground      are stepped in the same way, on a floor, with their collision elements
  other robots                  begin in random states and swing freely, without a floor
All robots swing freely with --drive none, and MJCF files with --ignore world. With --drive pd every joint is pulled to
the middle of its range.

The report has the throughput and the number of bad states. For worlds it has the contacts, the solver's iterations, the
deepest contact and the energy at the end. For other robots it has the number that stand at the end, the change of
energy of a sample without damping, and the agreement of a sample with the float64 kernels for any robot.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from .. import model as models, operations, viewing
from .._robot.states import random_state
from ..simulation import Simulation
from . import (
    add_engine_arguments,
    add_model_arguments,
    load,
    positive,
    refuse,
    seconds,
    simulate_world,
    specialise,
    standing,
)
from .simulate_world import Controls, Snapshot, add_control_arguments, check_plot, draw

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    import numpy.typing as npt


SAMPLE = 8  # number of instances to plot and check
STROKE = 20  # steps between two updates of the progress bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    parser.add_argument("--instances", type=positive, default=4096, help="default: %(default)s")
    parser.add_argument("--steps", type=positive, default=1000, help="default: %(default)s")
    add_run_arguments(parser)
    add_control_arguments(parser)
    parser.add_argument("--ground", action="store_true", help="a URDF's robot on the ground, by its collision elements")
    parser.add_argument(
        "--law", choices=["mujoco", "rigid"], default="mujoco", help="of contacts in a world (default: %(default)s)"
    )
    parser.add_argument("--ignore", choices=["world"], help="world: steps the tree of an MJCF file alone")
    parser.add_argument("--plot", metavar="FILE", help="draws a sample's motion into this file")
    parser.add_argument("--video", metavar="FILE", help="writes a video of some instances, such as robots.mp4")
    parser.add_argument("--view", action="store_true", help="shows some instances on a page, in real time")
    parser.add_argument(
        "--shown", type=positive, default=16, help="instances of --video and --view (default: %(default)s)"
    )
    add_engine_arguments(parser)


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dt",
        type=seconds,
        help="time of a step [s] (default: the timestep of an MJCF file; 0.002 for robots that stand, else 0.001)",
    )
    parser.add_argument("--substeps", type=positive, default=1, help="passes that share dt (default: %(default)s)")
    parser.add_argument(
        "--drive", choices=["none", "pd", "stand"], help="default: stand for built-in robots with feet, else none"
    )
    parser.add_argument("--seed", type=int, default=0, help="of initial states and pushes (default: %(default)s)")


def main(options: argparse.Namespace) -> int:
    if options.plot:
        check_plot(options.plot)
    if options.video:
        viewing.check_video(options.video)
    run = begin(options)
    history, elapsed = advance(run, options)
    if not options.steps:
        print("no step was taken")
        return 0
    report(run.sim, options, elapsed)
    if run.controls:
        simulate_world.report(run.sim)
        simulate_world.agreement(run.sim, SAMPLE)
        finish(run, history, options)
        return 0
    if run.pushes and run.pose is not None:
        standing.report(run.sim, run.pose, run.pushes)
    passive_check(run.sim.model, options, run.q, run.v)
    reference = models.Model(run.sim.model.robot, threads=1, isa="base")
    rows, errors = simulate_world.errors_of_step(run.sim, SAMPLE, reference, ignore="world")
    if len(rows):
        print(
            f"agreement: one step of {len(rows)} instances is within {errors.max():.1e} of float64 kernels for any robot"
        )
    finish(run, history, options)
    return 0


def finish(run: Run, history: list[Snapshot], options: argparse.Namespace) -> None:
    if options.plot:
        draw(options.plot, run.sim.model, history, options, bool(run.controls))
        print(f"plot: {os.path.abspath(options.plot)}")
    if options.video:
        print(f"video: {os.path.abspath(options.video)}")


@dataclass
class Run:
    """A simulation with its drives, pushes and initial states."""

    sim: Simulation
    arguments: dict[str, Any]
    pushes: standing.Pushes | None
    pose: npt.NDArray[np.float64] | None
    q: npt.NDArray[Any]
    v: npt.NDArray[Any]
    controls: Controls | None = None  # for a world

    def step(self) -> float:
        """Make a step, and return the time of the engine [s]."""
        if self.pushes:
            self.pushes(self.sim)
        if self.controls:
            self.controls.write(self.sim.ctrl)
        start = time.perf_counter()
        self.sim.step(**self.arguments)
        return time.perf_counter() - start


def begin(options: argparse.Namespace) -> Run:
    model = load(options)
    of_engine = f"{options.dtype}, {model.threads} threads, {model.isa}"
    heading = f"{model.name}: {options.instances} instances, nv {model.nv}, {of_engine}"
    if model.has_world and getattr(options, "ignore", None) != "world":
        print(heading)
        sim, given = simulate_world.begin(model, options)
        return Run(sim, {}, None, None, np.array(sim.q), np.array(sim.v), given)
    refuse(
        options,
        {"controls": "zero", "keyframe": -1, "law": "mujoco"},
        f"the world of a model file, but {options.robot} runs without one",
    )
    stance = stance_of(model, options)
    if options.dt is None:
        options.dt = 2e-3 if stance else 1e-3
    if stance:
        model = standing.on_feet(model, stance, not options.no_specialise)
    print(heading)
    if not options.no_specialise:
        start = time.perf_counter()
        done = specialise(model, ["contact_step" if stance else "step"], options.dtype)
        print(f"kernel {'for this robot' if done else 'for any robot'} after {time.perf_counter() - start:.2f} s")
    sim = Simulation(model, options.instances, options.dt, options.substeps, dtype=options.dtype, ignore="world")
    pose, pushes = None, None
    if stance:
        pose = standing.pose(model, stance)
        pushes = standing.Pushes(stance.push, options.seed)
        q, v = standing.start(model, stance, pose, options.instances, options.seed, options.dtype)
        arguments = {"q_target": pose, **standing.gains(model, pose)}
    else:
        q, v = random_state(model, options.instances, options.seed, options.dtype, speed=0.5)
        arguments = drive(model, options.drive)
    if "q_target" in arguments:
        arguments["q_target"] = arguments["q_target"].astype(sim.dtype)
    sim.reset(q=q, v=v)
    return Run(sim, arguments, pushes, pose, q, v)


def stance_of(model: models.Model, options: argparse.Namespace) -> standing.Stance | None:
    """Return the stance of the robot, or None if it does not stand."""
    floating = model.bodies[0]["type"] == "free"
    stance = standing.STANCES.get(options.robot) if floating else None
    if options.drive == "stand" and stance is None:
        raise ValueError(
            f"--drive stand: {options.robot} has no feet here, expected one of {', '.join(standing.STANCES)} with a "
            "floating base"
        )
    return stance if options.drive in (None, "stand") else None


def drive(model: models.Model, kind: str | None) -> dict[str, Any]:
    """Return the arguments of Simulation.step: none, or gains by joint inertias at model.q0 (2 Hz, well damped)."""
    if kind != "pd":
        return {}
    inertia = np.diagonal(operations.crba(model, model.q0))
    rate = 4 * np.pi
    limited = np.isfinite(model.lower) & np.isfinite(model.upper)
    middle = (np.where(limited, model.lower, 0) + np.where(limited, model.upper, 0)) / 2
    return {"q_target": middle, "kp": rate**2 * inertia, "kd": 2 * rate * inertia}


def advance(run: Run, options: argparse.Namespace) -> tuple[list[Snapshot], float]:
    """Run all steps. Return the snapshots of the sample and the time spent in step() [s]."""
    plain = os.environ.get("TERM", "dumb") == "dumb"
    sample, shown = min(SAMPLE, run.sim.instances), range(min(options.shown, run.sim.instances))
    history, elapsed, done, every = [], 0.0, 0, max(1, options.steps // 500)

    def once(_: Simulation) -> None:
        nonlocal elapsed, done
        if options.plot and done % every == 0:
            history.append(snapshot(run, sample))
        elapsed += run.step()
        done += 1
        if video:
            video.until(run.sim.time)
        if done % STROKE == 0 or done == options.steps:
            bar.update((done - 1) % STROKE + 1)

    with contextlib.ExitStack() as stack:
        video = stack.enter_context(open_video(options, run.sim, shown)) if options.video else None
        bar = stack.enter_context(
            tqdm(total=options.steps, unit="step", ascii=plain or None, disable=None, mininterval=0.2)
        )
        if options.view:
            viewing.view(run.sim, shown, once, file=shape_file(options), seconds=options.steps * options.dt, wait=True)
            options.steps = done
        else:
            for _ in range(options.steps):
                once(run.sim)
    if options.plot:
        history.append(snapshot(run, sample))
    return history, elapsed


def open_video(options: argparse.Namespace, sim: Simulation, shown: Sequence[int]) -> viewing.Video:
    return viewing.Video(options.video, sim, shown, file=shape_file(options))


def shape_file(options: argparse.Namespace) -> str | None:
    """Return the file with the shapes of the robot, or None for a built-in robot."""
    return options.robot if os.path.exists(options.robot) else None


def snapshot(run: Run, sample: int) -> Snapshot:
    """Return time, q, v, energy of the sample, and the floor's force [N] or, for a world, the number of contacts."""
    sim = run.sim
    q, v = sim.q[:sample].copy(), sim.v[:sample].copy()
    energy = np.add(*operations.energy(sim.model, q, v, check=False))
    if run.controls:
        return sim.time, q, v, energy, simulate_world.counts(sim, sample)
    force = sim.impulse[:sample, :, 0].sum(axis=1) * (sim.substeps / sim.dt) if sim.model.nc else np.zeros(len(q))
    return sim.time, q, v, energy, force


def report(sim: Simulation, options: argparse.Namespace, elapsed: float) -> None:
    n = options.instances * options.steps * options.substeps
    print(
        f"throughput: {n / elapsed:,.0f} instance-steps/s, {elapsed / n * 1e9:.1f} ns per step "
        f"({options.steps} steps of {options.substeps}, {elapsed:.2f} s)"
    )
    bad = int(np.count_nonzero(sim.status))
    print(
        f"status: {bad} of {options.instances} instances have a state that is not finite"
        + ("; take a smaller --dt or more --substeps" if bad else "")
    )


def passive_check(model: models.Model, options: argparse.Namespace, q: npt.NDArray[Any], v: npt.NDArray[Any]) -> None:
    """Print the change of energy of a sample without damping, in float64 with the same step."""
    free = models.Model(model.robot.undamped(), threads=1)
    sample = min(SAMPLE, options.instances)
    sim = Simulation(free, sample, options.dt, options.substeps, dtype="float64", ignore=("contacts", "world"))
    sim.reset(q=normalised(free, q[:sample].astype(np.float64)), v=v[:sample].astype(np.float64))
    steps = min(options.steps, 1000)
    kinetic, potential = sim.energy()
    start, swing = kinetic + potential, np.abs(kinetic)
    for _ in range(steps):
        sim.step()
        kinetic, potential = sim.energy()
        swing = np.maximum(swing, np.abs(kinetic))
    drift = np.abs(kinetic + potential - start) / np.maximum(swing, 1e-300)
    print(
        f"energy: changes by {np.nanmax(drift):.1e} of the largest kinetic energy over {steps} steps "
        f"({sample} instances, no damping{', no floor' if model.nc else ''}, float64)"
        + ("; a smaller --dt or more --substeps brings it down" if np.nanmax(drift) > 0.05 else "")
    )


def normalised(model: models.Model, q: npt.NDArray[Any]) -> npt.NDArray[Any]:
    for _, c in model.quaternions:
        q[:, c : c + 4] /= np.linalg.norm(q[:, c : c + 4], axis=1, keepdims=True)
    return q
