"""Put the pages of the site together, so that Sphinx finds all of them in one folder.

    python -m website.stage build/site-pages

The pages of docs/ come as they are; links that lead out of them, to code, become its names. Pages of editions
and tables, and the reference of the package, are written here from the code.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Final

from website import cite, positions, reference, sections, tables

ROOT: Final = Path(__file__).parents[1]
HERE: Final = Path(__file__).parent

_PLACES: Final = {
    "README.md": "readme.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
"""Pages beside docs/, and where they go."""
_CARDS: Final = (
    "millebornes_env/agents/champions/*/README.md",
    "millebornes_env/agents/equilibrium/README.md",
)
"""Model cards: each goes to models/, by the name of its folder."""
_LINK: Final = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


_WIDE: Final = ("rulebook.md", "leaderboard.md", "race_leaderboard.md")
"""Pages whose tables need the place of the list of headings at the side."""
_WITHOUT_HEADINGS: Final = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"


def place_of(path: Path) -> str | None:
    """Where a file of the checkout stands in the site; None: it does not."""
    if not path.is_relative_to(ROOT) or not path.is_file():
        return None
    name = path.relative_to(ROOT).as_posix()
    if name in _PLACES:
        return _PLACES[name]
    if path.suffix == ".ipynb":
        return name
    if any(path.match(card) for card in _CARDS):
        return f"models/{path.parent.name}.md"
    if name.startswith("docs/") and path.suffix in (".md", ".png", ".svg"):
        return name.removeprefix("docs/")
    return None


def with_links(text: str, source: Path, place: str) -> str:
    """A page's text whose links lead to pages of the site, or are plain words.

    Args:
        text: Markdown.
        source: the file it comes from.
        place: where it goes, below the folder of pages.
    """

    def linked(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, _, anchor = target.partition("#")
        led_to = (source.parent / path).resolve()
        found = place_of(led_to)
        if found is None:
            return words if not mark else ""
        if words.endswith(led_to.name) and not anchor:
            words = title_of(led_to)
        up = "../" * place.count("/")
        return f"{mark}[{words}]({up}{found}{'#' + anchor if anchor else ''})"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else _LINK.sub(linked, part) for part in parts)


def title_of(page: Path) -> str:
    """The first heading of a page, which the site shows where the checkout names the file; else its name."""
    if page.suffix != ".md":
        return page.name
    first = page.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# ") if first.startswith("# ") else page.name


def with_known_lexers(text: str) -> str:
    """Blocks in languages of our own, such as `position`, as plain text."""
    return re.sub(r"^```(position|record|race)$", "```text", text, flags=re.MULTILINE)


def notebook(source: Path, place: str) -> str:
    """A notebook whose text cells link as pages do."""
    content = json.loads(source.read_text(encoding="utf-8"))
    for cell in content["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = with_links("".join(cell["source"]), source, place)
    return json.dumps(content)


def model_cards() -> str:
    """The page that leads to the card of each trained network."""
    names = "\n".join(place.removesuffix(".md") for place in _places_in("models/"))
    about = "For each network that ships: what it is for, how it was made, how well it plays, its limits."
    return f"# Model cards\n\n{about}\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n"


def _places_in(folder: str) -> list[str]:
    """The places of a folder of the site, in the order of their files."""
    places = [place_of(path) or "" for path in sources()]
    return [place for place in places if place.startswith(folder)]


def reports() -> str:
    """The page that leads to the report of each table of the leaderboards."""
    places = [place_of(path) or "" for path in sources() if path.name == "report.md"]
    names = "\n".join(f"{Path(place).parent.name} <{place.removesuffix('.md')}>" for place in places)
    about = "What each pair of agents won, how they play, and how sure that is, table by table."
    return f"# Reports of the leaderboards\n\n{about}\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n"


def sources() -> list[Path]:
    """Files of the checkout that have a place in the site."""
    found = [ROOT / name for name in _PLACES]
    found += [path for card in _CARDS for path in sorted(ROOT.glob(card))]
    found += sorted((ROOT / "docs").rglob("*")) + sorted((ROOT / "notebooks").glob("*.ipynb"))
    return [path for path in found if place_of(path) is not None]


def copy_table(folder: Path) -> None:
    """The table in the browser, for the first page; without an engine if `make web` has not built it."""
    ignored = shutil.ignore_patterns("*.py", "__pycache__")
    shutil.copytree(ROOT / "millebornes_env" / "web", folder, ignore=ignored)


def stage(folder: Path) -> None:
    """Write all pages.

    Args:
        folder: what is in it is removed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "_static").mkdir(parents=True)
    shutil.copy(HERE / "site.css", folder / "_static")
    shutil.copy(ROOT / "millebornes_env" / "web" / "drawing" / "icon.svg", folder / "_static")
    shutil.copy(HERE / "conf.py", folder)
    copy_table(folder / "extra" / "table")
    for source in sources():
        place = place_of(source)
        assert place is not None
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            text = with_links(source.read_text(encoding="utf-8"), source, place)
            text = positions.with_pictures(text, place, folder / "extra")
            head = _WITHOUT_HEADINGS if place in _WIDE else ""
            target.write_text(head + with_known_lexers(text), encoding="utf-8")
        elif source.suffix == ".ipynb":
            target.write_text(notebook(source, place), encoding="utf-8")
        else:
            shutil.copy(source, target)
    made = {**sections.pages(), **tables.pages(ROOT / "docs"), **reference.pages(), **cite.pages(ROOT)}
    for name, text in {**made, "reports.md": reports(), "models.md": model_cards()}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pictured = positions.with_pictures(text, name, folder / "extra")
        (folder / name).write_text(pictured, encoding="utf-8")


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
