"""Measures operations on robots: nanoseconds per instance, median of several runs.

bench                         rnea, crba, fd on four robots
bench rnea,aba go2,atlas      these operations on these robots
"""

import time

import numpy as np

from .. import model as models
from ..batch import Batch
from ..states import random_state
from . import add_engine_arguments, positive, specialise, table

ROBOTS = "iiwa14,go2,g1,atlas"


def add_arguments(parser):
    parser.add_argument(
        "ops", nargs="?", default="rnea,crba,fd", help="operations with commas between (default: %(default)s)"
    )
    parser.add_argument("robots", nargs="?", default=ROBOTS, help="robots with commas between (default: %(default)s)")
    parser.add_argument("--instances", type=positive, default=4096, help="default: %(default)s")
    parser.add_argument("--repeats", type=positive, default=20, help="timed runs (default: %(default)s)")
    add_engine_arguments(parser)


def main(options):
    ops, robots = options.ops.split(","), options.robots.split(",")
    rows, model = [], None
    for robot in robots:
        model = models.load(robot, threads=options.threads, assemble=not options.no_specialise)
        missing = [op for op in ops if op not in model.ops]
        if missing:
            raise ValueError(f"there is no operation {', '.join(missing)}; there are {', '.join(model.ops)}")
        batch = Batch(model, options.instances, dtype=options.dtype)
        cells = []
        for op in ops:
            special = not options.no_specialise and specialise(model, [op], options.dtype)
            cells.append(
                f"{measure(batch, op, options.repeats):.1f}" + ("" if special or options.no_specialise else "*")
            )
        rows.append((f"{robot} ({model.nv})", *cells))
    kernels = "for any robot" if options.no_specialise else "made for the robot"
    print(
        f"ns per instance, {options.dtype}, {options.instances} instances, {model.threads} threads, {model.isa}, "
        f"kernels {kernels}"
    )
    for line in table(rows, ["robot (nv)", *ops]):
        print(line)
    if any(cell.endswith("*") for row in rows for cell in row[1:]):
        print("* kernel for any robot")


def measure(batch, op, repeats):
    """Median time of an operation on random inputs [ns per instance]."""
    fill(batch, op)
    row = batch.model.row(op)
    numbers = {name: 1e-3 for name, _ in row.uniforms}
    frame = batch.model.nf - 1 if row.uses_frame else None
    batch.run(op, frame, **numbers)
    times = []
    for _ in range(repeats):
        start = time.perf_counter_ns()
        batch.run(op, frame, **numbers)
        times.append(time.perf_counter_ns() - start)
    return float(np.median(times)) / batch.instances


def fill(batch, op):
    """Random states; a factor is that of a real matrix."""
    model = batch.model
    q, v = random_state(model, batch.instances, dtype=batch.dtype)
    for name, n in model.row(op).inputs:
        if name in ("M", "L"):
            batch.q = q
            for before in ("crba", "ltdl") if name == "L" else ("crba",):
                batch.run(before)
        elif name.startswith("q") and n == model.nq:
            setattr(batch, name, q)
        elif n == model.nv:
            setattr(batch, name, v)
