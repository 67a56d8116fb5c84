"""Numbers of a model that a fit may change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _featherstorm
from .._world.names import number_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..model import Model
    from .parameters import Floats

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
        if not 0 <= self.column < columns:
            raise ValueError(f"{self.name}: column is {self.column}, expected 0 to {columns - 1}")
        if self.at is None:
            rows = list(range(shape[0]))
        else:
            at = self.at if isinstance(self.at, tuple) else (self.at,)
            rows = [row for each in at for row in rows_of(model, self.table, each, shape[0])]
        return np.array(rows, np.int64) * columns + self.column


def rows_of(model: Model, table: str, at: str | int, count: int) -> list[int]:
    """Return the rows of a table that belong to a name."""
    if not isinstance(at, str):
        if not 0 <= int(at) < count:
            raise ValueError(f"{table}: row is {at}, expected 0 to {count - 1}")
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
