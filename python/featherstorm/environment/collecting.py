"""Many steps of environments in one call, with the policy among the stages, for on-policy learners."""

from __future__ import annotations

import math
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _featherstorm
from .._evaluation.evaluation import tell_notices
from ..device import HOST
from ..symbols import symbols, values_of
from .draws import Draws
from .networks import Weights, mlp, numbers_of
from .recording import ACTION, DONE, KEY, REWARD, TERMINATED, TRUNCATED, Recording, Stage, final, observation
from .storage import Rows, is_engines, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..typing import NumpyArray as Array

    Policy = Callable[[Any, "Weights", Draws], Any]

__all__ = ["Collected", "Weights", "collect", "mlp", "normal_action"]

DRAWN = "env_draw_policy"
ACTION_NAME = "action"


def told(name: str) -> str:
    return f"env_policy_{name}"


class Collected(NamedTuple):
    """Results of `EnvBatch.collect`.

    observations        (T + 1, B, n), or groups of them by name: the inputs of the policy, and of its next call
    actions             (T, B, actions), as the policy returned them
    reward              (T, B)
    terminated, truncated   (T, B) of bool
    final_observations  (T, B, n), or groups: the last ones of episodes that ended with a step; zeros elsewhere
    more                further results of the policy, (T, B, n) or (T, B), by name
    kept                with keep=True, for EnvBatch.pull_back: the inputs of each step, (T + 1, B, n) by names of the
                        engine's arrays; its action, and whether it ended an episode, (T, B, n)

    They are arrays of the batch's library: NumPy's on the CPU where none was named, the engine's own on a device, where
    `terminated` and `truncated` are numbers 0 and 1.
    """

    observations: Any
    actions: Array
    reward: Array
    terminated: Array
    truncated: Array
    final_observations: Any
    more: dict[str, Array]
    kept: dict[str, Array] | None = None


class Collecting:
    """A policy recorded for weights of some shapes.

    sizes     name -> size of each result of the policy
    weights   the weights that the policy read
    """

    def __init__(self, recording: Recording, policy: Policy, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.shapes = dict(shapes)
        self.sizes: dict[str, int] = {}
        self.stage = self.record(recording, policy)

    def record(self, recording: Recording, policy: Policy) -> Stage:
        with closing(_featherstorm.Trace()) as trace:
            self.weights = Weights(trace, self.shapes)
            rng = Draws(trace, DRAWN)
            obs = {group: symbols(trace.input(observation(group), n)) for group, n in recording.groups.items()}
            found = policy(obs[""] if set(obs) == {""} else obs, self.weights, rng)
            found = found if hasattr(found, "items") else {ACTION_NAME: found}
            if ACTION_NAME not in found:
                raise ValueError(f"collect: the policy returned {', '.join(found)}, expected an action among them")
            for name, value in found.items():
                size = recording.actions if name == ACTION_NAME else None
                values = values_of(value, f"policy: {name}", size)
                self.sizes[name] = len(values)
                trace.output(ACTION if name == ACTION_NAME else told(name), values)
        draws = (("policy", DRAWN, rng.count),) if rng.count else ()
        return Stage(trace, [], draws=draws, networks=tuple(self.weights._networks))


def collect(
    batch: Any, steps: int, policy: Policy, weights: Mapping[str, Any], finals: bool, keep: bool = False
) -> Collected:
    """Run control steps; see EnvBatch.collect."""
    values = {name: np.asarray(x, float) for name, x in weights.items()}
    key = (policy, tuple((name, x.shape) for name, x in values.items()))
    if key not in batch.kernels.collecting:
        made = Collecting(batch.recording, policy, {name: x.shape for name, x in values.items()})
        batch.kernels.collecting[key] = made, batch.kernels.with_policy(made.stage)
    made, sequence = batch.kernels.collecting[key]
    T, r, storage = steps, batch.recording, batch.storage
    seen = {group: rows(storage, T + 1, n) for group, n in r.groups.items()}
    ends = {group: rows(storage, T, n) for group, n in r.groups.items()} if finals else {}
    told_of = {name: rows(storage, T, n) for name, n in made.sizes.items()}
    flags = {name: rows(storage, T, 1) for name in (REWARD, TERMINATED, TRUNCATED)}
    state = batch.of(sequence, batch.state)
    inputs = storage.bound([*state, *map(observation, r.groups)])
    inputs = [x for x in inputs if sequence.components(x[0]) >= 0]
    moved = [name for name in state if name != KEY]
    kept = {name: rows(storage, T + 1, storage.sizes[name]) for name in moved} if keep else {}
    going = {
        **{observation(group): x for group, x in seen.items()},
        **kept,
    }  # sequences with data of the first step's beginning
    for name, x in going.items():
        x.begin(storage.view(name))
    written = [x.written(told(name) if name != ACTION_NAME else ACTION) for name, x in told_of.items()]
    written += [x.written(name) for name, x in (*flags.items(), *((final(g), x) for g, x in ends.items()))]
    written += [x.written(name, 1) for name, x in going.items()]
    if keep:
        kept[DONE] = rows(storage, T, 1)
        written.append(kept[DONE].written(DONE))
    outputs = [*storage.bound([] if keep else moved), *(x for x in written if x[3])]
    uniforms = {**batch.kernels.uniforms, **numbers_of(made.weights, values)}
    with batch.all_or_none():
        sequence.run(T, batch.num_envs, inputs, uniforms, outputs, None, batch.library.stream)
    tell_notices(batch.model)
    for name, x in going.items():
        storage.put(name, x.last())
    if keep:
        kept[ACTION] = told_of[ACTION_NAME]
    give = batch.results(None).give
    alone = set(r.groups) == {""}

    def by_group(of: dict[str, Rows]) -> Any:
        found = {group: give(x.numbers()) for group, x in of.items()}
        return found[""] if alone else found

    def flag(name: str) -> Any:
        found = give(flags[name].flags())
        return found if batch.library.device == HOST or is_engines(found) else found > 0

    return Collected(
        by_group(seen),
        give(told_of.pop(ACTION_NAME).numbers()),
        give(flags[REWARD].column()),
        flag(TERMINATED),
        flag(TRUNCATED),
        by_group(ends) if finals else None,
        {name: give(x.column() if made.sizes[name] == 1 else x.numbers()) for name, x in told_of.items()},
        {name: x.numbers() for name, x in kept.items()} if keep else None,
    )


def normal_action(mean: Any, log_std: Any, rng: Draws) -> dict[str, Any]:
    """Draw an action of independent normal numbers, with the logarithm of its density: `action`, `log_prob`, `mean`."""
    z = rng.normal(size=len(mean))
    log_prob = (-0.5 * z * z - log_std - 0.5 * math.log(2 * math.pi)).sum()
    return {ACTION_NAME: mean + np.exp(log_std) * z, "log_prob": log_prob, "mean": mean}
