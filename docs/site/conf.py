"""Configuration of Sphinx, which reads the pages that `docs.site.stage` has put together."""

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
nb_render_markdown_format: Final = "myst"  # tables that cells display
exclude_patterns: Final = ["extra"]

autodoc_member_order: Final = "bysource"
autodoc_typehints: Final = "signature"
autodoc_typehints_format: Final = "short"
autoclass_content: Final = "both"
napoleon_google_docstring: Final = True
napoleon_numpy_docstring: Final = False
napoleon_use_ivar: Final = True
suppress_warnings: Final = ["ref.python"]  # a name that two classes have, in a signature
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
        # Their tables need the place of the list of headings.
        "docs/rulebook": [],
        "docs/leaderboard": [],
        "docs/race_leaderboard": [],
    },
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": True,
}
html_context: Final = {"default_mode": "auto"}

# What axe-core finds in the pages as Sphinx and the theme write them, and how it is written instead.
_MENDED: Final = {
    r'<th class="head[^"]*"><p></p></th>': "<td></td>",
    '<summary><span class="toctree-toggle"': '<summary aria-label="Pages below"><span class="toctree-toggle"',
}


def mended(text: str) -> str:
    """A page of the site, made accessible."""
    for written, instead in _MENDED.items():
        text = re.sub(written, instead, text)
    return text


def mend(app: Any, exception: Exception | None) -> None:
    """Make the written pages accessible.

    Args:
        app: Sphinx, after it has built.
        exception: why it has failed; None if it has not.
    """
    if exception is None and app.builder.format == "html":
        for page in Path(app.outdir).rglob("*.html"):
            text = page.read_text(encoding="utf-8")
            if mended(text) != text:
                page.write_text(mended(text), encoding="utf-8")


def link_words(app: Any, page: nodes.document) -> None:
    """Make plain words of links to code of the checkout, which has no page in the site.

    Args:
        app: Sphinx.
        page: as read.
    """
    folder = (ROOT / app.env.docname).parent
    for link in list(page.findall(pending_xref)):
        code = link["reftype"] == "myst" and not link.get("refdomain")
        if code and (folder / link["reftarget"].partition("#")[0]).exists():
            link.replace_self(link.children)


def show_positions(app: Any, page: nodes.document) -> None:
    """Draw the positions and records of a page below their texts.

    Args:
        app: Sphinx.
        page: as read.
    """
    up = "../" * app.env.docname.count("/")
    for block in list(page.findall(nodes.literal_block)):
        language = block.get("language")
        if language in ("position", "record", "race"):
            block["language"] = "text"
        if language in ("position", "record"):
            drawn = positions.figure(block.astext() + "\n", up, Path(app.outdir))
            block.parent.insert(block.parent.index(block) + 1, nodes.raw("", drawn, format="html"))


def setup(app: Any) -> None:
    """Tell Sphinx what to call."""
    app.connect("doctree-read", link_words)
    app.connect("doctree-read", show_positions)
    app.connect("build-finished", mend)
