"""Running normalisation to mean 0 and variance 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

LIMIT = 10.0  # bound of normalised numbers
FLOOR = 1e-8  # added to the variance; prevents a division by 0 for constant numbers


def rate_of(variance: Array) -> Array:
    """Return 1 / sqrt(variance + FLOOR), float32."""
    return (1 / np.sqrt(np.asarray(variance, float) + FLOOR)).astype(np.float32)


def normalised(x: Array, mean: Array, rate: Array) -> Array:
    """Return clip((x - mean) rate, -LIMIT, LIMIT), float32, for any x (..., n)."""
    y = np.subtract(x, mean, dtype=np.float32)
    y *= rate
    return np.clip(y, -LIMIT, LIMIT, out=y)


class Moments(NamedTuple):
    """Number, mean and variance (n,) of some rows, in float64."""

    rows: int
    mean: Array
    variance: Array


def moments_of(x: Array) -> Moments:
    """Return the moments of rows x (B, n)."""
    mean = x.mean(0, dtype=float)
    return Moments(len(x), mean, np.square(x - mean).mean(0))


class Normaliser:
    """Mean and variance of all rows so far, in float64.

    mean, variance   (n,); 0 and 1 without rows
    count            number of rows
    """

    def __init__(self, n: int) -> None:
        self.mean, self.variance, self.count = np.zeros(n), np.ones(n), 0.0

    def update(self, x: Array) -> None:
        """Add rows (B, n)."""
        self.add(moments_of(x))

    def add(self, moments: Moments) -> None:
        """Add rows by their moments: means and variances of two sets are combined (Chan, Golub, LeVeque)."""
        n, mean, variance = moments
        total = self.count + n
        change = mean - self.mean
        self.variance = (self.variance * self.count + variance * n + change**2 * (self.count * n / total)) / total
        self.mean = self.mean + change * (n / total)
        self.count = total

    def __call__(self, x: Array) -> Array:
        return normalised(x, self.mean.astype(np.float32), rate_of(self.variance))

    def slope(self, y: Array) -> Array:
        """Return dy/dx (..., n) at the output y; it is 0 where y is at a limit."""
        return rate_of(self.variance) * (np.abs(y) < LIMIT)
