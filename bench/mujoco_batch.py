"""Time steps of model files beside mujoco.batch.Batch, from the same states and controls, on one core or more.

    python bench/mujoco_batch.py [--regime lying|feet] [--instances 1024] [--steps 4] [--no-contacts] [--threads 1 2]
        [--stages] [--envpool] [--mjx] FILE.xml ...
    python bench/mujoco_batch.py --regime walking [the same] --policy runs/Go1JoystickFlat-0/policy.npz ...

    lying     states 200 steps after a random pose, under random controls that stay
    feet      40 to 120 steps after the standing pose (the keyframe "home", else the file's own), under small random
              controls where all actuators are motors, else under PD drives to a pose that sways; a Go1 trots
    walking   200 to 400 control steps after a policy (featherstorm train) begins to walk in the environment of its
              task, with the task's model; parameters that the task draws for each instance are nominal

Controls and forces on joints stay during the timed steps, so --steps is small. A file without a plane gets a floor.
Answers are compared first: the error is the greatest difference of velocities after one step in double beside MuJoCo's
Newton method at convergence, relative to the greatest velocity. Times are per step and instance, medians of several
runs; MuJoCo's is the faster one of the file's solver and Newton's method.

Counts are those of the last step; with Runge-Kutta, contacts of its first stage and iterations of its last. `contacts`,
those of them between two moving bodies (`pairs`), and `rows` with a force are MuJoCo's, means over instances;
`iterations` of Newton's method are ours in float32. A vector steps `lanes` neighbours at once: it iterates as often as
the `worst` of them. Its `slots` are, for each body, the most contacts with the world that an instance has there; its
`pair slots` are the same for contacts of two moving bodies, for each set of limbs between them. Neighbours are those in
the order of the instances, which the engine changes: it sorts groups of them by what touches at the beginning of a run
and every eighth step. `searches` are the iterations of an instance that searched the line, in float32.

--stages adds operations and nanoseconds of the equations of motion, of contacts and solver, and of the integrator in
float32; all calls of a step together, four with Runge-Kutta's method. --envpool adds EnvPool (pip install envpool) for
the files that its Gymnasium tasks have: a physics step of the task with the MuJoCo it was built with, a share of
observation and reward included, under random actions, without ends of episodes. --mjx adds MJX (pip install mujoco-mjx)
in float32 on one core: the same steps from the same states, with 64 or all instances a call, the faster one, and at most 4
iterations and 8 of a line search, as it is used (with 100 and 50 a Go1 takes three times as long, with the same error); `MJX
error` as `error` above. XLA compiles for minutes; its programs stay in the folder PEERS_XLA_CACHE, if it is set.
"""

import argparse
import collections
import copy
import functools
import json
import operator
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import mujoco
import numpy as np
from mujoco.batch import Batch

import featherstorm as fs
import machine
from featherstorm import _featherstorm
from featherstorm.commands.view import load
from featherstorm.transfer import MujocoEnv

# file -> EnvPool's task, physics steps of an action
TASKS = {
    "ant": ("Ant-v5", 5),
    "half_cheetah": ("HalfCheetah-v5", 5),
    "hopper": ("Hopper-v5", 4),
    "walker2d_v5": ("Walker2d-v5", 4),
    "humanoid": ("Humanoid-v5", 5),
}
LANES = {"avx512": 16, "avx2": 8}  # of float32, by the kernels' instruction set; else 4
TOLERANCES = {"float32": 1e-6, "float64": 1e-9}

# arrays (count, n) of a state and of what drives it: mjData's name -> the engine's
FIELDS = {
    "qpos": "q", "qvel": "v", "act": "act", "ctrl": "ctrl", "qfrc_applied": "qfrc_applied", "qacc_warmstart": "qacc"
}  # fmt: skip


def bound(batch):
    return {name: batch.bind(name) for name in FIELDS}


def lying(m, count, name):
    rng = np.random.default_rng(0)
    batch = Batch(m, count)
    x = bound(batch)
    for row in x["qpos"]:
        mujoco.mj_integratePos(m, row, rng.normal(size=m.nv), 0.2)
    x["qvel"][:] = 0.3 * rng.normal(size=(count, m.nv))
    x["ctrl"][:] = rng.uniform(-1, 1, (count, m.nu))
    batch.step(nstep=200)
    return copy.deepcopy(x)


