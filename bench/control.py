"""Tasks of closed loops: success, errors, and time of plans, beside the same sampler on MuJoCo's batched engine.

    python bench/control.py [--only NAME ...] [--runs 20] [--ours 20] [--tries 3] [--no-mujoco]

A row is a task under conditions, --runs seeds, in the robot's time with 20 ms of latency, MuJoCo C as the robot: samples x iterations
x control steps, plans a second of the robot, time of a plan p50 and p99, processor time of a plan p50, successes by the task's own
rule or the one that the row names, falls, and errors: root mean square in the plane with its worst run, and the mean of |forward
velocity - command|. Errors are those of the runs that did not fall.

Rows "mujoco.batch" have the same sampler (DIAL), cost, horizon, prediction and seeds; its rollouts are those of mujoco.batch.Batch on
one thread. Its samples are as many as fit into the processor time that a plan of ours takes, p50 of the row above, as measured at
that number of samples: physics alone for MuJoCo, all of a plan for us. The cost is computed outside of this time. All settings of
LEGGED or SWINGING run with --tries seeds and are printed; the best one, by successes, then falls, then error or time, runs with all seeds. Its
core time is followed by that of mujoco.rollout for the same steps. The acrobot and the G1 have no such rows: their controls depend on the
state, and a batch.rollout has no feedback.
"""

import argparse
import contextlib
import functools
import time
from dataclasses import dataclass, field

import mujoco
import numpy as np
from mujoco.batch import Batch
from mujoco.rollout import Rollout as MujocoRollout

import featherstorm as fs
import featherstorm.mujoco
from featherstorm.control import (
    Acrobot,
    CartPole,
    Climb,
    Crate,
    G1Stand,
    G1Step,
    G1Walk,
    HumanoidStandUp,
    Jumps,
    Loop,
    PushBox,
    StandUp,
    Trot,
)
from featherstorm.planning import DIAL

LATENCY = 0.02
DISCRETE = int(mujoco.mjtIntegrator.mjINT_DISCRETE)
FAST, RK4 = int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST), int(mujoco.mjtIntegrator.mjINT_RK4)


def turns(run, task):
    return run.fell is None and np.abs(run.velocities[:, 2] - task.p[2]).mean() < 0.2


def follows(within):
    return lambda run, task: run.fell is None and run.error < within


@dataclass
class Case:
    make: object
    rule: object = None  # (run, task) -> success; None: the task's own
    says: str = ""  # the rule in words
    beside: bool = False  # whether MuJoCo's engine runs it as well
    conditions: dict = field(default_factory=dict)


class HeavyTrunk(Trot):
    """A trot of a robot whose trunk alone is a fifth heavier than the planner's."""

    def plant(self, *given):
        plant = super().plant(*given)
        trunk = plant.model.body("base").id
        plant.model.body_mass[trunk] *= 1.2
        plant.model.body_inertia[trunk] *= 1.2
        mujoco.mj_setConst(plant.model, mujoco.MjData(plant.model))
        return plant


CASES = {
    "cart-pole, swing-up": Case(CartPole, beside=True),
    "acrobot, swing-up": Case(Acrobot),
    "go2, stand up": Case(StandUp, beside=True),
    "go2, trot, feet": Case(Trot),
    "go2, trot, feet, pushes 1 m/s": Case(Trot, follows(0.15), "error < 0.15", conditions={"push": 1.0}),
    "go2, trot, feet, mass +20 %": Case(Trot, conditions={"mass": 1.2}),
    "go2, trot, feet, trunk +20 %": Case(HeavyTrunk),
    "go2, trot, file": Case(lambda: Trot(model="file"), beside=True),
    "go2, trot, file, pushes 1 m/s": Case(
        lambda: Trot(model="file"), follows(0.15), "error < 0.15", conditions={"push": 1.0}
    ),
    "go2, trot, file, mass +20 %": Case(lambda: Trot(model="file"), conditions={"mass": 1.2}),
    "go2, trot, file, trunk +20 %": Case(lambda: HeavyTrunk(model="file")),
    "go2, trot, file, friction 0.4": Case(lambda: Trot(model="file"), conditions={"friction": 0.4}),
    "go1, trot, file": Case(lambda: Trot(robot="go1")),
    "go2, trot 1.5 m/s, feet": Case(lambda: Trot(1.5), follows(0.15), "error < 0.15"),
    "go2, trot 1.5 m/s, file": Case(lambda: Trot(1.5, model="file"), follows(0.15), "error < 0.15"),
    "go2, turn 1 rad/s, feet": Case(lambda: Trot(0.4, turn=1.0), turns, "mean turn error < 0.2 rad/s"),
    "go2, turn 1 rad/s, file": Case(lambda: Trot(0.4, turn=1.0, model="file"), turns, "mean turn error < 0.2 rad/s"),
    "go2, step of 8 cm": Case(Climb, beside=True),
    "go2, jumps": Case(Jumps),
    "go2, jumps, mass +20 %": Case(Jumps, conditions={"mass": 1.2}),
    "go2, jumps of 0.8 m": Case(lambda: Jumps([(0.8, 0, 0)] * 4)),
    "go2, jumps, file": Case(lambda: Jumps(model="file", samples=128), beside=True),
    "go2, crate of 0.3 m": Case(lambda: Crate(0.3)),
    "go2, crate of 0.4 m": Case(Crate, beside=True),
    "go2, crate of 0.4 m, mass +20 %": Case(Crate, conditions={"mass": 1.2}),
    "go2, crate of 0.6 m": Case(lambda: Crate(0.6)),
    "panda, push a box": Case(PushBox),
    "g1, stand": Case(G1Stand),
    "g1, stand, pushes 0.5 m/s": Case(G1Stand, conditions={"push": 0.5}),
    "g1, step in place": Case(G1Step),
    "g1, walk 0.4 m/s": Case(G1Walk),
    "humanoid, stand up": Case(HumanoidStandUp, beside=True),
    "g1, walk 0.4 m/s, mass +20 %": Case(G1Walk, conditions={"mass": 1.2}),
}


