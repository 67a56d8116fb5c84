"""Which functions and types the rows of the table of operations (host/table/ops.h, host/table/ops/) reach, by calls.

Texts are read by patterns, not by a compiler: a name that several included files define counts for all of them. A type is
reached where a reached text names it, a function where a reached text calls its name and all types of its arguments are
reached, a member besides only where its own type is.
"""

import dataclasses
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT_OUT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*#[^\n]*', re.DOTALL | re.MULTILINE)
TYPE = re.compile(r"(?<!<)(?<!, )\b(?:struct|class)\s+(?:alignas\([^)]*\)\s*)?(\w+)([^;{}()=]*)\{")
FUNCTION = re.compile(r"(\boperator\s*(?:\(\)|[^\s\w(]+|\w+)|\w+)\s*(\()")
ITS_BODY = re.compile(  # what stands between a function's arguments and its body
    r"\s*(?:(?:const|noexcept|override|&)\s*)*(?:->[^;{}]*|requires[^;{}]*|:(?:\w\{[^{};]*\}|[^;{}])*)?\{"
)
NO_FUNCTIONS = {"if", "for", "while", "switch", "catch", "requires", "constexpr", "noexcept", "decltype", "alignas"}


@dataclasses.dataclass(frozen=True)
class Definition:
    file: str
    name: str  # of a function or type; operators are all named "operator"
    text: str
    arguments: str = ""
    owner: str | None = None  # the type of a member
    is_type: bool = False

    @functools.cached_property
    def names(self):
        return set(re.findall(r"\b[A-Za-z_]\w*", self.text))

    @functools.cached_property
    def calls(self):
        return set(re.findall(r"\b([A-Za-z_]\w*)\s*[(<{]", self.text)) | {"operator"}


def plain(file):
    """A file without comments, texts in quotes, preprocessor lines."""
    return LEFT_OUT.sub(" ", (ROOT / file).read_text(encoding="utf-8").replace("\\\n", " "))


def closing(text, at):
    """The place behind the bracket that closes the one at `at`."""
    pair, depth = {"(": "()", "{": "{}"}[text[at]], 0
    for match in re.compile(f"[{pair}]").finditer(text, at):
        depth += 1 if match[0] == pair[0] else -1
        if depth == 0:
            return match.end()
    raise ValueError(f"a bracket is not closed: {text[at : at + 80]}")


def definitions(file):
    """The types of a file, each with its bases and data, and the functions that have a body."""
    text = plain(file)
    types = [(m.start(), closing(text, m.end() - 1), m[1]) for m in TYPE.finditer(text)]
    functions, end = [], 0
    for match in FUNCTION.finditer(text):
        if match.start() < end or match[1] in NO_FUNCTIONS:
            continue
        arguments = closing(text, match.start(2))
        if body := ITS_BODY.match(text, arguments):
            begin = max(text.rfind(c, 0, match.start()) for c in ";{}") + 1  # its template, its result
            end = closing(text, body.end() - 1)
            functions.append((begin, end, match, text[match.start(2) : arguments]))
    found = []
    for a, b, name in types:
        inner, at = "", a
        for begin, end, _, _ in functions:
            if a < begin and end <= b:
                inner, at = inner + text[at:begin], end
        found.append(Definition(file, name, inner + text[at:b], is_type=True))
    for begin, end, match, arguments in functions:
        owner = next((n for a, b, n in reversed(types) if a < match.start() < b), None)
        name = "operator" if match[1].startswith("operator") else match[1]
        found.append(Definition(file, name, text[begin:end], arguments, owner))
    return found


def included(start):
    """The files that a file includes, and those that they include."""
    found, waiting = [], [start]
    while waiting:
        file = waiting.pop()
        if file not in found and (ROOT / file).exists():
            found.append(file)
            waiting += re.findall(r'#include "([^"]+)"', (ROOT / file).read_text(encoding="utf-8"))
    return found


def bodies_of_rows():
    for file in included("host/table/ops.h"):
        if not file.startswith("host/table/ops/"):
            continue
        text = plain(file)
        for match in re.finditer(r"static void run\(", text):
            body = text.index("{", closing(text, match.end() - 1))
            yield Definition(file, "run", text[body + 1 : closing(text, body)])


def reached_from(start, files):
    """The definitions of `files` that the definitions `start` reach."""
    rest = [d for file in files for d in definitions(file)]
    types = {d.name for d in rest if d.is_type}
    # a parameter of its template may have the name of a type elsewhere
    own = {d: set(re.findall(r"\b(?:class|typename)\s+(\w+)", d.text.partition(d.name)[0])) for d in rest}
    takes = {d: (types & set(re.findall(r"\w+", d.arguments))) - own[d] for d in rest}
    found, new, calls, names = set(), list(start), set(), {"Model"}
    while new:
        found.update(new)
        calls.update(*(d.calls for d in new))
        # the types that stand among a function's arguments are reached by others
        names.update(*(d.names - takes.get(d, set()) for d in new))
        new = [
            d
            for d in rest
            if d.name in (names if d.is_type else calls) and takes[d] <= names and (d.owner is None or d.owner in names)
        ]
        rest = [d for d in rest if d not in set(new)]
    return found


def reached_by_rows():
    return reached_from(bodies_of_rows(), included("host/table/ops.h"))


def reached_by_traces():
    """What the making of a robot's own programs reaches beside the rows."""
    start = ["host/trace/specialised_program.cpp", "host/trace/trace_op.cpp", "host/trace/canonical_form.cpp"]
    headers = {header for file in start for header in included(file)}
    files = sorted(headers | {f for h in headers if (ROOT / (f := h[: -len("h")] + "cpp")).exists()})
    return reached_from([d for file in start for d in definitions(file)], files)
