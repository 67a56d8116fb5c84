"""Page of `bench --report`: one HTML file without external references, and its figures by matplotlib."""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._optional import matplotlib, matplotlib_figure

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

    Column = tuple[str, Callable[[Any], Any]]

STYLE = """
:root { color-scheme: light dark; --paper: #fdfdfb; --ink: #1d2330; --soft: #5a6272; --line: #cfd4dc; --stripe: #f2f4f6;
  --series-1: #0072b2; --series-2: #b85000; --series-3: #00795c; --series-4: #a3497e; --series-5: #6b6000; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181f; --ink: #e4e8ef; --soft: #9fa9b8; --line: #3d4656;
  --stripe: #1b212b; --series-1: #56b4e9; --series-2: #f0a050; --series-3: #35c79a; --series-4: #e08fc0;
  --series-5: #e0d34a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem 1.25rem 3rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 0.4rem; border-top: 1px solid var(--line); padding-top: 1rem; }
p { max-width: 46rem; margin: 0.4rem 0; }
nav a { margin-right: 0.9rem; display: inline-block; }
a { color: var(--series-1); }
svg { display: block; width: 100%; max-width: 38rem; height: auto; margin: 0.6rem 0; }
.scroll { overflow-x: auto; margin: 0.6rem 0 1rem; }
.scroll:focus-visible { outline: 2px solid var(--series-1); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.92rem; }
caption { text-align: left; color: var(--soft); padding: 0.2rem 0 0.3rem; }
th, td { padding: 0.18rem 0.6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
thead th { vertical-align: bottom; border-bottom-width: 2px; }
tbody tr:nth-child(even) { background: var(--stripe); }
th:first-child, .text { text-align: left; }
tbody th { font-weight: 600; }
.wide td.text { white-space: normal; min-width: 12rem; }
.facts td.text { white-space: normal; overflow-wrap: anywhere; }
"""


def page(title: str, sections: Sequence[tuple[str, str, list[str]]]) -> str:
    """Return the HTML of the page. sections: (id, heading, parts)."""
    links = "".join(f'<a href="#{name}">{escape(heading)}</a>' for name, heading, _ in sections)
    body = "".join(
        f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(heading)}</h2>{"".join(parts)}</section>\n'
        for name, heading, parts in sections
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<header><h1>{escape(title)}</h1>\n"
        f'<nav aria-label="Contents">{links}</nav></header>\n<main>\n{body}</main>\n</body>\n</html>\n'
    )


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def table(
    caption: str, columns: Sequence[Column], rows: Iterable[Any], text: Collection[str] = (), kind: str = ""
) -> str:
    """Return an HTML table. The first cell of a row is its head.

    columns   pairs of a head and a function of a row, which returns the cell
    text      heads of the left-aligned columns; the others, with numbers, are right-aligned
    """
    top = "".join(f'<th scope="col"{side(head in text)}>{escape(head)}</th>' for head, _ in columns)
    body = "".join(
        "<tr>" + "".join(cell(value(row), head in text, k == 0) for k, (head, value) in enumerate(columns)) + "</tr>\n"
        for row in rows
    )
    # a wide table scrolls in its own box, also with the keyboard
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption, quote=True)}">'
        f'<table class="{kind}"><caption>{escape(caption)}</caption><thead><tr>{top}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>\n"
    )


def side(left: bool) -> str:
    return ' class="text"' if left else ""


def cell(value: str | float, left: bool, head: bool) -> str:
    text = number(value) if isinstance(value, (int, float)) else escape(value)
    return f'<th scope="row">{text}</th>' if head else f"<td{side(left)}>{text}</td>"


def number(x: float) -> str:
    """Format a number with three digits, or an integer with all digits."""
    if isinstance(x, int):
        return str(x)
    if x == 0:
        return "0"
    if abs(x) < 1e-3:
        return f"{x:.0e}"
    return f"{x:.2f}" if abs(x) < 10 else f"{x:.1f}" if abs(x) < 100 else f"{x:,.0f}"


def quartiles(times: dict[str, float]) -> str:
    return f"{number(times['low'])} to {number(times['high'])}"