def feet(m, count, name):
    home = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_KEY, "home")
    pose, ctrl = (m.qpos0.copy(), 0) if home < 0 else (m.key_qpos[home].copy(), m.key_ctrl[home])
    single = m.jnt_type >= int(mujoco.mjtJoint.mjJNT_SLIDE)  # joints that are held: slides and hinges
    at, dof = m.jnt_qposadr[single], m.jnt_dofadr[single]
    inertia = 1 / m.dof_invweight0[dof]
    kp, kd, swing, rate, offset = 900 * inertia, 40 * inertia, 0.05, 9.0, np.arange(len(dof))
    if name == "unitree_go1":  # the file's own pose has straight legs
        pose[2], pose[7:] = 0.3, [0, 0.9, -1.8] * 4
        kp, kd, swing, rate, offset = 60, 2, [0.08, 0.4, 0.4] * 4, 4 * np.pi, np.repeat([0, np.pi, np.pi, 0], 3)
    motors = m.nu and not m.actuator_biastype.any()
    rng = np.random.default_rng(0)
    batch = Batch(m, count)
    x = bound(batch)
    x["qpos"][:], x["qvel"][:], x["ctrl"][:] = pose, 0.1 * rng.normal(size=(count, m.nv)), ctrl
    x["qpos"][:, at] += 0.03 * rng.normal(size=(count, len(at)))
    phase, last = rng.uniform(0, 2 * np.pi, (count, 1)), rng.integers(40, 120, count)
    found = copy.deepcopy(x)
    for t in range(last.max()):
        if not motors:
            goal = pose[at] + swing * np.sin(rate * t * m.opt.timestep + offset + phase)
            x["qfrc_applied"][:, dof] = kp * (goal - x["qpos"][:, at]) - kd * x["qvel"][:, dof]
        elif t % 5 == 0:
            x["ctrl"][:] = rng.uniform(-0.3, 0.3, x["ctrl"].shape)
        batch.step()
        for field, kept in found.items():
            kept[last == t + 1] = x[field][last == t + 1]
    return found


def walking(path, count):
    """The task's name, its model, and states."""
    policy, name, make = load(str(path))
    batch, one, rng = make().batch(count), MujocoEnv(make()), np.random.default_rng(0)
    m, last = batch.model.compiled.__copy__(), rng.integers(200, 400, count)
    found = copy.deepcopy(bound(Batch(m, count)))
    obs, _ = batch.reset()
    for t in range(last.max() + 1):
        actions = policy(obs)
        for k in np.flatnonzero(last == t):
            one.follow(batch, k)
            ctrl = one.drive(actions[k])
            for field, kept in found.items():
                kept[k] = ctrl if field == "ctrl" else getattr(one.mj_data, field)
            mujoco.mj_normalizeQuat(m, found["qpos"][k])  # which float32 has rounded
        obs, *_ = batch.step(actions)
    return name, m, found


REGIMES = {"lying": lying, "feet": feet, "walking": walking}


class Ours:
    """A batch with its state in arrays of one precision."""

    def __init__(self, model, dtype, states):
        self.sequence = _featherstorm.world_sequence(model.evaluator, dtype, 100, TOLERANCES[dtype], forces=False)
        real = np.dtype(dtype)
        self.count = len(states["qpos"])
        self.given = {FIELDS[name]: x.astype(real) for name, x in states.items() if x.shape[1]}
        self.after = {name: np.empty_like(a) for name, a in self.given.items() if name not in ("ctrl", "qfrc_applied")}
        self.after |= {name: np.zeros((self.count, 1), real) for name in ("passes", "searches")}

    def step(self, steps):
        """Step from the first states, each time."""
        columns = [(name, a, 0, a.shape[1], False) for name, a in self.given.items()]
        back = [(name, a, 0, a.shape[1], False) for name, a in self.after.items()]
        self.sequence.run(steps, self.count, columns, {}, back)


def median_time(run, repeats=7):
    run()
    times = []
    while len(times) < repeats or sum(times) < 0.2:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Theirs:
    def __init__(self, m, states, threads=1):
        self.batch, self.states = Batch(m, len(states["qpos"]), threads), states
        self.bound = bound(self.batch)

    def step(self, steps):
        for name, begin in self.states.items():
            self.bound[name][:] = begin
        if steps:
            self.batch.step(nstep=steps)


