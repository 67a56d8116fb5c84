"""Time plans of a Go2 and their parts, on one thread.

    python bench/plans.py [--repeats 11]

plans       processor time of a plan of DIAL on four declared feet, 16 or 20 steps of 20 ms, with draws, costs and update
steps       a control step of 20 ms of an instance of the robot's file under the planning law: 1024 samples, 16 steps,
            float32, controls 0.25 rad about the stance (splines of five knots), with the cost of a trot
divergence  the same call with one sample of 1024 that is not finite, relative to the call without
iLQR        an iteration of 25 steps of 20 ms that lets the robot stand up from its belly, float64; kernels were made before.
            The same of a G1 on its feet, under the planning law

Processor times, medians of --repeats calls.
"""

import argparse
import statistics
import time

import mujoco
import numpy as np

import featherstorm as fs
from featherstorm.control import G1Stand, Trot
from featherstorm.control.biped import FLOOR, PELVIS, SIDES, capture
from featherstorm.control.quadruped import targets
from featherstorm.planning import ILQR

PAIRS = "all geoms", "the floor alone", "four feet"
STANCE, CROUCH = np.tile([0.0, 0.8, -1.6], 4), np.tile([0.0, 1.3, -2.4], 4)


def median(call, repeats):
    """Return the median processor time of a call [s]; the first two calls do not count."""
    times = []
    for _ in range(repeats + 2):
        begin = time.thread_time()
        call()
        times.append(time.thread_time() - begin)
    return statistics.median(times[2:])


def state_of(task):
    """Return the robot's state after it has stood for a second, as the planner has it."""
    plant = task.plant()
    for _ in range(500):
        plant.step(task.rest)
    return plant.state


def plan_time(samples, iterations, horizon, repeats):
    task = Trot(samples=samples)
    task.iterations, task.horizon = iterations, horizon
    planner, state = task.planner(), state_of(task)
    return 1e3 * median(lambda: planner.command(state, p=task.p), repeats)


def controls_about(stance, samples, horizon, spread):
    """Return (samples, horizon, nu) controls: cubic splines of five random knots."""
    rng, at = np.random.default_rng(0), np.linspace(0, 4, horizon)
    knots = spread * rng.normal(size=(samples, 5, len(stance)))
    k = np.minimum(at.astype(int), 3)
    s = (at - k)[None, :, None]
    slope = np.gradient(knots, axis=1)
    a, b, da, db = knots[:, k], knots[:, k + 1], slope[:, k], slope[:, k + 1]
    spline = (2 * s**3 - 3 * s**2 + 1) * a + (s**3 - 2 * s**2 + s) * da + (3 * s**2 - 2 * s**3) * b + (s**3 - s**2) * db
    return (stance + spline).astype(np.float32)


def pairs_of(name, suffix=""):
    """Return `pairs` of a Rollout."""
    feet = [(f"{leg}_foot{suffix}", "floor") for leg in ("FL", "FR", "RL", "RR")]
    return {"all geoms": None, "the floor alone": "floor", "four feet": feet}[name]


def step_time(robot, pairs, repeats, samples=1024, horizon=16):
    task = Trot(robot=robot, model="file", samples=samples)
    pairs = pairs_of(pairs, "_collision" if robot == "go1" else "")
    roll = fs.Rollout(task.model, task.dt, task.cost, law="planning", pairs=pairs)
    U, x = controls_about(task.rest, samples, horizon, 0.25), state_of(task).astype(np.float32)
    return 1e9 * median(lambda: roll(x, U, p=task.p), repeats) / samples / horizon


