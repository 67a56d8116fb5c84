"""The words of docs/glossary.md and the rules of its language."""

import ast
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]
FIRST = {"Of", "What", "Whether", "Where", "How", "So"}  # words that no docstring begins with
# phrases of an earlier language of this project -> its words now
FORMER = {
    r"\bthe way on\b": "integration",
    r"\bhand(s|ed)? out\b|\bhand_out": "store",
    r"\bstand_in\b": "fake_cuda",
    r"\bSolverText\b|\bWorldText\b": "SolverAlgorithm, WorldKernel",
    r"\bwhat (is|was) told\b": "outputs, notices",
}
TEXT = {".md", ".h", ".cpp", ".cu", ".cuh", ".py"}


def files(*tops):
    for top in tops:
        for path in sorted((ROOT / top).rglob("*")):
            if (
                path.suffix in TEXT
                and path.is_file()
                and not {"__pycache__", "results", "_generated"} & set(path.parts)
            ):
                yield path


def test_docstrings_begin_with_what_something_is_or_does():
    wrong = []
    for path in (path for path in files("python") if path.suffix == ".py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                first = re.match(r"\w*", (ast.get_docstring(node) or "").lstrip())[0]
                if first in FIRST:
                    wrong.append(f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}: {first}")
    assert wrong == []


def test_former_words_are_gone():
    wrong = []
    for path in files("core", "host", "cuda", "python", "docs"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for phrase, word in FORMER.items():
                if re.search(phrase, line):
                    wrong.append(f"{path.relative_to(ROOT)}:{number}: expected {word}: {line.strip()[:90]}")
    assert wrong == []
