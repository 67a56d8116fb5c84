"""Learning: what an update of PPO costs, and how long tasks take to a return.

    python bench/learning.py update [--jax]
    python bench/learning.py runs [--seeds 5] [--whole] [--algorithm shac] [--mujoco 10] [--write NAME] [TASK ...]
    python bench/learning.py held [--calm] [--mujoco 10] POLICY ...
    python bench/learning.py held --task NAME [--calm] [--ideal] POLICY.onnx ...

update   microseconds of one sample and epoch (gradients of actor and critic, Adam), numpy as the learner does it, on one and two threads;
         --jax: beside JAX with optax (pip install jax optax), compiled
runs     `featherstorm train TASK --until RETURN`, and with --mujoco `featherstorm transfer`, a process for each seed, one after the other. Seconds are from the command's beginning to
         the end of the evaluation that returned so much: 100 episodes without exploration (--whole: of the best one, of all the task's steps or minutes); `held out` is the return of the policy's file in 100
         episodes of a seed of its own; of tasks with commands in 1000 episodes with a command each, and in 1000 with
         changing ones: shares of the bounds of the reward for linear and angular velocity, and of episodes that ended in a fall. The interpreter's start is not in the seconds: 0.3 s. --write puts the table, curves as CSV and a plot into results/
held     what policies of tasks with commands do in those 2000 episodes; --calm: and in as many without pushes; --ideal: and without noise and
         what episodes draw of parameters either. ONNX models, as MuJoCo Playground publishes them, are of the actor's observation
"""

import argparse
import csv
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import featherstorm as fs
import machine
from featherstorm.learning.evaluation import run_episodes
from featherstorm.learning.network import orthogonal
from featherstorm.learning.ppo import PPO, Samples
from featherstorm.learning.settings import Settings
from featherstorm.tasks.velocity_rough import RoughQuadruped

NETS = ((17, (64, 64), 6), (48, (128, 64), 12))
BATCH, HELD_OUT, EPISODES = 8192, 2**40, 1000
TRACKED, NEVER = ("tracking_lin_vel", "tracking_ang_vel"), 1e6  # seconds to the next command
GOALS = {
    "InvertedPendulum-v5": (950, 10),
    "HalfCheetah-v5": (4800, 180),
    "Hopper-v5": (2500, 180),
    "Walker2d-v5": (4000, 360),
    "Ant-v5": (4000, 360),
    "Humanoid-v5": (5000, 1200),
    "Go1JoystickFlat": (25, 900),
}


