"""Mixed load for hours: memory and speed by the minute, and their drift.

    python bench/soak.py [--minutes 360] [--threads 2] [--checked] [--loads NAME ...]

A round runs each load once. `load` loads a robot, evaluates an operation and drops it; `trace` compiles a cost that no round had
before; `refuse` passes arguments of wrong shapes, types and values; the others step objects that live for the whole run. Rounds are
repeated on `--threads` threads, each with objects of its own.

A line a minute: rounds, resident memory, the part of it that is in use, and the change of that since minute `WARM` [MiB], open
files, threads, and the processor time of each load relative to the median of the minutes up to `WARM`. In use: after the C library
has given back what it keeps of freed memory, which depends on how blocks of several threads lie. Results of a round that starts from
the same state must have the same bits as in the first round. The last lines are the drift of memory in use [MiB an hour] and of speed
[% an hour], by straight lines through the minutes after `WARM`. With --checked, exits with 1 if memory grows by more than `GROWTH` MiB an hour or a load becomes slower by
more than `SLOWER`.
"""

import argparse
import ctypes
import gc
import os
import statistics
import sys
import threading
import time
import traceback

import mujoco
import numpy as np

import featherstorm as fs
from featherstorm.mujoco import Batch
from featherstorm.planning import MPPI

WARM = 5  # minutes: caches fill, allocators reach their size
GROWTH = 16  # MiB an hour
SLOWER = 0.1  # of the processor time, an hour
BALL = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 1"><freejoint/><geom size=".1"/></body></worldbody>
<sensor><clock/></sensor></mujoco>"""


class Worker:
    """The objects of one thread. Each load is a method whose name begins with `run_`; it returns numbers to compare, or None."""

    def __init__(self, number):
        self.number, self.round = number, 0
        self.model = fs.load("go2", threads=1)
        self.q, self.v = fs.random_state(self.model, 256, dtype="float32")
        self.simulation = fs.Simulation(self.model, 1000, dt=2e-3)
        self.world = fs.Simulation(fs.load("go2", threads=1, world=fs.UrdfWorld(ground=True)), 64)
        self.batch = Batch(mujoco.MjModel.from_xml_string(BALL), nsim=500)
        self.environment = fs.tasks.make("Hopper-v5").batch(64, seed=number)
        self.cartpole = fs.load("cartpole", threads=1)
        self.rollout = fs.Rollout(self.cartpole, dt=0.02, cost=self.cost(1.0), substeps=2)
        self.first = {}

    @staticmethod
    def cost(weight):
        return lambda x, u, t, p: weight * (1 - np.cos(x.q[1])) + 0.5 * x.q[0] ** 2 + 1e-3 * u @ u

    def run_load(self):
        robots = fs.robots()
        robot = fs.load(robots[self.round % len(robots)], threads=1)
        q, v = fs.random_state(robot, 3, seed=0)
        fs.fd(robot, q, v, np.zeros_like(v))

    def run_trace(self):
        weight = 1 + (self.round + 1e-3 * self.number) * 1e-6  # a constant of the kernel: each round compiles one
        roll = fs.Rollout(self.cartpole, dt=0.02, cost=self.cost(weight))
        roll(np.zeros(4, np.float32), np.zeros((8, 5, 2), np.float32))

    def run_refuse(self):
        nan = self.q.copy()
        nan[0, 3:7] = 0
        for call in (
            lambda: fs.rnea(self.model, self.q, self.v, self.v[:, 1:]),
            lambda: fs.crba(self.model, nan),
            lambda: fs.crba(self.model, self.q.astype(np.float16)),
            lambda: fs.load("nobody"),
            lambda: fs.Rollout(self.cartpole, dt=0.02, cost=lambda x, u, t, p: float(x[0]))(
                np.zeros(4, np.float32), np.zeros((1, 1, 2), np.float32)
            ),
        ):
            try:
                call()
            except (ValueError, TypeError, FileNotFoundError):
                continue
            raise AssertionError("wrong arguments were not refused")

    def run_operations(self):
        tau = fs.rnea(self.model, self.q, self.v, np.zeros_like(self.v))
        a = fs.fd(self.model, self.q, self.v, tau)
        return np.concatenate(
            [tau.ravel(), a.ravel(), *(g.ravel() for g in fs.vjp(self.model, "fd", (self.q, self.v, tau), a))]
        )

    def run_simulation(self):
        self.simulation.reset()
        for _ in range(20):
            self.simulation.step(q_target=np.zeros(18, np.float32), kp=60.0, kd=3.0)
        return np.array(self.simulation.q)

    def run_world(self):
        self.world.reset()
        for _ in range(20):
            self.world.step()
        return np.array(self.world.q)

    def run_batch(self):
        self.batch.reset()
        self.batch.step(nstep=50)
        return np.array(self.batch.qpos)

    def run_environment(self):
        self.environment.reset()
        for _ in range(5):
            self.environment.step(np.zeros((64, 3), np.float32))

    def run_plan(self):
        planner = MPPI(self.rollout, horizon=30, nu=2, samples=256, sigma=6.0, temperature=0.3, knots=8, seed=1)
        return planner.command(np.array([0, np.pi, 0, 0], np.float32))


def loads():
    return [name.removeprefix("run_") for name in dir(Worker) if name.startswith("run_")]


class Soak:
    def __init__(self, names, threads):
        self.names, self.until = names, 0.0
        self.lock, self.times, self.rounds, self.failures = threading.Lock(), {name: [] for name in names}, 0, []
        self.workers = [Worker(k) for k in range(threads)]

    def round(self, worker):
        for name in self.names:
            begin = time.thread_time()
            numbers = getattr(worker, "run_" + name)()
            spent = time.thread_time() - begin
            if numbers is not None:
                first = worker.first.setdefault(name, numbers)
                assert first.tobytes() == numbers.tobytes(), f"{name}: other bits than in the first round"
            with self.lock:
                self.times[name].append(spent)
        worker.round += 1
        with self.lock:
            self.rounds += 1

    def run(self, worker):
        try:
            while time.monotonic() < self.until and not self.failures:
                self.round(worker)
        except BaseException:
            self.failures.append(traceback.format_exc())

    def minute(self):
        """Run for a minute; return rounds and the median processor time of each load [s]."""
        self.until = time.monotonic() + 60
        self.times, self.rounds = {name: [] for name in self.names}, 0
        threads = [threading.Thread(target=self.run, args=(w,)) for w in self.workers]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if self.failures:
            sys.exit("\n".join(self.failures))
        return self.rounds, [statistics.median(self.times[name]) for name in self.names]


def resident():
    """Resident memory of this process [MiB]."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def slope(numbers):
    """Change of a number a minute, by the straight line of least squares."""
    return float(np.polyfit(np.arange(len(numbers)), numbers, 1)[0]) if len(numbers) > 1 else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=360)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--loads", nargs="+", choices=loads(), default=loads())
    parser.add_argument("--checked", action="store_true")
    args = parser.parse_args()
    soak = Soak(args.loads, args.threads)
    print("minute  rounds  MiB  in use  +MiB  files  threads  " + "  ".join(args.loads), flush=True)
    memory, times, usual, rounds = [], [], None, 0
    for minute in range(1, args.minutes + 1):
        done, medians = soak.minute()
        rounds += done
        gc.collect()
        kept = resident()
        ctypes.CDLL(None).malloc_trim(0)
        memory.append(resident())
        times.append(medians)
        usual = usual if minute > WARM else np.median(times, axis=0)
        base = memory[min(minute, WARM) - 1]
        print(
            f"{minute:6d} {done:7d} {kept:.0f} {memory[-1]:.1f} {memory[-1] - base:+.1f} {len(os.listdir('/proc/self/fd'))} "
            f"{len(os.listdir('/proc/self/task'))}   " + "  ".join(f"{x:.2f}" for x in np.array(medians) / usual),
            flush=True,
        )
    growth = 60 * slope(memory[WARM:])
    slower = [
        60 * slope(t / u) for t, u in zip(np.array(times[WARM:]).reshape(-1, len(args.loads)).T, usual, strict=True)
    ]
    print(f"{args.minutes} minutes, {rounds} rounds, memory {growth:+.1f} MiB an hour")
    print(
        "processor time, % an hour: "
        + ", ".join(f"{n} {100 * s:+.1f}" for n, s in zip(args.loads, slower, strict=True))
    )
    if args.checked and (growth > GROWTH or max(slower) > SLOWER):
        sys.exit(1)


if __name__ == "__main__":
    main()
