"""Rollouts on all cores: MuJoCo's module `rollout` and featherstorm's Rollout, through their Python packages.

The same states and forces, no contacts, limits and dry friction, steps of 2 ms; the last states are compared first. Wall-clock
time, one repetition of each library in turn.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from .mujoco_robot import MujocoRobot
from .robots import Description

INSTANCES, STEPS, DT = 1024, 50, 0.002
TOLERANCE = {"float64": 1e-8, "float32": 1e-1}  # after all steps, relative to the largest entry of a state


def measure(robot: str, program: Path, repetitions: int) -> dict:
    """{"robot", "times": {library: ns per instance and step}, ...}, or {"missing": why there is none}."""
    try:
        import mujoco.rollout  # noqa: F401

        import featherstorm  # noqa: F401
    except ImportError as missing:
        return {"missing": f"rollouts are not compared: {missing}"}
    with tempfile.TemporaryDirectory() as folder:
        ours = Description(program, robot)
        states = ours.random_states(INSTANCES)
        forces = np.random.default_rng(2).uniform(-1, 1, (INSTANCES, STEPS, ours.nv))
        adapter = MujocoRobot(ours, Path(folder))
        jobs = {"mujoco": mujoco_job(adapter, states, forces)}
        for dtype in ("float64", "float32"):
            jobs[f"featherstorm/{dtype}"] = our_job(robot, dtype, states, forces)
        last = {library: job() for library, job in jobs.items()}
        errors = {library: error(x, last["mujoco"]) for library, x in last.items()}
        for library, e in errors.items():
            if not e < TOLERANCE[library.split("/")[-1].replace("mujoco", "float64")]:
                raise SystemExit(f"{robot}: the rollout of {library} differs from MuJoCo's by {e:.1e}")
        samples = {library: [] for library in jobs}
        for k in range(repetitions):
            for library in np.random.default_rng(k).permutation(list(jobs)):
                start = time.perf_counter()
                jobs[library]()
                samples[library].append((time.perf_counter() - start) * 1e9 / (INSTANCES * STEPS))
    return {
        "robot": robot,
        "instances": INSTANCES,
        "steps": STEPS,
        "threads": os.cpu_count(),
        "errors": errors,
        "times": {library: summary(x) for library, x in samples.items()},
    }


def summary(samples: list[float]) -> dict:
    low, _, high = statistics.quantiles(samples, n=4)
    return {"median": statistics.median(samples), "least": min(samples), "quartiles": [low, high]}


def error(x: np.ndarray, reference: np.ndarray) -> float:
    return float(np.max(np.max(np.abs(x - reference), 1) / np.max(np.abs(reference), 1)))


def mujoco_job(adapter: MujocoRobot, states: dict, forces: np.ndarray):
    """A function that runs all rollouts and returns the last states in our order."""
    import mujoco
    from mujoco.rollout import Rollout

    model, order, threads = adapter.model, adapter.order, os.cpu_count()
    nv = model.nv
    model.opt.disableflags |= (
        mujoco.mjtDisableBit.mjDSBL_CONTACT
        | mujoco.mjtDisableBit.mjDSBL_LIMIT
        | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
    )
    model.opt.timestep = DT
    s = adapter.states(states)
    start = np.concatenate([np.zeros((INSTANCES, 1)), s["q"], s["v"]], 1)
    if start.shape[1] != mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS):
        raise RuntimeError("MuJoCo's state is not (time, qpos, qvel)")
    applied = np.ascontiguousarray(order.give(forces.reshape(-1, nv), order.v).reshape(forces.shape))
    data = [mujoco.MjData(model) for _ in range(threads)]
    pool, out = Rollout(nthread=threads), np.empty((INSTANCES, STEPS, start.shape[1]))

    def job():
        pool.rollout(model, data, start, applied, control_spec=mujoco.mjtState.mjSTATE_QFRC_APPLIED.value, state=out)
        return np.concatenate([out[:, -1, 1:][:, order.q], out[:, -1, 1 + model.nq :][:, order.v]], 1)

    return job


def our_job(robot: str, dtype: str, states: dict, forces: np.ndarray):
    """The same with featherstorm; every state is returned, as MuJoCo's are."""
    import featherstorm as fs

    roll = fs.Rollout(fs.load(robot), DT, friction_velocity=1e12)
    x0 = np.concatenate([states["q"], states["v"]], 1).astype(dtype)
    U = forces.astype(dtype)
    return lambda: np.asarray(roll(x0, U, states=True).final, np.float64)
