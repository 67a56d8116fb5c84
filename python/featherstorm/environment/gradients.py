"""Cotangents of control steps, from the last to the first: of rewards and observations, with respect to actions.

A step of `collect(..., keep=True)` is run again from its initial state, one substep after the other. Then derivatives
are computed backwards: of the functions after the substeps, of each substep (pulling.passes), of its drives. On a
device its kernels do this, and arrays stay there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..device import HOST, device_of, place
from .pulling.parts import Place, bar, row_of
from .pulling.passes import Programs
from .recording import ACTION, DONE, KEY, MEMORY, REWARD, TAKEN, after_of

if TYPE_CHECKING:
    from ..typing import Array
    from .collecting import Collected
    from .pulling.parts import Arrays


class PullBack:
    """Cotangents of the steps of one `collect(..., keep=True)`, from the last to the first.

    back = env.pull_back(got)
    for t in reversed(range(T)):
        actions_bar = back.step(reward_bar[t], observation_bar, final_bar)       # observation_bar: of
                                                                                 got.observations[t + 1]

    t      the step that comes next
    state  cotangents of the state and the memory at the beginning of step t + 1, by name (B, n)

    On a device only `lost` and `shorten` wait.
    """

    def __init__(self, env: Any, got: Collected) -> None:
        if got.kept is None:
            raise ValueError("pull_back: expected what collect(..., keep=True) returned")
        self.env, self.kept, self.t = env, got.kept, int(got.kept[DONE].shape[0]) - 1
        count = int(got.kept[DONE].shape[1])
        if count != env.num_envs:
            raise ValueError(f"pull_back: what was collected has {count} environments, expected {env.num_envs}")
        there = device_of(got.kept[DONE])
        if there != env.library.device:
            raise ValueError(
                f"pull_back: what was collected is on {place(there)}, expected {place(env.library.device)}"
            )
        self.at = at = Place(env.library, env.num_envs, env.dtype)
        on_device = env.library.device != HOST
        programs = env.kernels.programs
        if on_device not in programs:
            programs[on_device] = Programs(env.kernels, at)
        self.programs: Programs = programs[on_device]
        self.state: Arrays = {}
        self.key = at.copy(env.view(KEY))
        self.lost_of_each: Any = None

    def step(self, reward_bar: Array | None = None, observation_bar: Any = None, final_bar: Any = None) -> Array:
        """Return actions_bar (B, actions) of step t, the step before that of the last call.

        reward_bar        (B,) of its reward; None: zero, as for the others
        observation_bar   (B, n), or groups by name: of the observation after it; ignored where an episode ended
        final_bar         of its last observation, where its episode ended

        Random numbers, times, parameters and contact forces are constants; with Runge-Kutta's method also the
        accelerations at the beginning of the last substep.
        """
        if self.t < 0:
            raise ValueError("pull_back: all steps have been pulled back")
        p, at, t, add = self.programs, self.at, self.t, self.programs.arithmetic.add_to
        r, drive = p.kernels.recording, p.passes.drive
        given = self.given(at, reward_bar, observation_bar, final_bar)
        now: Arrays = {**{name: row_of(x, t) for name, x in self.kept.items() if name != DONE}, KEY: self.key}
        # arrays that are not written keep their values
        bars = {name: self.going(at, x) for name, x in self.state.items() if name not in p.written}
        self.t -= 1
        now.update(p.take(now, at))
        first = now
        now = {**now, **(begun := p.passes.begin(now, at))}
        passes = []
        for k in range(r.substeps):
            state = {name: now[name] for name in (*p.passes.state, MEMORY) if name in now}
            now.update(p.drive(now, at))
            now.update(p.passes.move(now, k + 1 == r.substeps, at))
            passes.append({**now, **state})
        found = p.of_finish({**now, **given}, at) if p.of_finish else {}
        taken = [add(bars, found, at).pop(TAKEN, None)]
        for k, then in reversed([*enumerate(passes)]):
            p.passes.of_move(then, k + 1 == r.substeps, bars, at)
            given = {bar(drive): bars.pop(drive)} if drive in bars else {}
            if p.drive_remembers and MEMORY in bars:
                given[bar(after_of(MEMORY))] = bars.pop(MEMORY)
            if p.of_drive:
                add(bars, p.of_drive({**then, **given}, at), at)
                taken.append(bars.pop(TAKEN, None))
        p.passes.of_begin({**begun, **first}, bars, at)
        self.state = self.finite(bars)
        return self.of_actions(at, now, [x for x in taken if x is not None])

    def given(self, at: Place, reward_bar: Any, observation_bar: Any, final_bar: Any) -> Arrays:
        """Return cotangents of the outputs of a step, by the engine's arrays."""
        p, done = self.programs, row_of(self.kept[DONE], self.t)
        given = {bar(after_of(name)): self.going(at, x) for name, x in self.state.items() if name in p.written}
        if reward_bar is not None:
            given[bar(REWARD)] = at.given(reward_bar, 1, "reward_bar")
        for array, group in p.groups.items():
            n = p.kernels.recording.groups[group]
            both = (x[group] if hasattr(x, "keys") else x for x in (observation_bar, final_bar))
            after, last = (
                None if x is None else at.given(x, n, what) for x, what in zip(both, ("observation_bar", "final_bar"))
            )
            if after is not None or last is not None:
                given[bar(array)] = p.arithmetic.chosen(at, done, after, last, n)
        return given

    def going(self, at: Place, x: Any) -> Any:
        """Return x, with zeros where step t ended an episode."""
        return self.programs.arithmetic.going(at, row_of(self.kept[DONE], self.t), x)

    def of_actions(self, at: Place, now: Arrays, taken: list[Any]) -> Array:
        p = self.programs
        if not taken or p.of_take is None:
            return self.env.results(None).give(at.output(p.kernels.recording.actions)[1])
        whole = taken[0]
        for x in taken[1:]:
            whole = p.arithmetic.add(at, whole, x)
        fine, _ = p.arithmetic.finite(at, {bar(TAKEN): whole})
        return self.env.results(None).give(p.of_take({**now, **fine}, at)[bar(ACTION)])

    def finite(self, bars: Arrays) -> Arrays:
        if not bars:
            return {}
        p, at = self.programs.arithmetic, self.at
        found, lost = p.finite(at, bars)
        self.lost_of_each = lost if self.lost_of_each is None else p.add(at, self.lost_of_each, lost)
        return found

    @property
    def lost(self) -> int:
        """Number of environments' cotangents that were not finite.

        All cotangents of such an environment are set to zero.
        """
        return 0 if self.lost_of_each is None else int(np.asarray(self.lost_of_each).sum())

    def shorten(self, times: float) -> None:
        """Shorten the cotangents of environments' states that are longer than `times` their median."""
        if not self.state:
            return
        p, at = self.programs.arithmetic, self.at
        norm = np.sqrt(p.squares(at, self.state))
        factor = np.minimum(1, times * np.median(norm) / np.maximum(norm, 1e-30))
        self.state = {name: p.times(at, factor, x) for name, x in self.state.items()}
