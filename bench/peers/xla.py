"""MJX and frax for peers.py: a program like those in C++ (serve.h) that evaluates a batch of states by one XLA program.

    python bench/peers/xla.py mjx|frax float|double JOINTS MODEL STATES
    python bench/peers/xla.py world MODEL STATES STEPS

JOINTS are our joints' names with commas. MODEL is a compiled model of MuJoCo for mjx, a URDF file for frax. OP is
OPERATION/BATCH: BATCH states a call, until each state was evaluated at least once. The process keeps to one core, where XLA
starts no threads of its own. Times are processor time of the process.

`world` serves bench/mujoco_batch.py: steps of MJX with contacts, in float32.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable

import numpy as np

DT = 0.002  # length of a step [s], MuJoCo's default


def on_one_core():
    """Bind this process to one core, before JAX counts the cores."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ["JAX_PLATFORMS"] = "cpu"
    # by default XLA of JAX 0.10 computes shared values of a chain of joints again for each use: MJX takes milliseconds a state
    flags = "--xla_cpu_multi_thread_eigen=false", "--xla_cpu_use_fusion_emitters=false"
    os.environ["XLA_FLAGS"] = " ".join((os.environ.get("XLA_FLAGS", ""), *flags))


def keep_programs():
    """Keep XLA's programs in the folder PEERS_XLA_CACHE, if there is one: compiling takes longer than measuring."""
    import jax

    if folder := os.environ.get("PEERS_XLA_CACHE"):
        jax.config.update("jax_compilation_cache_dir", folder)


def mjx_operations(file: str) -> dict[str, Callable]:
    """Operations of one state, as functions of (q, v, a, tau), without contacts, limits and dry friction."""
    import mujoco
    from mujoco import mjx
    from mujoco.mjx._src.smooth import solve_m  # without a public name

    m = mujoco.MjModel.from_binary_path(file)
    off = mujoco.mjtDisableBit
    m.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_FRICTIONLOSS
    m.opt.timestep = DT
    model, data = mjx.put_model(m), mjx.make_data(m)

    def inertia(q, v):
        d = mjx.com_pos(model, mjx.kinematics(model, data.replace(qpos=q, qvel=v)))
        return mjx.crb(model, d)

    def fd(q, v, a, tau):
        d = mjx.rne(model, mjx.com_vel(model, mjx.factor_m(model, inertia(q, v))))
        return solve_m(model, d, tau - d.qfrc_bias)

    def step(q, v, a, tau):
        return mjx.step(model, data.replace(qpos=q, qvel=v, qfrc_applied=tau)).qvel

    return {"crba": lambda q, v, a, tau: mjx.full_m(model, inertia(q, v)), "fd": fd, "step": step}


def frax_operations(file: str, joints: list[str]) -> dict[str, Callable]:
    """Operations of one state, as functions of (q, v, a, tau), in our order of joints."""
    import frax

    floating = "quaternion" if "root" in joints else None
    robot = frax.Robot(file, joint_ordering=[n for n in joints if n != "root"], floating_base=floating)
    gravity = np.array([0, 0, 9.81, 0, 0, 0])  # its own constant
    return {
        "rnea": lambda q, v, a, tau: robot.rnea(q, v, a, gravity, None),
        "crba": lambda q, v, a, tau: robot.crba(q),
        "fd": lambda q, v, a, tau: robot.forward_dynamics(q, v, tau, None),
    }


def read_states(file: str) -> list[np.ndarray]:
    """q, v, a, tau (N, n) of a file for serve.h."""
    count, nq, nv = np.fromfile(file, np.int64, 3)
    x, found = np.fromfile(file, np.float64, offset=24), []
    for n in (nq, nv, nv, nv):
        found.append(x[: count * n].reshape(count, n))
        x = x[count * n :]
    return found


def world(file: str, states: str, steps: int, repeats: int = 3):
    """Return the least nanoseconds of a step and instance by the instances of a call; the file of states gets velocities.

    in    states   an .npz file of mjData's arrays (count, n)
    out   states   the velocities (count, nv) after one step, as "qvel"
    """
    import jax
    import mujoco
    from mujoco import mjx

    model, data = (f(mujoco.MjModel.from_binary_path(file)) for f in (mjx.put_model, mjx.make_data))
    with np.load(states) as found:
        given = {name: found[name].astype(np.float32) for name in found.files}

    def run(x):
        def step(d, _):
            d = mjx.step(model, d)
            return d, d.qvel

        return jax.lax.scan(step, data.replace(**x), length=steps)[1]

    times, count = {}, len(given["qpos"])
    for batch in sorted({min(64, count), count}):
        part = {name: jax.device_put(x[:batch]) for name, x in given.items()}
        call, took = jax.jit(jax.vmap(run)), []
        velocities = np.asarray(call(part))
        for _ in range(repeats):
            start = time.process_time()
            call(part).block_until_ready()
            took.append(time.process_time() - start)
        times[batch] = min(took) * 1e9 / batch / steps
    np.savez(states, qvel=velocities[:, 0])
    return times


def main():
    if sys.argv[1] == "world":
        on_one_core()
        keep_programs()
        print(json.dumps(world(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
        return
    library, precision, joints, file, states = sys.argv[1:]
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print notices
    on_one_core()
    import jax

    jax.config.update("jax_enable_x64", precision == "double")
    keep_programs()
    operations = mjx_operations(file) if library == "mjx" else frax_operations(file, joints.split(","))
    given = [x.astype(np.float64 if precision == "double" else np.float32) for x in read_states(states)]
    count, prepared = len(given[0]), {}

    def prepare(name: str) -> tuple[Callable, list]:
        op, batch = name.split("/")[0], int(name.split("/")[1])
        parts = -(-count // batch)
        x = [jax.device_put(np.resize(a, (parts, batch, a.shape[1]))) for a in given]
        inputs = [[a[k] for a in x] for k in range(parts)]
        return jax.jit(jax.vmap(operations[op])).lower(*inputs[0]).compile(), inputs

    for line in sys.stdin:
        command, name, argument = line.split()
        if name.split("/")[0] not in operations:
            print("none", file=replies, flush=True)
            continue
        if name not in prepared:
            prepared[name] = prepare(name)
        call, inputs = prepared[name]
        if command == "answer":
            x = np.concatenate([np.asarray(call(*part), np.float64) for part in inputs])[:count].reshape(count, -1)
            x.tofile(argument)
            print(x.shape[1], file=replies, flush=True)
            continue
        call(*inputs[0]).block_until_ready()
        start, now, passes = time.process_time(), 0.0, 0
        while now < float(argument):
            for part in inputs:
                call(*part).block_until_ready()
            now, passes = time.process_time() - start, passes + 1
        print(now * 1e9 / (passes * len(inputs) * len(inputs[0][0])), file=replies, flush=True)


if __name__ == "__main__":
    main()
