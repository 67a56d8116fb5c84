"""The arrays of a call that lie on a CUDA device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from ..device import DeviceArray, device_of, dtype_name, place
from .arrays import Arguments, shape_error
from .device_libraries import library_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from ..typing import Array, ArrayLike


def collect(
    op: str, arguments: Sequence[Array], rows: Sequence[tuple[str, int]], tails: Mapping[str, tuple[int, ...]] = {}
) -> Arguments | DeviceArguments:
    """The arrays of a call: DeviceArguments where one lies on a device, else Arguments."""
    on_device = any(device_of(x) is not None for x in arguments)
    return DeviceArguments(op, arguments, rows, tails) if on_device else Arguments(op, arguments, rows, tails)


class DeviceArguments:
    """The arrays of one call on a device, as `arrays.Arguments` has those on the CPU: (instances, n) or one row.

    Nothing is read here: quaternions are not checked, because that would make the call wait.
    """

    def __init__(
        self,
        op: str,
        arguments: Sequence[Array],
        rows: Sequence[tuple[str, int]],
        tails: Mapping[str, tuple[int, ...]] = {},
    ) -> None:
        devices = [device_of(x) for x in arguments]
        lead, self.device = next((k, number) for k, number in enumerate(devices) if number is not None)
        first = rows[lead][0]
        self.library = library_for(arguments[lead], self.device, f"{op}: {first}")
        self.stream, self.dtype = self.library.stream, np.dtype(self.checked_dtype(op, first, arguments[lead]))
        self.batched = False
        self.arrays: list[Any] = []
        counts: list[int] = []
        for x, number, (name, n) in zip(arguments, devices, rows):
            tail = tails.get(name, (n,))
            if number is None and (isinstance(x, np.ndarray) or hasattr(x, "__dlpack__")):
                raise ValueError(f"{op}: {name} is on the CPU, expected {place(self.device)} as {first} is")
            if number is None:
                self.arrays.append(self.uploaded(op, name, n, x))
                counts.append(1)
                continue
            if number != self.device:
                raise ValueError(f"{op}: {name} is on {place(number)}, expected {place(self.device)} as {first} is")
            if self.checked_dtype(op, name, x) != self.dtype:
                raise TypeError(f"{op}: {name} is {dtype_name(x)}, expected {self.dtype} as {first} is")
            shape = tuple(int(k) for k in x.shape)
            alone = shape in ((n,), tail)
            if not alone and shape[1:] not in ((n,), tail):
                raise shape_error(op, name, shape, ("batch", *tail))
            self.batched = self.batched or not alone
            counts.append(1 if alone else shape[0])
            if isinstance(x, DeviceArray):
                x.settle(self.stream)
                self.arrays.append(x.buffer)
            else:
                self.arrays.append(self.library.read(x.reshape((counts[-1], n))))
        self.instances = next((k for k in counts if k != 1), 1)
        for x, count, (name, n) in zip(arguments, counts, rows):
            if count not in (1, self.instances):
                raise shape_error(op, name, x.shape, (self.instances, *tails.get(name, (n,))))

    def checked_dtype(self, op: str, name: str, x: Array) -> str:
        if getattr(x, "requires_grad", False):
            raise TypeError(
                f"{op}: {name} requires a gradient: call the function of featherstorm.torch, or pass it with .detach()"
            )
        if dtype_name(x) not in ("float32", "float64"):
            raise TypeError(f"{op}: {name} is {dtype_name(x)}, expected float32 or float64")
        return dtype_name(x)

    def uploaded(self, op: str, name: str, n: int, numbers: ArrayLike) -> _featherstorm.Buffer:
        """A list of numbers as a row on the device; zeros are not sent."""
        try:
            row = np.asarray(numbers, dtype=self.dtype)
        except (TypeError, ValueError):
            raise TypeError(f"{op}: {name} is a {type(numbers).__name__} that is no array of numbers") from None
        if row.shape != (n,):
            raise shape_error(op, name, row.shape, (n,))
        buffer = _featherstorm.Buffer(self.dtype.name, 1, n, self.device, self.stream)
        if row.any():
            _featherstorm.copy(row[None], buffer, self.stream)
        return buffer

    def output(self, n: int) -> tuple[Any, Callable[[Sequence[int]], Array]]:
        return self.library.output(self.instances, n)

    def spread(self, x: Array, index: npt.NDArray[np.intp]) -> Array:
        """x[:, index], with zeros where the index is that of a column behind the last."""
        return self.library.columns(self.library.beside(x, self.library.xp.zeros_like(x[:, :1])), index)

    def stack(self, arrays: Sequence[Array]) -> Array:
        return self.library.stack(arrays)

    def result(self, view: Array) -> Array:
        """An array (instances, ...) as the user gets it."""
        return view if self.batched else view[0]
