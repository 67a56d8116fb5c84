"""Fleet: batches of different robots, advanced together with one clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ._evaluation.groups import Groups, Together
from ._memory.arrays import mask_of, refuse_pickle
from ._names import Fixed, expect_one_of, with_hints
from .device import HOST, device_name, device_number
from .model import Model
from .simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from .typing import Array

STATE = ("q", "v", "act", "ctrl")


class Fleet(Fixed):
    """Groups of instances of different models, advanced together in time.

        fleet = fs.Fleet([(fs.load("quadruped.xml"), 3000), (fs.load("arm.xml"), 1000)], dt=0.02)
        fleet.step([legs, motors])                        # (3000, 12), (1000, 7): controls of each group
        fleet.step(both)                                  # or padded, (4000, 12)
        fleet.q                                           # a view of each group: (3000, 19), (1000, 7)
        fleet.padded("q"), fleet.mask("q")                # (4000, 19) with zeros, and which numbers exist

    Each group is a Simulation, with its bits. Groups run at the same time. The threads begin with the groups that took
    longest in the last step, and a thread without a group works on the blocks of the others. Instances are numbered
    from group to group. Variants of one topology need no groups: from_mujoco with a list of models.

    groups   (model, instances), or (model, instances, options): a dict with arguments of Simulation, such as substeps,
             law, ignore and kp; afterwards the tuple of Simulations
    dt       time of one step() of all groups [s]; a multiple of the timestep of each group with a world. None: the file's
             timestep, which all groups have then
    stream   as for Simulation; or a list with a stream for each group

    rows     slice of the instances of each group
    On a device the work of the groups is put on the stream one after the other, or on a stream for each group. Arrays are
    given and returned for each group there.
    Errors: ValueError for no groups, for models whose timesteps differ without a dt, and the errors of Simulation.
    """

    def __init__(
        self,
        groups: Sequence[tuple[Any, ...]],
        dt: float | None = None,
        device: object = "cpu",
        dtype: npt.DTypeLike = "float32",
        stream: int | Sequence[int] = 0,
    ) -> None:
        given = [group_of(group, k) for k, group in enumerate(groups)]
        if not given:
            raise ValueError("Fleet: there are no groups, expected (model, instances) for each")
        if dt is None:
            dt = common_timestep([model for model, _, _ in given])
        streams = [stream] * len(given) if isinstance(stream, (int, np.integer)) else list(stream)
        if len(streams) != len(given):
            raise ValueError(f"Fleet: stream has {len(streams)} numbers, expected {len(given)}, one for each group")
        self.device, self.dtype, self.dt = device_name(device_number(device, "Fleet")), np.dtype(dtype), float(dt)
        self.groups = tuple(
            Simulation(model, n, dt, **{"device": device, "dtype": dtype, "stream": on, **options})
            for (model, n, options), on in zip(given, streams)
        )
        self._spread = Groups([sim.instances for sim in self.groups])
        self.instances, self.rows = self._spread.total, self._spread.rows
        self._widths = {
            "q": [sim.model.nq for sim in self.groups],
            "v": [sim.model.nv for sim in self.groups],
            "act": [sim.model.n_act if sim._op == "world" else 0 for sim in self.groups],
            "ctrl": [sim.model.n_ctrl if sim._op == "world" else 0 for sim in self.groups],
        }
        self._driven = [sim.model.n_ctrl if sim._op == "world" else sim.model.nv for sim in self.groups]
        self._on_host = device_number(device, "Fleet") == HOST
        threads = max(sim.model.threads for sim in self.groups) if self._on_host else 1
        estimates = [sim.instances * sim.substeps * float(sim.model.nv) ** 2 for sim in self.groups]
        self._together = Together(estimates, threads)
        self._time, self._is_whole = 0.0, True

    def __reduce__(self) -> NoReturn:
        refuse_pickle("Fleet", "pickle its models and states, and make a Fleet there")

    def __repr__(self) -> str:
        kinds = ", ".join(f"{sim.instances} of {sim.model.name}" for sim in self.groups)
        return f"<featherstorm.Fleet {kinds}: {self.dtype}, dt {self.dt:g} s, {self.device}, time {self.time:g} s>"

    @property
    def time(self) -> float:
        """Time of all groups [s]."""
        return self._time

    # -- states

    @property
    def q(self) -> tuple[Array, ...]:
        """Positions (n, nq) of each group: views of the states, valid until the next step()."""
        return tuple(sim.q for sim in self.groups)

    @property
    def v(self) -> tuple[Array, ...]:
        """Velocities (n, nv) of each group: views of the states, valid until the next step()."""
        return tuple(sim.v for sim in self.groups)

    def padded(self, name: str) -> npt.NDArray[Any]:
        """Return a copy of "q", "v", "act" or "ctrl" of all groups, (B, the largest number), zeros elsewhere.

        Errors: ValueError on a device, and for another name.
        """
        self._named(name)
        parts = [
            getattr(sim, name) if n else np.zeros((sim.instances, 0), self.dtype)
            for sim, n in zip(self.groups, self._widths[name])
        ]
        return self._spread.padded(parts)

    def mask(self, name: str) -> npt.NDArray[np.bool_]:
        """Return which numbers of padded(name) exist, (B, the largest number) of bool; "drive": those of step()."""
        return self._spread.mask(self._driven if name == "drive" else self._widths[self._named(name, True)])

    def put(self, name: str, values: Any) -> None:
        """Write "q", "v", "act" or "ctrl": a list with an array for each group (None: unchanged), or a padded array.

        Errors: ValueError for wrong shapes and quaternions; then nothing is written.
        """
        self._named(name, isinstance(values, (list, tuple)))
        parts = self._spread.split(values, self._widths[name], "Fleet", name)
        before = [np.array(getattr(sim, name)) if x is not None and self._on_host and n else None
                  for sim, x, n in zip(self.groups, parts, self._widths[name])]  # fmt: skip
        try:
            for sim, x, n in zip(self.groups, parts, self._widths[name]):
                if x is not None and n:
                    setattr(sim, name, x)
        except BaseException:
            for sim, x in zip(self.groups, before):
                if x is not None:
                    getattr(sim, name)[:] = x
            raise

    def _named(self, name: str, anywhere: bool = False) -> str:
        expect_one_of("Fleet: name", name, STATE)
        if not self._on_host and not anywhere:
            raise ValueError(f"Fleet: padded arrays are on the CPU; on a device use {name} of each of fleet.groups")
        return name

    @property
    def status(self) -> npt.NDArray[np.int32]:
        """Status bits (B,) int32 of all instances, see Simulation.status."""
        return np.concatenate([sim.status for sim in self.groups])

    # -- time

    @with_hints
    def step(self, drive: Any = None, *, tau: Any = None, q_target: Any = None) -> None:
        """Advance all groups by dt.

        in   drive     of each group, ctrl (n, n_ctrl) of its file's actuators, for a robot without a world tau (n, nv):
                       a list of arrays (None: the previous ctrl, no tau), or a padded array (B, the largest number)
        in   tau       (n, nv) forces at the joints of each group [N m | N], also of those with a world
        in   q_target  (n, nv) or (n, nq) of each group without a world, whose option kp was given; see Simulation.step
        Errors: ValueError or TypeError for wrong arguments; no group is advanced then. RuntimeError after a step that
        ended with an error or by Ctrl-C, until reset().
        """
        if not self._is_whole:
            raise RuntimeError("Fleet: the last step did not end, so groups are at different times; call reset() first")
        names = {"drive": drive, "tau": tau, "q_target": q_target}
        if not self._on_host and not all(x is None or isinstance(x, (list, tuple)) for x in names.values()):
            raise ValueError("Fleet: on a device arguments of step are lists with an array for each group")
        widths = {"drive": self._driven, "tau": self._widths["v"], "q_target": self._widths["v"]}
        parts = {name: self._spread.split(x, widths[name], "Fleet", name) for name, x in names.items()}
        calls = [self._checked(k, *(parts[name][k] for name in names)) for k in range(len(self.groups))]

        def stepping(sim: Simulation, call: dict[str, Any]) -> Any:
            sim.time = self._time
            return lambda: sim.step(**call)

        self._is_whole = False
        self._together([stepping(sim, call) for sim, call in zip(self.groups, calls)])
        self._is_whole = True
        self._time += self.dt

    def _checked(self, k: int, drive: Any, tau: Any, q_target: Any) -> dict[str, Any]:
        """Return the arguments of a group's step. Errors: those that its step would raise."""
        sim = self.groups[k]
        is_world = sim._op == "world"
        if is_world and q_target is not None:
            raise TypeError(f"Fleet: group {k} has the world of a file, whose actuators have targets, and no q_target")
        if not is_world and drive is not None and tau is not None:
            raise TypeError(f"Fleet: tau of group {k} is given twice, as drive and as tau")
        if q_target is not None and sim._numbers.get("kp") is None:
            raise TypeError(f"Fleet: q_target of group {k} needs its option kp: (model, instances, dict(kp=...))")
        found = {("ctrl" if is_world else "tau"): drive, "q_target": q_target}
        if tau is not None:
            found["tau"] = tau
        call = {name: x for name, x in found.items() if x is not None}
        if not self._on_host:
            return call
        for name, x in call.items():
            view = sim.ctrl if name == "ctrl" else sim.v
            if name == "q_target" and np.shape(x)[-1:] == (sim.model.nq,):
                view = sim.q
            if type(x) is np.ndarray and x.dtype == self.dtype and x.shape == view.shape:
                continue
            try:
                fitting = np.asarray(sim._fitting(name, x, view))
                if not is_world and fitting.dtype != self.dtype:
                    raise TypeError(f"{name} is {fitting.dtype}, expected {self.dtype}")
                call[name] = np.broadcast_to(fitting, view.shape)
            except (TypeError, ValueError) as error:
                raise type(error)(f"Fleet: group {k}: {str(error).removeprefix('Simulation: ')}") from None
        return call

    def reset(self, mask: npt.ArrayLike | None = None, q: Any = None, v: Any = None) -> None:
        """Set instances of all groups to q and v, as Simulation.reset.

        mask   (B,) of bool; None: all, and the time is zero
        q, v   None: each model's defaults; or a list for each group, or padded arrays
        A group alone, or its keyframe: fleet.groups[k].reset(...).
        """
        rows = mask_of("Fleet", mask, self.instances)
        q, v = (self._spread.split(x, self._widths[name], "Fleet", name) for name, x in (("q", q), ("v", v)))
        for sim, of, qk, vk in zip(self.groups, self.rows, q, v):
            sim.reset(None if mask is None else rows[of], qk, vk)
        if mask is None:
            self._time, self._is_whole = 0.0, True


