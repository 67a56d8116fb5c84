"""Steps of model files beside mujoco.batch.Batch, on one core, the same states and controls. Contacts are off in both: they are not
there yet.

    python bench/mujoco_batch.py [--instances 1024] [--steps 50] FILE.xml ...

Answers come first: the greatest error of one step in double, beside the greatest number of the array. Then the time of a step and
an instance, the median of several runs, with files' own solver options for MuJoCo, and how many of Newton's steps ours took.
"""

import argparse
import pathlib
import statistics
import time

import mujoco
import numpy as np
from mujoco.batch import Batch

import featherstorm as fs
from featherstorm import _featherstorm

TOLERANCES = {"float32": 1e-6, "float64": 1e-9}


def states(m, count):
    rng = np.random.default_rng(0)
    q = np.repeat(m.qpos0[None], count, 0)
    for row in q:
        mujoco.mj_integratePos(m, row, rng.normal(size=m.nv), 0.2)
    return q, 0.3 * rng.normal(size=(count, m.nv)), rng.uniform(-1, 1, (count, m.nu))


class Ours:
    """A batch with its state in arrays of one precision."""

    def __init__(self, model, m, dtype, q, v, ctrl):
        self.sequence = _featherstorm.world_sequence(model.evaluator, dtype, 100, TOLERANCES[dtype])
        real = np.dtype(dtype)
        self.count = len(q)
        self.given = {
            "q": np.array(q, real), "v": np.array(v, real), "ctrl": np.array(ctrl, real),
            "act": np.zeros((self.count, m.na), real), "qacc": np.zeros((self.count, m.nv), real),
        }  # fmt: skip
        self.given = {name: a for name, a in self.given.items() if a.shape[1]}
        self.passes = np.zeros((self.count, 1), real)

    def step(self, steps):
        columns = [(name, a, 0, a.shape[1], False) for name, a in self.given.items()]
        back = [c for c in columns if c[0] != "ctrl"]
        self.sequence.run(steps, self.count, columns, {}, [*back, ("passes", self.passes, 0, 1, False)])


def median_time(run, repeats=7):
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(path, instances, steps):
    m = mujoco.MjModel.from_xml_path(str(path))
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE  # MuJoCo 4.0.0 has a fault in its sparse factor
    q, v, ctrl = states(m, instances)
    model = fs.from_mujoco(m, threads=1)
    one = Ours(model, m, "float64", q, v, ctrl)
    one.step(1)
    exact = m.__copy__()
    exact.opt.tolerance, exact.opt.iterations = 0, 200
    peer = Batch(exact, instances, 1)
    peer.bind("qpos")[:], peer.bind("qvel")[:] = q, v
    if m.nu:
        peer.bind("ctrl")[:] = ctrl
    peer.step()
    theirs = peer.bind("qvel")
    error = float(np.abs(one.given["v"] - theirs).max() / np.abs(theirs).max())
    row = {"model": path.stem, "nv": m.nv, "error": error}
    for dtype in ("float32", "float64"):
        ours = Ours(model, m, dtype, q, v, ctrl)
        row[dtype] = median_time(lambda ours=ours: ours.step(steps)) / instances / steps * 1e9
        row["newton " + dtype] = float(ours.passes.mean())
    peer = Batch(m, instances, 1)
    peer.bind("qpos")[:], peer.bind("qvel")[:] = q, v
    if m.nu:
        peer.bind("ctrl")[:] = ctrl
    row["mujoco"] = median_time(lambda: peer.step(nstep=steps), 3) / instances / steps * 1e9
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--instances", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_args()
    print("| model | nv | error | float32 ns | float64 ns | MuJoCo ns | ratio float32 | float64 | Newton steps |")
    print("|---|---|---|---|---|---|---|---|---|")
    for path in options.files:
        r = measure(path, options.instances, options.steps)
        print(
            f"| {r['model']} | {r['nv']} | {r['error']:.0e} | {r['float32']:.0f} | {r['float64']:.0f} | {r['mujoco']:.0f} | "
            f"{r['mujoco'] / r['float32']:.0f} | {r['mujoco'] / r['float64']:.0f} | {r['newton float32']:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
