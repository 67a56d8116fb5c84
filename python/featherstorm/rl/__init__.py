"""featherstorm.rl: environments for learning libraries.

    env = fs.rl.gymnasium(Upright(), num_envs=64)           # a gymnasium.vector.VectorEnv, which skrl and TorchRL take
    env = fs.rl.stable_baselines3(Upright(), num_envs=64)   # a VecEnv of stable-baselines3
    env = fs.rl.rsl_rl(Upright(), num_envs=4096)            # a VecEnv of rsl_rl

Each function takes an Env and makes its EnvBatch, or takes an EnvBatch. It imports the library when called. Importing
this module registers the tasks of featherstorm.tasks with gymnasium if gymnasium is installed:
gymnasium.make_vec("featherstorm/Ant-v5", num_envs=64). See docs/learning_libraries.md.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from .adapters import gymnasium, require, rsl_rl, stable_baselines3

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..environment.env import Env

__all__ = ["gymnasium", "register", "rsl_rl", "stable_baselines3"]


def register(id: str, make: Callable[..., Env]) -> None:
    """Makes gymnasium.make_vec(id, num_envs=..., **arguments) give the environments of make(**arguments).

    Arguments of featherstorm.rl.gymnasium (autoreset, copy, render_mode, seed, dtype, threads and others) go there, and
    max_episode_steps to Env.steps.
    """
    require("gymnasium", "gymnasium", "rl")
    from .registration import register as register_task  # here: it imports gymnasium

    register_task(id, make)


try:
    importlib.import_module("gymnasium")
except ImportError:
    pass
else:
    from .registration import register_tasks

    register_tasks()
