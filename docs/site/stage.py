"""Collect the pages of the site in one folder for Sphinx.

    python -m docs.site.stage build/site-pages

Pages of the checkout keep their paths; `docs/site/pages` has additional pages of the site.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Final

from docs.site import rulings
from millebornes_env.render.millebornes.filling import DRAWING

ROOT: Final = Path(__file__).parents[2]
HERE: Final = Path(__file__).parent

SOURCES: Final = (
    "*.md",
    "CITATION.cff",
    "docs/*.md",
    *(f"docs/{folder}/**/*.md" for folder in ("start", "rules", "environment", "agents", "research")),
    "research/notes/*.md",
    "docs/**/*.png",
    "docs/**/*.svg",
    "notebooks/*.ipynb",
    "millebornes_env/agents/champions/*/README.md",
    "millebornes_env/solving/equilibrium/README.md",
)
"""Files of the checkout that are part of the site."""


def copy_table(folder: Path) -> None:
    """Copy the table as static files, without its engine unless `make web` has built it."""
    web = ROOT / "millebornes_env" / "play" / "web"
    shutil.copytree(web, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    shutil.copytree(DRAWING, folder / "drawing")


def stage(folder: Path) -> None:
    """Copy all pages, the style, and the table to a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE / "pages", folder)
    copy_table(folder / "extra" / "table")
    (folder / "_static").mkdir()
    shutil.copy(HERE / "site.css", folder / "_static")
    shutil.copy(DRAWING / "icon.svg", folder / "_static")
    shutil.copy(HERE / "conf.py", folder)
    for source in (path for pattern in SOURCES for path in ROOT.glob(pattern)):
        target = folder / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    rules = folder / "docs" / "rules"
    (rules / "positions.md").write_text(rulings.page(), encoding="utf-8")
    for page in (rules / "rulings.md", rules / "rulebook.md"):
        page.write_text(_with_positions(page.read_text(encoding="utf-8")), encoding="utf-8")


def _with_positions(page: str) -> str:
    """Return a page on which the names of rulings, in tables and sources, lead to their positions."""
    page = re.sub(r"(?<=^\| )(E\d+)(?= \|)", lambda name: _linked(name[0]), page, flags=re.MULTILINE)
    sources = r"<sub>[^`<]*?</sub>"
    return re.sub(sources, lambda source: re.sub(r"\bE\d+\b", lambda name: _linked(name[0]), source[0]), page)


def _linked(ruling: str) -> str:
    return f"[{ruling}](positions.md#{ruling.lower()})"


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
