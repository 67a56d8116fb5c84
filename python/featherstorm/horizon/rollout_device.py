"""Rollouts whose arrays lie on a CUDA device: one kernel for the horizon, on the stream of the first array's library.

The kernel is made by NVRTC when a Rollout first meets a kind of call (which results are asked for, noise or arrays), in
seconds, and kept on disk. Nothing is read on the CPU: quaternions are not checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .. import _featherstorm
from ..device import HOST, DeviceArray, device_of, dtype_name, place
from ..memory.arrays import shape_error
from ..memory.device_libraries import device_library
from ..noise import Noise, interpolation_weights
from .result import RolloutResult

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..model import Model
    from ..typing import Array


class Horizon(Protocol):
    """What is asked of a Rollout."""

    model: Model
    dt: float
    numbers: dict[str, list[float]]
    parameters: list[tuple[str, int]]
    uploads: dict[tuple[Any, ...], tuple[npt.NDArray[Any], _featherstorm.Buffer]]

    def check_horizon(self, horizon: int | None, drawn: bool, T: int) -> None: ...
    def device_parameter(self, call: Call, name: str, n: int, instances: int) -> Any: ...
    def parameter(self, name: str, n: int, instances: int, dtype: str) -> npt.NDArray[Any]: ...
    def sequence(
        self, dtype: str, nu: int, np_: int, shared: bool, on_device: bool = False
    ) -> tuple[_featherstorm.Sequence, int | None]: ...


def on_device(*arrays: Array) -> bool:
    """Whether one of a call's arrays lies on a device."""
    return any(device_of(x) != HOST for x in arrays)


class Call:
    """The arrays of one rollout, all on the device of the first, in its dtype."""

    def __init__(self, lead: Array, what: str) -> None:
        device = device_of(lead)
        self.device, self.what = device, what
        self.library = device_library(lead, device, "rollout", what)
        self.stream, self.dtype = self.library.stream, self.checked_dtype(lead, what)

    def checked_dtype(self, x: Array, name: str) -> str:
        if getattr(x, "requires_grad", False):
            raise TypeError(f"rollout: {name} requires a gradient: pass it with .detach()")
        if dtype_name(x) not in ("float32", "float64"):
            raise TypeError(f"rollout: {name} is {dtype_name(x)}, expected float32 or float64")
        return dtype_name(x)

    def array(self, x: Array, name: str) -> Any:
        """What the engine reads; raises for what does not lie here or has another dtype."""
        number = device_of(x)
        if number != self.device:
            raise ValueError(f"rollout: {name} is on {place(number)}, expected {place(self.device)} as {self.what} is")
        if self.checked_dtype(x, name) != self.dtype:
            raise TypeError(f"rollout: {name} is {dtype_name(x)}, expected {self.dtype} as {self.what} is")
        if isinstance(x, DeviceArray):
            x.settle(self.stream)
            return x.buffer
        return self.library.memory(x, tuple(x.shape) if len(x.shape) > 1 else (1, *x.shape))

    def uploaded(self, values: npt.NDArray[Any]) -> _featherstorm.Buffer:
        """Numbers (rows, n) of the CPU as a Buffer; it waits."""
        values = np.ascontiguousarray(values, self.dtype)
        rows, n = values.shape
        buffer = _featherstorm.Buffer(self.dtype, rows, n, self.device, self.stream)
        _featherstorm.copy(values, buffer, self.stream)
        return buffer


