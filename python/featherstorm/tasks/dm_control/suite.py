"""Base class of the tasks of dm_control's suite: files, episodes and observations."""

from __future__ import annotations

import functools
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._optional import mujoco
from ...environment.env import Env
from ...loading import from_mujoco
from ...symbols import values_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State
    from ...model import Model


class SuiteTask(Env):
    """A task of dm_control's suite.

    Observation, reward and time limit are the suite's. An episode is truncated, as in the suite, at its end and never
    terminates (discount 1). If an action exceeds the range of the controls, the reward uses the action as given and the
    actuators use the clipped one.

    time_limit        of an episode [s]. None: the suite's
    flat_observation  True: the observation is one array of all parts in the suite's order; False: groups with the
                      suite's names
    """

    domain = ""
    """Name of the suite's domain and of its file."""
    seconds = 20.0
    """The suite's time limit [s]."""
    parts: Mapping[str, int] = {}
    """Parts of an observation: name -> number of values, in the suite's order."""
    clip = False

    def __init__(self, time_limit: float | None = None, flat_observation: bool = True) -> None:
        limit = self.seconds if time_limit is None else float(time_limit)
        if not limit > 0:
            raise ValueError(f"{self.domain}: time_limit is {time_limit}, expected a positive number of seconds")
        pause = self.compiled.opt.timestep
        if self.dt is not None:
            pause *= round(self.dt / pause)
        self.steps = None if np.isinf(limit) else int(np.ceil(limit / pause))
        self.flat_observation = flat_observation

    @property
    def compiled(self) -> Any:
        """mujoco.MjModel of the task; it must not be changed."""
        return compiled_file(self.domain)

    def model(self) -> Model:
        return from_mujoco(self.compiled, self.domain)

    def number(self, kind: str, name: str) -> int:
        """Return the number of a body, a geom, a site or a joint."""
        return int(getattr(self.compiled, kind)(name).id)

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        """Return the parts of an observation by name."""
        raise NotImplementedError(f"{type(self).__name__} has no method `sees`")

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        sees = self.sees(x, m)
        found = {name: values_of(sees[name], f"observe: {name}", size) for name, size in self.parts.items()}
        return [number for part in found.values() for number in part] if self.flat_observation else found

    @property
    def columns(self) -> dict[str, slice]:
        """Slice of each part in a flat observation."""
        ends = np.cumsum([0, *self.parts.values()]).tolist()
        return {name: slice(first, end) for name, first, end in zip(self.parts, ends, ends[1:])}


def suite_file(name: str) -> str:
    """Return the path of a file of the suite.

    Errors: FileNotFoundError if the package, which is not imported, is not installed.
    """
    found = find_spec("dm_control")
    if found is None or found.origin is None:
        raise FileNotFoundError(
            f"dm_control/{name}: its file comes with the package dm_control, which is not installed: pip install dm_control"
        )
    path = os.path.join(os.path.dirname(found.origin), "suite", f"{name}.xml")
    if not os.path.exists(path):
        raise FileNotFoundError(f"dm_control/{name}: there is no file {path}")
    return path


@functools.cache
def compiled_file(name: str) -> Any:
    """Return the mujoco.MjModel of a file of the suite."""
    return mujoco.MjModel.from_xml_path(suite_file(name))
