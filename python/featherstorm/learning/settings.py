"""Settings of the learners: defaults that serve many tasks, and settings of single tasks."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

from .._names import expect, expect_one_of
from ..environment.networks import LEARNT

if TYPE_CHECKING:
    from collections.abc import Mapping

ALGORITHMS = ("ppo", "shac", "sac")


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of a learner, for all three algorithms.

    algorithm           ppo, shac or sac. PPO uses the settings up to `evaluate`.
                        shac uses envs, horizon, epochs and minibatch (for its critic), actor, critic, activation,
                        noise, least_noise, rate, critic_rate, anneal, mirror, entropy, discount, trace, gradient,
                        reward, spread, lessons, lesson, steps, evaluate.
                        sac uses envs, horizon, minibatch, actor, critic, activation, noise, least_noise, rate,
                        critic_rate, discount, gradient, reward, spread, steps, evaluate, and the settings from
                        `updates` on
    envs, horizon       number of environments, and control steps of each environment in an iteration
    epochs, minibatch   passes over an iteration's samples, and samples for one step of the optimiser
    chunks              parts of the environments. Each minibatch has an equal share of each, whose gradients are added in
                        the order of the chunks; a distributed run has at most as many workers. Another number gives
                        another run. 0: one for each 1024 samples of a minibatch
    actor, critic       sizes of the hidden layers
    activation          of the hidden layers: tanh, elu, relu, silu
    noise               initial logarithm of the actions' standard deviation, in half ranges
    least_noise         lower bound of that logarithm
    rate, critic_rate   initial learning rates of Adam
    kl                  target for the change of the policy in an iteration, a mean KL divergence [nat]; it controls the
                        actor's rate. 0: no control
    anneal              lower the rates and the entropy weight to 0, and the KL target to a tenth, over `steps`
    mirror              make the networks symmetric with respect to the task's mirror (Env.mirror)
    clip                bounds of the probability ratio: 1 +- clip
    entropy             weight of the entropy in the loss
    discount, trace     gamma and lambda
    gradient            largest norm of a gradient, for actor and critic each
    reward              factor of the rewards; 0: divide by the running standard deviation of discounted returns
    spread              start the first episodes at random times of an episode, so that they do not end together
    lessons             factors of the penalties (the negative entries of the task's `weights`) in the first lessons,
                        easiest first; afterwards the task is unchanged. Evaluations use the unchanged task
    lesson              control steps of each lesson
    steps               total number of control steps
    evaluate            iterations between evaluations
    updates             optimiser steps in an iteration
    memory              control steps in the replay memory
    begin               control steps in the memory before learning begins
    follow              fraction by which the target critics move towards the critics in an update
    temperature         initial weight of the entropy
    aim                 target entropy that controls the temperature, for each number of an action [nat]
    """

    algorithm: str = "ppo"
    envs: int = 256
    horizon: int = 64
    epochs: int = 4
    minibatch: int = 2048
    chunks: int = 0
    actor: tuple[int, ...] = (64, 64)
    critic: tuple[int, ...] = (64, 64)
    activation: str = "tanh"
    noise: float = -0.5
    least_noise: float = -5.0
    rate: float = 1e-3
    critic_rate: float = 1e-3
    kl: float = 0.02
    anneal: bool = False
    mirror: bool = False
    clip: float = 0.2
    entropy: float = 0.0
    discount: float = 0.99
    trace: float = 0.95
    gradient: float = 0.5
    reward: float = 0.0
    spread: bool = True
    lessons: tuple[float, ...] = ()
    lesson: int = 5_000_000
    steps: int = 20_000_000
    evaluate: int = 10
    updates: int = 16
    memory: int = 1_000_000
    begin: int = 5_000
    follow: float = 0.02
    temperature: float = 0.1
    aim: float = -1.0

    def __post_init__(self) -> None:
        counts = ("envs", "horizon", "epochs", "minibatch", "lesson", "steps", "evaluate", "updates", "memory", "begin")
        for name in counts:
            expect(getattr(self, name) >= 1, f"settings: {name}", getattr(self, name), "1 or more")
        expect(self.chunks >= 0, "settings: chunks", self.chunks, "0 or more")
        for name in ("rate", "critic_rate", "clip", "gradient", "temperature"):
            x = getattr(self, name)
            expect(0 < x < float("inf"), f"settings: {name}", x, "a number above 0")
        for name in ("discount", "trace", "follow"):
            expect(0 <= getattr(self, name) <= 1, f"settings: {name}", getattr(self, name), "0 to 1")
        expect_one_of("settings: algorithm", self.algorithm, ALGORITHMS)
        expect_one_of("settings: activation", self.activation, LEARNT)
        if any(not 0 < x <= 1 for x in self.lessons):
            raise ValueError(f"settings: lessons are {self.lessons}, expected factors above 0, to 1")
        if self.lessons and self.algorithm == "sac":
            raise ValueError(
                f"settings: lessons are {self.lessons}, expected none: sac keeps rewards of earlier lessons"
            )
        if self.mirror and self.algorithm == "sac":
            raise ValueError("settings: mirror is yes, expected no: sac does not support it")
        if any(n < 1 for n in (*self.actor, *self.critic)):
            raise ValueError(f"settings: layers are {self.actor} and {self.critic}, expected sizes of 1 or more")

    def changed(self, texts: Mapping[str, str]) -> Settings:
        """Return a copy with changes, given as strings: {"envs": "512", "actor": "128,64", "anneal": "yes"}."""
        return dataclasses.replace(self, **{name: value_of(self, name, text) for name, text in texts.items()})

    def least_memory(self, n: int, m: int) -> float:
        """Return a lower bound of the memory of a learner [bytes], for n observed numbers and m actions.

        It counts the samples of an iteration, the networks with gradient and moments, their outputs for a part of a
        minibatch, and the replay memory.
        """
        sample = 2 * n + m + 4  # observation, the next one, action, reward, two flags, value
        sizes = [(n, *self.actor, m), (n, *self.critic, 1)]
        weights = sum(a * b for layers in sizes for a, b in itertools.pairwise(layers))
        outputs = min(self.minibatch, 1024) * sum(map(sum, sizes))
        replay = self.memory * (2 * n + m + 2) if self.algorithm == "sac" else 0
        return 4.0 * (self.envs * self.horizon * sample + 4 * weights + outputs + replay)

    def as_table(self) -> dict[str, Any]:
        """Return the settings as plain numbers, strings and lists."""
        table = dataclasses.asdict(self)
        return {name: list(x) if isinstance(x, tuple) else x for name, x in table.items()}


