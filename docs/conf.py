"""The site: sphinx-build -W docs build/docs, with the package installed. `_ext` generates parts of it."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

project = "featherstorm"
html_title = "featherstorm"
extensions = ["myst_parser", "mathml", "pages"]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_ext", "_generated/*.md"]
html_theme = "furo"
html_copy_source = False
html_static_path = ["videos"]
suppress_warnings = ["misc.highlighting_failure"]  # `output` blocks are no language