class Timed(Loop):
    """A loop that measures the processor time of its plans."""

    core: list

    def plan(self, t):
        begin = time.thread_time()
        super().plan(t)
        self.__dict__.setdefault("core", []).append(time.thread_time() - begin)


def row_of(name, case, task, runs, samples=None, method="featherstorm", core=None):
    """Run a case, and return its row and what a comparison needs."""
    found, spent = [], []
    for seed in range(runs):
        loop = Timed(task, latency=LATENCY, seed=seed, **case.conditions)
        while loop.step():
            pass
        found.append(loop.finish())
        spent += loop.core[1:]
    rule = case.rule or (lambda run, task: run.succeeded)
    good, falls = sum(bool(rule(run, task)) for run in found), sum(run.fell is not None for run in found)
    times = 1e3 * np.concatenate([run.plan_times for run in found])
    core = 1e3 * float(np.median(spent)) if core is None else core
    if task.hold is None:
        errors = np.array([run.error for run in found if run.fell is None] or [np.nan])
        speeds = [run.velocities for run in found if run.fell is None and len(run.velocities)]
        along = np.mean([np.abs(v[:, 0] - task.p[0]).mean() for v in speeds]) if speeds else np.nan
        worst = float(errors.mean()) if np.isfinite(errors).all() else np.inf
        forward = f"; {along:.3f} m/s" if task.unit == "m/s" else f" {task.unit}"
        error = f"{worst:.3f}, {errors.max():.3f}{forward}" if speeds else "-"
        if "turn" in name and speeds:
            error += f"; turn {np.mean([np.abs(v[:, 2] - task.p[2]).mean() for v in speeds]):.3f} rad/s"
    elif isinstance(task, Jumps) and not isinstance(task, Crate):
        landings = np.concatenate([run.velocities[-1] for run in found if len(run.velocities)] or [[np.nan]])
        worst = float(np.nanmedian(landings))
        error = f"landings within {worst:.3f} (median), {np.nanmax(landings):.3f} m (worst)"
    else:
        reached = [run.reached for run in found if run.reached is not None]
        worst = float(np.median(reached)) if reached else np.inf
        error = f"from {worst:.2f} s on, worst {max(reached):.2f}" if reached else "-"
    fallen = ", ".join(str(seed) for seed, run in enumerate(found) if run.fell is not None)
    cells = [
        name, method, f"{samples or task.samples} x {task.iterations} x {task.horizon}", f"{1 / task.dt:.0f}",
        f"{np.percentile(times, 50):.1f}, {np.percentile(times, 99):.1f}" if method == "featherstorm" else "",
        f"{core:.1f}", f"{good}/{runs}", f"{falls}" + (f" (seeds {fallen})" if fallen else ""), error,
    ]  # fmt: skip
    return cells, (-good, falls, worst), core


