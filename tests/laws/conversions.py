"""What the tests of this folder share: names for ids, plain copies of records, and players to play with.

The tables below are written out here and not taken from the package, so that a slip there shows up. Card ids
count the cards of the oracle's deck in its order; action ids are those that `actions.py` documents.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from math import sqrt
from typing import Any

import numpy as np

from millebornes_env.engine.games import NO_GAME, Games, Settings
from millebornes_env.millebornes.editions import Rules, edition
from tests.oracle import FULL_DECK, SAFETIES, SAFETY_AGAINST, TEAMS_AT, Action

TABLES = (2, 3, 4, 6)
CARDS = tuple(FULL_DECK)
ID_OF = {name: number for number, name in enumerate(CARDS)}
HAZARDS = tuple(SAFETY_AGAINST)
DISTANCES = CARDS[:5]
LIMIT = 10_000
"""Of decisions in a loop that a broken rule could make endless."""

DECISIONS = ("play", "claim", "extension", None)
"""What is to be decided, by `phase`; None: the round is over."""

CALLS: dict[int, Action] = {38: ("claim",), 39: ("pass",), 40: ("extend",), 41: ("finish",)}
CLAIM_ID, PASS_ID, EXTEND_ID, FINISH_ID = CALLS
FIRST_DISCARD_ID = 19

# A round, nothing restarted, the unseen cards observed, an illegal action refused.
ROUND = Settings(match=0, reward=0, autoreset=2, observe_unseen=1, punish_illegal=0)
MATCH = ROUND._replace(match=1)

Record = dict[str, Any]
"""A copy of one game's record: each field as a Python int or a (nested) list of them."""


def num_ids(teams: int) -> int:
    return 42 + 5 * (teams - 2)


def to_oracle(action: int, teams: int, team: int) -> Action:
    """What the oracle calls this action of a seat of `team`."""
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
    """How many there are of each card, by card id."""
    row = [0] * len(CARDS)
    for card in cards:
        row[ID_OF[card]] += 1
    return row


def plain(games: Games) -> list[Record]:
    """Copies of all games' records."""
    states = games.states.view(np.ndarray)
    columns = [states[name].tolist() for name in states.dtype.names or ()]
    return [dict(zip(states.dtype.names or (), row, strict=True)) for row in zip(*columns, strict=True)]


def streams_of(record: Record, players: int) -> list[list[str]]:
    """What each seat has still to draw from its own stream, the next card first."""
    bounds = zip(record["stream_next"][:players], record["stream_end"][:players], strict=True)
    return [[CARDS[card] for card in record["deck"][first:end]] for first, end in bounds]


def dealt_streams(record: Record, players: int) -> list[list[str]]:
    """The streams of a record in which a round was just dealt, with the cards already drawn from them."""
    ends = record["stream_end"][:players]
    starts = [0, *ends[:-1]]
    return [[CARDS[card] for card in record["deck"][start:end]] for start, end in zip(starts, ends, strict=True)]


def new_games(players: int, count: int = 1, settings: Settings = ROUND, seed: int = 0, **changes: int) -> Games:
    """Games that were dealt; `changes` override rules."""
    rules = edition("parker").replace(**changes).table(players)
    assert (rules.players, rules.teams) == (players, TEAMS_AT[players])
    games = Games(count, rules, settings)
    games.seed(seed)
    games.start()
    return games


# Players: what each style likes to do, the best first; what it does not name it never does of its own accord.
_KINDS: dict[str, set[int]] = {
    "distance": {ID_OF[card] for card in DISTANCES},
    "hazard": {ID_OF[card] for card in HAZARDS} | set(range(FINISH_ID + 1, num_ids(4))),
    "remedy": set(range(10, 15)),
    "safety": {ID_OF[card] for card in SAFETIES},
    "discard": set(range(FIRST_DISCARD_ID, FIRST_DISCARD_ID + 15)),  # anything but a safety
}
STYLES: dict[str, tuple[str, ...]] = {
    "random": (),
    "driver": ("distance", "remedy", "hazard", "discard"),
    "fighter": ("hazard", "distance", "remedy", "discard"),
    "eager": ("safety", "distance", "remedy", "hazard", "discard"),
    "late": ("distance", "remedy", "discard"),  # does not complete the trip while there are cards to draw
    "hermit": ("safety", "hazard", "remedy", "discard"),  # lays no distance card at all
    "idler": ("discard",),
}
MIXES = (
    ("random", "random"),
    ("driver", "driver"),
    ("driver", "fighter"),
    ("eager", "fighter"),
    ("driver", "hermit"),
    ("late", "late"),
    ("late", "idler"),
    ("fighter", "fighter"),
)
"""Who sits at a table: one team of the first style, the others of the second."""


def choose(chance: random.Random, style: str, legal: list[int], record: Record, teams: int) -> int:
    """One of the legal actions, by the taste of the style; now and then any of them."""
    if len(legal) == 2 and legal[0] in CALLS:
        return legal[0] if chance.random() < 0.7 else legal[1]
    if style != "hermit" and chance.random() < 0.1:
        return chance.choice(legal)
    left = record["target"] - record["km"][record["seat"] % teams]
    for kind in STYLES[style]:
        liked = [action for action in legal if action in _KINDS[kind]]
        if style == "late" and kind == "distance" and record["draw_pile"] > 0:
            liked = [action for action in liked if (25, 50, 75, 100, 200)[action] < left]
        if liked:
            return chance.choice(liked)
    return chance.choice(legal)


def style_of(mix: int, lead: int, team: int) -> str:
    """What kind of player the team is, at a table where `lead` is the team of the mix's first style."""
    return MIXES[mix][0 if team == lead else 1]


def legal_ids(games: Games, game: int = 0) -> list[int]:
    return [int(action) for action in np.flatnonzero(games.buffers.action_mask[game])]


Log = list[tuple[int, int]]
"""The seat and the action of each decision so far."""


def walk(players: int, seed: int, mix: int) -> Iterator[tuple[Games, Record, Log]]:
    """Play one round; yields the game at every decision, and once more when the round is over."""
    games = new_games(players, seed=seed)
    teams = games.rules.teams
    chance = random.Random(seed)
    lead = seed % teams
    log: Log = []
    while len(log) < LIMIT:
        (record,) = plain(games)
        yield games, record, log
        if DECISIONS[record["phase"]] is None:
            return
        seat = record["seat"]
        action = choose(chance, style_of(mix, lead, seat % teams), legal_ids(games), record, teams)
        log.append((seat, action))
        assert games.step(np.array([action], np.int64)) == NO_GAME
    raise AssertionError("the round does not end")


def chi_square_limit(freedom: int) -> float:
    """The value that chi-square exceeds once in a thousand samples (Wilson and Hilferty's approximation)."""
    spread = 2 / (9 * freedom)
    return freedom * (1 - spread + 3.0902 * sqrt(spread)) ** 3


def chi_square(observed: Iterable[float], expected: Iterable[float]) -> float:
    return sum((seen - meant) ** 2 / meant for seen, meant in zip(observed, expected, strict=True))


def rules_at(players: int) -> Rules:
    return edition("parker").table(players)
