"""Control sequences that are drawn where they are used, and interpolation between knots.

    noise = fs.Noise(4096, mean, sigma=0.3, seed=1, lower=-1, upper=1)   # mean (T, nu)
    costs = roll(x0, noise).costs                                       # no array (4096, T, nu) is made
    U = noise.controls("float32")                                       # the same numbers as an array

Each number is a function of its sample, step and component, of the seed and of `draw` alone (Philox4x32-10 and
Box-Muller; host/rollout/noise.h). It does not depend on the number of samples, on blocks, threads or the processor. On
a CUDA device it is the same up to rounding.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _featherstorm
from ._memory.arrays import shape_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from .typing import Array

INTERPOLATIONS = ("linear", "cubic", "hold")


class Noise:
    """Sequences U (samples, T, nu) = clip(mean + sigma z, lower, upper) with independent standard normal numbers z.

    samples         number of sequences
    mean            (T, nu)
    sigma           standard deviation: a number, (nu,) or (T, nu)
    seed, draw      whole numbers of 64 and 32 bits; another seed or draw gives other, independent numbers
    lower, upper    bounds, numbers or (nu,); None: none
    knots           z is drawn at this many equidistant times and interpolated; None: at each step
    interpolation   "linear", "cubic" or "hold", see interpolation_weights
    first           number of the first sample. The sequences are samples first .. first + samples - 1 of a larger whole,
                    with the numbers that these have there
    keep_mean       True: sample number 0 is the mean itself
    """

    def __init__(
        self,
        samples: int,
        mean: npt.ArrayLike,
        sigma: npt.ArrayLike = 1.0,
        *,
        seed: int = 0,
        draw: int = 0,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
        knots: int | None = None,
        interpolation: str = "linear",
        first: int = 0,
        keep_mean: bool = False,
    ) -> None:
        mean = np.array(mean, dtype=float)
        if mean.ndim != 2 or mean.shape[0] < 1:
            raise shape_error("Noise", "mean", mean.shape, ("T", "nu"))
        for what, n, least, bits in (
            ("samples", samples, 0, 32),
            ("seed", seed, 0, 64),
            ("draw", draw, 0, 32),
            ("first", first, 0, 32),
        ):
            if int(n) != n or not least <= n < 2**bits:
                raise ValueError(f"Noise: {what} is {n}, expected a whole number from {least} to 2^{bits} - 1")
        T, nu = mean.shape
        self.shape = (int(samples), T, nu)
        self.mean = mean
        self.sigma = np.array(sigma, dtype=float)
        if self.sigma.shape not in ((), (nu,), (T, nu)):
            raise shape_error("Noise", "sigma", self.sigma.shape, (T, nu))
        if self.sigma.ndim == 0:
            self.sigma = np.full(nu, float(self.sigma))
        self.lower, self.upper = (
            np.empty(0) if bound is None else per_control(what, bound, nu)
            for what, bound in (("lower", lower), ("upper", upper))
        )
        self.weights = np.empty(0) if knots is None else interpolation_weights(T, knots, interpolation)
        self.seed, self.draw, self.first = int(seed), int(draw), int(first)
        self.keep_mean = bool(keep_mean)

    def __repr__(self) -> str:
        samples, T, nu = self.shape
        knots = self.weights.shape[1] if self.weights.size else T
        return f"<featherstorm.Noise: {samples} samples of {T} steps of {nu} controls, {knots} knots, seed {self.seed}>"

    def native(self) -> _featherstorm.Controls:
        """Return the engine's description, for the array `u` of a sequence."""
        return _featherstorm.noise(
            "u", self.mean, self.sigma, self.lower, self.upper, self.weights, self.seed, self.draw, self.first,
            self.keep_mean,
        )  # fmt: skip

    def controls(self, dtype: npt.DTypeLike = "float32", threads: int = 1) -> npt.NDArray[Any]:
        """Return the sequences (samples, T, nu); the samples lie side by side in memory."""
        out = new(np.dtype(dtype).name, self.shape[0], list(self.shape[1:]))
        _featherstorm.draw(self.native(), out, threads)
        return out


def per_control(what: str, value: npt.ArrayLike, nu: int) -> npt.NDArray[np.float64]:
    value = np.array(value, dtype=float)
    if value.shape not in ((), (nu,)):
        raise shape_error("Noise", what, value.shape, (nu,))
    return np.ascontiguousarray(np.broadcast_to(value, (nu,)))


def interpolation_weights(T: int, knots: int, interpolation: str = "linear") -> npt.NDArray[np.float64]:
    """Return the weights (T, knots), read-only, of the knots at T steps: U[t] = sum over k of weights[t, k] knot[k].

    "linear"   knots at equal distances, the first at the first step, the last at the last
    "cubic"    the same times; cubic Hermite splines with the slopes (knot[k + 1] - knot[k - 1]) / 2 of Catmull and Rom
               [1 / knot], one-sided at the ends; may overshoot the knots
    "hold"     step t has knot floor(t knots / T)
    Errors: ValueError for another name or number of knots
    """
    if int(knots) != knots or not knots >= 1:
        raise ValueError(f"knots is {knots}, expected 1 or more")
    if interpolation not in INTERPOLATIONS:
        raise ValueError(f"interpolation is {interpolation!r}, expected one of {', '.join(INTERPOLATIONS)}")
    K, T = int(knots), int(T)
    if K > T:
        raise ValueError(f"knots is {K}, expected at most {T}, the number of steps")
    return _weights(T, K, INTERPOLATIONS.index(interpolation))


@functools.lru_cache(64)
def _weights(T: int, K: int, interpolation: int) -> npt.NDArray[np.float64]:
    weights = np.array(_featherstorm.interpolation_weights(T, K, interpolation)).reshape(T, K)
    weights.flags.writeable = False  # all calls share it
    return weights


def new(dtype: str, instances: int, tail: Sequence[int]) -> Array:
    """Make an array (instances, *tail) in the engine's layout, instance fastest."""
    return _featherstorm.Buffer(dtype, instances, int(np.prod(tail))).view(list(tail))
