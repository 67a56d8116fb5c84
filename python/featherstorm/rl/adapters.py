"""The adapters: an Env or an EnvBatch in, an environment of a library out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..environment.batch import EnvBatch
    from ..environment.env import Env
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
    """Environments as a gymnasium.vector.VectorEnv, of numpy's arrays on the CPU.

    num_envs      of an Env; an EnvBatch has its own
    autoreset     "same_step" (the default), "next_step", "disabled", or the member of gymnasium.vector.AutoresetMode
    copy          whether observations are the user's own. False: views of the engine's memory, valid until the step after the next
    render_mode   "rgb_array": render() gives an image (height, width, 3) of each environment, drawn when it is looked at; `camera` as for
                  featherstorm.viewing.Frames
    options       those of Env.batch: seed, device, dtype, threads
    Errors: ImportError where gymnasium is missing; TypeError, ValueError for arguments that do not go together.
    """
    require("gymnasium", "gymnasium", "rl")
    from .gymnasium_env import GymnasiumEnv, mode_name

    batch = batch_of("gymnasium", env, num_envs, mode_name(autoreset), options, "numpy")
    return GymnasiumEnv(batch, copy, render_mode, (width, height), camera)


def stable_baselines3(
    env: Env | EnvBatch, num_envs: int | None = None, *, render_mode: str | None = None, **options: Any
) -> StableBaselines3Env:
    """Environments as a VecEnv of stable-baselines3, of numpy's arrays on the CPU.

    infos of environments whose episode ended have "terminal_observation", "TimeLimit.truncated" and "episode" (r, l, t), as
    Monitor gives them; those of others are empty.
    num_envs, options   as for `gymnasium`
    Errors: ImportError where stable-baselines3 is missing; ValueError for an EnvBatch whose autoreset is not "same_step".
    """
    require("stable_baselines3", "stable-baselines3", "sb3")
    from .stable_baselines3_env import StableBaselines3Env

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
    """Environments as a VecEnv of rsl_rl 5: TensorDicts of torch's views of the engine's memory, without a copy.

    bootstrap   V: observations (k, ...) -> values (k,) or (k, 1). Where the time limit ends an episode the reward is then
                r + gamma V(last observation), and extras["time_outs"] is zero, for the algorithm adds gamma V(observation acted from) there.
                None: the algorithm's way
    gamma       the algorithm's discount
    cfg         kept as an attribute, for the runner to log
    num_envs, options   as for `gymnasium`
    Errors: ImportError where rsl_rl is missing; ValueError for an EnvBatch whose autoreset is not "same_step".
    """
    require("rsl_rl", "rsl-rl-lib", "rsl")
    from .rsl_rl_env import RslRlEnv

    return RslRlEnv(batch_of("rsl_rl", env, num_envs, "same_step", options, "torch"), bootstrap, gamma, cfg)


def require(module: str, package: str, extra: str) -> None:
    """ImportError with what to install where a library is missing."""
    import importlib.util

    if importlib.util.find_spec(module) is None:
        raise ImportError(
            f"{package} is not installed: python -m pip install {package}, or 'featherstorm[{extra}]' with this package"
        )


def batch_of(
    name: str, env: Env | EnvBatch, num_envs: int | None, autoreset: str | None, options: dict[str, Any], arrays: str
) -> EnvBatch:
    """The environments that an adapter is given, or makes of a task. arrays: what it needs."""
    from ..environment.batch import EnvBatch
    from ..environment.env import Env
    from ..memory.host_libraries import named_library

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