def divergence(repeats, samples=1024, horizon=16):
    task = Trot(model="file", samples=samples)
    U, x = controls_about(task.rest, samples, horizon, 0.25), state_of(task).astype(np.float32)
    lost = U.copy()
    lost[samples // 2] = np.nan
    ratios = []
    for _ in range(3):
        usual, other = (median(lambda V=V: task.rollout(x, V, p=task.p), repeats) for V in (U, lost))
        ratios.append(other / usual)
    return statistics.median(ratios)


def standing_up(model, x0, **options):
    """Return a rollout whose residuals are those of a Go2 that stands up."""

    def stand(x, t, p):
        pose = np.concatenate([x.q[:2] - x0[:2], 10 * (x.q[2:3] - 0.33), 6 * x.q[4:7], 0.4 * (x.q[7:] - STANCE)])
        return {"pose": pose, "speed": np.concatenate([x.v[:3], 0.4 * x.v[3:6], 0.06 * x.v[6:]])}

    return fs.Rollout(
        model, 0.02, residual=lambda x, u, t, p: {**stand(x, t, p), "control": 0.2 * (u - STANCE)},
        terminal_residual=lambda x, t, p: {name: 3 * r for name, r in stand(x, t, p).items()},
        **options,
    )  # fmt: skip


def lying(timestep):
    """Return the MjModel of a Go2 with position actuators, and its state on its belly."""
    m = fs.load("go2", world=fs.UrdfWorld(ground=True, motors=True, timestep=timestep)).compiled
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    m.actuator_gainprm[:, 0] = 30.0
    m.actuator_biastype[:] = mujoco.mjtBias.mjBIAS_AFFINE
    m.actuator_biasprm[:, 1:3] = -30.0, -1.0
    m.actuator_ctrllimited[:] = 0
    m.actuator_forcelimited[:], m.actuator_forcerange[:] = 1, m.actuator_ctrlrange
    d = mujoco.MjData(m)
    d.qpos[2], d.qpos[7:], d.ctrl[:] = 0.2, CROUCH, CROUCH
    mujoco.mj_step(m, d, round(1 / timestep))
    return m, np.concatenate([d.qpos, d.qvel])


def iteration_time(contacts, repeats, iterations=10):
    m, x0 = lying(0.01)
    if contacts == "four declared feet":
        feet = [fs.Contact(f"{leg}_foot", radius=0.022, friction=0.8) for leg in ("FL", "FR", "RL", "RR")]
        roll = standing_up(fs.load("go2", contacts=feet, threads=1), x0, control=targets, kp=30.0, kd=1.0)
    else:
        roll = standing_up(fs.from_mujoco(m, threads=1), x0, pairs=pairs_of(contacts))

    planner = ILQR(roll, 25, len(STANCE), iterations=iterations)

    def plan():
        planner.reset(np.tile(CROUCH, (25, 1)))
        planner.plan(x0)
        return planner.last().iterations

    done = plan()
    return 1e3 * median(plan, repeats) / done


def caught(repeats):
    """Return ms of an iteration that lets a G1 catch a push of 0.4 m/s, the cost of its stance, and that of the plan."""
    task = G1Stand()
    nq, rest = task.model.nq, task.rest

    def stand(x, t, p):
        turned, (_, point, _) = x.rotation("pelvis"), capture(x)
        feet = 0.5 * (x.site("left_foot") + x.site("right_foot"))[:2]
        pose = [*(10 * (point - feet)), 5 * (x.q[2] - PELVIS), 4 * turned[2, 0], 4 * turned[2, 1]]
        return {"pose": pose, "speed": [*(0.3 * x.v[:6]), *(0.05 * x.v[6:])], "joints": 0.4 * (x.q[7:] - rest)}

    roll = fs.Rollout(
        task.model, task.dt, residual=lambda x, u, t, p: {**stand(x, t, p), "control": 0.3 * (u - rest)},
        terminal_residual=lambda x, t, p: {name: [3 * one for one in r] for name, r in stand(x, t, p).items()},
        law="planning", pairs=[(f"{side}_foot", FLOOR) for side in SIDES],
    )  # fmt: skip
    planner, start, x = ILQR(roll, 25, len(rest), iterations=20), np.tile(rest, (25, 1)), task.plant().state
    x[nq] += 0.4

    def plan():
        planner.reset(start)
        planner.plan(x)

    plan()
    return 1e3 * median(plan, repeats) / planner.done[0], float(roll(x, start[None]).costs[0]), planner.cost


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=11)
    repeats = parser.parse_args().repeats
    print("| samples x iterations x steps | a plan [ms] |\n|---|---|")
    for size in ((1024, 2, 16), (2048, 2, 16), (64, 1, 20)):
        print(f"| {' x '.join(map(str, size))} | {plan_time(*size, repeats):.2f} |", flush=True)
    print("\n| ns a step |", " | ".join(PAIRS), "|\n|---|---|---|---|")
    for robot in ("go2", "go1"):
        print("|", robot, "|", " | ".join(f"{step_time(robot, p, repeats):.0f}" for p in PAIRS), "|", flush=True)
    print(f"\nA sample of 1024 that is not finite: {divergence(repeats):.2f} times the call without it\n")
    print("| iLQR, contacts | an iteration [ms] |\n|---|---|")
    for contacts in ("four declared feet", "four feet", "all geoms"):
        print(f"| {contacts} | {iteration_time(contacts, min(repeats, 7)):.2f} |", flush=True)
    ms, before, after = caught(min(repeats, 7))
    print(f"\nA G1 that catches a push of 0.4 m/s: {ms:.1f} ms an iteration, cost {before:.0f} -> {after:.1f} in 20")


if __name__ == "__main__":
    main()
