"""EnvFleet: environments of several tasks and robots in one batch, under one policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from .._evaluation.groups import Groups, Together
from .._memory.arrays import mask_of, refuse_pickle, to_numpy
from .._names import Fixed, expect, expect_shape
from ..device import HOST, device_number
from ..symbols import symbols, values_of
from .batch import EnvBatch
from .collecting import ACTION_NAME, Collected
from .task import Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ..typing import NumpyArray as Array
    from .collecting import Policy


class Layout(NamedTuple):
    """The layout of actions that all groups share.

    actions     size of an action
    low, high   range of an action (actions,)
    """

    actions: int
    low: Array
    high: Array


class Tasks(Task):
    """The tasks of a fleet as one, for learners."""

    def __init__(self, steps: int | None) -> None:
        self.steps = steps


class Lengths:
    """Control steps of the current episodes (B,) of all groups; writing changes them."""

    def __init__(self, views: Sequence[Array]) -> None:
        self.views = views

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        found = np.concatenate([np.asarray(view) for view in self.views])
        return found if dtype is None else found.astype(dtype)

    def __setitem__(self, key: Any, value: Any) -> None:
        found = np.array(self)
        found[key] = value
        for view, part in zip(self.views, np.split(found, np.cumsum([len(view) for view in self.views])[:-1])):
            view[:] = part


class EnvFleet(Fixed):
    """Environments of several tasks in one batch: one step, one layout of observations and actions.

        env = fs.tasks.fleet([(fs.tasks.make("Go1JoystickFlat"), 512), (fs.tasks.make("Go2JoystickFlat"), 512)], seed=1)
        obs, info = env.reset()
        obs, reward, terminated, truncated, info = env.step(actions)                 # actions (1024, 12)
        PPO(env, settings)                                                           # one policy for all

    Each group is an EnvBatch with the numbers of its environments in the whole (`first`), and has the bits of that batch.
    Groups run at the same time; see Fleet.

    obs       (B, n), or groups of them by name, which all tasks have; n is the largest of the tasks, and numbers that a task
              does not have are zero
    actions   (B, m), m the largest of the tasks; a task reads its first numbers. Where the ranges of the tasks are the
              same, actions are in the tasks' units. Else an action is in half ranges about the middle of each task's
              range, -1 to 1; for an infinite side in the task's units
    info      "final_obs", "_final_obs", "non_finite" of all environments, and "groups", the info of each group

    batches   the EnvBatch of each group
    rows      slice of the environments of each group
    Arrays are NumPy's, on the CPU. `pull_back` (SHAC) and `mirror` are those of single tasks.
    """

    _maker = "tasks.fleet"

    def __init__(
        self,
        groups: Sequence[tuple[Task, int]],
        seed: int = 0,
        dtype: npt.DTypeLike = "float32",
        autoreset: str = "same_step",
        threads: int | None = None,
        first: int = 0,
        tag: bool = False,
        device: object = "cpu",
        made: Sequence[EnvBatch] | None = None,
    ) -> None:
        """Make the environments.

        groups      (task, num_envs) for each group; tasks have one dt and the same groups of observations
        autoreset, threads, first   as for Env.batch
        tag         True: tell the policy which task it has, by one more number for each group in the observations
        device      "cpu"
        made        batches of the same tasks, whose kernels are used

        Errors: ValueError for no groups, tasks with another dt or other groups of observations, and the errors of
        Env.batch.
        """
        if device_number(device, "fleet") != HOST:
            raise ValueError(f"fleet: device is {device!r}, expected 'cpu'; on a device make a batch of each task")
        sizes = [checked_group(group, k) for k, group in enumerate(groups)]
        if not sizes:
            raise ValueError("fleet: there are no groups, expected (task, num_envs) for each")
        self._spread = Groups(sizes)
        self.num_envs, self.rows = self._spread.total, self._spread.rows
        self.first, self.dtype, self.tag, self.autoreset = int(first), np.dtype(dtype), bool(tag), autoreset
        self.batches: tuple[EnvBatch, ...] = tuple(
            made[k].resized(n, seed, first + rows.start)
            if made is not None
            else EnvBatch(task, n, seed, "cpu", dtype, autoreset, threads, "numpy", first=first + rows.start)
            for k, ((task, _), n, rows) in enumerate(zip(groups, sizes, self.rows))
        )
        dts, kinds = [batch.dt for batch in self.batches], [sorted(batch.groups) for batch in self.batches]
        for k, (dt, names) in enumerate(zip(dts, kinds)):
            if not np.isclose(dt, dts[0], rtol=1e-9):
                raise ValueError(
                    f"fleet: a control step of group 0 takes {dts[0]:g} s, of group {k} {dt:g} s; expected one dt"
                )
            if names != kinds[0]:
                raise ValueError(
                    f"fleet: group 0 observes {shown(kinds[0])}, group {k} {shown(names)}; expected the same groups of "
                    "observations"
                )
        self.dt = dts[0]
        more = len(self.batches) if tag else 0
        self.groups = {
            name: max(batch.groups[name] for batch in self.batches) + more for name in self.batches[0].groups
        }
        self.recording = self._layout()
        limits = [batch.task.steps for batch in self.batches]
        self.task = Tasks(None if None in limits else min(x for x in limits if x is not None))
        self._policies: dict[tuple[Any, int], Policy] = {}
        estimates = [batch.num_envs * batch.substeps * float(batch.model.nv) ** 2 for batch in self.batches]
        self._together = Together(estimates, max(batch.model.threads for batch in self.batches))

    def __repr__(self) -> str:
        kinds = ", ".join(f"{batch.num_envs} of {type(batch.task).__name__}" for batch in self.batches)
        return f"<featherstorm.EnvFleet {kinds}: {self.dtype}, dt {self.dt:g} s>"

    def __reduce__(self) -> NoReturn:
        refuse_pickle("fleet of environments", "pickle its tasks, and call tasks.fleet(...) there")

    # -- the layout

    def _layout(self) -> Layout:
        """Return the layout of actions, and keep how each group's follow from it."""
        recordings = [batch.recording for batch in self.batches]
        m = max(r.actions for r in recordings)
        low, high = (np.full(m, side) for side in (-1.0, 1.0))
        for r in recordings:
            if r.actions == m:
                low, high = np.array(r.low, float), np.array(r.high, float)
                break
        same = all(
            np.array_equal(r.low, low[: r.actions]) and np.array_equal(r.high, high[: r.actions]) for r in recordings
        )
        self._scales: list[tuple[Array, Array] | None] = [None] * len(recordings)
        if not same:
            finite = np.ones(m, bool)
            for k, r in enumerate(recordings):
                bounded = np.isfinite(r.low) & np.isfinite(r.high)
                finite[: r.actions] &= bounded
                self._scales[k] = (
                    np.where(bounded, (np.where(bounded, r.high, 1.0) + np.where(bounded, r.low, -1.0)) / 2, 0.0),
                    np.where(bounded, (np.where(bounded, r.high, 1.0) - np.where(bounded, r.low, -1.0)) / 2, 1.0),
                )
            low, high = np.where(finite, -1.0, -np.inf), np.where(finite, 1.0, np.inf)
        return Layout(m, low, high)

    def mask(self, group: str = "") -> npt.NDArray[np.bool_]:
        """Return which numbers of an observation exist, (B, n); group "action": which numbers of an action."""
        if group == "action":
            return self._spread.mask([batch.recording.actions for batch in self.batches])
        expect(group in self.groups, "mask: group", repr(group), f"one of {shown([*self.groups, 'action'])}")
        found = np.zeros((self.num_envs, self.groups[group]), bool)
        for batch, rows in zip(self.batches, self.rows):
            found[rows, : batch.groups[group]] = True
        if self.tag:
            found[:, -len(self.batches) :] = True
        return found

    def _observed(self, found: Sequence[Any], axis: int = 0) -> Any:
        """Return the observations of the groups in one layout."""

        def joined(parts: Sequence[Any], n: int) -> Array:
            all_of = self._spread.padded(parts, axis, n)
            for k, rows in enumerate(self.rows if self.tag else ()):
                all_of[(slice(None),) * axis + (rows, n - len(self.batches) + k)] = 1
            return all_of

        if isinstance(found[0], dict):
            return {name: joined([x[name] for x in found], n) for name, n in self.groups.items()}
        return joined(found, self.groups[""])

    # -- episodes

    def reset(self, *, seed: int | None = None, mask: npt.ArrayLike | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in each environment, or in those of a mask (B,) of bool: (obs, info).

        seed   a number: row i draws as environment first + i of that seed. None: the next episode
        """
        rows = mask_of("reset", mask, self.num_envs)
        if seed is not None and not isinstance(seed, (int, np.integer)):
            raise TypeError(f"reset: seed is a {type(seed).__name__}, expected a whole number or None")
        found = self._together(
            [
                lambda batch=batch, of=of: batch.reset(seed=seed, mask=rows[of])[0]  # type: ignore[misc]
                for batch, of in zip(self.batches, self.rows)
            ]
        )
        return self._observed(found), {}

    def step(self, actions: npt.ArrayLike) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """Advance by a control step: (obs, reward, terminated, truncated, info). actions (B, m)."""
        a = to_numpy(actions, "step", "actions", self.dtype)
        expect_shape("step: actions", a.shape, (self.num_envs, self.recording.actions))
        parts = []
        for batch, rows, scale in zip(self.batches, self.rows, self._scales):
            part = a[rows, : batch.recording.actions]
            parts.append(part if scale is None else (scale[0] + scale[1] * part).astype(self.dtype))
        found = self._together(
            [lambda batch=batch, part=part: batch.step(part) for batch, part in zip(self.batches, parts)]  # type: ignore[misc]
        )
        obs, reward, terminated, truncated, infos = zip(*found)
        info = {
            "final_obs": self._observed([x["final_obs"] for x in infos]),
            **{name: np.concatenate([x[name] for x in infos]) for name in ("_final_obs", "non_finite")},
            "groups": infos,
        }
        return self._observed(obs), *map(np.concatenate, (reward, terminated, truncated)), info

    def collect(
        self,
        steps: int,
        policy: Policy,
        weights: Mapping[str, Any] | None = None,
        finals: bool = True,
        keep: bool = False,
    ) -> Collected:
        """Run `steps` control steps in one call, under a policy; see EnvBatch.collect.

        The policy gets observations and returns actions in the fleet's layout. It is traced once for each group.
        Errors: ValueError for keep=True.
        """
        if keep:
            raise ValueError("collect: keep is True, which batches of one task alone have")
        own = [self._policy(policy, k) for k in range(len(self.batches))]
        found = self._together(
            [
                lambda batch=batch, of=of: batch.collect(steps, of, weights, finals)  # type: ignore[misc]
                for batch, of in zip(self.batches, own)
            ]
        )
        last = [x.final_observations for x in found]
        actions = [self._in_layout(k, np.asarray(x.actions)) for k, x in enumerate(found)]
        return Collected(
            self._observed([x.observations for x in found], 1),
            self._spread.padded(actions, 1, self.recording.actions),
            np.concatenate([x.reward for x in found], 1),
            np.concatenate([x.terminated for x in found], 1),
            np.concatenate([x.truncated for x in found], 1),
            self._observed(last, 1) if finals else None,
            {name: self._spread.padded([x.more[name] for x in found], 1) for name in found[0].more},
        )

    def _in_layout(self, k: int, actions: Array) -> Array:
        """Return actions of a group in the fleet's units."""
        scale = self._scales[k]
        return actions if scale is None else ((actions - scale[0]) / scale[1]).astype(actions.dtype)

    def _policy(self, policy: Policy, k: int) -> Policy:
        """Return the policy for the observations and actions of a group."""
        if (policy, k) in self._policies:
            return self._policies[policy, k]
        batch, scale = self.batches[k], self._scales[k]
        own = [float(i == k) for i in range(len(self.batches))] if self.tag else []

        def seen(obs: Any, name: str) -> Any:
            numbers = values_of(obs, "observation")
            missing = self.groups[name] - len(own) - len(numbers)
            return symbols([*numbers, *[0.0] * missing, *own])

        def of_group(obs: Any, w: Any, rng: Any) -> dict[str, Any]:
            padded = {name: seen(x, name) for name, x in obs.items()} if hasattr(obs, "keys") else seen(obs, "")
            found = policy(padded, w, rng)
            found = dict(found) if hasattr(found, "items") else {ACTION_NAME: found}
            if ACTION_NAME in found:
                values = values_of(found[ACTION_NAME], f"policy: {ACTION_NAME}", self.recording.actions)
                action = symbols(values[: batch.recording.actions])
                found[ACTION_NAME] = action if scale is None else scale[0] + scale[1] * action
            return found

        self._policies[policy, k] = of_group
        return of_group

    # -- the state

    def snapshot(self) -> dict[str, Array]:
        """Return all data that later steps depend on, by "group/array"; see EnvBatch.snapshot."""
        return {f"{k}/{name}": x for k, batch in enumerate(self.batches) for name, x in batch.snapshot().items()}

    def restore(self, snapshot: Mapping[str, npt.ArrayLike]) -> None:
        """Continue from the result of `snapshot`, of a fleet of the same groups.

        Errors: ValueError for others; then nothing has changed.
        """
        parts: list[dict[str, Any]] = [{} for _ in self.batches]
        for name, x in snapshot.items():
            k, _, array = name.partition("/")
            if not k.isdigit() or int(k) >= len(parts):
                raise ValueError(f"restore: there is no group of {name!r}, expected 0/... to {len(parts) - 1}/...")
            parts[int(k)][array] = x
        before = [batch.snapshot() for batch in self.batches]
        try:
            for batch, part in zip(self.batches, parts):
                batch.restore(part)
        except ValueError:
            for batch, part in zip(self.batches, before):
                batch.restore(part)
            raise

    @property
    def episode_length(self) -> Lengths:
        """Control steps of the current episodes (B,), which may be written by slices and masks."""
        return Lengths([batch.episode_length for batch in self.batches])

    def resized(self, num_envs: int, seed: int = 0, first: int = 0) -> EnvFleet:
        """Return a fleet of other environments in the same proportions, with the same kernels."""
        if not (num_envs >= len(self.batches)):
            raise ValueError(
                f"resized: num_envs is {num_envs}, expected {len(self.batches)} or more, one of each group"
            )
        ends = np.round(np.array([rows.stop for rows in self.rows]) * num_envs / self.num_envs).astype(int)
        for k in range(len(ends)):  # each group has an environment
            ends[k] = min(max(ends[k], (ends[k - 1] if k else 0) + 1), num_envs - (len(ends) - 1 - k))
        sizes = np.diff([0, *ends]).tolist()
        groups = [(batch.task, n) for batch, n in zip(self.batches, sizes)]
        return EnvFleet(groups, seed, self.dtype, self.autoreset, None, first, self.tag, made=self.batches)


def checked_group(group: Any, k: int) -> int:
    """Return the number of environments of a group. Errors: TypeError for another object."""
    if not isinstance(group, (tuple, list)) or len(group) != 2 or not isinstance(group[0], Task):
        raise TypeError(f"fleet: group {k} is {group!r}, expected (task, num_envs)")
    if int(group[1]) != group[1] or group[1] < 1:
        raise ValueError(f"fleet: num_envs of group {k} is {group[1]}, expected 1 or more")
    return int(group[1])


def shown(names: Sequence[str]) -> str:
    return ", ".join(name or "one group" for name in names)
