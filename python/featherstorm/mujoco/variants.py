"""The model of each simulation: the batch's, with fields of its own per simulation, or one of the caller's.

Kernels are made for a model. Many of its fields can be their inputs (inputs.py); simulations that differ only in these
share an engine. The other fields are compared before each call, and each different model gets its own engine, in 20 to
100 ms.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .._fields.inputs import FRAMES, MOST, PLACES, check_values, is_input, is_read_here, present
from .._fields.table import DATA_FIELDS, KEYS, MODEL_FIELDS
from .arguments import UsageError, nearest
from .engine import Engine
from .programs import looks

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from .._memory.named_buffers import Columns
    from .._robot.closures import Rigid
    from .storage import Storage


MOST_MODELS = 256
DERIVED = frozenset(mujoco.MjModel._setconst_outputs)
EQ_ACTIVE = int(mujoco.mjtState.mjSTATE_EQ_ACTIVE)
MOCAP = int(mujoco.mjtState.mjSTATE_MOCAP_POS) | int(mujoco.mjtState.mjSTATE_MOCAP_QUAT)
SAME_FRAME = ("body_sameframe", "geom_sameframe", "site_sameframe")
SIZES = ("nq", "nv", "nu", "na", "nbody", "njnt", "ngeom", "nsite", "ncam", "nlight", "ntendon", "nsensordata", "nmocap",
         "neq", "nuserdata", "nout", "nactuator")  # fmt: skip


def option(name: str) -> str | None:
    """Return NAME of "opt.NAME", None for a field of the model itself."""
    return name[4:] if name.startswith("opt.") else None


def field_of(m: Any, name: str) -> npt.NDArray[Any]:
    """Return a field of a model as an array; single numbers have shape ()."""
    if (of := option(name)) is None:
        field: npt.NDArray[Any] = getattr(m, name)
        return field[: body_volumes(m)] if name == "bvh_aabb" else field
    value = np.asarray(getattr(m.opt, of))
    return value.astype(mujoco.MJTNUM_DTYPE if value.dtype.kind == "f" else np.int32)


def set_field(m: Any, name: str, value: npt.NDArray[Any]) -> None:
    of = option(name)
    if of is not None and value.shape == ():
        setattr(m.opt, of, value.item())
    elif of is not None:
        getattr(m.opt, of)[...] = value
    else:
        field_of(m, name)[...] = value


def body_volumes(m: Any) -> int:
    """Return the number of rows of bvh_aabb for bodies; rows for meshes follow."""
    first, count = np.asarray(m.body_bvhadr), np.asarray(m.body_bvhnum)
    return int((first + count)[first >= 0].max(initial=0))


class Variants:
    """Fields of the model that differ between simulations.

    expanded  name -> (nsim, ...) numbers per simulation that the user may write
    derived     name -> the same, derived by `set_const`
    inputs      name -> place of fields that are inputs of kernels
    memory      of the batch
    """

    memory: Storage

    most_models = MOST_MODELS
    looks: Any = staticmethod(looks)  # on a device None: other programs find bad numbers
    of_resets = frozenset(KEYS)  # fields that resets read per simulation

    def __init__(self, model: Any, nsim: int, dtype: str, threads: int, law: Rigid | None = None) -> None:
        self.nsim, self.dtype, self.threads, self.law = nsim, dtype, threads, law
        self.expanded: dict[str, npt.NDArray[Any]] = {}
        self.derived: dict[str, npt.NDArray[Any]] = {}
        self.inputs: dict[str, Columns] = {}
        self.framed = np.zeros(nsim, bool)  # True: frames are used as written, because set_const was called
        self.models: Any = None
        self.own = Engine(model.__copy__(), dtype, threads, law=law, looks=self.looks)
        self.model = self.own.m
        self.read = set(self.own.read)  # fields that the engines made until now depend on
        self.reset()

    def reset(self) -> None:
        """Forget all differences."""
        self.engines: dict[bytes, Engine | Exception] = {}
        self.key_of: list[bytes] = [b""] * self.nsim
        self.seen: dict[str, npt.NDArray[Any]] = {}
        self.seen_shared: bytes | None = None
        self.seen_read: set[str] = set()
        self.used: tuple[str, ...] = ()
        # equalities active in some simulation, once one was switched
        self.switched: npt.NDArray[np.bool_] | None = None
        self.follows_mocap = False
        # numbers that were not zero until now, of inputs that decide which elements exist
        self.there: dict[str, npt.NDArray[Any]] = {}

    # fields per simulation

    def expand(self, name: str) -> npt.NDArray[Any]:
        if name in self.expanded:
            return self.expanded[name]
        if self.models is not None:
            raise UsageError(f"{name}: the caller's models are set (set_models): change them and set them again")
        check_expandable(self.model, name)
        if name in self.derived:
            self.expanded[name] = self.derived.pop(name)
        else:
            self.expanded[name] = self.per_simulation(name)
        return self.expanded[name]

    def per_simulation(self, name: str) -> Any:
        """Return the model's numbers for each simulation, in the engine's memory where kernels read them there."""
        field = field_of(self.model, name)
        repeated = np.repeat(field[None], self.nsim, axis=0)
        if not field.size or len(self.inputs) >= MOST or not is_input(self.model, name):
            return repeated
        place = self.inputs[name] = self.memory.sent(repeated.reshape(self.nsim, field.size))
        return self.memory.array(place, field.shape)

    def input_numbers(self) -> dict[str, npt.NDArray[Any]]:
        """Return the numbers (nsim, n) of all inputs: views on the host, copies from a device, which wait."""
        return {name: self.memory.numpy(place) for name, place in self.inputs.items()}

    def values(self, name: str) -> npt.NDArray[Any] | None:
        """Return a field per simulation, None where it is shared."""
        return self.expanded.get(name, self.derived.get(name))

    @property
    def differing(self) -> dict[str, npt.NDArray[Any]]:
        return {**self.derived, **self.expanded}

    def model_of(self, sim: int) -> Any:
        """Return the model that a simulation runs on, without its own fields."""
        if self.models is None:
            return self.model
        return self.models if isinstance(self.models, mujoco.MjModel) else self.models[sim]

    @property
    def distinct_models(self) -> list[Any]:
        return self.models if isinstance(self.models, list) else [self.model if self.models is None else self.models]

    def write(self, sim: int, m: Any) -> Any:
        """Write a simulation's own fields to a model of the same sizes."""
        for name, values in self.numbers().items():
            set_field(m, name, values[sim])
        return m

    def set_const(self, sims: npt.NDArray[Any]) -> dict[int, Exception]:
        """Run mj_setConst for each; return its exceptions by number.

        Frames that equalled others are used as written from now on.
        """
        if self.models is not None:
            raise UsageError("set_const: the caller's models are set (set_models): change them and set them again")
        failed: dict[int, Exception] = {}
        candidates = [name for name in sorted(MODEL_FIELDS) if is_derived(self.model, name)]
        data, numbers = mujoco.MjData(self.model), self.numbers()
        for sim in sims.tolist():
            m = self.model.__copy__()
            for name, values in numbers.items():
                set_field(m, name, values[sim])
            try:
                mujoco.mj_setConst(m, data)
            except (mujoco.FatalError, ValueError) as error:
                failed[sim] = error
                continue
            self.framed[sim] = True
            for name in candidates:
                field = field_of(m, name)
                if name not in numbers:
                    if np.array_equal(field, field_of(self.model, name)):
                        continue
                    self.derived[name] = self.per_simulation(name)
                    numbers[name] = self.numbers_of(self.derived[name])
                numbers[name][sim] = field
        self.take({name: numbers[name] for name in candidates if name in numbers})
        return failed

    # fields that differ, as NumPy arrays, which they are here

    def numbers_of(self, values: Any) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = values
        return found

    def numbers(self) -> dict[str, npt.NDArray[Any]]:
        return {name: self.numbers_of(values) for name, values in self.differing.items()}

    def take(self, numbers: dict[str, npt.NDArray[Any]]) -> None:
        """Write changed numbers."""

    def set_models(self, models: Any | Sequence[Any] | None) -> None:
        if models is not None and (self.expanded or self.derived):
            raise UsageError("set_models: fields are per-simulation already (expand)")
        if models is not None and not isinstance(models, mujoco.MjModel):
            models = list(models)
            if len(models) != self.nsim:
                raise ValueError(f"set_models needs a model per simulation, got {len(models)} for {self.nsim}")
        for k, m in enumerate(models if isinstance(models, list) else [models] if models is not None else []):
            for size in SIZES:
                if getattr(m, size) != getattr(self.model, size):
                    raise ValueError(
                        f"set_models: model {k} has {size} {getattr(m, size)}, the batch's has "
                        f"{getattr(self.model, size)}"
                    )
        self.models = models
        self.reset()

    # engines

    def groups(self, ids: npt.NDArray[Any] | None, active: npt.NDArray[Any]) -> list[tuple[Any, Any]]:
        """Return (engine or exception, simulations) for each group of a call; None for all simulations.

        active  (nsim, neq) active equalities
        """
        self.check()
        while True:
            self.look(active)
            known = len(self.read)
            found = self.engines_of(ids)
            if len(self.read) == known:
                return found

    def engines_of(self, ids: npt.NDArray[Any] | None) -> list[tuple[Any, Any]]:
        """Return the groups by the keys of simulations; new engines may read more fields than the keys contain."""
        if not any(self.key_of):
            return [(self.own, ids)]
        if len(set(self.key_of)) > self.most_models:
            raise ValueError(
                f"the simulations have more than {self.most_models} different models; each has kernels of its own"
            )
        of: dict[bytes, list[int]] = {}
        for sim in range(self.nsim) if ids is None else ids.tolist():
            of.setdefault(self.key_of[sim], []).append(sim)
        if len(of) == 1 and ids is None:
            return [(self.engine(self.key_of[0], 0), None)]
        return [(self.engine(key, sims[0]), np.array(sims, np.intp)) for key, sims in of.items()]

    def is_read(self, name: str) -> bool:
        """Return whether an engine made so far depends on a field of the model, or Python reads it."""
        return name in self.read or is_read_here(self.model, name)

    def makes_engines(self, name: str) -> bool:
        """Return whether simulations that differ in a field have engines of their own."""
        return name not in self.used and name not in self.of_resets and self.is_read(name)

    def check(self) -> None:
        """Raise ValueError for numbers that the engine does not support."""
        if self.inputs:
            check_values(self.model, self.input_numbers())

    def expect(self, spec: int) -> None:
        """Set the mjtState bits of fields that may change while an engine runs."""
        if spec & EQ_ACTIVE and self.model.neq:
            self.switched = np.ones(self.model.neq, bool)
        if spec & MOCAP and self.own.mocap_acts:
            self.follows_mocap = True

    def look_at_mocap(self, state: npt.NDArray[Any]) -> None:
        """Let engines read poses of mocap bodies, once one is not where the model of its engine has it."""
        if self.follows_mocap or not self.own.mocap_acts:
            return
        placed = [name for name in PLACES if name in self.differing and name not in self.inputs]
        self.follows_mocap = self.models is not None or bool(placed) or len(self.own.moved_mocap(state)) > 0

    @property
    def of_state(self) -> tuple[str, ...]:
        """Fields of the state that are inputs of engines."""
        switches = ("eq_active",) if self.switched is not None else ()
        return switches + (("mocap_pos", "mocap_quat") if self.follows_mocap else ())

    def look(self, active: npt.NDArray[Any]) -> None:
        """Find the simulations whose model has changed since the last call."""
        usual = np.asarray(self.model.eq_active0, bool)
        if self.models is None and (self.switched is not None or ((active != 0) != usual).any()):
            before = usual if self.switched is None else self.switched
            self.switched = before | (active != 0).any(axis=0)
        self.used = tuple(sorted(self.inputs))
        now = {name: x for name, x in self.differing.items() if self.makes_engines(name)}
        fields = sorted(now)
        if self.framed.any() and not FRAMES.isdisjoint(self.differing):
            now["framed"] = self.framed
        if self.switched is None:
            now["eq_active"] = active != 0
        shared = self.shared_key()
        changed = np.full(self.nsim, self.models is not None and self.seen_read != self.read)
        for name, values in now.items():
            last = self.seen.get(name)
            if last is None:
                changed[:] = True
            elif not np.array_equal(last, values):
                changed |= (last != values).reshape(self.nsim, -1).any(axis=1)
        if shared != self.seen_shared:
            changed[:] = True
        if not changed.any():
            return
        self.seen_shared, self.seen_read = shared, set(self.read)
        for sim in np.flatnonzero(changed).tolist():
            key = shared + b"".join(self.field_key(name, now[name][sim]) for name in fields)
            if "framed" in now and self.framed[sim]:
                key += b"framed"
            if self.models is not None:
                key += model_key(self.read_of(self.model_of(sim)))
                usual = np.asarray(self.model_of(sim).eq_active0, bool)
            if self.switched is None and not np.array_equal(now["eq_active"][sim], usual):
                key += b"eq_active" + now["eq_active"][sim].tobytes()
            self.key_of[sim] = key
        self.seen = {name: values.copy() for name, values in now.items()}
        used = set(self.key_of)
        self.engines = {key: engine for key, engine in self.engines.items() if key in used}

    def shared_key(self) -> bytes:
        """Return the key of the properties that all simulations share.

        These are the fields that are inputs, and their numbers that may be nonzero.
        """
        used = {name: self.memory.numpy(self.inputs[name]) for name in self.used}
        for name, now in present(used).items() if used else ():
            self.there[name] = self.there.get(name, np.zeros_like(now)) | now
        fields = b"".join(
            name.encode() + b"?" + (self.there[name].tobytes() if name in self.there else b"") for name in self.used
        )
        switches = b"" if self.switched is None else b"switched" + self.switched.tobytes()
        return fields + switches + (b"mocap" if self.follows_mocap else b"")

    def field_key(self, name: str, value: npt.NDArray[Any]) -> bytes:
        """Return a field's key, b"" where it equals the batch's model."""
        return b"" if np.array_equal(value, field_of(self.model, name)) else name.encode() + value.tobytes()

    def engine(self, key: bytes, sim: int) -> Engine | Exception:
        if not key:
            return self.own
        if key not in self.engines:
            try:
                m = self.standing_for(sim)
                active = self.seen["eq_active"][sim].copy() if self.switched is None else self.switched.copy()
                engine = Engine(m, self.dtype, self.threads, active, self.law, self.used, self.of_state, self.looks)
                self.engines[key] = engine
                self.read |= engine.read
            except (ValueError, mujoco.FatalError) as error:
                self.engines[key] = error
                self.read |= MODEL_FIELDS  # its dependencies are unknown
        return self.engines[key]

    def standing_for(self, sim: int) -> Any:
        """Return the model of an engine, with a simulation's own numbers in fields that engines read, except inputs.

        Inputs that decide which elements exist have nonzero numbers where some simulation has one.
        """
        m = self.own_fields(sim)
        self.take_frames(sim, m)
        for name in self.used:
            memory, field = self.memory.numpy(self.inputs[name]), field_of(self.model, name).copy()
            if name in self.there:
                most = np.abs(memory).argmax(axis=0)
                largest = memory[most, np.arange(memory.shape[1])]
                flat = np.where(
                    self.there[name] & (field.ravel() == 0), np.where(largest != 0, largest, 1), field.ravel()
                )
                field = flat.reshape(field.shape)
            set_field(m, name, field)
        return m

    def own_fields(self, sim: int) -> Any:
        """Return a copy of a simulation's model with its own numbers in fields that engines read, except inputs."""
        m = self.read_of(self.model_of(sim))
        for name, values in self.differing.items():
            if self.makes_engines(name):
                set_field(m, name, values[sim])
        return m

    def read_of(self, m: Any) -> Any:
        """Return a copy of a model with the batch's numbers in fields that no engine reads."""
        twin = m.__copy__()
        for name in () if m is self.model else MODEL_FIELDS:
            own = field_of(self.model, name)
            if not self.is_read(name) and field_of(twin, name).shape == own.shape:
                set_field(twin, name, own)
        return twin

    def take_frames(self, sim: int, m: Any) -> None:
        """Use the frames of a simulation's model as written, where set_const was called for it."""
        if self.framed[sim]:
            for name in SAME_FRAME:
                getattr(m, name)[:] = 0


def is_derived(m: Any, name: str) -> bool:
    """Return True if mj_setConst may write a field."""
    return name in DERIVED and option(name) is None and field_of(m, name).dtype.kind == "f"


def model_key(m: Any) -> bytes:
    """Return a key, equal for equal models, from the model's saved bytes."""
    buffer = np.empty(mujoco.mj_sizeModel(m), np.uint8)
    mujoco.mj_saveModel(m, None, buffer)
    return hashlib.sha256(buffer.tobytes()).digest()


def check_expandable(m: Any, name: str) -> None:
    """Raise ValueError for a name that no field per simulation has."""
    if name in MODEL_FIELDS:
        return
    if name in DATA_FIELDS:
        raise ValueError(f"{name} is an MjData field: use bind({name!r})")
    if isinstance(getattr(m, name, None), np.ndarray):
        raise ValueError(f"{name} is asset data, shared by all simulations, and cannot be expanded")
    hint = f"; {name} is an MjOption field: use expand('opt.{name}')" if "opt." + name in MODEL_FIELDS else ""
    raise ValueError(f"{name} is not an expandable MjModel field" + (hint or nearest(name, MODEL_FIELDS)))
