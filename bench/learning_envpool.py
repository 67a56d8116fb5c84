"""The same learner on EnvPool's environments: PPO with the settings of `featherstorm train`, to the same return.

    pip install envpool
    python bench/learning_envpool.py [--seeds 3] [--first 0] [--threads 2] [--engine featherstorm EnvPool] [--check] [--write NAME] [TASK ...]

First are answers: both step from EnvPool's first states under the same random actions. Then a row of each seed and engine, one after the
other. EnvPool steps MuJoCo's C with as many threads as the learner has; the policy is NumPy's between its steps, as in most learners of its
users. Episodes begin anywhere in their time in both, what is told is the mean return of 100 episodes without exploration, in each one's own
environments. What a limit cut is bootstrapped from its last observation in both.
"""

import argparse
import time
from types import SimpleNamespace

import numpy as np

import machine
from featherstorm.environment.collecting import Collected
from featherstorm.learning.acting import normalised
from featherstorm.learning.evaluation import evaluate
from featherstorm.learning.network import Network
from featherstorm.learning.ppo import PPO
from featherstorm.learning.settings import settings_of
from featherstorm.learning.training import EPISODES, EVALUATED, TIMES, one_thread
from featherstorm.tasks import make

GOALS = {  # return, and seconds of processors after which it is given up
    "HalfCheetah-v5": (4800, 180),
    "Hopper-v5": (2500, 360),
    "Walker2d-v5": (4000, 360),
    "Ant-v5": (4000, 900),
    "Humanoid-v5": (5000, 1200),
}
LIMIT = 1000  # control steps of an episode
HIDDEN = {"Ant-v5": 2, "Humanoid-v5": 2}  # coordinates that observations leave out; 1 in others


def pool_of(name, envs, threads, seed):
    import envpool

    return envpool.make_gymnasium(name, num_envs=envs, num_threads=threads, seed=seed % 2**31)


class EnvPoolBatch:
    """What the learner asks of EnvBatch, of EnvPool's environments: an episode that ended is followed by the next one's first observation."""

    dtype = np.float32

    def __init__(self, name, envs, threads, seed):
        self.made, self.pool = (name, threads, seed), pool_of(name, envs, threads, seed)
        self.num_envs, self.groups = envs, {"": self.pool.observation_space.shape[0]}
        space = self.pool.action_space
        self.recording = SimpleNamespace(actions=space.shape[0], low=space.low, high=space.high)
        self.task = SimpleNamespace(steps=LIMIT)
        self.episode_length = np.zeros(envs, int)
        self.rng = np.random.default_rng([seed, 2])

    def resized(self, envs):
        name, threads, seed = self.made
        return EnvPoolBatch(name, envs, threads, seed + 2**20)

    def reset(self, seed=None):
        """Other first states each time: EnvPool has no seed of a reset."""
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


ENGINES = {"featherstorm": ours, "EnvPool": EnvPoolBatch}


def answers(name, envs=64, steps=60):
    """How far both are apart from the same first states under the same random actions: the median over environments of the greatest
    difference of an observation after 1, 10, 20 steps, of rewards in 20 steps, and of how many environments one alone ended an episode."""
    pool, batch = pool_of(name, envs, 1, 3), make(name).batch(envs, dtype="float64", threads=1, autoreset="disabled")
    batch.reset(seed=3)
    seen, _ = pool.reset()
    hidden, nq, nv = HIDDEN.get(name, 1), batch.q.shape[1], batch.v.shape[1]
    q, v = seen[:, : nq - hidden], seen[:, nq - hidden : nq - hidden + nv]
    if hidden == 2:  # made unit here, shown as drawn there
        q[:, 1:5] /= np.linalg.norm(q[:, 1:5], axis=1, keepdims=True)
    batch.q[:, hidden:], batch.v[:] = q, v
    rng, going, one_alone = np.random.default_rng(0), np.ones(envs, bool), np.zeros(envs, bool)
    observed, earned = {}, []
    for step in range(1, steps + 1):
        actions = rng.uniform(pool.action_space.low, pool.action_space.high, (envs, *pool.action_space.shape))
        (obs, reward, terminated, *_), (obs2, reward2, terminated2, *_) = pool.step(actions), batch.step(actions)
        if step in (1, 10, 20):
            observed[step] = float(np.median(np.abs(obs - obs2)[going].max(1)))
        if 1 < step <= 20:  # the first has the change of place, which the batch has of its own first state
            earned.append(float(np.median(np.abs(reward - reward2)[going])))
        one_alone |= going & (terminated != terminated2)
        going &= ~(terminated | terminated2)
        if not going.any():
            break
    return *observed.values(), max(earned), int(one_alone.sum())


def learn(maker, name, seed, threads):
    """Until the goal or its time: steps, seconds, those of processors, the last return, whether it is the goal, seconds of collecting, values
    and updates."""
    until, limit = GOALS[name]
    start, processors, settings = time.perf_counter(), time.process_time(), settings_of(name)
    with one_thread():
        learner = PPO(maker(name, settings.envs, threads, seed), settings, seed, threads)
        others = learner.env.resized(EPISODES)
        while True:
            learner.iteration()
            if learner.iterations % settings.evaluate == 0:

                def collect(steps):
                    return learner.acting.collect(
                        others, steps, learner.actor, learner.log_std, learner.seen, False, False
                    )

                found = evaluate(others, collect, seed + EVALUATED).mean
                seconds, busy = time.perf_counter() - start, time.process_time() - processors
                if found >= until or busy > limit:
                    return learner.steps, seconds, busy, found, found >= until, *learner.seconds.values()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--check", action="store_true", help="answers alone")
    parser.add_argument("--write", metavar="NAME")
    options = parser.parse_args()
    tasks, lines = options.task or list(GOALS), []

    def say(*cells):
        lines.append("| " + " | ".join(map(str, cells)) + " |")
        print(lines[-1], flush=True)

    def head(*cells):
        say(*cells)
        say(*("---" for _ in cells))

    head("task", "observation after 1 step", "10", "20", "reward", "ended in one alone")
    for name in tasks:
        *apart, alone = answers(name)
        say(name, *(f"{x:.0e}" for x in apart), f"{alone} of 64")
    if not options.check:
        lines.append("")
        print()
        head("task", "goal", "seed", "engine", "steps", "seconds", "of processors", *TIMES, "return")
        for name in tasks:
            for seed in range(options.first, options.first + options.seeds):
                for engine in options.engine:
                    steps, *times, found, reached, collect, values, update = learn(
                        ENGINES[engine], name, seed, options.threads
                    )
                    goal = f"{GOALS[name][0]}{'' if reached else ', not reached'}"
                    told = (f"{x:.1f}" for x in (*times, collect, values, update))
                    say(name, goal, seed, engine, f"{steps:,}", *told, f"{found:.0f}")
    if options.write:
        path = machine.folder() / f"{options.write}.md"

        path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
