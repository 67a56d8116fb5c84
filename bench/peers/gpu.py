"""Simulators on a GPU: MJX, MuJoCo Warp and featherstorm, steps of 2 ms of many instances; none where there is no GPU.

Each adapter is a function of (Case) that returns a Job. All take STEPS steps a launch: MuJoCo Warp and featherstorm as a CUDA
graph, MJX as one program of XLA. Contacts, limits and dry friction are off, the forces are held.
"""

from __future__ import annotations

import gc
import importlib
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .mujoco_robot import MujocoRobot
from .robots import Description
from .rollouts import DT, error, summary

INSTANCES = 8192
STEPS = 20  # of a launch; even, as a simulation goes back and forth between two states
COMPARED = 256  # instances whose velocities after one step are held against MuJoCo's
TOLERANCE = 1e-2  # float32, one step, relative to the largest entry of a state
SAMPLES = 9
NO_GPU = "no GPU here"
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or JAX takes three quarters of a GPU's memory


@dataclass
class Case:
    """A robot and the states of many instances of it."""

    robot: str
    adapter: MujocoRobot
    states: dict  # ours; q, v, tau (B, n)
    exact: np.ndarray  # velocities of the first instances after one step by MuJoCo itself, in our order

    @classmethod
    def of(cls, robot: str, program: Path, instances: int) -> Case:
        with tempfile.TemporaryDirectory() as folder:
            about = Description(program, robot)
            adapter = MujocoRobot(about, Path(folder))
        prepare(adapter.model)
        states = about.random_states(instances)
        few = adapter.states({name: x[:COMPARED] for name, x in states.items()})
        return cls(robot, adapter, states, one_step(adapter, few)[:, adapter.order.v])

    def theirs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """qpos, qvel, qfrc_applied in MuJoCo's order, float32."""
        given = self.adapter.states(self.states)
        return tuple(given[name].astype(np.float32) for name in ("q", "v", "tau"))

    def error(self, v: np.ndarray) -> float:
        return error(np.asarray(v, np.float64)[: len(self.exact)], self.exact)


@dataclass
class Job:
    launch: Callable  # begins STEPS steps of all instances
    wait: Callable  # until all of them are done
    first: np.ndarray  # velocities after one step from the given states, in our order
    device: str
    form: str  # what a launch is


def prepare(model):
    import mujoco

    model.opt.timestep = DT
    # no solver of constraints works on none; of one that runs anyway an iteration is exact
    model.opt.disableflags |= (
        mujoco.mjtDisableBit.mjDSBL_CONTACT
        | mujoco.mjtDisableBit.mjDSBL_LIMIT
        | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
        | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    )
    model.opt.iterations = model.opt.ls_iterations = 1


def one_step(adapter: MujocoRobot, given: dict) -> np.ndarray:
    """Velocities after a step by MuJoCo itself, in its order."""
    import mujoco

    data, v = mujoco.MjData(adapter.model), np.empty_like(given["v"])
    for k in range(len(v)):
        data.qpos, data.qvel, data.qfrc_applied = given["q"][k], given["v"][k], given["tau"][k]
        mujoco.mj_step(adapter.model, data)
        v[k] = data.qvel
    return v


def mjx(case: Case) -> Job:
    import jax
    from mujoco import mjx

    model, one = mjx.put_model(case.adapter.model), mjx.make_data(case.adapter.model)
    batch = jax.vmap(lambda q, v, tau: one.replace(qpos=q, qvel=v, qfrc_applied=tau))(*case.theirs())
    step = jax.vmap(lambda d: mjx.step(model, d))

    def forward(d, _):
        d = step(d)
        return d, d.qvel

    # one program, whose number of steps is known to XLA; it keeps the velocities of each
    many = jax.jit(lambda d: jax.lax.scan(forward, d, length=STEPS)[1])
    last = [many(batch)]
    first = np.asarray(last[0][0])[:, case.adapter.order.v]

    def launch():
        last[0] = many(batch)

    return Job(launch, lambda: last[0].block_until_ready(), first, jax.devices()[0].device_kind, "XLA")


