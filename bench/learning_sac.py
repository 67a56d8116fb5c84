"""SAC beside PPO on one thread: control steps and processor seconds to a return, and what an update costs.

    python bench/learning_sac.py [--seeds 3] [--algorithms sac,ppo] [--limit 240] [--set NAME=VALUE] [--write NAME] [TASK ...]

Each run is one learner after the other in this process, with one thread. Seconds are those of the processor (time.process_time), evaluations
of 100 episodes among them: on an idle core they are those of the clock, and where other work runs beside they still mean something. A run ends
with the evaluation that returns so much, or after --limit of these seconds. `update`: the learner's own part, without collecting and evaluating,
of which SAC's is told for one update too.
"""

import argparse
import csv
import pathlib
import statistics
import tempfile
import time

import machine
from featherstorm.learning.settings import settings_of
from featherstorm.learning.training import Training, one_thread

GOALS = {"InvertedPendulum-v5": 950, "Hopper-v5": 2500, "HalfCheetah-v5": 4800, "Walker2d-v5": 4000, "Ant-v5": 4000}
HEAD = ("task", "algorithm", "goal", "seed", "steps", "processor s", "return", "learn s", "one update ms")


def measured(learner):
    """`learner.learn` with its processor seconds added up in a list."""
    spent, learn = [0.0], learner.learn

    def timed(got):
        start = time.process_time()
        told = learn(got)
        spent[0] += time.process_time() - start
        return told

    learner.learn = timed
    return spent


def run(task, algorithm, seed, options):
    """A row of the table, and rows of the curve: steps, seconds, return."""
    changes = dict(text.split("=", 1) for text in options.set)
    settings = settings_of(task, algorithm).changed(changes if algorithm == "sac" else {})
    start, curve = time.process_time(), []
    with tempfile.TemporaryDirectory() as folder, one_thread():
        training = Training(task, folder, settings, seed, 1)
        learner, spent = training.learner, measured(training.learner)
        goal, best, updates, now = GOALS[task], float("-inf"), 0, 0.0
        while best < goal and now < options.limit and learner.steps < settings.steps:
            training.iterate()
            row, now = training.history[-1], time.process_time() - start
            if algorithm == "sac" and learner.memory.count >= min(settings.begin, settings.memory):
                updates += settings.updates
            if "evaluation" in row:
                best = max(best, row["evaluation"])
                curve.append([task, algorithm, seed, row["steps"], f"{now:.2f}", f"{row['evaluation']:.1f}"])
                if options.told:
                    print(*curve[-1], f"length {row['length']:.0f}", f"std {row['std']:.2f}", flush=True)
        reached = best >= goal
        each = f"{1e3 * spent[0] / updates:.2f}" if updates else ""
        told = f"{goal}{'' if reached else ', not reached'}"
        return [task, algorithm, told, seed, learner.steps, now, best, spent[0], each], reached, curve


def line(row):
    return (
        "| "
        + " | ".join(f"{x:.1f}" if isinstance(x, float) else f"{x:,}" if x.__class__ is int else x for x in row)
        + " |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="*", default=["InvertedPendulum-v5", "Hopper-v5", "HalfCheetah-v5"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--algorithms", default="sac,ppo")
    parser.add_argument("--limit", type=float, default=240.0, help="processor seconds of a run")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of SAC")
    parser.add_argument("--told", action="store_true", help="each evaluation")
    parser.add_argument("--write", metavar="NAME")
    options = parser.parse_args()
    lines, curves = [line(HEAD), "|" + "---|" * len(HEAD)], []
    print(*lines, sep="\n", flush=True)
    for task in options.task:
        for algorithm in options.algorithms.split(","):
            rows = []
            for seed in range(options.first, options.first + options.seeds):
                row, reached, curve = run(task, algorithm, seed, options)
                rows += [row] if reached else []
                curves += curve
                lines.append(line(row))
                print(lines[-1], flush=True)
            if len(rows) == options.seeds > 2:
                steps, seconds = (statistics.median(row[k] for row in rows) for k in (4, 5))
                lines.append(line([task, algorithm, "median", "", int(steps), seconds, "", "", ""]))
                print(lines[-1], flush=True)
    if options.write:
        base = machine.folder() / options.write
        pathlib.Path(f"{base}.md").write_text("\n".join(lines) + "\n")
        with open(f"{base}.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [["task", "algorithm", "seed", "steps", "processor_seconds", "evaluation"], *curves]
            )


if __name__ == "__main__":
    main()
