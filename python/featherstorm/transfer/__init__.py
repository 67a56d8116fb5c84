"""Policies in MuJoCo: environments on MuJoCo's own steps, and comparison of a policy's returns in both engines."""

try:
    import mujoco  # noqa: F401
except ImportError as error:
    raise ImportError("featherstorm.transfer needs MuJoCo: python -m pip install 'mujoco>=4'") from error

from .env import MujocoEnv

__all__ = ["MujocoEnv"]
