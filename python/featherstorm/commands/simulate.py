"""Simulates thousands of instances of a robot, and checks the result.

Built-in robots with feet stand on a floor, held by drives in their pose, and are pushed now and then. Others begin in random
states and swing freely, without a floor, as all do with --drive none; with --drive pd every joint is pulled to the middle of
its range. Reported are the throughput, how many states went bad, how many robots stand at the end, by how much the energy
of a sample without damping changes, and the agreement of a sample with the float64 kernels for any robot.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import model as models, operations
from ..robot.states import random_state
from ..simulation import Simulation
from . import add_engine_arguments, add_model_arguments, load, positive, seconds, specialise, standing
from .simulate_plot import check_plot, draw

if TYPE_CHECKING:
    import argparse

    import numpy.typing as npt

    from .simulate_plot import Snapshot

SAMPLE = 8  # instances that are drawn and checked
STROKE = 20  # steps between two moves of the progress bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    parser.add_argument("--instances", type=positive, default=4096, help="default: %(default)s")
    parser.add_argument("--steps", type=positive, default=1000, help="default: %(default)s")
    parser.add_argument(
        "--dt", type=seconds, help="time of a step [s] (default: 0.002 for robots that stand, else 0.001)"
    )
    parser.add_argument("--substeps", type=positive, default=1, help="passes that share dt (default: %(default)s)")
    parser.add_argument(
        "--drive", choices=["none", "pd", "stand"], help="default: stand for built-in robots with feet, else none"
    )
    parser.add_argument("--seed", type=int, default=0, help="of initial states and pushes (default: %(default)s)")
    parser.add_argument("--plot", metavar="FILE", help="draws a sample's motion into this file")
    add_engine_arguments(parser)


def main(options: argparse.Namespace) -> int:
    if options.plot:
        check_plot(options.plot)
    model = load(options)
    stance = stance_of(model, options)
    if options.dt is None:
        options.dt = 2e-3 if stance else 1e-3
    if stance:
        model = standing.on_feet(model, stance, not options.no_specialise)
    print(
        f"{model.name}: {options.instances} instances, nv {model.nv}, {options.dtype}, {model.threads} threads, "
        f"{model.isa}"
    )
    if not options.no_specialise:
        start = time.perf_counter()
        done = specialise(model, ["contact_step" if stance else "step"], options.dtype)
        print(f"kernel {'for this robot' if done else 'for any robot'} after {time.perf_counter() - start:.2f} s")
    sim = Simulation(model, options.instances, options.dt, options.substeps, dtype=options.dtype)
    if stance:
        pose = standing.pose(model, stance)
        pushes: standing.Pushes | None = standing.Pushes(stance.push, options.seed)
        q, v = standing.start(model, stance, pose, options.instances, options.seed, options.dtype)
        arguments = {"q_target": pose, **standing.gains(model, pose)}
    else:
        q, v = random_state(model, options.instances, options.seed, options.dtype, speed=0.5)
        arguments, pushes = drive(model, options.drive), None
    sim.reset(q=q, v=v)
    history, elapsed = advance(sim, options, arguments, pushes)
    report(sim, options, elapsed)
    if pushes:
        standing.report(sim, pose, pushes)
    passive_check(model, options, q, v)
    agreement(sim, options)
    if options.plot:
        draw(options.plot, model, history, options)
        print(f"plot: {os.path.abspath(options.plot)}")
    return 0


def stance_of(model: models.Model, options: argparse.Namespace) -> standing.Stance | None:
    """How the robot stands, None where it does not."""
    floating = model.bodies[0]["type"] == "free"
    stance = standing.STANCES.get(options.robot) if floating else None
    if options.drive == "stand" and stance is None:
        raise ValueError(
            f"--drive stand: {options.robot} has no feet here, expected one of {', '.join(standing.STANCES)} with a "
            "floating base"
        )
    return stance if options.drive in (None, "stand") else None


def drive(model: models.Model, kind: str | None) -> dict[str, Any]:
    """Arguments of Simulation.step: none, or gains by the inertia each joint moves at model.q0 (2 Hz, well damped)."""
    if kind != "pd":
        return {}
    inertia = np.diagonal(operations.crba(model, model.q0))
    rate = 4 * np.pi
    limited = np.isfinite(model.lower) & np.isfinite(model.upper)
    middle = (np.where(limited, model.lower, 0) + np.where(limited, model.upper, 0)) / 2
    return {"q_target": middle, "kp": rate**2 * inertia, "kd": 2 * rate * inertia}


def advance(
    sim: Simulation, options: argparse.Namespace, arguments: dict[str, Any], pushes: standing.Pushes | None
) -> tuple[list[Snapshot], float]:
    """Runs all steps; returns the snapshots of the sample and the seconds spent in step()."""
    from tqdm import tqdm

    if "q_target" in arguments:
        arguments["q_target"] = arguments["q_target"].astype(sim.dtype)
    plain = os.environ.get("TERM", "dumb") == "dumb"
    sample = min(SAMPLE, sim.instances)
    history, elapsed, every = [], 0.0, max(1, options.steps // 500)
    with tqdm(total=options.steps, unit="step", ascii=plain or None, disable=None, mininterval=0.2) as bar:
        for k in range(options.steps):
            if options.plot and k % every == 0:
                history.append(snapshot(sim, sample))
            if pushes:
                pushes(sim)
            start = time.perf_counter()
            sim.step(**arguments)
            elapsed += time.perf_counter() - start
            if (k + 1) % STROKE == 0 or k + 1 == options.steps:
                bar.update((k % STROKE) + 1)
    if options.plot:
        history.append(snapshot(sim, sample))
    return history, elapsed


def snapshot(sim: Simulation, sample: int) -> Snapshot:
    """time, q, v, energy and the force that the floor exerts [N] of the sample."""
    q, v = sim.q[:sample].copy(), sim.v[:sample].copy()
    energy = np.add(*operations.energy(sim.model, q, v, check=False))
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
    """By how much the energy of a sample changes without damping, in float64 with the same step."""
    free = models.Model(model.robot.undamped(), threads=1)
    sample = min(SAMPLE, options.instances)
    sim = Simulation(free, sample, options.dt, options.substeps, dtype="float64", ignore="contacts")
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


def agreement(sim: Simulation, options: argparse.Namespace) -> None:
    """A step of a sample by the kernels in use, against float64 kernels for any robot."""
    good = np.flatnonzero(sim.status[:SAMPLE] == 0)
    if len(good) == 0:
        print("agreement: no finite instance in the sample")
        return
    q, v = sim.q[good], sim.v[good]
    states = []
    for model, dtype in (
        (sim.model, sim.dtype),
        (models.Model(sim.model.robot, threads=1, isa="base"), np.dtype("float64")),
    ):
        one = Simulation(model, len(good), options.dt, options.substeps, dtype=dtype)
        one.reset(q=q.astype(dtype), v=v.astype(dtype))
        one.step()
        states.append((one.q.astype(np.float64), one.v.astype(np.float64)))
    errors = [np.abs(x - y).max() / max(1.0, np.abs(y).max()) for x, y in zip(*states)]
    print(f"agreement: one step of {len(good)} instances is within {max(errors):.1e} of float64 kernels for any robot")


def normalised(model: models.Model, q: npt.NDArray[Any]) -> npt.NDArray[Any]:
    for _, c in model.quaternions:
        q[:, c : c + 4] /= np.linalg.norm(q[:, c : c + 4], axis=1, keepdims=True)
    return q
