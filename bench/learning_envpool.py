"""The same learner on EnvPool's environments: PPO with the settings of `featherstorm train`, to the same return.

    pip install envpool
    python bench/learning_envpool.py [--seeds 3] [--threads 2] [--write NAME] [TASK ...]

A row of each seed and engine, one after the other. EnvPool steps MuJoCo's C with as many threads; the policy is NumPy's between its steps. Episodes
begin anywhere in their time in both, returns are of 100 episodes without exploration in each one's own environments.
"""

import argparse
import pathlib
import time
from types import SimpleNamespace

import numpy as np

import machine
from featherstorm.environment.collecting import Collected
from featherstorm.learning.evaluation import evaluate
from featherstorm.learning.network import Network
from featherstorm.learning.normaliser import normalised
from featherstorm.learning.ppo import PPO
from featherstorm.learning.settings import settings_of
from featherstorm.learning.training import EPISODES, one_thread
from featherstorm.tasks import make

GOALS = {
    "HalfCheetah-v5": (4800, 180),
    "Hopper-v5": (2500, 180),
    "Walker2d-v5": (4000, 360),
    "Ant-v5": (4000, 900),
    "Humanoid-v5": (5000, 1200),
}
LIMIT = 1000  # control steps of an episode


class EnvPoolBatch:
    """What the learner asks of EnvBatch, of EnvPool's environments: an episode that ended is followed by the next one's first observation."""

    dtype = np.float32

    def __init__(self, name, envs, threads, seed):
        import envpool

        self.pool = envpool.make_gymnasium(name, num_envs=envs, num_threads=threads, seed=seed % 2**31)
        self.num_envs, self.groups = envs, {"": self.pool.observation_space.shape[0]}
        space = self.pool.action_space
        self.recording = SimpleNamespace(actions=space.shape[0], low=space.low, high=space.high)
        self.task = SimpleNamespace(steps=LIMIT)
        self.episode_length = np.zeros(envs, int)
        self.rng = np.random.default_rng([seed, 2])

    def reset(self, seed=None):
        self.obs = self.pool.reset()[0].astype(np.float32)
        self.episode_length[:] = 0

    def collect(self, steps, actor, weights, finals, keep):
        B, n, m = self.num_envs, self.groups[""], self.recording.actions
        network = Network([weights[f"pi_{'Wb'[k % 2]}{k // 2}"] for k in range(2 * actor.layers)], actor.activation)
        log_std, noise = weights["log_std"], weights["noise"][0]
        seen, last = np.empty((steps + 1, B, n), np.float32), np.zeros((steps, B, n), np.float32)
        actions, chosen = np.empty((steps, B, m), np.float32), np.empty((steps, B, m), np.float32)
        log_prob, reward = np.empty((steps, B), np.float32), np.empty((steps, B), np.float32)
        terminated, truncated = np.empty((steps, B), bool), np.empty((steps, B), bool)
        mean, rate = weights["obs_mean"].astype(np.float32), weights["obs_rate"]
        for t in range(steps):
            seen[t] = self.obs
            z = self.rng.standard_normal((B, m), np.float32)
            chosen[t] = network(normalised(self.obs, mean, rate)) + noise * np.exp(log_std) * z
            log_prob[t] = (-0.5 * z * z - log_std - np.float32(0.5 * np.log(2 * np.pi))).sum(1)
            actions[t] = np.clip(actor.middle + actor.half * chosen[t], actor.low, actor.high)
            obs, reward[t], terminated[t], *_ = self.pool.step(actions[t].astype(np.float64))
            self.obs = obs.astype(np.float32)
            self.episode_length += 1
            truncated[t] = (self.episode_length >= LIMIT) & ~terminated[t]
            ended = np.flatnonzero(terminated[t] | truncated[t])
            if len(ended):
                last[t, ended] = self.obs[ended]
                self.obs[ended] = self.pool.reset(ended.astype(np.int32))[0]
                self.episode_length[ended] = 0
        seen[steps] = self.obs
        return Collected(
            seen, actions, reward, terminated, truncated, last, {"chosen": chosen, "log_prob": log_prob}, None
        )


def ours(name, envs, threads, seed):
    return make(name).batch(envs, seed=seed, threads=threads)


def learn(maker, name, seed, threads):
    """Until the goal or its time: steps, seconds, the last return, seconds of collecting, values and updates."""
    until, limit = GOALS[name]
    start, settings = time.perf_counter(), settings_of(name)
    with one_thread():
        learner = PPO(maker(name, settings.envs, threads, seed), settings, seed, threads)
        others = maker(name, EPISODES, threads, seed + 2**20)
        while True:
            learner.iteration()
            if learner.iterations % settings.evaluate == 0:

                def collect(steps):
                    return learner.acting.collect(
                        others, steps, learner.actor, learner.log_std, learner.seen, False, False
                    )

                found, seconds = evaluate(others, collect, seed + 2**32).mean, time.perf_counter() - start
                if found >= until or seconds > limit:
                    return learner.steps, seconds, found, *learner.seconds.values()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--write", metavar="NAME")
    options = parser.parse_args()
    head = ["task", "return", "seed", "engine", "steps", "seconds", "reached", "collect", "values", "update"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    print(*lines, sep="\n")
    for name in options.task or GOALS:
        for seed in range(options.seeds):
            for engine, maker in (("featherstorm", ours), ("EnvPool", EnvPoolBatch)):
                steps, seconds, found, *parts = learn(maker, name, seed, options.threads)
                cells = [name, GOALS[name][0], seed, engine, f"{steps:,}", f"{seconds:.1f}", f"{found:.0f}"]
                lines.append("| " + " | ".join(map(str, [*cells, *(f"{x:.1f}" for x in parts)])) + " |")
                print(lines[-1], flush=True)
    if options.write:
        path = pathlib.Path(__file__).parent / "results" / machine.name() / f"{options.write}.md"
        path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
