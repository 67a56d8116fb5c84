"""Registration of environments with gymnasium."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import gymnasium
from gymnasium.envs.registration import registry

from ..tasks import NAMES, make
from .adapters import gymnasium as as_gymnasium

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..environment.env import Env
    from .gymnasium_env import GymnasiumEnv

SPACE = "featherstorm"
OPTIONS = (*list(inspect.signature(as_gymnasium).parameters)[2:-1], "seed", "first", "device", "dtype", "threads")


class Maker:
    """Entry point for gymnasium.make_vec. fixed: constant arguments of the task."""

    def __init__(self, make: Callable[..., Env], *fixed: Any) -> None:
        self.make, self.fixed = make, fixed

    def __call__(self, num_envs: int = 1, max_episode_steps: int | None = None, **arguments: Any) -> GymnasiumEnv:
        options = {name: arguments.pop(name) for name in OPTIONS if name in arguments}
        task = self.make(*self.fixed, **arguments)
        if max_episode_steps is not None:
            task.steps = max_episode_steps
        return as_gymnasium(task, num_envs, **options)


def register(id: str, make: Callable[..., Env], *fixed: Any) -> None:
    gymnasium.register(id, vector_entry_point=Maker(make, *fixed))


def task_id(name: str) -> str:
    """Return the name for gymnasium, with one slash: featherstorm/dm_control.walker-walk for dm_control/walker-walk."""
    return f"{SPACE}/{name.replace('/', '.')}"


def register_tasks() -> None:
    """Register all names of featherstorm.tasks that are not registered yet."""
    for name in NAMES:
        if task_id(name) not in registry:
            register(task_id(name), make, name)
