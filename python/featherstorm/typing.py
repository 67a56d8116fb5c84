"""Types for annotations: arrays, and the numbers that steps take by keyword.

`StepNumbers` and the classes above it are the only list of these numbers: signatures, completion, documentation and the
check of names follow from it.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Protocol, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt


class SupportsDLPack(Protocol):
    """An array of PyTorch, JAX, CuPy or another library that shares its memory by DLPack."""

    def __dlpack__(self, *arguments: Any, **options: Any) -> Any: ...


ArrayLike: TypeAlias = npt.ArrayLike | SupportsDLPack  # an argument of a call
Array: TypeAlias = Any  # an array of the library of a call's first array, which no type checker can know
Floats: TypeAlias = npt.NDArray[np.floating[Any]]
NumpyArray: TypeAlias = npt.NDArray[Any]
Doubles: TypeAlias = npt.NDArray[np.float64]
Frame: TypeAlias = str | int  # by name or index
Names: TypeAlias = str | Iterable[str]
Pairs: TypeAlias = str | Sequence[tuple[str | int, str | int]]  # of geoms or bodies that may touch, or "floor"
Numbers: TypeAlias = float | Sequence[float] | npt.NDArray[Any]  # the same for all instances
Vector: TypeAlias = Sequence[float] | npt.NDArray[Any]
Matrix: TypeAlias = Sequence[Sequence[float]] | npt.NDArray[Any]


class DriveNumbers(TypedDict, total=False):
    """Numbers of every step of a robot; None is the default. An array has a number for each coordinate."""

    kp: Annotated["ArrayLike | None", "(nv,) [N m/rad | N/m] stiffness of the drives, towards q_target; default 0"]
    kd: Annotated["ArrayLike | None", "(nv,) [N m s/rad | N s/m] damping of the drives, implicit; default 0"]
    limit_stiffness: Annotated["float | None", "[N m/rad | N/m] stiffness of the stops at position limits; default 0"]
    limit_damping: Annotated["float | None", "[N m s/rad | N s/m] damping of these stops; default 0"]
    friction_velocity: Annotated[
        "float | None", "[rad/s | m/s] velocity at which dry friction has 71 % of its force, not 0; default 0.01"
    ]


class ContactNumbers(DriveNumbers, total=False):
    """Numbers of `contact_step`."""

    erp: Annotated["float | None", "0 to 1, part of a penetration that is removed in a substep; default 0.2"]
    slop: Annotated["float | None", "[m] penetration that is not corrected; default 0.001"]
    max_push: Annotated["float | None", "[m/s] largest velocity that removes a penetration; default 1"]
    rebound: Annotated["float | None", "[m/s] slower rebounds are suppressed; default 0.1"]
    compliance: Annotated[
        "float | None", "[1/kg] added to the diagonal of the Delassus matrix, softens the normals; default 0"
    ]


class LoopNumbers(DriveNumbers, total=False):
    """Numbers of `loop_step`."""

    rate: Annotated[
        "float | None", "[1/s] with which open loops close, stable below 1 / substep time; default 0.1 / substep time"
    ]
    tolerance: Annotated[
        "float | None", "pivots below this share of the largest belong to dependent constraints; default 1e-05"
    ]


class StepNumbers(ContactNumbers, LoopNumbers, total=False):
    """Numbers of `step`, `Simulation` and `Rollout`.

    Numbers of contacts or loops are refused for robots that are stepped without these.
    """


class Stiffness(TypedDict):
    """Numbers of `soft_contact_step` that have no default. An array has a number for each contact."""

    K_n: Annotated["ArrayLike", "(nc,) [N/m] normal stiffness of the contacts"]
    D_n: Annotated["ArrayLike", "(nc,) [N s/m] normal damping of the contacts"]
    K_t: Annotated["ArrayLike", "(nc,) [N/m] tangential stiffness of the contacts"]
    D_t: Annotated["ArrayLike", "(nc,) [N s/m] tangential damping of the contacts"]


class SoftContactNumbers(Stiffness, DriveNumbers, total=False):
    """Numbers of `soft_contact_step`."""

    rolling: Annotated[
        "ArrayLike | None", "(nc,) [s/m] resistance to the motion of the contact point by normal force; default 0"
    ]
