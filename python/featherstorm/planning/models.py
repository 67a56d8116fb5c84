"""Several sets of a model's parameters, each for all samples of a planner."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from .. import _featherstorm

if TYPE_CHECKING:
    from ..model import Model
    from ..rollout import Rollout


def first_of(model: Model, models: int) -> Model:
    """Return the model with the first row of the bound parameters that have a row for each of `models` sets."""
    return model.bind(**{name: np.asarray(model.bound[name])[0] for name in with_rows(model, models)})


def with_models(rollout: Rollout, name: str, models: int, samples: int, robots: int) -> Rollout:
    """Return a rollout of robots * models * samples instances, whose parameters have a row for each, with its kernels.

    name  for messages
    Errors: ValueError where no bound parameter has a row for each of `models` sets.
    """
    model = rollout.model
    names = with_rows(model, models)
    if not names:
        raise ValueError(f"{name}: models is {models}, but no bound parameter of {model.name} has {models} rows")
    result = copy.copy(rollout)
    rows = np.tile(np.repeat(np.arange(models), samples), robots)
    bound = model.bind(**{what: np.asarray(model.bound[what])[rows] for what in names})
    vars(result).update(model=bound, sent={})
    return result


def with_rows(model: Model, models: int) -> list[str]:
    def shape(name: str) -> tuple[int, ...]:
        return (models, *_featherstorm.parameter_shape(model.robot, name))

    return [name for name, values in model.bound.items() if np.shape(values) == shape(name)]
