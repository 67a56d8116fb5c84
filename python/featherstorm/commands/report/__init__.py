"""`bench --report FILE`: measure this machine and write one self-contained HTML page."""

from __future__ import annotations

import datetime
import os
import platform
import time
from typing import TYPE_CHECKING, Any

from ... import __version__, _featherstorm, loading, model as models
from ..doctor import gpu, version
from . import measure, peers, plots
from .page import page, paragraph, quartiles, table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from .measure import Plan, Spread

ROBOTS = ["iiwa14", "go2", "atlas"]
PLAN: Plan = {
    "ops": ["rnea", "crba", "fd", "step"],
    "instances": 1024,
    "repeats": 9,
    "sample": 4e-3,
    "batches": [1, 4, 16, 64, 256, 1024, 4096, 16384],
}
QUICK = {**PLAN, "ops": ["rnea", "fd"], "instances": 32, "repeats": 3, "sample": 1e-4, "batches": [1, 16, 64]}
LIBRARIES = ("numpy", "torch", "jax", "mujoco", "pin")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a page of results")
    group.add_argument(
        "--report",
        metavar="FILE.html",
        help="measure this machine and write a page, of --robot or of "
        f"{', '.join(ROBOTS)}; the first but one is looked at closely",
    )
    group.add_argument("--quick", action="store_true", help="with --report: small sizes and few repeats, as a trial")
    group.add_argument("--peers", metavar="FILE.json", help="with --report: show this result of bench/peers.py")


def main(options: argparse.Namespace) -> None:
    folder = os.path.dirname(os.path.abspath(options.report))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"--report: there is no folder {folder}")
    record = peers.read(options.peers) if options.peers else None
    robots = options.robot or (options.robots.split(",") if options.robots else ROBOTS)
    plan = QUICK if options.quick else PLAN
    text = page("featherstorm: performance report", sections(robots, options, plan, record))
    with open(options.report, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"report: {os.path.abspath(options.report)}")


def sections(
    robots: list[str], options: argparse.Namespace, plan: Plan, record: dict[str, Any] | None
) -> list[tuple[str, str, list[str]]]:
    """Return (id, heading, parts) of all sections. The first section needs the results of all others."""
    before, start = os.getloadavg(), time.perf_counter()
    main_robot = robots[min(1, len(robots) - 1)]
    one = [loading.load(name, threads=1) for name in robots]
    many = loading.load(main_robot, threads=options.threads)
    parts = []
    makers: tuple[tuple[str, str, Callable[[], list[str]]], ...] = (
        ("batch", "Throughput and batch size", lambda: batch(many, plan)),
        (
            "freedoms",
            "Time and degrees of freedom",
            lambda: freedoms(robots if options.quick else loading.robots(), plan),
        ),
        ("operations", f"All operations of {many.name}", lambda: operations(one[robots.index(main_robot)], plan)),
        ("simulation", "Simulation", lambda: simulation(robots, options, plan)),
        ("derivatives", "Derivatives", lambda: derivatives(one, plan)),
        ("parameters", "Parameters of an instance", lambda: parameters(main_robot, plan)),
        ("peers", "Other libraries", lambda: other_libraries(main_robot, record, plan)),
    )
    for name, what, make in makers:
        print("measuring:", what, flush=True)
        parts.append((name, what, make()))
    return [("machine", "Machine and measurement", machine(many, plan, before, time.perf_counter() - start)), *parts]


def machine(model: models.Model, plan: Plan, before: Sequence[float], elapsed: float) -> list[str]:
    def load(average: Sequence[float]) -> str:
        return ", ".join(f"{x:.1f}" for x in average)

    facts = [
        ("date", datetime.datetime.now().astimezone().isoformat(" ", "minutes")),
        ("processor", f"{processor()}, {os.cpu_count()} logical processors"),
        ("system", f"{platform.system()} {platform.release()} {platform.machine()}"),
        ("GPU and driver", gpu()),
        ("featherstorm", f"{__version__}, built with {_featherstorm.built_with}"),
        ("kernels", f"{model.isa}, made for each robot when an operation is first used"),
        ("Python", ", ".join([platform.python_version(), *(f"{p} {version(p) or 'none'}" for p in LIBRARIES)])),
        ("load average before", f"{load(before)} (1, 5, 15 minutes)"),
        ("load average after", f"{load(os.getloadavg())} (1, 5, 15 minutes), {elapsed:.0f} s later"),
    ]
    noise = (
        f"Times are medians of {plan['repeats']} repetitions of at least {1e3 * plan['sample']:g} ms, with the quartiles as "
        "their spread. What is compared is timed in turn, in changing order. Times on one thread are processor time; those on "
        "several are wall-clock time and suffer from whatever else runs. Where the load average was above 0.5 before this "
        "began, other programs shared caches and clock rate: trust ratios within a table more than single times, and "
        "differences within the quartiles not at all."
    )
    return [table("Where and when this was measured", ["what", "found"], facts, ["found"], "facts"), paragraph(noise)]


