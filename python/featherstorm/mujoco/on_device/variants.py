"""Which model each simulation of a batch on a device runs on.

Fields that are inputs of kernels lie on the device, where nobody looks at their numbers: what a number decides, such as
a row of dry friction, is there for all simulations. Other fields are NumPy's arrays on the CPU, compared before each
call; each different model has an engine, whose kernels run for all simulations and are taken where they are meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine import Engine
from ..inputs import MOST, TABLES, check_values, is_input
from ..variants import Variants, field_of, set_field
from .memory import Place

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..._robot.law import Rigid
    from .memory import DeviceMemory

MOST_MODELS = 16


class DeviceVariants(Variants):
    """inputs      name -> place of those that are inputs of kernels
    memory      of the batch
    """

    most_models = MOST_MODELS
    of_resets: frozenset[str] = frozenset()  # resets there put one row for all
    memory: DeviceMemory

    def __init__(self, model: Any, nsim: int, dtype: str, threads: int, law: Rigid | None = None) -> None:
        if model.nhistory:
            raise ValueError("Batch: the model has delays or histories, which are for device='cpu'")
        super().__init__(model, nsim, dtype, threads, law)
        if self.of_state:
            self.own = Engine(self.model, dtype, threads, self.switched, law, of_state=self.of_state)

    def reset(self) -> None:
        """Forgets what differs.

        Equalities may be switched and mocap bodies moved from the beginning: nobody looks whether they are.
        """
        super().reset()
        if self.own.moves and self.model.neq:
            self.switched = np.ones(self.model.neq, bool)
        self.follows_mocap = self.own.mocap_acts

    def per_simulation(self, name: str) -> Any:
        """The model's numbers for each simulation: on the device where kernels can read them there."""
        field = field_of(self.model, name)
        repeated = np.repeat(field[None], self.nsim, axis=0)
        if not field.size or len(self.inputs) >= MOST or not is_input(self.model, name):
            return repeated
        place = Place(self.memory.sent(repeated.reshape(self.nsim, field.size)), 0, field.size)
        self.inputs[name] = place
        return self.memory.array(place, field.shape)

    def numbers_of(self, values: Any) -> npt.NDArray[Any]:
        """A copy on the CPU; it waits where the numbers are on the device."""
        return np.array(values)

    def take(self, numbers: dict[str, npt.NDArray[Any]]) -> None:
        """Writes what was changed of `numbers`."""
        for name, x in numbers.items():
            self.differing[name][...] = x

    def host_inputs(self) -> dict[str, npt.NDArray[Any]]:
        """Copies (nsim, n) on the CPU of all inputs; it waits."""
        return {name: self.numbers_of(self.memory.array(place, [place.size])) for name, place in self.inputs.items()}

    def active(self) -> npt.NDArray[Any]:
        """(nsim, neq) which equalities act, as far as it decides what there is."""
        return np.repeat(np.asarray(self.model.eq_active0)[None], self.nsim, axis=0)

    def check(self) -> None:
        """Numbers of inputs are not looked at."""

    def shared_key(self) -> bytes:
        """Return the key of the fields that are inputs."""
        for name in self.used:
            if TABLES.get(name, False):
                self.there[name] = np.ones(self.inputs[name].size, bool)
        return b"".join(name.encode() + b"?" for name in self.used)

    def engine(self, key: bytes, sim: int) -> Engine | Exception:
        """As on the CPU. Where it is made, which takes its time, numbers of inputs are checked."""
        if key and key not in self.engines:
            check_values(self.model, self.host_inputs())
        return super().engine(key, sim)

    def standing_for(self, sim: int) -> Any:
        """A simulation's model, but for inputs those of the batch's; those that decide are not zero."""
        m = self.own_fields(sim)
        self.take_frames(sim, m)
        for name in self.used:
            field = field_of(self.model, name).copy()
            if name in self.there:
                field[...] = np.where(field == 0, 1, field)
            set_field(m, name, field)
        return m
