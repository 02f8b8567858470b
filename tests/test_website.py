"""Sources of the site: every page is listed, and positions open in the table."""

from __future__ import annotations

import base64
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.site import positions, space, stage
from docs.site.rulings import examples
from tests.each import each
from tests.patience import SECONDS_OF_A_HANG


def test_every_page_of_the_docs_is_in_a_section() -> None:
    texts = [page.read_text(encoding="utf-8") for page in (stage.HERE / "pages").glob("*.md")]
    tables = re.findall(r"^```\{toctree\}\n(.*?)^```", "".join(texts), flags=re.MULTILINE | re.DOTALL)
    listed = re.findall(r"\bdocs/[\w/]+(?=>?$)", "".join(tables), flags=re.MULTILINE)
    ours = [page for page in stage.ROOT.glob("docs/**/*.md") if page.name != "report.md"]
    pages = [page.relative_to(stage.ROOT).with_suffix("").as_posix() for page in ours]
    made = "docs/rules/positions"  # by the site alone
    assert sorted(listed) == sorted([made, *(page for page in pages if not page.startswith("docs/site/"))])


@each("ruling", ("E2", "E32"))
def test_positions_have_a_picture_and_a_link_that_opens_them(ruling: str, tmp_path: Path) -> None:
    text = examples()[ruling][0].text("parker")
    drawn = positions.figure(text, "../", tmp_path)
    (code,) = re.findall(r'href="../table/index.html#t=([\w-]+)"', drawn)
    assert base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)).decode() == text
    pictures = re.findall(r'src="../(positions/\S+)"', drawn)
    assert len(pictures) == 2
    for picture in pictures:
        svg = (tmp_path / picture).read_text(encoding="utf-8")
        used = {f'id="{card}"' for card in re.findall(r'href="#(card-\w+)"', svg)}
        assert used == set(re.findall(r'id="card-\w+"', svg))


def test_the_space_has_a_card_that_its_host_reads() -> None:
    """Fields and limits are those of Hugging Face's reference; the tests of the page play the folder."""
    yaml = pytest.importorskip("yaml")
    card = yaml.safe_load(space.CARD.split("---\n")[1])
    assert (card["sdk"], card["app_file"]) == ("static", "index.html")
    assert len(card["title"]) <= 60
    assert len(card["short_description"]) <= 60
    colors = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
    assert {card["colorFrom"], card["colorTo"]} <= colors


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="Sphinx is not installed: make site")
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """In a process of its own, as by `make site`: pytest would make errors of Sphinx's own deprecations."""
    stage.stage(tmp_path / "pages")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    site = tmp_path / "html"
    done = subprocess.run(
        [*command, str(tmp_path / "pages"), str(site)],
        cwd=stage.ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS_OF_A_HANG,
    )
    assert done.returncode == 0, done.stderr
    assert 'class="game" src="table/index.html"' in (site / "index.html").read_text(encoding="utf-8")
    rulings = (site / "docs" / "rules" / "positions.html").read_text(encoding="utf-8")
    assert rulings.count('<figure class="position">') == sum(map(len, examples().values()))
    contributing = (site / "CONTRIBUTING.html").read_text(encoding="utf-8")
    assert "docs/site/stage.py" in contributing
    assert 'stage.py"' not in contributing, "a link to code that the site does not have"
    for page in site.rglob("*.html"):  # what axe-core objects to, as the theme writes it
        text = page.read_text(encoding="utf-8")
        assert '<th class="head"><p></p></th>' not in text
        assert "<summary><span" not in text
