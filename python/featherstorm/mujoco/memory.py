"""The arrays of a batch in the engine's memory: states, and the fields that were bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import _featherstorm
from .fields.table import INTEGERS
from .state import Layout

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]


class Memory:
    """Arrays of all simulations.

    state    (nsim, layout.size)
    time     (nsim,) in double, because the time in `state` is rounded
    warning  (nsim, mjNWARNING, 2)
    fields   name -> (nsim, n) memory of a bound field
    """

    def __init__(self, m: Any, nsim: int, dtype: str) -> None:
        self.nsim, self.dtype, self.layout = nsim, dtype, Layout(m)
        self.state: Array = _featherstorm.Buffer(dtype, nsim, self.layout.size).view([self.layout.size])
        self.time = np.zeros(nsim)
        self.warning = np.zeros((nsim, int(mujoco.mjtWarning.mjNWARNING), 2), np.int32)
        self.fields: dict[str, Array] = {}
        self.bound: dict[str, Array] = {}

    def set_rows(self, sims: Any, row: Array) -> None:
        """Write rows of states in double."""
        self.state[sims], self.time[sims] = row, row[..., 0]

    def read_time(self) -> None:
        """Read times that the user wrote to the state."""
        written = self.state[:, 0] != self.time.astype(self.dtype)
        if written.any():
            self.time[written] = self.state[written, 0]

    def component(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return a field of the state, a live view."""
        view = self.state[:, self.layout.columns[name]]
        return view[:, 0] if name == "time" else view.reshape(self.nsim, *shape)

    def bind(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return a field that calls write; read only."""
        if name not in self.bound:
            size = int(np.prod(shape))
            view: Array = _featherstorm.Buffer(self.dtype, self.nsim, size).view([size])
            self.fields[name] = view
            whole = name in INTEGERS
            self.bound[name] = np.zeros((self.nsim, *shape), np.int32) if whole else view.reshape(self.nsim, *shape)
            self.bound[name].flags.writeable = False
        return self.bound[name]

    def renew_integers(self) -> None:
        """Copy computed fields of whole numbers to their integer arrays."""
        for name in INTEGERS:
            if name in self.bound:
                self.bound[name].flags.writeable = True
                self.bound[name][:] = np.round(self.fields[name]).reshape(self.bound[name].shape)
                self.bound[name].flags.writeable = False

    def names(self) -> list[str]:
        """Return the names of bound fields that have numbers."""
        return [name for name, x in self.fields.items() if x.shape[1]]
