"""Episodes of a policy, in the engine and in MuJoCo, and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .conditions import HELD, Conditions, root_axes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..environment.batch import EnvBatch
    from ..environment.env import Env
    from .env import MujocoEnv

    Policy = Callable[[Any], Any]

LONGEST = 1000  # control steps of an episode if the task has no time limit


class Episode(NamedTuple):
    """Results of an episode.

    reward     sum of the rewards
    terms      sums of the reward terms, by name
    length     control steps
    fell       True if the episode ended before its time limit
    lost       True if it ended by a state that is not finite
    commands   number of commands; 0 for a task without commands
    """

    reward: float
    length: int
    fell: bool
    lost: bool
    commands: int
    terms: dict[str, float]


def check_policy(policy: Any, task: Env, groups: dict[str, int], actions: int) -> None:
    """Raise ValueError for a policy whose sizes are not the task's."""
    name = type(task).__name__
    if not hasattr(policy, "sizes"):
        return
    takes, gives, group = int(policy.sizes[0]), int(policy.sizes[-1]), getattr(policy, "group", "")
    has = ", ".join(f"{size} of {g!r}" if g else str(size) for g, size in groups.items())
    if groups.get(group) != takes or gives != actions:
        of = f" of {group!r}" if group else ""
        raise ValueError(
            f"the policy takes {takes} observations{of} and gives {gives} actions; {name} has {has} observations, {actions} actions"
        )


class Late:
    """Delay of actions by some control steps."""

    def __init__(self, latency: int) -> None:
        self.latency = latency
        self.waiting: list[Any] = []

    def __call__(self, action: Any) -> Any:
        self.waiting.append(np.array(action))
        return self.waiting.pop(0) if len(self.waiting) > self.latency else self.waiting[0]


def ours(batch: EnvBatch, policy: Policy, conditions: Conditions, say: Callable[[int], object] = int) -> list[Episode]:
    """Run the first episode of each environment in a batch with autoreset="disabled".

    say   say(1) is called for each episode that ends
    """
    n, task = batch.num_envs, batch.task
    late, axes = Late(conditions.latency), root_axes(batch.model)
    if conditions.commands:
        batch.memory(HELD)[:] = [conditions.command(k) for k in range(n)]
    obs, _ = batch.reset(seed=conditions.seed)
    for name, factor in conditions.factors(batch.recording.parameters).items():
        rows = batch.parameter(name)
        rows *= np.resize(factor, rows.shape[1])
    has_command = "command" in task.memory
    command = np.array(batch.memory("command")) if has_command else None
    going, sums = np.ones(n, bool), {name: np.zeros(n) for name in ("", *batch.terms)}
    length, commands = np.zeros(n, int), np.full(n, int(has_command))
    fell, lost = np.zeros(n, bool), np.zeros(n, bool)
    for step in range(task.steps or LONGEST):
        for k in np.flatnonzero(going) if conditions.push else ():
            push = conditions.push_of(int(k), step, batch.dt, axes)
            if push is not None:
                batch.v[k, :axes] += push.astype(batch.dtype)
        action = late(np.asarray(policy(obs), batch.dtype))
        obs, reward, terminated, truncated, info = batch.step(action)
        sums[""] += np.where(going, reward, 0)
        for name, term in info.get("reward_terms", {}).items():
            sums[name] += np.where(going, term, 0)
        length += going
        fell |= going & terminated
        lost |= going & np.asarray(info["non_finite"])
        ended = going & (terminated | truncated)
        going &= ~ended
        if has_command:
            now = np.array(batch.memory("command"))
            commands += going & (now != command).any(axis=1)
            command = now
        if ended.any():
            say(int(ended.sum()))
        if not going.any():
            break
    terms = [{name: float(x[k]) for name, x in sums.items() if name} for k in range(n)]
    return [
        Episode(float(sums[""][k]), int(length[k]), bool(fell[k]), bool(lost[k]), int(commands[k]), terms[k])
        for k in range(n)
    ]


def in_mujoco(
    env: MujocoEnv, policy: Policy, conditions: Conditions, number: int, each: Callable[[MujocoEnv], object] = id
) -> Episode:
    """Run the first episode of environment `number`.

    each   called at the start of the episode, and after each control step
    """
    late, axes = Late(conditions.latency), root_axes(env.model)
    command = conditions.command(number)
    kept = {} if command is None else {HELD: command}
    begin_with_nominal(env)
    obs, _ = env.reset(seed=conditions.seed, env=number, kept=kept)
    env.put(**{name: env.parameter(name) * factor for name, factor in conditions.factors(env.parameters).items()})
    has_command = "command" in env.task.memory
    last, commands = env.memory("command") if has_command else None, int(has_command)
    each(env)
    for step in range(env.task.steps or LONGEST):
        push = conditions.push_of(number, step, env.dt, axes)
        if push is not None:
            env.push(push)
        action = late(np.asarray(policy(row_of(obs)), np.float32)[0])
        obs, _, terminated, truncated, info = env.step(action)
        each(env)
        if has_command and not (terminated or truncated):
            now = env.memory("command")
            commands, last = commands + bool((now != last).any()), now
        if terminated or truncated:
            break
    terms = dict(zip(env.terms, env.sums[1:]))
    return Episode(env.sums[0], env.steps, terminated, info["non_finite"], commands, terms)


def begin_with_nominal(env: MujocoEnv) -> None:
    """Set all parameters to those of the file; a reset then draws some of them."""
    env.put(**env.nominal)


def row_of(obs: Any) -> Any:
    """Return an environment's observation as a batch of one, in single precision."""
    if hasattr(obs, "items"):
        return {name: np.asarray(x, np.float32)[None] for name, x in obs.items()}
    return np.asarray(obs, np.float32)[None]


def mean_of(values: Iterable[float]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    x = np.array(list(values), float)
    return float(x.mean()), float(x.std(ddof=1) / np.sqrt(len(x))) if len(x) > 1 else 0.0