def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or "unknown"


def batch(model: models.Model, plan: Plan) -> list[str]:
    rows = measure.batch_sizes(model, plan)
    text = (
        f"{model.name}, {model.nv} degrees of freedom, {model.threads} thread{'s' * (model.threads > 1)}. A call has a "
        "fixed cost, so throughput rises with the instances in it until the vectors are full and all threads have work."
    )
    figure = plots.figure(
        plots.against_batch(rows),
        "batch",
        f"Throughput of {model.name} over batch size",
        "Million evaluations per second of each operation in float32 and float64; the table has the numbers.",
    )
    cells = [
        (r["op"], r["dtype"], r["instances"], r["ns"]["median"], quartiles(r["ns"]), 1e3 / r["ns"]["median"])
        for r in rows
    ]
    heads = ["operation", "dtype", "instances", "ns per evaluation", "quartiles", "million per second"]
    return [
        paragraph(text),
        figure,
        table(f"{model.name}: time of an evaluation by batch size", heads, cells, ["dtype"]),
    ]


def freedoms(names: Sequence[str], plan: Plan) -> list[str]:
    rows = measure.freedoms(names, plan)
    ops = list(dict.fromkeys(row["op"] for row in rows))
    figure = plots.figure(
        plots.against_freedoms(rows),
        "freedoms",
        "Time of an evaluation over degrees of freedom",
        "A point for each robot and operation, float32, one thread; the table has the numbers.",
    )
    cells = [(f"{name}", *found(rows, name)) for name in dict.fromkeys(r["robot"] for r in rows)]
    return [
        paragraph(f"Every robot, float32, {plan['instances']} instances a call, one thread."),
        figure,
        table("Nanoseconds per evaluation, float32, one thread", ["robot", "freedoms", *ops], cells),
    ]


def found(rows: list[dict[str, Any]], name: str) -> tuple[float, ...]:
    mine = [r for r in rows if r["robot"] == name]
    return (mine[0]["nv"], *(r["ns"]["median"] for r in mine))


def operations(model: models.Model, plan: Plan) -> list[str]:
    rows = measure.operations(model, plan)
    cells = [
        (
            r["op"] + ("" if r["made"] else "*"),
            *(f(r["ns"][d]) for d in measure.DTYPES for f in (median, quartiles)),
            *(r["error"][d] for d in measure.DTYPES),
            r["summary"],
        )
        for r in rows
    ]
    heads = [
        "operation",
        "float32, ns",
        "quartiles",
        "float64, ns",
        "quartiles",
        "float32 error",
        "float64 error",
        "what it is",
    ]
    text = (
        f"{plan['instances']} instances a call, one thread. Errors: the largest difference over instances from the kernels "
        "for any robot in float64, relative to the largest entry of the answer."
    )
    star = [] if all(r["made"] for r in rows) else [paragraph("* kernel for any robot")]
    return [
        paragraph(text),
        table(f"{model.name}: nanoseconds per evaluation", heads, cells, ["what it is"], "wide"),
        *star,
    ]


def median(times: Spread) -> float:
    return times["median"]


def simulation(robots: list[str], options: argparse.Namespace, plan: Plan) -> list[str]:
    rows = measure.simulations(robots, options, plan)
    cells = [
        (
            r["robot"],
            r["nv"],
            r["dtype"],
            median(r["ns"]),
            quartiles(r["ns"]),
            1e3 / median(r["ns"]),
            1e6 / median(r["ns"]),
            r["bad"],
        )
        for r in rows
    ]
    heads = [
        "robot",
        "freedoms",
        "dtype",
        "ns per step",
        "quartiles",
        "million steps per second",
        "times real time, all instances",
        "not finite",
    ]
    text = (
        f"{plan['instances']} instances fall freely from random states, steps of 1 ms, without contacts, on "
        f"{options.threads or os.cpu_count()} threads."
    )
    return [paragraph(text), table("Simulation.step: time of an instance's step", heads, cells, ["dtype"])]


