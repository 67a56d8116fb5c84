"""Types for annotations; at run time the package uses them for nothing else."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt


class SupportsDLPack(Protocol):
    """An array of PyTorch, JAX, CuPy or another library that shares its memory by DLPack."""

    def __dlpack__(self, *arguments: Any, **options: Any) -> Any: ...


ArrayLike: TypeAlias = npt.ArrayLike | SupportsDLPack  # an argument of a call
Array: TypeAlias = Any  # an array of the library of a call's first array, which no type checker can know
Floats: TypeAlias = npt.NDArray[np.floating[Any]]
Frame: TypeAlias = str | int  # by name or index
Names: TypeAlias = str | Iterable[str]
Numbers: TypeAlias = float | Sequence[float] | npt.NDArray[Any]  # the same for all instances
Vector: TypeAlias = Sequence[float] | npt.NDArray[Any]
Matrix: TypeAlias = Sequence[Sequence[float]] | npt.NDArray[Any]
