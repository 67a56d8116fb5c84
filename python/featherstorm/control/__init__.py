"""featherstorm.control: robots in MuJoCo C that a planner of this library controls in closed loop.

    from featherstorm.control import Trot, drive

    run = drive(Trot(speed=0.8), seconds=8.0)
    print(run.fell, run.error, run.plan_times)

The planner has a model of its own; the robot is MuJoCo's, with other contacts, friction or masses. See docs/control.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._optional import at_first_use

__all__ = [
    "Acrobot", "CartPole", "Climb", "Crate", "G1Stand", "G1Step", "G1Task", "G1Walk", "HumanoidStandUp", "Jumps", "Loop", "Plant", "PushBox", "QuadrupedTask", "Receding", "Run", "StandUp", "Task", "Trot", "drive", "drive_live",
    "film", "watch",
]  # fmt: skip

if TYPE_CHECKING:
    from .biped import G1Stand, G1Step, G1Task, G1Walk
    from .clock import drive_live
    from .humanoid import HumanoidStandUp
    from .jumps import Crate, Jumps
    from .loop import Loop, drive
    from .plant import Plant
    from .push_box import PushBox
    from .quadruped import QuadrupedTask
    from .receding import Receding
    from .run import Run
    from .stand_up import StandUp
    from .swing_up import Acrobot, CartPole
    from .task import Task
    from .trot import Climb, Trot
    from .video import film, watch
else:
    __getattr__ = at_first_use(
        __name__,
        {
            "Acrobot": "swing_up",
            "CartPole": "swing_up",
            "Climb": "trot",
            "Crate": "jumps",
            "Jumps": "jumps",
            "G1Stand": "biped",
            "G1Step": "biped",
            "G1Task": "biped",
            "G1Walk": "biped",
            "HumanoidStandUp": "humanoid",
            "Loop": "loop",
            "Plant": "plant",
            "PushBox": "push_box",
            "QuadrupedTask": "quadruped",
            "Receding": "receding",
            "Run": "run",
            "StandUp": "stand_up",
            "Task": "task",
            "Trot": "trot",
            "drive": "loop",
            "drive_live": "clock",
            "film": "video",
            "watch": "video",
        },
        ("mujoco", "featherstorm.control needs MuJoCo: python -m pip install 'mujoco>=4'"),
    )
