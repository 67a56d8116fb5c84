"""Base class of the tasks of dm_control's suite, first states with its distributions, and distances in a plane."""

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
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

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


FREE, BALL, HINGE = 0, 1, 3  # mjtJoint


def unit(x: Any) -> Any:
    return x / np.linalg.norm(x)


def joint_positions(m: Any, rng: Any) -> Any:
    """Draw joint positions q (nq) for a mujoco.MjModel, as the suite does.

    joints with a range      uniform in the range
    hinges without a range   uniform in -pi to pi
    slides without a range   as in the file
    free joints              quaternion x / |x|, x four numbers uniform in 0 to 1. (Uniform orientations would need
                             normal numbers.)
    Errors: ValueError for a ball joint, which no task here has.
    """
    low, high = np.array(m.qpos0), np.array(m.qpos0)
    turns = []
    for joint in range(m.njnt):
        at, kind = int(m.jnt_qposadr[joint]), int(m.jnt_type[joint])
        if kind == BALL:
            raise ValueError(f"joint_positions: {m.joint(joint).name} is a ball joint, expected others")
        if kind == FREE:
            low[at + 3 : at + 7], high[at + 3 : at + 7] = 0, 1
            turns.append(at + 3)
        elif m.jnt_limited[joint]:
            low[at], high[at] = m.jnt_range[joint]
        elif kind == HINGE:
            low[at], high[at] = -np.pi, np.pi
    q = rng.uniform(low, high)
    for at in turns:
        q = np.concatenate([q[:at], unit(q[at : at + 4]), q[at + 4 :]])
    return q


def first_free(tries: int, draw: Callable[[], Any], touches: Callable[[Any], Any]) -> Any:
    """Return the first of `tries` draws without contact, or the last draw if all touch.

    If a draw touches with probability p, all touch with probability p^tries. Otherwise the result equals drawing until
    nothing touches.
    """
    found = draw()
    for _ in range(tries - 1):
        found = np.where(touches(found), draw(), found)
    return found


def untouched(m: Any, draw: Callable[[np.random.Generator], Any], count: int, seed: int = 0) -> npt.NDArray[Any]:
    """Draw positions q (count, nq) without contacts, as found by MuJoCo."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(m)
    rows: list[npt.NDArray[Any]] = []
    while len(rows) < count:
        data.qpos[:] = draw(rng)
        mujoco.mj_fwdPosition(m, data)
        if not data.ncon:
            rows.append(np.array(data.qpos))
    return np.array(rows)


def settled(
    m: Any, draw: Callable[[np.random.Generator], Any], passes: int, count: int, seed: int = 0
) -> npt.NDArray[Any]:
    """Draw states at rest and simulate `passes` steps in MuJoCo without controls. Return (q, v) (count, nq + nv)."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(m)
    rows = []
    for _ in range(count):
        mujoco.mj_resetData(m, data)
        data.qpos[:] = draw(rng)
        mujoco.mj_step(m, data, passes)
        rows.append(np.concatenate([data.qpos, data.qvel]))
    return np.array(rows)


PLANE = [0, 2]  # x and z


def turned(p: Any, angle: Any) -> Any:
    """Rotate p (2,) from x towards z by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * p[0] - s * p[1], s * p[0] + c * p[1]])


def square_to_segment(p: Any, a: Any, b: Any) -> Any:
    """Return the squared distance of p (2,) from the segment a b, whose length is not 0."""
    d = b - a
    r = p - a - d * np.clip(np.dot(p - a, d) / np.dot(d, d), 0.0, 1.0)
    return np.dot(r, r)


def segments_within(reach: float, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return True if the segments a b and c d are nearer than `reach`.

    If segments do not cross, the nearest points include an end of one of them.
    """
    ends = [square_to_segment(p, c, d) for p in (a, b)] + [square_to_segment(p, a, b) for p in (c, d)]
    near = np.minimum.reduce(np.stack(ends)) < reach * reach
    crosses = np.logical_and(side(a, b, c) * side(a, b, d) < 0, side(c, d, a) * side(c, d, b) < 0)
    return np.logical_or(near, crosses)


def side(a: Any, b: Any, p: Any) -> Any:
    """Return a number that is positive if p is to the left of a b."""
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def ends_of(capsule: Any) -> tuple[Any, Any]:
    """Return the ends of a capsule's segment, x and z in the axes of its body."""
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, capsule.quat)
    half = capsule.size[1] * axes.reshape(3, 3)[PLANE, 2]
    return capsule.pos[PLANE] - half, capsule.pos[PLANE] + half
