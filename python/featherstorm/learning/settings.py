"""What learners are run with: numbers that serve many tasks, and those of tasks that want others."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from ..environment.activations import LEARNT

if TYPE_CHECKING:
    from collections.abc import Mapping

ALGORITHMS = ("ppo", "shac", "sac")


@dataclasses.dataclass(frozen=True)
class Settings:
    """algorithm           ppo, shac or sac. Of the others
                        shac takes envs, horizon, epochs and minibatch of its critic, actor, critic, activation, noise, least_noise, rate,
                        critic_rate, anneal, mirror, entropy, discount, trace, gradient, reward, spread, lessons, lesson, steps,
                        evaluate;
                        sac takes envs, horizon, minibatch, actor, critic, activation, noise, least_noise, rate, critic_rate, discount, gradient,
                        reward, spread, steps, evaluate, and those from `updates` on
    envs, horizon       environments side by side, and control steps of each in an iteration
    epochs, minibatch   how often an iteration's samples are gone through, and how many of them make a step of the optimiser
    actor, critic       sizes of hidden layers
    activation          of theirs: tanh, elu, relu, silu
    noise               logarithm of the actions' deviation to begin with, in half ranges
    least_noise         below which that does not fall
    rate, critic_rate   learning rates of Adam to begin with
    kl                  the change of the policy in an iteration that the actor's rate is steered to: mean KL [nat]. 0: it is not
    anneal              whether rates, the weight of the entropy and the KL that is aimed at fall over `steps`: to 0, the KL to a tenth
    mirror              whether networks are such that their left is like their right, as the task's mirror has it (Env.mirror)
    clip                of the ratio of probabilities: 1 +- clip
    entropy             weight of the entropy in the loss
    discount, trace     gamma and lambda
    gradient            the largest norm of a gradient, of actor and critic each
    reward              of rewards: a factor; 0: by the running deviation of discounted returns
    spread              whether first episodes begin anywhere in their time, so that they do not end together
    lessons             factors of the reward's penalties, the negative ones of a task's `weights`, in lessons that come first, easiest first;
                        then the task as it is. Evaluations are of the task as it is
    lesson              control steps of each
    steps               control steps in all, after which it is done
    evaluate            iterations between evaluations
    updates             steps of the optimisers in an iteration
    memory              control steps that are remembered
    begin               how many there are to be before anything is learnt
    follow              share by which the critics that targets are made of go towards the others, in an update
    temperature         weight of the entropy to begin with
    aim                 entropy that the temperature is steered by, for each number of an action [nat]
    """

    algorithm: str = "ppo"
    envs: int = 256
    horizon: int = 64
    epochs: int = 4
    minibatch: int = 2048
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
            if getattr(self, name) < 1:
                raise ValueError(f"settings: {name} is {getattr(self, name)}, expected 1 or more")
        for name in ("rate", "critic_rate", "clip", "gradient", "temperature"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"settings: {name} is {getattr(self, name)}, expected a number above 0")
        for name in ("discount", "trace", "follow"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"settings: {name} is {getattr(self, name)}, expected 0 to 1")
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"settings: algorithm is {self.algorithm!r}, expected one of {', '.join(ALGORITHMS)}")
        if self.activation not in LEARNT:
            raise ValueError(f"settings: activation is {self.activation!r}, expected one of {', '.join(LEARNT)}")
        if any(not 0 < x <= 1 for x in self.lessons):
            raise ValueError(f"settings: lessons are {self.lessons}, expected factors above 0, to 1")
        if self.lessons and self.algorithm == "sac":
            raise ValueError(
                f"settings: lessons are {self.lessons}, expected none: sac remembers rewards of the ones before"
            )
        if self.mirror and self.algorithm == "sac":
            raise ValueError("settings: mirror is yes, expected no: networks of sac have none")
        if any(n < 1 for n in (*self.actor, *self.critic)):
            raise ValueError(f"settings: layers are {self.actor} and {self.critic}, expected sizes of 1 or more")

    def changed(self, texts: Mapping[str, str]) -> Settings:
        """Others, of texts as the command line has them: {"envs": "512", "actor": "128,64", "anneal": "yes"}."""
        return dataclasses.replace(self, **{name: value_of(self, name, text) for name, text in texts.items()})

    def as_table(self) -> dict[str, Any]:
        """Plain numbers, texts and lists."""
        table = dataclasses.asdict(self)
        return {name: list(x) if isinstance(x, tuple) else x for name, x in table.items()}


def of_table(table: Mapping[str, Any]) -> Settings:
    """Of what `as_table` gave. ValueError for names that there are not."""
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


# with all penalties a quadruped learns to stand still first, as feet that move near the ground cost most
QUADRUPED = Settings(
    envs=1024,
    horizon=24,
    minibatch=6144,
    discount=0.97,
    least_noise=-1.5,
    entropy=0.005,
    lessons=(0.1, 0.3),
    lesson=6_000_000,
    steps=60_000_000,
    evaluate=60,
)

TASKS: dict[str, Settings] = {
    "InvertedPendulum-v5": Settings(envs=64, horizon=32, minibatch=512, steps=1_000_000, evaluate=8),
    "Go1JoystickRough": QUADRUPED,
    "Go2JoystickRough": QUADRUPED,
    # on a plane left is like right
    "Go1JoystickFlat": (flat := dataclasses.replace(QUADRUPED, steps=50_000_000, anneal=True, mirror=True)),
    "Go2JoystickFlat": flat,
    # small iterations and bold ones, as most of the time is the simulation's
    "G1JoystickFlat": Settings(
        envs=512,
        horizon=24,
        epochs=5,
        minibatch=3072,
        actor=(256, 128),
        critic=(256, 128),
        noise=-1.0,
        least_noise=-2.5,
        rate=3e-4,
        kl=0.0,
        clip=0.3,
        entropy=0.002,
        discount=0.97,
        lessons=(0.1, 0.3),
        lesson=6_000_000,
        steps=64_000_000,
        anneal=True,
        mirror=True,
        evaluate=250,
    ),
}


# of SHAC, whose gradients need few environments, and no exploration but for the critic
GRADIENTS = Settings(
    algorithm="shac",
    envs=256,
    horizon=8,
    epochs=8,
    minibatch=512,
    activation="elu",
    noise=-1.0,
    rate=2e-3,
    critic_rate=2e-3,
    gradient=1.0,
    steps=4_000_000,
)


# of SAC, whose time is that of updates: few environments, small networks, and an update for eight steps
REPLAYED = Settings(
    algorithm="sac",
    envs=64,
    horizon=2,
    updates=16,
    minibatch=256,
    activation="relu",
    noise=0.0,
    rate=1e-3,
    critic_rate=1e-3,
    gradient=10.0,
    reward=1.0,
    follow=0.02,
    steps=2_000_000,
    evaluate=200,
)


def settings_of(task: str, algorithm: str = "ppo") -> Settings:
    """Those of a task by its name; those that serve many where it has none of its own."""
    if algorithm not in ALGORITHMS:
        raise ValueError(f"settings: algorithm is {algorithm!r}, expected one of {', '.join(ALGORITHMS)}")
    of_their_own = {"shac": GRADIENTS, "sac": REPLAYED}
    return of_their_own.get(algorithm) or TASKS.get(task, Settings())