def of_table(table: Mapping[str, Any]) -> Settings:
    """Make settings from a result of `as_table`. Errors: ValueError for unknown names."""
    known = {f.name for f in dataclasses.fields(Settings)}
    if strange := sorted(set(table) - known):
        raise ValueError(f"settings: there is no {', '.join(strange)}; there are {', '.join(sorted(known))}")
    values: dict[str, Any] = {name: tuple(x) if isinstance(x, list) else x for name, x in table.items()}
    return Settings(**values)


def value_of(settings: Settings, name: str, text: str) -> Any:
    known = [f.name for f in dataclasses.fields(settings)]
    if name not in known:
        raise ValueError(f"settings: there is no {name!r}; there are {', '.join(known)}")
    now = getattr(settings, name)
    try:
        if isinstance(now, bool):
            return {"yes": True, "no": False}[text]
        if isinstance(now, tuple):
            return tuple((float if name == "lessons" else int)(x) for x in text.split(",") if x)
        return int(float(text)) if isinstance(now, int) else type(now)(text)
    except (ValueError, KeyError, OverflowError):
        kind = (
            "yes or no" if isinstance(now, bool) else "numbers such as 64,64" if isinstance(now, tuple) else "a number"
        )
        raise ValueError(f"settings: {name} is {text!r}, expected {kind}") from None


# With all penalties a quadruped first learns to stand still, since feet that move near the ground cost most.
QUADRUPED = Settings(
    envs=1024, horizon=24, minibatch=6144, discount=0.97, least_noise=-1.5, entropy=0.005, lessons=(0.1, 0.3),
    lesson=6_000_000, steps=60_000_000, evaluate=60,
)  # fmt: skip

TASKS: dict[str, Settings] = {
    "InvertedPendulum-v5": Settings(envs=64, horizon=32, minibatch=512, steps=1_000_000, evaluate=8),
    "Go1JoystickRough": QUADRUPED,
    "Go2JoystickRough": QUADRUPED,
    # flat ground is symmetric
    "Go1JoystickFlat": (flat := dataclasses.replace(QUADRUPED, steps=50_000_000, anneal=True, mirror=True)),
    "Go2JoystickFlat": flat,
    # few samples in an iteration and large updates, since the simulation takes most of the time
    "G1JoystickFlat": Settings(
        envs=512, horizon=24, epochs=5, minibatch=3072, actor=(256, 128), critic=(256, 128), noise=-1.0,
        least_noise=-2.5, rate=3e-4, kl=0.0, clip=0.3, entropy=0.002, discount=0.97, lessons=(0.1, 0.3),
        lesson=6_000_000, steps=64_000_000, anneal=True, mirror=True, evaluate=250,
    ),
}  # fmt: skip


# For SHAC: its gradients need few environments, and only the critic needs exploration.
GRADIENTS = Settings(
    algorithm="shac", envs=256, horizon=8, epochs=8, minibatch=512, activation="elu", noise=-1.0, rate=2e-3,
    critic_rate=2e-3, gradient=1.0, steps=4_000_000,
)  # fmt: skip


# For SAC, whose updates take most of the time: few environments, small networks, one update for eight steps.
REPLAYED = Settings(
    algorithm="sac", envs=64, horizon=2, updates=16, minibatch=256, activation="relu", noise=0.0, rate=1e-3,
    critic_rate=1e-3, gradient=10.0, reward=1.0, follow=0.02, steps=2_000_000, evaluate=200,
)  # fmt: skip


def settings_of(task: str, algorithm: str = "ppo") -> Settings:
    """Return the settings of a task by its name, or the general ones if it has none."""
    expect_one_of("settings: algorithm", algorithm, ALGORITHMS)
    of_their_own = {"shac": GRADIENTS, "sac": REPLAYED}
    return of_their_own.get(algorithm) or TASKS.get(task, Settings())
