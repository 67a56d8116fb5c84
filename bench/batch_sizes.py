"""Time of an evaluation by batch size, from C++ and from Python, beside Pinocchio's, and the batch size from which ours is faster.

    ./featherstorm install bench
    .venv/bin/python bench/batch_sizes.py --build build/release [--robots iiwa14 go2 g1 atlas] [--output FILE.md] [--shares] [--busy]

Pinocchio evaluates one state in a call, so its time does not depend on the batch size. From C++: the programs of peers.py,
float64 for Pinocchio, processor time. From Python: a loop of calls of Pinocchio, and one call of ours with arrays (B, n) of
float32 in C order, wall-clock time. Latencies are wall-clock times of single calls with one state. Answers are
compared first, by the same code as in peers.py. Last, the share of the issue limit of the processor that kernels reach.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pinocchio

import featherstorm as fs
import machine
from featherstorm.commands import operation_count
from peers.build import ROOT, build_pinocchio
from peers.measure import TOLERANCE, error
from peers.pinocchio_robot import PinocchioRobot
from peers.report import number, table
from peers.robots import Description
from peers.server import Server

SIZES = [1, 2, 4, 8, 16, 64, 256, 1024, 4096, 16384, 65536]
OPS = {"rnea": "rnea", "fd": "aba"}  # ours, Pinocchio's
BUILD = "double/clang-native"
PATHS = ("float/assembled", "double/assembled")
ALONE = 0.95  # additions a cycle of a core whose other thread rests


def crossing(ours: dict, peer: float) -> str:
    """The least batch size from which on all of ours are faster."""
    slower = [size for size, ns in ours.items() if ns >= peer]
    if not slower:
        return str(min(ours))
    larger = [size for size in ours if size > max(slower)]
    return f"{min(larger)}" if larger else "none"


def check(x, reference, precision, what):
    e = error(x, reference)
    if not e < TOLERANCE[precision]:
        raise SystemExit(f"{what} differs from Pinocchio by {e:.1e}")


def from_cpp(programs, robot, repetitions, seconds):
    """op -> Pinocchio's time, path -> size -> ours, and both latencies as (p50, p99, p99.9)."""
    found = {op: {"ours": {path: {} for path in PATHS}} for op in OPS}
    for size in SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            ours = Description(programs["featherstorm"], robot)
            states, peer = ours.random_states(size), PinocchioRobot(ours, folder)
            a = Server("featherstorm", [programs["featherstorm"], robot], states, folder)
            b = Server("pinocchio", [programs["pinocchio"], peer.file], peer.states(states), folder)
            for op, theirs in OPS.items():
                reference = peer.back(op, b.answer(theirs))
                for path in PATHS:
                    check(a.answer(f"{op}/{path}"), reference, path.split("/")[0], f"{robot} {op} {path}")
                samples = {path: [] for path in PATHS}
                peers = []
                for _ in range(repetitions):
                    peers.append(b.time(theirs, seconds))
                    for path in PATHS:
                        samples[path].append(a.time(f"{op}/{path}", seconds))
                for path in PATHS:
                    found[op]["ours"][path][size] = statistics.median(samples[path])
                if size == 1:
                    found[op]["latency"] = {path: a.latency(f"{op}/{path}", 20000) for path in PATHS}
                    found[op]["latency"]["Pinocchio"] = b.latency(theirs, 20000)
                if size == 1024:
                    found[op]["pinocchio"] = statistics.median(peers)
            a.close(), b.close()
    return found


def share_of_limit(programs, robot, repetitions, seconds):
    """Rows of the table: instructions of a vector, and the time in which they could be issued over the measured one."""
    rows, model = [], fs.load(robot)
    with tempfile.TemporaryDirectory() as name:
        states = Description(programs["featherstorm"], robot).random_states(256)
        server = Server("featherstorm", [programs["featherstorm"], robot], states, Path(name))
        for op in ("rnea", "crba", "fd", "step"):
            c = operation_count.count(model, op)
            if server.answer(f"{op}/float/assembled") is None or c["avx512"] is None:
                continue
            # the clock rate changes with what other machines on the processor do, so it is measured beside each time
            found = [
                (server.time(f"{op}/float/assembled", seconds), *map(float, server.ask(f"clock - {seconds}").split()))
                for _ in range(repetitions)
            ]
            alone = [x for x in found if x[2] > ALONE]
            ns, clock = (statistics.median(x) for x in list(zip(*(alone or found)))[:2])
            cycles = 16 * statistics.median(time * rate for time, rate, _ in alone or found)
            products, sums, instructions = c["mul"], c["add"] - c["fused"], c["avx512"][0]
            counts = [str(products), str(sums), str(instructions)]
            shares = [f"{max(products, sums) / cycles:.2f}", f"{instructions / cycles:.2f}"]
            runs = f"{len(alone)} of {repetitions}"
            rows.append([op, robot, number(ns), f"{clock:.2f}", number(cycles), *counts, *shares, runs])
        server.close()
    return rows


def per_evaluation(call, count, repetitions, seconds):
    call()
    samples = []
    for _ in range(repetitions):
        passes, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            call()
            passes += 1
        samples.append((time.perf_counter() - start) / (passes * count) * 1e9)
    return statistics.median(samples)


