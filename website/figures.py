"""Figures in prose and where they come from: every number that was measured has a source.

    python -m website.figures                                               # says which have none
    python -m website.figures --source "python -m ..." --date 2026-11-22    # enters them in docs/figures.toml

A figure is a number with decimals, a number with a unit of time, size or share, or a whole number above 20.
It has a source if it

- stands in code, in an example, or in a block that a command has written (`<!-- NAME: python -m ... -->` to
  `<!-- end ... -->`; a page that a command has written says so above its first heading of the second rank);
- is a number of the rules, a power of two or of ten (settings, not measurements), a year, or part of a name
  (`E34`, `rules 1.4`, `Python 3.11`);
- occurs in a recorded file that docs/figures.toml names for the page, rounded as the page rounds it;
- is listed in docs/figures.toml, with the command, the day and the machine, or another source.

Numbers in words ("half an hour") are not found.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from millebornes_env import edition, editions
from millebornes_env.files import replacing
from millebornes_env.millebornes.cards import KM

ROOT: Final = Path(__file__).parents[1]
SOURCES: Final = "docs/figures.toml"
PAGES: Final = ("README.md", "CONTRIBUTING.md", "agents/README.md", "docs/*.md")
"""Pages that people write. Model cards name the command above each table; the changelog tells of its days."""

_LARGEST_COUNT: Final = 20
_TELLING_DIGITS: Final = 3
_YEARS: Final = range(1900, 2100)
_USUAL: Final = ("95 %", "1.96")
"""The level of our intervals, and its quantile."""
_UNITS: Final = {
    "%": (100.0, 1.0),
    "x": (1.0,),
    "million": (1e-6,),
    "M": (1e-6,),
    "k": (1e-3,),
    "µs": (1e6, 1.0),
    "us": (1e6, 1.0),
    "ms": (1e3, 1.0),
    "s": (1.0,),
    "seconds": (1.0,),
    "minutes": (1 / 60, 1.0),
    "hours": (1 / 3600,),
    "kB": (1e-3, 1.0),
    "MB": (1e-6, 1.0),
    "GB": (1e-9, 1.0),
    "KiB": (2.0**-10,),
    "MiB": (2.0**-20, 1.0),
    "GiB": (2.0**-30, 1.0),
}
"""What follows a number that was measured, and what recorded numbers are multiplied by to compare."""

_FENCE: Final = re.compile(r"^( *)(```|~~~).*?^\1\2 *$", flags=re.MULTILINE | re.DOTALL)
_WRITTEN: Final = re.compile(r"<!-- [^>]*\bpython [^>]*-->.*?<!-- end[^>]*-->", flags=re.DOTALL)
_BY_A_COMMAND: Final = re.compile(r"\b(?:[Ww]ritten|[Mm]ade)\b[^.`]*(?:`[^`]*`[^.`]*)*?by\s+`python ")
_HIDDEN: Final = re.compile(
    r"`[^`]*`"  # code
    r"|\]\([^)]*\)"  # where a link leads
    r"|<!--.*?-->|</?\w[^>]*>"
    r"|\d{4}-\d\d-\d\d"  # a day
    r"|\b\d{3}:\d+(?:-\d+)?(?:, \d+(?:-\d+)?)*"  # lines of a rule text
    r"|\b(?:rules|version|Python|Numba|NumPy|PyTorch|Ray|TorchRL|mutmut|cosmic-ray) \d+(?:\.\d+)+"
    r"|\b(?:scenario|version|issue|pages?|pp?\.|LLVM|Node) \d+(?:-\d+)?"
    r"|(?<![\w.])v?\d+\.\d+\.\d+[\w.]*"  # a version
    r"|(?<![\w.])\w*[A-Za-z_]\w*",  # a word, also one with digits
    flags=re.DOTALL,
)
_NUMBER: Final = re.compile(
    r"(?<![\w.,/:*^])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?![\d:]|\.\d)"
    r"(?:(x)(?!\w)|[ -]?(%|million|minutes?|hours?|seconds?|[µu]s|ms|s|M|k|[kMG]B|[KMG]iB)(?![\w]))?"
)


@dataclass(frozen=True)
class Figure:
    """A number in prose.

    Attributes:
        page: the file, from the checkout's folder.
        section: the heading above it.
        line: its line, from 1.
        text: as it stands there, with its unit.
    """

    page: str
    section: str
    line: int
    text: str

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text.split(" ")[0].replace(",", ""))

    @property
    def decimals(self) -> int:
        """How many digits stand behind the point."""
        return len(self.text.split(" ")[0].partition(".")[2])

    @property
    def unit(self) -> str:
        """What follows the number; "" for none."""
        return self.text.partition(" ")[2]


def pages() -> list[str]:
    """The pages that are looked through."""
    found = [path for pattern in PAGES for path in sorted(ROOT.glob(pattern))]
    return [path.relative_to(ROOT).as_posix() for path in dict.fromkeys(found)]


def _blank(found: re.Match[str]) -> str:
    """Nothing, in as many lines."""
    return "\n" * found[0].count("\n")


def is_written_by_a_command(text: str) -> bool:
    """Whether a page says above its second heading that a command writes it."""
    return _BY_A_COMMAND.search(text.partition("\n## ")[0]) is not None


def figures_in(page: str, text: str) -> Iterator[Figure]:
    """Every figure in the prose of a page.

    Args:
        page: its name.
        text: Markdown.
    """
    if is_written_by_a_command(text):
        return
    section = ""
    for number, line in enumerate(_FENCE.sub(_blank, _WRITTEN.sub(_blank, text)).split("\n"), start=1):
        if heading := re.match(r"#+ (.*)", line):
            section = heading[1].replace("`", "")
        hidden = _HIDDEN.sub(lambda found: found[0] if found[0] in _WORDS_OF_UNITS else "\x00" * 2, line)
        for found in _NUMBER.finditer(hidden):
            figure = Figure(page, section, number, " ".join(part for part in found.groups() if part))
            if is_figure(figure):
                yield figure


_WORDS_OF_UNITS: Final = {*_UNITS, "minute", "hour", "second"}


def is_figure(figure: Figure) -> bool:
    """Whether a number needs a source."""
    if figure.unit or figure.decimals:
        return figure.text not in _USUAL
    value = int(figure.value)
    is_setting = value > 0 and (value & (value - 1) == 0 or 10 ** round(math.log10(value)) == value)
    return value > _LARGEST_COUNT and not is_setting and value not in _YEARS and value not in of_the_rules()


@cache
def of_the_rules() -> frozenset[int]:
    """Every number of Mille Bornes' rule sheets; sizes of decks, km of cards, how many tables there are."""
    tables = [edition(name).table(*table) for name in editions() for table in edition(name).tables]
    found = {int(value) for rules in tables for value in rules}
    for rules in tables:
        found.add(sum(value for field, value in rules._asdict().items() if field.startswith("copies_of_")))
    return frozenset(found | {int(km) for km in KM} | {len(tables)})


