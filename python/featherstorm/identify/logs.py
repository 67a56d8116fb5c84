"""Inputs of identification: logs, their filters and segments, and the numbers of a model that may change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _featherstorm
from .._names import expect, expect_shape
from .._world.values import number_of
from ..operations import difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ..model import Model
    from ..rollout import Rollout
    from ..typing import Doubles as Floats


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
        expect_shape(f"fit: {name} of log {k}", x.shape, shape)
        bad = ~np.isfinite(x).all(axis=1)
        if bad.any():
            raise ValueError(
                f"fit: {name} of log {k} is not finite in {bad.sum()} rows, first row {np.flatnonzero(bad)[0]}; cut it "
                "into logs without them"
            )
    return list(found.values())


# tables of a robot by their rows; those of a model file begin with the kind of their rows
OF_BODIES, OF_COORDINATES = (
    ("mass", "com", "inertia", "position"),
    "armature damping friction lower upper max_effort".split(),
)
KINDS = {"jnt": "joint", "eq": "equality"}  # prefix of MuJoCo's tables -> kind of element, where they differ


@dataclass(frozen=True)
class Number:
    """A number of a model, or one value shared by several of its entries.

    table    a name that Model.bind accepts: "damping", "mass", or a file's table: "geom_friction", "dof_damping"
    at       names or indices of its rows: of bodies, joints or coordinates, geoms, actuators, ...; None: all rows
    column   of tables with several columns: 0 is the sliding friction of "geom_friction"
    lower, upper   bounds. Where `lower` is positive, the fit works with the logarithm
    start    None: the model's own value, the mean over the entries
    factor   True: the value multiplies the model's own entries, and begins at 1
    """

    table: str
    at: str | int | tuple[str | int, ...] | None = None
    column: int = 0
    lower: float = 0.0
    upper: float = np.inf
    start: float | None = None
    factor: bool = False

    def __post_init__(self) -> None:
        if not self.lower < self.upper:
            raise ValueError(f"{self.name}: lower is {self.lower}, upper {self.upper}, expected lower < upper")

    @property
    def name(self) -> str:
        rows = self.at if isinstance(self.at, tuple) else () if self.at is None else (self.at,)
        where = ",".join(str(x) for x in rows) + (f":{self.column}" if self.column else "")
        return f"{self.table}[{where}]" if where else self.table

    def entries(self, model: Model) -> npt.NDArray[np.int64]:
        """Return the indices of its entries in the flat table. Errors: ValueError for unknown names."""
        shape = _featherstorm.parameter_shape(model.robot, self.table)
        columns = shape[1] if len(shape) == 2 else 1
        expect(0 <= self.column < columns, f"{self.name}: column", self.column, f"0 to {columns - 1}")
        if self.at is None:
            rows = list(range(shape[0]))
        else:
            at = self.at if isinstance(self.at, tuple) else (self.at,)
            rows = [row for each in at for row in rows_of(model, self.table, each, shape[0])]
        return np.array(rows, np.int64) * columns + self.column


def rows_of(model: Model, table: str, at: str | int, count: int) -> list[int]:
    """Return the rows of a table that belong to a name."""
    if not isinstance(at, str):
        expect(0 <= int(at) < count, f"{table}: row", at, f"0 to {count - 1}")
        return [int(at)]
    prefix = table.partition("_")[0]
    if table in OF_BODIES:
        if at not in model.body_names[1:]:
            raise ValueError(f"{table}: {model.name} has no body '{at}'; model.body_names lists them")
        return [model.body_names.index(at) - 1]
    if table in OF_COORDINATES or prefix == "dof":
        if at in model.v_names:
            return [model.v_names.index(at)]
        return list(range(*model.joint(at).v.indices(model.nv)))
    return [number_of(model, KINDS.get(prefix, prefix), at)[1]]


class Numbers:
    """Numbers in the coordinates of a fit: logarithms where the lower bound is positive.

    lower, upper, start (n,), and scale (n,): a change of this size matters
    """

    def __init__(self, model: Model, numbers: Any) -> None:
        self.numbers: tuple[Number, ...] = tuple(numbers)
        if not self.numbers:
            raise ValueError("fit: numbers are empty, expected 1 or more")
        if len({number.name for number in self.numbers}) < len(self.numbers):
            raise ValueError("fit: two numbers have the same name")
        self.tables = {
            number.table: np.ravel(np.asarray(model.parameter(number.table), float)) for number in self.numbers
        }
        self.shapes = {name: _featherstorm.parameter_shape(model.robot, name) for name in self.tables}
        for name, own in self.tables.items():
            if own.size != np.prod(self.shapes[name]):
                raise ValueError(f"fit: {name} is bound with a row for each instance, expected one for all")
        self.entries = [number.entries(model) for number in self.numbers]
        self.logarithmic = np.array([number.lower > 0 for number in self.numbers])
        start = np.array([self.first(number, entries) for number, entries in zip(self.numbers, self.entries)])
        bounds = np.array([(number.lower, number.upper) for number in self.numbers])
        for number, value in zip(self.numbers, start):
            if not number.lower <= value <= number.upper:
                raise ValueError(
                    f"fit: {number.name} starts at {value:g}, expected {number.lower:g} to {number.upper:g}"
                )
        self.start, self.lower, self.upper = (self.coordinates(x) for x in (start, bounds[:, 0], bounds[:, 1]))
        span = np.where(np.isfinite(bounds[:, 1]), bounds[:, 1] - bounds[:, 0], 1.0)
        self.scale = np.where(self.logarithmic, 1.0, np.where(start != 0, np.abs(start), span))

    def first(self, number: Number, entries: npt.NDArray[np.int64]) -> float:
        if number.start is not None:
            return float(number.start)
        return 1.0 if number.factor else float(np.mean(self.tables[number.table][entries]))

    def coordinates(self, values: Floats) -> Floats:
        return np.where(self.logarithmic, np.log(np.where(self.logarithmic, values, 1)), values)

    def values(self, x: Floats) -> Floats:
        """Return the numbers (..., n) of coordinates (..., n)."""
        return np.where(self.logarithmic, np.exp(np.where(self.logarithmic, x, 0)), x)

    def bound(self, x: Floats, repeat: int = 1) -> dict[str, Floats]:
        """Return the tables (K repeat, ...) of coordinates (K, n), each row `repeat` times; without K for (n,)."""
        values, found = self.values(np.atleast_2d(x)), {}
        for name, own in self.tables.items():
            table = np.tile(own, (len(values), 1))
            for k, (number, entries) in enumerate(zip(self.numbers, self.entries)):
                if number.table == name:
                    table[:, entries] = values[:, k, None] * (own[entries] if number.factor else 1)
            shaped = np.repeat(table, repeat, axis=0).reshape(-1, *self.shapes[name])
            found[name] = shaped[0] if x.ndim == 1 else shaped
        return found


class Motion(NamedTuple):
    """A motion with its derivatives: q (B, nq), v (B, nv), a (B, nv), tau (B, nv) or None, and the rows of the log."""

    q: Floats
    v: Floats
    a: Floats
    tau: Any
    rows: npt.NDArray[np.int64]


def low_pass(x: npt.ArrayLike, dt: float, cutoff: float, order: int = 4) -> Floats:
    """Return signals (T, n) without what is above a frequency, and without delay.

        amplitude at f times 1 / (1 + (f / cutoff)^(2 order))

    This is a Butterworth filter that runs forward and backward: the phase is zero, the amplitude at the cutoff halved.
    It is applied to the Fourier transform of the signal, continued at both ends by its mirror image about the end.

    in   x (T, n), dt [s] between rows, cutoff [Hz]
    Errors: ValueError for shapes, numbers that are not finite, a dt or order that is not positive, a cutoff that is not
    between 0 and half the sampling rate, and a log shorter than 1 / cutoff.
    """
    x = np.asarray(x, float)
    expect(0 < dt < np.inf, "low_pass: dt", dt, "a positive finite number")
    expect(order >= 1, "low_pass: order", order, "1 or more")
    if not 0 < cutoff < 0.5 / dt:
        raise ValueError(f"low_pass: cutoff is {cutoff} Hz, expected more than 0, less than {0.5 / dt:g} Hz")
    if x.ndim != 2 or not np.isfinite(x).all():
        raise ValueError(f"low_pass: x has shape {x.shape}, expected finite numbers (T, n)")
    if len(x) <= 1 / (cutoff * dt):
        raise ValueError(f"low_pass: the log has {len(x)} rows, expected more than {1 / (cutoff * dt):.0f}")
    ends = len(x) - 1
    longer = np.concatenate([2 * x[:1] - x[ends:0:-1], x, 2 * x[-1:] - x[-2 : -ends - 2 : -1]])
    frequency = np.fft.rfftfreq(len(longer), dt)
    gain = 1 / (1 + (frequency / cutoff) ** (2 * order))
    # the line between the ends stays as it is, so that the transform's period has no jump
    line = longer[:1] + (longer[-1:] - longer[:1]) * np.linspace(0, 1, len(longer))[:, None]
    smooth = line + np.fft.irfft(np.fft.rfft(longer - line, axis=0) * gain[:, None], len(longer), axis=0)
    found: Floats = smooth[ends : ends + len(x)]
    return found


def differentiate(
    model: Model, q: npt.ArrayLike, dt: float, *, tau: npt.ArrayLike | None = None, cutoff: float | None = None
) -> Motion:
    """Return velocities and accelerations of logged positions by central differences.

        v_k = (q_k+1 (-) q_k-1) / (2 dt),  a_k = (d_k+1/2 - d_k-1/2) / dt,  d_k+1/2 = (q_k+1 (-) q_k) / dt

    With a cutoff q and tau pass `low_pass` first, both through the same filter: the regressor is then that of the
    filtered motion, and forces above the cutoff are in neither side. Choose it above the motion's highest frequency,
    five to ten times as high, and far below half the sampling rate. A few periods of the cutoff at each end are best
    left out: the filter does not know what was before. Quaternions are filtered by components and normalised.

    in   q (T, nq), dt [s] between rows, tau (T, nv) [N m | N], cutoff [Hz]; None: no filter
    out  Motion of the rows 1 to T - 2
    Source: Gautier 1997; Swevers, Verdonck and De Schutter 2007.
    Errors: ValueError for shapes, dt and the cutoff.
    """
    expect(0 < dt < np.inf, "differentiate: dt", dt, "a positive finite number")
    q = np.asarray(q, float)
    if q.ndim != 2 or q.shape[1] != model.nq or len(q) < 3:
        raise ValueError(f"differentiate: q has shape {q.shape}, expected (T, {model.nq}) with three rows or more")
    bad = ~np.isfinite(q).all(axis=1)
    if bad.any():
        raise ValueError(f"differentiate: {bad.sum()} rows of q are not finite, first row {np.flatnonzero(bad)[0]}")
    if tau is not None:
        tau = np.asarray(tau, float)
        expect_shape("differentiate: tau", tau.shape, (len(q), model.nv))
    if cutoff is not None:
        q = continuous(model, q)
        q = low_pass(q, dt, cutoff)
        for _, c in model.quaternions:
            q[:, c : c + 4] /= np.linalg.norm(q[:, c : c + 4], axis=1, keepdims=True)
        tau = tau if tau is None else low_pass(tau, dt, cutoff)
    v = np.asarray(difference(model, q[:-2], q[2:])) / (2 * dt)
    half = np.asarray(difference(model, q[:-1], q[1:])) / dt
    rows = np.arange(1, len(q) - 1)
    return Motion(q[1:-1], v, (half[1:] - half[:-1]) / dt, tau if tau is None else tau[1:-1], rows)


def continuous(model: Model, q: Floats) -> Floats:
    """Return positions (T, nq) whose quaternions do not change sign from row to row."""
    q = q.copy()
    for _, c in model.quaternions:
        quaternion = q[:, c : c + 4]
        turns = np.sum(quaternion[1:] * quaternion[:-1], axis=1) < 0
        quaternion[1:][np.cumsum(turns) % 2 == 1] *= -1
    return q
