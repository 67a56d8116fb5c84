"""Adapters from an Env or an EnvBatch to the environment classes of learning libraries."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from .._memory.host_libraries import named_library
from ..environment.batch import EnvBatch
from ..environment.env import Env

if TYPE_CHECKING:
    from collections.abc import Callable

    from .gymnasium_env import GymnasiumEnv
    from .rsl_rl_env import RslRlEnv
    from .stable_baselines3_env import StableBaselines3Env


def gymnasium(
    env: Env | EnvBatch,
    num_envs: int | None = None,
    *,
    autoreset: object = None,
    copy: bool = True,
    render_mode: str | None = None,
    width: int = 480,
    height: int = 480,
    camera: Any = None,
    **options: Any,
) -> GymnasiumEnv:
    """Return environments as a gymnasium.vector.VectorEnv, with numpy arrays on the CPU.

    num_envs      number of environments, for an Env; an EnvBatch has its own
    autoreset     "same_step" (the default), "next_step", "disabled", or the member of gymnasium.vector.AutoresetMode
    copy          True: the caller owns the observations. False: they are views of the engine's memory, valid until the
                  step after the next
    render_mode   "rgb_array": render() returns an image (height, width, 3) of each environment, drawn at first access
    camera        as for featherstorm.viewing.Frames
    options       as for Env.batch: seed, first, device, dtype, threads
    Errors: ImportError if gymnasium is missing; TypeError, ValueError for inconsistent arguments.
    """
    require("gymnasium", "gymnasium", "rl")
    from .gymnasium_env import GymnasiumEnv, mode_name  # here: it derives from a class of gymnasium

    batch = batch_of("gymnasium", env, num_envs, mode_name(autoreset), options, "numpy")
    return GymnasiumEnv(batch, copy, render_mode, (width, height), camera)


def stable_baselines3(
    env: Env | EnvBatch, num_envs: int | None = None, *, render_mode: str | None = None, **options: Any
) -> StableBaselines3Env:
    """Return environments as a VecEnv of stable-baselines3, with numpy arrays on the CPU.

    If an episode ended, infos has "terminal_observation", "TimeLimit.truncated" and "episode" (r, l, t), as from
    Monitor. Otherwise it is empty.
    num_envs, options   as for `gymnasium`
    Errors: ImportError if stable-baselines3 is missing; ValueError for an EnvBatch whose autoreset is not "same_step".
    """
    require("stable_baselines3", "stable-baselines3", "sb3")
    from .stable_baselines3_env import StableBaselines3Env  # here: it derives from a class of stable-baselines3

    return StableBaselines3Env(batch_of("stable_baselines3", env, num_envs, "same_step", options, "numpy"), render_mode)


def rsl_rl(
    env: Env | EnvBatch,
    num_envs: int | None = None,
    *,
    bootstrap: Callable[[Any], Any] | None = None,
    gamma: float = 0.99,
    cfg: Any = None,
    **options: Any,
) -> RslRlEnv:
    """Return environments as a VecEnv of rsl_rl 5.

    TensorDicts contain torch views of the engine's memory, without a copy.

    bootstrap   V: observations (k, ...) -> values (k,) or (k, 1). If the time limit ends an episode, the reward is then
                r + gamma V(last observation), and extras["time_outs"] is zero, since the algorithm would add
                gamma V(observation acted on). None: the algorithm's own method
    gamma       the algorithm's discount
    cfg         attribute that the runner logs
    num_envs, options   as for `gymnasium`
    Errors: ImportError if rsl_rl is missing; ValueError for an EnvBatch whose autoreset is not "same_step".
    """
    require("rsl_rl", "rsl-rl-lib", "rsl")
    from .rsl_rl_env import RslRlEnv  # here: it derives from a class of rsl_rl

    return RslRlEnv(batch_of("rsl_rl", env, num_envs, "same_step", options, "torch"), bootstrap, gamma, cfg)


def require(module: str, package: str, extra: str) -> None:
    """Raise ImportError with installation advice if a library is missing."""
    if importlib.util.find_spec(module) is None:
        raise ImportError(
            f"{package} is not installed: python -m pip install {package}, or 'featherstorm[{extra}]' with this package"
        )


def batch_of(
    name: str, env: Env | EnvBatch, num_envs: int | None, autoreset: str | None, options: dict[str, Any], arrays: str
) -> EnvBatch:
    """Return the given EnvBatch, or make one of a task. arrays: array type that the adapter needs."""
    if isinstance(env, EnvBatch):
        if num_envs not in (None, env.num_envs):
            raise ValueError(f"{name}: num_envs is {num_envs}, the batch has {env.num_envs}")
        if autoreset not in (None, env.autoreset):
            raise ValueError(f"{name}: the batch was made with autoreset={env.autoreset!r}, expected {autoreset!r}")
        if env.given is not None and env.given is not named_library(arrays, name):
            raise ValueError(f"{name}: the batch was made with other arrays, expected arrays={arrays!r} or None")
        if options:
            raise ValueError(
                f"{name}: {next(iter(options))} is given with a batch, which has been made: pass it to Env.batch"
            )
        batch = env
    elif not isinstance(env, Env):
        raise TypeError(f"{name}: env is a {type(env).__name__}, expected a featherstorm.Env or its batch")
    elif num_envs is None:
        raise ValueError(f"{name}: num_envs is missing, expected how many environments of {type(env).__name__}")
    else:
        batch = env.batch(num_envs, autoreset=autoreset or "same_step", arrays=arrays, **options)
    if arrays == "numpy" and batch.device != "cpu":
        raise ValueError(f"{name}: the environments are on {batch.device}, expected the CPU, where numpy's arrays are")
    return batch
