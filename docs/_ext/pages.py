"""What the site reads from elsewhere: a comment <!-- insert: WHAT ARGUMENTS --> of a page is replaced before it is parsed.

insert: operations host/table/ops/loops.h ...   the operations whose rows stand in these files, from the installed package
insert: operations                              those that no page has claimed
insert: python NAME ...                         functions and classes of featherstorm, from their docstrings
insert: header FILE                             a C++ header: its comment, then what it declares
insert: peers_table                             the newest table of peers of each machine
insert: command_line                            help of every command

All of it is read, none of it is typed here: a row, a field of a row or a docstring that is new appears by itself.
"""

import argparse
import importlib
import inspect
import pathlib
import re

import plots
from texts import docstring, fenced, table

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARK = re.compile(r"^<!-- insert: (.*?) -->$", re.MULTILINE)
KNOWN = (
    "subject",
    "summary",
    "equation",
    "source",
    "inputs",
    "uniforms",
    "outputs",
    "uses_frame",
    "common",
    "needs",
    "cost",
)  # that have a place of their own


def operation_table():
    from featherstorm import _featherstorm

    return _featherstorm.operation_table()


def row_files():
    """The file of host/table that has the row of each operation."""
    found = {}
    for path in sorted((ROOT / "host" / "table").rglob("*.h")):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r'\binfo\s*(?:=\s*)?\{\s*(?:\.name\s*=\s*)?"(\w+)"', text):
            found[name] = path.relative_to(ROOT).as_posix()
    return found


def claimed():
    """Files that some page of the reference shows."""
    files = set()
    for page in (ROOT / "docs" / "reference").glob("*.md"):
        for what in MARK.findall(page.read_text(encoding="utf-8")):
            if what.startswith("operations "):
                files |= set(what.split()[1:])
    return files


def operations(*files):
    where, known = row_files(), claimed()
    for name, row in operation_table().items():
        file = where.get(name, "")
        if file in files or (not files and file not in known):
            yield from operation(name, row, file)
    if not files:
        yield "Every other operation has its page above."


def operation(name, row, file):
    import featherstorm as fs

    function = getattr(fs, name)
    yield from (
        "",
        f"({name})=",
        f"## {name}",
        "",
        f"`````{{py:function}} featherstorm.{name}{signature(function)}",
        "",
    )
    yield from docstring(function.__doc__)
    given, result = (", ".join(f"{a['name']}.ref()" for a in row[key]) for key in ("inputs", "outputs"))
    yield from (
        "",
        "`````",
        "",
        "The row" + (f", in `{file}`" if file else "") + f': `run("{name}", {{{given}}}, {{{result}}})`',
        "",
    )
    yield from arrays(row)
    for key, value in row.items():  # what the table has learnt since
        if key not in KNOWN and value not in (None, "", (), False):
            yield from ("", f"*{key.replace('_', ' ').capitalize()}:* {shown(value)}")
    if row["needs"] and "For robots with" not in function.__doc__:
        yield from ("", f"*For robots with* {row['needs']}.")


def shown(value):
    return f"`{value}`" if isinstance(value, (str, int, float)) else ", ".join(f"`{x}`" for x in value)


def arrays(row):
    """The inputs, uniforms and outputs, with every field that the table has of them."""
    lines, fields = [], ["name", "shape"]
    for key, word in (("inputs", "in"), ("uniforms", "uniform"), ("outputs", "out")):
        for array in row[key]:
            fields = list(array)
            cells = ["" if value is False else value for value in array.values()]
            batch = "" if key == "uniforms" else "B, "
            cells[1] = f"({batch}{cells[1]})" if batch or str(cells[1]) != "1" else "a number"
            lines.append([word, f"`{cells[0]}`", *map(str, cells[1:])])
    width = max(map(len, lines), default=0)
    heads = ["", "array", *fields[1:]]
    return table(heads + [""] * (width - len(heads)), [line + [""] * (width - len(line)) for line in lines])


def python(*names):
    for name in names:
        module, _, attribute = ("featherstorm." + name).rpartition(".")
        thing = getattr(importlib.import_module(module), attribute)
        kind = "class" if inspect.isclass(thing) else "function"
        yield from (
            "",
            f"`````{{py:{kind}}} {module}.{attribute}{signature(thing)}",
            "",
            *docstring(thing.__doc__ or ""),
            "",
        )
        if kind == "class":
            yield from members(thing)
        yield from ("`````", "")


def members(cls):
    """Public methods and properties that have a docstring."""
    for name, member in vars(cls).items():
        if name.startswith("_") or not (text := getattr(member, "__doc__", None)):
            continue
        if isinstance(member, property):
            yield from ("", f"````{{py:property}} {name}", "", *docstring(text), "", "````")
        elif inspect.isroutine(member):
            yield from ("", f"````{{py:method}} {name}{signature(member, skip=1)}", "", *docstring(text), "", "````")


def signature(thing, skip=0):
    """Without types: shapes and units are in the docstrings."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in list(found.parameters.values())[skip:]]
    found = found.replace(parameters=bare, return_annotation=inspect.Signature.empty)
    # an object as a default value has no text that Sphinx could read
    return "(...)" if "<" in str(found) else str(found)


def header(file):
    """The comment at the head of a C++ header, then each declaration of its namespace under a heading."""
    text = (ROOT / file).read_text(encoding="utf-8")
    head = re.match(r"(?://.*\n)+", text)
    yield from (f'`#include "{file}"`', "")
    if head:
        yield from comment(head[0])
    body = text[text.index("namespace featherstorm {") :].split("\n", 1)[1].rsplit("}  // namespace", 1)[0]
    for chunk in declarations(body):
        spoken = re.match(r"(?:\s*//.*\n)*", chunk)[0]
        code = re.sub(r"\n private:\n.*?\n\};", "\n};", chunk[len(spoken) :], flags=re.DOTALL)
        found = re.search(
            r"^(?:template[^\n]*\n)?(?:enum class|enum|struct|class) (\w+)", code, re.MULTILINE
        ) or re.search(r"(\w+)\(", code)
        if not found:
            continue
        yield from ("", f"### {found[1]}", "", *comment(spoken), "", *fenced("cpp", code))


def declarations(body):
    """The text between blank lines that stand in no braces."""
    chunk, depth = [], 0
    for line in body.splitlines():
        if not line.strip() and depth == 0:
            if chunk:
                yield "\n".join(chunk) + "\n"
            chunk = []
            continue
        depth += line.count("{") - line.count("}")
        chunk.append(line)
    if chunk:
        yield "\n".join(chunk) + "\n"


def comment(text):
    """A comment of C++ as Markdown."""
    return docstring("\n".join(re.sub(r"^\s*// ?", "", line) for line in text.strip().splitlines()))


def command_line():
    from featherstorm.__main__ import parser

    commands = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    for name, command in commands.choices.items():
        yield from ("", f"## {name}", "", *fenced("text", command.format_help()))


INSERTS = {f.__name__: f for f in (operations, python, header, command_line, plots.peers_table)}


def insert(app, name, source):
    def text(match):
        what, *arguments = match[1].split()
        return "\n".join(INSERTS[what](*arguments))

    source[0] = MARK.sub(text, source[0])


def setup(app):
    app.connect("source-read", insert)
    app.connect("builder-inited", lambda app: plots.draw(pathlib.Path(app.srcdir) / "_generated"))
    return {"parallel_read_safe": True}
