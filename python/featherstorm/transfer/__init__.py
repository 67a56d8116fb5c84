"""Policies in MuJoCo: an environment's functions about MuJoCo's own steps, and what a policy earns there beside what it earns here."""

try:
    import mujoco  # noqa: F401
except ImportError as error:
    raise ImportError("featherstorm.transfer needs MuJoCo: python -m pip install 'mujoco>=4'") from error

from .env import MujocoEnv

__all__ = ["MujocoEnv"]
