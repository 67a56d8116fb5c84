"""Names of types in annotations; the package itself reads them only to be checked."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt


class SupportsDLPack(Protocol):
    """An array of PyTorch, JAX, CuPy or another library that hands its memory on by DLPack."""

    def __dlpack__(self, *arguments: Any, **options: Any) -> Any: ...


ArrayLike: TypeAlias = npt.ArrayLike | SupportsDLPack  # what a call takes
Array: TypeAlias = Any  # of the library that the first array of a call is of; what that is, no checker can say
Floats: TypeAlias = npt.NDArray[np.floating[Any]]
Frame: TypeAlias = str | int  # by name or index
Names: TypeAlias = str | Iterable[str]
Numbers: TypeAlias = float | Sequence[float] | npt.NDArray[Any]  # the same for all instances
Vector: TypeAlias = Sequence[float] | npt.NDArray[Any]
Matrix: TypeAlias = Sequence[Sequence[float]] | npt.NDArray[Any]
