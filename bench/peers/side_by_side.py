"""MJX, MuJoCo Warp and featherstorm beside each other on this machine's GPU, as CSV lines; answers are compared first.

    PYTHONPATH=bench python -m peers.side_by_side build/release/bin/bench_peer_featherstorm [--quick] [--seconds 400]
                                                  [--robots go2 g1 iiwa14 atlas]

A row says what a step takes, per instance, and how far velocities after one step are from MuJoCo's. A library that fails in one
row goes on in the next; those that are not installed, or for which no time is left, have a row that says so.
--quick: two small sizes of one robot, for libraries on whichever device they have: a test of this file, not of a GPU.
"""

from __future__ import annotations

import argparse
import functools
import gc
import time
from pathlib import Path

from . import gpu

SIZES = (16, 256, 4096, 8192, 65536, 262144)
MJX_SIZES, MJX_ROBOTS = (8192,), ("go2", "g1")  # XLA compiles each shape anew, for a quarter of a minute and more
OURS = [name for name, (_, module, _) in gpu.LIBRARIES.items() if module == "featherstorm"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=Path, help="bench_peer_featherstorm")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=400, help="no row is begun after that")
    parser.add_argument("--robots", nargs="+", default=["go2", "g1", "iiwa14", "atlas"])
    parser.add_argument("--libraries", nargs="+", choices=list(gpu.LIBRARIES), default=list(gpu.LIBRARIES))
    return parser.parse_args()


def rows(options: argparse.Namespace):
    """(library, robot, instances): all of ours first, as they take little time, then robot by robot theirs."""
    robots, sizes = (options.robots[:1], (16, 64)) if options.quick else (options.robots, SIZES)
    theirs = [name for name in options.libraries if name not in OURS]
    for names in [[name] for name in options.libraries if name in OURS] + [[]]:
        for robot in robots:
            for name in names or theirs:
                for B in sizes:
                    if name != "MJX" or (options.quick and sizes[0] == B) or (B in MJX_SIZES and robot in MJX_ROBOTS):
                        yield name, robot, B


@functools.lru_cache(24)
def case_of(robot: str, program: Path, instances: int) -> gpu.Case:
    return gpu.Case.of(robot, program, instances)


def row(name: str, case: gpu.Case, quick: bool) -> tuple[str, bool]:
    """A line, and whether the answers were right."""
    job = gpu.LIBRARIES[name][0](case)
    B, e = len(case.states["q"]), case.error(job.first)
    right = bool(e < gpu.TOLERANCE)
    x = sorted(gpu.times(job, B, 3, 1e-3) if quick else gpu.times(job, B))
    line = f"{x[len(x) // 2]:.3f},{x[0]:.3f},{x[-1]:.3f},{e:.1e},{'same' if right else 'DIFFERENT'},{job.form},{job.device}"
    return line, right


def main() -> int:
    options, failures, count = arguments(), 0, 0
    end = time.monotonic() + options.seconds
    print(
        "robot,library,instances,ns per instance and step,least,most,difference from MuJoCo,answers,launched as,device"
    )
    missing = {name: gpu.missing(name) for name in options.libraries}
    if options.quick:
        missing = {name: "" if why == gpu.NO_GPU else why for name, why in missing.items()}
    for name, robot, B in rows(options):
        begin = f'{robot},"{name}",{B},'
        if missing[name]:
            print(f"{begin}not run: {missing[name]}", flush=True)
            continue
        if time.monotonic() > end:
            print(f"{begin}not run: no time is left", flush=True)
            continue
        try:
            line, right = row(name, case_of(robot, options.program, B), options.quick)
            failures += not right
        except Exception as why:  # of any library; the next row may do
            line, failures = f"FAILED {type(why).__name__}: {' '.join(str(why).split())[:200]}", failures + 1
        count += 1
        gc.collect()
        print(begin + line, flush=True)
    print(f"# {count} rows, {failures} failures")
    return failures > 0 or count == 0


if __name__ == "__main__":
    raise SystemExit(main())
