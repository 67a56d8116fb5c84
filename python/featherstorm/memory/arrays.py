"""Arrays in and out: arrays of any library become numpy views of the same memory, results go back to that library.

An argument is (n,) for one instance or (B, n) for a batch; where the others are batches, (n,) and (1, n) stand for all
instances (no copy: a stride of zero). Arrays that are read row by row are copied by the engine in small blocks.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from ..typing import Array

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
CPU_DEVICES = (1, 3)  # DLPack: kDLCPU, kDLCUDAHost


def library_of(x: Array) -> str | None:
    """'numpy', 'torch', 'jax', 'other' for any array with DLPack, or None for lists and numbers."""
    if isinstance(x, (np.ndarray, np.generic)):
        return "numpy"
    root = type(x).__module__.partition(".")[0]
    if root == "torch":
        return "torch"
    if root in ("jax", "jaxlib"):
        return "jax"
    return "other" if hasattr(x, "__dlpack__") or hasattr(x, "__array__") else None


def to_numpy(x: Array, op: str, name: str, list_dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
    """A numpy view of an array on the CPU; op and name are for messages ("rnea: q ...")."""
    array = x if type(x) is np.ndarray else convert(x, f"{op}: {name}", list_dtype)
    if array.dtype not in FLOATS:
        raise TypeError(f"{op}: {name} is {array.dtype}, expected float32 or float64")
    size = array.itemsize
    if not array.flags.aligned or any(s % size for s in array.strides):
        array = array.copy()
    return array


def convert(x: Array, what: str, list_dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    library = library_of(x)
    if library == "numpy":
        return np.asarray(x)
    if library == "torch":
        return from_torch(x, what)
    if library == "jax":
        return from_jax(x, what)
    if library == "other":
        return from_dlpack(x, what)
    if x is None:
        raise TypeError(f"{what} is None, expected an array")
    try:
        return np.asarray(x, dtype=list_dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} is a {type(x).__name__} that is no array of numbers: {error}") from None


def from_torch(x: Array, what: str) -> npt.NDArray[Any]:
    if x.device.type != "cpu":
        raise not_on_cpu(what, x.device)
    if x.requires_grad:
        raise TypeError(
            f"{what} requires a gradient: call the function of featherstorm.torch, or pass it with .detach()"
        )
    if str(x.dtype) not in ("torch.float32", "torch.float64"):
        raise TypeError(f"{what} is {x.dtype}, expected torch.float32 or torch.float64")
    return x.numpy()


def from_jax(x: Array, what: str) -> npt.NDArray[Any]:
    import jax

    if isinstance(x, jax.core.Tracer):
        raise TypeError(
            f"{what} is a value under jax.jit, grad or vmap: call featherstorm outside of it, "
            "or the function of featherstorm.jax"
        )
    platforms = {device.platform for device in x.devices()}
    if platforms != {"cpu"}:
        raise not_on_cpu(what, ", ".join(sorted(platforms)))
    return np.asarray(x)


def from_dlpack(x: Array, what: str) -> npt.NDArray[Any]:
    if hasattr(x, "__dlpack_device__") and int(x.__dlpack_device__()[0]) not in CPU_DEVICES:
        raise not_on_cpu(what, f"DLPack device {x.__dlpack_device__()}")
    try:
        return np.from_dlpack(x) if hasattr(x, "__dlpack__") else np.asarray(x)
    except (BufferError, RuntimeError):
        return np.asarray(x)


def not_on_cpu(what: str, device: object) -> ValueError:
    return ValueError(f"{what} lies on {device}, expected the CPU: move it there")


def from_numpy(array: npt.NDArray[Any], like: Array) -> Array:
    """A result for a user whose first array was `like`; numpy, PyTorch and most others get a view, JAX a copy."""
    library = library_of(like)
    if library == "torch":
        return sys.modules["torch"].from_numpy(array)
    if library == "jax":
        import jax.numpy

        return jax.numpy.asarray(array)
    if library == "other" and hasattr(like, "__array_namespace__"):
        return like.__array_namespace__().from_dlpack(array)
    return array


def flat(op: str, name: str, n: int, tail: tuple[int, ...], array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of its public shape as (n,) or (B, n). Raises ValueError for any other."""
    k = array.ndim - len(tail)
    if k in (0, 1) and array.shape[k:] == tail:
        return array.reshape(*array.shape[:k], n)
    batch = array.shape[:1] if k == 1 or array.ndim == 2 else () if array.ndim == 1 else ("batch",)
    raise shape_error(op, name, array.shape, (*batch, *tail))


def shape_error(op: str, name: str, got: Sequence[int], expected: Sequence[int | str]) -> ValueError:
    shape = ", ".join(str(n) for n in expected) + ("," if len(expected) == 1 else "")
    return ValueError(f"{op}: {name} has shape {tuple(int(n) for n in got)}, expected ({shape})")


class Arguments:
    """The arrays of one call as (instances, n), all of one dtype; lists take the dtype of the first array.

    rows: (name, n) of each; tails: the public shape of those that have one, such as (nb, 6) of 6 nb numbers.
    """

    device: int | None = None
    stream = 0

    def __init__(
        self,
        op: str,
        arguments: Sequence[Array],
        rows: Sequence[tuple[str, int]],
        tails: Mapping[str, tuple[int, ...]] = {},
    ) -> None:
        arrays: list[Any] = [to_numpy(x, op, name) if library_of(x) else None for x, (name, _) in zip(arguments, rows)]
        lead = next((k for k, array in enumerate(arrays) if array is not None), None)
        self.like: Array = None if lead is None else arguments[lead]
        self.dtype: np.dtype[Any] = FLOATS[1] if lead is None else arrays[lead].dtype
        self.batched, self.instances = False, 1
        for k, (name, n) in enumerate(rows):
            array = arrays[k]
            if array is None:
                array = to_numpy(arguments[k], op, name, self.dtype)
            elif array.dtype != self.dtype and lead is not None:
                raise TypeError(f"{op}: {name} is {array.dtype}, expected {self.dtype} as {rows[lead][0]} is")
            if array.shape[-1:] != (n,) or array.ndim > 2:
                array = flat(op, name, n, tails.get(name, (n,)), array)
            if array.ndim == 2:
                self.batched = True
                if self.instances == 1:
                    self.instances = array.shape[0]
            arrays[k] = array
        self.arrays = [self.rows_of(op, *row, array, tails) for row, array in zip(rows, arrays)]

    def rows_of(
        self, op: str, name: str, n: int, array: npt.NDArray[Any], tails: Mapping[str, tuple[int, ...]]
    ) -> npt.NDArray[Any]:
        """The array with a row per instance, repeated by a stride of zero where it has one row."""
        if array.ndim == 1:
            array = array[None]
        if array.shape[0] == self.instances:
            return array
        if array.shape[0] != 1:
            raise shape_error(op, name, array.shape, (self.instances, *tails.get(name, (n,))))
        return np.broadcast_to(array, (self.instances, n))

    def output(self, n: int) -> tuple[_featherstorm.Buffer, Callable[[Sequence[int]], Array]]:
        """What the engine writes (instances, n) to, and a function from the rows' shape to a view of it."""
        buffer = _featherstorm.Buffer(self.dtype.name, self.instances, n)
        return buffer, lambda tail: buffer.view(list(tail))

    def stack(self, arrays: Sequence[Array]) -> Array:
        """Arrays (B, n) side by side as (B, n, k)."""
        return np.stack(arrays, axis=2)

    def result(self, view: Array) -> Array:
        """A view (instances, ...) as the user gets it."""
        return from_numpy(view if self.batched else view[0], self.like)
