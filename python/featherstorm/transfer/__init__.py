"""Policies in MuJoCo: environments on MuJoCo's own steps, and comparison of a policy's returns in both engines."""

from typing import TYPE_CHECKING

from .._optional import at_first_use

__all__ = ["MujocoEnv"]

if TYPE_CHECKING:
    from . import comparison as comparison, pool as pool, robustness as robustness, video as video
    from .env import MujocoEnv
else:
    __getattr__ = at_first_use(
        __name__,
        {"env": "MujocoEnv", **dict.fromkeys(("comparison", "pool", "robustness", "video"), "")},
        ("mujoco", "featherstorm.transfer needs MuJoCo: python -m pip install 'mujoco>=4'"),
    )
