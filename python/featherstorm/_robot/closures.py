"""Kinematic loops and coupled joints, which `load` or `RobotBuilder.build` adds to a robot's tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..typing import Matrix, Vector

IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Loop:
    """A joint that closes a kinematic loop.

    The tree's joints stay as they are; `fd_loops`, `loop_step` and the other operations on loops keep the loop closed.

    predecessor, successor   links or frames that it joins; "" is the world
    type        the free motions, by the frames' z axis: "fixed" none, "revolute" the rotation about z, "prismatic" the
                translation along z, "helical" both with `parameter` [m/rad] between them, "rack_pinion" a pinion of
                radius `parameter` [m] that rolls along the predecessor's x, "cylindrical" rotation and translation,
                "universal" rotations about the predecessor's z and the successor's x, "planar" the x-y plane and the
                rotation about z, "spherical" all rotations, "point_on_line" all rotations and the translation along the
                predecessor's z
    at          (3,) [m] the joint in the predecessor, its link's axes
    rotation    (3, 3) the joint's axes in the predecessor, as columns
    on          (3,) [m] the joint in the successor, its link's axes
    on_rotation (3, 3) the joint's axes in the successor, as columns
    name        for messages

    Errors, when added to a robot: ValueError for a link that does not exist, an unknown type, one body on both sides,
    or a matrix that is not a rotation. Rigid Body Dynamics Algorithms, section 8.3 and Table 8.1.
    """

    predecessor: str
    successor: str
    type: str = "revolute"
    at: Vector = (0.0, 0.0, 0.0)
    on: Vector = (0.0, 0.0, 0.0)
    rotation: Matrix = IDENTITY
    on_rotation: Matrix = IDENTITY
    parameter: float = 0.0
    name: str = "loop"


@dataclass(frozen=True)
class Coupling:
    """A joint whose position follows others: q = sum ratio * q_driver + offset. Gears, mimic joints, differentials.

    joint     name of a joint of one freedom
    drivers   {name of a joint of one freedom: ratio}; drivers may not be coupled themselves
    offset    [rad | m]

    Operations on coupled joints (`fd_coupled`, `coupled_step`) take u (B, nu), the velocities of `model.u_names`.
    Errors, when added to a robot: ValueError. Rigid Body Dynamics Algorithms, section 9.6.
    """

    joint: str
    drivers: dict[str, float] = field(default_factory=dict)
    offset: float = 0.0
