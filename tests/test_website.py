"""What the site is built from: every page has a place in it, and every link leads somewhere."""

from __future__ import annotations

import base64
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from millebornes_env import __version__, edition, editions, vector_env
from tests.patience import SECONDS_OF_A_HANG
from website import conf, sections, stage
from website.rulings import shown

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


def test_what_axe_finds_in_written_pages_is_mended() -> None:
    table = '<tr><th class="head text-right"><p></p></th><th class="head"><p>wins</p></th></tr>'
    assert conf.mended(table) == '<tr><td></td><th class="head"><p>wins</p></th></tr>'


def test_no_list_of_pages_has_two_of_one_name(pages: Path) -> None:
    for name in sections.SECTIONS:
        text = (pages / f"{name}.md").read_text(encoding="utf-8")
        (table,) = re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.DOTALL)
        titles = [_title(pages, line) for line in table.splitlines() if "/" in line]
        assert len(set(titles)) == len(titles) > 1, name


def _title(folder: Path, line: str) -> str:
    """What a line of a table of contents is called."""
    if line.endswith(">"):
        return line.partition(" <")[0]
    page = folder / f"{line.lstrip('/')}.md"
    if not page.is_file():  # a notebook
        return line
    return next(
        one for one in page.read_text(encoding="utf-8").splitlines() if one.startswith("# ")
    ).removeprefix("# ")


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
    assert stage.with_links("[docs/agents.md](agents.md)", source, "page.md") == "[The agents](agents.md)"
    code = "```\n[a](../none.py)\n```"
    assert stage.with_links(code, source, "page.md") == code


HEADINGS = ("Observation Space", "Action Space", "Rewards", "Usage", "Version History")


def test_every_table_has_a_page_with_the_headings_of_pettingzoo(pages: Path) -> None:
    tables = [(name, *table) for name in editions() for table in edition(name).tables]
    assert len(tables) == 28
    for name, players, teams in tables:
        of_table = name + f"-{players}" + ("" if players == teams else f"-in-{teams}")
        text = (pages / "editions" / f"{of_table}.md").read_text(encoding="utf-8")
        assert all(f"\n## {heading}\n" in text for heading in HEADINGS), of_table
        env = vector_env(1, name, players=players, teams=teams)
        assert f"| Observation Shape | `({env.observation_sections[-1].stop},)` |" in text
        assert text.count("| `unseen` |") == 1
        assert f"({of_table}.md)" in (pages / "editions" / f"{name}.md").read_text(encoding="utf-8")


def test_the_usage_of_a_table_runs(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("parker-6-in-3", "arc_en_ciel-3"):
        text = (pages / "editions" / f"{name}.md").read_text(encoding="utf-8")
        (example,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
        exec(compile(example, name, "exec"), {})
        assert capsys.readouterr().out


def test_positions_have_a_picture_and_a_link_that_opens_them(pages: Path) -> None:
    text = (pages / "rulings_positions.md").read_text(encoding="utf-8")
    codes = re.findall(r'href="table/index.html#t=([\w-]+)"', text)
    opened = [base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)).decode() for code in codes]
    assert opened == [one.text(one.editions[0]) for several in shown().values() for one in several]
    assert text.count("</div>\n<figcaption><a href=") == len(codes)  # beside a picture the theme hides it
    pictures = re.findall(r'src="(positions/\S+)"', text)
    assert len(pictures) == 2 * len(opened)
    for picture in pictures:
        drawn = (pages / "extra" / picture).read_text(encoding="utf-8")
        assert {f'id="{used}"' for used in re.findall(r'href="#(card-\w+)"', drawn)} <= set(
            re.findall(r'id="card-\w+"', drawn)
        )


def test_every_champion_has_its_model_card(pages: Path) -> None:
    for card in (stage.ROOT / "millebornes_env" / "agents" / "champions").glob("*/README.md"):
        heading = card.read_text(encoding="utf-8").partition("\n")[0]
        text = (pages / "models" / f"{card.parent.name}.md").read_text(encoding="utf-8")
        assert text.startswith(heading)


def test_how_to_cite_says_what_the_citation_file_says(pages: Path) -> None:
    text = (pages / "cite.md").read_text(encoding="utf-8")
    for line in (stage.ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines():
        assert line in text
    assert "author = {{The millebornes_env developers}}" in text
    assert f"version = {{{__version__}}}" in text


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="Sphinx is not installed: make site")
def test_the_site_builds_without_a_warning(pages: Path, tmp_path: Path) -> None:
    """In a process of its own, as by `make site`: pytest would make errors of Sphinx's own deprecations."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    done = subprocess.run(
        [*command, str(pages), str(tmp_path / "html")],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS_OF_A_HANG,
    )
    assert done.returncode == 0, done.stderr
    assert conf.html_title in (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    for page in (tmp_path / "html").rglob("*.html"):  # what axe-core objects to, as the theme writes it
        text = page.read_text(encoding="utf-8")
        assert '<th class="head"><p></p></th>' not in text
        assert "<summary><span" not in text
