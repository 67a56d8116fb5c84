"""The model of each simulation of a batch on a device.

Fields that are inputs of kernels lie on the device, and their numbers are not inspected. Elements that a number
creates, such as a row of dry friction, exist in all simulations. Other fields are NumPy's arrays on the CPU, compared
before each call. Each different model has an engine; its kernels run for all simulations, and a mask selects results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._fields.inputs import TABLES
from .engine import Engine
from .variants import Variants, field_of, set_field

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._robot.law import Rigid

MOST_MODELS = 16


class DeviceVariants(Variants):
    """Models of the simulations on a device."""

    most_models = MOST_MODELS
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
