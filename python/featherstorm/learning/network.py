"""A multilayer perceptron with its gradient, in numpy."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..environment.activations import LEARNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Array = npt.NDArray[Any]


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
