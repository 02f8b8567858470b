"""What the site is built from: every page has a place in it, and every link leads somewhere."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from millebornes_env import edition, editions
from website import conf, stage

LINK = re.compile(r"\[[^\]]*\]\(([^()\s:]+)\)")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("site")
    stage.stage(folder)
    return folder


def listed(folder: Path) -> Iterator[Path]:
    """The pages that tables of contents name."""
    for page in folder.rglob("*.md"):
        for table in re.findall(
            r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL
        ):
            for line in table.splitlines():
                if line and not line.startswith(":"):
                    name = re.sub(r".*<(.*)>", r"\1", line)
                    start = folder if name.startswith("/") else page.parent
                    found = [start / f"{name.lstrip('/')}{ending}" for ending in (".md", ".ipynb")]
                    yield next(path for path in found if path.exists())


def test_every_page_is_in_a_table_of_contents(pages: Path) -> None:
    known = {path.resolve() for path in listed(pages)} | {pages / "index.md"}
    assert {path.resolve() for path in (*pages.rglob("*.md"), *pages.rglob("*.ipynb"))} == known


def test_every_link_leads_to_a_page(pages: Path) -> None:
    for page in pages.rglob("*.md"):
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in LINK.findall(re.sub(r"`[^`]*`", "", text)):
            if not target.startswith("#"):
                assert (page.parent / target.partition("#")[0]).is_file(), f"{page.name}: {target}"


def test_links_to_code_become_words() -> None:
    source = stage.ROOT / "docs" / "page.md"
    text = (
        "[turn.py](../millebornes_env/millebornes/turn.py), [agents](agents.md#search), [out](https://x.org)"
    )
    assert (
        stage.with_links(text, source, "page.md")
        == "turn.py, [agents](agents.md#search), [out](https://x.org)"
    )
    assert stage.with_links("[a](agents.md)", source, "reference/page.md") == "[a](../agents.md)"
    code = "```\n[a](../none.py)\n```"
    assert stage.with_links(code, source, "page.md") == code


def test_every_edition_has_a_page_with_all_its_tables(pages: Path) -> None:
    for name in editions():
        text = (pages / "editions" / f"{name}.md").read_text(encoding="utf-8")
        assert text.count("| Agents count |") == len(edition(name).tables)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="Sphinx is not installed: make site")
def test_the_site_builds_without_a_warning(pages: Path, tmp_path: Path) -> None:
    from sphinx.cmd.build import build_main  # noqa: PLC0415 - an extra

    assert build_main(["-W", "--keep-going", "-q", "-b", "html", str(pages), str(tmp_path / "html")]) == 0
    assert conf.html_title in (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
