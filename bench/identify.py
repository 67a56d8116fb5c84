"""The same fits of numbers to logs of MuJoCo C, simulated by featherstorm and by MuJoCo's own batches.

    python bench/identify.py [--threads 2] [--runs 5] [CASE ...]
    python bench/identify.py --noise 20 [CASE ...]
    python bench/identify.py --sysid [--threads 2] [--runs 5]

Cases: `arm`, damping, dry friction and armature of two joints; `go2`, the same of twelve joints of a standing Go2 of
which they move, and the friction of its feet; `ball`, time constant and damping ratio of a bouncing ball's contact;
`box`, the friction of a sliding box that rattles, by a population. The algorithm is featherstorm.identify.fit in all
rows; only the simulation of candidates differs: featherstorm, `mujoco.rollout` with a model for each candidate, and
`mujoco.batch` with expanded fields. Simulated states are compared first, and the numbers at the end. Times are medians
of runs that take turns, of the wall and of the processor (all threads); kernels, thread pools and models were made
before. The first call of featherstorm makes its kernels, unless they are on disk.

--sysid: `arm` by MuJoCo's own toolbox (`pip install mujoco[sysid]`), which simulates the whole log from its first
state, and is given readings of positions and velocities in each timestep; featherstorm's fit is given every fifth state.

--noise: errors over so many logs with noise, and the share of numbers within two of their standard deviations. `ur5`, a case of --noise alone, is
`featherstorm.identify.inertias`: a UR5 with masses, centres and inertias that differ from its file, driven in MuJoCo C along an exciting motion of 5 s.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import statistics
import sys
import time

import mujoco
import mujoco.batch
import mujoco.rollout
import numpy as np

import featherstorm as fs
import machine
from featherstorm.identify import Log, LogNoise, Number

sys.path.insert(0, str(machine.ROOT / "tests" / "python" / "identify"))

from logged_scenes import BALL, BOX

try:
    from mujoco import sysid
except ImportError:
    sysid = None
engine = importlib.import_module("featherstorm.identify.fit")  # the module; fs.identify.fit is its function
FULL, SUBSTEPS = mujoco.mjtState.mjSTATE_FULLPHYSICS, 5

ARM = """
<mujoco><option timestep="0.002" integrator="implicitfast"/>
  <default><joint damping="0.5" frictionloss="0.2" armature="0.02"/><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body pos="0 0 1"><joint name="shoulder" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
      <body pos=".3 0 0"><joint name="elbow" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .25 0 0" size=".025"/></body>
    </body>
  </worldbody>
  <actuator><motor joint="shoulder" gear="10"/><motor joint="elbow" gear="5"/></actuator>