def times(step, repeats=30):
    """Least and median seconds."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        step()
        found.append(time.perf_counter() - start)
    return min(found), statistics.median(found)


def numbers(n, m):
    rng = np.random.default_rng(0)
    shapes = ((BATCH, n), (BATCH, n), (BATCH, m), (BATCH,), (BATCH,), (BATCH,))
    return [rng.normal(size=s).astype(np.float32) for s in shapes]


class Space:
    """What PPO asks of environments, where only its update is measured."""

    num_envs, dtype = BATCH, np.float32

    class task:
        steps = None

    class recording:
        pass

    def __init__(self, n, m):
        self.groups = {"": n}
        self.recording.actions, self.recording.low, self.recording.high = m, -np.ones(m), np.ones(m)

    def reset(self, seed):
        pass


def ours(n, hidden, m, threads):
    ppo = PPO(Space(n, m), Settings(horizon=1, epochs=1, minibatch=BATCH, actor=hidden, critic=hidden), 0, threads)
    ppo.samples = [Samples(*(x[rows] for x in numbers(n, m))) for rows in ppo.chunks.rows]
    return times(lambda: ppo.update(0.0, 1.0))


def jaxs(n, hidden, m):
    import jax
    import jax.numpy as jnp
    import optax

    s, rng = Settings(), np.random.default_rng(0)
    pairs = [orthogonal(rng, (n, *hidden, k), 1.0) for k in (m, 1)]
    weights = {"pi": [jnp.array(w) for w in pairs[0]], "v": [jnp.array(w) for w in pairs[1]], "log_std": jnp.zeros(m)}

    def net(w, x):
        for k in range(0, len(w), 2):
            x = x @ w[k].T + w[k + 1]
            x = jnp.tanh(x) if k + 2 < len(w) else x
        return x

    def loss(w, x, xc, chosen, old, advantage, target):
        z = (chosen - net(w["pi"], x)) * jnp.exp(-w["log_std"])
        log_prob = (-0.5 * z * z - w["log_std"] - 0.9189385).sum(1)
        ratio = jnp.exp(log_prob - old)
        actor = -jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - s.clip, 1 + s.clip) * advantage).mean()
        return actor + 0.5 * ((net(w["v"], xc)[:, 0] - target) ** 2).mean()

    optimiser = optax.chain(optax.clip_by_global_norm(s.gradient), optax.adam(s.rate))
    state, arrays = optimiser.init(weights), [jnp.array(x) for x in numbers(n, m)]

    @jax.jit
    def step(w, state):
        change, state = optimiser.update(jax.grad(loss)(w, *arrays), state)
        return optax.apply_updates(w, change), state

    jax.block_until_ready(step(weights, state))
    return times(lambda: jax.block_until_ready(step(weights, state)))


def update(options):
    print("| net | numpy, 1 thread | numpy, 2 threads |" + (" JAX, optax |" if options.jax else ""))
    print("|---|---|---|" + ("---|" if options.jax else ""))
    for n, hidden, m in NETS:
        cells = [ours(n, hidden, m, 1), ours(n, hidden, m, 2), *([jaxs(n, hidden, m)] if options.jax else [])]
        name = "-".join(map(str, (n, *hidden, m)))
        print(f"| {name} | " + " | ".join(f"{a / BATCH * 1e6:.2f} ({b / BATCH * 1e6:.2f})" for a, b in cells) + " |")


def run(task, seed, until, minutes, folder, options):
    """One process: a row of the table, and the rows of its curve."""
    words = [sys.executable, "-m", "featherstorm", "train", task, "--seed", str(seed)]
    more = [*([] if until is None else ["--until", str(until)]), "--algorithm", options.algorithm, *options.more]
    done = subprocess.run(
        [*words, "--minutes", str(minutes), "--out", folder, *more], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1) or "policy:" not in done.stdout:
        raise RuntimeError(f"{task}: {done.stdout}{done.stderr}")
    with open(os.path.join(folder, "curve.csv"), newline="") as file:
        curve = [row for row in csv.DictReader(file) if row["evaluation"]]
    last = curve[-1] if until is not None else max(curve, key=lambda r: float(r["evaluation"]))
    held = re.search(r"return (\S+) \+- (\S+),", done.stdout)
    reached = "the return is reached" in done.stdout
    row = [task, until, seed, int(last["steps"]), float(last["seconds"]), float(last["evaluation"]), float(held[1])]
    return [*row, *(float(last[x]) for x in ("collect", "values", "update"))], reached, curve


def in_mujoco(path, episodes):
    """The mean return of `featherstorm transfer` there, and how far it is from ours [%]."""
    with tempfile.TemporaryDirectory() as folder:
        told = os.path.join(folder, "told.json")
        words = [sys.executable, "-m", "featherstorm", "transfer", path, "--episodes", str(episodes), "--json", told]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{path}: {done.stdout}{done.stderr}")
        row = json.loads(pathlib.Path(told).read_text())["rows"][0]
    return f"{row['mujoco']:.0f} ({100 * row['difference']:+.1f} %)"


def policy_of(path):
    """A function of observations: a policy's file, or an ONNX model of one row or many."""
    if not path.endswith(".onnx"):
        return fs.learning.Policy.load(path)
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()

    def act(obs):
        x = np.asarray(obs["actor"], np.float32)
        rows = np.split(x, len(x)) if given.shape[0] == 1 else [x]
        return np.concatenate([session.run(None, {given.name: row})[0] for row in rows])

    return act


def commanded(task, path, **changes):
    """Of a task with commands, in 1000 episodes with a command each, and in 1000 where commands change as the task has it: shares of the bounds of
    tracking, and of episodes that ended in a fall, on the ground, or below the rocks over their edge. None of other tasks.
    `changes`: attributes of the task."""
    policy, told = policy_of(path), []
    for kind, patience in (("fixed", NEVER), ("changing", None)):
        made = fs.tasks.make(task)
        if not hasattr(made, "patience"):
            return None
        if strange := [name for name in changes if not hasattr(made, name)]:
            raise ValueError(f"{task} has no {strange[0]}")
        vars(made).update(changes, patience=patience or made.patience)
        batch, heights = made.batch(EPISODES), []

        def act(obs, batch=batch, heights=heights):
            heights.append(batch.q[:, 2].copy())
            return policy(obs)

        found, terms = run_episodes(batch, act, HELD_OUT)
        last = np.array(heights)[found.lengths - 1, np.arange(EPISODES)]
        gone = found.fell & (last < 0) & isinstance(made, RoughQuadruped)
        bounds = {name: made.weights[name] * made.reward_scale * made.steps for name in TRACKED}
        lin, ang = (terms[name] / bounds[name] for name in TRACKED)
        falls, over = (100 * x.mean() for x in (found.fell & ~gone, gone))
        told.append(f"{kind}: {found.mean:.1f}, linear {lin:.3f}, angular {ang:.3f}, falls {falls:.1f} %")
        if over:
            told[-1] += f", over the edge {over:.1f} %"
    return "; ".join(told)