def envpool_time(name, instances, steps, threads):
    """Seconds of a physics step of an instance."""
    import envpool

    task, skip = TASKS[name]
    # a cheetah is never unhealthy
    options = {} if name == "half_cheetah" else {"terminate_when_unhealthy": False}
    pool = envpool.make_gymnasium(task, num_envs=instances, num_threads=threads, max_episode_steps=1_000_000, **options)
    pool.reset()
    space, rng = pool.action_space, np.random.default_rng(0)
    actions = rng.uniform(space.low, space.high, (16, instances, *space.shape))
    count = max(steps, 50) // skip

    def run(count=count):
        for k in range(count):
            pool.step(actions[k % len(actions)])

    run(200 // skip)
    return median_time(run, 3) / instances / count / skip


def mjx_time(m, states, steps, exact):
    """Nanoseconds of a step of an instance, and the error of its velocities after one step."""
    m = m.__copy__()
    m.opt.tolerance, m.opt.iterations, m.opt.ls_iterations = TOLERANCES["float32"], 4, 8
    with tempfile.TemporaryDirectory() as folder:
        file, given = (pathlib.Path(folder) / name for name in ("model.mjb", "states.npz"))
        mujoco.mj_saveModel(m, str(file), None)
        np.savez(given, **{name: x for name, x in states.items() if x.shape[1]})
        program = pathlib.Path(__file__).with_name("peers") / "xla.py"
        command = [sys.executable, program, "world", file, given, str(steps)]
        reply = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        error = np.abs(np.load(given)["qvel"] - exact).max() / np.abs(exact).max()
    return min(json.loads(reply.splitlines()[-1]).values()), error


def with_floor(path):
    spec = mujoco.MjSpec.from_file(str(path))
    if not any(geom.type == mujoco.mjtGeom.mjGEOM_PLANE for geom in spec.geoms):
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    return spec.compile()


def limbs_of(m):
    """The limb of each coordinate: a chain without a branch, of at most 7 (host/solver/contact_solver.cpp)."""
    children, chains = collections.Counter(m.dof_parentid), []
    free = m.jnt_type[m.dof_jntid] == int(mujoco.mjtJoint.mjJNT_FREE)
    for k, parent in enumerate(m.dof_parentid):
        if parent < 0 or children[parent] > 1 or free[parent] != free[k]:
            chains.append([])
        chains[-1].append(k)
    return {k: (c[0], i // -(-len(c) // -(-len(c) // 7))) for c in chains for i, k in enumerate(c)}


def counts_of(m, states, passes, searches, lanes):
    """Means over instances, and over vectors of neighbours, of COUNTS."""
    d, limb = mujoco.MjData(m), limbs_of(m)
    moved = [set()]  # of each body, the coordinates that move it
    for parent, first, count in zip(m.body_parentid[1:], m.body_dofadr[1:], m.body_dofnum[1:]):
        moved.append(moved[parent] | set(range(first, first + count)))
    world, pairs = ([collections.Counter() for _ in passes] for _ in range(2))  # contacts by what shares slots
    rows = []
    for k in range(len(passes)):
        for name, x in states.items():
            getattr(d, name)[:] = x[k]
        mujoco.mj_forward(m, d)
        for contact in d.contact:
            bodies = m.body_weldid[m.geom_bodyid[contact.geom]]
            a, b = (moved[body] for body in bodies)
            if contact.efc_address >= 0:
                key = frozenset(limb[v] for v in a ^ b) if a and b else bodies.max()
                (pairs if a and b else world)[k][key, contact.dim] += 1
        rows.append(np.count_nonzero(d.efc_force))

    def vectors(x, most):
        return np.mean([most(x[k : k + lanes]) for k in range(0, len(x), lanes)])

    def slots(contacts):
        return functools.reduce(operator.or_, contacts).total()

    between = np.mean([x.total() for x in pairs])
    contacts = np.mean([x.total() for x in world]) + between
    return [
        contacts, between, np.mean(rows), passes.mean(), vectors(passes, max), searches.mean(), vectors(world, slots),
        vectors(pairs, slots),
    ]  # fmt: skip


def measure(source, threads, options):
    instances, steps = options.instances, options.steps
    walks = options.regime == "walking"
    name, m, states = walking(source, instances) if walks else (source.stem, with_floor(source), None)
    if options.no_contacts:
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE  # MuJoCo 4.0.0 has a fault in its sparse factor
    states = states or REGIMES[options.regime](m, instances, name)
    model = fs.from_mujoco(m, threads=threads)
    one = Ours(model, "float64", states)
    one.step(1)
    exact = m.__copy__()
    exact.opt.tolerance, exact.opt.iterations = 0, 200
    exact.opt.solver = int(mujoco.mjtSolver.mjSOL_NEWTON)  # others end some digits earlier
    peer = Theirs(exact, states)
    peer.step(1)
    theirs = peer.bound["qvel"]
    error = np.abs(one.after["v"] - theirs).max() / np.abs(theirs).max()
    first = theirs.copy()
    row = {"name": name, "nv": m.nv, "threads": threads, "error": error, "lanes": LANES.get(model.isa, 4)}
    for dtype in ("float64", "float32"):
        ours = Ours(model, dtype, states)
        row[dtype] = median_time(lambda ours=ours: ours.step(steps)) / instances / steps * 1e9
    peer.step(steps - 1)
    row["counts"] = counts_of(
        exact, peer.bound, *(ours.after[name][:, 0] for name in ("passes", "searches")), row["lanes"]
    )
    if options.stages:
        row["stages"] = stages_of(model, states, steps)
    times = []
    for solver in {int(m.opt.solver), int(mujoco.mjtSolver.mjSOL_NEWTON)}:
        m.opt.solver = solver
        peer = Theirs(m, states, threads)
        times.append(median_time(lambda peer=peer: peer.step(steps), 3))
    row["mujoco"] = min(times) / instances / steps * 1e9
    if options.mjx:
        row["mjx"] = mjx_time(m, states, steps, first)
    if options.envpool and name in TASKS:
        row["envpool"] = envpool_time(name, instances, steps, threads) * 1e9
    return row


def stages_of(model, states, steps, runs=20):
    """name -> [operations, nanoseconds] of a step and an instance."""
    ours = Ours(model, "float32", states)
    ours.sequence.measure()
    for _ in range(runs):
        ours.step(steps)
    found = {}
    for name, operations, seconds in ours.sequence.costs():
        total = found.setdefault(name, [0, 0.0])
        total[0] += operations
        total[1] += seconds / ours.count / steps / runs * 1e9
    return found


COUNTS = "contacts", "pairs", "rows", "iterations", "worst", "searches", "slots", "pair slots"
TIMES = "error", "float32 ns", "float64 ns", "MuJoCo ns", "ratio float32", "float64"


def cells(r, envpool):
    found = [
        r["name"], f"{r['nv']}", f"{r['threads']}", *(f"{x:.1f}" for x in r["counts"]), f"{r['lanes']}", f"{r['error']:.0e}",
        *(f"{r[name]:.0f}" for name in ("float32", "float64", "mujoco")),
        *(f"{r['mujoco'] / r[dtype]:.1f}" for dtype in ("float32", "float64")),
    ]  # fmt: skip
    if envpool:
        there = "envpool" in r
        found += [f"{r['envpool']:.0f}", f"{r['envpool'] / r['float32']:.0f}"] if there else ["-", "-"]
    if "mjx" in r:
        found += [f"{r['mjx'][0]:.0f}", f"{r['mjx'][0] / r['float32']:.0f}", f"{r['mjx'][1]:.0e}"]
    return found


def line(columns):
    return f"| {' | '.join(columns)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE.xml")
    parser.add_argument("--regime", choices=REGIMES, default="lying", help="which states (default: %(default)s)")
    parser.add_argument("--policy", nargs="+", type=pathlib.Path, default=[], help="policies that walk, a row for each")
    parser.add_argument("--instances", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--no-contacts", action="store_true")
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[1], help="threads of each library, a row for each number"
    )
    parser.add_argument("--stages", action="store_true", help="what a step is made of")
    parser.add_argument("--envpool", action="store_true")
    parser.add_argument("--mjx", action="store_true")
    machine.add_busy_option(parser)
    options = parser.parse_args()
    machine.require_quiet(options.busy)
    walks = options.regime == "walking"
    if bool(options.policy) != walks or bool(options.files) == walks:
        parser.error("expected --policy with --regime walking, else model files")
    if options.envpool and (options.no_contacts or walks):
        parser.error("--envpool: its tasks have contacts, and random actions")
    heads = [options.regime, "nv", "threads", *COUNTS, "lanes", *TIMES]
    heads += ["EnvPool ns", "EnvPool / float32"] if options.envpool else []
    heads += ["MJX ns", "MJX / float32", "MJX error"] if options.mjx else []
    print(line(heads))
    print("|---" * len(heads) + "|")
    for source in options.policy or options.files:
        for threads in options.threads:
            row = measure(source, threads, options)
            print(line(cells(row, options.envpool)), flush=True)
            for name, (operations, time_taken) in row.get("stages", {}).items():
                counted = f"{operations} operations, " if operations else ""
                print(f"    {row['name']}, {name}: {counted}{time_taken:.0f} ns")


if __name__ == "__main__":
    main()
