"""Policies within `collect`: a network as a stage by loops, traced, and evaluated by numpy outside between steps.

    python bench/networks.py [--envs 4096] [--steps 16] [--threads 1] [--seconds 2] [--write NAME] [CASE ...]

Of each case, a task with a network of float32, in control steps a second of processor time: `loops` and `traced`, the network within `collect`; `numpy`, the same
policy between calls of `step`, its matrices multiplied by BLAS; `none`, a policy that answers with zeros. `first` is the time of the first
collect, in which kernels are made. Of loops also the nanoseconds of a multiply-add, from the least time of their stages, with activations and
normalisation; a traced network has no stage of its own.
"""

import argparse
import itertools
import statistics
import time

import numpy as np

import featherstorm as fs
import machine
from featherstorm.environment.collecting import mlp, normal_action

CASES = {
    "HalfCheetah-64-64": ("HalfCheetah-v5", (64, 64), "tanh"),
    "Humanoid-128-64": ("Humanoid-v5", (128, 64), "tanh"),
    "Go1-256-128": ("Go1JoystickFlat", (256, 128), "elu"),
    "Go1-512-256-128": ("Go1JoystickFlat", (512, 256, 128), "elu"),
}
NUMPY = {"tanh": np.tanh, "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0)))}
# Multiply-adds beyond which a traced network is not measured: its kernel takes minutes to make.
MOST_TRACED = 20000


def weights_of(sizes, group_size):
    rng = np.random.default_rng(0)
    found = {"log_std": np.full(sizes[-1], -1.0), "obs_mean": np.zeros(group_size), "obs_rate": np.ones(group_size)}
    for k, (n, m) in enumerate(itertools.pairwise(sizes)):
        found[f"pi_W{k}"], found[f"pi_b{k}"] = rng.normal(0, 0.5 / n**0.5, (m, n)), np.zeros(m)
    return found


class Case:
    def __init__(self, name, envs, steps, threads):
        task, hidden, self.activation = CASES[name]
        self.make = lambda: fs.tasks.make(task).batch(envs, seed=1, threads=threads)
        self.envs, self.steps, self.layers = envs, steps, len(hidden) + 1
        batch = self.make()
        groups = batch.recording.groups
        self.group = "" if set(groups) == {""} else "state" if "state" in groups else next(iter(groups))
        self.sizes = (groups[self.group], *hidden, batch.recording.actions)
        self.weights = weights_of(self.sizes, self.sizes[0])
        self.operations = sum(n * m for n, m in itertools.pairwise(self.sizes))

    def policy(self, form):
        group = self.group

        def policy(obs, w, rng):
            x = obs[group] if group else obs
            if form == "none":
                return normal_action(np.zeros(len(w.log_std)), w.log_std, rng)
            mean = mlp(x, w, "pi", self.layers, self.activation, normaliser="obs", form=form)
            return normal_action(mean, w.log_std, rng)

        return policy

    def collected(self, form, seconds):
        batch, policy = self.make(), self.policy(form)
        batch.reset()
        start = time.perf_counter()
        batch.collect(1, policy, self.weights)
        first = time.perf_counter() - start
        batch.collect(self.steps, policy, self.weights)
        rate = self.rate(lambda: batch.collect(self.steps, policy, self.weights), seconds)
        ((_, sequence),) = batch.kernels.collecting.values()
        found = []
        for _ in range(8):
            sequence.measure()
            batch.collect(self.steps, policy, self.weights)
            found.append(sum(s for name, _, s in sequence.costs() if name.startswith("network")))
        return rate, first, 1e9 * min(found) / (self.steps * self.envs * self.operations)

    def outside(self, seconds):
        batch = self.make()
        obs, _ = batch.reset()
        rng, w = np.random.default_rng(0), {name: x.astype(np.float32) for name, x in self.weights.items()}
        std = np.exp(w["log_std"])

        def steps():
            nonlocal obs
            for _ in range(self.steps):
                x = obs[self.group] if self.group else obs
                x = np.clip((x - w["obs_mean"]) * w["obs_rate"], -10, 10)
                for k in range(self.layers):
                    x = x @ w[f"pi_W{k}"].T + w[f"pi_b{k}"]
                    x = NUMPY[self.activation](x) if k + 1 < self.layers else x
                obs = batch.step(x + std * rng.standard_normal(x.shape, np.float32))[0]

        steps()
        return self.rate(steps, seconds)

    def rate(self, run, seconds, runs=3):
        found = []
        for _ in range(runs):
            count, start = 0, time.process_time()
            while time.process_time() - start < seconds:
                run()
                count += self.envs * self.steps
            found.append(count / (time.process_time() - start))
        return statistics.median(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--write", metavar="NAME")
    given = parser.parse_args()
    if strange := set(given.cases) - set(CASES):
        parser.error(f"no case {', '.join(strange)}; there are {', '.join(CASES)}")
    lines = [
        "| case | multiply-adds | none | loops | traced | numpy outside | loops / numpy | ns per multiply-add | first: loops, traced [s] |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in given.cases or CASES:
        case = Case(name, given.envs, given.steps, given.threads)
        none, *_ = case.collected("none", given.seconds)
        loops, first, each = case.collected("loops", given.seconds)
        traced, traced_first = None, None
        if case.operations <= MOST_TRACED:
            traced, traced_first, _ = case.collected("traced", given.seconds)
        outside = case.outside(given.seconds)
        numbers = [none, loops, traced, outside]
        rates = ["-" if x is None else f"{x:,.0f}".replace(",", " ") for x in numbers]
        firsts = f"{first:.2f}, {'-' if traced_first is None else f'{traced_first:.2f}'}"
        row = [name, str(case.operations), *rates, f"{loops / outside:.2f}", f"{each:.4f}", firsts]
        lines.append("| " + " | ".join(row) + " |")
        print(lines[-1], flush=True)
    if given.write:
        d = machine.describe()
        told = f"# Networks within collect on {d['machine']}, {d['date']}\n\n{d['cpu']}, {d['cores']} cores; commit {d['commit']}; float32. `bench/networks.py` says what is what.\n\n"
        folder = machine.ROOT / "bench" / "results" / d["machine"]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{d['date']}-{given.write}.md").write_text(told + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
