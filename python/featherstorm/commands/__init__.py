"""Commands of `python -m featherstorm`. Each file has add_arguments(parser) and main(options) of one command."""

from __future__ import annotations

import argparse
import math
import os
import sys
import warnings
from typing import TYPE_CHECKING, TypeVar

from .. import loading
from .._robot.urdf import UrdfWorld

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..model import Model


T = TypeVar("T", int, float)


def number(kind: type[T], holds: Callable[[T], bool], expected: str) -> Callable[[str], T]:
    """Return the parser of an argument that is a number."""

    def parse(text: str) -> T:
        try:
            if holds(found := kind(text)):
                return found
        except ValueError:
            pass
        raise argparse.ArgumentTypeError(f"'{text}', expected {expected}")

    return parse


positive = number(int, lambda x: x > 0, "a whole number above 0")
seconds = number(float, lambda x: 0 < x < math.inf, "a time in seconds above 0")
share = number(float, lambda x: 0 <= x < math.inf, "a share such as 0.05")


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


def refuse(options: argparse.Namespace, defaults: Mapping[str, object], why: str) -> None:
    """Raise ValueError for an option without effect, one that differs from its default."""
    for name, default in defaults.items():
        if getattr(options, name, default) != default:
            raise ValueError(f"--{name.replace('_', '-')} is for {why}")


def expect_folder(option: str, path: str) -> str:
    """Return the absolute path of a file to be written. Errors: FileNotFoundError where its folder is missing."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"--{option}: there is no folder {folder}")
    return os.path.abspath(path)


def table(rows: Iterable[Sequence[object]], heads: Sequence[str]) -> list[str]:
    """Format a table as lines, with the first column left-aligned and the others right-aligned."""
    cells = [[str(cell) for cell in row] for row in [heads, *rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(heads))]
    return [
        "  ".join(cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths))).rstrip()
        for row in cells
    ]
