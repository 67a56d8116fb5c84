"""Steps of model files beside mujoco.batch.Batch, on one core, the same states and controls.

    python bench/mujoco_batch.py [--instances 1024] [--steps 50] [--settle 200] [--no-contacts] FILE.xml ...

Robots first move for some steps in MuJoCo, so that they are where they would be, mostly on the ground. Answers come first: the
greatest error of one step in double, beside the greatest number of the array. Then the time of a step and an instance, the median
of several runs of the same steps; for MuJoCo with the file's own solver and with Newton's, whichever is faster; contacts and passes of
Newton's method are those of the last step. A file of a robot alone gets a floor.
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


def states(m, count, settle):
    """q, v, ctrl after some steps."""
    rng = np.random.default_rng(0)
    batch = Batch(m, count)
    q, v = batch.bind("qpos"), batch.bind("qvel")
    for row in q:
        mujoco.mj_integratePos(m, row, rng.normal(size=m.nv), 0.2)
    v[:] = 0.3 * rng.normal(size=(count, m.nv))
    ctrl = rng.uniform(-1, 1, (count, m.nu))
    if m.nu:
        batch.bind("ctrl")[:] = ctrl
    if settle:
        batch.step(nstep=settle)
    return q.copy(), v.copy(), ctrl


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
        self.after = {name: np.empty_like(a) for name, a in self.given.items() if name != "ctrl"}
        self.after["passes"] = np.zeros((self.count, 1), real)

    def step(self, steps):
        """From where it began, always."""
        columns = [(name, a, 0, a.shape[1], False) for name, a in self.given.items()]
        back = [(name, a, 0, a.shape[1], False) for name, a in self.after.items()]
        self.sequence.run(steps, self.count, columns, {}, back)


def median_time(run, repeats=7):
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Theirs:
    def __init__(self, m, q, v, ctrl):
        self.batch = Batch(m, len(q), 1)
        self.state = [(self.batch.bind(n), x) for n, x in (("qpos", q), ("qvel", v), ("ctrl", ctrl)) if x.shape[1]]
        self.warm = self.batch.bind("qacc_warmstart")

    def step(self, steps):
        for array, begin in self.state:
            array[:] = begin
        self.warm[:] = 0
        self.batch.step(nstep=steps)


def with_floor(path):
    spec = mujoco.MjSpec.from_file(str(path))
    if not any(geom.type == mujoco.mjtGeom.mjGEOM_PLANE for geom in spec.geoms):
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    return spec.compile()


def contacts_of(m, states):
    d = mujoco.MjData(m)
    found = []
    for q in states[:100]:
        d.qpos[:] = q
        mujoco.mj_forward(m, d)
        found.append(d.ncon)
    return float(np.mean(found))


def measure(path, instances, steps, settle, contacts):
    m = with_floor(path)
    if not contacts:
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE  # MuJoCo 4.0.0 has a fault in its sparse factor
    q, v, ctrl = states(m, instances, settle)
    model = fs.from_mujoco(m, threads=1)
    one = Ours(model, m, "float64", q, v, ctrl)
    one.step(1)
    exact = m.__copy__()
    exact.opt.tolerance, exact.opt.iterations = 0, 200
    peer = Theirs(exact, q, v, ctrl)
    peer.step(1)
    theirs = peer.batch.bind("qvel")
    error = float(np.abs(one.after["v"] - theirs).max() / np.abs(theirs).max())
    row = {"model": path.stem, "nv": m.nv, "error": error, "contacts": contacts_of(m, one.after["q"])}
    for dtype in ("float32", "float64"):
        ours = Ours(model, m, dtype, q, v, ctrl)
        row[dtype] = median_time(lambda ours=ours: ours.step(steps)) / instances / steps * 1e9
        row["newton " + dtype] = float(ours.after["passes"].mean())
    times = []
    for solver in {int(m.opt.solver), int(mujoco.mjtSolver.mjSOL_NEWTON)}:
        m.opt.solver = solver
        peer = Theirs(m, q, v, ctrl)
        times.append(median_time(lambda peer=peer: peer.step(steps), 3))
    row["mujoco"] = min(times) / instances / steps * 1e9
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--instances", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--settle", type=int, default=200)
    parser.add_argument("--no-contacts", action="store_true")
    options = parser.parse_args()
    print(
        "| model | nv | contacts | error | float32 ns | float64 ns | MuJoCo ns | ratio float32 | float64 | Newton steps |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for path in options.files:
        r = measure(path, options.instances, options.steps, options.settle, not options.no_contacts)
        print(
            f"| {r['model']} | {r['nv']} | {r['contacts']:.1f} | {r['error']:.0e} | {r['float32']:.0f} | {r['float64']:.0f} | {r['mujoco']:.0f} | "
            f"{r['mujoco'] / r['float32']:.0f} | {r['mujoco'] / r['float64']:.0f} | {r['newton float32']:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
