"""List the built-in robots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _featherstorm
from . import table

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def main(options: argparse.Namespace) -> None:
    rows = [
        (name, "floating" if floating else "fixed", " " + what) for name, _, what, floating in _featherstorm.robots()
    ]
    width = max(len(what) for *_, what in rows)
    for line in table(
        [(name, base, what.ljust(width)) for name, base, what in rows], ["robot", "base", " description".ljust(width)]
    ):
        print(line)
