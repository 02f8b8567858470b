"""Every rule sentence of the sheets, every ruling and every scenario is cited by a test.

The lines are those of the source texts 000 (dutch), 001 (dujardin), 002 (winning_moves) and 004 (parker).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from millebornes_env.games.millebornes.editions import edition, editions
from millebornes_env.games.millebornes.rules import FIELDS, TABLE_FIELDS
from tests.each import each

HERE = Path(__file__).parent

# What each text has on its lines that are not empty: "a rule", which a test cites, or why there is none.
LINES = {
    "000": {
        "a rule": "9 17 19 29 35 43 45 47 57 59 65 73 79 85 91 93 97 104-107 113 115-116 118 122 126 128 "
        "132 134 138 140 144 146 150 158 172 174 178 180 182-185 187 189 191 195 199 201 205 207 "
        "211-215 219 221 225 227 229 233 235 237 239 241 243 245 249 253 256-263",
        "a heading": "3 5 11 37 67 101 103 120 124 130 136 142 148 152 156 170 176 193 197 203 209 217 223 "
        "231 247 251",
        "the name of a card": "15 23 25 27 33 41 51 53 55 63 71 77 83 89",
        "an example": "95",
        "prose that points to rules elsewhere": "99 109 111 254",
        "what others can see: the tests of the observation": "154",
        "the legend of a picture": "160-162 164-166",
    },
    "001": {
        "a rule": "3 5-6 8-9 11-12 14-21 23 25 27-30 32 34-38 40-41 43-44 49-50 57-67 72 74 77 79-80 82-84 "
        "86-88 92-94 96-98 100-102 104-107 110-112 115-122 125-128 130 132 138-139 141 143-145 "
        "147 151-159 161-162 164-166 168 172-174 178-188 192-194 202-203 205-206 208-211 213-214 "
        "216-217",
        "a heading": "1 52 54-55 69 75 90 109 113 123 133-134 136 149 190 200",
        "how to sort the own cards and piles": "68 71",
        "what others can see: the tests of the observation": "46-47",
        "an example": "196-198",
        "scanning noise": "170-171 175-176",
        "cut, or keep this sheet": "218-219",
    },
    "002": {
        "a rule": "17 21 25 27 29 33 41-45 47 49 53-57 59 61 65 71 92-96 98 100 104-107 109 115 117 119-120 "
        "122 124-127 129-130 132-134 136-138 140-143 147-148 150 152 154 156 168 170 174 176 180 "
        "184 186 190 192 196 198-199",
        "a heading": "3 8 12 19 23 31 35 37 39 51 63 69 77 90 102 113 158 162 172 178 188 194",
        "prose about the game, repeated as rules elsewhere": "79 81",
        "what else is in the box, and for whom": "67 73 75",
        "imprint and page numbers": "14-15 83 85-86 88 111 145 160 166 182 201",
    },
    "004": {"a rule": "5 7 9 11 13-18 20 22 24 26 28 30 32 34-35 37", "a heading": "1 3"},
}

# The rulings of the specification's section 2: all are cited but these.
OTHER_RULINGS = {64: "Asmodee's edition, which is not one of ours: passing the target"}

# Its section 3: positions with an answer. Each repeats a rule, whose test cites it.
SCENARIOS = "1-4 6-10 12-13 15-20 22 24-29 31-32 34-36 40 42-43 45-49 52 54 57-58 60 62 65 68-71 73-74"

CITATION = re.compile(r"\b(00\d):(\d+)(?:-(\d+))?")
RULING = re.compile(r"\bE(\d+)\b")
SCENARIO = re.compile(r"\bscenarios? (\d[\d -]*)")
SOURCE = re.compile(r"\b00[0124]:\d|\bUS\b|\bFRC\b|\bFR14\b|\bE\d|\brules \d")
NO_CHAPTER = ("test_edition_", "test_sheets", "test_rulebook_coverage")
"""Tests about editions as data."""


def numbers(ranges: str) -> list[int]:
    """Return the numbers of a text such as "1-3 7"."""
    result = []
    for part in ranges.split():
        first, _, last = part.partition("-")
        result += range(int(first), int(last or first) + 1)
    return result


@cache
def functions() -> dict[str, ast.FunctionDef]:
    """Each test of Mille Bornes in this folder and those below it, by the file's and the test's name."""
    return {
        f"{file.stem}.{node.name}": node
        for file in sorted([*HERE.glob("test_*.py"), *HERE.glob("editions/test_*.py")])
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and "wielerspel" not in file.parts
    }


@cache
def docstrings() -> dict[str, str]:
    """Their docstrings."""
    return {name: ast.get_docstring(node) or "" for name, node in functions().items()}


def chapters() -> dict[str, str]:
    """Return the docstrings of the tests that say what a rule is."""
    return {name: text for name, text in docstrings().items() if not name.startswith(NO_CHAPTER)}


def citations(texts: Iterable[str]) -> list[tuple[str, int, int]]:
    """Return the source text, the first and the last line of each citation."""
    result = [match for text in texts for match in CITATION.findall(text)]
    return [(source, int(first), int(last or first)) for source, first, last in result]


def rulings(texts: Iterable[str]) -> set[int]:
    """Return the numbers of the rulings that are cited."""
    return {int(number) for text in texts for number in RULING.findall(text)}


@each("source", LINES)
def test_every_rule_line_is_cited(source: str) -> None:
    cited = citations(chapters().values())
    lines = {line for text, first, last in cited if text == source for line in range(first, last + 1)}
    assert [line for line in numbers(LINES[source]["a rule"]) if line not in lines] == []


def test_citations_begin_and_end_on_a_line_of_the_text() -> None:
    sources = [source for name in editions() for source in edition(name).sources.values()]
    for text, first, last in citations([*docstrings().values(), *sources]):
        written = {line for ranges in LINES[text].values() for line in numbers(ranges)}
        assert {first, last} <= written, f"{text}:{first}-{last}"
        assert first <= last


@each("name", editions())
def test_a_sheet_cites_rules(name: str) -> None:
    for text, first, last in citations(edition(name).sources.values()):
        rules = set(numbers(LINES[text]["a rule"]))
        assert rules & set(range(first, last + 1)), f"{text}:{first}-{last} is no rule"


def test_every_ruling_is_cited_or_has_a_reason_not_to_be() -> None:
    cited = rulings(chapters().values())
    assert not cited & set(OTHER_RULINGS)
    assert sorted({*cited, *OTHER_RULINGS}) == list(range(1, 65))


FIELD_TESTS = ("test_edition_fields.", "test_edition_fields_of_scoring.")


def test_every_ruling_in_a_question_is_cited_by_the_test_of_its_field() -> None:
    texts = {name: text for name, text in docstrings().items() if name.startswith(FIELD_TESTS)}
    for field, meaning in FIELDS.items():
        own = [text for text in texts.values() if text.startswith(f"{field}: ")]
        if own and not field.startswith("points_"):
            assert rulings([meaning.question]) <= rulings(own), field


def test_every_test_of_a_chapter_has_a_source() -> None:
    assert [name for name, text in chapters().items() if not SOURCE.search(text)] == []


def test_every_scenario_is_cited() -> None:
    cited = " ".join(part for text in chapters().values() for part in SCENARIO.findall(text))
    assert sorted(set(numbers(cited))) == numbers(SCENARIOS)


@each("field", [field for field in FIELDS if not field.startswith("copies_of_")])
def test_every_field_is_overridden_in_a_test(field: str) -> None:
    texts = [text for name, text in docstrings().items() if name.startswith(FIELD_TESTS)]
    code = "".join((HERE / f"{name}py").read_text(encoding="utf-8") for name in FIELD_TESTS)
    assert any(text.startswith(f"{field}: ") for text in texts) or f'("{field}", ' in code
    assert field in TABLE_FIELDS or re.search(rf'\b{field}=|"{field}"', code)


def test_every_card_is_counted_in_a_test() -> None:
    assert any(text.startswith("copies_of_<card>: ") for text in docstrings().values())
    assert sum(field.startswith("copies_of_") for field in FIELDS) == 19
