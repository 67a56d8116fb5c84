"""Seconds and memory until the first step of model files with long chains and with many pairs of geoms.

    python bench/peers/long_chains.py [--both]

A process for each file: seconds of the processor for MuJoCo's compiler, for `mujoco.Batch` of 4 simulations in float64, for its first and
its second step; and by how much the greatest resident memory grows from before the batch to after its second step.

--both compares the two kinds of kernels instead: seconds until the first step, and microseconds of a step and an instance of 64 on one
thread, where the equations are a program of the robot's own and where they take the robot as data.
"""

import argparse
import json
import random
import subprocess
import sys
import time
import warnings
from pathlib import Path

import mujoco

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import machine

LINK = '<geom type="capsule" size=".01" fromto="0 0 0 .1 0 0" mass=".01" contype="{0}" conaffinity="0"/>'
BALL = '<joint type="ball" damping=".001"/>'
HINGE = '<joint axis="0 1 0" damping=".001" limited="true" range="-20 20"/>'


def compiled(worldbody, option=""):
    return mujoco.MjModel.from_xml_string(f"<mujoco><option {option}/><worldbody>{worldbody}</worldbody></mujoco>")


def chain(links, joint, contype=0):
    bodies = "".join(
        f'<body pos="{0.1 if k else 0} 0 {0 if k else 2}">{joint}{LINK.format(contype)}' for k in range(links)
    )
    return bodies + "</body>" * links


def terrain(boxes):
    rng = random.Random(1)
    return "".join(
        f'<geom type="box" size=".2 .2 {rng.uniform(0.1, 0.3):.3f}" pos="{0.4 * (k % 20):.1f} {0.4 * (k // 20):.1f} 0"/>'
        for k in range(boxes)
    )


def free_boxes(count):
    return "".join(
        f'<body pos="{k % 5} {k // 5} 1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>' for k in range(count)
    )


def files():
    for links in (10, 20, 30, 40, 60, 100):
        yield f"{links} ball joints", chain(links, BALL), ""
    yield "60 ball joints, implicitfast", chain(60, BALL), 'integrator="implicitfast"'
    yield "60 ball joints, RK4", chain(60, BALL), 'integrator="RK4"'
    for links in (100, 300):
        yield f"{links} hinges with limits", chain(links, HINGE), ""
    yield "40 free boxes on 230 boxes, 9 980 pairs", terrain(230) + free_boxes(40), ""
    yield "25 hinges over 400 boxes, 10 000 pairs", terrain(400) + chain(25, HINGE, 1), ""
    yield "100 hinges over 100 boxes, 10 000 pairs", terrain(100) + chain(100, HINGE, 1), ""


def highest_memory():
    """[MB]"""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def timed(f):
    began = time.process_time()
    found = f()
    return time.process_time() - began, found


def of_file(name):
    """Measure one model file in this process."""
    worldbody, option = next((xml, option) for n, xml, option in files() if n == name)
    warnings.simplefilter("ignore")
    seconds = {}
    seconds["MuJoCo"], m = timed(lambda: compiled(worldbody, option))
    from featherstorm.mujoco import Batch

    before = highest_memory()
    seconds["load"], batch = timed(lambda: Batch(m, nsim=4))
    seconds["first"], _ = timed(batch.step)
    seconds["second"], _ = timed(batch.step)
    return {"nv": int(m.nv), "MB": highest_memory() - before, **seconds}


def both_kinds(links, joint):
    import numpy as np

    import featherstorm as fs
    from featherstorm import _featherstorm

    m = compiled(chain(links, joint))
    model = fs.from_mujoco(m, threads=1)
    q, v = np.repeat(m.qpos0[None], 64, axis=0), 0.1 * np.random.default_rng(0).normal(size=(64, m.nv))
    row = [int(m.nv)]
    for most in (1 << 22, 0):

        def made(most=most):
            sequence = _featherstorm.world_sequence(model.evaluator, "float64", 100, 1e-10, most_traced=most)
            advance(sequence, 1)
            return sequence

        def advance(sequence, steps):
            columns = [("q", q, 0, m.nq, False), ("v", v, 0, m.nv, False)]
            sequence.run(steps, 64, columns, {}, [("v", np.empty_like(v), 0, m.nv, False)])

        first, sequence = timed(made)
        row += [first, min(timed(lambda s=sequence: advance(s, 5))[0] for _ in range(5)) / 5 / 64 * 1e6]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--both", action="store_true")
    parser.add_argument("--file", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.file:
        print(json.dumps(of_file(given.file)))
        return
    about = machine.describe()
    print(f"{about['cpu']}, commit {about['commit']}, {about['date']}, load {machine.load()}\n")
    if given.both:
        print("| chain | nv | own: first [s] | step [us] | as data: first [s] | step [us] |\n|---|---|---|---|---|---|")
        for what, joint, counts in (("ball joints", BALL, (4, 8, 12, 16, 20, 30)), ("hinges", HINGE, (12, 24, 36, 60))):
            for links in counts:
                nv, own, own_step, data, data_step = both_kinds(links, joint)
                print(
                    f"| {links} {what} | {nv} | {own:.2f} | {own_step:.1f} | {data:.2f} | {data_step:.1f} |", flush=True
                )
        return
    print("| file | nv | MuJoCo [s] | load [s] | first step [s] | second [s] | [MB] |\n|---|---|---|---|---|---|---|")
    for name, _, _ in files():
        done = subprocess.run([sys.executable, __file__, "--file", name], capture_output=True, text=True, timeout=600)
        if done.returncode:
            raise SystemExit(done.stderr)
        x = json.loads(done.stdout)
        print(
            f"| {name} | {x['nv']} | {x['MuJoCo']:.2f} | {x['load']:.2f} | {x['first']:.2f} | {x['second']:.4f} | {x['MB']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