def group_of(group: Any, k: int) -> tuple[Model, int, dict[str, Any]]:
    """Return a group as (model, instances, options). Errors: TypeError for another object."""
    expected = "expected (model, instances) or (model, instances, options)"
    if not isinstance(group, (tuple, list)) or len(group) not in (2, 3):
        raise TypeError(f"Fleet: group {k} is {group!r}, {expected}")
    model, n, *rest = group
    if not isinstance(model, Model):
        raise TypeError(f"Fleet: group {k} begins with a {type(model).__name__}, {expected}")
    options = dict(rest[0]) if rest else {}
    if own := {"dt", "device", "dtype"}.intersection(options):
        raise TypeError(f"Fleet: the options of group {k} have {', '.join(sorted(own))}, which all groups share")
    return model, n, options


def common_timestep(models: Sequence[Model]) -> float:
    """Return the timestep that all models have. Errors: ValueError where they differ or have none."""
    steps = [model.timestep if model.has_world else None for model in models]
    for k, step in enumerate(steps):
        if step is None:
            raise ValueError(f"Fleet: group {k} has no timestep of its own, expected dt")
        if step != steps[0]:
            raise ValueError(
                f"Fleet: the timestep of group 0 is {steps[0]:g} s, of group {k} {step:g} s; expected dt, a multiple of both"
            )
    return float(steps[0])  # type: ignore[arg-type]
