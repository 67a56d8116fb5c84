"""Lists the built-in robots."""

from .. import _featherstorm
from . import table


def add_arguments(parser):
    pass


def main(options):
    rows = [
        (name, "floating" if floating else "fixed", " " + what) for name, _, what, floating in _featherstorm.robots()
    ]
    width = max(len(what) for *_, what in rows)
    for line in table(
        [(name, base, what.ljust(width)) for name, base, what in rows], ["robot", "base", " description".ljust(width)]
    ):
        print(line)
