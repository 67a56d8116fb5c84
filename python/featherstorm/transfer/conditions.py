"""Conditions of a comparison, equal in both engines, and tasks prepared for them."""

from __future__ import annotations

import copy
import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._world.values import compiled

if TYPE_CHECKING:
    from ..environment.env import Env
    from ..model import Model

    Commands = tuple[tuple[float, ...], ...]

HELD = "transfer_command"  # row of the memory with the fixed command
MASSES = ("body_mass", "body_inertia")
FREE, SLIDE = 0, 2  # mjtJoint
PUSH_TIME = 2.0  # between pushes [s]


@dataclasses.dataclass(frozen=True)
class Conditions:
    """Conditions under which a policy runs.

    seed       seed of all random numbers; episode k is the first one of environment k
    commands   for tasks with commands: episode k keeps command k modulo their number. None: as the task draws them
    mass, friction   factors of the task's masses (and inertias) and frictions
    latency    delay of actions in control steps; until then the first action is used
    push       added to the root's horizontal velocity every 2 s, in random directions [m/s]
    """

    seed: int = 0
    commands: Commands | None = None
    mass: float = 1.0
    friction: float = 1.0
    latency: int = 0
    push: float = 0.0

    @property
    def scaled(self) -> bool:
        return self.mass != 1 or self.friction != 1

    def command(self, episode: int) -> tuple[float, ...] | None:
        return self.commands[episode % len(self.commands)] if self.commands else None

    def factors(self, names: Any) -> dict[str, Any]:
        """Return the factors of the task's parameters, by name."""
        found: dict[str, Any] = dict.fromkeys(MASSES, self.mass) if self.mass != 1 else {}
        if self.friction != 1:
            found["geom_friction"] = np.array([self.friction, 1, 1])
            found["pair_friction"] = np.array([self.friction, self.friction, 1, 1, 1])
        return {name: factor for name, factor in found.items() if name in names}

    def push_of(self, episode: int, step: int, dt: float, axes: int) -> Any:
        """Return the velocity (axes,) that a push adds to the root before a control step; None without a push."""
        every = max(round(PUSH_TIME / dt), 1)
        if not self.push or not axes or step == 0 or step % every:
            return None
        angle = np.random.default_rng((self.seed % 2**64, episode, step)).uniform(0, 2 * math.pi)
        if axes == 1:
            return np.array([math.copysign(self.push, math.cos(angle))])
        return self.push * np.array([math.cos(angle), math.sin(angle)])


def prepared(task: Env, scaled: bool, held: bool) -> Env:
    """Return a copy of the task, prepared for conditions.

    scaled   masses and frictions become parameters
    held     the command stays fixed during an episode

    Errors: ValueError if `held` and the task has no commands.
    """
    twin: Any = task
    if scaled:
        model = task.model()
        own = (task.parameters,) if isinstance(task.parameters, str) else tuple(task.parameters)
        frictions = ("geom_friction", "pair_friction") if compiled(model).npair else ("geom_friction",)
        twin = copy.copy(task)
        twin.model = lambda: model
        twin.parameters = tuple(dict.fromkeys((*own, *MASSES, *frictions)))
    if held:
        if "command" not in task.memory or not hasattr(task, "next_command"):
            raise ValueError(
                f"--commands: {type(task).__name__} has no commands, expected a task that follows a velocity"
            )
        twin = copy.copy(twin)
        hold(twin)
    return twin


def hold(twin: Any) -> None:
    """Replace the task's commands by the one in the row HELD."""
    size = twin.memory["command"]
    kept = (twin.kept,) if isinstance(twin.kept, str) else tuple(twin.kept)
    inner = twin.reset
    twin.memory, twin.kept = {**twin.memory, HELD: size}, (*kept, HELD)

    def next_command(rng: Any, command: Any = None) -> Any:
        return np.zeros(size) if command is None else command

    def reset(m: Any, rng: Any) -> Any:
        found = inner(m, rng)
        m.command = getattr(m, HELD)
        return found

    twin.next_command, twin.reset = next_command, reset


def check_commands(task: Env, commands: Commands | None) -> None:
    """Raise ValueError for commands whose size is not the task's."""
    size = int(np.prod(task.memory["command"])) if commands else 0
    for command in commands or ():
        if len(command) != size:
            raise ValueError(f"--commands: {','.join(map(str, command))} has {len(command)} numbers, expected {size}")


def root_axes(model: Model) -> int:
    """Return the number of horizontal root velocities: 2 for a floating root, 1 for one that slides along x, else 0."""
    m = compiled(model)
    if m.njnt and int(m.jnt_type[0]) == FREE:
        return 2
    return int(m.njnt > 0 and int(m.jnt_type[0]) == SLIDE and abs(float(m.jnt_axis[0][0])) > 0.99)