def from_python(programs, robot, repetitions, seconds):
    """op -> Pinocchio's time, threads -> size -> ours."""
    ours = Description(programs["featherstorm"], robot)
    found = {op: {"ours": {1: {}, 2: {}}} for op in OPS}
    with tempfile.TemporaryDirectory() as folder:
        adapter = PinocchioRobot(ours, Path(folder))
        states = adapter.states(ours.random_states(64))
    data = adapter.model.createData()
    for op, theirs in OPS.items():
        call, x = getattr(pinocchio, theirs), states["a" if op == "rnea" else "tau"]
        rows = list(zip(states["q"], states["v"], x))

        def loop(call=call, rows=rows):
            for q, v, y in rows:
                call(adapter.model, data, q, v, y)

        found[op]["pinocchio"] = per_evaluation(loop, len(rows), repetitions, seconds)
    for threads in (1, 2):
        model = fs.load(robot, threads=threads)
        for size in SIZES:
            s = {name: x.astype(np.float32) for name, x in ours.random_states(size).items()}
            for op in OPS:
                function, x = getattr(fs, op), s["a" if op == "rnea" else "tau"]

                def call(function=function, model=model, x=x, s=s):
                    return function(model, s["q"], s["v"], x)

                found[op]["ours"][threads][size] = per_evaluation(call, size, repetitions, seconds)
    return found


def report(results, shares) -> str:
    d = machine.describe()
    sizes = [str(s) for s in SIZES]
    lines = [
        f"# Batch sizes on {d['machine']}, {d['date']}",
        "",
        f"{d['cpu']}, {d['cores']} cores; commit {d['commit']}. `python bench/batch_sizes.py`; load {machine.load()}.",
        "",
        "## From C++, one thread",
        "",
        "Nanoseconds of processor time for an evaluation. `from`: the batch size from which ours is faster than Pinocchio in float64, one",
        "state a call. Arrays of class `Buffer`: batches below 16 take a whole vector.",
        "",
    ]
    rows = []
    for robot, (cpp, _) in results.items():
        for op in OPS:
            for path in PATHS:
                t = cpp[op]["ours"][path]
                rows.append(
                    [
                        op,
                        robot,
                        path.split("/")[0],
                        number(cpp[op]["pinocchio"]),
                        *(number(t[s]) for s in SIZES),
                        f"**{crossing(t, cpp[op]['pinocchio'])}**",
                    ]
                )
    lines += table(["op", "robot", "ours in", "Pinocchio", *sizes, "from"], rows)
    lines += ["## From Python", "", "Wall-clock nanoseconds for an evaluation, float32, rows (B, n) of NumPy.", ""]
    rows, efficiency = [], []
    for robot, (_, python) in results.items():
        for op in OPS:
            t = python[op]["ours"]
            peer = python[op]["pinocchio"]
            for threads in (1, 2):
                rows.append(
                    [
                        op,
                        robot,
                        str(threads),
                        number(peer),
                        *(number(t[threads][s]) for s in SIZES),
                        f"**{crossing(t[threads], peer)}**",
                    ]
                )
            efficiency.append([op, robot, *(f"{t[1][s] / t[2][s] / 2:.0%}" for s in (1024, 4096, 16384, 65536))])
    lines += table(["op", "robot", "threads", "Pinocchio, a loop", *sizes, "from"], rows)
    lines += ["Time with one thread over twice the time with two:", ""]
    lines += table(["op", "robot", "1024", "4096", "16384", "65536"], efficiency)
    lines += [
        "## A single call with one state",
        "",
        "Wall-clock nanoseconds from C++: half of 20 000 calls, 99 % and 99.9 % of them take less.",
        "",
    ]
    rows = [
        [op, robot, who, *(number(x) for x in latency)]
        for robot, (cpp, _) in results.items()
        for op in OPS
        for who, latency in cpp[op]["latency"].items()
    ]
    lines += table(["op", "robot", "who", "50 %", "99 %", "99.9 %"], rows)
    if shares:
        lines += [
            "## Share of the limit",
            "",
            "Kernels of 16 instances in float32, batches of 256. A core with 256-bit pipes (Zen 4) begins one product or multiply-add of 512 bits",
            "and one sum a cycle. `share`: the larger of both counts over the measured cycles. `alone`: the repetitions in which no other machine",
            "used the other thread of the core; times are medians of these, or of all where there are none.",
            "",
        ]
        heads = [
            "op",
            "robot",
            "ns",
            "GHz",
            "cycles",
            "products",
            "sums",
            "instructions",
            "share",
            "instructions a cycle",
            "alone",
        ]
        lines += table(heads, shares)
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="build folder of featherstorm")
    parser.add_argument("--robots", nargs="+", default=["iiwa14", "go2", "g1", "atlas"])
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.02, help="length of a repetition")
    parser.add_argument("--output", type=Path, help="file to write")
    parser.add_argument("--shares", action="store_true", help="only the share of the limit")
    machine.add_busy_option(parser)
    options = parser.parse_args()
    machine.require_quiet(options.busy)
    folder = options.build / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    programs = {"featherstorm": options.build / "bin" / "bench_peer_featherstorm"}
    measured, results = (options.repetitions, options.seconds), {}
    if not options.shares:
        programs["pinocchio"] = build_pinocchio(folder, [BUILD])[BUILD][0]
        results = {r: (from_cpp(programs, r, *measured), from_python(programs, r, *measured)) for r in options.robots}
    shares = [row for r in options.robots for row in share_of_limit(programs, r, *measured)]
    text = report(results, shares)
    print(text)
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
