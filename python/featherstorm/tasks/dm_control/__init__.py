"""Tasks of dm_control's suite (Tassa et al. 2018, arXiv:1801.00690), from its own robot files.

From the suite's states and actions, each task gives the suite's next state, observation and reward.
docs/tasks_dm_control.md gives the accuracy and the differences.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .classic import Acrobot, BallInCup, Cartpole, Pendulum, PointMass, Reacher
from .humanoid import Humanoid
from .planar import Cheetah, FingerSpin, FingerTurn, Hopper, Walker
from .quadruped import Quadruped

if TYPE_CHECKING:
    from collections.abc import Callable

    from .suite import SuiteTask

TASKS: dict[str, Callable[..., SuiteTask]] = {
    "dm_control/acrobot-swingup": partial(Acrobot, sparse=False),
    "dm_control/acrobot-swingup_sparse": partial(Acrobot, sparse=True),
    "dm_control/ball_in_cup-catch": BallInCup,
    "dm_control/cartpole-balance": partial(Cartpole, swing_up=False, sparse=False),
    "dm_control/cartpole-balance_sparse": partial(Cartpole, swing_up=False, sparse=True),
    "dm_control/cartpole-swingup": partial(Cartpole, swing_up=True, sparse=False),
    "dm_control/cartpole-swingup_sparse": partial(Cartpole, swing_up=True, sparse=True),
    "dm_control/cheetah-run": Cheetah,
    "dm_control/finger-spin": FingerSpin,
    "dm_control/finger-turn_easy": partial(FingerTurn, radius=0.07),
    "dm_control/finger-turn_hard": partial(FingerTurn, radius=0.03),
    "dm_control/hopper-hop": partial(Hopper, hopping=True),
    "dm_control/hopper-stand": partial(Hopper, hopping=False),
    "dm_control/humanoid-run": partial(Humanoid, speed=10.0),
    "dm_control/humanoid-stand": partial(Humanoid, speed=0.0),
    "dm_control/humanoid-walk": partial(Humanoid, speed=1.0),
    "dm_control/pendulum-swingup": Pendulum,
    "dm_control/point_mass-easy": partial(PointMass, random_gains=False),
    "dm_control/point_mass-hard": partial(PointMass, random_gains=True),
    "dm_control/quadruped-run": partial(Quadruped, speed=5.0),
    "dm_control/quadruped-walk": partial(Quadruped, speed=0.5),
    "dm_control/reacher-easy": partial(Reacher, radius=0.05),
    "dm_control/reacher-hard": partial(Reacher, radius=0.015),
    "dm_control/walker-run": partial(Walker, speed=8.0),
    "dm_control/walker-stand": partial(Walker, speed=0.0),
    "dm_control/walker-walk": partial(Walker, speed=1.0),
}
"""name -> maker of the task; all makers take SuiteTask's arguments."""