def held(options):
    for path in options.policy:
        task = options.task or fs.learning.Policy.load(path).task
        print(f"{path}: {commanded(task, path)}", flush=True)
        calm = {"push_speed": (0.0, 0.0)}
        if options.calm:
            print(f"  without pushes: {commanded(task, path, **calm)}", flush=True)
        if options.ideal:
            print(
                f"  nor noise, nor drawn parameters: {commanded(task, path, **calm, noise=0.0, randomise=None)}",
                flush=True,
            )
        if options.mujoco:
            print(f"  MuJoCo: {in_mujoco(path, options.mujoco)}", flush=True)


def runs(options):
    curves = []
    head = [
        "task",
        "algorithm",
        "goal",
        "seed",
        "steps",
        "seconds",
        "return",
        "held out",
        *(["MuJoCo"] if options.mujoco else []),
    ]
    head += ["collect", "values", "update"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    print(*lines, sep="\n")
    for task in options.task or GOALS:
        until, limit = GOALS.get(task, (options.until, 3600))
        until = None if options.whole else until if options.until is None else options.until
        for seed in range(options.first, options.first + options.seeds):
            with tempfile.TemporaryDirectory() as folder:
                row, reached, curve = run(task, seed, until, limit / 60, os.path.join(folder, "run"), options)
                policy = os.path.join(folder, "run", "policy.npz")
                told = commanded(task, policy) or f"{row[6]:.0f}"
                if options.mujoco:
                    told += f" | {in_mujoco(policy, options.mujoco)}"
                if options.keep:
                    shutil.copy(policy, f"{options.keep}/{task}-{seed}.npz")
            goal = "all" if until is None else f"{until:g}{'' if reached else ', not reached'}"
            curves += [
                [task, seed, *(x[c] for c in ("steps", "seconds", "evaluation", "evaluation_std"))] for x in curve
            ]
            lines.append(
                f"| {task} | {options.algorithm.upper()} | {goal} | {seed} | {row[3]:,} | {row[4]:.1f} | {row[5]:.4g} | {told} | "
                + " | ".join(f"{x:.1f}" for x in row[7:])
                + " |"
            )
            print(lines[-1], flush=True)
    if options.write:
        write(options.write, lines, curves)


def write(name, lines, curves):
    base = pathlib.Path(__file__).parent / "results" / machine.name() / name
    base.parent.mkdir(parents=True, exist_ok=True)
    base.with_suffix(".md").write_text("\n".join(lines) + "\n")
    draw(base.with_suffix(".png"), curves)


def draw(path, curves):
    """Returns of evaluations over seconds, a panel for a task, a line for a seed, the goal dashed."""
    import matplotlib.pyplot as plt

    tasks = list(dict.fromkeys(row[0] for row in curves))
    figure, panels = plt.subplots(1, len(tasks), figsize=(3 * len(tasks), 2.6), squeeze=False, layout="constrained")
    for task, panel in zip(tasks, panels[0]):
        for seed in dict.fromkeys(row[1] for row in curves if row[0] == task):
            line = [(float(r[3]), float(r[4])) for r in curves if r[0] == task and r[1] == seed]
            panel.plot(*zip(*line), lw=1, marker="." if len(line) < 3 else None)
        if task in GOALS:
            panel.axhline(GOALS[task][0], color="0.5", ls="--", lw=0.8)
        panel.set(title=task, xlabel="s", xlim=(0, None))
    panels[0][0].set_ylabel("return of an evaluation")
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    one = kinds.add_parser("update")
    one.add_argument("--jax", action="store_true")
    many = kinds.add_parser("runs")
    many.add_argument("task", nargs="*")
    many.add_argument("--seeds", type=int, default=5)
    many.add_argument("--first", type=int, default=0)
    many.add_argument("--until", type=float)
    many.add_argument("--whole", action="store_true", help="ends at no return")
    many.add_argument("--algorithm", default="ppo")
    many.add_argument("--mujoco", type=int, metavar="EPISODES", help="of each policy in MuJoCo C, too")
    many.add_argument("--keep", metavar="FOLDER", help="for the policies")
    many.add_argument("--write", metavar="NAME")
    many.add_argument("--more", nargs=argparse.REMAINDER, default=[], help="arguments of train")
    policies = kinds.add_parser("held")
    policies.add_argument("policy", nargs="+")
    policies.add_argument("--task", help="default: the policy's own")
    policies.add_argument("--calm", action="store_true", help="without pushes, too")
    policies.add_argument("--ideal", action="store_true", help="without pushes, noise and drawn parameters, too")
    policies.add_argument("--mujoco", type=int, metavar="EPISODES", help="in MuJoCo C, too")
    options = parser.parse_args()
    {"update": update, "runs": runs, "held": held}[options.kind](options)


if __name__ == "__main__":
    main()