class Numbers:
    """The state of many samples, as a cost reads it: arrays of objects, whose elements are arrays (samples,)."""

    def __init__(self, model, q, v):
        self.model, self.flat = model, (q, v)
        self.q, self.v = objects(q.T), objects(v.T)
        self.poses, self.readings = {}, None

    def pose(self, frame):
        if frame not in self.poses:
            self.poses[frame] = fs.forward_kinematics(self.model, self.flat[0], frame)
        return self.poses[frame]

    def position(self, frame):
        return objects(np.asarray(self.pose(frame)[0], float).T)

    def rotation(self, frame):
        R = np.moveaxis(np.asarray(self.pose(frame)[1], float), 0, -1)
        return np.stack([objects(row) for row in R])

    def sensor(self, name):
        if self.readings is None:
            batch = readings_of(self.model, len(self.flat[0]))
            batch.bind("qpos")[:], batch.bind("qvel")[:] = self.flat
            batch.forward()
            self.readings = batch.bind("sensordata")
        of = self.model.compiled.sensor(name)
        return objects(self.readings[:, int(of.adr[0]) : int(of.adr[0] + of.dim[0])].T)


@functools.lru_cache(maxsize=4)
def readings_of(model, count):
    return featherstorm.mujoco.Batch(model.compiled, nsim=count, nthread=1, dtype="float64")


def objects(rows):
    found = np.empty(len(rows), object)
    for k, row in enumerate(rows):
        found[k] = np.array(row)
    return found


class Theirs(DIAL):
    """DIAL on mujoco.batch.Batch with the model m. core: processor time of the physics of each iteration [s]."""

    def __init__(self, task, m, samples, iterations, seed):
        self.task, self.m, self.core, self.steps = task, m, [], round(task.dt / m.opt.timestep)
        self.batch, self.data = Batch(m, samples, nthread=1), mujoco.MjData(m)
        super().__init__(
            self.roll, task.horizon, len(task.rest), samples=samples, iterations=iterations, knots=task.knots,
            sigma=task.spread, temperature=task.temperature, lower=task.lower, upper=task.upper, seed=seed,
            dtype="float64", dt=task.dt,
        )  # fmt: skip
        self.reset(np.tile(task.rest, (task.horizon, 1)))

    def begin(self, batch, x):
        batch.reset()
        batch.bind("qpos")[:], batch.bind("qvel")[:] = x[: self.m.nq], x[self.m.nq :]

    def roll(self, x0, U, t0=0.0, p=None):
        task, (B, T, _) = self.task, U.shape
        self.begin(self.batch, x0)
        begin = time.thread_time()
        made = self.batch.rollout(T * self.steps, control=np.repeat(U, self.steps, axis=1), record=("qpos", "qvel"))
        self.core.append(time.thread_time() - begin)
        qs, vs = (made[name][:, self.steps - 1 :: self.steps] for name in ("qpos", "qvel"))
        x = Numbers(task.rollout.model, qs.reshape(B * T, -1), vs.reshape(B * T, -1))
        t = np.tile(t0 + task.dt * np.arange(1, T + 1), B)
        with np.errstate(all="ignore"):
            costs = np.asarray(task.cost(x, objects(U.reshape(B * T, -1).T), t, p), float).reshape(B, T).sum(1)
        return np.where(np.isfinite(costs), costs, np.inf).astype(self.dtype)

    def predict(self, x, t0, latency, **given):
        """Return the state after the latency, by MuJoCo C with the planner's model."""
        h, d = self.m.opt.timestep, self.data
        mujoco.mj_resetData(self.m, d)
        d.qpos[:], d.qvel[:] = x[: self.m.nq], x[self.m.nq :]
        for k in range(round(latency / h)):
            d.ctrl[:] = self.control(t0 + k * h)
            mujoco.mj_step(self.m, d)
        return np.concatenate([d.qpos, d.qvel])


def options(timestep, cone="pyramidal", integrator=FAST, iterations=None, feet=False):
    """Return a function that changes an MjModel."""

    def change(m):
        m.opt.timestep, m.opt.integrator = timestep, integrator
        m.opt.cone = int(mujoco.mjtCone.mjCONE_ELLIPTIC if cone == "elliptic" else mujoco.mjtCone.mjCONE_PYRAMIDAL)
        m.opt.impratio = 100.0 if cone == "elliptic" else 1.0
        m.opt.iterations = iterations or m.opt.iterations
        if feet:
            for g in range(m.ngeom):
                if m.geom_bodyid[g] and not m.geom(g).name.endswith(("_foot", "_foot_collision")):
                    m.geom_contype[g] = m.geom_conaffinity[g] = 0

    return change


LEGGED = {
    "pyramidal, 5 ms": options(0.005),
    "pyramidal, 10 ms": options(0.01),
    "pyramidal, 10 ms, 3 solver iterations": options(0.01, iterations=3),
    "elliptic 100, 5 ms": options(0.005, "elliptic"),
    "discrete, elliptic 100, 10 ms": options(0.01, "elliptic", DISCRETE),
    "discrete, pyramidal, 20 ms": options(0.02, integrator=DISCRETE),
    "feet alone, pyramidal, 10 ms": options(0.01, feet=True),
    "feet alone, discrete, elliptic 100, 20 ms": options(0.02, "elliptic", DISCRETE, feet=True),
}
SWINGING = {
    "implicitfast, 5 ms": options(0.005),
    "implicitfast, 10 ms": options(0.01),
    "implicitfast, 20 ms": options(0.02),
    "RK4, 20 ms": options(0.02, integrator=RK4),
}
SPLITS = (1, 2)  # iterations
TEMPERATURES = (1.0, 0.5)  # parts of the task's, which was chosen with our rollouts


