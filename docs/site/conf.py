"""Configuration of Sphinx for the pages collected by `docs.site.stage`."""

from __future__ import annotations

import re
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any, Final

from docutils import nodes
from sphinx.addnodes import pending_xref

from docs.site import positions
from docs.site.stage import ROOT

project: Final = "millebornes_env"
author: Final = "the authors of millebornes_env"
release: Final = version_of("millebornes-env")

extensions: Final = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]

# Markdown as GitHub shows it, with anchors for headings; notebooks with the outputs that they have.
source_suffix: Final = {".md": "myst-nb", ".ipynb": "myst-nb"}
myst_enable_extensions: Final = ["colon_fence", "deflist"]
myst_heading_anchors: Final = 4
nb_execution_mode: Final = "off"
nb_render_markdown_format: Final = "myst"  # tables displayed by cells
exclude_patterns: Final = ["extra"]

autodoc_member_order: Final = "bysource"
autodoc_typehints: Final = "signature"
autodoc_typehints_format: Final = "short"
autoclass_content: Final = "both"
napoleon_google_docstring: Final = True
napoleon_numpy_docstring: Final = False
napoleon_use_ivar: Final = True
suppress_warnings: Final = ["ref.python"]  # ambiguous names of classes in signatures
python_use_unqualified_type_names: Final = True
default_role: Final = "code"  # docstrings are Markdown at heart: `name` is code
copybutton_exclude: Final = ".linenos, .gp, .go"

html_theme: Final = "pydata_sphinx_theme"
html_title: Final = "Mille Bornes for machine learning"
html_favicon: Final = "_static/icon.svg"
html_static_path: Final = ["_static"]
html_extra_path: Final = ["extra"]
html_css_files: Final = ["site.css"]
html_show_sourcelink: Final = False
html_copy_source: Final = False
html_theme_options: Final = {
    "logo": {"text": "millebornes_env"},
    "navbar_align": "left",
    "show_prev_next": False,
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        # Their tables need the width of the list of headings.
        "docs/rules/rulebook": [],
        "docs/agents/leaderboard": [],
    },
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": True,
}
html_context: Final = {"default_mode": "auto"}

# Replacements for accessibility problems that axe-core finds in the output of Sphinx and the theme.
_FIXES: Final = {
    r'<th class="head[^"]*"><p></p></th>': "<td></td>",
    '<summary><span class="toctree-toggle"': '<summary aria-label="Pages below"><span class="toctree-toggle"',
}


def fix_accessibility(app: Any, exception: Exception | None) -> None:
    """Fix accessibility problems of the written pages, after a build without an error."""
    if exception is None and app.builder.format == "html":
        for page in Path(app.outdir).rglob("*.html"):
            text = fixed = page.read_text(encoding="utf-8")
            for pattern, replacement in _FIXES.items():
                fixed = re.sub(pattern, replacement, fixed)
            if fixed != text:
                page.write_text(fixed, encoding="utf-8")


def remove_code_links(app: Any, page: nodes.document) -> None:
    """Replace links to code of the checkout, which has no page in the site, by their text."""
    folder = (ROOT / app.env.docname).parent
    for link in list(page.findall(pending_xref)):
        code = link["reftype"] == "myst" and not link.get("refdomain")
        if code and (folder / link["reftarget"].partition("#")[0]).exists():
            link.replace_self(link.children)


def render_positions(app: Any, page: nodes.document) -> None:
    """Insert pictures of the positions and records of a page below their texts."""
    up = "../" * app.env.docname.count("/")
    for block in list(page.findall(nodes.literal_block)):
        language = block.get("language")
        if language in ("position", "record", "race"):
            block["language"] = "text"
        if language in ("position", "record"):
            figure = positions.figure(block.astext() + "\n", up, Path(app.outdir))
            block.parent.insert(block.parent.index(block) + 1, nodes.raw("", figure, format="html"))


def setup(app: Any) -> None:
    """Register the callbacks."""
    app.connect("doctree-read", remove_code_links)
    app.connect("doctree-read", render_positions)
    app.connect("build-finished", fix_accessibility)
