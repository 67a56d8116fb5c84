"""The checks of tests/python/physics as a table: what each finds under every law, in both precisions, at two time steps.

    python bench/physics.py [--write] [CHECK ...]

A rate stands only beside creep, deepest penetration and residual, so only scenes that stand have one: the median of the processor's time for a
step of 1024 simulations of the scene at rest, on one thread. `--write` puts the table into results/.
"""

import argparse
import statistics
import sys
import time
import warnings

import numpy as np

import machine

sys.path.insert(0, str(machine.ROOT / "tests" / "python" / "physics"))

from expectations import CHECKS, TIMESTEPS, wrong

INSTANCES, STEPS = 1024, 20


def nanoseconds(run):
    """A step and a simulation, of copies of where a run ended."""
    many = run.copies(INSTANCES)
    times = []
    for _ in range(7):
        start = time.process_time()
        many.batch.step(nstep=STEPS)
        times.append(time.process_time() - start)
    return statistics.median(times) / INSTANCES / STEPS * 1e9


def rows(names):
    for name in names:
        for law in CHECKS[name].deepest:
            for dtype in ("float64", "float32"):
                for timestep in TIMESTEPS:
                    out, found, run = wrong(name, law, dtype, timestep)
                    deepest, residual = found.pop("deepest m"), found.pop("residual")
                    stands = any(of.startswith("creep") for of in found)
                    measures = ", ".join(f"{of} {x:.4g}" for of, x in found.items())
                    yield (
                        f"| {name} | {law} | {dtype} | {1e3 * timestep:g} | {measures} | {1e3 * deepest:.3f} | {residual:.0e} | "
                        f"{f'{nanoseconds(run):.0f}' if stands else ''} | {'; '.join(out)} |"
                    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", default=list(CHECKS))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.checks) - set(CHECKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(CHECKS)}")
    d, before = machine.describe(), machine.load()
    lines = [
        "| check | law | dtype | step ms | found | deepest mm | residual | ns a step | out of bounds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore")
        for row in rows(options.checks):
            print(row, flush=True)
            lines.append(row)
    if options.write:
        head = (
            f"# Physics on {d['machine']}, {d['date']}\n\n{d['cpu']}, {d['cores']} cores; commit {d['commit']}; load average before "
            f"{before}, after {machine.load()} (1, 5 minutes).\n\nDeepest penetration and residual are of the states that a run looks "
            "at. Residual: what is left of the forces beside the greatest (pyramids, cones), or the largest error of a velocity in m/s "
            "(rigid).\n\n"
        )
        (machine.folder() / f"{d['date']}-physics.md").write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