def run(
    roll: Horizon,
    x0: Array,
    U: Array,
    p: Array,
    t0: float,
    states: bool,
    horizon: int | None,
    interpolation: str,
    controls: bool,
) -> RolloutResult:
    """`Rollout.__call__` for arrays on a device; p may also be numbers on the CPU, the same for all instances."""
    model, nx = roll.model, roll.model.nq + roll.model.nv
    drawn = isinstance(U, Noise)
    call = Call(*next((x, name) for x, name in ((U, "U"), (x0, "x0"), (p, "p")) if device_of(x) != HOST))
    state = call.array(x0, "x0")
    given = None if drawn else call.array(U, "U")
    shape = tuple(int(k) for k in U.shape)
    if len(shape) != 3:
        raise shape_error("rollout", "U", shape, ("B", "T", "nu"))
    rows = tuple(int(k) for k in x0.shape)
    B, T, nu = shape
    if B == 1 and len(rows) == 2 and not drawn:
        B = rows[0]
    if rows not in ((nx,), (1, nx), (B, nx)):
        raise shape_error("rollout", "x0", rows, (B, nx))
    if T == 0:
        raise ValueError(f"rollout: U has shape {shape}, expected a horizon T of 1 or more")
    roll.check_horizon(horizon, drawn, T)
    inputs = [("q", state, 0, model.nq, False), ("v", state, model.nq, model.nv, False)]
    made = U.native() if drawn else None
    if given is not None and horizon is None:
        inputs.append(("u", given, 0, nu, True))
    elif given is not None and horizon is not None:
        made = _featherstorm.device_knots("u", given, nu, interpolation_weights(horizon, T, interpolation), B)
        T = int(horizon)
    shared = device_of(p) == HOST
    if shared:
        numbers = np.zeros(0) if p is None else np.asarray(p, dtype=call.dtype)
        if numbers.ndim != 1:
            where = f"{place(call.device)} as {call.what} is"
            raise ValueError(f"rollout: p is on the CPU, expected {where}, or shape (np,)")
        np_ = numbers.shape[0]
    else:
        sizes = tuple(int(k) for k in p.shape)
        if len(sizes) not in (1, 2) or (len(sizes) == 2 and sizes[0] not in (1, B)):
            raise shape_error("rollout", "p", sizes, (B, "np"))
        np_ = sizes[-1]
        inputs.append(("p", call.array(p, "p"), 0, np_, False))
    sequence, observed = roll.sequence(call.dtype, nu, np_, shared, True)
    inputs += [(name, roll.device_parameter(call, name, n, B), 0, n, False) for name, n in roll.parameters]
    times = t0 + roll.dt * np.arange(T + 1)
    uniforms = {**roll.numbers, "t": times[:-1].tolist(), "t_next": times[1:].tolist()}
    if shared:
        uniforms["p"] = numbers.tolist()
    outputs: list[Any] = []
    results: list[Any] = []

    def output(asked: bool, tail: list[int], *columns: tuple[str, int, int]) -> None:
        """Memory for a result of shape (B, *tail), written as (array, first column, columns) say."""
        if not asked:
            results.append(None)
            return
        memory, result = call.library.output(call.dtype, B, int(np.prod(tail)))
        outputs.extend((name, memory, first, n, len(tail) > 1) for name, first, n in columns)
        results.append((result, tail))

    output(True, [], ("total", 0, 1))
    output(True, [nx], ("q", 0, model.nq), ("v", model.nq, model.nv))
    output(states, [T, nx], ("q", 0, model.nq), ("v", model.nq, model.nv))
    output(observed is not None, [T, observed or 0], ("observation", 0, observed or 0))
    output(controls, [T, nu], ("u", 0, nu))
    sequence.run_on_device(T, B, inputs, uniforms, outputs, made, call.stream)
    return RolloutResult(*(None if r is None else r[0](r[1]) for r in results))


def parameter(roll: Horizon, call: Call, name: str, n: int, instances: int) -> Any:
    """A parameter of the model on the device: where it lies, or uploaded when its numbers have changed."""
    value = roll.model.parameter(name)
    if device_of(value) != HOST:
        array, rows = call.array(value, name), tuple(int(k) for k in value.shape)
        if rows not in ((n,), (1, n), (instances, n)):
            raise shape_error("rollout", name, rows, (instances, n))
        return array
    key = (name, instances, call.dtype, call.device, call.stream)
    kept, buffer = roll.uploads.get(key, (None, None))
    if kept is None or not np.array_equal(kept, value):
        buffer = call.uploaded(roll.parameter(name, n, instances, call.dtype))
        roll.uploads[key] = (np.array(value), buffer)
    return buffer
