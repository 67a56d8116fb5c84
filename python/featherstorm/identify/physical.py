"""Least squares over physical parameters: a convex problem with the entropic divergence to a prior.

Coordinates y of a parameter are zero at the prior and without unit. For a body with P0 = L L^T

    P = L (1 + S(y)) L^T,  divergence tr(S) - log det(1 + S)

with an orthonormal basis S(y) of the symmetric matrices; for a positive number x = x0 (1 + y), y - log(1 + y); for any
other number x = x0 y, y^2 / 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .parameters import from_pseudo_inertia, nearest_physical, pseudo_inertia

if TYPE_CHECKING:
    from .parameters import Floats

STEPS = 200  # most Newton steps
BASIS = np.zeros((10, 4, 4))  # orthonormal, of the symmetric matrices
for _k, (_i, _j) in enumerate((i, j) for i in range(4) for j in range(i + 1)):
    BASIS[_k, _i, _j] = BASIS[_k, _j, _i] = 1 if _i == _j else np.sqrt(0.5)


class Problem:
    """min |W pi - z|^2 / 2 near a prior.

    in   W (rows, p), z (rows,) weighted equations; start (p,) the prior
    in   before (nb, 10) inertial parameters of the prior; scales: of the numbers behind them, (n,) and whether positive
    """

    def __init__(self, W: Floats, z: Floats, start: Floats, before: Floats, scales: list[tuple[Floats, bool]]) -> None:
        # bodies without mass and inertia are links between the joints of one body, and stay so
        bodies = np.flatnonzero(np.abs(before).max(axis=1, initial=0) > 0)
        P0 = nearest_physical(pseudo_inertia(before[bodies]))
        L = np.linalg.cholesky(P0)
        maps = from_pseudo_inertia(L[:, None] @ BASIS @ np.swapaxes(L, 1, 2)[:, None])  # (bodies, 10 of y, 10 of pi)
        self.bodies = len(bodies)
        numbers = np.concatenate([np.zeros(0), *(s for s, _ in scales)])
        self.positive = np.concatenate([np.zeros(0, bool), *(np.full(len(s), positive) for s, positive in scales)])
        n, p = 10 * len(bodies), len(start)
        self.B = np.zeros((p, n + len(numbers)))
        for k, body in enumerate(bodies):
            self.B[10 * body : 10 * body + 10, 10 * k : 10 * k + 10] = maps[k].T
        self.B[10 * len(before) :, n:] = np.diag(numbers)
        self.start = start.copy()
        self.start[: 10 * len(before)].reshape(-1, 10)[bodies] = from_pseudo_inertia(P0)
        self.start[10 * len(before) :][~self.positive] = 0
        # R^T R = (W B)^T (W B),  R y = c
        triangle: Floats = np.asarray(np.linalg.qr(np.column_stack([W, z]), mode="r"))
        self.R, self.c = triangle[:, :-1] @ self.B, triangle[:, -1] - triangle[:, :-1] @ self.start

    def data(self, y: Floats) -> float:
        return 0.5 * float(np.sum((self.R @ y - self.c) ** 2))

    def divergence(self, y: Floats) -> tuple[float, Floats, Floats]:
        """Return the divergence from the prior, its gradient, and a factor F of its Hessian F^T F; infinite outside."""
        n = 10 * self.bodies
        S = np.einsum("bk,kij->bij", y[:n].reshape(-1, 10), BASIS)
        Z = np.eye(4) + S
        values, vectors = np.linalg.eigh(Z)
        number, positive = y[n:], self.positive
        if (values <= 0).any() or (number[positive] <= -1).any():
            return np.inf, y, self.R
        total = float(np.sum(values - 1 - np.log(values)))
        total += float(np.sum(np.where(positive, number - np.log1p(np.where(positive, number, 0)), number**2 / 2)))
        # the Hessian is U -> Z^-1 U Z^-1, whose factor is U -> Z^-1/2 U Z^-1/2
        inverse = (vectors / values[:, None, :]) @ np.swapaxes(vectors, 1, 2)
        root = (vectors / np.sqrt(values)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
        gradient, factor = np.zeros_like(y), np.zeros((len(y), len(y)))
        gradient[:n] = np.einsum("kij,bij->bk", BASIS, np.eye(4) - inverse).ravel()
        turned = np.einsum("bij,kjl,blm,nim->bnk", root, BASIS, root, BASIS, optimize=True)
        for b in range(self.bodies):
            factor[10 * b : 10 * b + 10, 10 * b : 10 * b + 10] = turned[b]
        gradient[n:] = np.where(positive, number / (1 + np.where(positive, number, 0)), number)
        factor[range(n, len(y)), range(n, len(y))] = np.where(positive, 1 / (1 + np.where(positive, number, 0)), 1)
        return total, gradient, factor

    def parameters(self, y: Floats) -> Floats:
        found: Floats = self.start + self.B @ y
        return found

    def least_squares(self) -> tuple[Floats, Floats]:
        """Return the least squares with the smallest y, and their covariance; zero where the equations tell nothing."""
        U, values, Vt = np.linalg.svd(self.R, full_matrices=False)
        kept = values > 1e-10 * values.max(initial=0)
        V = Vt[kept].T / values[kept]
        through = self.B @ V
        return self.parameters(V @ (U[:, kept].T @ self.c)), through @ through.T


def minimise(problem: Problem, regularisation: float) -> tuple[Floats, Floats]:
    """Return the parameters (p,) of least cost, and their covariance (p, p), the inverse of the Hessian.

    Newton's method for w data + regularisation divergence; the weight w of the data grows to 1, so that each stage
    begins near its minimum.
    """
    if not regularisation > 0:
        raise ValueError(f"inertias: regularisation is {regularisation}, expected a positive number")
    y = np.zeros(problem.B.shape[1])
    w = min(1.0, regularisation * len(y) / max(problem.data(y), 1e-300))
    divergence, gradient, factor = problem.divergence(y)
    for _ in range(STEPS):
        root = np.sqrt(w)
        cost = w * problem.data(y) + regularisation * divergence
        # (w R^T R + F^T F) step = -(w R^T (R y - c) + g), as least squares of the factors
        F = np.sqrt(regularisation) * factor
        right = np.concatenate([-root * (problem.R @ y - problem.c), -np.linalg.solve(F.T, regularisation * gradient)])
        Q, triangle = np.linalg.qr(np.vstack([root * problem.R, F]))
        step = np.linalg.solve(triangle, Q.T @ right)
        decrement = float(np.sum((triangle @ step) ** 2))
        length = 1.0
        while length > 1e-10:
            trial = y + length * step
            new = problem.divergence(trial)
            if w * problem.data(trial) + regularisation * new[0] <= cost - 0.1 * length * decrement:
                y, (divergence, gradient, factor) = trial, new
                break
            length /= 2
        if decrement < 1e-3 or length <= 1e-10:
            if w == 1 and (decrement < 1e-12 * max(cost, 1.0) or length <= 1e-10):
                break
            w = min(1.0, 30 * w)
    _, triangle = np.linalg.qr(np.vstack([problem.R, np.sqrt(regularisation) * factor]))
    through = problem.B @ np.linalg.inv(triangle)
    return problem.parameters(y), through @ through.T
