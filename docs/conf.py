"""Sphinx configuration: MyST Markdown, furo, docstrings of the public surface."""

from importlib.metadata import version as installed

project = "probatum"
author = "The probatum team"
copyright = "2026, the probatum team"
release = installed("probatum")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "probatum"
myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]
suppress_warnings = ["misc.highlighting_failure"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
nitpicky = False
