"""Networks with mirror symmetry.

The units of a hidden layer form two halves, which the mirror swaps. Let Q_k be the mirror of the input of layer k. A
network is symmetric, y(Q x) = Q y(x), if

    W_k = Q_k+1 W_k Q_k^T,   b_k = Q_k+1 b_k

It stays symmetric if each gradient is averaged with its mirror image.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..environment.mirror import Mirror, joined
from .adam import views_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Array = npt.NDArray[Any]


def of_halves(n: int) -> Mirror:
    """Return the mirror of a hidden layer of n units. Errors: ValueError if n is odd."""
    if n % 2:
        raise ValueError(f"mirror: a hidden layer has {n} units, expected an even number")
    return Mirror(np.roll(np.arange(n), n // 2))


def of_layers(given: Mirror, hidden: Sequence[int], made: Mirror) -> Mirror:
    """Return the mirror of the concatenated weights [W_0, b_0, W_1, ...], W_k (out, in), of a network.

    given, made   mirrors of the input and of the output
    hidden        sizes of the hidden layers
    """
    mirrors = [given, *map(of_halves, hidden), made]
    return joined(*(part for x, y in itertools.pairwise(mirrors) for part in (y.of_each(x), y)))


def made_alike(weights: Sequence[Array], image: Mirror) -> list[Array]:
    """Make random weights symmetric, without changing their expected size; biases are 0."""
    flat = np.concatenate([x.ravel() for x in weights])
    flat = (flat + image(flat)) * np.sqrt(flat.dtype.type(0.5))
    return views_of(flat, weights)
