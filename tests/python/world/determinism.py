"""Hashes of steps: the same bits wherever and however they are computed.

    python tests/python/world/determinism.py check [--steps 10000]     compares with hashes.csv; exits with 1 if one differs
    python tests/python/world/determinism.py write                     writes hashes.csv anew, for the instruction sets of this machine

The robots of the package in a world with a ground, 16 instances in random positions and motion, float32, steps of 2 ms. A hash
is that of q and v of all instances after every tenth step. hashes.csv has a column for each number of steps of STEPS.

On the base set, whose kernels of worlds depend on the machine's compiler, no compiler is used: they are interpreted.
"""

import argparse
import contextlib
import csv
import hashlib
import os
import pathlib
import sys
import warnings
from unittest import mock

import numpy as np

import featherstorm as fs
from featherstorm import _featherstorm

FILE = pathlib.Path(__file__).with_name("hashes.csv")
STEPS, PART, B, DT = (200, 10_000), 10, 16, 2e-3
COLUMNS = "robot", "isa", *map(str, STEPS)


def start(model):
    """(B, nq), (B, nv): states of the world's robot, floating ones above the ground."""
    rng = np.random.default_rng(1)
    q, v = np.tile(model.q0, (B, 1)), rng.uniform(-1, 1, (B, model.nv))
    q = fs.integrate(model, q, rng.uniform(-0.5, 0.5, (B, model.nv)), dt=1.0)
    if model.nq == model.nv + 1:
        q[:, 2] = 0.8
    return q.astype(np.float32), v.astype(np.float32)


def run(model, steps, order=None, copies=1):
    """Yield (q, v) (B, ...) after each PART steps, of instances in another order, or of one of several copies."""
    q, v = start(model)
    order = np.arange(B) if order is None else order
    simulation = fs.Simulation(model, B * copies, substeps=PART)
    simulation.q[:], simulation.v[:] = np.tile(q[order], (copies, 1)), np.tile(v[order], (copies, 1))
    back = np.argsort(order) + B * (copies - 1)
    for _ in range(steps // PART):
        with interpreted() if model.isa == "base" else contextlib.nullcontext():
            simulation.step()
        yield np.ascontiguousarray(simulation.q[back]), np.ascontiguousarray(simulation.v[back])


@contextlib.contextmanager
def interpreted():
    """Kernels are made without a compiler, and nobody is told that this is slow."""
    with mock.patch.dict(os.environ, FEATHERSTORM_CXX="none"), warnings.catch_warnings():
        warnings.simplefilter("ignore", fs.Notice)
        yield


def hashes(states, steps=STEPS):
    """Return the hash after each of these numbers of steps, as 16 hexadecimal digits."""
    found, all_bits = {}, hashlib.sha256()
    for k, (q, v) in enumerate(states, 1):
        all_bits.update(q.tobytes() + v.tobytes())
        if k * PART in steps:
            found[k * PART] = all_bits.hexdigest()[:16]
    return found


def load(name, isa, threads=1):
    return fs.load(name, world=fs.UrdfWorld(ground=True, timestep=DT), isa=isa, threads=threads)


def known():
    """{(robot, isa): {steps: hash}} of hashes.csv."""
    with FILE.open() as file:
        return {(r["robot"], r["isa"]): {n: r[str(n)] for n in STEPS} for r in csv.DictReader(file)}


def rows(most):
    for name in fs.robots():
        for isa in _featherstorm.instruction_sets():
            last = None
            yield name, isa, hashes(last := x for x in run(load(name, isa), most))
            print(name, isa, "finite" if all(np.isfinite(x).all() for x in last) else "not finite", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("check", "write"))
    parser.add_argument("--steps", type=int, default=max(STEPS), choices=STEPS)
    args = parser.parse_args()
    if args.what == "check":
        wrong = [(name, isa) for name, isa, found in rows(args.steps) if found.items() - known()[name, isa].items()]
        sys.exit(f"other hashes: {wrong}" if wrong else 0)
    old = [(*key, *found.values()) for key, found in known().items()] if FILE.exists() else []
    new = [(name, isa, *found.values()) for name, isa, found in rows(max(STEPS))]
    made = {row[:2] for row in new}
    with FILE.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [COLUMNS, *sorted(new + [row for row in old if row[:2] not in made])]
        )


if __name__ == "__main__":
    main()
