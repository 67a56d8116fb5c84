"""Random states: row i depends on the seed and on i, not on the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._names import with_hints

if TYPE_CHECKING:
    import numpy.typing as npt


class Coordinates(Protocol):
    """The attributes of a model that a random state needs."""

    nq: int
    nv: int
    bodies: tuple[dict[str, Any], ...]
    quaternions: tuple[tuple[str, int], ...]
    dof_q: npt.NDArray[np.int64]
    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]


@with_hints
def random_state(
    model: Coordinates, instances: int, seed: int = 0, dtype: npt.DTypeLike = "float64", speed: float = 1.0
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Draw (q, v): angles and lengths within their limits (else +-pi, +-1 m), uniform orientations, v ~ N(0, speed).

    out  q (instances, nq), v (instances, nv) with standard deviation `speed` [rad/s | m/s]
    """
    nq, nv = model.nq, model.nv
    numbers = np.random.Generator(np.random.Philox(key=seed)).random((int(instances), nq + 2 * nv))
    q = np.empty((int(instances), nq))
    low, high = np.full(nq, -np.pi), np.full(nq, np.pi)
    for body in model.bodies:
        lengths = slice(*body["lengths"])
        low[lengths], high[lengths] = -1, 1
    for k, c in enumerate(model.dof_q):
        if c >= 0:
            low[c], high[c] = max(low[c], model.lower[k]), min(high[c], model.upper[k])
    q[:] = low + np.maximum(high - low, 0) * numbers[:, :nq]
    for _, c in model.quaternions:
        q[:, c : c + 4] = uniform_quaternion(numbers[:, c : c + 3])
    # Box-Muller transform
    u, w = numbers[:, nq : nq + nv], numbers[:, nq + nv :]
    v = speed * np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * w)
    return q.astype(dtype), v.astype(dtype)


def uniform_quaternion(u: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return unit quaternions w x y z from three numbers in [0, 1) each (Shoemake 1992)."""
    a, b, c = np.sqrt(1 - u[:, 0]), np.sqrt(u[:, 0]), 2 * np.pi * u[:, 1:].T
    return np.stack([b * np.cos(c[1]), a * np.sin(c[0]), a * np.cos(c[0]), b * np.sin(c[1])], axis=1)
