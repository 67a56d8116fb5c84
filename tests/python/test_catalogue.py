"""core/CATALOGUE.md says what is there: its files and tests exist, and what it calls batched is reached by the rows."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LABELS = ("batched", "element", "reference-only", "in traces", "-", "")
FILES = [p.relative_to(ROOT).as_posix() for d in ("core", "host", "tests", "python") for p in (ROOT / d).rglob("*.*")]


def items():
    for line in (ROOT / "core" / "CATALOGUE.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if len(cells) == 5 and cells[0] != "item" and not cells[0].startswith("---"):
            yield cells


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def named(file):
    """The files of the project that a name of the table may mean."""
    folders = ("", "core/", "core/contact/", "python/featherstorm/commands/")
    return [f for f in FILES if any(f == folder + file for folder in folders)]


@pytest.fixture(scope="module")
def reached():
    """The files that host/ops.h includes, and those that they include."""
    found, waiting = set(), ["host/ops.h"]
    while waiting:
        file = waiting.pop()
        if file not in found and (ROOT / file).exists():
            found.add(file)
            waiting += re.findall(r'#include "([^"]+)"', (ROOT / file).read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def tests():
    text = "\n".join((ROOT / f).read_text(encoding="utf-8") for f in FILES if f.startswith("tests/") and f.endswith(".cpp"))
    return {f"{suite}.{name}" for suite, name in re.findall(r"\bTEST(?:_P|_F)?\((\w+),\s*(\w+)\)", text)}


def test_every_item_has_a_known_label():
    assert len(list(items())) > 270
    wrong = [cells for cells in items() if not re.split("[,;]", cells[4])[0].endswith(LABELS)]
    assert not wrong


def test_files_exist():
    wrong = []
    for cells in items():
        for file in quoted(cells[2]):
            is_file = re.fullmatch(r"[\w/]+\.(h|cpp|py)", file)
            if is_file and not named(file) or file.endswith("/") and not any((ROOT / d / file).is_dir() for d in ("", "core")):
                wrong.append((cells[0], file))
    assert not wrong


def test_tests_exist(tests):
    wrong = []
    for cells in items():
        for name in quoted(cells[3]):
            if re.fullmatch(r"test_\w+(\.py)?", name):
                if not any(pathlib.PurePath(f).stem.startswith(name.removesuffix(".py")) for f in FILES):
                    wrong.append((cells[0], name))
            elif match := re.fullmatch(r"([A-Z]\w+\.\w*?)(\*|\.\.\.)?", name):
                if not any(t.startswith(match[1]) if match[2] else t == match[1] for t in tests):
                    wrong.append((cells[0], name))
    assert not wrong


def test_what_is_batched_is_reached_by_the_rows(reached):
    missing = []
    for cells in items():
        if cells[4] != "batched":
            continue
        for file in quoted(cells[2]):
            if re.fullmatch(r"[\w/]+\.h", file) and not file.startswith(("tests/", "host/")):
                if not reached.intersection(named(file)):
                    missing.append((cells[0], file))
    assert not missing