</mujoco>"""


# ---- cases: model, log, numbers, options of fit, true numbers ----


def logged(m, controller, T, qpos=None, qvel=None):
    d, rows, u = mujoco.MjData(m), [], []
    d.qpos[:] = d.qpos if qpos is None else qpos
    d.qvel[:] = 0 if qvel is None else qvel
    for k in range(T + 1):
        rows.append((d.qpos.copy(), d.qvel.copy()))
        if k == T:
            break
        d.ctrl[:] = controller(k, d)
        u.append(d.ctrl.copy())
        for _ in range(SUBSTEPS):
            mujoco.mj_step(m, d)
    q, v = (np.array(x) for x in zip(*rows))
    return Log(q, v, np.array(u).reshape(T, m.nu))


def joint_numbers(joints):
    return [Number(f"dof_{x}", j, upper=5) for x in ("damping", "frictionloss", "armature") for j in joints]


def arm():
    m, t = mujoco.MjModel.from_xml_string(ARM), np.arange(500) * 0.01
    nominal = m.__copy__()
    m.dof_damping[:], m.dof_frictionloss[:], m.dof_armature[:] = [0.8, 0.3], [0.4, 0.15], [0.05, 0.01]
    u = np.stack([0.6 * np.sin(5 * t) + 0.3 * np.sin(11 * t), 0.4 * np.sin(7 * t + 1) + 0.3 * np.cos(13 * t)], axis=1)
    return nominal, logged(m, lambda k, d: u[k], 500), joint_numbers(("shoulder", "elbow")), {}, m


def go2():
    model = fs.load("go2", world=fs.UrdfWorld(ground=True, motors=True, timestep=0.002))
    nominal, rng = model.compiled.__copy__(), np.random.default_rng(0)
    joints = slice(6, nominal.nv)
    nominal.dof_damping[joints], nominal.dof_frictionloss[joints], nominal.dof_armature[joints] = 0.1, 0.2, 0.02
    m = nominal.__copy__()
    for table in (m.dof_damping, m.dof_frictionloss, m.dof_armature):
        table[joints] *= rng.uniform(0.5, 2, nominal.nv - 6)
    m.geom_friction[:, 0] = 0.6
    stance = np.tile([0.0, 0.8, -1.6], 4)
    phase = rng.uniform(0, 2 * np.pi, 12)

    def control(k, d):
        target = stance + 0.1 * np.sin(2 * np.pi * 1.5 * 0.01 * k + phase)
        return 60 * (target - d.qpos[7:]) - 2.0 * d.qvel[6:]

    qpos = np.concatenate([[0, 0, 0.33, 1, 0, 0, 0], stance])
    log = logged(m, control, 120, qpos)
    names = [mujoco.mj_id2name(nominal, mujoco.mjtObj.mjOBJ_JOINT, j) for j in range(1, nominal.njnt)]
    friction = Number("geom_friction", None, lower=0.1, upper=2)
    return nominal, log, [*joint_numbers(names), friction], {"segment": 5, "robust": True}, m


def ball():
    m = mujoco.MjModel.from_xml_string(BALL)
    nominal = m.__copy__()
    m.geom_solref[1] = [0.015, 0.2]
    numbers = [Number("geom_solref", "ball", 0, 0.004, 0.1), Number("geom_solref", "ball", 1, 0.05, 1.5)]
    return nominal, logged(m, lambda k, d: 0, 150), numbers, {}, m


def box():
    m = mujoco.MjModel.from_xml_string(BOX)
    nominal, far = m.__copy__(), np.inf
    m.geom_friction[:, 0] = 0.35
    log = logged(m, lambda k, d: 0, 80, qvel=[2, 0.5, 0, 0, 0, 3])
    noise = LogNoise([1e-3, 1e-3, far, far, far, 1e-2], far)
    options = {"noise": noise, "population": 128, "iterations": 0}
    return nominal, log, [Number("geom_friction", ("floor", "box"), lower=0.05, upper=2)], options, m


CASES = {"arm": arm, "go2": go2, "ball": ball, "box": box}


# ---- MuJoCo's simulations of the same candidates ----


class ByMujoco(engine.Simulated):
    threads = 2
    kept: dict[object, object] = {}  # noqa: RUF012  # what is made once: models, batches, a pool

    def start(self, x0, K, S):
        m = self.model.compiled
        state = np.zeros((K * S, mujoco.mj_stateSize(m, FULL)))
        state[:, 1 : 1 + m.nq + m.nv + m.na] = x0.reshape(K * S, -1)
        return m, state

    def controls(self, K):
        if not self.model.n_ctrl:
            return None
        U = np.repeat(self.segments.U, SUBSTEPS, axis=1)
        return np.broadcast_to(U, (K, *U.shape)).reshape(-1, *U.shape[1:])


class ByRollout(ByMujoco):
    """mujoco.rollout: a model for each candidate, its numbers written before each call."""

    def simulate(self, X, x0):
        K, S, L = len(X), *self.segments.U.shape[:2]
        m, state = self.start(x0, K, S)
        models = self.kept.setdefault((id(m), "models"), [])
        models += [m.__copy__() for _ in range(K - len(models))]
        for name, values in self.numbers.bound(X).items():
            for k in range(K):
                getattr(models[k], name)[...] = values[k]
        if "pool" not in self.kept:
            self.kept["pool"] = mujoco.rollout.Rollout(nthread=self.threads)
        data = self.kept.setdefault((id(m), "data"), [mujoco.MjData(m) for _ in range(self.threads)])
        each = [models[k] for k in range(K) for _ in range(S)]
        found, _ = self.kept["pool"].rollout(each, data, state, self.controls(K), nstep=L * SUBSTEPS)
        found = found[:, SUBSTEPS - 1 :: SUBSTEPS, 1 : 1 + m.nq + m.nv]
        return found.reshape(K, S, L, -1), None


class ByBatch(ByMujoco):
    """mujoco.batch: a simulation for each segment of each candidate, fields expanded."""

    def simulate(self, X, x0):
        K, S, L = len(X), *self.segments.U.shape[:2]
        m, _ = self.start(x0, K, S)
        key = (id(m), K * S)
        if key not in self.kept:
            self.kept[key] = mujoco.batch.Batch(m, nsim=K * S, nthread=self.threads)
        batch = self.kept[key]
        for name, values in self.numbers.bound(X, S).items():
            batch.expand(name)[...] = values
        batch.reset(stage=0)
        flat = x0.reshape(K * S, -1)
        batch.bind("qpos")[:], batch.bind("qvel")[:] = flat[:, : m.nq], flat[:, m.nq : m.nq + m.nv]
        found = batch.rollout(L * SUBSTEPS, self.controls(K), record=("qpos", "qvel"))
        states = np.concatenate([found["qpos"], found["qvel"]], axis=2)[:, SUBSTEPS - 1 :: SUBSTEPS]
        return states.reshape(K, S, L, -1), None


ENGINES = {"featherstorm": engine.Simulated, "mujoco.rollout": ByRollout, "mujoco.batch": ByBatch}


def measure(name, threads, runs):
    nominal, log, numbers, options, truth = CASES[name]()
    model = fs.from_mujoco(nominal, threads=threads)
    roll = fs.Rollout(model, substeps=SUBSTEPS)

    def run(of):
        engine.Simulated = ENGINES[of]
        start, busy = time.perf_counter(), time.process_time()
        found = fs.identify.fit(roll, log, numbers, **options)
        return time.perf_counter() - start, time.process_time() - busy, found

    first, _, _ = run("featherstorm")
    inputs = engine.with_inputs(model, tuple(dict.fromkeys(n.table for n in numbers)))
    chosen = engine.Numbers(inputs, numbers)
    segments = engine.Segments.of(roll, log, options.get("segment", 20), None)
    states = [
        of(roll, inputs, chosen, segments, options.get("noise")).simulate(chosen.start[None], segments.x0[None])[0]
        for of in ENGINES.values()
    ]
    off = [float(np.abs(x - states[0]).max()) for x in states[1:]]
    times, found = {of: [] for of in ENGINES}, {}
    for k in range(runs + 1):
        for of in ENGINES:
            *seconds, found[of] = run(of)
            if k:
                times[of].append(seconds)
    exact = [float(np.ravel(getattr(truth, number.table))[rows[0]]) for number, rows in zip(numbers, chosen.entries)]
    L = segments.U.shape[1]
    print(f"\n{name}: {len(numbers)} numbers, {len(segments.x0)} segments of {L} control steps of {SUBSTEPS} timesteps")
    print(f"states with the first numbers, largest difference: rollout {off[0]:.1e}, batch {off[1]:.1e}")
    print(
        "| simulated by | wall ms | processor ms | iterations | timesteps | processor ns each | largest relative error |"
    )
    print("|---|---|---|---|---|---|---|")
    for of, f in found.items():
        error = max(abs(value / x - 1) for value, x in zip(f.values.values(), exact))
        wall, busy = (statistics.median(column) for column in zip(*times[of]))
        n = f.steps * SUBSTEPS
        print(
            f"| {of} | {1e3 * wall:.0f} | {1e3 * busy:.0f} | {f.iterations} | {n} | {1e9 * busy / n:.0f} | {error:.1e} |"
        )
    print(f"first call of featherstorm: {1e3 * first:.0f} ms")


# ---- MuJoCo's toolbox ----

FIELDS = {"dof_frictionloss": "frictionloss", "dof_armature": "armature"}


def writer(number):
    """Return a function that writes a number to a MjSpec."""

    def write(spec, p):
        joint, value = spec.joint(number.at), p.value[0]
        if number.table == "dof_damping":
            joint.damping[0] = value  # of a polynomial
        else:
            setattr(joint, FIELDS[number.table], value)

    return write


def by_toolbox(log, numbers, starts, truth, threads):
    """Fit the numbers of the arm by mujoco.sysid; return wall and processor time, and the values found."""
    spec = mujoco.MjSpec.from_string(ARM)
    for sensor in (mujoco.mjtSensor.mjSENS_JOINTPOS, mujoco.mjtSensor.mjSENS_JOINTVEL):
        for joint in spec.joints:
            name = f"{sensor.name}_{joint.name}"
            spec.add_sensor(name=name, type=sensor, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=joint.name)
    m = spec.compile()
    for number in numbers:
        getattr(m, number.table)[:] = getattr(truth, number.table)
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = log.q[0], log.v[0]
    begin, u = sysid.create_initial_state(m, d.qpos, d.qvel, d.act), np.repeat(log.u, SUBSTEPS, axis=0)
    state, seen = mujoco.rollout.rollout(m, d, begin, u[None])
    controls = sysid.TimeSeries(np.arange(len(u) + 1) * m.opt.timestep, np.vstack([u, u[-1:]]))
    signals = sysid.TimeSeries.from_names(state[0, :, 0], seen[0], m)
    sequence = sysid.ModelSequences("arm", spec, "log", begin, controls, signals)
    params = sysid.ParameterDict()
    for number, start in zip(numbers, starts):
        params.add(sysid.Parameter(number.name, start, 1e-6, number.upper, modifier=writer(number)))
    residual = sysid.build_residual_fn(models_sequences=[sequence], n_threads=threads)
    wall, busy = time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        found, _ = sysid.optimize(params, residual, verbose=False)
    values = [float(found[number.name].value[0]) for number in numbers]
    return time.perf_counter() - wall, time.process_time() - busy, values


def toolbox(threads, runs):
    nominal, log, numbers, options, truth = arm()
    model = fs.from_mujoco(nominal, threads=threads)
    roll = fs.Rollout(model, substeps=SUBSTEPS)
    inputs = engine.with_inputs(model, tuple(dict.fromkeys(n.table for n in numbers)))
    entries = engine.Numbers(inputs, numbers).entries
    exact, starts = (
        np.array([np.ravel(getattr(m, n.table))[e[0]] for n, e in zip(numbers, entries)]) for m in (truth, nominal)
    )
    rows = {"featherstorm": [], "mujoco.sysid": []}
    for _ in range(runs + 1):
        wall, busy = time.perf_counter(), time.process_time()
        found = fs.identify.fit(roll, log, numbers, **options)
        wall, busy = time.perf_counter() - wall, time.process_time() - busy
        rows["featherstorm"].append((wall, busy, list(found.values.values())))
        rows["mujoco.sysid"].append(by_toolbox(log, numbers, starts, truth, threads))
    print("| arm by | wall ms | processor ms | largest relative error |\n|---|---|---|---|")
    for of, found in rows.items():
        wall, busy, _ = zip(*found[1:])  # the first one makes kernels
        times = " | ".join(f"{1e3 * statistics.median(x):.0f}" for x in (wall, busy))
        print(f"| {of} | {times} | {np.max(np.abs(np.array(found[-1][2]) / exact - 1)):.1e} |")


# ---- logs with noise ----

# case -> standard deviations of positions and velocities, and options of fit
NOISY = {
    "arm": (1e-3, 1e-2, {"starts": True}),
    "go2": (1e-4, 1e-3, {"segment": 30}),
    "ball": (5e-4, 5e-3, {"starts": True}),
    "box": (1e-4, 1e-3, {}),
}


def noisy(name, seeds):
    if name == "ur5":
        return noisy_ur5(seeds)
    nominal, log, numbers, options, truth = CASES[name]()
    model = fs.from_mujoco(nominal)
    roll, (sq, sv, more) = fs.Rollout(model, substeps=SUBSTEPS), NOISY[name]
    options = {"noise": LogNoise(sq, sv), **options, **more}
    inputs = engine.with_inputs(model, tuple(dict.fromkeys(n.table for n in numbers)))
    chosen = engine.Numbers(inputs, numbers)
    exact = np.array([np.ravel(getattr(truth, n.table))[e[0]] for n, e in zip(numbers, chosen.entries)])
    errors, within = [], []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        q = np.array(fs.integrate(model, log.q, sq * rng.standard_normal(log.v.shape), 1.0))
        rough = log._replace(q=q, v=log.v + sv * rng.standard_normal(log.v.shape))
        found = fs.identify.fit(roll, rough, numbers, **options)
        values, spread = (np.array(list(x.values())) for x in (found.values, found.deviation))
        errors.append(np.abs(values / exact - 1))
        within.append(np.abs(values - exact) <= 2 * spread)
    return [sq, sv, np.median(errors), np.quantile(errors, 0.95), np.max(errors), np.mean(within)]


def noisy_ur5(seeds):
    model = fs.load("ur5")
    m = fs.load("ur5", world=fs.UrdfWorld(motors=True, timestep=0.001)).compiled.__copy__()
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    rng = np.random.default_rng(0)
    scale = rng.uniform(0.7, 1.3, m.nbody)
    m.body_mass[:] *= scale
    m.body_inertia[:] *= (scale * rng.uniform(0.9, 1.1, m.nbody))[:, None]
    m.body_ipos[:] += rng.uniform(-0.01, 0.01, m.body_ipos.shape)
    m.dof_damping[:] = rng.uniform(0.5, 2, m.nv)
    motion = fs.identify.exciting(model, viscous=True, max_velocity=2.0, period=5.0)
    d, target, rows = mujoco.MjData(m), motion(np.arange(0, 5, 0.001)), []
    d.qpos[:], d.qvel[:] = target[0][0], target[1][0]
    for q, v, _ in zip(*target):
        mujoco.mj_forward(m, d)
        drive = np.array([2000, 2000, 1500, 300, 300, 300]) * (q - d.qpos + 0.1 * (v - d.qvel))
        d.qfrc_applied[:] = d.qfrc_bias + drive
        rows.append((d.qpos.copy(), d.qfrc_applied.copy()))
        mujoco.mj_step(m, d)
    positions, forces = (np.array(x) for x in zip(*rows))

    def inverse(q, v, a):
        found = []
        for d.qpos[:], d.qvel[:], d.qacc[:] in zip(q, v, a):
            mujoco.mj_inverse(m, d)
            found.append(d.qfrc_inverse.copy())
        return np.array(found)

    q, v = fs.random_state(model, 200, seed=5)
    a = fs.random_state(model, 200, seed=7)[1]
    d.qfrc_applied[:] = 0
    expected, exact = inverse(q, v, a), fs.identify.inertias(model, q, v, a, inverse(q, v, a), viscous=True)
    errors, within = [], []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        noise = 0.02 * np.sqrt(np.mean(forces**2, axis=0)) * rng.standard_normal(forces.shape)
        rough = positions + 1e-4 * rng.standard_normal(positions.shape)
        log = fs.identify.differentiate(model, rough, 0.001, tau=forces + noise, cutoff=10.0)
        few = slice(400, -400, 20)
        found = fs.identify.inertias(model, log.q[few], log.v[few], log.a[few], log.tau[few], viscous=True)
        off = np.array(fs.rnea(found.model, q, v, a)) + found.model.parameter("damping") * v - expected
        errors.append(np.sqrt(np.mean(off**2, axis=0) / np.mean(expected**2, axis=0)))
        within.append(np.abs(found.base_values - exact.base_values) <= 2 * found.base_deviation)
        assert fs.identify.is_physical(found.parameters[:60].reshape(-1, 10)).all()
    return [1e-4, 0.0, np.median(errors), np.quantile(errors, 0.95), np.max(errors), np.mean(within)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--noise", type=int, default=0, metavar="LOGS")
    parser.add_argument("--sysid", action="store_true")
    given = parser.parse_args()
    if given.sysid:
        toolbox(given.threads, given.runs)
        return
    if given.noise:
        print("| case | noise of q | of v | median error | 95 % | worst | within two deviations |")
        print("|---|---|---|---|---|---|---|")
        for name in given.cases if given.cases != list(CASES) else [*CASES, "ur5"]:
            sq, sv, *errors, within = noisy(name, given.noise)
            cells = " | ".join(f"{100 * x:.2g} %" for x in (*errors, within))
            print(f"| {name} | {sq:g} | {sv:g} | {cells} |", flush=True)
        return
    ByMujoco.threads = given.threads
    print(f"{machine.name()}, commit {machine.commit()}, MuJoCo {mujoco.__version__}, {given.threads} threads")
    for name in given.cases:
        measure(name, given.threads, given.runs)


if __name__ == "__main__":
    main()
