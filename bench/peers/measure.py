"""Answers of all libraries, compared, then their times."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from . import derivatives
from .mujoco_robot import MujocoRobot
from .pinocchio_robot import PinocchioRobot
from .robots import Description, OurOrder
from .server import Server

# what is compared -> our operations for it, the fastest counts
OURS = {
    "rnea": ["rnea"],
    "crba": ["crba"],
    "fd": ["fd", "forward_dynamics", "aba"],
    "step": ["step"],
    "rnea_derivatives": ["rnea_vjp", "rnea_derivatives"],
    "fd_derivatives": ["fd_vjp", "fd_derivatives"],
}
PINOCCHIO = {
    "rnea": ["rnea"],
    "crba": ["crba"],
    "fd": ["aba", "fd_factor"],
    "kinematics": ["kinematics"],
    "rnea_derivatives": ["rnea_derivatives"],
    "fd_derivatives": ["aba_derivatives"],
}
MJX = {"crba": ["crba"], "fd": ["fd"], "step": ["step"]}
FRAX = {"rnea": ["rnea"], "crba": ["crba"], "fd": ["fd"]}
CROCODDYL = {"fd_derivatives": ["calcDiff", "calc_and_calcDiff"]}
BATCHES = (64, 256, 1024, 4096, 8192)  # states of a call of an XLA program; the fastest for `fd` counts
MUJOCO = {"rnea": ["rnea"], "crba": ["crba"], "fd": ["fd"], "step": ["step"], "kinematics": ["kinematics"]}
DERIVED = {"rnea_derivatives": "rnea", "fd_derivatives": "fd"}  # of what
PATHS = [f"{dtype}/{path}" for dtype in ("double", "float") for path in ("run-time", "assembled", "compiled")]
# relative to the largest entry of a state's answer
TOLERANCE = {"double": 1e-9, "float": 1e-1}


def error(x: np.ndarray, reference: np.ndarray) -> float:
    """Largest over states of max |x - r| / max |r|."""
    x, reference = x.reshape(len(x), -1), reference.reshape(len(x), -1)
    return float(np.max(np.max(np.abs(x - reference), 1) / np.max(np.abs(reference), 1)))


class Comparison:
    """All libraries on one robot, with the same states.

    reference   kind -> our answer by the run-time path in double; of derivatives Pinocchio's matrices, as ours
    jobs        (server, library, kind, name of the operation there), what is timed
    sweeps      library -> nanoseconds of `fd` by the number of states of a call
    """

    def __init__(self, robot: str, programs: dict, count: int, folder: Path):
        self.robot, self.folder = robot, folder
        self.ours = Description(programs["featherstorm"], robot)
        self.states = self.ours.random_states(count)
        self.reference, self.answers, self.wrong, self.jobs, self.sweeps = {}, [], [], [], {}
        self.server = Server("featherstorm", [programs["featherstorm"], robot], self.states, folder)
        self.servers = [self.server]

    def compare(self, library: str, op: str, kind: str, e: float, precision: str):
        self.answers.append({"library": library, "op": op, "kind": kind, "error": e})
        if not e < TOLERANCE[precision]:
            self.wrong.append(
                f"{self.robot}: {op} of {library} differs from {'Pinocchio' if kind in DERIVED else 'ours'} by {e:.1e}"
            )

    def has(self, op: str) -> bool:
        return op.removesuffix("_vjp") in self.ours.ops

    def add_ours(self, kinds: list[str]):
        for kind in kinds:
            for op in filter(self.has, OURS[kind]):
                for path in PATHS:
                    if kind in DERIVED and path.endswith("compiled"):
                        continue  # a compiler takes minutes for the largest of them
                    x = self.server.answer(f"{op}/{path}")
                    if x is None:
                        continue
                    if kind in DERIVED:
                        e = derivatives.difference(self.ours, op, self.states, x, self.reference[kind])
                    else:
                        e = error(x, self.reference.setdefault(kind, x))  # the first path is double/run-time
                    self.compare("featherstorm/" + path, f"{op}/{path}", kind, e, path.split("/")[0])
                    self.jobs.append((self.server, "featherstorm/" + path, kind, f"{op}/{path}"))

    def add_peer(self, library: str, program: list, adapter, kinds: dict, batches: Sequence[int] = ()):
        peer = Server(library.replace("/", "-"), [*program, adapter.file], adapter.states(self.states), self.folder)
        precision = "float" if "/float" in library else "double"
        self.servers.append(peer)
        suffix = ""
        if batches:
            sweep = {b: min(peer.time(f"fd/{b}", 0.02) for _ in range(3)) for b in batches}
            self.sweeps[library] = sweep
            suffix = f"/{min(sweep, key=sweep.__getitem__)}"
        for kind, names in kinds.items():
            for op in (name + suffix for name in names):
                x = peer.answer(op)
                if x is None:
                    continue
                if kind in DERIVED:
                    x = derivatives.jacobians(DERIVED[kind], x, adapter, self.states, self.reference[DERIVED[kind]])
                    self.compare(library, op, kind, error(x, self.reference.setdefault(kind, x)), precision)
                elif kind in self.reference:
                    self.compare(library, op, kind, error(adapter.back(kind, x), self.reference[kind]), precision)
                self.jobs.append((peer, library, kind, op))

    def times(self, repetitions: int, seconds: float) -> list[dict]:
        samples = [[] for _ in self.jobs]
        for repetition in range(repetitions):
            # another order every time, so that no one always follows the same neighbour
            for k in np.random.default_rng(repetition).permutation(len(self.jobs)):
                samples[k].append(self.jobs[k][0].time(self.jobs[k][3], seconds))
        rows = []
        for (_, library, kind, op), x in zip(self.jobs, samples):
            q = statistics.quantiles(x, n=4)
            rows.append(
                {
                    "library": library,
                    "kind": kind,
                    "op": op,
                    "median": statistics.median(x),
                    "least": min(x),
                    "quartiles": [q[0], q[2]],
                }
            )
        return rows

    def close(self):
        for server in self.servers:
            server.close()


def measure(robot: str, programs: dict, options: argparse.Namespace) -> dict:
    with tempfile.TemporaryDirectory() as name:
        c = Comparison(robot, programs, options.states, Path(name))
        c.add_ours([kind for kind in OURS if kind not in DERIVED])
        pinocchio, mujoco = PinocchioRobot(c.ours, c.folder), MujocoRobot(c.ours, c.folder)
        for label, (program, _) in programs["pinocchio"].items():
            c.add_peer(f"pinocchio/{label}", [program], pinocchio, PINOCCHIO)
        c.add_peer("mujoco", [programs["mujoco"]], mujoco, MUJOCO)
        if "crocoddyl" in programs:
            c.add_peer("crocoddyl", [programs["crocoddyl"][0]], pinocchio, CROCODDYL)
        for name, adapter, kinds in (("mjx", mujoco, MJX), ("frax", OurOrder(c.ours), FRAX)):
            if name not in programs or (name == "frax" and c.ours.armature.any()):
                continue  # frax has no rotors
            for precision in ("double", "float"):
                command = [*programs[name], name, precision, ",".join(c.ours.joints)]
                c.add_peer(f"{name}/{precision}", command, adapter, kinds, options.batches)
        c.add_ours(list(DERIVED))
        if c.wrong:
            sys.exit("\n".join(c.wrong))
        times = c.times(options.repetitions, options.seconds)
        c.close()
        return {
            "times": times,
            "answers": c.answers,
            "sweeps": c.sweeps,
            "ours": {"isa": c.ours.isa, "build": c.ours.build, "nv": c.ours.nv},
        }
