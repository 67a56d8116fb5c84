"""Videos of a policy in MuJoCo, by MuJoCo's renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import viewing
from .episodes import in_mujoco
from .scene import OneScene, along

if TYPE_CHECKING:
    from .conditions import Conditions
    from .env import MujocoEnv
    from .episodes import Episode, Policy


def film(
    path: str,
    env: MujocoEnv,
    policy: Policy,
    conditions: Conditions,
    number: int = 0,
    size: tuple[int, int] = (640, 480),
    fps: int = 30,
    camera: str | None = None,
    seconds: float | None = None,
) -> Episode:
    """Write a video of an episode of environment `number`.

    seconds   length of the video. None: the whole episode
    camera    a camera of the model. None: one that follows the robot

    Errors: those of viewing.Video, such as ImportError with installation advice if OpenGL is missing.
    """
    env.reset(seed=conditions.seed, env=number)
    with viewing.Video(path, OneScene(env), None, fps, *size, camera=camera or along(env)) as video:
        return in_mujoco(
            env, policy, conditions, number, lambda e: video.until(min(e.steps * e.dt, seconds or float("inf")))
        )
