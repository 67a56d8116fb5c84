"""Environment steps a second: physics, reward, observation, ends of episodes and their new beginnings, random actions every step.

    python bench/environments.py [--envs 64 1024 4096 ...] [--threads 1 2] [--seconds 2] [--envpool] [--write NAME] [TASK ...]
    python bench/environments.py --efficiency [--seconds 0.5] [--write threads] [TASK ...]

For each task the median rate of some runs of at least so many seconds, in control steps and in physics steps (passes of the file's
timestep; of Runge-Kutta's method four evaluations each), after episodes have spread over their course. A rate stands beside what was simulated: contacts, passes of
Newton's method, the deepest contact and residual of the last states, the share of steps that ended an episode, and environments that were not
finite. `first` is the time from the task's class to the end of its first step, kernels included.

--efficiency: speed-up S of two threads over one, the median of five pairs of runs, of every task or of those named. Efficiency is S / 2. The
last columns are a prediction, not a measurement: Amdahl's law, 1 / (s + (1 - s) / n), with the share s of work for one thread that S means. It
knows neither the bandwidth of the memory nor several processors.

--envpool: EnvPool's rate of the task in the same run (pip install envpool), as many threads, random actions, its own episodes. --write puts
table, and a plot where there are several numbers of environments, into results/.
"""

import argparse
import statistics
import time

import numpy as np

import featherstorm as fs
import machine

TASKS = (
    "InvertedPendulum-v5", "Swimmer-v5", "HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5", "Humanoid-v5",
    "Go1JoystickFlat", "Go2JoystickFlat", "G1JoystickFlat", "dm_control/walker-walk", "dm_control/cartpole-swingup",
)  # fmt: skip
ACTIONS = 16  # different ones, one after the other


def rate(step, envs, seconds, runs=3):
    """Median of steps a second."""
    found = []
    for _ in range(runs):
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            step()
            count += envs
        found.append(count / (time.perf_counter() - start))
    return statistics.median(found)


def actions_of(low, high, envs, dtype):
    rng = np.random.default_rng(0)
    low, high = np.maximum(low, -1e3), np.minimum(high, 1e3)
    return [rng.uniform(low, high, (envs, len(low))).astype(dtype) for _ in range(ACTIONS)]


class Ours:
    def __init__(self, name, envs, threads):
        start = time.perf_counter()
        self.batch = fs.tasks.make(name).batch(envs, seed=1, threads=threads)
        self.batch.reset()
        r = self.batch.recording
        self.actions, self.at = actions_of(r.low, r.high, envs, np.float32), 0
        self.ended = self.lost = self.steps = 0
        self.step()
        self.first = time.perf_counter() - start

    def step(self):
        self.at = (self.at + 1) % ACTIONS
        *_, info = self.batch.step(self.actions[self.at])
        self.ended += np.count_nonzero(info["_final_obs"])
        self.lost += np.count_nonzero(info["non_finite"])
        self.steps += self.batch.num_envs


def theirs(name, envs, threads):
    import envpool

    pool = envpool.make_gymnasium(name, num_envs=envs, num_threads=threads)
    pool.reset()
    space = pool.action_space
    actions, at = actions_of(space.low, space.high, envs, np.float64), [0]

    def step():
        at[0] = (at[0] + 1) % ACTIONS
        pool.step(actions[at[0]])

    return step


def measure(name, envs, threads, seconds, settle, envpool):
    ours = Ours(name, envs, threads)
    for _ in range(settle):
        ours.step()
    ours.ended = ours.lost = ours.steps = 0
    row = {"task": name, "envs": envs, "threads": threads, "first": ours.first, "substeps": ours.batch.substeps}
    if envpool and name.endswith("-v5"):
        step = theirs(name, min(envs, 256), threads)
        for _ in range(min(settle, 20)):
            step()
        row["envpool"] = rate(step, min(envs, 256), seconds)
    row["rate"] = rate(ours.step, envs, seconds)
    told = ours.batch.report()
    near = told.gap[told.gap < 1e9]
    row.update(
        contacts=told.contacts.mean(), passes=told.iterations.mean(), residual=told.residual.max(),
        deepest=-near.min() if len(near) else 0.0, ended=ours.ended / ours.steps, lost=ours.lost,
    )  # fmt: skip
    return row


