"""Helpers of this folder: tables, names for ids, plain copies of records, chi-square.

What is written out here is not taken from the package, so that a slip there shows up. Card ids count the
cards of the oracle's deck in its order; action ids are those that `actions.py` documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from math import sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from millebornes_env.engine.batch import Batch, Settings
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.editions import edition
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.millebornes.sections import ObservationSpec
from tests.oracle import oracle
from tests.oracle.oracle import FULL_DECK, SAFETY_AGAINST, Action
from tests.oracle.rules import OracleRules, rules_for, with_options


class Table(NamedTuple):
    """An edition, and the numbers of players and teams."""

    edition: str
    players: int
    teams: int

    def __str__(self) -> str:
        return f"{self.edition} {self.players}/{self.teams}"


TABLES = tuple(Table(name, *seats) for name, tables in oracle.TABLES.items() for seats in tables)
PARKER_2, PARKER_3, PARKER_4, PARKER_6 = TABLES[:4]
SOME_TABLES = (
    PARKER_2,
    Table("dujardin_classic", 3, 3),
    Table("winning_moves", 6, 3),
    Table("dutch", 6, 2),
    Table("dujardin", 8, 4),
    Table("dujardin_2014", 4, 4),
    Table("dujardin_2014", 4, 2),
)
"""Of each edition at least one; every number of players, of teams, of players in a team."""

CARDS = tuple(FULL_DECK)
ID_OF = {name: number for number, name in enumerate(CARDS)}
HAZARDS = tuple(SAFETY_AGAINST)
DISTANCES = CARDS[:5]
LIMIT = 10_000
"""Of decisions in a loop that a broken rule could make endless."""

DECISIONS = ("play", "claim", "extension", None)
"""The decision, by `phase`; None: the round is over."""

CALLS: dict[int, Action] = {38: ("claim",), 39: ("pass",), 40: ("extend",), 41: ("finish",)}
CLAIM_ID, PASS_ID, EXTEND_ID, FINISH_ID = CALLS
FIRST_DISCARD_ID = 19

# A round, nothing restarted, the unseen cards observed, an illegal action refused.
ROUND = Settings(episode=0, reward=0, autoreset=2, observation_spec=ObservationSpec(), punish_illegal=0)
MATCH = ROUND._replace(episode=rulebook.MATCH)

Record = dict[str, Any]
"""A copy of one game's record: each field as a Python int or a (nested) list of them."""

Log = list[tuple[int, Action]]
"""The seat and the action of each decision so far."""


def num_ids(teams: int) -> int:
    return 42 + 5 * (teams - 2)


def to_oracle(action: int, teams: int, team: int) -> Action:
    """Return the oracle's action for an action of a seat of `team`."""
    if action in CALLS:
        return CALLS[action]
    if FIRST_DISCARD_ID <= action < CLAIM_ID:
        return ("discard", CARDS[action - FIRST_DISCARD_ID])
    opponent = 1
    if action > FINISH_ID:
        further, hazard = divmod(action - FINISH_ID - 1, len(HAZARDS))
        opponent, action = 2 + further, ID_OF[HAZARDS[hazard]]
    if CARDS[action] in HAZARDS:
        return ("play", CARDS[action], str((team + opponent) % teams))
    return ("play", CARDS[action])


def to_id(action: Action, teams: int, team: int) -> int:
    """The id of what a seat of `team` does."""
    if len(action) == 1:
        return next(number for number, call in CALLS.items() if call == action)
    card = ID_OF[action[1]]
    if action[0] == "discard":
        return FIRST_DISCARD_ID + card
    if len(action) == 2:
        return card
    opponent = (int(action[2]) - team) % teams
    return card if opponent == 1 else FINISH_ID + 1 + len(HAZARDS) * (opponent - 2) + HAZARDS.index(action[1])


def counts(cards: Iterable[str]) -> list[int]:
    """Count each card, by card id."""
    row = [0] * len(CARDS)
    for card in cards:
        row[ID_OF[card]] += 1
    return row


def cards_of(row: Iterable[int]) -> list[str]:
    """The cards that were counted, in the order of their ids."""
    return [card for card, count in zip(CARDS, row, strict=True) for _ in range(count)]


def add(*rows: Sequence[int]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def less(row: Sequence[int], other: Sequence[int]) -> list[int]:
    return [here - there for here, there in zip(row, other, strict=True)]


def name_or_none(card: int) -> str | None:
    return None if card < 0 else CARDS[card]


def or_minus_one(number: int | None) -> int:
    return -1 if number is None else number


def plain(games: Batch, chosen: Iterable[int] = (0,), without: str = "") -> dict[int, Record]:
    """Copies of the chosen games' records, by the game's number; a field that is not needed costs time."""
    numbers = sorted(chosen)
    states = games.states.view(np.ndarray)[numbers]
    names = [name for name in states.dtype.names or () if name != without]
    rows = zip(*(states[name].tolist() for name in names), strict=True)
    return {game: dict(zip(names, row, strict=True)) for game, row in zip(numbers, rows, strict=True)}


def streams_of(record: Record, players: int) -> list[list[str]]:
    """Return the cards that each seat has still to draw from its own stream, the next one first."""
    bounds = zip(record["stream_next"][:players], record["stream_end"][:players], strict=True)
    return [[CARDS[card] for card in record["deck"][first:end]] for first, end in bounds]


def dealt_streams(record: Record, players: int) -> list[list[str]]:
    """The streams of a record in which a round was just dealt, with the cards already drawn from them.

    Those lie in the seat's hand now; in what order they came makes no difference.
    """
    streams = streams_of(record, players)
    return [cards_of(record["hand"][seat]) + stream for seat, stream in enumerate(streams)]


def deck_of(table: Table) -> list[str]:
    return oracle.deck(*table)


def rules_of(table: Table, options: dict[str, int] | None = None) -> OracleRules:
    """The rules of the table, read off the rule texts by the oracle's author."""
    return with_options(rules_for(*table), options or {})


@cache  # to check the rules of a table takes longer than to play a round
def checked_rules(table: Table, **changes: int) -> Rules:
    """The rulebook's rules of the table; `changes` override some."""
    rules = edition(table.edition).replace(**changes).table(table.players, table.teams)
    assert (rules.players, rules.teams) == (table.players, table.teams)
    return rules


def new_games(
    table: Table, count: int = 1, settings: Settings = ROUND, seed: int = 0, **changes: int
) -> Batch:
    """Games that were dealt; `changes` override rules."""
    games = Batch(rulebook, count, checked_rules(table, **changes), settings)
    games.seed(seed)
    games.start()
    return games


def legal_ids(games: Batch, game: int = 0) -> list[int]:
    return [int(action) for action in np.flatnonzero(games.buffers.action_mask[game])]


def observed(games: Batch, seat: int) -> list[list[int]]:
    """Return the seat's observation of each game."""
    rows = np.full_like(games.buffers.observation, -1)
    games.observe(np.full(len(games), seat, np.int32), rows)
    return [[int(number) for number in row] for row in rows]


def chi_square_limit(freedom: int, samples: int = 1) -> float:
    """The value that chi-square exceeds in one of so many samples once in a thousand times.

    Wilson and Hilferty's approximation.
    """
    spread = 2 / (9 * freedom)
    return freedom * (1 - spread + NormalDist().inv_cdf(1 - 0.001 / samples) * sqrt(spread)) ** 3


def chi_square(observed: Iterable[float], expected: Iterable[float]) -> float:
    return sum((seen - meant) ** 2 / meant for seen, meant in zip(observed, expected, strict=True))
