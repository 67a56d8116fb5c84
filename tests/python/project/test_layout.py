"""Rooms: which folder may include or import which.

A room is a folder; in the Python package a module beside the folders is a room of its own. Each may take what is in itself
and in the rooms above it in the list, so there is no cycle. What a new folder may take is said by where it stands in the list.
"""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCES = (".h", ".cpp", ".cu", ".cuh", ".inc", ".py")

ROOMS = """
core/scalar core/network core/spatial core/trace core/program core/emit core/joint core/world core/model core/form core/linear core/kinematics
core/dynamics core/step core/rates core/derivatives core/hybrid core/loops core/contact/surface core/contact core/actuation core/passive core/convex core/collision core/constraint core/sensor core/limbs core/rigid
core/mujoco core/reference/spatial core/reference/model core/reference/dynamics core/reference/loops core/reference/contact core/reference/constraint

host/system host/table/row host/table/ops host/table host/memory host/urdf host/robots host/world host/load host/trace host/assemble host/compile host/engine host/contacts host/solver
host/rollout host/network host/reduction host/simulation host/planning host/gradients host/cpu host

cuda/kernels cuda/runtime

python/bindings bench bench/peers

tests/support/tools tests/support/robots tests/support/oracles
tests/core/scalar tests/core/network tests/core/spatial tests/core/trace tests/core/program tests/core/emit tests/core/joint tests/core/model
tests/core/form tests/core/linear tests/core/kinematics tests/core/dynamics tests/core/step tests/core/rates
tests/core/derivatives tests/core/hybrid tests/core/loops tests/core/contact tests/core/collision tests/core/constraint tests/core/rigid tests/core/reference/spatial
tests/core/reference/model tests/core/reference/dynamics tests/core/reference/loops tests/core/reference/contact
tests/core/counts tests/core/accuracy
tests/host/system tests/host/memory tests/host/load tests/host/trace tests/host/assemble tests/host/compile tests/host/table
tests/host/engine tests/host/rollout tests/host/network tests/host/simulation
tests/cuda tests/device/fake_cuda tests/device tests/device/networks tests/device/contacts tests/gpu/timing tests/gpu/bench tests/consumer tests/extending
""".split()

# room: all that it may take besides itself, where that is less than what stands above it; folders with what is below them
ONLY = {
    "core/trace": ("core/scalar",),
    "core/program": ("core/scalar", "core/trace"),
    "core/emit": ("core/scalar", "core/trace", "core/program"),
    "core/reference": ("core",),
    "host/system": (),
    "host": ("core", "host"),
    "host/urdf": ("host/system",),
    "host/robots": ("host/system",),
    "host/cpu": (
        "core",
        "host/table",
        "host/memory",
        "host/rollout",
        "host/network",
        "host/contacts",
        "host/solver",
        "host/simulation",
    ),
    "cuda": ("core", "host/table", "host/memory", "host/contacts", "host/solver", "cuda"),
    "python/bindings": ("core", "host"),
    "bench": ("core", "host", "bench"),
    "tests/support": ("core", "host", "tests/support"),
    "tests/core": ("core", "tests/support"),
    "tests/host": ("core", "host", "tests/support"),
    "tests/gpu": ("core", "host", "tests/support", "tests/gpu/timing"),
    "tests/consumer": ("core", "host"),
    "tests/extending": ("core", "host/table"),
}
# what only tests and itself may take
REFERENCE = "core/reference"

# Rooms of the Python package. A module of the package's own folder is a room.
PYTHON = """
_featherstorm typing _table _optional _names device _memory _robot inertia model _evaluation symbols _fields _world loading operations _stepping ops derivatives convert simulation noise _horizon
rollout fleet environment tasks mujoco viewing rl learning planning distributed transfer identify control torch jax __init__ commands __main__ examples
""".split()


def under(folder, folders):
    return any(folder == f or folder.startswith(f + "/") for f in folders)


def sources(root, tops=("core", "host", "cuda", "python", "tests", "bench")):
    for top in tops:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCES and path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(root).as_posix()


def includes(root, file):
    """The files of the project that a file includes, with their line. A name alone is beside the file."""
    for number, line in enumerate((root / file).read_text(encoding="utf-8").splitlines(), 1):
        if match := re.match(r'\s*#\s*include\s+"([^"]+)"', line):
            name = match[1]
            yield number, name if "/" in name else str(pathlib.PurePosixPath(file).parent / name)


# made by a build, beside no file of the project
GENERATED = {"tests/consumer/pendulum.h", "tests/host/compile/panda.h"}