def efficiency(name, envs, seconds, settle):
    """Line of a table: rates of one and two threads, and what follows."""
    one, two = (Ours(name, envs, threads) for threads in (1, 2))
    for _ in range(settle):
        one.step(), two.step()
    rates = [[rate(x.step, envs, seconds, runs=1) for x in (one, two)] for _ in range(5)]
    gain = statistics.median(b / a for a, b in rates)
    alone = min(max(2 / gain - 1, 0.0), 1.0)
    found = [f"{statistics.median(r):.0f}" for r in zip(*rates)]
    found += [f"{gain:.2f}", f"{100 * gain / 2:.0f} %", f"{100 * alone:.1f} %"]
    found += [f"{1 / (alone + (1 - alone) / n):.0f}" for n in PREDICTED]
    return f"| {name} | {envs} | {' | '.join(found)} |"


PREDICTED = (16, 64)  # threads
EFFICIENCY = [
    "task", "envs", "one thread [control steps/s]", "two threads", "speed-up", "efficiency", "work for one thread",
    *(f"speed-up of {n} threads, predicted" for n in PREDICTED),
]  # fmt: skip
HEADS = "task, envs, threads, control steps/s, physics steps/s, ns a control step, first [s], contacts, Newton steps, residual, deepest [mm], ends/1000, not finite".split(
    ", "
)


def cells(r, envpool):
    found = [
        r["task"], r["envs"], r["threads"], f"{r['rate']:.0f}", f"{r['rate'] * r['substeps']:.0f}", f"{1e9 / r['rate']:.0f}", f"{r['first']:.2f}",
        f"{r['contacts']:.1f}", f"{r['passes']:.1f}", f"{r['residual']:.0e}", f"{1e3 * r['deepest']:.1f}", f"{1e3 * r['ended']:.1f}", r["lost"],
    ]  # fmt: skip
    if envpool:
        found += [f"{r['envpool']:.0f}", f"{r['rate'] / r['envpool']:.1f}"] if "envpool" in r else ["-", "-"]
    return f"| {' | '.join(map(str, found))} |"


def plot(rows, path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for name in dict.fromkeys(r["task"] for r in rows):
        of = [r for r in rows if r["task"] == name and r["threads"] == rows[0]["threads"]]
        axes.plot([r["envs"] for r in of], [r["rate"] for r in of], marker="o", label=name)
    axes.set(xscale="log", yscale="log", xlabel="environments", ylabel="control steps a second")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument("--efficiency", action="store_true", help="of two threads")
    parser.add_argument("--envs", type=int, nargs="+", default=[4096])
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--settle", type=int, default=100, help="steps before anything is measured")
    parser.add_argument("--envpool", action="store_true")
    parser.add_argument("--write", metavar="NAME", help="of the file in results/, behind the date")
    machine.add_busy_option(parser)
    o = parser.parse_args()
    machine.require_quiet(o.busy)
    heads = EFFICIENCY if o.efficiency else HEADS + (["EnvPool", "ratio"] if o.envpool else [])
    lines, rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"], []
    print(*lines, sep="\n")
    for name in o.tasks or (fs.tasks.NAMES if o.efficiency else TASKS):
        for threads in o.threads[:1] if o.efficiency else o.threads:
            for envs in o.envs:
                if o.efficiency:
                    lines.append(efficiency(name, envs, o.seconds, o.settle))
                else:
                    rows.append(measure(name, envs, threads, o.seconds, o.settle, o.envpool))
                    lines.append(cells(rows[-1], o.envpool))
                print(lines[-1], flush=True)
    if o.write:
        d = machine.describe()
        folder = machine.ROOT / "bench" / "results" / d["machine"]
        folder.mkdir(parents=True, exist_ok=True)
        told = f"# Environments on {d['machine']}, {d['date']}\n\n{d['cpu']}, {d['cores']} cores; commit {d['commit']}; float32. `bench/environments.py` says what is what.\n\n"
        (folder / f"{d['date']}-{o.write}.md").write_text(told + "\n".join(lines) + "\n")
        if rows and len(o.envs) > 1:
            plot(rows, folder / f"{d['date']}-{o.write}.png")


if __name__ == "__main__":
    main()
