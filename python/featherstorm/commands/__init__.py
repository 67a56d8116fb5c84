"""Commands of `python -m featherstorm`. Each file has add_arguments(parser) and main(options) of one command."""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import TYPE_CHECKING

from .. import loading
from .._robot.urdf import UrdfWorld

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..model import Model


def positive(text: str) -> int:
    """Parse an argument that is a whole number above zero."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text}', expected a whole number above 0")
    return number


def seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}', expected a time in seconds above 0")
    return number


def add_model_arguments(parser: argparse.ArgumentParser, name: bool = True, more: str = "") -> None:
    if name:
        parser.add_argument(
            "robot", metavar="ROBOT", help=f"a built-in name (see `robots`), a .urdf or an MJCF .xml file{more}"
        )
    parser.add_argument(
        "--floating-base",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether the root link of a URDF moves freely (default: as usual for a built-in robot)",
    )


def add_engine_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32", help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=0, help="default: all cores")
    parser.add_argument("--no-specialise", action="store_true", help="use the kernels that serve any robot")


def load(options: argparse.Namespace) -> Model:
    threads = getattr(options, "threads", 0)
    if threads < 0:
        raise ValueError(f"--threads is {threads}, expected 0 or more")
    assemble = not getattr(options, "no_specialise", False)
    world = getattr(options, "ground", False) and UrdfWorld(ground=True, motors=True)
    return loading.load(options.robot, getattr(options, "floating_base", None), threads, assemble=assemble, world=world)


def specialise(model: Model, ops: Sequence[str], dtype: str) -> bool:
    """Specialise kernels for this robot, and print one line for each kernel that could not be made."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = model.specialise(ops, dtype)
    for warning in caught:
        first = str(warning.message).splitlines()[0]
        print(f"note: {first}", file=sys.stderr)
    return done


def table(rows: Iterable[Sequence[object]], heads: Sequence[str]) -> list[str]:
    """Format a table as lines, with the first column left-aligned and the others right-aligned."""
    cells = [[str(cell) for cell in row] for row in [heads, *rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(heads))]
    return [
        "  ".join(cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths))).rstrip()
        for row in cells
    ]
