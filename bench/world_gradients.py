"""Derivatives of a model file's step through its contacts, in times of the step itself.

    python bench/world_gradients.py [--instances 8192] [--dtype float32] [--write NAME] [TASK ...]

States are those that random actions lead to from a task's beginnings in a quarter of a second. Of each task's model: `step`, nanoseconds of one pass of an
instance; `step_vjp` in times of it, with the accelerations that the step found, and with those that it began from, which are solved for again;
`step_jvp`, where the model has it, with the former; `collect`, nanoseconds of a control step of an environment, reward and observation included; `PullBack` in times of that. Medians of the processor's
time. Before that cotangents are compared with central differences of the step in double: `off`, the median of how far they are from them beside the
size of the two vectors, over the directions where differences from both sides agree, whose share is `smooth`.
"""

import argparse
import statistics
import sys
import time

import numpy as np

import featherstorm as fs
import machine
from featherstorm.environment.collecting import normal_action

TASKS = ("HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5", "Humanoid-v5", "Go1JoystickFlat", "G1JoystickFlat")
DRIVEN, STEPS = 0.25, 8  # seconds; control steps that are pulled back
WIDTH, AGREE, COMPARED = 1e-6, 1e-3, 64
RUNS = 15


def medians(*runs):
    """Seconds of each, which take turns."""
    times = [[] for _ in runs]
    for k in range(RUNS + 1):
        for run, of in zip(runs, times):
            start = time.process_time()
            run()
            if k > 0:
                of.append(time.process_time() - start)
    return [statistics.median(of) for of in times]


class Case:
    """A task's environments, and states of its model (arrays by the names that `fs.step` has them by)."""

    def __init__(self, name, instances, dtype):
        self.rng = np.random.default_rng(0)
        self.env = env = fs.tasks.make(name).batch(instances, seed=0, dtype=dtype)
        self.model, self.dtype = env.model, np.dtype(dtype)
        env.reset(seed=0)
        for _ in range(round(DRIVEN / env.dt)):
            env.step(self.actions())
        drive = env.task.actuate or (lambda x, a, m: a)  # of these tasks it looks at the action alone
        ctrl = np.array([drive(None, a, None) for a in self.actions()], dtype)
        act = np.zeros((instances, self.model.n_act))
        before = fs.step(self.model, env.q, env.v, ctrl=ctrl, act=act.astype(dtype))
        self.at = {"q": before.q, "v": before.v, "act": before.act, "qacc": before.qacc, "ctrl": ctrl}
        self.bars = [self.rng.normal(size=x.shape).astype(dtype) for x in (before.q, before.v)]

    def actions(self):
        low, high = np.maximum(self.env.recording.low, -1), np.minimum(self.env.recording.high, 1)
        return self.rng.uniform(low, high, (self.env.num_envs, self.env.recording.actions)).astype(self.dtype)

    def off(self):
        """See `off` and `smooth`, along random directions of v and of ctrl."""
        at = {name: np.asarray(x[:COMPARED], float) for name, x in self.at.items()}
        bars = [np.asarray(x[:COMPARED], float) for x in self.bars]
        found, wrong = fs.step_vjp(self.model, cotangents=bars, **at), []
        for name in ("v", "ctrl"):
            way = self.rng.normal(size=at[name].shape)
            ends = [fs.step(self.model, **{**at, name: at[name] + by * way}) for by in (-WIDTH, 0, WIDTH)]
            low, middle, high = (np.concatenate([x.q, x.v], 1) for x in ends)
            slope, bend = (high - low) / (2 * WIDTH), np.abs(high - 2 * middle + low).max(1) / WIDTH
            size = np.linalg.norm(np.concatenate(bars, 1), axis=1) * np.linalg.norm(slope, axis=1)
            by_hand = (np.concatenate(bars, 1) * slope).sum(1)
            error = np.abs((getattr(found, name) * way).sum(1) - by_hand) / size
            wrong.append(np.where(bend < AGREE * np.abs(slope).max(1), error, np.nan))
        return np.nanmedian(wrong), np.isfinite(wrong).mean()

    def passes(self):
        """Seconds of a step, of its cotangents at the solution, of those that solve again, and of tangents, where it has them."""
        solved = {**self.at, "qacc": fs.step(self.model, **self.at).qacc}
        tangents = [np.ones_like(self.at[name]) for name in ("q", "v")]
        runs = [
            lambda: fs.step(self.model, **self.at, check=False),
            lambda: fs.step_vjp(self.model, cotangents=self.bars, **solved, check=False),
            lambda: fs.step_vjp(self.model, cotangents=self.bars, **self.at, check=False),
            lambda: fs.step_jvp(self.model, tangents=tangents, **solved, check=False),
        ]
        try:
            runs[-1]()
        except ValueError as error:  # too many candidates of contacts
            print(f"{self.model.name}: {error}", file=sys.stderr)
            return [*medians(*runs[:-1]), None]
        return medians(*runs)

    def control_steps(self):
        """Seconds of some that are collected, and of the same that are pulled back."""
        env, weights = self.env, {"log_std": np.full(self.env.recording.actions, -1.0)}

        def policy(obs, w, rng):
            return normal_action(np.zeros(len(w.log_std)), w.log_std, rng)

        def pulled():
            back = env.pull_back(got)
            for _ in range(STEPS):
                back.step(np.ones(env.num_envs, self.dtype))

        got = env.collect(STEPS, policy, weights, keep=True)
        return medians(lambda: env.collect(STEPS, policy, weights), pulled)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(TASKS))
    parser.add_argument("--instances", type=int, default=8192)
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    parser.add_argument("--write", metavar="NAME")
    options = parser.parse_args()
    d, before = machine.describe(), machine.load()
    lines = [
        "| task | off | smooth | step ns | step_vjp | solved again | step_jvp | collect ns | PullBack |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    for name in options.tasks or TASKS:
        case = Case(name, options.instances, options.dtype)
        off, smooth = case.off()
        (step, *others), (collect, pulled) = case.passes(), case.control_steps()
        each, ratios = 1e9 / options.instances, ("-" if x is None else f"{x / step:.2f}" for x in others)
        cells = [name, f"{off:.0e}", f"{100 * smooth:.0f} %", f"{step * each:.0f}", *ratios]
        cells += [f"{collect * each / STEPS:.0f}", f"{pulled / collect:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    if options.write:
        head = (
            f"# Derivatives through contacts on {d['machine']}, {d['date']}\n\n{d['cpu']}, {d['cores']} cores; commit {d['commit']}; "
            f"{options.dtype}, {options.instances} instances; load average before {before}, after {machine.load()} (1, 5 minutes). "
            "`bench/world_gradients.py` says what is what.\n\n"
        )
        (machine.folder() / f"{d['date']}-{options.write}.md").write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
