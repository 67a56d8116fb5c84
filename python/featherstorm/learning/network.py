"""A multilayer perceptron with its gradient, in numpy; the optimiser Adam; networks with mirror symmetry."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from ..environment.mirror import Mirror, joined
from ..environment.networks import LEARNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..typing import NumpyArray as Array


class Network:
    """Layers y_k = W_k x_k + b_k, x_k+1 = s(y_k); the last layer has no activation.

    weights   [W_0, b_0, W_1, ...], W_k (out, in), b_k (out)
    """

    def __init__(self, weights: Sequence[Array], activation: str) -> None:
        self.weights, self.activation = list(weights), activation
        self.function, self.slope = LEARNT[activation]

    @property
    def layers(self) -> int:
        return len(self.weights) // 2

    def __call__(self, x: Array) -> Array:
        """Return y (B, out) for x (B, in)."""
        for k in range(self.layers):
            x = x @ self.weights[2 * k].T
            x += self.weights[2 * k + 1]
            x = self.function(x) if k + 1 < self.layers else x
        return x

    def forward(self, x: Array) -> tuple[Array, list[tuple[Array, Array]]]:
        """Return y and, for `backward`, the input x_k and the output y_k of each layer before the activation."""
        kept = []
        for k in range(self.layers):
            y = x @ self.weights[2 * k].T
            y += self.weights[2 * k + 1]
            kept.append((x, y))
            x = self.function(y) if k + 1 < self.layers else y
        return x, kept

    def backward(self, kept: Sequence[tuple[Array, Array]], gy: Array) -> list[Array]:
        """Return the gradients of the weights from the gradient gy (B, out) of y."""
        return self.pull_back(kept, gy, False)[0]

    def pull_back(
        self, kept: Sequence[tuple[Array, Array]], gy: Array, by_input: bool = True
    ) -> tuple[list[Array], Array]:
        """Return the gradients of the weights and the gradient gx (B, in) of x.

        Without by_input, the second result is gy of the first layer instead of gx.

        gW_k = gy_k^T x_k,   gb_k = sum of gy_k,   gx_k = gy_k W_k,   gy_k-1 = gx_k s'(y_k-1)
        """
        gradients: list[Array] = []
        for k in reversed(range(self.layers)):
            x, _ = kept[k]
            gradients[:0] = [gy.T @ x, gy.sum(0)]
            if k or by_input:
                gy = gy @ self.weights[2 * k]
            if k:
                gy *= self.slope(kept[k - 1][1], x)
        return gradients, gy

    def by_input(self, kept: Sequence[tuple[Array, Array]], gy: Array) -> Array:
        """Return only gx (B, in), from the gradient gy (B, out) of y."""
        for k in reversed(range(self.layers)):
            gy = gy @ self.weights[2 * k]
            if k:
                gy *= self.slope(kept[k - 1][1], kept[k][0])
        return gy


def orthogonal(rng: np.random.Generator, sizes: Sequence[int], last: float) -> list[Array]:
    """Return weights for layers of these sizes, float32.

    Matrices are orthogonal times sqrt 2, the last one times `last`; biases are 0.
    """
    weights: list[Array] = []
    for k, (n, m) in enumerate(itertools.pairwise(sizes)):
        u, _, v = np.linalg.svd(rng.normal(size=(m, n)), full_matrices=False)
        gain = last if k == len(sizes) - 2 else np.sqrt(2)
        weights += [(gain * u @ v).astype(np.float32), np.zeros(m, np.float32)]
    return weights


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
