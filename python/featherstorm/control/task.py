"""Tasks: a robot in MuJoCo C, a planner with a model of its own, and what counts as success."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..planning import DIAL

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ..planning import Planner
    from ..rollout import Rollout
    from .plant import Plant
    from .run import Run

    Array = npt.NDArray[np.float64]


class Task:
    """Base of the tasks. A task has a `rollout` of the planner's model, bounds of its controls, and makes the robot.

    samples, iterations, horizon   of the planner, None: those of the class
    weights    of the terms of the cost, by their names in WEIGHTS; others have these values

    dt         time of a control step and period of the plans [s]
    seconds    time of a run [s]
    hold       time for which `is_reached` has to be true without a break, within `seconds` [s]. None: the task tracks a
               command, and its root mean square `error` has to be below `within`
    unit       of the error
    rest       (nu,) controls before the first plan;  lower, upper  (nu,) their bounds;  spread  (nu,) DIAL's sigma
    p          parameters of the cost
    """

    dt = 0.02
    seconds = 8.0
    hold: float | None = None
    within = 0.1
    unit = "m/s"
    samples, iterations, horizon, knots = 256, 2, 16, 5
    temperature = 0.1  # of DIAL
    WEIGHTS: ClassVar[Mapping[str, float]] = {}

    rollout: Rollout
    rest: Array
    lower: Array
    upper: Array
    spread: Array
    p: Array | None = None

    def __init__(
        self,
        *,
        samples: int | None = None,
        iterations: int | None = None,
        horizon: int | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        weights = dict(weights or {})
        if unknown := set(weights) - set(self.WEIGHTS):
            name, known = type(self).__name__, ", ".join(self.WEIGHTS)
            raise ValueError(f"{name}: weights have {min(unknown)!r}, expected some of {known}")
        self.weights = {**self.WEIGHTS, **weights}
        self.samples = self.samples if samples is None else samples
        self.iterations = self.iterations if iterations is None else iterations
        self.horizon = self.horizon if horizon is None else horizon

    def planner(self, seed: int = 0) -> Planner:
        """Return a planner, which begins with the controls `rest`."""
        planner = DIAL(
            self.rollout, self.horizon, len(self.rest), samples=self.samples, iterations=self.iterations, knots=self.knots,
            sigma=self.spread, temperature=self.temperature, lower=self.lower, upper=self.upper, seed=seed,
        )  # fmt: skip
        planner.reset(np.tile(self.rest, (self.horizon, 1)))
        return planner

    def plant(self, seed: int = 0, mass: float = 1.0, friction: float | None = None) -> Plant:
        """Return the robot at the beginning of a run. seed: of its state; mass, friction: see Plant."""
        raise NotImplementedError(f"{type(self).__name__} has no method `plant`")

    def error(self, plant: Plant) -> float:
        """Return the error of a task that tracks a command."""
        return 0.0

    def is_reached(self, plant: Plant) -> bool:
        """Return whether the robot is where a task with `hold` wants it."""
        return False

    def has_fallen(self, plant: Plant) -> bool:
        """Return whether the run has failed for good."""
        return not bool(np.isfinite(plant.data.qpos).all())

    def velocity(self, plant: Plant) -> Array:
        """Return the numbers that Run.velocities records after a step."""
        return np.zeros(0)

    def has_succeeded(self, run: Run) -> bool:
        return run.fell is None and (run.error < self.within if self.hold is None else run.reached is not None)
