"""The calls of a batch whose simulations are on a device; those that are not here take copies on the CPU."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import mujoco
import numpy as np

from ... import _featherstorm
from ...device import HOST, DeviceArray, device_of, place
from ..arguments import selected, stage_number, steps, whole
from ..errors import UsageError
from ..fields.sensors import rows_of
from ..fields.table import ACC, DATA_FIELDS, POS, STAGES, VEL
from ..horizon.recording import given
from ..memory import Memory
from ..missing import not_of_this_model, why_not
from ..robots import refuse_callbacks
from ..simulations import Simulations, Work
from ..state import COMPONENTS, INTEGRATION, USER
from .fields import runs
from .memory import DeviceMemory, Place
from .programs import both
from .steps import Steps
from .variants import DeviceVariants

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from ..engine import Engine

    Array = npt.NDArray[Any]
    Ids = npt.ArrayLike | None

CTRL = int(mujoco.mjtState.mjSTATE_CTRL)


class CallsOnDevice(Simulations):
    """Methods of a Batch that differ on a device.

    Calls put their work on the batch's stream and do not wait for it. Kernels and memory that a call makes for the
    first time take seconds.

    ids   of step, forward and reset: as on the CPU, then they are sent and the call waits; or a mask on the device,
          (nsim,) of the batch's dtype, above zero for the selected simulations
    """

    _arrays: DeviceMemory
    _variants: DeviceVariants
    _kind_of_variants = DeviceVariants

    def _make_memory(self, device: int) -> None:
        self._number = device
        own = self._variants.own
        self._arrays = DeviceMemory(own, self.nsim, device, self.stream)
        self._memory: Any = self._arrays
        self._variants.memory, self._arrays.inputs = self._arrays, self._variants.inputs
        self._steps: dict[Engine, Steps] = {}
        self._arrays.write(np.repeat(own.initial[None], self.nsim, axis=0))

    # arrays

    def bind(self, name: str) -> Any:
        """A DeviceArray (nsim, ...) of a field of mjData, live and of the batch's dtype.

        Fields that calls compute are to be read alone.

        Range finders are computed on the CPU: calls wait where they are bound.
        Errors: ValueError for names that there are not, with the reason.
        """
        if name not in DATA_FIELDS:
            raise ValueError(why_not(self.model, name))
        shape = np.shape(getattr(self.template, name))
        if name in COMPONENTS:
            return self._arrays.component(name, shape)
        if name in self._arrays.bound:
            return self._arrays.bound[name]
        engine = self._variants.own
        if (reason := not_of_this_model(self.model, name, engine.model.robot)) is not None:
            raise ValueError(reason)
        bound = self._arrays.bind(name, shape)
        if name == "sensordata" and (unknown := rows_of(self.model, engine.unknown)):
            field = np.zeros((self.nsim, self.model.nsensordata))
            for rows in unknown:
                field[:, rows] = np.nan
            self._arrays.send(field, self._arrays.fields[name].buffer)
        return bound

    def rows(self, spec: int = INTEGRATION, ids: Ids = None) -> Array:
        """States in contiguous rows of double on the CPU, (n, mj_stateSize(model, spec)): a copy, which waits."""
        sims = self._sims(selected(ids, self.nsim))
        return np.ascontiguousarray(self._host_state()[np.ix_(sims, self._arrays.layout.columns_of(int(spec)))])

    def _host_state(self) -> Array:
        state = self._arrays.numpy("state").astype(np.float64)
        state[:, 0] = self._arrays.time([engine.timestep for engine in (*self._steps, self._variants.own)])
        return state

    def set_rows(self, rows: npt.ArrayLike, spec: int = INTEGRATION, ids: Ids = None) -> None:
        """Writes what `rows` reads, or one row for all simulations. It goes through the CPU and waits."""
        columns = self._arrays.layout.columns_of(int(spec))
        sims = self._sims(selected(ids, self.nsim))
        given = np.asarray(rows, np.float64)
        if given.shape not in ((len(columns),), (len(sims), len(columns))):
            raise ValueError(f"rows have shape {given.shape}, expected ({len(sims)}, {len(columns)})")
        state = self._arrays.numpy("state")
        state[np.ix_(sims, columns)] = given
        self._arrays.write(state)

    # calls

    def _steps_of(self, engine: Engine) -> Steps:
        if engine not in self._steps:
            used = [self._variants.own, *self._variants.engines.values()]
            self._steps = {other: steps for other, steps in self._steps.items() if other in used}
            self._steps[engine] = Steps(engine, self._arrays)
        return self._steps[engine]

    def _runs(self, ids: Any, sims: Array | None = None) -> list[tuple[Steps, Any, Any]]:
        """Return the simulations of a call for each engine: on the device, and by number if the CPU knows them.

        None stands for all. Failures are recorded.
        ids    as given; those on the device are copied
        sims   the others by number
        """
        refuse_callbacks()
        memory, meant = self._arrays, None
        if device_of(ids) != HOST:
            meant = memory.room("meant", 1)
            memory.array(meant, []).assign(ids, "ids")
        found: list[tuple[Steps, Any, Any]] = []
        for k, (engine, group) in enumerate(self._variants.groups(sims, self._variants.active())):
            if isinstance(engine, Exception):
                self._fail(group, str(engine))
                continue
            run = None if group is None else memory.mask(k, group)
            if run is None or meant is None:
                run = run or meant
            else:
                chosen = memory.room(f"run {k}", 1)
                given = [meant.named("one"), run.named("other")]
                self._both.run(1, self.nsim, given, {}, [chosen.named("run")], stream=self.stream)
                run = chosen
            found.append((self._steps_of(engine), run and run.buffer, group))
        return found

    @cached_property
    def _both(self) -> Any:
        own = self._variants.own
        return _featherstorm.traced_sequence(own.model.evaluator, own.dtype, both())

    def _chosen(self, ids: Any) -> Array | None:
        """The simulations of a call by number, None: all, or those that a mask on the device says.

        Their errors are forgotten.
        """
        sims = None if device_of(ids) != HOST else selected(ids, self.nsim)
        self._begin(sims)
        return sims

    def step(self, ids: Ids = None, nstep: int = 1, stage: int = 0) -> None:
        """As Batch.step has it."""
        nstep, stage = steps(nstep), stage_number(stage)
        sims = self._chosen(ids)
        for of, run, _ in self._runs(ids, sims):
            of.advance(nstep, self._arrays.names(), run)
            self._renew(of, stage, run)
        self._check(sims)

    def forward(self, ids: Ids = None, stage: int = ACC) -> None:
        """As Batch.forward has it."""
        stage = stage_number(stage)
        sims = self._chosen(ids)
        for of, run, _ in self._runs(ids, sims):
            self._renew(of, stage, run)
        self._check(sims)

    def _renew(self, of: Steps, stage: int, run: Any) -> None:
        if stages := tuple(s for s in (POS, VEL, ACC) if s <= stage):
            of.observe(stages, self._arrays.names(), run)

    def reset(self, ids: Ids = None, keyframe: npt.ArrayLike = -1, stage: int = ACC) -> None:
        """As Batch.reset has it."""
        stage = stage_number(stage)
        nkey = max(m.nkey for m in self._variants.distinct_models)
        sims = self._chosen(ids)
        numbers = self._sims(sims)
        if device_of(ids) != HOST and np.ndim(keyframe):
            self._refuse(
                "reset", "keyframes of single simulations beside ids on the device", "one for all that are meant"
            )
        keys = whole(keyframe, (len(numbers),), -1, nkey, "keyframe")
        for key in np.unique(keys).tolist():
            chosen = numbers[keys == key]
            for of, run, group in self._runs(ids, None if len(chosen) == self.nsim else chosen):
                try:
                    of.keyframe(key)
                except ValueError as error:
                    self._fail(group, str(error))
                else:
                    of.put(key, run)
        if stage:
            fine = numbers[self._status[numbers] == 0]
            if len(fine):
                for of, run, _ in self._runs(ids, None if len(fine) == self.nsim else fine):
                    self._renew(of, stage, run)
        self._check(sims)

    def rollout(
        self,
        nstep: int,
        control: Any = None,
        control_spec: int = CTRL,
        record: Sequence[Any] = ("qpos",),
        ids: Ids = None,
        out: Mapping[Any, Any] | None = None,
    ) -> dict[Any, Any]:
        """As Batch.rollout has it.

        control   (n, nstep, mj_stateSize(model, control_spec)) on the device, of the batch's dtype; numbers of the CPU
                  that broadcast to it are sent, which waits
        ids       numbers or a mask of the CPU: records of these n simulations are gathered on the CPU, which waits
        out       record -> DeviceArray, or an array of NumPy, which waits
        Returns record -> DeviceArray (n, nstep, ...) of the batch's dtype, or what `out` has.
        Errors: ValueError for ids on a device, whose number is not known without waiting.
        """
        nstep = steps(nstep)
        if device_of(ids) != HOST:
            self._refuse(
                "rollout", "ids", "numbers or a mask of the CPU, as their number is the records' first dimension"
            )
        sims = self._chosen(ids)
        if int(control_spec) & ~USER:
            raise UsageError("control_spec must be a subset of mjSTATE_USER")
        memory = self._arrays
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
        runs = [(of, memory.room(f"going {k}", 1).buffer, run) for k, (of, run, _) in enumerate(self._runs(ids, sims))]
        for _, mask, run in runs:
            memory.copy(memory.one if run is None else run, mask)
        for k in range(nstep):
            driven = None if controls is None else Place(controls, k * len(columns), len(columns))
            names = memory.names() if k == nstep - 1 else fields
            for of, mask, _ in runs:
                of.advance(1, names, mask, None if controls is None else columns, driven)
                memory.copy(of.going.buffer, mask)
            for item, places in recorded.items():
                at = k * sum(p.size for p in places)
                for p in places:
                    memory.copy(p.columns(0, p.size), found[item].columns(at, [p.size]))
                    at += p.size
        results = {}
        for item, buffer in found.items():
            array = DeviceArray(buffer, [nstep, *shapes[item]], self.nsim, self.dtype, self._number, self.stream)
            results[item] = self._handed_out(array, sims, targets[item])
        self._check(sims)
        return results

    def _target(self, out: Mapping[Any, Any], item: Any, shape: tuple[int, ...]) -> Any:
        """The caller's array that a record goes to, None for a new one."""
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
        """A record of some simulations, in the caller's array where there is one."""
        if sims is not None:
            some = array.numpy()[sims]
            if isinstance(target, np.ndarray):
                target[...] = some
                return target
            buffer = self._arrays.sent(some.reshape(len(sims), int(np.prod(array.tail))))
            array = DeviceArray(buffer, array.tail, len(sims), self.dtype, self._number, self.stream)
        if target is None:
            return array
        target[...] = array
        return target

    def _recorded(self, item: Any) -> list[Place]:
        """Return the parts of a record."""
        memory = self._arrays
        if isinstance(item, str):
            self.bind(item)  # raises for names that there are not
            found = [memory.fields[item] if item in STAGES else memory.field_of_state(item)]
        else:
            state = memory.live["state"].buffer
            found = [Place(state, first, count) for _, first, count in runs(memory.layout.columns_of(int(item)))]
        return [p for p in found if p.size]

    def _controls(self, control: Any, nstep: int, columns: int, sims: Array | None) -> Any:
        """A buffer (nsim, nstep columns), of which some simulations have numbers."""
        memory, n = self._arrays, len(self._sims(sims))
        buffer = memory.room("controls", nstep * columns).buffer
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
        memory.send(every, buffer)
        return buffer

    def _works(self, ids: Ids) -> Iterator[Work]:
        """Copies on the CPU, for calls that look at states alone: they wait."""
        refuse_callbacks()
        sims = selected(ids, self.nsim)
        self._begin(sims)
        if sims is not None and not len(sims):
            return
        copies, inputs = Memory(self.model, self.nsim, self.dtype.name), self._variants.host_inputs()
        state = self._host_state()
        copies.state[:], copies.time[:] = state, state[:, 0]
        for engine, group in self._variants.groups(sims, self._variants.active()):
            if isinstance(engine, Exception):
                self._fail(group, str(engine))
                continue
            if group is None or len(group):
                yield Work(copies, engine, group, inputs)

    # models that differ

    def values(self, name: str) -> Any:
        """As Batch.values has it; a DeviceArray where kernels read the numbers."""
        found = self._variants.values(name)
        return found if isinstance(found, DeviceArray) else super().values(name)  # type: ignore[misc]  # of Batch

    def expanded(self, name: str) -> Any:
        """As Batch.expanded has it; a DeviceArray where kernels read the numbers."""
        found = self._variants.values(name)
        return found if isinstance(found, DeviceArray) else super().expanded(name)  # type: ignore[misc]  # of Batch

    def _refuse(self, call: str, what: str, instead: str) -> NoReturn:
        raise ValueError(f"{call}: {what} are for device='cpu'; on a device expected {instead}")
