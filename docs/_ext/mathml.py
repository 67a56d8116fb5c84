"""Formulas as MathML, which browsers draw themselves. The site therefore needs neither a network nor JavaScript for them."""

from docutils import nodes
from latex2mathml.converter import convert


def inline(writer, node):
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(writer, node):
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
