"""The calls of a batch whose simulations are on a device; those that are not here take copies on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import mujoco
import numpy as np

from ...device import HOST, DeviceArray, device_of, place
from ...robot.law import law_of
from ..arguments import selected, stage_number, steps, whole
from ..engine import Engine
from ..errors import UsageError
from ..fields.sensors import rows_of
from ..fields.table import ACC, DATA_FIELDS, POS, STAGES, VEL
from ..memory import Memory
from ..missing import not_of_this_model, why_not
from ..robots import mocap_acts, refuse_callbacks
from ..simulations import Simulations, Work
from ..state import COMPONENTS, INTEGRATION, USER
from .fields import runs, why_not_on_a_device
from .memory import DeviceMemory, Place
from .steps import Steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    Array = npt.NDArray[Any]
    Ids = npt.ArrayLike | None

CTRL = int(mujoco.mjtState.mjSTATE_CTRL)


class CallsOnDevice(Simulations):
    """What a Batch has otherwise on a device. Calls put their work on the batch's stream and do not wait for it; what a call makes for
    the first time, kernels and memory, takes seconds.

    ids   of step, forward and reset: as on the CPU, which are sent, and the call waits; or a mask on the device, (nsim,) of the batch's
          dtype, above zero for the simulations that are meant
    """

    _arrays: DeviceMemory

    def _make_memory(self, device: int) -> None:
        self._number = device
        own = self._variants.own
        model = own.m
        of_state: tuple[str, ...] = ("eq_active",) if model.neq and own.moves else ()
        if own.moves and mocap_acts(model):
            if not own.can_follow_mocap:
                raise ValueError(
                    "Batch: a tendon passes an object on a mocap body on one side, which is checked on the CPU: expected device='cpu'"
                )
            of_state += ("mocap_pos", "mocap_quat")
        if of_state:
            active = np.ones(model.neq, bool) if "eq_active" in of_state else None
            law = law_of(self.law, "Batch")
            own = Engine(model, own.dtype, own.threads, active, law, of_state=of_state)
            self._variants.own = own
        self._arrays = DeviceMemory(own, self.nsim, device, self.stream)
        self._memory: Any = self._arrays
        self._steps = Steps(own, self._arrays)
        self._arrays.write(np.repeat(own.initial[None], self.nsim, axis=0))

    # arrays

    def bind(self, name: str) -> Any:
        """A DeviceArray (nsim, ...) of a field of mjData, live and of the batch's dtype. Fields that calls compute are to be read alone.

        Errors: ValueError for names that there are not, and with the reason for fields that are found on the CPU.
        """
        if name not in DATA_FIELDS:
            raise ValueError(why_not(self.model, name))
        shape = np.shape(getattr(self.template, name))
        if name in COMPONENTS:
            return self._arrays.component(name, shape)
        if name in self._arrays.bound:
            return self._arrays.bound[name]
        engine = self._variants.own
        if (reason := not_of_this_model(self.model, name) or why_not_on_a_device(engine, name)) is not None:
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
        state[:, 0] = self._arrays.time
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

    def _run(self, ids: Any) -> Any:
        """Which simulations run, on the device; None: all."""
        refuse_callbacks()
        run = self._arrays.room("run", 1)
        if device_of(ids) != HOST:
            self._begin(None)
            self._arrays.array(run, []).assign(ids, "ids")
            return run.buffer
        sims = selected(ids, self.nsim)
        self._begin(sims)
        if sims is None:
            return None
        mask = np.zeros((self.nsim, 1))
        mask[sims] = 1
        self._arrays.send(mask, run.buffer)
        return run.buffer

    def step(self, ids: Ids = None, nstep: int = 1, stage: int = 0) -> None:
        """As Batch.step has it."""
        nstep, stage = steps(nstep), stage_number(stage)
        run = self._run(ids)
        self._steps.advance(nstep, self._arrays.names(), run)
        self._renew(stage, run)

    def forward(self, ids: Ids = None, stage: int = ACC) -> None:
        """As Batch.forward has it."""
        stage = stage_number(stage)
        self._renew(stage, self._run(ids))

    def _renew(self, stage: int, run: Any) -> None:
        if stages := tuple(s for s in (POS, VEL, ACC) if s <= stage):
            self._steps.observe(stages, self._arrays.names(), run)

    def reset(self, ids: Ids = None, keyframe: npt.ArrayLike = -1, stage: int = ACC) -> None:
        """As Batch.reset has it."""
        stage = stage_number(stage)
        if device_of(ids) != HOST:
            if np.ndim(keyframe):
                self._refuse(
                    "reset", "keyframes of single simulations beside ids on the device", "one for all that are meant"
                )
            self._steps.put(int(whole(keyframe, (1,), -1, self.model.nkey, "keyframe")[0]), self._run(ids))
        else:
            numbers = self._sims(selected(ids, self.nsim))
            keys = whole(keyframe, (len(numbers),), -1, self.model.nkey, "keyframe")
            for key in np.unique(keys).tolist():
                chosen = numbers[keys == key]
                self._steps.put(key, self._run(None if len(chosen) == self.nsim else chosen))
        if stage:
            self._renew(stage, self._run(ids))

    def rollout(
        self,
        nstep: int,
        control: Any = None,
        control_spec: int = CTRL,
        record: Sequence[Any] = ("qpos",),
        ids: Ids = None,
        out: Mapping[Any, Any] | None = None,
    ) -> dict[Any, Any]:
        """As Batch.rollout has it, for all simulations.

        control   (nsim, nstep, mj_stateSize(model, control_spec)) on the device, of the batch's dtype; numbers of the CPU that broadcast
                  to it are sent, which waits
        Returns record -> DeviceArray (nsim, nstep, ...) of the batch's dtype.
        Errors: ValueError for ids and out, which are the CPU's.
        """
        nstep = steps(nstep)
        if ids is not None:
            self._refuse("rollout", "ids", "all simulations")
        if out:
            self._refuse("rollout", "out", "arrays of the engine")
        if int(control_spec) & ~USER:
            raise UsageError("control_spec must be a subset of mjSTATE_USER")
        memory, going = self._arrays, self._steps.going
        columns = memory.layout.columns_of(int(control_spec))
        controls = None if control is None else self._controls(control, nstep, len(columns))
        recorded = {item: self._recorded(item) for item in record}
        fields = [item for item, places in recorded.items() if item in STAGES and places]
        found = {item: memory.buffer(nstep * sum(p.size for p in places)) for item, places in recorded.items()}
        mask = memory.room("run", 1).buffer
        refuse_callbacks()
        self._begin(None)
        memory.copy(memory.one, mask)
        for k in range(nstep):
            given = None if controls is None else Place(controls, k * len(columns), len(columns))
            names = memory.names() if k == nstep - 1 else fields
            self._steps.advance(1, names, mask, None if controls is None else columns, given)
            for item, places in recorded.items():
                at = k * sum(p.size for p in places)
                for p in places:
                    memory.copy(p.columns(0, p.size), found[item].columns(at, [p.size]))
                    at += p.size
            memory.copy(going.buffer, mask)
        shapes = {
            item: np.shape(getattr(self.template, item)) if isinstance(item, str) else (sum(p.size for p in places),)
            for item, places in recorded.items()
        }
        return {
            item: DeviceArray(buffer, [nstep, *shapes[item]], self.nsim, self.dtype, self._number, self.stream)
            for item, buffer in found.items()
        }

    def _recorded(self, item: Any) -> list[Place]:
        """What a record is made of."""
        memory = self._arrays
        if isinstance(item, str):
            self.bind(item)  # raises for names that there are not
            found = [memory.fields[item] if item in STAGES else memory.field_of_state(item)]
        else:
            state = memory.live["state"].buffer
            found = [Place(state, first, count) for _, first, count in runs(memory.layout.columns_of(int(item)))]
        return [p for p in found if p.size]

    def _controls(self, control: Any, nstep: int, n: int) -> Any:
        """A buffer (nsim, nstep n)."""
        shape = (self.nsim, nstep, n)
        buffer = self._arrays.room("controls", nstep * n).buffer
        if (number := device_of(control)) == HOST:
            given = np.broadcast_to(np.asarray(control), shape).reshape(self.nsim, nstep * n)
            self._arrays.send(given, buffer)
            return buffer
        if number != self._number:
            raise ValueError(f"rollout: control is on {place(number)}, expected {place(self._number)} or the CPU")
        view = DeviceArray(buffer, [nstep, n], self.nsim, self.dtype, self._number, self.stream)
        view.assign(control, "rollout: control")
        return buffer

    def _works(self, ids: Ids) -> Iterator[Work]:
        """Copies on the CPU, for calls that look at states alone: they wait."""
        refuse_callbacks()
        sims = selected(ids, self.nsim)
        self._begin(sims)
        if sims is not None and not len(sims):
            return
        engine = self._variants.own
        copies = Memory(self.model, self.nsim, self.dtype.name)
        state = self._host_state()
        copies.state[:], copies.time[:] = state, state[:, 0]
        yield Work(copies, engine, sims, {})

    # what is the CPU's

    def _refuse(self, call: str, what: str, instead: str) -> NoReturn:
        raise ValueError(f"{call}: {what} are for device='cpu'; on a device expected {instead}")

    def expand(self, name: str) -> Any:
        """Not on a device: ValueError."""
        self._refuse("expand", f"numbers of {name} for each simulation", "those of the batch's model for all")

    def set_const(self, ids: Ids = None) -> None:
        """Not on a device: ValueError."""
        self._refuse("set_const", "models of single simulations", "the batch's model for all")

    def set_models(self, models: Any) -> None:
        """Not on a device: ValueError."""
        self._refuse("set_models", "models of single simulations", "the batch's model for all")
