"""The command line: python -m featherstorm COMMAND."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from . import __version__
from .commands import bench, doctor, generate, info, operations, robots, simulate, train, transfer, view

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="featherstorm", description="Rigid-body dynamics of thousands of robots at once."
    )
    top.add_argument("--version", action="version", version=f"featherstorm {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in (simulate, view, train, transfer, info, operations, bench, generate, robots, doctor):
        name = module.__name__.rpartition(".")[2]
        command = commands.add_parser(
            name,
            help=(module.__doc__ or "").partition("\n")[0],
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.set_defaults(main=module.main)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0 done, 1 something failed, 2 wrong arguments, 130 interrupted."""
    options = parser().parse_args(arguments)
    try:
        code = options.main(options) or 0
        sys.stdout.flush()
        return code
    except (
        BrokenPipeError
    ):  # the reader of the output has gone: redirect stdout, because the interpreter flushes it at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, TypeError, OSError, RuntimeError, ImportError) as error:
        print(f"featherstorm {options.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
