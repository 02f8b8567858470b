"""The oracle beside a position of the tests: set up from the record, asked the same, and compared.

So every test of a rule that uses `tests.support.Position` tests both implementations.
"""

from __future__ import annotations

from millebornes_env.engine.batch import Batch
from millebornes_env.games.millebornes.editions import Edition
from millebornes_env.games.millebornes.rules import rules_record
from millebornes_env.games.millebornes.state import SCORE_LINES
from millebornes_env.games.millebornes.winning import round_winner
from tests.laws.comparison import view_of, view_of_oracle
from tests.laws.conversions import (
    DECISIONS,
    Record,
    Table,
    cards_of,
    deck_of,
    name_or_none,
    or_minus_one,
    plain,
    streams_of,
    to_oracle,
)
from tests.laws.expectations import opening_of
from tests.oracle.oracle import BATTLE_HAZARDS, HAZARD_OF_REMEDY, SAFETIES, TABLES, OracleRound
from tests.oracle.rules import DISTANCE_KM, OPTIONS, OracleTeam

ON_BATTLE_PILES = (*HAZARD_OF_REMEDY, *BATTLE_HAZARDS, "ROLL")


def oracle_of(games: Batch, edition: Edition) -> OracleRound | None:
    """Return the oracle's round in the position of the first game; None if it does not know such a game."""
    rules = games.rules
    table = Table(edition.name, rules.players, rules.teams)
    if table[1:] not in TABLES.get(table.edition, ()) or not edition.changes.keys() <= set(OPTIONS):
        return None
    record = plain(games)[0]
    streams = [deck_of(table)[:6]] * table.players
    oracle = OracleRound(*table, streams, record["dealer"], dict(edition.changes))
    oracle.hands = [cards_of(hand) for hand in record["hand"][: table.players]]
    oracle.streams = streams_of(record, table.players)
    oracle.discard_pile = cards_of(record["discard_pile"])
    if (top := name_or_none(record["discard_top"])) in oracle.discard_pile:
        oracle.discard_pile.remove(top)
        oracle.discard_pile.append(top)
    for number, team in enumerate(oracle.teams):
        _lay_out(team, record, number)
        if opening_of(team.battle_pile) != record["opening"][number]:
            return None  # the record does not say how such a pile began
    oracle.target = record["target"]
    oracle.extension_caller = None if record["extension_team"] < 0 else record["extension_team"]
    oracle.pending_hazard = name_or_none(record["pending_hazard"])
    oracle._attacker, oracle._attacked_team = record["attacker"], record["pending_team"]
    oracle.decision = DECISIONS[record["phase"]]
    oracle.seat = None if oracle.decision is None else record["seat"]
    oracle.over = oracle.decision is None
    oracle.winner = None if record["winner"] < 0 else record["winner"]
    return oracle


def _lay_out(team: OracleTeam, record: Record, number: int) -> None:
    laid = cards_of(record["tableau"][number])
    team.distance_pile = [card for card in laid if card in DISTANCE_KM]
    team.safeties = [card for card in laid if card in SAFETIES]
    flags = zip(SAFETIES, record["coup_fourre"][number], strict=True)
    team.coups_fourres = [safety for safety, flag in flags if flag]
    team.speed_pile = [card for card in ("SPEED_LIMIT", "END_OF_LIMIT") for _ in range(laid.count(card))]
    team.battle_pile = [card for card in laid if card in ON_BATTLE_PILES]
    team.battle_pile.sort(
        key=lambda card: card != "ROLL" if record["opening"][number] == 0 else card == "ROLL"
    )
    for pile, tops in ((team.speed_pile, ("speed",)), (team.battle_pile, ("battle_below", "battle"))):
        for card in [name_or_none(record[name][number]) for name in tops]:
            if card is not None:
                pile.remove(card)
                pile.append(card)


def check_legal(oracle: OracleRound, actions: list[int]) -> None:
    """Fail unless these ids are the oracle's legal actions."""
    teams = len(oracle.teams)
    names = set() if oracle.seat is None else {to_oracle(one, teams, oracle.seat % teams) for one in actions}
    assert names == oracle.legal_actions(), "the oracle's legal actions differ"


def check_step(oracle: OracleRound, action: int, games: Batch) -> None:
    """Carry out the action that the game has carried out, and fail if the positions differ."""
    record, teams = plain(games)[0], len(oracle.teams)
    assert oracle.seat is not None
    oracle.step(to_oracle(action, teams, oracle.seat % teams))
    ours, theirs = view_of(record, oracle.players, teams), view_of_oracle(oracle)
    if ours["discard top"] is None:  # a test's smaller draw pile leaves discards without a top
        del ours["discard top"]
    differences = {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}
    assert not differences, f"(rulebook, oracle): {differences}"
    if oracle.over:
        for team in range(teams):
            sheet = dict(zip(SCORE_LINES, record["score_sheet"][team], strict=True))
            assert sheet == oracle.score(team), f"team {team}"
        winner = round_winner(games.states[0], rules_record(games.rules))
        assert int(winner) == or_minus_one(oracle.round_winner())
