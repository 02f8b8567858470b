"""The rulebook and the oracle play the same rounds at every table and agree at every decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import pytest

from millebornes_env.games.millebornes.editions import edition, editions
from tests.laws.comparison import play_rounds
from tests.laws.conversions import TABLES, Table, rules_of
from tests.laws.positions import is_ever_played_out
from tests.oracle.rules import OracleRules

ROUNDS = 63
"""Each mix of players takes every place at the table."""

UNIT = 500
"""The numbers below are for so many rounds at one table."""


class Events(NamedTuple):
    """Events that must occur, or the comparison shows little.

    Attributes:
        where: at which tables.
        least: how often each event has to occur in `UNIT` rounds.
        nowhere_else: whether none of them may occur at the other tables.
    """

    where: Callable[[OracleRules], bool]
    least: dict[str, float]
    nowhere_else: bool = False


REQUIRED = (
    Events(
        lambda _: True,
        {
            "claim": 90,
            "pass": 30,
            "claim of Right of Way": 35,
            "Right of Way lifts a Stop": 2,
            "Right of Way lifts a Speed Limit": 8,
            "third 200 refused": 10,
            "draw from another stream": 150,
            "claim with fewer than two cards to draw": 0.3,
            "nobody completed": 100,
            "decision with empty pile": 150,
            "hazard opened a pile": 2,  # of a team with Right of Way, if nowhere else
        },
    ),
    Events(lambda rules: rules.hazard_may_open or not rules.start_needs_roll, {"hazard opened a pile": 150}),
    Events(
        lambda rules: rules.opening_remedy_starts,
        {"opening remedy drives": 200, "opening remedy restored by a safety": 0.5},
        nowhere_else=True,
    ),
    Events(lambda rules: rules.roll_after_safety, {"decision on a cancelled hazard": 40}, nowhere_else=True),
    # The end of the draw pile.
    Events(lambda rules: rules.play_out, {"void play after the last safety": 30, "empty hand skipped": 0.2}),
    Events(
        is_ever_played_out,
        {"void play after the last safety": 20, "empty hand skipped": 0},
        nowhere_else=True,
    ),
    Events(lambda rules: rules.play_out, {"decision with empty pile": 2000, "claim with empty pile": 0.5}),
    Events(lambda rules: not rules.play_out, {"ended with cards in hand": 150}, nowhere_else=True),
    Events(lambda rules: rules.replay_on_empty_pile, {"empty hand skipped": 5}),
    Events(
        lambda rules: not rules.replay_on_empty_pile,
        {"safety with empty pile without replay": 0.3},
        nowhere_else=True,
    ),
    Events(
        lambda rules: rules.play_out and not rules.replay_on_empty_pile,
        {"safety with empty pile without replay": 25},
    ),
    # The extension.
    Events(
        lambda rules: rules.extended_target is not None,
        {"extend": 40, "finish": 18, "extension": 12, "extension succeeded": 4, "extension failed": 35},
        nowhere_else=True,
    ),
    Events(
        lambda rules: rules.extended_target is not None and rules.teams == 3 and rules.extension_failure > 0,
        {"extension shared by two": 35},
        nowhere_else=True,
    ),
    # The score, and who has won without one.
    Events(
        lambda rules: rules.count_points,
        {
            "safeties": 200,
            "all_safeties": 0.5,
            "coups_fourres": 70,
            "trip_completed": 25,
            "delayed_action": 3,
            "safe_trip": 5,
            "shutout": 2,
        },
        nowhere_else=True,
    ),
    Events(lambda rules: rules.count_points and rules.shutout_to_all_placed, {"shutout": 60}),
    Events(
        lambda rules: rules.count_points and rules.shutout_to_all_placed and rules.teams > 2,
        {"shut-out paid to two teams": 35},
        nowhere_else=True,
    ),
    Events(
        lambda rules: not rules.count_points,
        {"round shared": 25, "round without points won by the nearest": 100},
        nowhere_else=True,
    ),
    Events(
        lambda rules: not rules.count_points and rules.teams > 2,
        {"round shared by some": 8},
        nowhere_else=True,
    ),
    Events(lambda rules: rules.teams > 2, {"hazard not at the next team": 800}, nowhere_else=True),
)

all_tables = pytest.mark.parametrize("table", TABLES, ids=str)


def check_events(table: Table, events: Counter[str], rounds: int) -> None:
    rules = rules_of(table)
    wrong = []
    for where, least, nowhere_else in REQUIRED:
        if where(rules):
            wrong += [name for name in least if events[name] < least[name] * rounds // UNIT]
        elif nowhere_else:
            wrong += [name for name in least if events[name]]
    assert not wrong, f"{table}: too few or too many: " + str({name: events[name] for name in wrong})


@all_tables
def test_rounds_agree(table: Table) -> None:
    check_events(table, play_rounds(table, ROUNDS, TABLES.index(table), {}, {}), ROUNDS)


@pytest.mark.slow
@all_tables
def test_many_rounds_agree(table: Table) -> None:
    events: Counter[str] = Counter()
    for part in range(20):
        events += play_rounds(table, UNIT, 1000 * (TABLES.index(table) + 1) + part, {}, {})
    check_events(table, events, 20 * UNIT)


def test_the_tables_are_those_of_the_editions() -> None:
    """A new edition enters the comparison when somebody has written it into the oracle, from its sheet."""
    known = {table.edition for table in TABLES}
    assert len(known) >= 6
    assert known <= set(editions())
    assert {(name, *seats) for name in known for seats in edition(name).tables} == set(TABLES)
