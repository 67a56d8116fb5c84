"""What README and docs/ show is true: Python blocks run and print what is shown, commands exist, C++ is that of files which are
compiled.

A page's blocks run in order in one namespace, in an empty folder. ```output is what the block before it prints. Comments before a
block say what else it is:

    <!-- file: arm.urdf -->       it is this file, and lies in the folder from then on
    <!-- needs: torch -->         it runs where this can be imported; `assembler`: where kernels are assembled
    <!-- not run: reason -->      it cannot run; NOT_RUN counts these
"""

import contextlib
import importlib.util
import io
import json
import pathlib
import re
import shlex
import sys

import pytest

import featherstorm as fs
from featherstorm import _featherstorm
from featherstorm.__main__ import parser

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "docs" / "_ext"))  # what the site is made with
FOLDERS = [ROOT / folder / "README.md" for folder in ("", "core", "host", "bench")]
PAGES = {p.relative_to(ROOT).as_posix(): p for p in [*FOLDERS, *sorted((ROOT / "docs").rglob("*.md"))]}
GENERATED = ("_generated", "_build")
PAGES = {name: path for name, path in PAGES.items() if not any(part in path.parts for part in GENERATED)}

# blocks that need what a test has not
NOT_RUN = {"docs/cuda.md": 3, "docs/distributed.md": 2, "docs/mujoco.md": 1, "docs/environments.md": 1}
# blocks that run where something is there
NEEDY = {
    "docs/concepts.md": ["assembler"],
    "docs/environments.md": ["gymnasium"],
    "docs/learning.md": ["gymnasium"],
    "docs/learning_libraries.md": ["gymnasium", "stable_baselines3", "rsl_rl"],
    "docs/notebooks.md": ["gymnasium"],
    "docs/ros2.md": ["rclpy"],  # test_ros2.py runs it with stand-ins
    "docs/tasks.md": ["gymnasium"],
    "docs/tasks_dm_control.md": ["dm_control"],
    "docs/tutorials/derivatives.md": ["torch", "jax", "mujoco"],
    "docs/viewing.md": ["av"],
}
# of a block's language: what is done with it. Directives of the site ({toctree}, {literalinclude}) begin with a brace
RUN, SHELL, OUTPUT, FILE = ("python",), ("sh",), ("output",), ("xml",)


class Block:
    def __init__(self, language, text, line, marks):
        self.language, self.text, self.line, self.marks = language, text, line, marks


def blocks(text):
    """The fenced blocks of a page, each with the comments in front of it."""
    lines, found, marks, at = text.splitlines(), [], {}, 0
    while at < len(lines):
        if mark := re.fullmatch(r"<!-- (file|needs|not run): (.*?) -->", lines[at].strip()):
            marks[mark[1]] = mark[2]
        elif fence := re.match(r"(`{3,})(\S*)", lines[at]):
            end = next(k for k in range(at + 1, len(lines)) if lines[k].startswith(fence[1]))
            found.append(Block(fence[2], "\n".join(lines[at + 1 : end]) + "\n", at + 2, marks))
            marks, at = {}, end
        elif lines[at].strip():
            marks = {}
        at += 1
    return found


def blocks_of(page):
    return blocks(PAGES[page].read_text(encoding="utf-8"))


def wanted(block):
    """Whether what a block needs is here."""
    needs = block.marks.get("needs", "sys")
    if needs == "assembler":
        model = fs.load("cartpole")
        fs.gravity(model, model.q0)  # a first use assembles, where that can be done
        return model.specialised("gravity", "float64")
    return "not run" not in block.marks and importlib.util.find_spec(needs) is not None


def run_page(name, found, folder):
    """Runs a page's blocks; where one prints something else than the page shows, or raises, it says the line."""
    namespace, printed = {"__name__": "docs"}, None
    for block in found:
        if "file" in block.marks:
            (folder / block.marks["file"]).write_text(block.text, encoding="utf-8")
        elif not wanted(block):
            continue
        elif block.language in RUN:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                # numbered as the page is, so that an error shows its line
                exec(compile("\n" * (block.line - 1) + block.text, name, "exec"), namespace)
            printed = out.getvalue()
        elif block.language in OUTPUT:
            assert printed == block.text, f"{name}:{block.line} shows\n{block.text}but its block prints\n{printed}"


@pytest.mark.parametrize("page", [p for p in PAGES if any(b.language in RUN for b in blocks_of(p))])
def test_python_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    run_page(page, blocks_of(page), tmp_path)