@cache
def recorded_in(file: str) -> tuple[float, ...]:
    """Every number of a JSON file, without its sign.

    Args:
        file: from the checkout's folder.
    """
    return tuple(_numbers(json.loads((ROOT / file).read_text(encoding="utf-8"))))


def _numbers(content: Any) -> Iterator[float]:
    if isinstance(content, dict):
        content = list(content.values())
    if isinstance(content, list):
        for one in content:
            yield from _numbers(one)
    elif isinstance(content, int | float) and not isinstance(content, bool):
        yield abs(float(content))


def is_recorded(figure: Figure, numbers: Iterable[float]) -> bool:
    """Whether one of the numbers reads so, rounded as the page rounds it.

    Two digits say too little: among hundreds of numbers there is always one that rounds to them.
    """
    if not figure.unit and len(re.sub(r"^[0.]+|\D", "", figure.text)) < _TELLING_DIGITS:
        return False
    unit = figure.unit if figure.unit in _UNITS else f"{figure.unit}s"
    most = 0.5 * 10.0**-figure.decimals * (1 + 1e-9)
    scales = _UNITS.get(unit, (1.0,))
    return any(abs(number * scale - figure.value) <= most for number in numbers for scale in scales)


def load() -> dict[str, Any]:
    """docs/figures.toml: `recorded` (files of figures) and `figures` (lists of figures with their source)."""
    return {"recorded": [], "figures": []} | tomllib.loads((ROOT / SOURCES).read_text(encoding="utf-8"))


def without_source(found: list[Figure], sources: dict[str, Any]) -> list[Figure]:
    """The figures that nothing says the origin of.

    Args:
        found: figures.
        sources: what docs/figures.toml holds.
    """
    listed = {
        (entry["page"], entry["section"], text) for entry in sources["figures"] for text in entry["figures"]
    }
    recorded = [
        (entry["page"], entry["section"], [number for file in entry["files"] for number in recorded_in(file)])
        for entry in sources["recorded"]
    ]
    return [
        one
        for one in found
        if (one.page, one.section, one.text) not in listed
        and not any(
            (page, section) == (one.page, one.section) and is_recorded(one, numbers)
            for page, section, numbers in recorded
        )
    ]


