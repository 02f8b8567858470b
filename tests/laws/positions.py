"""Positions to count from: of each table the first that certain players reach, and the oracle's beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from millebornes_env.engine.batch import Batch
from tests.laws.conversions import DECISIONS, ID_OF, Log, Record, Table, dealt_streams, rules_of
from tests.laws.players import walk
from tests.oracle.oracle import BATTLE_HAZARDS, OracleRound
from tests.oracle.rules import OracleRules

MOST_ROUNDS = 400
"""In which a position is looked for."""


def few(table: Table) -> int:
    """So few cards to draw that the end is near; where it comes with the last of them, not yet at once."""
    return 2 if rules_of(table).play_out else 4


def is_mid_game(record: Record, table: Table) -> bool:
    return 10 < record["draw_pile"] < 60 and min(record["km"][: table.teams]) > 0


def is_claim(record: Record, table: Table, late: bool) -> bool:
    is_late = record["draw_pile"] < 2 if rules_of(table).play_out else 4 <= record["draw_pile"] < 10
    return DECISIONS[record["phase"]] == "claim" and (is_late if late else record["draw_pile"] > 10)


def is_opened_by_hazard(record: Record, table: Table) -> bool:
    own = record["battle"][record["seat"] % table.teams]
    return record["opening"][record["seat"] % table.teams] == 1 and own in map(ID_OF.get, BATTLE_HAZARDS)


def is_near_the_end(record: Record, table: Table) -> bool:
    return record["draw_pile"] == few(table) and DECISIONS[record["phase"]] == "play"


def is_played_out(record: Record, table: Table) -> bool:
    return record["draw_pile"] == 0 and sum(record["hand_count"]) < 5 * table.players


SITUATIONS: dict[str, Callable[[Record, Table], bool]] = {
    "deal": lambda _record, _table: True,
    "mid-game": is_mid_game,
    "claim": lambda record, table: is_claim(record, table, late=False),
    "late claim": lambda record, table: is_claim(record, table, late=True),
    "extension": lambda record, _: DECISIONS[record["phase"]] == "extension" and record["draw_pile"] > 3,
    "extended": lambda record, _: record["extension_team"] >= 0 and record["draw_pile"] > 3,
    "opened": is_opened_by_hazard,
    "last cards": is_near_the_end,
    "play-out": is_played_out,
}
"""The situations to find, in the order of the recorded numbers."""


def is_ever_played_out(rules: OracleRules) -> bool:
    """Return True if hands are played out, always or after an extension."""
    return rules.play_out or (rules.play_out_after_extension and rules.extended_target is not None)


def occurs(situation: str, table: Table) -> bool:
    """Return True if the situation can occur under the rules of the table."""
    rules = rules_of(table)
    if situation in {"extension", "extended"}:
        return rules.extended_target is not None
    if situation == "opened":
        return rules.hazard_may_open or not rules.start_needs_roll
    if situation == "play-out":
        return is_ever_played_out(rules)
    return True


@cache
def all_found(table: Table) -> dict[str, tuple[Batch, OracleRound]]:
    """The first game in each of the situations, in both implementations."""
    missing = {name for name in SITUATIONS if occurs(name, table)}
    positions = {}
    for seed in range(MOST_ROUNDS):
        first: Record | None = None
        for games, record, log in walk(table, seed):
            first = first or record
            if DECISIONS[record["phase"]] is None:
                break
            for name in [name for name in missing if SITUATIONS[name](record, table)]:
                positions[name] = games.clone(), replayed(first, log, table)
                missing.remove(name)
        if not missing:
            return positions
    raise AssertionError(f"{table}: no {missing} in {MOST_ROUNDS} rounds")


def found(situation: str, table: Table) -> tuple[Batch, OracleRound]:
    return all_found(table)[situation]


def replayed(deal: Record, log: Log, table: Table) -> OracleRound:
    oracle = OracleRound(*table, dealt_streams(deal, table.players), deal["dealer"])
    for seat, action in log:
        assert oracle.seat == seat
        oracle.step(action)
    return oracle
