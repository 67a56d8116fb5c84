"""Methods of planning: how the costs of samples make the next plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._names import expect
from .planner import Planner

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ..typing import Vector


class PredictiveSampling(Planner):
    """The next plan is the best sample (Howell et al. 2022, "Predictive Sampling")."""

    kind = "best"


class MPPI(Planner):
    """The next plan is the mean of the samples, weighted by exp(-cost / temperature).

    Williams et al. 2017, Information Theoretic MPC.
    temperature   in the unit of the cost: a small one is greedy
    standardised  True: the temperature is in standard deviations of the costs of an iteration
    noise_cost    gamma of the term gamma sum Y (Y_i - Y) / sigma^2 that is added to the cost of sample Y_i about the
                  plan Y, where Williams et al. 2018 have gamma = temperature (1 - alpha); 0: none
    adapt         share, 0 to 1, of the weighted variance of the samples in the noise of the next iteration
    sigma_min     the smallest noise of later iterations with `adapt`, a number or (nu,)
    """

    kind = "softmax_mean"
    _settable = ("temperature", "standardised")

    def __init__(
        self,
        rollout: Callable[..., Any],
        horizon: int,
        nu: int | None = None,
        *,
        temperature: float = 1.0,
        standardised: bool = False,
        noise_cost: float = 0.0,
        adapt: float = 0.0,
        sigma_min: float | Vector = 0.0,
        **options: Any,
    ) -> None:
        name = type(self).__name__
        expect(temperature > 0, f"{name}: temperature", temperature, "a positive number")
        expect(0 <= adapt <= 1, f"{name}: adapt", adapt, "0 to 1")
        expect(noise_cost >= 0, f"{name}: noise_cost", noise_cost, "0 or more")
        self.temperature, self.standardised = float(temperature), bool(standardised)
        self.noise_cost, self.adapt, self.sigma_min = float(noise_cost), float(adapt), sigma_min
        super().__init__(rollout, horizon, nu, **options)

    def options(self) -> dict[str, Any]:
        return {**super().options(), "temperature": self.temperature, "standardised": self.standardised}

    def spread(self) -> dict[str, Any]:
        least = self.row("sigma_min", self.sigma_min, None).tolist()
        return {"sigma_min": least, "adapt": self.adapt, "noise_cost": self.noise_cost}


class DIAL(MPPI):
    """MPPI whose noise decreases over the iterations and towards the beginning of the plan, with standardised costs.

    Iteration i draws knot k with the noise sigma iteration_decay^i knot_decay^(K - 1 - k). Xue et al. 2024, Full-Order
    Sampling-Based MPC for Torque-Level Locomotion Control via Diffusion-Style Annealing.

    sigma             a number or (nu,): about half of the range of the controls
    temperature       in standard deviations of the costs of an iteration
    iteration_decay   factor of the noise from one iteration to the next
    knot_decay        factor of the noise from a knot to the one before it
    """

    def __init__(
        self,
        rollout: Callable[..., Any],
        horizon: int,
        nu: int | None = None,
        *,
        sigma: float | Vector = 1.0,
        temperature: float = 0.05,
        iteration_decay: float = 0.5,
        knot_decay: float = 0.9,
        iterations: int = 2,
        first_iterations: int = 10,
        knots: int | None = 5,
        interpolation: str = "cubic",
        standardised: bool = True,
        **options: Any,
    ) -> None:
        for what, decay in (("iteration_decay", iteration_decay), ("knot_decay", knot_decay)):
            if not 0 < decay <= 1:
                raise ValueError(f"DIAL: {what} is {decay}, expected more than 0, at most 1")
        self.iteration_decay, self.knot_decay = float(iteration_decay), float(knot_decay)
        super().__init__(
            rollout, horizon, nu, sigma=sigma, temperature=temperature, iterations=iterations,
            first_iterations=max(first_iterations, iterations), knots=knots, interpolation=interpolation,
            standardised=standardised, **options,
        )  # fmt: skip

    def noise(self, what: str, value: npt.ArrayLike) -> npt.NDArray[np.float64]:
        row = self.row(what, super().noise(what, value), None).tolist()
        sigma = _featherstorm.annealed_sigma(row, self.iterations, self.knots, self.iteration_decay, self.knot_decay)
        return np.reshape(sigma, (self.iterations, self.knots, self.nu))


class CEM(Planner):
    """The next plan is the mean of the best samples, whose spread is the next noise (cross-entropy method).

    elites      number of best samples
    sigma_min   the smallest noise of later iterations, a number or (nu,)
    """

    kind = "elite_mean"
    _settable = ("elites",)

    def __init__(
        self,
        rollout: Callable[..., Any],
        horizon: int,
        nu: int | None = None,
        *,
        elites: int = 64,
        sigma_min: float | Vector = 0.0,
        iterations: int = 3,
        **options: Any,
    ) -> None:
        self.sigma_min = sigma_min
        super().__init__(rollout, horizon, nu, iterations=iterations, **options)
        if not (int(elites) == elites and 1 <= elites <= self.samples):
            raise ValueError(f"CEM: elites is {elites}, expected 1 to {self.samples}, the number of samples")
        self.elites = int(elites)

    def options(self) -> dict[str, Any]:
        return {**super().options(), "elites": self.elites}

    def spread(self) -> dict[str, Any]:
        return {"sigma_min": self.row("sigma_min", self.sigma_min, None).tolist()}