def all_figures() -> list[Figure]:
    """Those of all pages."""
    return [
        figure for page in pages() for figure in figures_in(page, (ROOT / page).read_text(encoding="utf-8"))
    ]


def entries_for(missing: list[Figure], source: dict[str, str]) -> list[dict[str, Any]]:
    """An entry of docs/figures.toml for each section that has figures.

    Args:
        missing: figures without a source.
        source: what is said of all of them: `source`, `date`, `machine`.
    """
    grouped: dict[tuple[str, str], list[str]] = {}
    for one in missing:
        texts = grouped.setdefault((one.page, one.section), [])
        if one.text not in texts:
            texts.append(one.text)
    return [
        {"page": page, "section": section, "figures": texts, **source}
        for (page, section), texts in grouped.items()
    ]


def stale(found: list[Figure], sources: dict[str, Any]) -> list[str]:
    """What docs/figures.toml says of pages, sections and figures that are not there any more.

    Args:
        found: the figures of all pages.
        sources: what docs/figures.toml holds.
    """
    there = {(one.page, one.section, one.text) for one in found}
    sections = {(one.page, one.section) for one in found}
    said = [
        f"{entry['page']}, {entry['section']}: {text}"
        for entry in sources["figures"]
        for text in entry["figures"]
        if (entry["page"], entry["section"], text) not in there
    ]
    return said + [
        f"{entry['page']}, {entry['section']}: {', '.join(entry['files'])}"
        for entry in sources["recorded"]
        if (entry["page"], entry["section"]) not in sections
    ]


def as_toml(sources: dict[str, Any]) -> str:
    """The text of docs/figures.toml.

    Args:
        sources: `recorded` and `figures`, each a list of entries.
    """
    parts = [HEAD]
    for kind in ("recorded", "figures"):
        parts += [
            f"[[{kind}]]\n" + "\n".join(f"{key} = {_value(entry[key])}" for key in entry) + "\n"
            for entry in sorted(sources[kind], key=lambda entry: pages().index(entry["page"]))
        ]
    return "\n".join(parts)


def _value(value: str | list[str]) -> str:
    return json.dumps(value, ensure_ascii=False)


def save(sources: dict[str, Any]) -> None:
    """Write docs/figures.toml, without what is stale."""
    there = {(one.page, one.section, one.text) for one in all_figures()}
    kept = []
    for entry in sources["figures"]:
        texts = [text for text in entry["figures"] if (entry["page"], entry["section"], text) in there]
        if texts:
            kept.append({**entry, "figures": texts})
    with replacing(ROOT / SOURCES) as draft:
        draft.write_text(as_toml({"recorded": sources["recorded"], "figures": kept}), encoding="utf-8")


HEAD: Final = """\
# Where the figures in prose come from: `python -m website.figures` checks it, and says what a figure is.
#
# recorded   the numbers of these files may stand in the section, rounded
# figures    in this section, from `source`: a command, a place in the code, or whose figure it is; `date` and
#            `machine` where it was measured
#
# All figures that have no source yet are entered, and those removed that have left the pages, by
# `python -m website.figures --source "python -m benchmarks.search" --date 2026-11-22 --machine "two cores"`.
"""


def main(arguments: list[str] | None = None) -> int:
    """Print what has no source, or enter it; 1 if something has none."""
    parser = argparse.ArgumentParser(
        prog="python -m website.figures", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument(
        "--source", help="enter all figures without a source as coming from this command or place"
    )
    parser.add_argument("--page", help="of this page only, such as docs/research.md")
    parser.add_argument("--date", help="the day of the measurement, as 2026-11-22")
    parser.add_argument("--machine", help="what it was measured on, where that matters")
    options = vars(parser.parse_args(arguments))
    sources, found = load(), all_figures()
    missing = [one for one in without_source(found, sources) if options["page"] in (None, one.page)]
    given = {key: options[key] for key in ("source", "date", "machine") if options[key]}
    if "python -m" in given.get("source", "") and "date" not in given:
        parser.error("a command gives other figures another day: add --date")
    if "source" in given:
        sources["figures"] += entries_for(missing, given)
        save(sources)
        print(f"entered {len(missing)} figures in {SOURCES}")
        return 0
    for one in missing:
        print(f"{one.page}:{one.line}: {one.text} has no source (section {one.section!r})")
    gone = stale(found, sources)
    for line in gone:
        print(f"{SOURCES} has what is not there any more: {line}")
    print(f"{len(found)} figures, {len(missing)} without a source")
    return 1 if missing or gone else 0


if __name__ == "__main__":
    sys.exit(main())
