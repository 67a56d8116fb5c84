"""A batch on a device: the calls that differ from those on the host, and the model of each simulation.

Calls that read states copy them to the host. Fields that are inputs of kernels lie on the device, and their numbers are not inspected. Elements that a number
creates, such as a row of dry friction, exist in all simulations. Other fields are NumPy's arrays on the CPU, compared
before each call. Each different model has an engine; its kernels run for all simulations, and a mask selects results.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import _featherstorm
from .._fields.inputs import TABLES
from .._fields.kernels import neighbours
from .._fields.table import STAGES, USER
from .._memory.named_buffers import Columns
from ..device import HOST, DeviceArray, device_of, place
from .arguments import UsageError, steps
from .engine import Engine
from .programs import both
from .roll import given
from .simulations import Simulations
from .steps import Steps
from .variants import Variants, field_of, set_field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from .._robot.closures import Rigid
    from ..typing import NumpyArray as Array

    Ids = npt.ArrayLike | None

MOST_MODELS = 16


class DeviceVariants(Variants):
    """Models of the simulations on a device."""

    most_models = MOST_MODELS
    looks = None
    of_resets: frozenset[str] = frozenset()  # resets there put one row for all

    def __init__(self, model: Any, nsim: int, dtype: str, threads: int, law: Rigid | None = None) -> None:
        if model.nhistory:
            raise ValueError("Batch: the model has delays or histories, which are for device='cpu'")
        super().__init__(model, nsim, dtype, threads, law)
        if self.of_state:
            self.own = Engine(self.model, dtype, threads, self.switched, law, of_state=self.of_state)

    def reset(self) -> None:
        """Forget all differences.

        Equalities may be switched and mocap bodies may move from the beginning: their numbers are not inspected.
        """
        super().reset()
        if self.own.moves and self.model.neq:
            self.switched = np.ones(self.model.neq, bool)
        self.follows_mocap = self.own.mocap_acts

    def numbers_of(self, values: Any) -> npt.NDArray[Any]:
        """Return a copy on the CPU; it waits where the numbers are on the device."""
        return np.array(values)

    def take(self, numbers: dict[str, npt.NDArray[Any]]) -> None:
        """Write changed numbers."""
        for name, x in numbers.items():
            self.differing[name][...] = x

    def active(self) -> npt.NDArray[Any]:
        """Return the active equalities (nsim, neq) of the model's defaults."""
        return np.repeat(np.asarray(self.model.eq_active0)[None], self.nsim, axis=0)

    def check(self) -> None:
        """Do nothing: numbers of inputs are not inspected."""

    def shared_key(self) -> bytes:
        """Return the key of the fields that are inputs."""
        for name in self.used:
            if TABLES.get(name, False):
                self.there[name] = np.ones(self.inputs[name].size, bool)
        return b"".join(name.encode() + b"?" for name in self.used)

    def engine(self, key: bytes, sim: int) -> Engine | Exception:
        """Return an engine; when it is made, numbers of inputs are checked."""
        if key and key not in self.engines:
            super().check()
        return super().engine(key, sim)

    def standing_for(self, sim: int) -> Any:
        """Return the model of an engine, with the batch's numbers in inputs, nonzero where these create elements."""
        m = self.own_fields(sim)
        self.take_frames(sim, m)
        for name in self.used:
            field = field_of(self.model, name).copy()
            if name in self.there:
                field[...] = np.where(field == 0, 1, field)
            set_field(m, name, field)
        return m


CTRL = int(mujoco.mjtState.mjSTATE_CTRL)


