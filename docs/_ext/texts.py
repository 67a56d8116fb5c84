"""Docstrings and comments of the project as Markdown. They are plain text: sentences, equations that are indented, and columns."""

import inspect
import re


def docstring(text):
    """Lines of Markdown. A paragraph of sentences is one; what is indented or has columns stays as it is written."""
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text or "")):
        if not part.strip():
            continue
        # "A sentence.          RBDA Table 6.2"
        if (
            "\n" not in part
            and (cited := re.match(r"(\S.*?\S) {3,}(\S.*)$", part))
            and not part.startswith(("in ", "out "))
        ):
            part = f"{cited[1]} ({cited[2]})"
        yield from (fenced("text", part) if columns(part) else [escaped(part)])
        yield ""


def columns(part):
    lines = part.splitlines()
    return any(line.startswith(" ") or re.search(r"\S {2,}\S", line) for line in lines)


def escaped(text):
    """Sentences, safe from Markdown; what stands in backticks is code."""
    pieces = re.split(r"(`[^`]+`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*_<>$\[\]{}|\\#~])", r"\\\1", p) for p in pieces)


def fenced(language, text):
    return [f"```{language}", text.rstrip("\n"), "```"]


def table(heads, rows):
    """A table; an upright stroke in a cell is escaped."""
    lines = [heads, ["---"] * len(heads), *rows]
    return ["", *("| " + " | ".join(str(c).replace("|", "\\|") for c in line) + " |" for line in lines), ""]
