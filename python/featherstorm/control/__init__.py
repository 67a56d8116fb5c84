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
    from .clock import Receding, drive_live
    from .humanoid import HumanoidStandUp
    from .jumps import Crate, Jumps
    from .loop import Loop, drive, film, watch
    from .push_box import PushBox
    from .quadruped import QuadrupedTask, StandUp
    from .swing_up import Acrobot, CartPole
    from .task import Plant, Run, Task
    from .trot import Climb, Trot
else:
    __getattr__ = at_first_use(
        __name__,
        {
            "biped": "G1Stand G1Step G1Task G1Walk", "clock": "Receding drive_live", "humanoid": "HumanoidStandUp",
            "jumps": "Crate Jumps", "loop": "Loop drive film watch", "push_box": "PushBox", "quadruped": "QuadrupedTask StandUp",
            "swing_up": "Acrobot CartPole", "task": "Plant Run Task", "trot": "Climb Trot",
        },
        ("mujoco", "featherstorm.control needs MuJoCo: python -m pip install 'mujoco>=4'"),
    )  # fmt: skip
