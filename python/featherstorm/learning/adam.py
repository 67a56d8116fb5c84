"""The optimiser Adam."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ..environment.mirror import Mirror

    Array = npt.NDArray[Any]


class Adam:
    """Adam (Kingma, Ba 2015), on parameters in one contiguous array.

        m <- b1 m + (1 - b1) g,   v <- b2 v + (1 - b2) g^2
        p <- p - rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)

    numbers   all parameters (n,), float32
    views     the parameters in their shapes, as views of `numbers`
    image     mirror of all parameters, under which they are and stay symmetric. None: no symmetry
    """

    def __init__(
        self,
        parameters: Sequence[Array],
        rate: float,
        image: Mirror | None = None,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-5,
    ) -> None:
        self.image = image
        self.numbers = np.concatenate([p.ravel() for p in parameters]).astype(np.float32)
        self.views = views_of(self.numbers, parameters)
        self.m, self.v, self.t = np.zeros_like(self.numbers), np.zeros_like(self.numbers), 0
        self.rate, self.b1, self.b2, self.eps = rate, b1, b2, eps

    def step(self, gradient: Array, most: float) -> None:
        """Step against a gradient (n,), scaled down if its norm exceeds `most`."""
        if self.image:
            gradient = np.float32(0.5) * (gradient + self.image(gradient))
        norm = float(np.sqrt(np.square(gradient, dtype=np.float64).sum()))
        g = gradient * np.float32(min(1.0, most / (norm + 1e-8)))
        self.t += 1
        self.m += np.float32(1 - self.b1) * (g - self.m)
        self.v += np.float32(1 - self.b2) * (g * g - self.v)
        root = np.sqrt(self.v / np.float32(1 - self.b2**self.t)) + np.float32(self.eps)
        self.numbers -= np.float32(self.rate / (1 - self.b1**self.t)) * self.m / root


def views_of(numbers: Array, parameters: Sequence[Array]) -> list[Array]:
    """Split numbers (n,) into views with the shapes of the parameters."""
    ends = np.cumsum([p.size for p in parameters])
    return [x.reshape(p.shape) for x, p in zip(np.split(numbers, ends[:-1]), parameters)]
