"""`bench --report FILE`: measure this machine and write one self-contained HTML page."""

from __future__ import annotations

import datetime
import os
import platform
import time
from operator import itemgetter as of
from typing import TYPE_CHECKING, Any

from ... import __version__, _featherstorm, loading, model as models
from .. import expect_folder
from ..doctor import gpu, version
from . import measure
from .page import against_batch, against_freedoms, bars, figure, page, paragraph, quartiles, table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from .measure import Plan, Spread
    from .page import Column

ROBOTS = ["iiwa14", "go2", "atlas"]
PLAN: Plan = {
    "ops": ["rnea", "crba", "fd", "step"], "instances": 1024, "repeats": 9, "sample": 4e-3,
    "batches": [1, 4, 16, 64, 256, 1024, 4096, 16384],
}  # fmt: skip
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
    path = expect_folder("report", options.report)
    record = measure.read(options.peers) if options.peers else None
    robots = options.robot or (options.robots.split(",") if options.robots else ROBOTS)
    plan = QUICK if options.quick else PLAN
    text = page("featherstorm: performance report", sections(robots, options, plan, record))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"report: {path}")


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
    return [
        table("Where and when this was measured", [("what", of(0)), ("found", of(1))], facts, ["found"], "facts"),
        paragraph(noise),
    ]


def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or "unknown"


def timed(head: str, times: Callable[[Any], Spread]) -> list[Column]:
    """Return the columns of a time: its median [ns], and its quartiles."""
    return [(head, lambda r: median(times(r))), ("quartiles", lambda r: quartiles(times(r)))]


def compared(head: str, times: Callable[[Any], Spread], base: Callable[[Any], Spread], over: str) -> list[Column]:
    """Return the columns of a time beside another one: median [ns], quartiles, and the ratio to the other."""
    return [*timed(head, times), (over, lambda r: ratio(times(r), base(r)))]


def batch(model: models.Model, plan: Plan) -> list[str]:
    rows = measure.batch_sizes(model, plan)
    text = (
        f"{model.name}, {model.nv} degrees of freedom, {model.threads} thread{'s' * (model.threads > 1)}. A call has a "
        "fixed cost, so throughput rises with the instances in it until the vectors are full and all threads have work."
    )
    drawn = figure(
        against_batch(rows),
        "batch",
        f"Throughput of {model.name} over batch size",
        "Million evaluations per second of each operation in float32 and float64; the table has the numbers.",
    )
    columns: list[Column] = [
        ("operation", of("op")), ("dtype", of("dtype")), ("instances", of("instances")), *timed("ns per evaluation", of("ns")),
        ("million per second", lambda r: 1e3 / median(r["ns"])),
    ]  # fmt: skip
    return [
        paragraph(text),
        drawn,
        table(f"{model.name}: time of an evaluation by batch size", columns, rows, ["dtype"]),
    ]


def freedoms(names: Sequence[str], plan: Plan) -> list[str]:
    rows = measure.freedoms(names, plan)
    drawn = figure(
        against_freedoms(rows),
        "freedoms",
        "Time of an evaluation over degrees of freedom",
        "A point for each robot and operation, float32, one thread; the table has the numbers.",
    )
    robots = [[r for r in rows if r["robot"] == name] for name in dict.fromkeys(r["robot"] for r in rows)]
    columns: list[Column] = [("robot", lambda mine: mine[0]["robot"]), ("freedoms", lambda mine: mine[0]["nv"])]
    for k, op in enumerate(dict.fromkeys(row["op"] for row in rows)):
        columns.append((op, lambda mine, k=k: median(mine[k]["ns"])))  # type: ignore[misc]
    return [
        paragraph(f"Every robot, float32, {plan['instances']} instances a call, one thread."),
        drawn,
        table("Nanoseconds per evaluation, float32, one thread", columns, robots),
    ]


def operations(model: models.Model, plan: Plan) -> list[str]:
    rows = measure.operations(model, plan)
    columns: list[Column] = [("operation", lambda r: r["op"] + ("" if r["made"] else "*"))]
    for d in measure.DTYPES:
        columns += timed(f"{d}, ns", lambda r, d=d: r["ns"][d])  # type: ignore[misc]
    columns += [(f"{d} error", lambda r, d=d: r["error"][d]) for d in measure.DTYPES]  # type: ignore[misc]
    columns.append(("what it is", of("summary")))
    text = (
        f"{plan['instances']} instances a call, one thread. Errors: the largest difference over instances from the kernels "
        "for any robot in float64, relative to the largest entry of the answer."
    )
    star = [] if all(r["made"] for r in rows) else [paragraph("* kernel for any robot")]
    found = table(f"{model.name}: nanoseconds per evaluation", columns, rows, ["what it is"], "wide")
    return [paragraph(text), found, *star]


