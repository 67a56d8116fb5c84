"""Times Pinocchio, MuJoCo and featherstorm side by side on this machine, after their answers were compared.

    ./featherstorm install bench
    .venv/bin/python bench/peers.py --build build/release [--robots iiwa14 go2 atlas] [--repetitions 15]

Every library runs in a program of its own (bench/peers/), compiled at its best; one repetition of each in turn, the same
random states for all, medians. MJX, frax and Crocoddyl take part if their packages are installed; --with names some of
them. Rollouts on all cores and simulators on a GPU are compared through Python, where the packages are there. Writes bench/results/<machine>/<date>-peers.json and .md.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import sys
from pathlib import Path

import machine
from peers import gpu, rollouts
from peers.build import HERE, PEERS_REMEDY, PINOCCHIO_BUILDS, ROOT, build_crocoddyl, build_mujoco, build_pinocchio
from peers.measure import BATCHES, measure
from peers.report import report

OTHERS = {"mjx": "mujoco.mjx", "frax": "frax", "crocoddyl": "crocoddyl"}  # their modules


def other_programs(folder: Path, wanted: list[str]) -> dict:
    """Commands and programs of the peers that are installed; XLA's programs stay in a cache in the folder."""
    there = [name for name in wanted if importlib.util.find_spec(OTHERS[name])]
    if len(there) < len(wanted):
        print(f"left out: {', '.join(set(wanted) - set(there))}; {PEERS_REMEDY}")
    os.environ.setdefault("PEERS_XLA_CACHE", str(folder.resolve() / "xla-cache"))
    return {
        name: build_crocoddyl(folder) if name == "crocoddyl" else [sys.executable, HERE / "xla.py"] for name in there
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="build folder of featherstorm")
    parser.add_argument("--robots", nargs="+", default=["iiwa14", "panda", "go2", "hyq", "g1", "atlas"])
    parser.add_argument("--states", type=int, default=1024)
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.02, help="length of a repetition")
    parser.add_argument(
        "--pinocchio",
        nargs="+",
        choices=list(PINOCCHIO_BUILDS),
        default=list(PINOCCHIO_BUILDS),
        help="its builds, of which the faster one counts; each takes minutes to compile",
    )
    parser.add_argument(
        "--with",
        dest="others",
        nargs="*",
        choices=list(OTHERS),
        default=list(OTHERS),
        help="peers beside Pinocchio and MuJoCo (default: those installed)",
    )
    parser.add_argument(
        "--batches",
        type=int,
        nargs="+",
        default=BATCHES,
        help="numbers of states of a call that are tried for MJX and frax",
    )
    parser.add_argument("--rollout-robot", default="go2")
    parser.add_argument("--output", type=Path, help="files to write, without .json or .md")
    machine.add_busy_option(parser)
    return parser.parse_args()


def main():
    options = arguments()
    machine.require_quiet(options.busy)
    folder = options.build / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    programs = {
        "featherstorm": options.build / "bin" / "bench_peer_featherstorm",
        "pinocchio": build_pinocchio(folder, options.pinocchio),
        "mujoco": build_mujoco(folder),
        **other_programs(folder, options.others),
    }
    record = machine.describe()
    record.update(
        states=options.states, repetitions=options.repetitions, seconds=options.seconds, load_before=machine.load()
    )
    all_before, stolen_before = machine.steal()
    record["robots"] = {}
    for robot in options.robots:
        print("measuring", robot, flush=True)
        record["robots"][robot] = measure(robot, programs, options)
    print("measuring rollouts", flush=True)
    record["rollouts"] = rollouts.measure(options.rollout_robot, programs["featherstorm"], options.repetitions)
    record["gpu"] = gpu.measure(options.rollout_robot, programs["featherstorm"], options.repetitions)
    all_after, stolen_after = machine.steal()
    record["load_after"] = machine.load()
    record["stolen"] = (stolen_after - stolen_before) / max(1, all_after - all_before)
    first = next(iter(record["robots"].values()))["ours"]
    record["versions"] = {
        f"Pinocchio {importlib.metadata.version('pin')}, float64": "; ".join(
            flags for _, flags in programs["pinocchio"].values()
        ),
        f"MuJoCo {importlib.metadata.version('mujoco')}": "float64, the library of its wheel",
        "featherstorm": f"{first['build']}; kernels {first['isa']}",
    }
    for name, package in (("mjx", "mujoco-mjx"), ("frax", "frax")):
        if name in programs:
            record["versions"][f"{package} {importlib.metadata.version(package)}"] = (
                f"JAX {importlib.metadata.version('jax')}, one core"
            )
    if "crocoddyl" in programs:
        record["versions"][f"Crocoddyl {importlib.metadata.version('crocoddyl')}, float64"] = programs["crocoddyl"][1]
    output = options.output or machine.folder() / f"{record['date']}-peers"
    output.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n")
    text = report(record)
    output.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
