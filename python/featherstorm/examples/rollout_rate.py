"""Control steps per second of a quadruped, with a traced cost: python -m featherstorm.examples.rollout_rate"""

import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import featherstorm as fs
from featherstorm.examples.quadruped_cost import rollout


def rates(
    samples: int, horizon: int, substeps: int, dtype: Literal["float32", "float64"], repeats: int, threads: int
) -> dict[str, float]:
    """Control steps per second, the best of some repeats, for controls (B, T, nu) that are there already, that numpy
    draws in each call, and that the rollout draws itself. Wall time; for one thread its processor time, so that other
    work of the machine does not count."""
    clock = time.thread_time if threads == 1 else time.perf_counter
    roll = rollout(threads, substeps)
    x0 = np.r_[roll.model.q0, np.zeros(roll.model.nv)].astype(dtype)
    mean, sigma, bound = np.zeros((horizon, 12)), 0.1, 1.0
    generator = np.random.Generator(np.random.Philox(0))

    def by_numpy() -> npt.NDArray[Any]:
        # samples last in memory, as the engine reads them
        U = generator.standard_normal((horizon, 12, samples), dtype=dtype)
        U *= np.dtype(dtype).type(sigma)
        U += mean[:, :, None].astype(dtype)
        return np.clip(U, -bound, bound, out=U).transpose(2, 0, 1)

    there = by_numpy()
    kinds: dict[str, Callable[[], Any]] = {
        "there": lambda: there,
        "numpy": by_numpy,
        "noise": lambda: fs.Noise(samples, mean, sigma, lower=-bound, upper=bound),
    }
    best: dict[str, float] = {}
    for _ in range(repeats + 1):  # the first makes the kernels; by turns, so that all kinds meet the same machine
        for name, controls in kinds.items():
            start = clock()
            costs = roll(x0, controls(), p=[0.3]).costs
            spent = clock() - start
            best[name] = min(spent, best.get(name, np.inf))
            assert np.isfinite(costs).all()
    return {name: samples * horizon / spent for name, spent in best.items()}


def main(
    samples: int = 4096,
    horizon: int = 25,
    substeps: int = 2,
    dtype: Literal["float32", "float64"] = "float32",
    repeats: int = 10,
    threads: int = 1,
) -> dict[str, float]:
    """Returns the rates by kind of controls, see `rates`."""
    rate = rates(samples, horizon, substeps, dtype, repeats, threads)
    print(
        f"go2, {dtype}, {threads} thread: {rate['there'] / 1e6:.2f} M control steps/s of {substeps} substeps, "
        f"{1e9 / rate['there'] / substeps:.0f} ns a substep with cost and controller; with noise by numpy "
        f"{rate['numpy'] / 1e6:.2f} M/s, with noise drawn in the rollout {rate['noise'] / 1e6:.2f} M/s"
    )
    return rate


if __name__ == "__main__":
    main()
