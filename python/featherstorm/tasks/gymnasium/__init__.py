"""Gymnasium's MuJoCo environments of version 5, with their names, arguments and numbers.

Source: gymnasium/envs/mujoco/*_v5.py.
"""

from .ant import Ant
from .humanoid import Humanoid, HumanoidStandup
from .pendulums import InvertedDoublePendulum, InvertedPendulum
from .planar import HalfCheetah, Hopper, Swimmer, Walker2d
from .reaching import Pusher, Reacher

TASKS = {
    f"{task.__name__}-v5": task
    for task in (
        Ant, HalfCheetah, Hopper, Humanoid, HumanoidStandup, InvertedDoublePendulum, InvertedPendulum, Pusher, Reacher, Swimmer, Walker2d,
    )
}  # fmt: skip
