"""Levenberg and Marquardt's method for residuals that are computed for many candidates at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ..typing import Doubles as Floats

OUTLIER = 2.0  # a segment whose residual is so many times the median's has half the weight
DAMPINGS = 10.0 ** np.arange(-2, 5)  # factors of the last damping that an iteration tries, together


class Solution(NamedTuple):
    """The last point of an iteration.

    x (n,), starts (S, m)
    weights (S,)   of the squared residuals of segments, 1 without `robust`
    r (S, rows)    residuals; J (rows S, n) their weighted derivatives, starts eliminated
    history        half the sum of squares after each iteration; iterations: their number
    """

    x: Floats
    starts: Floats
    weights: Floats
    r: Floats
    J: Floats
    history: list[float]
    iterations: int


def solve(
    residuals: Callable[[Floats, Floats], Floats],
    x: Floats,
    lower: Floats,
    upper: Floats,
    scale: Floats,
    starts: Floats,
    *,
    step: float,
    iterations: int,
    tolerance: float,
    robust: bool = False,
) -> Solution:
    """Minimise 1/2 sum r^2 over x within bounds, and over numbers of single segments.

    robust   the cost of a segment is c^2/2 log(1 + |r_s|^2 / c^2) (Cauchy's), with c = OUTLIER times the median of
             |r_s|, anew in each iteration, minimised by weights 1 / (1 + |r_s|^2 / c^2)

    residuals(X (K, n), D (K, S, m)) -> (K, S, rows): candidates K, segments S. Segment s depends on x and D[:, s]
    alone, so one more candidate gives a column of the Jacobian for all segments. Each iteration takes two calls:
    differences for the Jacobian, then all `DAMPINGS`. Numbers of segments are eliminated by a QR factorisation of each
    segment.
    A candidate whose residuals are not finite has an infinite cost.
    Errors: ValueError where the residuals of the start are not finite.
    """
    S, m = starts.shape
    damping = 1e-3
    r = residuals(x[None], starts[None])[0]
    if not np.isfinite(r).all():
        raise ValueError(
            f"fit: the simulation of {np.sum(~np.isfinite(r).all(axis=1))} of {S} segments is not finite with the "
            "first numbers; begin with others, with shorter segments or with a population"
        )
    history, done, moves = [0.5 * float(np.sum(r**2))], 0, True
    for done in range(1, iterations + 1):  # noqa: B007  # the last one is returned
        if moves:
            c2 = outlier(r) if robust else np.inf
            Jx, Jd = jacobians(residuals, x, starts, r, upper, scale, step)
            Q, R, J, rest = eliminated(Jx, Jd, r, np.sqrt(weights_of(r, c2)))
            gradient, H = J.T @ rest.ravel(), J.T @ J
            cost = float(cost_of(r[None], c2)[0])
        free = ~(((x <= lower) & (gradient > 0)) | ((x >= upper) & (gradient < 0)))
        if not free.any() and not m:
            break
        X = np.clip(damped(x, H, gradient, free, damping), lower, upper)
        D = np.tile(starts, (len(X), 1, 1))
        if m:
            moved = r + np.einsum("srn,kn->ksr", Jx, X - x)
            D -= np.linalg.solve(R, np.einsum("srm,ksr->ksm", Q, moved)[..., None])[..., 0]
        found = residuals(X, D)
        costs = cost_of(found, c2)
        best = int(np.argmin(costs))
        moves = bool(costs[best] < cost)
        if not moves:
            damping *= 1e4
            if damping > 1e12:
                break
            continue
        small = np.abs(X[best] - x).max() <= 1e-9 * scale.max() and not m
        gain, damping = cost - costs[best], max(damping * DAMPINGS[best], 1e-12)
        x, starts, r = X[best], D[best], found[best]
        history.append(0.5 * float(np.sum(r**2)))
        if small or gain <= tolerance * costs[best]:
            break
    weights = weights_of(r, outlier(r) if robust else np.inf)
    Jx, Jd = jacobians(residuals, x, starts, r, upper, scale, step)
    J = eliminated(Jx, Jd, r, np.sqrt(weights))[2]
    return Solution(x, starts, weights, r, J, history, done)


def damped(x: Floats, H: Floats, gradient: Floats, free: npt.NDArray[np.bool_], damping: float) -> Floats:
    """Return the points (len(DAMPINGS), n) of all dampings: x - (H + d diag(H))^-1 gradient over the free numbers."""
    diagonal = np.maximum(np.diag(H), 1e-12 * max(np.diag(H).max(initial=0), 1e-300))
    X = np.tile(x, (len(DAMPINGS), 1))
    for k, factor in enumerate(DAMPINGS):
        A = H + damping * factor * np.diag(diagonal)
        X[k, free] -= np.linalg.solve(A[np.ix_(free, free)], gradient[free])
    return X


def outlier(r: Floats) -> float:
    """Return c^2 of Cauchy's cost for residuals (S, rows)."""
    return max(OUTLIER**2 * float(np.median(np.sum(r**2, axis=1))), 1e-300)


def weights_of(r: Floats, c2: float) -> Floats:
    """Return the weights (S,) of segments."""
    found: Floats = 1 / (1 + np.sum(r**2, axis=1) / c2)
    return found


def cost_of(r: Floats, c2: float) -> Floats:
    """Return the costs (K,) of residuals (K, S, rows), infinite where one is not finite."""
    squares = np.sum(np.where(np.isfinite(r), r, np.inf) ** 2, axis=2)
    found: Floats = 0.5 * np.sum(squares if np.isinf(c2) else c2 * np.log1p(squares / c2), axis=1)
    return found


def eliminated(Jx: Floats, Jd: Floats, r: Floats, root: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return Q, R of Jd, and the parts of Jx (rows, n) and r (S, rows) that no change of the segments' numbers removes.

    r + Jx dx + Jd dd is shortest for the dx that makes (1 - Q Q^T) (r + Jx dx) shortest. Both parts are multiplied by
    `root` (S,), the square roots of the segments' weights.
    """
    Q, R = np.linalg.qr(Jd)
    rest = r - (Q @ (np.swapaxes(Q, 1, 2) @ r[..., None]))[..., 0]
    J = (Jx - Q @ (np.swapaxes(Q, 1, 2) @ Jx)) * root[:, None, None]
    return Q, R, J.reshape(-1, Jx.shape[-1]), rest * root[:, None]


def jacobians(
    residuals: Callable[[Floats, Floats], Floats],
    x: Floats,
    starts: Floats,
    r: Floats,
    upper: Floats,
    scale: Floats,
    step: float,
) -> tuple[Floats, Floats]:
    """Return the Jacobians (S, rows, n) by x and (S, rows, m) by the numbers of segments, by one call of residuals."""
    n, m = len(x), starts.shape[1]
    h = step * np.maximum(scale, np.abs(x))
    h = np.where(x + h > upper, -h, h)
    X, D = np.tile(x, (n + m, 1)), np.tile(starts, (n + m, 1, 1))
    X[range(n), range(n)] += h
    D[range(n, n + m), :, range(m)] += step
    found = residuals(X, D) - r
    found /= np.concatenate([h, np.full(m, step)])[:, None, None]
    found[~np.isfinite(found)] = 0  # a segment that fails with other numbers tells nothing about them
    J = np.moveaxis(found, 0, -1)
    return J[..., :n], J[..., n:]
