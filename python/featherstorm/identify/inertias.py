"""Inertial parameters and joint friction from logged motions and joint forces, physical ones if requested.

Physical parameters are a convex problem, with the entropic divergence to a prior. Coordinates y of a parameter are zero at the prior and without unit. For a body with P0 = L L^T

    P = L (1 + S(y)) L^T,  divergence tr(S) - log det(1 + S)

with an orthonormal basis S(y) of the symmetric matrices; for a positive number x = x0 (1 + y), y - log(1 + y); for any
other number x = x0 y, y^2 / 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._names import expect
from ..operations import rnea
from .base import BaseParameters, Columns, base_parameters, chosen, driven, regressor
from .checks import finite, on_one_thread, positive, rows_of
from .parameters import from_pseudo_inertia, inertial_parameters, nearest_physical, pseudo_inertia, with_inertias

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Unpack

    from ..model import Model
    from ..typing import Doubles as Floats

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
    expect(regularisation > 0, "inertias: regularisation", regularisation, "a positive number")
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


BOUND = {"armature": "armature", "viscous": "damping", "coulomb": "friction"}  # column -> name in Model.bind
LEAST_NOISE = 1e-9  # least standard deviation of the noise of a joint, as a part of the rms force
LEAST_SURPLUS = 0.1  # part of the equations beyond the rank that is needed to estimate the noise
GUESS = 0.01  # noise as a part of the rms force where the log is too short to estimate it


class Inertias(NamedTuple):
    """Identified numbers of a robot.

    model           the robot with these numbers bound: mass, com, inertia, and armature, damping, friction
    parameters      (p,) in the order of base.names
    deviation       (p,) standard deviations, prior included; the prior alone where the log tells nothing
    base            BaseParameters of the robot
    base_values     (r,) base parameters
    base_deviation  (r,) their standard deviations
    rank            rank of the log's regressor; below base.rank the log leaves some base parameters to the prior
    residual        (nv,) rms of the forces that the numbers do not explain [N m | N]
    noise           (nv,) standard deviations of the forces' noise that weighted the joints
    """

    model: Model
    parameters: Floats
    deviation: Floats
    base: BaseParameters
    base_values: Floats
    base_deviation: Floats
    rank: int
    residual: Floats
    noise: Floats


@on_one_thread
def inertias(
    model: Model,
    q: npt.ArrayLike,
    v: npt.ArrayLike,
    a: npt.ArrayLike,
    tau: npt.ArrayLike,
    f_ext: npt.ArrayLike | None = None,
    *,
    prior: Model | None = None,
    noise: npt.ArrayLike | None = None,
    consistent: bool = True,
    regularisation: float = 1.0,
    friction_velocity: float = 0.0,
    **columns: Unpack[Columns],
) -> Inertias:
    """Identify the inertial parameters of all bodies, and numbers of the joints, from states and joint forces.

    With consistent=True it minimises, over parameters that physical bodies can have,

        1/2 sum |(tau - Y pi) / noise|^2 + regularisation sum_i [tr(P_i P0_i^-1) - log det(P_i P0_i^-1) - 4]

    with the pseudo-inertias P_i of the bodies and P0_i of the prior. The second sum is the entropic divergence; it is
    infinite where a body is not physical. The problem is convex, and Newton's method finds its only minimum. Numbers of
    joints have the divergence of positive numbers. consistent=False: the least squares of smallest change.

    in   q (B, nq), v (B, nv), a (B, nv), tau (B, nv): what the joints apply, zero at a floating base
    in   f_ext (B, nb, 6) or (B, 6 nb)  moment about its origin [N m] and force [N] on each moving body, world axes
    in   armature, viscous, coulomb, offset  True: identify these numbers of the joints as well. Otherwise the model's
         armature is used, and tau is without friction
    in   prior  model with the numbers to begin with; None: `model` itself. Bodies without mass and inertia stay so
    in   noise  (nv,) standard deviation of tau [N m | N]; None: that of the residual of a least squares over
         the base parameters, or a hundredth of the rms force where the log is too short to tell
    in   friction_velocity  of `regressor`
    out  Inertias
    Source: Wensing, Kim and Slotine 2018 (pseudo-inertia); Lee, Wensing and Park 2019 (entropic divergence); Gautier
    1997 (weights of joints).
    Errors: ValueError for shapes, for rows that are not finite, for a prior with other bodies or coordinates, and for a
    model with loops or couplings.
    """
    kinds = chosen("inertias", columns)
    q, v, a, forces = rows_of("inertias", model, q, v, a, tau)
    B, nv = forces.shape
    if B == 0:
        raise ValueError("inertias: the log has no rows, expected 1 or more")
    prior = prior or model
    before = inertial_parameters(prior)
    same = prior.nv == nv and len(before) == model.nb
    expect(same, "inertias: prior", prior.name, f"a robot of {model.nb} bodies and {nv} coordinates")
    Y = regressor(model, q, v, a, friction_velocity=friction_velocity, **columns)
    W = Y.reshape(B * nv, -1)
    if f_ext is not None:
        f_ext = np.asarray(f_ext, float)
        finite("inertias: f_ext:", np.atleast_1d(f_ext))
        forces = forces + np.asarray(rnea(model, q, v, a)) - np.asarray(rnea(model, q, v, a, f_ext))
    if "armature" not in kinds:
        rotors = np.asarray(model.parameter("armature"), float)
        forces = forces - rotors * a
    base = base_parameters(model, **columns)
    rank, explained = base_fit(W[:, base.independent], forces)
    if noise is None:
        sigma = estimated_noise(forces, forces - explained, rank)
    else:
        sigma = positive("inertias: noise", noise, nv)
    weight = np.tile(1 / sigma, B)[:, None]

    scales = joint_scales(model, prior, kinds, np.sqrt(np.mean(forces**2, axis=0)), v, a)
    start = np.concatenate([before.ravel(), *(s for s, _ in scales)])
    problem = Problem(W * weight, forces.ravel() * weight[:, 0], start, before, scales)
    if consistent:
        found, covariance = minimise(problem, float(regularisation))
    else:
        found, covariance = problem.least_squares()
    residual = np.sqrt(np.mean((forces - (W @ found).reshape(B, nv)) ** 2, axis=0))
    through = base.combine @ covariance @ base.combine.T
    return Inertias(
        with_numbers(model, found, kinds), found, np.sqrt(np.maximum(np.diag(covariance), 0)), base,
        base.combine @ found, np.sqrt(np.maximum(np.diag(through), 0)), rank, residual, sigma,
    )  # fmt: skip


def base_fit(basis: Floats, forces: Floats) -> tuple[int, Floats]:
    """Return the rank of the columns of base parameters (B nv, r), and the forces (B, nv) of their least squares."""
    length = np.linalg.norm(basis, axis=0)
    length[length == 0] = 1
    triangle = np.asarray(np.linalg.qr(np.column_stack([basis / length, forces.ravel()]), mode="r"))
    values = np.linalg.svd(triangle[:, :-1], compute_uv=False)
    beta = np.linalg.lstsq(triangle[:, :-1], triangle[:, -1], rcond=1e-12)[0] / length
    return int(np.sum(values > 1e-8 * values.max(initial=0))), (basis @ beta).reshape(forces.shape)


def with_numbers(model: Model, found: Floats, kinds: tuple[str, ...]) -> Model:
    """Return the model with the parameters (p,) bound: inertias, armature, damping and friction."""
    n, dofs, bound = 10 * model.nb, driven(model), {}
    for k, kind in enumerate(kinds):
        if kind in BOUND:
            bound[BOUND[kind]] = np.array(model.parameter(BOUND[kind]), float)
            bound[BOUND[kind]][dofs] = found[n + k * len(dofs) : n + (k + 1) * len(dofs)]
    return with_inertias(model, found[:n], **bound)


def estimated_noise(forces: Floats, residual: Floats, rank: int) -> Floats:
    """Return standard deviations (nv,) of the noise of forces (B, nv), from the least squares' residual (B, nv)."""
    spread, surplus = np.sqrt(np.mean(forces**2, axis=0)), 1 - rank / forces.size
    if surplus < LEAST_SURPLUS:
        return GUESS * np.maximum(spread, max(0.1 * spread.max(initial=0), 1e-12))
    found: Floats = np.sqrt(np.mean(residual**2, axis=0) / surplus)
    return np.maximum(found, max(LEAST_NOISE * spread.max(initial=0), 1e-12))


def joint_scales(
    model: Model, prior: Model, kinds: tuple[str, ...], spread: Floats, v: Floats, a: Floats
) -> list[tuple[Floats, bool]]:
    """Return for each kind of joint number its prior and scale (n,), and whether it is positive.

    A prior of zero becomes the number that explains a hundredth of the joint's force.
    """
    dofs, found = driven(model), []
    sizes = {"armature": a, "viscous": v, "coulomb": np.ones_like(v), "offset": np.ones_like(v)}
    for kind in kinds:
        motion = np.sqrt(np.mean(sizes[kind] ** 2, axis=0))
        least = np.where(motion > 0, 0.01 * np.maximum(spread, 1e-12) / np.where(motion > 0, motion, 1), 1e-12)[dofs]
        if kind in BOUND:
            own = np.asarray(prior.parameter(BOUND[kind]), float)[dofs]
            found.append((np.where(own > 0, own, least), True))
        else:
            found.append((least, False))
    return found
