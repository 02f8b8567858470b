"""The rulebook and the oracle agree on drawn rule sheets, decision by decision."""

from __future__ import annotations

from collections import Counter

import pytest

from millebornes_env.games.millebornes.variants import BEYOND, DRAWN, MINI_TABLES, MINI_TRAIN, TABLES
from tests.laws.comparison import play_rounds
from tests.laws.conversions import Table

ROUNDS = 6
"""Rounds with each sheet, of other mixes of players."""
FAST, MANY = 5, 100
"""Sheets of each split."""


def tables_of(split: str, first: int, count: int) -> list[Table]:
    """Sheets of a split, each at the next kind of table."""
    seats = MINI_TABLES if DRAWN[split] >= MINI_TRAIN else TABLES
    return [Table(f"{split}/{number}", *seats[number % len(seats)]) for number in range(first, first + count)]


def play(split: str, first: int, count: int) -> Counter[str]:
    events: Counter[str] = Counter()
    for number, table in enumerate(tables_of(split, first, count)):
        try:
            events += play_rounds(table, ROUNDS, number, {}, {})
        except AssertionError as error:
            raise AssertionError(f"{table}: {error}") from error
    return events


@pytest.mark.parametrize("split", DRAWN)
def test_drawn_sheets_agree(split: str) -> None:
    events = play(split, 0, FAST)
    assert events["distance" if DRAWN[split] <= BEYOND else "trip_completed"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("split", DRAWN)
def test_many_drawn_sheets_agree(split: str) -> None:
    play(split, FAST, MANY - FAST)
