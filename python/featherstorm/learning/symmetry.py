"""Networks whose left is like their right.

Units of a hidden layer are two halves that change places in the mirror. With Q_k, the mirror of what layer k is given, a network is its own image,
y(Q x) = Q y(x), where

    W_k = Q_k+1 W_k Q_k^T,   b_k = Q_k+1 b_k

and stays so along half the sum of a gradient and its image.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robot.mirror import Mirror, joined
from .adam import views_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Array = npt.NDArray[Any]


def of_halves(n: int) -> Mirror:
    """Of n units. ValueError where they have no halves."""
    if n % 2:
        raise ValueError(f"mirror: a hidden layer has {n} units, expected two halves")
    return Mirror(np.roll(np.arange(n), n // 2))


def of_layers(given: Mirror, hidden: Sequence[int], made: Mirror) -> Mirror:
    """Of the weights [W_0, b_0, W_1, ...] one behind the other, W_k (out, in), from what is given to what is made."""
    mirrors = [given, *map(of_halves, hidden), made]
    return joined(*(part for x, y in itertools.pairwise(mirrors) for part in (y.of_each(x), y)))


def made_alike(weights: Sequence[Array], image: Mirror) -> list[Array]:
    """Weights of random numbers as their own image, as large as they were; biases are 0."""
    flat = np.concatenate([x.ravel() for x in weights])
    flat = (flat + image(flat)) * np.sqrt(flat.dtype.type(0.5))
    return views_of(flat, weights)
