"""Two published results, measured: the book's curves of cost over the number of joints, and all matrices of a humanoid.

    .venv/bin/python bench/book_figures.py --build build/release [--output FILE.md] [--busy]

RBDA Figures 10.4 and 10.5 plot operation counts of the articulated-body algorithm and of the O(n^3) algorithm (bias force, inertia matrix,
factor, solution) over n, for unbranched chains and for trees of revolute joints. Here: the time of `aba` and of `fd`, float32, kernels
assembled for each mechanism, batches of 256, and the ratio of both beside that of the book's formulas. Their answers are compared first.
`fd` counts both algorithms and takes the cheaper one, so it is `aba` where the O(n^3) algorithm would be dearer.

Garofalo, Ott and Albu-Schaeffer (2013) give 0.244 ms for all matrices of a humanoid with 25 joints, and 0.71 for the time of the matrices
together with their rates over twice the time of the matrices. Here: the sums of the times of `crba`, `coriolis_matrix`, `gravity` and of
their rates for the robot `humanoid` (21 joints and a floating base), float64.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

import numpy as np

import featherstorm as fs
import machine
from featherstorm.commands import operation_count
from peers.build import ROOT
from peers.measure import error
from peers.report import number, table
from peers.robots import Description
from peers.server import Server

SIZES = [2, 4, 6, 8, 10, 12, 15, 18, 24, 30, 36, 45]
MATRICES = ("crba", "coriolis_matrix", "gravity")
RATES = ("crba_rate", "coriolis_matrix_rate", "gravity_torques_rate")


def mechanism(n: int, branches: int) -> str:
    """A URDF file of n revolute joints with general geometry and inertias, in a tree in which a body has so many children."""
    rng = np.random.default_rng(n)

    def words(x):
        return " ".join(f"{v:.6f}" for v in x)

    parts = ['<link name="b0"/>']
    for i in range(1, n + 1):
        parent = (i - 1 + branches - 1) // branches
        axis = rng.normal(size=3)
        inertia = rng.uniform(0.02, 0.03, 3)
        parts.append(
            f'<link name="b{i}"><inertial><origin xyz="{words(rng.uniform(-0.1, 0.1, 3))}"/><mass value="{rng.uniform(0.5, 1.5):.6f}"/>'
            f'<inertia ixx="{inertia[0]:.6f}" iyy="{inertia[1]:.6f}" izz="{inertia[2]:.6f}" ixy=".001" ixz=".002" iyz="-.001"/></inertial>'
            f'</link><joint name="j{i}" type="continuous"><parent link="b{parent}"/><child link="b{i}"/>'
            f'<origin xyz="{words(rng.uniform(-0.3, 0.3, 3))}" rpy="{words(rng.uniform(-1, 1, 3))}"/>'
            f'<axis xyz="{words(axis / np.linalg.norm(axis))}"/></joint>'
        )
    return f'<robot name="mechanism">{"".join(parts)}</robot>'


def medians(server, ops, options):
    samples = {op: [] for op in ops}
    for _ in range(options.repetitions):
        for op in ops:
            samples[op].append(server.time(op, options.seconds))
    return {op: statistics.median(x) for op, x in samples.items()}


def figure(program, branches, options) -> list[list[str]]:
    rows = []
    for n in SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            file = folder / "mechanism.urdf"
            file.write_text(mechanism(n, branches), encoding="utf-8")
            server = Server("featherstorm", [program, file], Description(program, file).random_states(256), folder)
            by_bodies, by_inertia = "aba/float/assembled", "fd/float/assembled"
            e = error(server.answer("aba/double/assembled"), server.answer("fd/double/assembled"))
            if not e < 1e-8:
                raise SystemExit(f"{n} joints: aba and fd differ by {e:.1e}")
            t = medians(server, (by_bodies, by_inertia), options)
            server.close()
            model = fs.load(file)
            aba = sum(operation_count.formula(model, "aba"))
            book = [sum(operation_count.formula(model, op)) for op in ("bias", "crba", "ltdl", "solve")]
            counts = {op: operation_count.count(model, op) for op in ("aba", "fd")}
            ours = {op: c["mul"] + c["add"] for op, c in counts.items()}
            rows.append(
                [
                    str(n),
                    number(t[by_bodies]),
                    number(t[by_inertia]),
                    f"{t[by_inertia] / t[by_bodies]:.2f}",
                    f"{ours['fd'] / ours['aba']:.2f}",
                    f"{sum(book) / aba:.2f}",
                    f"{ours['aba'] / aba:.0%}",
                    f"{ours['fd'] / sum(book):.0%}",
                ]
            )
    heads = [
        "n",
        "aba [ns]",
        "fd [ns]",
        "fd / aba, time",
        "operations",
        "book's",
        "aba: operations of the book's",
        "fd: of the book's",
    ]
    return table(heads, rows)


def humanoid(program, options) -> list[str]:
    rows = []
    for count in (1, 1024):
        with tempfile.TemporaryDirectory() as name:
            states = Description(program, "humanoid").random_states(count)
            server = Server("featherstorm", [program, "humanoid"], states, Path(name))
            t = medians(server, [f"{op}/double/assembled" for op in (*MATRICES, *RATES)], options)
            server.close()
        matrices, rates = (sum(t[f"{op}/double/assembled"] for op in ops) for ops in (MATRICES, RATES))
        rows.append([str(count), number(matrices), number(rates), f"{(matrices + rates) / (2 * matrices):.2f}"])
    return table(["states a call", "M, C, g [ns]", "their rates [ns]", "matrices and rates / twice the matrices"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="build folder of featherstorm")
    parser.add_argument("--repetitions", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=0.02, help="length of a repetition")
    parser.add_argument("--output", type=Path, help="file to write")
    machine.add_busy_option(parser)
    options = parser.parse_args()
    machine.require_quiet(options.busy)
    program = options.build / "bin" / "bench_peer_featherstorm"
    d = machine.describe()
    lines = [
        f"# Published results, measured on {d['machine']}, {d['date']}",
        "",
        f"{d['cpu']}; commit {d['commit']}; load {machine.load()}. `python bench/book_figures.py`, one thread.",
        "",
        "`fd` counts the operations of both algorithms for the robot and takes the cheaper one: for long chains it is `aba`.",
        "",
        "## RBDA Figure 10.4: unbranched chains",
        "",
        *figure(program, 1, options),
        "## RBDA Figure 10.5: trees, two children a body",
        "",
        *figure(program, 2, options),
        "## Garofalo, Ott, Albu-Schaeffer (2013): all matrices of a humanoid",
        "",
        *humanoid(program, options),
    ]
    text = "\n".join(lines)
    print(text)
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
