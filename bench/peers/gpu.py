"""Simulators on a GPU: MJX, MuJoCo Warp and featherstorm, a step of 2 ms of many instances; none where there is no GPU.

Each adapter is a function of (mujoco model, qpos, qvel, qfrc_applied) that returns job(), which takes a step of all instances
and waits for it, and last(), the velocities after one step from the given states.
"""
from __future__ import annotations

import importlib.util
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from .mujoco_robot import MujocoRobot
from .robots import Description
from .rollouts import DT, error, summary

INSTANCES = 8192
TOLERANCE = 1e-2  # float32, one step, relative to the largest entry of a state


def mjx(model, q: np.ndarray, v: np.ndarray, tau: np.ndarray):
    import jax
    from mujoco import mjx

    device = mjx.put_model(model)
    one = mjx.make_data(model)
    batch = jax.vmap(lambda q, v, tau: one.replace(qpos=q, qvel=v, qfrc_applied=tau))(q, v, tau)
    step = jax.jit(jax.vmap(lambda d: mjx.step(device, d)))
    return lambda: step(batch).qvel.block_until_ready(), lambda: np.asarray(step(batch).qvel)


def warp(model, q: np.ndarray, v: np.ndarray, tau: np.ndarray):
    import mujoco
    import mujoco_warp
    import warp as wp

    device = mujoco_warp.put_model(model)
    data = mujoco_warp.put_data(model, mujoco.MjData(model), nworld=len(q))

    def start():
        for array, x in ((data.qpos, q), (data.qvel, v), (data.qfrc_applied, tau)):
            array.assign(x.astype(np.float32))

    start()
    mujoco_warp.step(device, data)  # compiles
    with wp.ScopedCapture() as capture:
        mujoco_warp.step(device, data)

    def job():
        wp.capture_launch(capture.graph)
        wp.synchronize()

    def last():
        start()
        job()
        return data.qvel.numpy()

    return job, last


PEERS = {"MJX": (mjx, "mujoco.mjx", "mujoco-mjx"), "MuJoCo Warp": (warp, "mujoco_warp", "mujoco-warp")}


def installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def measure(robot: str, program: Path, repetitions: int) -> dict:
    """{library: {"median" [ns per instance and step], ...} or {"missing": why}}"""
    result, jobs = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        ours = Description(program, robot)
        s = ours.random_states(INSTANCES)
        adapter = MujocoRobot(ours, Path(folder))
        prepare(adapter.model)
        given = adapter.states(s)
        for name, (make, module, package) in PEERS.items():
            if not installed(module):
                result[name] = {"missing": f"not installed here (the package {package})"}
            elif not shutil.which("nvidia-smi"):
                result[name] = {"missing": "no GPU here"}
            else:
                job, last = make(adapter.model, given["q"], given["v"], given["tau"])
                jobs[name] = job, lambda last=last: last()[:, adapter.order.v]
        reason = our_device()
        if reason:
            result["featherstorm"] = {"missing": reason}
        else:
            jobs["featherstorm"] = ours_on_device(robot, s)
        exact = one_step(adapter, given)[:, adapter.order.v]
        for name, (_, last) in jobs.items():
            e = error(np.asarray(last(), np.float64), exact)
            if not e < TOLERANCE:
                raise SystemExit(f"{robot}: a step of {name} on the GPU differs from MuJoCo's by {e:.1e}")
    samples = {name: [] for name in jobs}
    for k in range(repetitions):
        for name in np.random.default_rng(k).permutation(list(jobs)):
            start = time.perf_counter()
            jobs[name][0]()
            samples[name].append((time.perf_counter() - start) * 1e9 / INSTANCES)
    return {**result, **{name: summary(x) for name, x in samples.items()}}


def prepare(model):
    import mujoco

    model.opt.timestep = DT
    model.opt.disableflags |= (mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
                               | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS)


def one_step(adapter: MujocoRobot, given: dict) -> np.ndarray:
    """Velocities after a step by MuJoCo itself, in its order."""
    import mujoco

    data, v = mujoco.MjData(adapter.model), np.empty_like(given["v"])
    for k in range(len(v)):
        data.qpos, data.qvel, data.qfrc_applied = given["q"][k], given["v"][k], given["tau"][k]
        mujoco.mj_step(adapter.model, data)
        v[k] = data.qvel
    return v


def our_device() -> str:
    """Why featherstorm runs on no device; empty where it does."""
    try:
        from featherstorm import _featherstorm
    except ImportError as missing:
        return str(missing)
    devices, missing = _featherstorm.cuda_devices()
    return "" if devices else missing


def ours_on_device(robot: str, s: dict):
    import featherstorm as fs

    model = fs.load(robot)
    sim = fs.Simulation(model, INSTANCES, DT, device="cuda", friction_velocity=1e12)
    batch = fs.Batch(model, INSTANCES, device="cuda")
    batch.tau = s["tau"].astype(np.float32)

    def job():
        sim.step(batch.tau)
        np.asarray(sim.v[:1])  # waits

    def last():
        sim.reset(q=s["q"].astype(np.float32), v=s["v"].astype(np.float32))
        sim.step(batch.tau)
        return np.asarray(sim.v)

    return job, last