def derivatives(loaded: Sequence[models.Model], plan: Plan) -> list[str]:
    rows = measure.derivatives(loaded, plan)
    cells = [
        (
            f"{r['robot']}: {r['op']}",
            median(r["ns"]),
            *beside(r["vjp"], r["ns"]),
            *beside(r["jvp"], r["ns"]),
        )
        for r in rows
    ]
    heads = ["operation", "itself, ns", "vjp, ns", "quartiles", "over itself", "jvp, ns", "quartiles", "over itself"]
    draw = plots.bars(
        [m.name for m in loaded],
        {f"{op}_vjp": [ratio(r["vjp"], r["ns"]) for r in rows if r["op"] == op] for op in plan["ops"]},
        "time over the operation's own",
        1,
    )
    text = (
        "op_vjp gives the gradients with respect to all inputs together, op_jvp a directional derivative; float32, "
        f"{plan['instances']} instances a call, one thread. Both include the operation's own work."
    )
    figure = plots.figure(
        draw,
        "derivatives",
        "Cost of gradients in times of the operation itself",
        "A bar for each robot and operation; the dashed line is the operation's own time.",
    )
    return [paragraph(text), figure, table("Derivatives beside the operation itself", heads, cells)]


def ratio(times: Spread, base: Spread) -> float:
    return median(times) / median(base)


def beside(times: Spread, base: Spread) -> tuple[float, str, float]:
    """Return the cells of a comparison with `base`: time, spread, and ratio to the time of the base."""
    return median(times), quartiles(times), ratio(times, base)


def parameters(name: str, plan: Plan) -> list[str]:
    rows = measure.parameters(name, plan)
    cells = [
        (
            f"{r['op']}: {', '.join(r['parameters'])}",
            median(r["constants"]),
            *beside(r["ns"], r["constants"]),
        )
        for r in rows
    ]
    heads = ["operation: parameters", "constants, ns", "an own value per instance, ns", "quartiles", "over constants"]
    text = (
        "Numbers of the robot that are inputs, so that every instance has its own (Model.bind), against kernels of which "
        f"they are constants; float32, {plan['instances']} instances a call, one thread."
    )
    return [paragraph(text), table(f"{os.path.basename(name)}: what parameters cost", heads, cells)]


def other_libraries(name: str, record: dict[str, Any] | None, plan: Plan) -> list[str]:
    if record:
        rows = [
            (f"{what}: {robot}", *("-" if t is None else t for t in times), best(times))
            for what, robot, times in peers.recorded(record)
        ]
        text = (
            f"Measured by bench/peers.py on {record['machine']}, {record['date']}, commit {record['commit']}; load average "
            f"before {record.get('load_before')}, after {record.get('load_after')}. One thread each, answers compared first."
        )
        heads = [
            "evaluation: robot",
            "Pinocchio",
            "MuJoCo",
            "ours, float64",
            "ours, float32",
            "fastest of them over float64",
        ]
        return [paragraph(text), table("Nanoseconds per evaluation", heads, rows)]
    found = peers.here(name, plan)
    if isinstance(found, str):
        return [paragraph(found + " For a comparison with compiled programs give --peers a result of bench/peers.py.")]
    cells = [(what, median(t), quartiles(t), median(u), quartiles(u), ratio(t, u)) for what, t, u in found]
    text = (
        f"Pinocchio {version('pin')} on {name}, called from Python for one state after the other: the call, about half a "
        "microsecond, is in its time. bench/peers.py compares compiled programs. The inertia matrices agreed first."
    )
    heads = ["evaluation", "Pinocchio, ns", "quartiles", "ours, float64, ns", "quartiles", "Pinocchio over ours"]
    return [paragraph(text), table(f"{name}: Pinocchio beside featherstorm, float64, one thread", heads, cells)]


def best(times: Sequence[float | None]) -> str | float:
    theirs = [t for t in times[:2] if t is not None]
    return "-" if times[2] is None else min(theirs) / times[2]
