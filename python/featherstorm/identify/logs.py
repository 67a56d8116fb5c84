"""Logs of robots, cut into segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ..rollout import Rollout
    from .parameters import Floats


class Log(NamedTuple):
    """A log of a robot at the times of control steps.

    q (T + 1, nq), v (T + 1, nv)   states
    u (T, nu)                      controls, u[k] held from state k to k + 1; (T, 0) without any
    act (T + 1, n_act)             activations of a model file's actuators; None without any
    readings (T + 1, n)            what the rollout's `observe` predicts; None without it
    """

    q: Any
    v: Any
    u: Any
    act: Any = None
    readings: Any = None


class LogNoise(NamedTuple):
    """Standard deviations of a log: of q on the tangent space (nv,), v (nv,), readings (n,); numbers or arrays.

    Infinity: this quantity is not compared.
    """

    q: npt.ArrayLike
    v: npt.ArrayLike
    readings: npt.ArrayLike = 1.0


class Segments(NamedTuple):
    """Segments of logs: x0 (S, nx), U (S, L, nu), and the logged q, v (S, L, n), readings (S, L, ny) of each step."""

    x0: Floats
    U: Floats
    q: Floats
    v: Floats
    readings: Floats

    @classmethod
    def of(cls, rollout: Rollout, logs: Log | Sequence[Log], length: int, stride: int | None) -> Segments:
        model, parts = rollout.model, []
        if length < 1 or (stride is not None and stride < 1):
            raise ValueError(f"fit: segment is {length} and stride {stride}, expected 1 or more")
        logs = [logs] if isinstance(logs, Log) else list(logs)
        if not logs:
            raise ValueError("fit: logs are empty, expected 1 or more")
        for k, log in enumerate(logs):
            q, v, u, act, readings = checked(rollout, log, k)
            begins = range(0, len(u) - length + 1, stride or length)
            x = np.concatenate([q, v, *([act] if model.n_act else [])], axis=1)
            after = [np.arange(b + 1, b + length + 1) for b in begins]
            if after:
                parts.append((x[begins], u[np.array(after) - 1], q[after], v[after], readings[after]))
        if not parts:
            raise ValueError(f"fit: no log has {length} control steps, expected a shorter segment")
        return cls(*(np.concatenate(each) for each in zip(*parts)))


def checked(rollout: Rollout, log: Log, k: int) -> list[Floats]:
    """Return q, v, u, act, readings of a log in double. Errors: ValueError for shapes and rows that are not finite."""
    model = rollout.model
    q = np.asarray(log.q, float)
    rows = len(q) if q.ndim else 0
    u = np.asarray(log.u, float)
    if log.act is None and model.n_act and rollout.op == "world":
        raise ValueError(f"fit: log {k} has no act, expected the activations ({rows}, {model.n_act})")
    empty = np.zeros((rows, 0))
    readings = empty if log.readings is None else np.asarray(log.readings, float)
    if (rollout.observe is None) != (log.readings is None):
        raise ValueError(f"fit: log {k} has readings if and only if the rollout has `observe`")
    act = empty if log.act is None else np.asarray(log.act, float)
    found = {"q": q, "v": np.asarray(log.v, float), "u": u, "act": act, "readings": readings}
    widths = {"q": model.nq, "v": model.nv, "u": u.shape[-1] if u.ndim else 0, "act": model.n_act if act.size else 0}
    for name, x in found.items():
        shape = (max(rows - 1, 0) if name == "u" else rows, widths.get(name, x.shape[-1] if x.ndim else 0))
        if x.shape != shape:
            raise ValueError(f"fit: {name} of log {k} has shape {x.shape}, expected {shape}")
        bad = ~np.isfinite(x).all(axis=1)
        if bad.any():
            raise ValueError(
                f"fit: {name} of log {k} is not finite in {bad.sum()} rows, first row {np.flatnonzero(bad)[0]}; cut it "
                "into logs without them"
            )
    return list(found.values())
