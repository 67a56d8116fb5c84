"""What learning libraries' environments (featherstorm.rl) add to a step of EnvBatch.

    python bench/adapters.py [--envs 4096] [--steps 60] [--threads 1] [TASK]

Prints, for each adapter whose library is installed, the median time of a step outside of EnvBatch.step beside the time inside, in milliseconds
and in nanoseconds for an environment; random actions, episodes that end in their course.
"""

import argparse
import importlib.util
import statistics
import time

import numpy as np

import featherstorm as fs
import featherstorm.rl

ACTIONS = 16
WARM = 30  # steps before, in which first episodes end


class Timed:
    """EnvBatch.step, with the time that it took."""

    def __init__(self, batch):
        self.step, self.taken, self.flags = batch.step, 0.0, None
        batch.step = self

    def __call__(self, actions):
        start = time.perf_counter()
        found = self.step(actions)
        self.taken = time.perf_counter() - start
        self.flags = found[2:4]
        return found


def measure(env, actions, steps):
    """Median of seconds inside, and outside; share of steps that ended an episode."""
    timed = Timed(env.batch)
    env.reset()
    inside, outside, ended = [], [], 0
    for k in range(WARM + steps):
        start = time.perf_counter()
        env.step(actions[k % ACTIONS])
        whole = time.perf_counter() - start
        ended += int((timed.flags[0] | timed.flags[1]).sum())
        if k >= WARM:
            inside.append(timed.taken)
            outside.append(whole - timed.taken)
    return statistics.median(inside), statistics.median(outside), ended / ((WARM + steps) * len(actions[0]))


def adapters():
    yield "gymnasium", lambda task, n, **o: fs.rl.gymnasium(task, n, **o), np.asarray
    yield "gymnasium, copy=False", lambda task, n, **o: fs.rl.gymnasium(task, n, copy=False, **o), np.asarray
    if importlib.util.find_spec("stable_baselines3"):
        yield "stable_baselines3", lambda task, n, **o: fs.rl.stable_baselines3(task, n, **o), np.asarray
    if importlib.util.find_spec("rsl_rl"):
        import torch

        torch.set_num_threads(1)
        yield "rsl_rl", lambda task, n, **o: fs.rl.rsl_rl(task, n, **o), torch.from_numpy


def main():
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("task", nargs="?", default="Ant-v5")
    given.add_argument("--envs", type=int, default=4096)
    given.add_argument("--steps", type=int, default=60)
    given.add_argument("--threads", type=int, default=1)
    options = given.parse_args()
    task = fs.tasks.make(options.task)
    rng = np.random.default_rng(0)
    print(f"{options.task}, {options.envs} environments, {options.threads} threads")
    for name, make, array in adapters():
        env = make(task, options.envs, threads=options.threads)
        shape = options.envs, env.batch.recording.actions
        actions = [array(rng.uniform(-1, 1, shape).astype(np.float32)) for _ in range(ACTIONS)]
        inside, outside, ended = measure(env, actions, options.steps)
        print(
            f"{name:24s} inside {1e3 * inside:8.3f} ms, outside {1e3 * outside:7.3f} ms = {1e9 * outside / options.envs:6.1f} ns an "
            f"environment, {100 * outside / inside:5.2f} %; {100 * ended:.2f} % of steps end an episode"
        )


if __name__ == "__main__":
    main()
