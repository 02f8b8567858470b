"""Checks of the oracle that need no position: what it refuses, and any combination of options.

Every test of `tests/rules` asks the oracle, too (`beside.py`); `tests/laws` plays whole rounds with both.
"""

from __future__ import annotations

import random

import pytest

from tests.each import each
from tests.laws.comparison import play_rounds
from tests.laws.conversions import TABLES, Table, deck_of
from tests.oracle.oracle import OracleRound, count_sequences, deck
from tests.oracle.rules import OPTIONS


def dealt(table: Table) -> OracleRound:
    """Deal an unshuffled deck."""
    cards = deck_of(table)
    return OracleRound(*table, [cards[seat :: table.players] for seat in range(table.players)], 0)


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_rounds_with_random_options_agree(table: Table) -> None:
    """`laws/test_options_agree` changes one option at a time; combinations are played here."""
    options = {option: random.Random(f"{table} {option}").randrange(2) for option in OPTIONS}
    play_rounds(table, 3, TABLES.index(table), options, options)


@each(("players", "teams"), [(5, 5), (6, 6), (1, 1)])
def test_no_such_table(players: int, teams: int) -> None:
    """Rules 1.1 "players": five players, or six for themselves, find no table; nor does another game."""
    for edition in dict.fromkeys(table.edition for table in TABLES):
        with pytest.raises(ValueError, match="no table"):
            deck(edition, players, teams)
    with pytest.raises(ValueError, match="no table"):
        deck("touring", 2, 2)


@each("options", [{"target": 1}, {"play_out": 1}, {"exact_finish": 2}])
def test_other_options_are_refused(options: dict[str, int]) -> None:
    """Only the named options, and 0 or 1."""
    with pytest.raises(ValueError, match="no option"):
        OracleRound(*TABLES[0], [["ROLL"] * 7] * 2, 0, options)


def test_what_cannot_be_done_is_refused() -> None:
    """One stream for each seat; legal actions only; no score and no winner before the end."""
    with pytest.raises(ValueError, match="streams"):
        OracleRound(*TABLES[0], [["ROLL"] * 7], 0)
    game = dealt(TABLES[0])
    with pytest.raises(ValueError, match="illegal"):
        game.step(("claim",))
    for call in (lambda: game.score(0), game.round_winner):
        with pytest.raises(ValueError, match="not over"):
            call()


def test_count_sequences() -> None:
    """Sequences that end the round earlier do not count, and counting changes nothing."""
    game = dealt(TABLES[0])
    hands = [list(hand) for hand in game.hands]
    actions = len(game.legal_actions())
    assert [count_sequences(game, depth) for depth in range(2)] == [1, actions]
    assert game.hands == hands
    game.hands, game.streams = [["END_OF_LIMIT"], []], [[], []]
    assert count_sequences(game, 2) == 0
