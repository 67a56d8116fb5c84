"""Steps of model files beside mujoco.batch.Batch, on one core or more, the same states and controls.

    python bench/mujoco_batch.py [--instances 1024] [--steps 50] [--settle 200] [--no-contacts] [--keyframe] [--threads 1 2] [--stages]
        [--envpool] FILE.xml ...

Robots first move for some steps in MuJoCo, so that they are where they would be, mostly on the ground. Answers come first: the
greatest error of one step in double beside MuJoCo's Newton, relative to the greatest number of the array. Then the time of a step and an instance, the median
of several runs of the same steps; for MuJoCo with the file's own solver and with Newton's, whichever is faster; contacts and passes of
Newton's method are those of the last step. A file of a robot alone gets a floor. Controls are random numbers that stay, so robots
fall and lie about; with --keyframe they begin at the file's first keyframe with its controls, a little off both, and mostly stand.

--stages tells how ours is made up, in float32: operations and nanoseconds of the equations of motion, the solver with what touches, and
the way on; all calls of a step together, four of Runge-Kutta's method.

--envpool adds EnvPool (pip install envpool) for the files that its Gymnasium tasks have: a physics step of the task with the MuJoCo it
was built with, a share of observation and reward included, after as many steps of random actions, without ends of episodes.
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

# of a file: the task that steps it, and how many physics steps an action lasts
TASKS = {
    "ant": ("Ant-v5", 5),
    "half_cheetah": ("HalfCheetah-v5", 5),
    "hopper": ("Hopper-v5", 4),
    "walker2d_v5": ("Walker2d-v5", 4),
    "humanoid": ("Humanoid-v5", 5),
}
TOLERANCES = {"float32": 1e-6, "float64": 1e-9}


def states(m, count, settle, keyframe):
    """q, v, ctrl after some steps."""
    rng = np.random.default_rng(0)
    batch = Batch(m, count)
    q, v = batch.bind("qpos"), batch.bind("qvel")
    if keyframe:
        if not m.nkey:
            raise SystemExit("--keyframe: the file has none")
        q[:] = m.key_qpos[0]
    for row in q:
        mujoco.mj_integratePos(m, row, rng.normal(size=m.nv), 0.02 if keyframe else 0.2)
    v[:] = 0.3 * rng.normal(size=(count, m.nv))
    ctrl = m.key_ctrl[0] + 0.05 * rng.normal(size=(count, m.nu)) if keyframe else rng.uniform(-1, 1, (count, m.nu))
    if m.nu:
        batch.bind("ctrl")[:] = ctrl
    if settle:
        batch.step(nstep=settle)
    return q.copy(), v.copy(), ctrl


class Ours:
    """A batch with its state in arrays of one precision."""

    def __init__(self, model, m, dtype, q, v, ctrl):
        self.sequence = _featherstorm.world_sequence(model.evaluator, dtype, 100, TOLERANCES[dtype], forces=False)
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
    def __init__(self, m, q, v, ctrl, threads=1):
        self.batch = Batch(m, len(q), threads)
        self.state = [(self.batch.bind(n), x) for n, x in (("qpos", q), ("qvel", v), ("ctrl", ctrl)) if x.shape[1]]
        self.warm = self.batch.bind("qacc_warmstart")

    def step(self, steps):
        for array, begin in self.state:
            array[:] = begin
        self.warm[:] = 0
        self.batch.step(nstep=steps)


def envpool_time(name, instances, steps, settle, threads):
    """Seconds of a physics step of an instance."""
    import envpool

    task, skip = TASKS[name]
    # a cheetah is never unhealthy
    options = {} if name == "half_cheetah" else {"terminate_when_unhealthy": False}
    pool = envpool.make_gymnasium(task, num_envs=instances, num_threads=threads, max_episode_steps=1_000_000, **options)
    pool.reset()
    space, rng = pool.action_space, np.random.default_rng(0)
    actions = rng.uniform(space.low, space.high, (16, instances, *space.shape))
    count = max(steps // skip, 1)

    def run(count=count):
        for k in range(count):
            pool.step(actions[k % len(actions)])

    run(max(settle // skip, 1))
    return median_time(run, 3) / instances / count / skip


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


def measure(path, instances, steps, settle, contacts, keyframe, threads, stages, envpool):
    m = with_floor(path)
    if not contacts:
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE  # MuJoCo 4.0.0 has a fault in its sparse factor
    q, v, ctrl = states(m, instances, settle, keyframe)
    model = fs.from_mujoco(m, threads=threads)
    one = Ours(model, m, "float64", q, v, ctrl)
    one.step(1)
    exact = m.__copy__()
    exact.opt.tolerance, exact.opt.iterations = 0, 200
    exact.opt.solver = int(mujoco.mjtSolver.mjSOL_NEWTON)  # others end some digits earlier
    peer = Theirs(exact, q, v, ctrl)
    peer.step(1)
    theirs = peer.batch.bind("qvel")
    error = float(np.abs(one.after["v"] - theirs).max() / np.abs(theirs).max())
    row = {
        "model": path.stem,
        "nv": m.nv,
        "threads": threads,
        "error": error,
        "contacts": contacts_of(m, one.after["q"]),
    }
    for dtype in ("float32", "float64"):
        ours = Ours(model, m, dtype, q, v, ctrl)
        row[dtype] = median_time(lambda ours=ours: ours.step(steps)) / instances / steps * 1e9
        row["newton " + dtype] = float(ours.after["passes"].mean())
    if stages:
        row["stages"] = stages_of(model, m, instances, steps, (q, v, ctrl))
    times = []
    for solver in {int(m.opt.solver), int(mujoco.mjtSolver.mjSOL_NEWTON)}:
        m.opt.solver = solver
        peer = Theirs(m, q, v, ctrl, threads)
        times.append(median_time(lambda peer=peer: peer.step(steps), 3))
    row["mujoco"] = min(times) / instances / steps * 1e9
    if envpool and path.stem in TASKS:
        row["envpool"] = envpool_time(path.stem, instances, steps, settle, threads) * 1e9
    return row


def stages_of(model, m, instances, steps, given):
    """name -> [operations, nanoseconds] of a step and an instance."""
    ours = Ours(model, m, "float32", *given)
    ours.sequence.measure()
    ours.step(steps)
    found = {}
    for name, operations, seconds in ours.sequence.costs():
        total = found.setdefault(name, [0, 0.0])
        total[0] += operations
        total[1] += seconds / instances / steps * 1e9
    return found


HEADS = [
    "model",
    "nv",
    "threads",
    "contacts",
    "error",
    "float32 ns",
    "float64 ns",
    "MuJoCo ns",
    "ratio float32",
    "float64",
    "Newton steps",
]


def cells(r, envpool):
    found = [
        r["model"], f"{r['nv']}", f"{r['threads']}", f"{r['contacts']:.1f}", f"{r['error']:.0e}", f"{r['float32']:.0f}",
        f"{r['float64']:.0f}", f"{r['mujoco']:.0f}", f"{r['mujoco'] / r['float32']:.0f}", f"{r['mujoco'] / r['float64']:.0f}",
        f"{r['newton float32']:.1f}",
    ]  # fmt: skip
    if envpool:
        there = "envpool" in r
        found += [f"{r['envpool']:.0f}", f"{r['envpool'] / r['float32']:.0f}"] if there else ["-", "-"]
    return found


def line(columns):
    return f"| {' | '.join(columns)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--instances", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--settle", type=int, default=200)
    parser.add_argument("--no-contacts", action="store_true")
    parser.add_argument(
        "--keyframe", action="store_true", help="robots on their feet, where the file's keyframe has them so"
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1], help="of each library, a row for each number")
    parser.add_argument("--stages", action="store_true", help="what a step is made of")
    parser.add_argument("--envpool", action="store_true")
    options = parser.parse_args()
    if options.envpool and options.no_contacts:
        parser.error("--envpool: its tasks have contacts")
    heads = HEADS + (["EnvPool ns", "EnvPool / float32"] if options.envpool else [])
    print(line(heads))
    print("|---" * len(heads) + "|")
    for path in options.files:
        for threads in options.threads:
            given = options.instances, options.steps, options.settle, not options.no_contacts, options.keyframe
            row = measure(path, *given, threads, options.stages, options.envpool)
            print(line(cells(row, options.envpool)), flush=True)
            for name, (operations, time_taken) in row.get("stages", {}).items():
                counted = f"{operations} operations, " if operations else ""
                print(f"    {row['model']}, {name}: {counted}{time_taken:.0f} ns")


if __name__ == "__main__":
    main()
