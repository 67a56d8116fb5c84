"""Show the table of operations: their equations, arrays and shapes.

operations                 all operations, or one by NAME
operations --markdown      the content of docs/operations.md
operations --stub          the content of python/featherstorm/_table.pyi
"""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING, Any

import featherstorm as fs

from .. import _featherstorm

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="one operation (default: all)")
    parser.add_argument("--markdown", action="store_true", help="as docs/operations.md has them")
    parser.add_argument("--stub", action="store_true", help="as python/featherstorm/_table.pyi has them")


def main(options: argparse.Namespace) -> None:
    table = _featherstorm.operation_table()
    if options.markdown or options.stub:
        print(markdown(table) if options.markdown else stub(table))
        return
    if options.name:
        if options.name not in table:
            raise ValueError(f"there is no operation '{options.name}'; `operations` lists them")
        help(getattr(fs, options.name))
        return
    width, subject = max(map(len, table)), ""
    for name, row in table.items():
        if row["subject"] != subject:
            subject = row["subject"]
            print(f"\n{subject}")
        print(f"  {name:{width}}  {row['summary']}")


def stub(table: dict[str, dict[str, Any]]) -> str:
    """Return a stub of the functions that the package makes from the table, for editors and type checkers."""
    lines = [
        "# Written by `featherstorm operations --stub`: the operations that have no function written by hand.",
        "from .model import Model",
        "from .typing import Array, ArrayLike, Frame, Names, Numbers",
        "",
    ]
    types = {"model": "Model", "frame": "Frame", "ignore": "Names", "check": "bool"}
    for name, row in table.items():
        if name in fs.__all__:
            continue
        function = getattr(fs, name)
        uniforms = {array["name"] for array in row["uniforms"]}
        parameters: list[str] = []
        starred = False
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
                parameters, starred = [*parameters, "*"], True
            kind = types.get(parameter.name) or ("Numbers" if parameter.name in uniforms else "ArrayLike")
            default = ""
            if parameter.default is not inspect.Parameter.empty:
                kind += " | None" if parameter.default is None else ""
                default = f" = {parameter.default!r}"
            parameters.append(f"{parameter.name}: {kind}{default}")
        outputs = len(row["outputs"])
        result = "Array" if outputs == 1 else f"tuple[{', '.join(['Array'] * outputs)}]"
        head = f"def {name}({', '.join(parameters)}) -> {result}:"
        if len(head) > 120:
            head = f"def {name}(\n" + "".join(f"    {p},\n" for p in parameters) + f") -> {result}:"
        documentation = textwrap.indent(str(function.__doc__), "    ").strip()
        lines += [head, f'    """{documentation}"""', ""]
    return "\n".join(lines).rstrip()


def arrays(row: dict[str, Any], key: str) -> str:
    texts = []
    for array in row[key]:
        shape = "" if key == "uniforms" and array["shape"] == "1" else f" ({array['shape']})"
        texts.append(f"{array['name']}{shape}" + (" or none" if array["optional"] and key == "inputs" else ""))
    return ", ".join(texts)


def markdown(table: dict[str, dict[str, Any]]) -> str:
    lines = [
        "# Operations",
        "",
        "Written by `featherstorm operations --markdown` from the table in `host/table`. Each is a function of Python,",
        "`fs.NAME(model, *inputs, **uniforms)`, and a row of `Evaluator::run` in C++. Shapes are those of one instance; arrays of a",
        "batch have the instance first. Uniforms are the same for all instances. `_vjp` and `_jvp` behind a name are its derivatives.",
        "Functions written by hand (`fs.crba` unpacks M, `fs.step` has defaults) say so in their own docstrings; units and the meaning",
        "of each array are in those of all functions.",
        "",
        "nq, nv: positions, velocities; nb: moving bodies; nf: frames; nh: entries of a packed inertia matrix; nl, n_constraints: kinematic",
        "loops and their constraints; nu: independent velocities of coupled joints; nc: contacts; n: joints of a chain.",
    ]
    subject = ""
    for name, row in table.items():
        if row["subject"] != subject:
            subject = row["subject"]
            lines += [
                "",
                f"## {subject}",
                "",
                "| operation | | equation | inputs | uniforms | outputs | cost | source |",
                "|---" * 8 + "|",
            ]
        frame = "; of a frame" if row["uses_frame"] else ""
        needs = f"; needs {row['needs']}" if row["needs"] else ""
        equation = row["equation"].replace("|", "\\|")
        lines.append(
            f"| `{name}` | {row['summary']}{frame}{needs} | {equation} | {arrays(row, 'inputs')} | {arrays(row, 'uniforms')} "
            f"| {arrays(row, 'outputs')} | {row['cost']} | {row['source']} |"
        )
    return "\n".join(lines)