def wrong_includes(root, rooms=ROOMS, only=ONLY):
    order = {room: at for at, room in enumerate(rooms)}
    for file in sources(root):
        room = str(pathlib.PurePosixPath(file).parent)
        for line, target in includes(root, file):
            there = str(pathlib.PurePosixPath(target).parent)
            if target in GENERATED:
                continue
            if not (root / target).is_file():
                yield f"{file}:{line}: {target} does not exist"
            elif there == room:
                continue
            elif room not in order or there not in order:
                yield f"{file}:{line}: {room if room not in order else there} is no room of the list"
            elif order[there] > order[room]:
                yield f"{file}:{line}: {room} stands above {there} and may not include it"
            elif under(there, [REFERENCE]) and not under(room, [REFERENCE, "tests"]):
                yield f"{file}:{line}: {there} is for tests alone"
            else:
                for folder, allowed in only.items():
                    if under(room, [folder]) and not under(there, (*allowed, room)):
                        yield f"{file}:{line}: {folder} may include {', '.join(allowed) or 'nothing'}, not {there}"


def imports(package, file):
    """Modules and folders of the package that a module imports, at its beginning or later, with the line."""
    tree = ast.parse((package / file).read_text(encoding="utf-8"))
    here = pathlib.PurePosixPath(file).parent
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [a.name.split(".")[1:] for a in node.names if a.name.split(".")[0] == "featherstorm"]
            found = [name or ["__init__"] for name in names]
        elif isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] == "featherstorm"):
            if node.level:
                base = list(here.parts)[: len(here.parts) - node.level + 1] + (
                    node.module.split(".") if node.module else []
                )
            else:
                base = node.module.split(".")[1:]
            folder = package.joinpath(*base)
            found = []
            for alias in node.names:
                is_module = folder.is_dir() and (
                    alias.name == "_featherstorm"
                    or (folder / f"{alias.name}.py").is_file()
                    or (folder / alias.name).is_dir()
                )
                found.append([*base, alias.name] if is_module else base or ["__init__"])
        else:
            continue
        for name in found:
            yield node.lineno, "/".join(name)


def python_room(name):
    return name.split("/")[0].removesuffix(".py")


def wrong_imports(package, rooms=PYTHON):
    order = {room: at for at, room in enumerate(rooms)}
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package).as_posix()
        room = python_room(file)
        for line, target in imports(package, file):
            there = python_room(target)
            exists = there == "_featherstorm" or any(
                (package / p).exists()
                for p in (f"{target}.py", f"{target}.pyi", f"{target}/__init__.py", f"{there}.py")
            )
            if not exists:
                yield f"{file}:{line}: {target} does not exist"
            elif room not in order or there not in order:
                yield f"{file}:{line}: {room if room not in order else there} is no room of the list"
            elif order[there] > order[room]:
                yield f"{file}:{line}: {room} stands above {there} and may not import it"


def cycles(root):
    """Cycles between folders, whatever the list says."""
    edges = {}
    for file in sources(root):
        room = str(pathlib.PurePosixPath(file).parent)
        for _, target in includes(root, file):
            there = str(pathlib.PurePosixPath(target).parent)
            if there != room and (root / target).is_file():
                edges.setdefault(room, set()).add(there)
    done = set()

    def walk(room, way):
        if room in way:
            return [" -> ".join((*way[way.index(room) :], room))]
        if room in done:
            return []
        found = [c for there in sorted(edges.get(room, ())) for c in walk(there, (*way, room))]
        done.add(room)
        return found

    return [c for room in sorted(edges) for c in walk(room, ())]


def test_includes_go_one_way():
    assert list(wrong_includes(ROOT)) == []


def test_imports_go_one_way():
    assert list(wrong_imports(ROOT / "python" / "featherstorm")) == []


