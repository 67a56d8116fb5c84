"""The command line: python -m featherstorm COMMAND."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import TYPE_CHECKING

from . import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# name of a command, a module of the folder commands -> first line of its docstring
COMMANDS = {
    "simulate": "Simulate thousands of instances of a robot, and check the result.",
    "view": "Show running simulations on a page in the browser or as a video.",
    "train": "Train a policy for a task on the CPU, with PPO, SHAC or SAC.",
    "transfer": "Run a policy here and in MuJoCo C, and compare its returns.",
    "control": "Control a robot in MuJoCo by planning its motion, and report errors, falls and the time of the plans.",
    "info": "Show a robot: its tree, degrees of freedom, masses and limits.",
    "operations": "Show the table of operations: their equations, arrays and shapes.",
    "bench": "Measure the time of operations per instance, or count their arithmetic operations.",
    "generate": "Write kernels of one robot as C++ or CUDA sources that compile without featherstorm.",
    "robots": "List the built-in robots.",
    "doctor": "Check this installation: show its components, test them, and list missing ones.",
}


def parser(names: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser of the command line. names: commands to import for their arguments; others have none."""
    top = argparse.ArgumentParser(
        prog="featherstorm", description="Rigid-body dynamics of thousands of robots at once."
    )
    top.add_argument("--version", action="version", version=f"featherstorm {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, line in COMMANDS.items():
        command = commands.add_parser(name, help=line, formatter_class=argparse.RawDescriptionHelpFormatter)
        if name in names:
            module = importlib.import_module(f".commands.{name}", __package__)
            command.description = module.__doc__
            module.add_arguments(command)
            command.set_defaults(main=module.main)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0 done, 1 something failed, 2 wrong arguments, 130 interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
    name = next((word for word in arguments if word in COMMANDS), "")
    try:
        options = parser([name]).parse_args(arguments)
        code = options.main(options) or 0
        sys.stdout.flush()
        return code
    except (
        BrokenPipeError
    ):  # the reader of the output has gone: redirect stdout, because the interpreter flushes it at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, TypeError, OSError, RuntimeError, ImportError, MemoryError, OverflowError) as error:
        print(f"featherstorm {name}: {error or 'out of memory'}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