def test_what_is_not_run_is_counted():
    counts = {page: sum("not run" in b.marks for b in blocks_of(page)) for page in PAGES}
    assert {page: n for page, n in counts.items() if n} == NOT_RUN
    needs = {
        page: [b.marks["needs"] for b in blocks_of(page) if "needs" in b.marks and b.language in RUN] for page in PAGES
    }
    assert {page: names for page, names in needs.items() if names} == NEEDY


def test_no_block_is_of_another_kind():
    """C++ and CMake are included from files that are compiled, so a block of theirs on a page would be tested by nobody."""
    for page in PAGES:
        for block in blocks_of(page):
            known = block.language in (*RUN, *SHELL, *OUTPUT) or block.language.startswith("{")
            assert known or "file" in block.marks, f"{page}:{block.line}: a block of '{block.language}'"


# ---- commands ----


def shell_lines(text):
    """The commands of a block, without what they are told beside; a comment is none."""
    for line in text.splitlines():
        if words := shlex.split(line, comments=True):
            while "=" in words[0] and not words[0].startswith("-"):
                words = words[1:]
            yield line, words


def wrong_command(words):
    """What is wrong with a command, or None."""
    program, arguments = words[0], words[1:]
    if program.startswith("build/"):  # of a virtual environment that an earlier line makes
        program = program.rsplit("/", 1)[-1]
    if program in (".venv/bin/python", "python") and arguments[:2] == ["-m", "featherstorm"]:
        return wrong_arguments(arguments[2:])
    if program in (".venv/bin/python", "python") and arguments[:1] == ["-m"]:
        if arguments[1] == "pip":
            return None
        if arguments[1].startswith("peers."):
            return None if (ROOT / "bench" / (arguments[1].replace(".", "/") + ".py")).is_file() else "no such module"
        return None if importlib.util.find_spec(arguments[1]) else "no such module"
    if program in (".venv/bin/python", "python"):
        script = ROOT / arguments[0]
        options = [a for a in arguments[1:] if a.startswith("--")]
        known = script.is_file() and all(f'"{o}"' in script.read_text(encoding="utf-8") for o in options)
        return None if known else "no such script or option"
    if program == "./featherstorm":
        if arguments[0] in launcher_commands() and arguments[0] not in ("bench", "doctor"):
            return None
        return wrong_arguments(arguments)
    if program == "featherstorm":
        return wrong_arguments(arguments)
    if program == ".ci/run":
        lists = re.findall(r"^(?:steps|by_name)=\((.*)\)", (ROOT / ".ci/run").read_text(encoding="utf-8"), re.MULTILINE)
        steps = " ".join(lists).split()
        return None if set(arguments) <= set(steps) else "no such step"
    if program == "cmake":
        options = [re.match(r"-D(FEATHERSTORM_\w+)", a) for a in arguments]
        text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        return next((f"no option {o[1]}" for o in options if o and o[1] not in text), None)
    if program == "pip":
        extras = [e for a in arguments for e in re.findall(r"\[(\w+)\]", a)]
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        return next((f"no extra {e}" for e in extras if not re.search(rf"^{e} = \[", text, re.MULTILINE)), None)
    if program == "twine":
        return None if arguments[0] == "upload" else "no such command"
    programs = (ROOT / "tests/CMakeLists.txt").read_text(encoding="utf-8")  # those of the tests' build
    if re.search(rf"(?:add_executable|featherstorm_test)\({re.escape(program)} ", programs):
        return None
    if program in ("ray", "srun", "torchrun") or (ROOT / program).is_file():
        return None
    return "an unknown program"


def launcher_commands():
    """Words that the launcher itself takes, of its `case`."""
    text = (ROOT / "featherstorm").read_text(encoding="utf-8")
    return [*re.findall(r"^    ([a-z]+)\)", text, re.MULTILINE), "help"]


def wrong_arguments(arguments):
    try:
        parser().parse_args(arguments)
    except SystemExit as stop:
        return f"refused: {' '.join(arguments)}" if stop.code else None
    return None


@pytest.mark.parametrize("page", [p for p in PAGES if any(b.language in SHELL for b in blocks_of(p))])
def test_commands_and_their_options_exist(page):
    wrong = []
    for block in blocks_of(page):
        if block.language in SHELL:
            wrong += [(line, error) for line, words in shell_lines(block.text) if (error := wrong_command(words))]
    assert not wrong