# placeholder colours for matplotlib; the style of the page defines them for light and dark mode
INK, FAINT = "#010203", "#040506"
SERIES = ["#0a0001", "#0a0002", "#0a0003", "#0a0004", "#0a0005"]
MARKERS = ["o", "s", "^", "D", "v"]
VARIABLES = {INK: "var(--ink)", FAINT: "var(--line)", **{c: f"var(--series-{k})" for k, c in enumerate(SERIES, 1)}}

FIGURE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "featherstorm",
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
}


def figure(draw: Callable[[Axes], None], name: str, title: str, description: str) -> str:
    """Return an SVG element drawn by draw(axes).

    name          prefix of the names of its parts, which must be unique in a page
    title         title for screen readers
    description   content of the figure, in a sentence
    """
    with matplotlib.rc_context(FIGURE):
        drawn = matplotlib_figure.Figure(figsize=(5.6, 3.7), layout="constrained")
        draw(drawn.add_subplot())
        file = io.StringIO()
        drawn.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return inline(file.getvalue(), name, title, description)


def inline(text: str, name: str, title: str, description: str) -> str:
    """Return the SVG element of an SVG file for use in a page, with unique names and the page's colours."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    view = re.findall(r'viewBox="[^"]*"', text)[0]
    text = re.sub(
        r"<svg[^>]*>",
        f'<svg {view} role="img" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{title}</title><desc id="{name}-desc">{description}</desc>',
        text,
        count=1,
    )
    text = re.sub(rf'(?<=\bid=")(?!{name}-)', f"{name}-", text)
    text = text.replace("url(#", f"url(#{name}-").replace('xlink:href="#', f'href="#{name}-')
    for color, variable in VARIABLES.items():
        text = text.replace(color, variable)
    return text


def against_batch(rows: list[dict[str, Any]]) -> Callable[[Axes], None]:
    """Return draw(axes): evaluations per second over instances; one colour per operation, dashed for float64."""
    ops = list(dict.fromkeys(row["op"] for row in rows))

    def draw(axes: Axes) -> None:
        for color, marker, op in zip(SERIES, MARKERS, ops):
            for dtype, dash in (("float32", "-"), ("float64", "--")):
                points = [
                    (r["instances"], 1e3 / r["ns"]["median"]) for r in rows if (r["op"], r["dtype"]) == (op, dtype)
                ]
                axes.plot(*np.transpose(points), dash, color=color, marker=marker, label=f"{op}, {dtype}")
        sizes = sorted({r["instances"] for r in rows})
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(sizes, [str(n) for n in sizes])
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("instances in a call")
        axes.set_ylabel("million evaluations per second")
        axes.legend(fontsize="small", ncols=2, loc="lower right")

    return draw


def against_freedoms(rows: list[dict[str, Any]]) -> Callable[[Axes], None]:
    """Return draw(axes): nanoseconds of an evaluation over degrees of freedom; one colour per operation."""

    def draw(axes: Axes) -> None:
        for color, marker, op in zip(SERIES, MARKERS, dict.fromkeys(row["op"] for row in rows)):
            points = sorted((r["nv"], r["ns"]["median"]) for r in rows if r["op"] == op)
            axes.plot(*np.transpose(points), linestyle="none", color=color, marker=marker, label=op)
        axes.set_xlabel("degrees of freedom")
        axes.set_ylabel("nanoseconds per evaluation")
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.1 * max(r["ns"]["median"] for r in rows))
        axes.legend(loc="upper left")

    return draw


def bars(
    labels: Sequence[str], groups: Mapping[str, Sequence[float]], ylabel: str, line: float | None = None
) -> Callable[[Axes], None]:
    """Return draw(axes): groups of bars.

    groups   label of a colour -> heights
    line     height of a dashed line
    """

    def draw(axes: Axes) -> None:
        width = 0.8 / len(groups)
        for k, (name, heights) in enumerate(groups.items()):
            at = np.arange(len(labels)) + (k - (len(groups) - 1) / 2) * width
            axes.bar(at, heights, 0.9 * width, color=SERIES[k], label=name)
        axes.set_xticks(range(len(labels)), labels)
        axes.grid(axis="x", visible=False)
        axes.set_ylabel(ylabel)
        if line is not None:
            axes.axhline(line, color=INK, linestyle="--", linewidth=0.8)
        top = max(max(heights) for heights in groups.values())
        axes.set_ylim(0, 1.2 * top)
        axes.legend(loc="upper left", ncols=len(groups))

    return draw
