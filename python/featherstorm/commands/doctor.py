"""Check this installation: show its components, test them, and list missing ones."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import warnings
from importlib import metadata, util
from typing import TYPE_CHECKING

import numpy as np

from .. import __version__, _featherstorm, loading, model as models, operations, viewing as views
from .._robot.states import random_state
from . import load, specialise

if TYPE_CHECKING:
    import argparse

CHECKED = (
    "rnea", "crba", "fd", "aba", "step", "forward_kinematics", "energy", "contact_step", "loop_step", "coupled_step",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("robot", nargs="?", help="also: each kernel made for this robot beside the text in double")


def main(options: argparse.Namespace) -> int:
    say(
        "featherstorm",
        f"{__version__}, built with {_featherstorm.built_with}, "
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
    )
    say(
        "libraries",
        ", ".join(f"{name} {version(name) or 'none'}" for name in ("numpy", "torch", "jax", "mujoco", "pin")),
    )
    isas = _featherstorm.instruction_sets()
    say("kernels", ", ".join(isas) or "none: libfeatherstorm_cpu_*.so are not beside the module")
    command, missing = _featherstorm.host_compiler()
    say("compiler", command or f"none ({missing}); needed only for what is not assembled")
    say("cache", cache())
    for line in cuda():
        say("cuda", line)
    say("viewing", viewing())
    if options.robot:
        return check_robot(load(options))
    folder = _featherstorm.robot_directory()
    there = [file for _, file, *_ in _featherstorm.robots() if os.path.exists(os.path.join(folder, file))]
    say("robots", f"{len(there)} of {len(_featherstorm.robots())} in {folder}")
    return 0 if isas and try_out(bool(command)) else 1


def check_robot(model: models.Model) -> int:
    """Make the kernels of common operations, and print their differences from the algorithms in double precision."""
    for notice in model.notices:
        say("notice", notice)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", models.Notice)
        for dtype in ("float32", "float64"):
            model.specialise([op for op in CHECKED if op in model.ops], dtype)
    for c in model.checks:
        found = f"{c.array} differs by {c.error:.1e}, allowed are {c.bound:.1e}" if c.array else "nothing to compare"
        say(c.op, f"{c.dtype}: {found}{'' if c.passed else '; NOT USED, kernels for any robot serve'}")
    if not model.checks:
        say("kernels", "none were made for this robot: those that take any robot serve")
    return 0 if all(c.passed for c in model.checks) else 1


def try_out(compiler: bool) -> bool:
    """Check inverse dynamics against forward dynamics with every kind of kernel."""
    good = True
    for kind in ["for any robot", "assembled"] + ["compiled"] * compiler:
        model = loading.load("double_pendulum", assemble=kind == "assembled")
        q, v = random_state(model, 100)
        a = np.sin(np.arange(100 * model.nv)).reshape(100, model.nv)
        if kind == "compiled" and not specialise(model, ["rnea", "aba"], "float64"):
            good = False
            say("trial", "kernels compiled: none; the note says why")
            continue
        error = np.abs(operations.aba(model, q, v, operations.rnea(model, q, v, a)) - a).max()
        good = good and error < 1e-9
        if kind == "assembled" and not model.specialised("aba", "float64"):
            say("trial", "kernels assembled: none; this machine or this build has no assembler, see docs/install.md")
            continue
        say("trial", f"kernels {kind}: forward dynamics inverts inverse dynamics to {error:.1e}")
    return good


def say(what: str, text: str) -> None:
    print(f"{what:<13} {text}")


def version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def cache() -> str:
    folder = _featherstorm.cache_folder()
    if not folder:
        return "none: neither FEATHERSTORM_CACHE nor XDG_CACHE_HOME nor HOME is set"
    if not os.path.isdir(folder):
        return f"{folder} (empty)"
    sizes = [entry.stat().st_size for entry in os.scandir(folder) if entry.name.endswith(".so")]
    return f"{folder}, {len(sizes)} kernels, {sum(sizes) / 1e6:.1f} MB"


def viewing() -> str:
    """Return a line on the available viewers, and on missing packages."""
    try:
        opengl = views.opengl
    except ImportError as error:
        return f"none ({error})"
    try:
        opengl(16, 16).free()
        images = "images"
    except ImportError as error:
        images = f"no images ({error})"
    page = "the page" if util.find_spec("mujoco.studio") else "no page (mujoco.studio is missing)"
    videos = "videos" if util.find_spec("av") else "no videos (the package av is missing)"
    return f"{page}, {images}, {videos}"


def cuda() -> list[str]:
    """Return one line for each CUDA device, or the reason why there is none."""
    found, missing = _featherstorm.cuda_devices()
    if not found:
        return [f"none ({missing}); GPU and driver: {gpu()}"]
    lines = [
        f"device {k}: {name}, compute capability {major}.{minor}, {processors} multiprocessors, {memory / 1e9:.1f} GB"
        for k, (name, major, minor, processors, memory) in enumerate(found)
    ]
    return [*lines, f"GPU and driver: {gpu()}"]


def gpu() -> str:
    if not shutil.which("nvidia-smi"):
        return "none"
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, timeout=20).stdout.strip() or "none"
    except (OSError, subprocess.SubprocessError):
        return "not answering"
