"""core/CATALOGUE.md says what is there: its files and tests exist, and its labels are true of what rows and traces call."""

import pathlib
import re

import pytest

import calls

ROOT = pathlib.Path(__file__).resolve().parents[3]
LABELS = ("batched", "element", "reference-only", "in traces", "-")
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
    folders = ("", "core/", "python/featherstorm/commands/")
    return [f for f in FILES if any(f == folder + file for folder in folders)]


def sources(cell):
    """The files of a row's cell, each with the names in brackets behind it: "`a.h` (`f`, `g`), `b.h`"."""
    for file, names in re.findall(r"`([\w/]+\.h)`(?: \(((?:`\w+`(?:, )?)+)\))?", cell):
        yield file, quoted(names)


def definitions_meant(file, names):
    """What a row says of a file: the names it gives; else the function that the file is named after, if there is one; else
    all of the file's functions, members where it has no others."""
    both = [f for n in named(file) for f in (n, n[: -len("h")] + "cpp") if f in FILES]
    found = [d for f in both for d in calls.definitions(f) if d.name not in ("operator", "cast")]
    if names:
        return {name: {d for d in found if d.name == name} for name in names}
    functions = [d for d in found if not d.is_type]
    functions = [d for d in functions if d.owner is None] or functions
    functions = [d for d in functions if d.name == pathlib.PurePath(file).stem] or functions
    return {d.name: {e for e in functions if e.name == d.name} for d in functions}


@pytest.fixture(scope="module")
def by_rows():
    return calls.reached_by_rows()


@pytest.fixture(scope="module")
def by_traces():
    return calls.reached_by_traces()


@pytest.fixture(scope="module")
def tests():
    text = "\n".join(
        (ROOT / f).read_text(encoding="utf-8") for f in FILES if f.startswith("tests/") and f.endswith(".cpp")
    )
    return {f"{suite}.{name}" for suite, name in re.findall(r"\bTEST(?:_P|_F)?\((\w+),\s*(\w+)\)", text)}


def test_every_item_has_a_known_label():
    assert len(list(items())) > 270
    wrong = [cells for cells in items() if cells[4] not in LABELS]
    assert not wrong


def test_files_exist():
    wrong = []
    for cells in items():
        for file in quoted(cells[2]):
            is_file = re.fullmatch(r"[\w/]+\.(h|cpp|py)", file)
            if (is_file and not named(file)) or (
                file.endswith("/") and not any((ROOT / d / file).is_dir() for d in ("", "core"))
            ):
                wrong.append((cells[0], file))
    assert not wrong


def test_tests_exist(tests):
    wrong = []
    for cells in items():
        for name in quoted(cells[3]):
            found = True
            if re.fullmatch(r"test_\w+(\.py)?", name):
                found = any(pathlib.PurePath(f).stem.startswith(name.removesuffix(".py")) for f in FILES)
            elif match := re.fullmatch(r"([A-Z]\w+\.\w*?)(\*|\.\.\.)?", name):
                found = any(t.startswith(match[1]) if match[2] else t == match[1] for t in tests)
            if not found:
                wrong.append((cells[0], name))
    assert not wrong


def wrong_labels(rows, by_rows, by_traces):
    for item, _, files, _, label in rows:
        if label not in ("batched", "element", "reference-only", "in traces"):
            continue
        for file, names in sources(files):
            if file.startswith("tests/"):
                continue
            meant = definitions_meant(file, names)
            if not meant and label != "reference-only":
                yield f"{item}: {file} has no functions: name the type that is meant"
            for name, them in meant.items():
                if not them:
                    yield f"{item}: {file} does not define {name}"
                elif label == "batched" and not them & by_rows:
                    yield f"{item}: {name} of {file} is called batched, and no row reaches it"
                elif label == "in traces" and (not them & by_traces or them & by_rows):
                    yield f"{item}: {name} of {file} is said to be in traces alone, and is not"
                elif label in ("element", "reference-only") and them & by_rows:
                    yield f"{item}: {name} of {file} is called {label}, and rows reach it"


def test_labels_are_true_of_what_the_rows_call(by_rows, by_traces):
    assert list(wrong_labels(items(), by_rows, by_traces)) == []


@pytest.mark.parametrize(
    ("row", "error"),
    [
        (
            "`hybrid/hybrid_crba.h` | batched",
            "hybrid_crba of hybrid/hybrid_crba.h is called batched, and no row reaches it",
        ),
        ("`contact/soft_surface.h` (`NonlinearSurface`) | batched", "is called batched, and no row reaches it"),
        (
            "`dynamics/floating_base.h` | batched",
            "floating_reduce of dynamics/floating_base.h is called batched, and no row reaches it",
        ),
        ("`form/slide.h` | batched", "slid of form/slide.h is called batched, and no row reaches it"),
        ("`dynamics/crba.h` | element", "crba of dynamics/crba.h is called element, and rows reach it"),
        ("`dynamics/crba.h` | in traces", "crba of dynamics/crba.h is said to be in traces alone, and is not"),
        (
            "`hybrid/hybrid_crba.h` | in traces",
            "hybrid_crba of hybrid/hybrid_crba.h is said to be in traces alone, and is not",
        ),
        ("`dynamics/crba.h` (`crbb`) | batched", "dynamics/crba.h does not define crbb"),
        ("`joint/joint_type.h` | batched", "joint/joint_type.h has no functions: name the type that is meant"),
    ],
)
def test_wrong_labels_are_found(row, error, by_rows, by_traces):
    files, label = row.split(" | ")
    assert any(error in e for e in wrong_labels([["1", "", files, "", label]], by_rows, by_traces))


def test_calls_are_followed_and_names_alone_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(calls, "ROOT", tmp_path)
    (tmp_path / "a.h").write_text("""
        template <class T> struct Law { T k; };
        template <class T> struct Other { T k; };
        template <class T> T press(const Law<T>& l) { return helper(l.k); }   // through a template
        template <class T> T soften(const Other<T>& l) { return unused(l.k); }
        inline double helper(double x) { return "unused(x)" ? x : x; }
        inline double unused(double x) { return x; }  /* helper of nothing */
        struct Pair { double x = 0; Pair() : x{1} {} double sum() const { return x; } };
    """)
    start = calls.Definition("rows.h", "run", "{ Law<double> l; press(l); soften; Pair p; p.sum(); }")
    found = {d.name for d in calls.reached_from([start], ["a.h"])}
    assert found == {"run", "Law", "press", "helper", "Pair", "sum"}
