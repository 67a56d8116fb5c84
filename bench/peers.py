"""Times Pinocchio, MuJoCo and featherstorm side by side on this machine, after their answers were compared.

    ./featherstorm install bench
    .venv/bin/python bench/peers.py --build build/release [--robots iiwa14 go2 atlas] [--repetitions 15]

Every library runs in a program of its own (bench/peers/), compiled at its best; one repetition of each in turn, the same
random states for all, medians. Rollouts on all cores and simulators on a GPU are compared through Python, where the packages
are there. Writes bench/results/<machine>/<date>-peers.json and .md.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
from pathlib import Path

import machine
from peers import gpu, rollouts
from peers.build import PINOCCHIO_BUILDS, ROOT, build_mujoco, build_pinocchio
from peers.measure import measure
from peers.report import report


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
    output = options.output or machine.folder() / f"{record['date']}-peers"
    output.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n")
    text = report(record)
    output.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
