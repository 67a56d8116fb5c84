"""Measure the time of operations per instance, or count their arithmetic operations.

Times are nanoseconds per instance, medians of several runs.

bench                         rnea, crba, fd on four robots
bench rnea,aba go2,atlas      two operations on two robots
bench --count                 arithmetic operations per evaluation, compared with the book's formulas; nothing is timed
bench --count --markdown      every operation of every built-in robot: the content of bench/results/operations.md
bench --count --robot a.urdf  another robot
bench --report page.html      a page for this machine: batch sizes, robots, operations, derivatives, parameters, peers
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from .. import loading
from . import add_engine_arguments, operation_count, positive, report, specialise, table
from .report.measure import Case

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from ..model import Model

OPS = "rnea,crba,fd"
ROBOTS = "iiwa14,go2,g1,atlas"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ops", nargs="?", help=f"operations with commas between (default: {OPS}; --count: all)")
    parser.add_argument("robots", nargs="?", help=f"robots with commas between (default: {ROBOTS}; --markdown: all)")
    parser.add_argument(
        "--robot", action="append", metavar="ROBOT", help="a robot, in place of the list; may be repeated"
    )
    parser.add_argument("--count", action="store_true", help="count operations per evaluation instead of timing them")
    parser.add_argument("--markdown", action="store_true", help="with --count: as a table in Markdown")
    parser.add_argument("--instances", type=positive, default=4096, help="default: %(default)s")
    parser.add_argument("--repeats", type=positive, default=20, help="timed runs (default: %(default)s)")
    add_engine_arguments(parser)
    report.add_arguments(parser)


def main(options: argparse.Namespace) -> None:
    if options.robot and options.robots:
        raise ValueError(f"got the robots {options.robots} and --robot {options.robot[0]}, expected one of the two")
    if options.markdown and not options.count:
        raise ValueError("--markdown is for --count")
    if options.report:
        report.main(options)
        return
    default = loading.robots() if options.markdown else ROBOTS.split(",")
    robots = options.robot or (options.robots.split(",") if options.robots else default)
    if options.count:
        count(robots, options.ops.split(",") if options.ops else None, options.markdown)
        return
    ops = (options.ops or OPS).split(",")
    rows = []
    for robot in robots:
        model = loading.load(robot, threads=options.threads, assemble=not options.no_specialise)
        check_ops(model, ops)
        cells = []
        for op in ops:
            special = not options.no_specialise and specialise(model, [op], options.dtype)
            nanoseconds = measure(Case(model, op, options.instances, options.dtype), options.repeats)
            cells.append(f"{nanoseconds:.1f}" + ("" if special or options.no_specialise else "*"))
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


def check_ops(model: Model, ops: Iterable[str]) -> None:
    missing = [op for op in ops if op not in model.ops]
    if missing:
        raise ValueError(f"there is no operation {', '.join(missing)}; there are {', '.join(model.ops)}")


def count(robots: Iterable[str], ops: list[str] | None, as_markdown: bool) -> None:
    """Print the arithmetic operations per evaluation for robots. ops: names of operations; None: all."""
    loaded = [loading.load(robot) for robot in robots]
    check_ops(loaded[0], ops or [])
    if as_markdown:
        print(operation_count.markdown(loaded, ops), end="")
        return
    for model in loaded:
        found = list(operation_count.rows(model, ops or model.ops))
        print(f"{model.name}: operations of one evaluation, {model.nv} freedoms")
        shown = [[cell for name, cell in row.items() if name not in ("robot", "nv")] for row in found]
        heads = [name for name in found[0] if name not in ("robot", "nv")]
        print("\n".join(table(shown, heads)) + "\n")
    print(operation_count.LEGEND, end="")


def measure(case: Case, repeats: int) -> float:
    """Return the median time of an operation on random inputs [ns per instance]."""
    case.run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter_ns()
        case.run()
        times.append(time.perf_counter_ns() - start)
    return float(np.median(times)) / case.instances
