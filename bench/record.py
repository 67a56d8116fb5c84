"""Runs bench_ops, bench_accuracy, bench_costs and `featherstorm bench --count`, and writes their tables into bench/results.

python bench/record.py --build build/release [--filter REGEX] [ops] [accuracy] [costs] [operations]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import machine


def head(title: str, load_before: list[float]) -> str:
    d = machine.describe()
    return (
        f"# {title} on {d['machine']}, {d['date']}\n\n{d['cpu']}, {d['cores']} cores; commit {d['commit']}; "
        f"load average before {load_before}, after {machine.load()} (1, 5 minutes).\n\n"
    )


def ops(binaries: Path, options: argparse.Namespace) -> None:
    before = machine.load()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [binaries / "bench_ops", f"--benchmark_out={file.name}", "--benchmark_out_format=json"]
        if options.filter:
            command.append(f"--benchmark_filter={options.filter}")
        subprocess.run(command, check=True)
        result = json.load(file)
    rows: dict[str, dict] = {}
    for b in result["benchmarks"]:
        row = rows.setdefault(b["run_name"].removesuffix("/real_time"), {})
        if b.get("error_occurred"):
            row["failed"] = b["error_message"]
        elif b.get("aggregate_name") in ("median", "cv"):
            row[b["aggregate_name"]] = b
    lines = [
        f"Build: {result['context']['featherstorm_build']}. Median of the repetitions; spread: standard deviation / mean.",
        "",
        "| benchmark | ns per instance | spread | error |",
        "|---|---|---|---|",
    ]
    for name, row in rows.items():
        if "failed" in row:
            lines.append(f"| {name} | {row['failed'].splitlines()[0]} | | |")
        else:
            spread = row["cv"]["per_instance"] if "cv" in row else float("nan")
            lines.append(
                f"| {name} | {1e9 * row['median']['per_instance']:.2f} | {spread:.1%} | {row['median']['error']:.0e} |"
            )
    write(f"{machine.describe()['date']}-ops.md", head("Every operation", before) + "\n".join(lines) + "\n")


def accuracy(binaries: Path, options: argparse.Namespace) -> None:
    before = machine.load()
    text = subprocess.run([binaries / "bench_accuracy"], check=True, capture_output=True, text=True).stdout
    write(f"{machine.describe()['date']}-accuracy.md", head("float32 against double", before) + text)


def costs(binaries: Path, options: argparse.Namespace) -> None:
    before = machine.load()
    text = subprocess.run([binaries / "bench_costs"], check=True, capture_output=True, text=True).stdout
    write(f"{machine.describe()['date']}-costs.md", head("What derivatives and parameters cost", before) + text)


def operations(binaries: Path, options: argparse.Namespace) -> None:
    command = [sys.executable, "-m", "featherstorm", "bench", "--count", "--markdown"]
    write("../operations.md", subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def write(name: str, text: str) -> None:
    path = (machine.folder() / name).resolve()
    path.write_text(text)
    print("wrote", path.relative_to(machine.ROOT))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=machine.ROOT / "build" / "release")
    parser.add_argument("--filter", help="as --benchmark_filter")
    parser.add_argument("which", nargs="*", choices=["ops", "accuracy", "costs", "operations", []], default=[])
    options = parser.parse_args()
    for step in (operations, accuracy, costs, ops):
        if not options.which or step.__name__ in options.which:
            step(options.build / "bin", options)
