"""Figures of `bench --report`: SVG elements by matplotlib, with the colours of the page."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._optional import matplotlib, matplotlib_figure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes


# placeholder colours for matplotlib; the style of the page defines them for light and dark mode
INK, FAINT = "#010203", "#040506"
SERIES = ["#0a0001", "#0a0002", "#0a0003", "#0a0004", "#0a0005"]
MARKERS = ["o", "s", "^", "D", "v"]
VARIABLES = {INK: "var(--ink)", FAINT: "var(--line)", **{c: f"var(--series-{k})" for k, c in enumerate(SERIES, 1)}}

STYLE: Any = {
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
    with matplotlib.rc_context(STYLE):
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
