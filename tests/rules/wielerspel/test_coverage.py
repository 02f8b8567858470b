"""Every rule line of 003 and every ruling of the race is cited by a test; citations are lines of the text."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from millebornes_env.games.wielerspel.editions import edition

HERE = Path(__file__).parent
PACKAGE = HERE.parents[2] / "millebornes_env/games/wielerspel"

# What the text has on its lines that are not empty: "a rule", which a test cites, or why there is none.
LINES = {
    "a rule": "7 15 22 24 26 28 30 34 36 40 44-45 49 51 53 55 57 59 61 63 67 71 73 75 83 87 90 95 99 103 109 "
    "113 115 117 119 121 123 133 138 143 145 148 153 155 158 162 166 172 174 178 200 202",
    "a tip that shows what a rule means": "184 186 188 192 196",
    "a heading": "9 20 32 38 65 79 81 93 107 125 131 136 141 160 170 180 198",
    "what is in the box": "11-14 16-18",
    "prose that points to rules elsewhere": "42 47",
    "a picture": "111 134 139 146 150-151 156",
    "advice": "127 129 182 190 194",
    "imprint": "5 204",
}

CITATION = re.compile(r"\b003:(\d+)(?:-(\d+))?")
RULING = re.compile(r"\bW(\d+)\b")
LAST_RULING = 27
NOT_IN_A_TEST = {15: "the proposed board: the sheet cites it", 16: "the proposed deck: the sheet cites it"}


def numbers(ranges: str) -> list[int]:
    """Return the numbers of a text such as "1-3 7"."""
    result = []
    for part in ranges.split():
        first, _, last = part.partition("-")
        result += range(int(first), int(last or first) + 1)
    return result


@cache
def docstrings() -> dict[str, str]:
    """Return the docstring of each test of the race, but for the oracle's."""
    return {
        f"{file.stem}.{node.name}": ast.get_docstring(node) or ""
        for file in sorted(HERE.parents[1].glob("*/wielerspel/test_*.py"))
        if "oracle" not in file.parts
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def cited_lines(text: str) -> set[int]:
    """The lines of 003 that a text cites: the first and the last of each citation, and those between."""
    result = CITATION.findall(text)
    return {line for first, last in result for line in range(int(first), int(last or first) + 1)}


def test_every_rule_line_is_cited() -> None:
    cited = cited_lines(" ".join(docstrings().values()))
    lines = numbers(f"{LINES['a rule']} {LINES['a tip that shows what a rule means']}")
    assert [line for line in lines if line not in cited] == []


def test_the_lines_are_those_of_the_text() -> None:
    """Each line of the text has one kind; 97 lines are not empty."""
    lines = [line for ranges in LINES.values() for line in numbers(ranges)]
    assert len(lines) == len(set(lines)) == 97


def test_citations_begin_and_end_on_a_line_of_the_text() -> None:
    written = {line for ranges in LINES.values() for line in numbers(ranges)}
    texts = [*docstrings().values(), *edition("arc_en_ciel").sources.values()]
    texts += [file.read_text(encoding="utf-8") for file in PACKAGE.glob("*.py")]
    for first, last in CITATION.findall(" ".join(texts)):
        assert {int(first), int(last or first)} <= written, f"003:{first}-{last}"


def test_every_ruling_is_cited() -> None:
    cited = {int(number) for text in docstrings().values() for number in RULING.findall(text)}
    assert sorted(cited | set(NOT_IN_A_TEST)) == list(range(1, LAST_RULING + 1))
    in_sheet = " ".join(edition("arc_en_ciel").sources.values())
    assert all(f"W{number}" in in_sheet for number in NOT_IN_A_TEST)


def test_every_ruling_stands_in_the_docs() -> None:
    rulings = (HERE.parents[2] / "docs/rules/rulings.md").read_text(encoding="utf-8")
    result = [int(number) for number in re.findall(r"^\| W(\d+) \|", rulings, re.MULTILINE)]
    assert result == list(range(1, LAST_RULING + 1))
