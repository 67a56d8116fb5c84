"""Fields of a batch on a device that its kernels do not give: the CPU's, of copies of the states, which wait.

These are range finders, and distances between geoms that loops find.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..advance import Last
from ..observing import observe, observe_step

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..engine import Engine
    from .fields import DeviceFields
    from .memory import DeviceMemory, Place

    Array = npt.NDArray[Any]


class FieldsFromCpu:
    """Fields of one engine on the CPU, whose fields on the device are `kernels`.

    run: simulations to update, None: all.
    """

    def __init__(self, engine: Engine, memory: DeviceMemory, kernels: DeviceFields) -> None:
        self.engine, self.memory, self.kernels = engine, memory, kernels

    def observe(self, at: Place, stages: tuple[int, ...], names: list[str], run: Any) -> None:
        """At states."""
        state, fields = self.copy(at), self.fields(names)
        with np.errstate(invalid="ignore"):
            observe(self.engine, state, self.values(), fields, stages)
        self.put(fields, run)

    def observe_step(self, at: Place, again: Place | None, names: list[str], found: dict[str, Place], run: Any) -> None:
        """Update fields of the last step.

        at     the states before it
        again  above zero where it was repeated from the defaults, None: nowhere
        found  the solver's results, by name
        """
        engine = self.engine
        begun, state = self.copy(at), self.copy(self.memory.live["state"])
        last = Last(begun[:, : engine.moved], {name: self.copy(place) for name, place in found.items()})
        anew = np.zeros(len(state), bool) if again is None else self.copy(again)[:, 0] > 0
        last.moved[anew] = engine.initial[: engine.moved]
        for x in last.found.values():
            x[anew] = 0
        fields = self.fields(names)
        with np.errstate(invalid="ignore", over="ignore"):
            observe_step(engine, state, self.values(), last, fields)
        for name, x in fields.items() if anew.any() else ():
            x[anew] = self.kernels.after_defaults(name)
        self.put(fields, run)

    def copy(self, place: Place) -> Array:
        return self.memory.array(place, [place.size]).numpy()

    def fields(self, names: list[str]) -> dict[str, Array]:
        return {name: self.copy(self.memory.fields[name]) for name in names}

    def values(self) -> dict[str, Array]:
        return {name: self.copy(self.memory.inputs[name]) for name in self.engine.varied}

    def put(self, fields: dict[str, Array], run: Any) -> None:
        for name, x in fields.items():
            place = self.memory.fields[name]
            if run is not None:  # others keep theirs
                still = ~(self.memory.numbers(run)[:, 0] > 0)
                x[still] = self.copy(place)[still]
            self.memory.send(x, place.buffer)
