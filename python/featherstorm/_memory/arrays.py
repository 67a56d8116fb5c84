"""Arrays of any library on the CPU as numpy views of the same memory, errors for unsuitable arguments, and free memory."""

from __future__ import annotations

import contextlib
import os
import re
import resource
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .._optional import jax
from ..device import on_cpu

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from .. import _featherstorm
    from ..typing import Array

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
NAMES = {4: "float32", 8: "float64"}  # by itemsize, because dtype.name costs numpy a microsecond


class EngineArray(np.ndarray[Any, Any]):
    """A NumPy array in the engine's memory and layout, made by `zeros`. The engine reads and writes it fastest.

    memory   its Buffer; None for arrays computed from it, such as slices
    """

    memory: _featherstorm.Buffer | None = None


def library_of(x: Array) -> str | None:
    """Return 'numpy', 'torch', 'jax', 'other' for any array with DLPack, or None for lists and numbers."""
    if isinstance(x, (np.ndarray, np.generic)):
        return "numpy"
    root = type(x).__module__.partition(".")[0]
    if root == "torch":
        return "torch"
    if root in ("jax", "jaxlib"):
        return "jax"
    return "other" if hasattr(x, "__dlpack__") or hasattr(x, "__array__") else None


def to_numpy(x: Array, op: str, name: str, list_dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
    """Return a numpy view of an array on the CPU; op and name are for messages ("rnea: q ...")."""
    if type(x) is EngineArray and x.memory is not None:
        return x
    array = x if type(x) is np.ndarray else convert(x, f"{op}: {name}", list_dtype)
    if array.dtype not in FLOATS:
        raise TypeError(f"{op}: {name} is {array.dtype}, expected float32 or float64")
    return array if in_place(array) else array.copy()


def in_place(array: npt.NDArray[Any]) -> bool:
    """Return True if the engine can read an array without a copy."""
    size = array.itemsize
    for stride in array.strides:
        if stride % size:
            return False
    return bool(array.flags.aligned)


def convert(x: Array, what: str, list_dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    library = library_of(x)
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{what} is a masked array, whose mask would be lost: call .filled(value)")
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
    if not on_cpu(x):
        raise not_on_cpu(what, f"DLPack device {x.__dlpack_device__()}")
    try:
        return np.from_dlpack(x) if hasattr(x, "__dlpack__") else np.asarray(x)
    except (BufferError, RuntimeError) as error:
        array = np.asarray(x)
        if array.dtype == object:  # no other way to its numbers
            raise TypeError(f"{what} is a {type(x).__name__} that DLPack cannot read: {error}") from error
        return array


def not_on_cpu(what: str, device: object) -> ValueError:
    return ValueError(f"{what} lies on {device}, expected the CPU: move it there")


def shape_error(op: str, name: str, got: Sequence[int], expected: Sequence[int | str]) -> ValueError:
    shape = ", ".join(str(n) for n in expected) + ("," if len(expected) == 1 else "")
    return ValueError(f"{op}: {name} has shape {tuple(int(n) for n in got)}, expected ({shape})")


def mask_of(label: str, mask: npt.ArrayLike | None, n: int) -> npt.NDArray[np.bool_]:
    """Return a mask (n,) of bool; None: of all. Errors: ValueError for another dtype or shape."""
    rows = np.ones(n, bool) if mask is None else np.asarray(mask)
    if rows.dtype != bool or rows.shape != (n,):
        raise ValueError(f"{label}: mask is {rows.dtype} of shape {rows.shape}, expected bool ({n},)")
    return rows


UNCHECKED = 2**28  # bytes below which nothing is read; reading takes 0.1 ms
GROUP = "/sys/fs/cgroup"


def free_memory() -> int:
    """Return the bytes that this process can still allocate, by the machine, its control group and its own limit."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    with contextlib.suppress(OSError, AttributeError, ValueError):
        found.append(1024 * number("/proc/meminfo", "MemAvailable: +"))
    with contextlib.suppress(OSError, AttributeError, ValueError):  # no limit, or no control groups
        used = number(f"{GROUP}/memory.current") - number(f"{GROUP}/memory.stat", "inactive_file ")
        found.append(number(f"{GROUP}/memory.max") - used)
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        with contextlib.suppress(OSError, AttributeError, ValueError):
            found.append(limit - 1024 * number("/proc/self/status", "VmSize:\\s+"))
    return max(min(found), 0)


def number(path: str, before: str = "") -> int:
    """Return the number behind a text in a file of the kernel."""
    with open(path, encoding="ascii") as file:
        return int(re.search(before + r"(\d+)", file.read())[1])  # type: ignore[index]


def check_memory(who: str, size: float, remedy: str) -> None:
    """Raise MemoryError for a number of bytes that is not free."""
    if size > UNCHECKED and size > (free := free_memory()):
        raise MemoryError(
            f"{who}: {size / 1e9:.3g} GB of memory are needed, and {free / 1e9:.3g} GB are free; {remedy}"
        )


def refuse_pickle(what: str, instead: str) -> NoReturn:
    """Raise TypeError for an object that was pickled or copied, naming what to send to another process instead."""
    raise TypeError(f"a {what} holds kernels and memory of its process and cannot be pickled or copied; {instead}")