def planner_model(task):
    """Return the MjModel of a task's planner."""
    return task.rollout.model.compiled.__copy__()


def fitting(task, m, iterations, budget):
    """Return the greatest number of samples whose plan takes at most `budget` ms of physics."""
    state, best = task.plant().state, 2
    for samples in (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512):
        planner = Theirs(task, m, samples, iterations, 0)
        for k in range(16):
            planner.command(state, task.dt * k, p=task.p)
        took = 1e3 * iterations * float(np.median(planner.core[-15 * iterations :]))  # not the first, longer call
        if took > 1.2 * budget:
            break
        best = samples if took <= budget else best
    return best


class On(contextlib.AbstractContextManager):
    """Let a task's planners be those of MuJoCo's engine."""

    def __init__(self, task, m, samples, iterations, temperature=1.0):
        self.task, self.made = task, []

        def planner(seed=0):
            self.made.append(Theirs(task, m, samples, iterations, seed))
            return self.made[-1]

        self.before = task.iterations, task.temperature
        task.planner, task.iterations, task.temperature = planner, iterations, temperature * task.temperature

    def core(self):
        """Time of a plan [ms]."""
        return 1e3 * self.task.iterations * float(np.median(np.concatenate([planner.core for planner in self.made])))

    def __exit__(self, *_):
        del self.task.planner
        self.task.iterations, self.task.temperature = self.before


def beside(name, case, task, budget, runs, tries):
    settings = SWINGING if isinstance(task, CartPole) else LEGGED
    tried = []
    for label, change in settings.items():
        m = planner_model(task)
        change(m)
        for iterations in SPLITS:
            samples = fitting(task, m, iterations, budget)
            for temperature in TEMPERATURES:
                with On(task, m, samples, iterations, temperature) as on:
                    method = f"mujoco.batch: {label}, temperature x {temperature:g}"
                    row, rank, _ = row_of(name, case, task, tries, samples, method, core=0.0)
                    row[5] = f"{on.core():.1f}"
                print(line(["tried", *row[1:]]), flush=True)
                tried.append((rank, method, m, samples, iterations, temperature))
    _, method, m, samples, iterations, temperature = min(tried, key=lambda one: one[0])
    with On(task, m, samples, iterations, temperature) as on:
        row, *_ = row_of(name, case, task, runs, samples, f"{method}, best of {len(tried)}", core=0.0)
        row[5] = f"{on.core():.1f}; mujoco.rollout {rollout_time(task, m, samples, iterations):.1f}"
    return row


def rollout_time(task, m, samples, iterations):
    """Return the processor time of the same steps by mujoco.rollout [ms], controls constant."""
    state, data = task.plant().state, mujoco.MjData(m)
    full = np.zeros((samples, mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    full[:, 1 : 1 + len(state)] = state
    steps = task.horizon * round(task.dt / m.opt.timestep)
    control, took = np.tile(task.rest, (samples, steps, 1)), []
    with MujocoRollout(nthread=0) as roll:
        for _ in range(5):
            begin = time.thread_time()
            roll.rollout(m, data, full, control)
            took.append(time.thread_time() - begin)
    return 1e3 * iterations * float(np.median(took))


HEADS = (
    "task", "method", "samples x iterations x steps", "plans/s", "plan p50, p99 [ms]", "core [ms]", "success", "falls",
    "error: rms mean, worst; forward",
)  # fmt: skip


def line(cells):
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="NAME")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--ours", type=int, help="runs of ours beside which MuJoCo runs (default: --runs)")
    parser.add_argument("--tries", type=int, default=3, help="runs of each setting of MuJoCo's (default: %(default)s)")
    parser.add_argument("--no-mujoco", action="store_true")
    given = parser.parse_args()
    print(line(HEADS))
    print("|---" * len(HEADS) + "|")
    for name in given.only:
        case = CASES[name]
        task = case.make()
        label = name + (f" ({case.says})" if case.says else "")
        row, _, core = row_of(label, case, task, (case.beside and given.ours) or given.runs)
        print(line(row), flush=True)
        if case.beside and not given.no_mujoco:
            print(line(beside(label, case, task, core, given.runs, given.tries)), flush=True)


if __name__ == "__main__":
    main()
