"""Builds the programs of Pinocchio and MuJoCo, each as fast as it gets."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Pinocchio's builds: scalar of its templates, and flags. "lanes": one scalar for each lane of a vector register (lanes.h).
# g++ is 1.4 to 1.8 times slower.
# "codegen": the code that CppADCodeGen writes for a robot.
V3, NATIVE = ["-march=x86-64-v3"], ["-march=native"]
CODEGEN = "codegen-double/clang-native"
PINOCCHIO_BUILDS = {
    "double/clang-v3": ("double", V3),
    "double/clang-native": ("double", NATIVE),
    "float/clang-native": ("float", NATIVE),
    "double-lanes/clang-native": ("peers::DoubleLanes", NATIVE),
    "float-lanes/clang-native": ("peers::FloatLanes", NATIVE),
    CODEGEN: (None, NATIVE),
}


REMEDY = "./featherstorm install bench, or python -m pip install pin mujoco cmeel-eigen cmeel-cppad cmeel-cppadcodegen"
PEERS_REMEDY = "python -m pip install mujoco-mjx frax crocoddyl"


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
    newest = max((HERE / f).stat().st_mtime for f in (source, "serve.h", "lanes.h", "pinocchio_model.h"))
    if not (output.exists() and stamp.exists() and stamp.read_text() == text and output.stat().st_mtime > newest):
        print("compiling", output.name, flush=True)
        subprocess.run(command, check=True)
        stamp.write_text(text)
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    flags = [a for a in arguments if str(a).startswith(("-march", "-m"))]
    return f"{version}, -O3 -DNDEBUG {' '.join(map(str, flags))}".strip()


def mended_cppad(prefix: Path, folder: Path) -> Path:
    """A folder for the include path: CppADCodeGen 2.4.3 lacks a number that CppAD 2025 asks for."""
    name = "cppad/cg/base_double.hpp"
    text = (prefix / "include" / name).read_text()
    mended = folder / "mended"
    (mended / name).parent.mkdir(parents=True, exist_ok=True)
    if "max_digits10" not in text:
        digits = "static const int digits10"
        text = text.replace(
            digits, "static const int max_digits10 = std::numeric_limits<double>::max_digits10;\n    " + digits
        )
    if not (mended / name).exists() or (mended / name).read_text() != text:
        (mended / name).write_text(text)
    return mended


def cmeel_prefix() -> Path:
    prefix = package("pinocchio")
    while prefix.name != "cmeel.prefix":
        prefix = prefix.parent
    if not (prefix / "include/eigen3").is_dir():
        sys.exit(f"Eigen's headers are not installed: {REMEDY}")
    return prefix


def pinocchio_arguments(prefix: Path) -> list:
    """The definitions that the package's own CMake target has, and its headers."""
    return [
        "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
        "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
        "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
        "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
        "-isystem",
        prefix / "include",
        "-isystem",
        prefix / "include/eigen3",
    ]


def build_pinocchio(folder: Path, wanted: list[str]) -> dict[str, tuple[Path, str]]:
    prefix = cmeel_prefix()
    arguments = pinocchio_arguments(prefix)
    compiler = shutil.which("clang++")
    if compiler is None:
        print("clang++ is missing: Pinocchio is slower with g++, its ratios are too good")
    result = {}
    for label in wanted:
        scalar, flags = PINOCCHIO_BUILDS[label]
        source, extra = "pinocchio.cpp", [f"-DPEER_SCALAR={scalar}"]
        if label == CODEGEN:
            if not (prefix / "include/cppad/cg.hpp").exists():
                print(f"CppADCodeGen is not installed, its code is left out: {REMEDY}")
                continue
            later = shutil.which("clang") or "/usr/bin/gcc"
            source, extra = (
                "pinocchio_codegen.cpp",
                [f"-I{mended_cppad(prefix, folder)}", f'-DPEER_COMPILER="{later}"', "-ldl"],
            )
        if compiler is None:
            label = label.replace("clang", "gcc")
        program = folder / f"pinocchio-{label.replace('/', '-')}"
        result[label] = program, compile_peer(compiler or "g++", source, program, [*flags, *extra, *arguments])
    return result


def build_crocoddyl(folder: Path) -> tuple[Path, str]:
    prefix, program = cmeel_prefix(), folder / "crocoddyl-double"
    # Eigen's allocations have to be those of its library, which is compiled for any x86-64 processor: no -march
    arguments = [
        *pinocchio_arguments(prefix),
        "-isystem",
        prefix / "include/pinocchio/deprecated",  # Crocoddyl 3.2.1 includes headers of Pinocchio 3
        f"-Wl,--disable-new-dtags,-rpath,{prefix / 'lib'}",  # for the libraries that its library needs, too
        f"-L{prefix / 'lib'}",
        "-lcrocoddyl",
        "-lpinocchio_default",
    ]
    return program, compile_peer(shutil.which("clang++") or "g++", "crocoddyl.cpp", program, arguments)


def build_mujoco(folder: Path) -> Path:
    root = package("mujoco")
    library = max(root.glob("libmujoco.so*"))
    program = folder / "mujoco-peer"
    compile_peer("g++", "mujoco.cpp", program, ["-isystem", root / "include", f"-Wl,-rpath,{root}", library])
    return program
