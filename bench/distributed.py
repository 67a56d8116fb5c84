"""Cost of workers in a training or a planner: seconds in this process and on workers, calls and bytes.

    python bench/distributed.py [--task Go1JoystickFlat] [--workers 1 2] [--chunks 6 24] [--iterations 10]
    python bench/distributed.py --samples 256 1024 4096 [--workers 1 2] [--iterations 10]

A line for each number of workers; 0 is this process. Seconds are the least and the median of the iterations without an evaluation.
"processor" are the processor seconds of an iteration, of this process and of all workers. "call" is the time of a call that does
nothing, of all workers together. "sent" is of each worker.

With --samples, plans are timed: an iteration of DIAL of a Go2 on its file's collision elements, 16 steps of 20 ms. "own" are the
processor milliseconds of draws and sums alone, which are in the driver for any number of workers.
"""

import argparse
import dataclasses
import statistics
import tempfile
import time

import numpy as np

import featherstorm as fs
from featherstorm.control import Trot
from featherstorm.learning.training import Training, one_thread
from featherstorm.planning import DIAL


def processor_of(workers):
    """Processor seconds of this process so far, and of all workers."""
    others = (
        [actor.__ray_call__.remote(lambda share: time.process_time()) for actor in workers.actors] if workers else []
    )
    return time.process_time(), sum(fs.distributed.workers.ray.get(others)) if workers else 0.0


def iterations(training, count, workers=None):
    """Seconds of iterations, and processor seconds of an iteration here and on the workers."""
    training.learner.iteration()
    seconds, before = [], processor_of(workers)
    for _ in range(count):
        start = time.perf_counter()
        training.learner.iteration()
        seconds.append(time.perf_counter() - start)
    return seconds, *((x - y) / count for x, y in zip(processor_of(workers), before))


def measure(task, count, chunks, repeats):
    settings = dataclasses.replace(fs.learning.settings_of(task), chunks=chunks)
    samples = settings.envs * settings.horizon
    with tempfile.TemporaryDirectory() as folder:
        if count == 0:
            with one_thread():
                seconds, here, there = iterations(Training(task, folder, settings, seed=1), repeats)
            calls = sent = received = kept = 0.0
        else:
            with fs.distributed.Workers(count) as workers, one_thread():
                training = Training(task, folder, settings, seed=1, workers=workers)
                training.learner.iteration()
                before = workers.sent, workers.received
                seconds, here, there = iterations(training, repeats, workers)
                each = (repeats + 1) * samples
                sent, received = (x - y for x, y in zip((workers.sent, workers.received), before))
                sent, received = sent / each / count, received / each
                kept = sum(x.nbytes for x in training.learner.env.snapshot().values()) / settings.envs
                start = time.perf_counter()
                for _ in range(100):
                    workers.call(workers.to_all("wait", 0.0))
                calls = (time.perf_counter() - start) / 100
    print(
        f"| {count} | {chunks} | {min(seconds):.3f} | {statistics.median(seconds):.3f} | {samples / min(seconds):,.0f} | "
        f"{here:.3f} + {there:.3f} | "
        f"{1e3 * calls:.2f} | {sent:.0f} | {received:.0f} | {kept:.0f} |",
        flush=True,
    )


def plans(samples, count, repeats):
    """Time plans on workers; 0 is this process."""
    task = Trot(model="file", samples=samples)
    plant = task.plant()
    for _ in range(500):
        plant.step(task.rest)
    state = plant.state

    def planner(rollout, workers=None):
        made = DIAL(
            rollout, task.horizon, len(task.rest), samples=samples, iterations=1, first_iterations=1, knots=task.knots,
            sigma=task.spread, temperature=task.temperature, lower=task.lower, upper=task.upper, workers=workers,
        )  # fmt: skip
        made.reset(np.tile(task.rest, (task.horizon, 1)))
        return made

    def free(x0, U, **given):
        return costs

    def timed(made, workers=None):
        made.command(state, p=task.p)
        seconds, before = [], processor_of(workers)
        for _ in range(repeats):
            start = time.perf_counter()
            made.command(state, p=task.p)
            seconds.append(time.perf_counter() - start)
        return seconds, *((x - y) / repeats for x, y in zip(processor_of(workers), before))

    costs, free.takes_knots = np.arange(samples, dtype=np.float32), True
    _, own, _ = timed(planner(free))
    sent = received = 0.0
    if count == 0:
        seconds, here, there = timed(planner(task.rollout))
    else:
        with fs.distributed.Workers(count) as workers:
            made = planner(task.rollout, workers)
            made.command(state, p=task.p)
            before = workers.sent, workers.received
            seconds, here, there = timed(made, workers)
            sent, received = (x - y for x, y in zip((workers.sent, workers.received), before))
            sent, received = sent / (repeats + 1) / count, received / (repeats + 1)
    print(
        f"| {count} | {samples} | {1e3 * min(seconds):.1f} | {1e3 * statistics.median(seconds):.1f} | "
        f"{1e3 * here:.1f} + {1e3 * there:.1f} | {1e3 * own:.2f} | {sent:,.0f} | {received:,.0f} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="Go1JoystickFlat")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--chunks", type=int, nargs="+", default=[6, 24])
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--samples", type=int, nargs="+", help="times plans of as many samples")
    options = parser.parse_args()
    if options.samples:
        print(
            "| workers | samples | least [ms] | median [ms] | processor [ms] | own [ms] | sent [B/plan] | received [B/plan] |\n"
            "|---|---|---|---|---|---|---|---|"
        )
        with fs.distributed.Workers():
            for samples in options.samples:
                for count in [0, *options.workers]:
                    plans(samples, count, options.iterations)
        return
    print(
        "| workers | chunks | least [s] | median [s] | control steps/s | processor [s] | call [ms] | sent [B/step] | received [B/step] | "
        "snapshot [B/environment] |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    with fs.distributed.Workers():  # one cluster for all
        for chunks in options.chunks:
            for count in [0, *options.workers]:
                measure(options.task, count, chunks, options.iterations)


if __name__ == "__main__":
    main()
