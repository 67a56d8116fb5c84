"""Write kernels of one robot as C++ or CUDA sources that compile without featherstorm.

The output is a header, and one file for each operation; comments name the body of each group of statements. CMake
projects can generate the sources during their build: host/featherstorm_add_robot.cmake.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .. import _featherstorm
from . import add_model_arguments, load, positive

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    parser.add_argument(
        "--ops",
        nargs="+",
        default=["rnea", "crba", "fd", "step"],
        metavar="OP",
        help="operations, derivatives (fd_vjp), those of a frame as jacobian:FRAME (default: %(default)s)",
    )
    parser.add_argument("--output", default=".", metavar="FOLDER", help="default: the current one")
    parser.add_argument("--name", default="", help="of the files and the namespace (default: the robot's)")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32", help="default: %(default)s")
    parser.add_argument("--cuda", action="store_true", help="for CUDA: .cuh and .cu")
    parser.add_argument(
        "--width", type=positive, default=16, help="instances of a pack on the CPU (default: %(default)s)"
    )


def main(options: argparse.Namespace) -> None:
    model = load(options)
    files = _featherstorm.generate(model.robot, options.ops, options.name, options.dtype, options.cuda, options.width)
    os.makedirs(options.output, exist_ok=True)
    for name, text in files:
        path = os.path.join(options.output, name)
        part = path + ".part"
        with open(part, "w", encoding="ascii") as file:
            file.write(text)
        os.replace(part, path)
        print(f"{path}: {text.count(chr(10))} lines")