def warp(case: Case) -> Job:
    import mujoco
    import mujoco_warp
    import warp as wp

    wp.config.log_level = wp.LOG_WARNING  # standard output is for results
    model, given = case.adapter.model, case.theirs()
    # no constraints: room for one row of them, as with none the velocities stay what they are (mujoco-warp 4.0.0)
    device, data = (
        mujoco_warp.put_model(model),
        mujoco_warp.put_data(model, mujoco.MjData(model), nworld=len(given[0]), nconmax=0, njmax=1),
    )

    def start():
        for array, x in zip((data.qpos, data.qvel, data.qfrc_applied), given):
            array.assign(x)

    def steps(count):
        for _ in range(count):
            mujoco_warp.step(device, data)

    start()
    steps(1)  # compiles
    first = data.qvel.numpy()[:, case.adapter.order.v]
    start()
    if not wp.get_device().is_cuda:
        return Job(lambda: steps(STEPS), wp.synchronize, first, "cpu", "calls")
    with wp.ScopedCapture() as capture:
        steps(STEPS)
    return Job(lambda: wp.capture_launch(capture.graph), wp.synchronize, first, wp.get_device().name, "graph")


def ours(case: Case, own_kernel: bool = True) -> Job:
    import featherstorm as fs
    from featherstorm import _featherstorm

    B, model = len(case.states["q"]), fs.load(case.robot)
    if own_kernel and not model.specialise("step", device="cuda"):
        raise RuntimeError("no kernel of its own could be made")
    stream = fs.device.Stream()
    options = {"device": "cuda", "stream": stream.number}
    sim = fs.Simulation(model, B, DT, friction_velocity=1e12, **options)
    tau = fs.zeros((B, model.nv), **options)
    tau[:] = case.states["tau"].astype(np.float32)

    def start():
        sim.reset(q=case.states["q"].astype(np.float32), v=case.states["v"].astype(np.float32))

    def steps(count):
        for _ in range(count):
            sim.step(tau)

    start()
    steps(1)
    first = np.asarray(sim.v)
    steps(1)
    start()
    graph = stream.capture(lambda: steps(STEPS))
    if model.specialised("step", device="cuda") != own_kernel:
        raise RuntimeError(f"the kernel that ran is {'not ' if own_kernel else ''}the robot's own")
    return Job(graph.launch, stream.synchronise, first, _featherstorm.cuda_devices()[0][0][0], "graph")


# adapter, its module, the package that has it
LIBRARIES = {
    "featherstorm": (ours, "featherstorm", "featherstorm"),
    "featherstorm, any robot": (lambda case: ours(case, False), "featherstorm", "featherstorm"),
    "MuJoCo Warp": (warp, "mujoco_warp", "mujoco-warp"),
    "MJX": (mjx, "mujoco.mjx", "mujoco-mjx"),
}


def missing(name: str) -> str:
    """Why a library does not run on a GPU here; empty where it does."""
    _, module, package = LIBRARIES[name]
    try:
        importlib.import_module(module)
        if module == "featherstorm":
            from featherstorm import _featherstorm

            devices, why = _featherstorm.cuda_devices()
            return "" if devices else why
        if name == "MJX":
            import jax

            there = jax.default_backend() == "gpu"
        else:
            import warp as wp

            wp.config.log_level = wp.LOG_WARNING
            there = wp.is_cuda_available()
        return "" if there else NO_GPU
    except ModuleNotFoundError as error:
        return f"the module {error.name} is not installed here (for the package {package})"
    except Exception as error:  # a library that does not fit another one, or the driver
        return f"{package} cannot be used here: {type(error).__name__}: {' '.join(str(error).split())[:200]}"


def times(job: Job, instances: int, samples: int = SAMPLES, seconds: float = 0.02) -> list[float]:
    """Nanoseconds per instance and step of some series of launches, each as long as asked for; a longer one goes before."""

    def series(launches):
        start = time.perf_counter()
        for _ in range(launches):
            job.launch()
        job.wait()
        return time.perf_counter() - start

    series(1)
    launches = 1
    while launches < 4096 and series(launches) < seconds:
        launches *= 2
    spent = 0.0
    while spent < 5 * seconds:  # clocks rise
        spent += series(launches)
    return [series(launches) / (launches * STEPS * instances) * 1e9 for _ in range(samples)]


def measure(robot: str, program: Path, repetitions: int) -> dict:
    """{library: {"median" [ns per instance and step], ...} or {"missing": why}}"""
    result, case = {}, None
    for name, (make, _, _) in LIBRARIES.items():
        if why := missing(name):
            result[name] = {"missing": why}
            continue
        case = case or Case.of(robot, program, INSTANCES)
        job = make(case)
        if not (e := case.error(job.first)) < TOLERANCE:
            raise SystemExit(f"{robot}: a step of {name} on the GPU differs from MuJoCo's by {e:.1e}")
        result[name] = summary(times(job, INSTANCES, repetitions))
        del job
        gc.collect()
    return result
