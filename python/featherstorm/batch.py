"""Batch: arrays that live in the engine, and operations on them by name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ._evaluation.evaluation import frame_index, tell_notices
from ._memory.arguments import engine_in
from ._memory.process import refuse_pickle
from .device import device_name, device_number

if TYPE_CHECKING:
    import numpy.typing as npt

    from . import _featherstorm
    from ._memory.library import Library
    from .model import Model
    from .typing import Array, ArrayLike, Frame


class Batch:
    """Arrays of `instances` robots in the engine's memory, [component][instance].

        batch = fs.Batch(model, 4096)
        batch.q[:] = ...; batch.tau = ...
        batch.run("fd")
        batch.a                       # (4096, nv), strides (1, stride): a view, no copy

    The arrays have the names of `model.ops`: every input and output of an operation is an attribute, created at its
    first use. `q` starts as model.q0, parameters start as the model's, all other arrays as zeros. Assignment copies
    into the array. If two operations give one name to arrays of different sizes, the array of the second one is
    called OPERATION_NAME. In-place arrays are the engine's fastest path.

    device   "cpu", "cuda" or "cuda:1". On a device the attributes are DeviceArrays: torch.from_dlpack(batch.q) shares
             the memory, numpy.asarray(batch.q) copies. Assignment takes arrays on the CPU (and waits) and on the
             device.
    stream   the number of the CUDA stream for all work, such as torch.cuda.Stream().cuda_stream; the stream must
             outlive the batch; 0 is the default stream. run() does not wait for the stream.
    """

    model: Model
    instances: int
    device: str
    dtype: np.dtype[Any]
    stream: int
    _library: Library
    _shapes: dict[str, tuple[int, ...]]
    _names: dict[str, list[list[str]]]
    _buffers: dict[str, _featherstorm.Buffer]
    _views: dict[str, Array]

    def __init__(
        self, model: Model, instances: int, device: object = "cpu", dtype: npt.DTypeLike = "float32", stream: int = 0
    ) -> None:
        number = device_number(device, "Batch")
        if int(instances) < 0:
            raise ValueError(f"Batch: instances is {instances}, expected 0 or more")
        fields = {
            "model": model,
            "instances": int(instances),
            "device": device_name(number),
            "_library": engine_in(number, stream),
            "stream": stream,
            "dtype": np.dtype(dtype),
            "_shapes": {},
            "_names": {},
            "_buffers": {},
            "_views": {},
        }
        self.__dict__.update(fields)
        if self.dtype.name not in ("float32", "float64"):
            raise TypeError(f"Batch: dtype is {self.dtype}, expected float32 or float64")
        for op, row in model.ops.items():
            names = []
            for arguments in (row.inputs, row.outputs):
                own = []
                for name, _ in arguments:
                    shape = row.shapes[name]
                    if self._shapes.setdefault(name, shape) != shape:
                        name = f"{op}_{name}"
                        self._shapes[name] = shape
                    own.append(name)
                names.append(own)
            self._names[op] = names

    def __reduce__(self) -> NoReturn:
        refuse_pickle("Batch", "pickle its model and arrays, and make a Batch there")

    def buffer(self, name: str) -> _featherstorm.Buffer:
        """Return the engine's Buffer of an array."""
        if name not in self._buffers:
            if name not in self._shapes:
                raise AttributeError(f"Batch has no array '{name}'; there are {', '.join(self._shapes)}")
            shape = self._shapes[name]
            n = math.prod(shape)
            self._buffers[name], view = self._library.output(self.dtype.name, self.instances, n)
            self._views[name] = view(list(shape))
            if n == self.model.nq and name.startswith("q"):
                setattr(self, name, self.model.q0.astype(self.dtype))
            if name in self.model.parameters:
                setattr(self, name, np.asarray(self.model.parameter(name), self.dtype))
        return self._buffers[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.buffer(name)
        return self._views[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self.buffer(name)
        self._library.assign(self._views[name], value, "Batch", name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._shapes]

    def run(self, op: str, frame: Frame | None = None, repeat: int = 1, **numbers: ArrayLike) -> None:
        """Run an operation on the arrays of its names.

        frame     of operations that need one: name or index
        repeat    times that the operation runs; each run takes the outputs of the one before
        numbers   uniforms of the operation, the same in every run, such as dt [s]
        """
        row, model = self.model.row(op), self.model
        uniforms = model.uniform_values(op, numbers)
        inputs, outputs = ([self.buffer(name) for name in names] for names in self._names[op])
        model.evaluator.run(op, inputs, outputs, uniforms, frame_index(model, row, frame, op), repeat, self.stream)
        tell_notices(model)
