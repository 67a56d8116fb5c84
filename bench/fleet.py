"""Throughput of a fleet against its groups stepped one after the other: one run, alternating, medians.

    python bench/fleet.py [--repeats 15] [--scale 1]

A row for each fleet: time of a step of all groups one after the other, each on all threads; time of the same step of the Fleet
(or EnvFleet); the ratio of the medians. The sum of the parts is the first number. The last column is the ratio of the
processor times, which depends less on other programs; a thread that waits for others counts there too.
"""

import argparse
import statistics
import time

import mujoco
import numpy as np

import featherstorm as fs
from featherstorm.examples.leg_designs import HIGHEST, LOWEST, leg
from featherstorm.examples.tools_to_grasp import KINDS, tool
from featherstorm.tasks.velocity_quadruped import Go1JoystickFlat, Go2JoystickFlat

ANT = """<mujoco model="{name}"><option timestep="0.004"/><worldbody><geom type="plane" size="0 0 1"/>
  <body pos="0 0 0.6"><freejoint/><geom type="sphere" size="0.2"/>{legs}</body></worldbody><actuator>{motors}</actuator></mujoco>"""


def crawler(legs):
    """A trunk with a number of legs of two hinges."""
    parts, motors = "", ""
    for k in range(legs):
        c, s = np.cos(2 * np.pi * k / legs), np.sin(2 * np.pi * k / legs)
        parts += f"""<body pos="{0.2 * c} {0.2 * s} 0"><joint name="a{k}" axis="0 0 1" range="-40 40" damping="0.5"/>
          <geom type="capsule" size="0.03" fromto="0 0 0 {0.2 * c} {0.2 * s} 0"/>
          <body pos="{0.2 * c} {0.2 * s} 0"><joint name="b{k}" axis="{-s} {c} 0" range="20 80" damping="0.5"/>
          <geom type="capsule" size="0.03" fromto="0 0 0 {0.35 * c} {0.35 * s} 0"/></body></body>"""
        motors += f'<motor joint="a{k}" gear="15"/><motor joint="b{k}" gear="15"/>'
    return fs.from_mujoco(
        mujoco.MjModel.from_xml_string(ANT.format(name=f"crawler_{legs}", legs=parts, motors=motors)), f"crawler_{legs}"
    )


def legs(n):
    rng = np.random.default_rng(0)
    return fs.from_mujoco([leg(x) for x in rng.uniform(LOWEST, HIGHEST, (n, 4))], "leg")


def simulations(groups, dt):
    """Return functions that advance the groups one after the other, and the fleet."""
    fleet = fs.Fleet(groups, dt)
    alone = [fs.Simulation(model, n, dt) for model, n in groups]
    rng = np.random.default_rng(0)
    ctrl = [rng.uniform(-0.5, 0.5, (sim.instances, sim.model.n_ctrl)).astype("float32") for sim in alone]

    def one_by_one():
        for sim, u in zip(alone, ctrl):
            sim.step(u)

    return one_by_one, lambda: fleet.step(ctrl)


def environments(groups):
    fleet = fs.tasks.fleet(groups, seed=1)
    rows = [r.start for r in fleet.rows]
    alone = [task.batch(n, seed=1, first=first) for (task, n), first in zip(groups, rows)]
    fleet.reset()
    for batch in alone:
        batch.reset()
    a = np.random.default_rng(0).uniform(-1, 1, (fleet.num_envs, fleet.recording.actions)).astype("float32")

    def one_by_one():
        for batch, r in zip(alone, fleet.rows):
            batch.step(a[r])

    return one_by_one, lambda: fleet.step(a)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--scale", type=float, default=1.0, help="factor of the numbers of instances")
    options = parser.parse_args()

    def n(count):
        return max(1, round(count * options.scale))

    rng = np.random.default_rng(0)
    tools = [fs.from_mujoco([tool(kind, rng) for _ in range(n(200))], kind) for kind in KINDS]
    crawlers = [crawler(k) for k in (3, 4, 6)]
    cases = {
        "crawlers with 3, 4, 6 legs, 2048 each": simulations([(m, n(2048)) for m in crawlers], 0.02),
        "one large and one small: 4096 and 64": simulations([(crawlers[1], n(4096)), (crawlers[2], n(64))], 0.02),
        "24 groups of 100": simulations([(crawlers[k % 3], n(100)) for k in range(24)], 0.02),
        "3 kinds of tools, 200 each": simulations([(m, n(200)) for m in tools], 0.01),
        "leg designs, 1024, and crawlers, 1024": simulations([(legs(n(1024)), n(1024)), (crawlers[1], n(1024))], 0.02),
        "environments: Go1 and Go2, 1024 each": environments(
            [(Go1JoystickFlat(), n(1024)), (Go2JoystickFlat(), n(1024))]
        ),
    }
    print(
        "| fleet | one after the other [ms] | together [ms] | together / one after the other | processor time |\n|---|---|---|---|---|"
    )
    for name, (parts, whole) in cases.items():
        for _ in range(3):
            parts(), whole()
        times, processor = ([], []), ([], [])
        for _ in range(options.repeats):
            for k, call in enumerate((parts, whole)):
                start, worked = time.perf_counter(), time.process_time()
                for _ in range(4):
                    call()
                times[k].append((time.perf_counter() - start) / 4)
                processor[k].append(time.process_time() - worked)
        one, both = (1e3 * statistics.median(x) for x in times)
        ratio = statistics.median(processor[1]) / statistics.median(processor[0])
        print(f"| {name} | {one:.2f} | {both:.2f} | {both / one:.2f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