def median(times: Spread) -> float:
    return times["median"]


def simulation(robots: list[str], options: argparse.Namespace, plan: Plan) -> list[str]:
    rows = measure.simulations(robots, options, plan)
    columns: list[Column] = [
        ("robot", of("robot")), ("freedoms", of("nv")), ("dtype", of("dtype")), *timed("ns per step", of("ns")),
        ("million steps per second", lambda r: 1e3 / median(r["ns"])),
        ("times real time, all instances", lambda r: 1e6 / median(r["ns"])), ("not finite", of("bad")),
    ]  # fmt: skip
    text = (
        f"{plan['instances']} instances fall freely from random states, steps of 1 ms, without contacts, on "
        f"{options.threads or os.cpu_count()} threads."
    )
    return [paragraph(text), table("Simulation.step: time of an instance's step", columns, rows, ["dtype"])]


def derivatives(loaded: Sequence[models.Model], plan: Plan) -> list[str]:
    rows = measure.derivatives(loaded, plan)
    columns: list[Column] = [
        ("operation", lambda r: f"{r['robot']}: {r['op']}"), ("itself, ns", lambda r: median(r["ns"])),
        *compared("vjp, ns", of("vjp"), of("ns"), "over itself"), *compared("jvp, ns", of("jvp"), of("ns"), "over itself"),
    ]  # fmt: skip
    draw = bars(
        [m.name for m in loaded],
        {f"{op}_vjp": [ratio(r["vjp"], r["ns"]) for r in rows if r["op"] == op] for op in plan["ops"]},
        "time over the operation's own",
        1,
    )
    text = (
        "op_vjp gives the gradients with respect to all inputs together, op_jvp a directional derivative; float32, "
        f"{plan['instances']} instances a call, one thread. Both include the operation's own work."
    )
    drawn = figure(
        draw,
        "derivatives",
        "Cost of gradients in times of the operation itself",
        "A bar for each robot and operation; the dashed line is the operation's own time.",
    )
    return [paragraph(text), drawn, table("Derivatives beside the operation itself", columns, rows)]


def ratio(times: Spread, base: Spread) -> float:
    return median(times) / median(base)


def parameters(name: str, plan: Plan) -> list[str]:
    columns: list[Column] = [
        ("operation: parameters", lambda r: f"{r['op']}: {', '.join(r['parameters'])}"),
        ("constants, ns", lambda r: median(r["constants"])),
        *compared("an own value per instance, ns", of("ns"), of("constants"), "over constants"),
    ]
    text = (
        "Numbers of the robot that are inputs, so that every instance has its own (Model.bind), against kernels of which "
        f"they are constants; float32, {plan['instances']} instances a call, one thread."
    )
    caption = f"{os.path.basename(name)}: what parameters cost"
    return [paragraph(text), table(caption, columns, measure.parameters(name, plan))]


def other_libraries(name: str, record: dict[str, Any] | None, plan: Plan) -> list[str]:
    if record:
        columns: list[Column] = [("evaluation: robot", lambda r: f"{r[0]}: {r[1]}")]
        for k, library in enumerate(("Pinocchio", "MuJoCo", "ours, float64", "ours, float32")):
            columns.append((library, lambda r, k=k: "-" if r[2][k] is None else r[2][k]))  # type: ignore[misc]
        columns.append(("fastest of them over float64", lambda r: best(r[2])))
        text = (
            f"Measured by bench/peers.py on {record['machine']}, {record['date']}, commit {record['commit']}; load average "
            f"before {record.get('load_before')}, after {record.get('load_after')}. One thread each, answers compared first."
        )
        return [paragraph(text), table("Nanoseconds per evaluation", columns, measure.recorded(record))]
    found = measure.here(name, plan)
    if isinstance(found, str):
        return [paragraph(found + " For a comparison with compiled programs give --peers a result of bench/peers.py.")]
    columns = [
        ("evaluation", of(0)), *timed("Pinocchio, ns", of(1)), *timed("ours, float64, ns", of(2)),
        ("Pinocchio over ours", lambda r: ratio(r[1], r[2])),
    ]  # fmt: skip
    text = (
        f"Pinocchio {version('pin')} on {name}, called from Python for one state after the other: the call, about half a "
        "microsecond, is in its time. bench/peers.py compares compiled programs. The inertia matrices agreed first."
    )
    return [paragraph(text), table(f"{name}: Pinocchio beside featherstorm, float64, one thread", columns, found)]


def best(times: Sequence[float | None]) -> str | float:
    theirs = [t for t in times[:2] if t is not None]
    return "-" if times[2] is None else min(theirs) / times[2]
