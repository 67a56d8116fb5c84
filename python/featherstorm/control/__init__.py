"""featherstorm.control: robots in MuJoCo C that a planner of this library controls in closed loop.

    from featherstorm.control import Trot, drive

    run = drive(Trot(speed=0.8), seconds=8.0)
    print(run.fell, run.error, run.plan_times)

The planner has a model of its own; the robot is MuJoCo's, with other contacts, friction or masses. See docs/control.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._optional import at_first_use

__all__ = ["Plant", "Receding", "Run", "Trot", "drive", "drive_live", "film"]

if TYPE_CHECKING:
    from .clock import drive_live
    from .loop import Run, drive
    from .plant import Plant
    from .receding import Receding
    from .trot import Trot
    from .video import film
else:
    __getattr__ = at_first_use(
        __name__,
        {
            "Plant": "plant",
            "Receding": "receding",
            "Run": "loop",
            "Trot": "trot",
            "drive": "loop",
            "drive_live": "clock",
            "film": "video",
        },
        ("mujoco", "featherstorm.control needs MuJoCo: python -m pip install 'mujoco>=4'"),
    )
