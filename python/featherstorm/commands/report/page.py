"""Page of `bench --report`: one HTML file without external references."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

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
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Any]],
    text: Collection[str] = (),
    kind: str = "",
) -> str:
    """Return an HTML table. The first cell of a row is its head.

    text   heads of the left-aligned columns; the others, with numbers, are right-aligned
    """
    left = [head in text for head in heads]
    top = "".join(f'<th scope="col"{side(x)}>{escape(head)}</th>' for head, x in zip(heads, left))
    body = "".join(
        "<tr>" + "".join(cell(*each) for each in zip(row, left, [True] + len(row) * [False])) + "</tr>\n"
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
