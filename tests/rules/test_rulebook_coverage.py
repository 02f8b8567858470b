"""Every rule sentence of the edition and every ruling that applies to it is cited by a test."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from millebornes_env.millebornes.editions import Rules

HERE = Path(__file__).parent

# Text 004, section "Play", by line.
RULE_LINES = (5, 7, 9, 11, 13, 14, 15, 16, 17, 18, 20, 22, 24, 26, 28, 30, 32, 34, 35, 37)
OTHER_LINES = {
    1: "the title of the page",
    3: "the heading of the section",
    **dict.fromkeys((2, 4, 6, 8, 10, 12, 19, 21, 23, 25, 27, 29, 31, 33, 36), "empty"),
}

# The rulings of the specification's section 2, by number.
RULINGS = (
    *range(1, 16),
    *range(17, 29),
    *(37, 38, 39, 40, 41, 42, 44, 45, 46, 47, 49, 50, 51, 52, 59, 61, 62, 63),
)
RULINGS_BEHIND_FIELDS = {
    16: "no extra play after a claim: replay_after_claim_when_empty=0",
    30: "an opening Stop: opening_remedy_starts=1",
    31: "any safety starts: any_safety_starts=1",
    43: "the shut-out of every blank team: shutout_for=1",
    55: "attacked on a remedy: roll_after_remedy=0",
}
OTHER_RULINGS = {
    29: "winning_moves: one pile or two",
    32: "winning_moves: a deadline for the Roll",
    33: "winning_moves: which cards are played out",
    34: "dutch: the end at the empty pile",
    35: "dutch: the two extra cards",
    36: "dutch: its line about hazards",
    48: "winning_moves: what a failed extension costs",
    53: "dujardin_2014: a tie with the pile empty",
    54: "dujardin_2014: no distance card left in the pile",
    56: "dujardin_2014: hands of a pair",
    57: "dujardin: the deck under the hole in the scan",
    58: "dutch: six players in two teams",
    60: "winning_moves: two 200s per player or per team",
    64: "Asmodee: passing 1000",
}

SCENARIOS = (
    *(1, 2, 6, 7, 9, 13, 15, 16, 17, 18, 20, 22, 24, 26, 27, 28, 32, 34, 35, 36),
    *(42, 43, 45, 46, 47, 48, 52, 54, 57, 60, 62, 65, 68, 69, 70, 73, 74),
)


LINE = r"\b004:(\d+)"
RULING = r"\bE(\d+)\b"


@cache
def docstrings(files: str = "test_*.py") -> dict[str, str]:
    """The docstring of each test in this folder, by the file's and the test's name."""
    return {
        f"{file.stem}.{node.name}": ast.get_docstring(node) or ""
        for file in sorted(HERE.glob(files))
        if file != Path(__file__)
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def chapters() -> dict[str, str]:
    """The docstrings without those about editions as data and about the scenarios, which repeat rules."""
    return {
        name: text
        for name, text in docstrings().items()
        if not name.startswith(("test_edition_", "test_scenarios"))
    }


def cited(pattern: str, docs: dict[str, str]) -> set[int]:
    """The numbers that the pattern finds."""
    return {int(number) for text in docs.values() for number in re.findall(pattern, text)}


@pytest.mark.parametrize("line", RULE_LINES)
def test_every_rule_line_is_cited(line: int) -> None:
    assert line in cited(LINE, chapters())


@pytest.mark.parametrize("number", RULINGS)
def test_every_ruling_is_cited(number: int) -> None:
    assert number in cited(RULING, chapters())


@pytest.mark.parametrize("number", RULINGS_BEHIND_FIELDS)
def test_every_ruling_behind_a_field_is_cited_by_its_test(number: int) -> None:
    assert number in cited(RULING, docstrings("test_edition_fields.py"))


def test_no_line_and_no_ruling_is_forgotten() -> None:
    assert sorted((*RULE_LINES, *OTHER_LINES)) == list(range(1, 38))
    assert sorted((*RULINGS, *RULINGS_BEHIND_FIELDS, *OTHER_RULINGS)) == list(range(1, 65))


def test_only_rules_of_the_edition_are_cited() -> None:
    assert cited(LINE, docstrings()) <= set(RULE_LINES)
    assert cited(RULING, docstrings()) <= {*RULINGS, *RULINGS_BEHIND_FIELDS}


def test_every_test_of_a_chapter_has_a_source() -> None:
    source = re.compile(r"\b004:\d|\bUS\b|\bE\d|\brules \d")
    assert [name for name, text in chapters().items() if not source.search(text)] == []


def test_every_scenario_has_one_test() -> None:
    names = [name.split(".")[1] for name in docstrings("test_scenarios.py")]
    numbers = [int(name.split("_")[2]) for name in names if name.startswith("test_scenario_")]
    assert numbers == sorted(SCENARIOS)


@pytest.mark.parametrize("field", Rules._fields)
def test_every_field_is_overridden_in_a_test(field: str) -> None:
    texts = docstrings("test_edition_fields.py").values()
    source = (HERE / "test_edition_fields.py").read_text(encoding="utf-8")
    assert any(text.startswith(f"{field}: ") for text in texts) or f'("{field}", ' in source