def late_imports(package):
    """Imports inside functions, as file:line."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    found = set()
    for path in package.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, functions):
                inside = (node for node in ast.walk(function) if isinstance(node, (ast.Import, ast.ImportFrom)))
                found |= {f"{path.relative_to(package)}:{node.lineno}" for node in inside}
    return sorted(found)


def test_few_imports_are_inside_functions():
    """Optional packages are imported at their first use by featherstorm._optional; a new one goes there."""
    assert len(late := late_imports(ROOT / "python" / "featherstorm")) < 15, late


def test_modules_of_python_have_no_cycle():
    """Within a room too: no module imports, even late, what imports it."""
    package = ROOT / "python" / "featherstorm"
    edges = {}
    for path in package.rglob("*.py"):
        file = path.relative_to(package).as_posix()
        for _, target in imports(package, file):
            for candidate in (f"{target}.py", f"{target}/__init__.py"):
                if (package / candidate).is_file() and candidate != file:
                    edges.setdefault(file, set()).add(candidate)
    seen, done = [], set()

    def walk(file):
        assert file not in seen, " -> ".join((*seen[seen.index(file) :], file))
        if file not in done:
            seen.append(file)
            for target in sorted(edges.get(file, ())):
                walk(target)
            done.add(seen.pop())

    for file in sorted(edges):
        walk(file)


def test_a_name_of_a_test_is_one_module():
    """All folders of tests are looked through for a name; conftest is of each of them, so nobody imports it."""
    paths = [path for path in (ROOT / "tests" / "python").rglob("*.py") if path.name != "conftest.py"]
    names = [path.stem for path in paths]
    assert sorted(names) == sorted(set(names))
    imported = [path.name for path in paths if re.search(r"^(from|import) conftest\b", path.read_text(), re.MULTILINE)]
    assert imported == []


def test_folders_have_no_cycle():
    assert cycles(ROOT) == []


def test_rooms_of_the_list_exist():
    assert [room for room in ROOMS if not (ROOT / room).is_dir()] == []
    package = ROOT / "python" / "featherstorm"
    missing = [r for r in PYTHON if not any((package / f).exists() for f in (r, f"{r}.py", f"{r}.pyi"))]
    assert missing == ["_featherstorm"]


# What may ask for a joint's type by name; all else reads JointTraits or a joint's shape.
JOINT_TYPES = ("core/joint", "core/model", "core/reference/model", "host/load")


def named_joint_types(root):
    for file in sources(root, ("core", "host", "cuda", "python", "bench")):
        if under(str(pathlib.PurePosixPath(file).parent), JOINT_TYPES) or file == "python/bindings/descriptions.h":
            continue
        for number, line in enumerate((root / file).read_text(encoding="utf-8").splitlines(), 1):
            if re.search(r"\bJointType::", line):
                yield f"{file}:{number}: {line.strip()}"


def test_joint_types_are_named_in_few_places(tmp_path):
    assert list(named_joint_types(ROOT)) == []
    (tmp_path / "core/step").mkdir(parents=True)
    (tmp_path / "core/step/a.h").write_text("if (type == JointType::Ball) return;")
    (tmp_path / "core/step/b.h").write_text("if (type == UrdfJointType::kBall) return;")
    assert list(named_joint_types(tmp_path)) == ["core/step/a.h:1: if (type == JointType::Ball) return;"]


@pytest.mark.parametrize(
    ("file", "text", "error"),
    [
        ("core/joint/a.h", '#include "core/model/m.h"', "core/joint stands above core/model"),
        ("core/trace/a.h", '#include "core/spatial/s.h"', "core/trace may include core/scalar, not core/spatial"),
        ("core/model/a.h", '#include "core/nowhere.h"', "core/nowhere.h does not exist"),
        ("core/model/a.h", '  #  include "host/system/e.h"', "core/model stands above host/system"),
        ("core/news/a.h", '#include "core/model/m.h"', "core/news is no room of the list"),
        ("host/memory/a.h", '#include "cuda/kernels/k.h"', "host/memory stands above cuda/kernels"),
        ("host/load/a.h", '#include "core/reference/model/r.h"', "core/reference/model is for tests alone"),
        (
            "cuda/kernels/a.h",
            '#include "host/system/e.h"',
            "cuda may include core, host/table, host/memory, host/contacts, host/solver, cuda, not host",
        ),
    ],
)
def test_wrong_includes_are_found(tmp_path, file, text, error):
    for there in (
        "core/model/m.h",
        "core/spatial/s.h",
        "core/reference/model/r.h",
        "host/system/e.h",
        "cuda/kernels/k.h",
    ):
        (tmp_path / there).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / there).touch()
    assert list(wrong_includes(tmp_path)) == []
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    found = list(wrong_includes(tmp_path))
    assert len(found) == 1 and error in found[0]


def test_docs_and_examples_name_nothing_private():
    """Packages and modules of featherstorm that begin with an underscore."""
    private, wrong = re.compile(r"\bfeatherstorm(\.\w+)*\._(?!_)|\bfrom featherstorm import _(?!_)"), []
    docs = [
        path
        for path in (ROOT / "docs").rglob("*.md")
        if "decisions" not in path.parts and "_generated" not in path.parts
    ]
    for path in [ROOT / "README.md", *docs, *(ROOT / "python" / "featherstorm" / "examples").glob("*.py")]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if private.search(line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert wrong == []


@pytest.mark.parametrize(
    ("file", "text", "error"),
    [
        ("_memory/a.py", "def f():\n    from ..model import load", "a.py:2: _memory stands above model"),
        ("_robot/a.py", "from .. import operations", "_robot stands above operations"),
        ("model.py", "import featherstorm.rollout", "model stands above rollout"),
        ("model.py", "from ._memory.gone import x", "_memory/gone does not exist"),
        ("late.py", "from .model import load", "late is no room of the list"),
    ],
)
def test_wrong_imports_are_found(tmp_path, file, text, error):
    for there in (
        "__init__.py",
        "_memory/__init__.py",
        "_robot/__init__.py",
        "model.py",
        "operations.py",
        "rollout.py",
    ):
        (tmp_path / there).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / there).touch()
    assert list(wrong_imports(tmp_path)) == []
    (tmp_path / file).write_text(text)
    found = list(wrong_imports(tmp_path))
    assert len(found) == 1 and error in found[0]


def test_cycles_are_found(tmp_path):
    for a, b in (("x", "y"), ("y", "x")):
        (tmp_path / "core" / a).mkdir(parents=True)
        (tmp_path / "core" / a / "a.h").write_text(f'#include "core/{b}/a.h"')
    assert cycles(tmp_path) == ["core/x -> core/y -> core/x"]