# ---- included files ----

COMPILED = ("tests/consumer/", "tests/extending/", "core/", "host/", "tests/core/", "tests/host/")


def test_included_files_are_there_and_compiled():
    cmake = (ROOT / "tests/consumer/CMakeLists.txt").read_text(encoding="utf-8")
    programs = [*re.findall(r"foreach\(example ([\w ]+)\)", cmake)[0].split(), "planner"]
    for page, path in PAGES.items():
        for match in re.finditer(
            r"^```\{literalinclude\} (\S+)\n((?::.*\n)*)", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            file = (path.parent / match[1]).resolve()
            relative = file.relative_to(ROOT).as_posix()
            assert file.is_file() and relative.startswith(COMPILED), f"{page}: {match[1]}"
            if relative.startswith("tests/consumer/") and file.suffix == ".cpp":
                assert file.stem in programs, f"{page}: {relative} is no program of tests/consumer"


def test_links_lead_somewhere():
    for page, path in PAGES.items():
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            if not target.startswith(("http", "mailto")):
                assert (path.parent / target).exists(), f"{page}: {target}"


def test_files_that_are_named_exist():
    """Files in backticks with a folder of the project in front."""
    tops = "core|host|cuda|python|tests|bench|docs"
    for page, path in PAGES.items():
        for name in re.findall(
            rf"`((?:{tops})/[\w./-]+\.(?:h|cpp|py|md|csv|inc|cmake))`", path.read_text(encoding="utf-8")
        ):
            assert (ROOT / name).is_file(), f"{page}: {name}"


# ---- figures ----


def test_the_first_page_has_the_figures_of_its_record():
    """README's table of times beside those of the file that it names."""
    from plots import KINDS, LIBRARIES, median, number, ratio

    text = PAGES["README.md"].read_text(encoding="utf-8")
    record = json.loads(
        (ROOT / re.search(r"`(bench/results/\S+-peers)\.md`", text)[1]).with_suffix(".json").read_text()
    )
    kinds, rows = {name: kind for kind, name in KINDS.items()}, 0
    for line in text.splitlines():
        cells = [c.strip(" *") for c in line.strip("|").split("|")]
        if cells[0] in kinds and len(cells) == 8:
            times = [median(record["robots"][cells[1]], library, kinds[cells[0]]) for library in LIBRARIES]
            assert cells[2:7] == [number(t) for t in times], line
            assert cells[7] == ratio(times), line
            rows += 1
    assert rows >= 4


# ---- the reference ----


def test_every_operation_is_on_one_page():
    import pages

    shown = [name for name, file in pages.row_files().items() if file in pages.claimed()]
    rest = [line for line in pages.operations() if line.startswith("## ")]
    assert sorted(shown + [line[3:] for line in rest]) == sorted(_featherstorm.operation_table())


def test_a_field_that_the_table_learns_is_shown():
    import pages

    row = _featherstorm.operation_table()["fd"]
    new = {**row, "stability": "any step", "ways": ("aba", "crba"), "nothing": ""}
    new["outputs"] = ({"name": "a", "shape": "nv", "unit": "rad/s^2", "axes": "joint"},)
    text = "\n".join(pages.operation("fd", new, "host/table/ops.h"))
    assert "*Stability:* `any step`" in text and "*Ways:* `aba`, `crba`" in text and "Nothing" not in text
    assert re.search(r"\| out \| `a` \| \(B, nv\) \| rad/s\^2 \| joint \|", text)


# ---- the checks themselves ----


def test_wrong_pages_are_found(tmp_path):
    page = "```python\nprint(1 + 1)\n```\n\n```output\n3\n```\n"
    with pytest.raises(AssertionError, match=r"prints\s+2"):
        run_page("page", blocks(page), tmp_path)
    with pytest.raises(NameError):
        run_page("page", blocks("```python\nnobody\n```\n"), tmp_path)
    unneeded = "<!-- needs: no_such_module -->\n```python\nnobody\n```\n"
    run_page("page", blocks(unneeded), tmp_path)
    for command in (
        "./featherstorm simulate go2 --no-such-option",
        "pip install .[nothing]",
        "rm -rf /",
        ".ci/run nothing",
        "cmake -S . -DFEATHERSTORM_NOTHING=ON",
        "python -m featherstorm.examples.nothing",
    ):
        assert wrong_command(shlex.split(command)), command
