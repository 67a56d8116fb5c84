"""Builds the programs of Pinocchio and MuJoCo, each as fast as it gets."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Pinocchio's fastest builds; g++ is 1.4 to 1.8 times slower
PINOCCHIO_BUILDS = {"clang-v3": ["-march=x86-64-v3"], "clang-native": ["-march=native"]}


REMEDY = "./featherstorm install bench, or python -m pip install pin mujoco cmeel-eigen"


def package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None:
        sys.exit(f"{name} is not installed: {REMEDY}")
    return Path(next(iter(spec.submodule_search_locations)))


def compile_peer(compiler: str, source: str, output: Path, arguments: list) -> str:
    command = [
        compiler,
        "-std=c++17",
        "-O3",
        "-DNDEBUG",
        f"-I{ROOT}",
        str(HERE / source),
        "-o",
        str(output),
        *map(str, arguments),
    ]
    text = " ".join(command)
    stamp = output.with_suffix(".command")
    newest = max((HERE / f).stat().st_mtime for f in (source, "serve.h"))
    if not (output.exists() and stamp.exists() and stamp.read_text() == text and output.stat().st_mtime > newest):
        print("compiling", output.name, flush=True)
        subprocess.run(command, check=True)
        stamp.write_text(text)
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    flags = [a for a in arguments if str(a).startswith(("-march", "-m"))]
    return f"{version}, -O3 -DNDEBUG {' '.join(map(str, flags))}".strip()


def build_pinocchio(folder: Path, wanted: list[str]) -> dict[str, tuple[Path, str]]:
    prefix = package("pinocchio")
    while prefix.name != "cmeel.prefix":
        prefix = prefix.parent
    if not (prefix / "include/eigen3").is_dir():
        sys.exit(f"Eigen's headers are not installed: {REMEDY}")
    # the definitions that the package's own CMake target has
    arguments = [
        "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
        "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
        "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
        "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
        "-isystem",
        prefix / "include",
        "-isystem",
        prefix / "include/eigen3",
    ]
    compiler = shutil.which("clang++")
    builds = {label: PINOCCHIO_BUILDS[label] for label in wanted}
    if compiler is None:
        print("clang++ is missing: Pinocchio is slower with g++, its ratios are too good")
        compiler, builds = "g++", {"gcc-v3": ["-march=x86-64-v3"], "gcc-native": ["-march=native"]}
    result = {}
    for label, flags in builds.items():
        program = folder / f"pinocchio-{label}"
        result[label] = program, compile_peer(compiler, "pinocchio.cpp", program, flags + arguments)
    return result


def build_mujoco(folder: Path) -> Path:
    root = package("mujoco")
    library = max(root.glob("libmujoco.so*"))
    program = folder / "mujoco-peer"
    compile_peer("g++", "mujoco.cpp", program, ["-isystem", root / "include", f"-Wl,-rpath,{root}", library])
    return program