class CallsOnDevice(Simulations):
    """Methods of a Batch that differ on a device.

    Calls put their work on the batch's stream and do not wait for it. Kernels and memory that a call makes for the
    first time take seconds.

    ids   of step, forward and reset: as on the CPU, then they are sent and the call waits; or a mask on the device,
          (nsim,) of the batch's dtype, above zero for the selected simulations
    """

    _variants: DeviceVariants
    _kind_of_variants = DeviceVariants

    def _start(self) -> None:
        own, memory = self._variants.own, self._memory
        self._number = memory.device
        memory.send(np.repeat(own.initial[None], self.nsim, axis=0), memory.live_state)

    # calls

    def _runs(self, ids: Any, sims: Array | None) -> Iterator[tuple[Steps, Columns | None, Array | None]]:
        memory, meant = self._memory, None
        if device_of(ids) != HOST:
            meant = memory.columns_for("meant", 1)
            memory.array(meant, []).assign(ids, "ids")
        for k, (engine, group) in enumerate(self._engines(sims)):
            run = None if group is None else memory.mask(k, group)
            if run is None or meant is None:
                run = run or meant
            else:
                chosen = memory.columns_for(f"run {k}", 1)
                given = [meant.named("one"), run.named("other")]
                self._both.run(1, self.nsim, given, {}, [chosen.named("run")], stream=self.stream)
                run = chosen
            yield self._steps_of(engine), run, group

    @cached_property
    def _both(self) -> Any:
        own = self._variants.own
        return _featherstorm.traced_sequence(own.model.evaluator, own.dtype, both())

    @property
    def _active(self) -> Array:
        return self._variants.active()

    def _reset_to(self, key: int, ids: Any, sims: Array | None) -> None:
        for of, run, group in self._runs(ids, sims):
            try:
                of.keyframe(key)
            except ValueError as error:
                self._fail(group, str(error))
            else:
                of.put(key, run)

    def rollout(
        self,
        nstep: int,
        control: Any = None,
        control_spec: int = CTRL,
        record: Sequence[Any] = ("qpos",),
        ids: Ids = None,
        out: Mapping[Any, Any] | None = None,
    ) -> dict[Any, Any]:
        """Advance simulations and record after each step, as Batch.rollout does.

        control   (n, nstep, mj_stateSize(model, control_spec)) on the device, of the batch's dtype; numbers of the CPU
                  that broadcast to it are sent, which waits
        ids       numbers or a mask of the CPU: records of these n simulations are gathered on the CPU, which waits
        out       record -> DeviceArray, or an array of NumPy, which waits
        Returns record -> DeviceArray (n, nstep, ...) of the batch's dtype, or what `out` has.
        Errors: ValueError for ids on a device, whose number is not known without waiting.
        """
        nstep = steps(nstep)
        if device_of(ids) != HOST:
            raise ValueError(
                "rollout: ids are on the device, expected numbers or a mask of the CPU: their number is the first "
                "dimension of the records"
            )
        sims = self._chosen(ids)
        if int(control_spec) & ~USER:
            raise UsageError("control_spec must be a subset of mjSTATE_USER")
        memory = self._memory
        columns = memory.layout.columns_of(int(control_spec))
        controls = None if control is None else self._controls(control, nstep, len(columns), sims)
        recorded = {item: self._recorded(item) for item in record}
        fields = [item for item, places in recorded.items() if item in STAGES and places]
        found = {item: memory.buffer(nstep * sum(p.size for p in places)) for item, places in recorded.items()}
        shapes = {
            item: np.shape(getattr(self.template, item)) if isinstance(item, str) else (sum(p.size for p in places),)
            for item, places in recorded.items()
        }
        targets = {
            item: self._target(out or {}, item, (len(self._sims(sims)), nstep, *shape))
            for item, shape in shapes.items()
        }
        runs = [(of, memory.columns_for(f"going {k}", 1), run) for k, (of, run, _) in enumerate(self._runs(ids, sims))]
        for _, mask, run in runs:
            memory.copy(memory.one if run is None else run, mask)
        for k in range(nstep):
            driven = None if controls is None else Columns(controls, k * len(columns), len(columns))
            names = memory.names() if k == nstep - 1 else fields
            for of, mask, _ in runs:
                of.advance(1, names, mask, None if controls is None else columns, driven)
                memory.copy(of.going, mask)
            for item, places in recorded.items():
                at = k * sum(p.size for p in places)
                for p in places:
                    memory.copy(p, Columns(found[item], at, p.size))
                    at += p.size
        results = {}
        for item, buffer in found.items():
            array = DeviceArray(buffer, [nstep, *shapes[item]], self.nsim, self.dtype, self._number, self.stream)
            results[item] = self._handed_out(array, sims, targets[item])
        self._check(sims)
        return results

    def _target(self, out: Mapping[Any, Any], item: Any, shape: tuple[int, ...]) -> Any:
        """Return the caller's array for a record, None for a new one."""
        target = out.get(item)
        if target is None or not isinstance(target, DeviceArray):
            return None if target is None else given(out, item, shape, self.dtype)
        right = target.shape == shape and target.dtype == self.dtype and target.device == self._number
        if not right:
            raise ValueError(
                f"out[{item!r}] must be a DeviceArray {shape} {self.dtype} on {place(self._number)}, or NumPy's"
            )
        return target

    def _handed_out(self, array: DeviceArray, sims: Array | None, target: Any) -> Any:
        """Return a record of some simulations, in the caller's array where there is one."""
        if sims is not None:
            some = array.numpy()[sims]
            if isinstance(target, np.ndarray):
                target[...] = some
                return target
            buffer = self._memory.sent(some.reshape(len(sims), int(np.prod(array.tail)))).buffer
            array = DeviceArray(buffer, array.tail, len(sims), self.dtype, self._number, self.stream)
        if target is None:
            return array
        target[...] = array
        return target

    def _recorded(self, item: Any) -> list[Columns]:
        """Return the parts of a record."""
        memory = self._memory
        if isinstance(item, str):
            self.bind(item)  # raises for names that there are not
            found = [memory.fields[item] if item in STAGES else memory.field_of_state(item)]
        else:
            state = memory.live_state
            found = [state.part(first, count) for _, first, count in neighbours(memory.layout.columns_of(int(item)))]
        return [p for p in found if p.size]

    def _controls(self, control: Any, nstep: int, columns: int, sims: Array | None) -> Any:
        """Return a buffer (nsim, nstep columns) with the controls of some simulations."""
        memory, n = self._memory, len(self._sims(sims))
        buffer = memory.columns_for("controls", nstep * columns).buffer
        if (number := device_of(control)) not in (HOST, self._number):
            raise ValueError(f"rollout: control is on {place(number)}, expected {place(self._number)} or the CPU")
        if number == HOST and (sims is None or n):
            numbers = np.broadcast_to(np.asarray(control, self.dtype), (n, nstep, columns))
        elif n:
            some = buffer if sims is None else memory.buffer(nstep * columns, n)
            view = DeviceArray(some, [nstep, columns], n, self.dtype, self._number, self.stream)
            view.assign(control, "rollout: control")
            if sims is None:
                return buffer
            numbers = view.numpy()
        else:
            return buffer
        every = np.zeros((self.nsim, nstep * columns), self.dtype)
        every[self._sims(sims)] = numbers.reshape(n, nstep * columns)
        memory.send(every, Columns(buffer, 0, nstep * columns))
        return buffer

    def _works(self, ids: Ids) -> Iterator[tuple[Steps, Array]]:
        sims = self._chosen(ids)
        copies = self._memory.on_host(self._timesteps())
        for engine, group in self._engines(sims):
            if group is None:
                yield Steps(engine, copies), self._sims(None)
            elif len(group):
                yield Steps(engine, copies.taken(group)), group
