"""What the tests of this folder share: names for ids, plain copies of records, players, expectations.

The tables below are written out here and not taken from the package, so that a slip there shows up. Card ids
count the cards of the oracle's deck in its order; action ids are those that `actions.py` documents.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from typing import Any

import numpy as np

from millebornes_env.engine.games import NO_GAME, Games, Settings
from millebornes_env.millebornes.editions import edition
from tests.oracle import (
    BATTLE_HAZARDS,
    DISTANCE_KM,
    EXTENDED_TARGET,
    FULL_DECK,
    HAND_SIZE,
    HAZARD_OF_REMEDY,
    SAFETIES,
    SAFETY_AGAINST,
    TARGET_AT,
    TEAMS_AT,
    Action,
    deck,
)

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


def add(*rows: Sequence[int]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def less(row: Sequence[int], other: Sequence[int]) -> list[int]:
    return [here - there for here, there in zip(row, other, strict=True)]


def plain(games: Games, chosen: Iterable[int] = (0,), without: str = "") -> dict[int, Record]:
    """Copies of the chosen games' records, by the game's number; a field that is not needed costs time."""
    numbers = sorted(chosen)
    states = games.states.view(np.ndarray)[numbers]
    names = [name for name in states.dtype.names or () if name != without]
    rows = zip(*(states[name].tolist() for name in names), strict=True)
    return {game: dict(zip(names, row, strict=True)) for game, row in zip(numbers, rows, strict=True)}


def streams_of(record: Record, players: int) -> list[list[str]]:
    """What each seat has still to draw from its own stream, the next card first."""
    bounds = zip(record["stream_next"][:players], record["stream_end"][:players], strict=True)
    return [[CARDS[card] for card in record["deck"][first:end]] for first, end in bounds]


def dealt_streams(record: Record, players: int) -> list[list[str]]:
    """The streams of a record in which a round was just dealt, with the cards already drawn from them."""
    ends = record["stream_end"][:players]
    starts = [0, *ends[:-1]]
    return [
        [CARDS[card] for card in record["deck"][start:end]] for start, end in zip(starts, ends, strict=True)
    ]


def new_games(
    players: int, count: int = 1, settings: Settings = ROUND, seed: int = 0, **changes: int
) -> Games:
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
    "any discard": set(range(FIRST_DISCARD_ID, CLAIM_ID)),
}
STYLES: dict[str, tuple[str, ...]] = {
    "random": (),
    "driver": ("distance", "remedy", "hazard", "discard"),
    "fighter": ("hazard", "distance", "remedy", "discard"),
    "eager": ("safety", "distance", "remedy", "hazard", "discard"),
    "late": ("distance", "remedy", "discard"),  # does not complete the trip while there are cards to draw
    "hermit": ("safety", "hazard", "remedy", "discard"),  # lays no distance card at all
    "idler": ("any discard",),
}
WHIMS = {"hermit": 0.0, "idler": 0.02}
"""How often a style does anything at all; 0.1 for the others."""

MIXES = (
    ("random", "random"),
    ("driver", "driver"),
    ("driver", "fighter"),
    ("eager", "fighter"),
    ("driver", "hermit"),
    ("late", "late"),
    ("late", "idler"),
    ("fighter", "fighter"),
    ("idler", "idler"),
)
"""Who sits at a table: one team of the first style, the others of the second."""


def choose(chance: random.Random, style: str, legal: list[int], record: Record, teams: int) -> int:
    """One of the legal actions, by the taste of the style; now and then any of them."""
    if len(legal) == 2 and legal[0] in CALLS:
        return legal[0] if chance.random() < 0.7 else legal[1]
    if chance.random() < WHIMS.get(style, 0.1):
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


Log = list[tuple[int, Action]]
"""The seat and the action of each decision so far."""


def play_on(games: Games, seed: int, mix: int) -> Iterator[tuple[Record, Log]]:
    """Play game 0 to the end of its round; yields at every decision, and once more when the round is over."""
    teams = games.rules.teams
    chance = random.Random(seed)
    lead = seed % teams
    log: Log = []
    while len(log) < LIMIT:
        record = plain(games)[0]
        yield record, log
        if DECISIONS[record["phase"]] is None:
            return
        team = record["seat"] % teams
        action = choose(chance, style_of(mix, lead, team), legal_ids(games), record, teams)
        log.append((record["seat"], to_oracle(action, teams, team)))
        assert games.step(np.array([action], np.int64)) == NO_GAME
    raise AssertionError("the round does not end")


def mix_of(players: int, seed: int) -> int:
    """The mix of a game, scattered: small seeds, which Hypothesis likes, must not all have the same."""
    return random.Random(f"{players}/{seed}").randrange(len(MIXES))


def walk(players: int, seed: int, other: int = 0) -> Iterator[tuple[Games, Record, Log]]:
    """Play one round from the deal, as `play_on` does; `other` players make other plays."""
    games = new_games(players, seed=seed)
    for record, log in play_on(games, seed, (mix_of(players, seed) + other) % len(MIXES)):
        yield games, record, log


def cards_laid(log: Log) -> list[tuple[int, str]]:
    """Which seat has laid or discarded which card, in the order of the log."""
    laid = []
    for place, (seat, action) in enumerate(log):
        if action[0] == "claim":
            laid.append((seat, SAFETY_AGAINST[log[place - 1][1][1]]))
        elif len(action) > 1:
            laid.append((seat, action[1]))
    return laid


def chi_square_limit(freedom: int) -> float:
    """The value that chi-square exceeds once in a thousand samples (Wilson and Hilferty's approximation)."""
    spread = 2 / (9 * freedom)
    return freedom * (1 - spread + 3.0902 * sqrt(spread)) ** 3


def chi_square(observed: Iterable[float], expected: Iterable[float]) -> float:
    return sum((seen - meant) ** 2 / meant for seen, meant in zip(observed, expected, strict=True))


# What should follow from the plays, and what should be seen of a record.


def sheets_of(log: Log, players: int) -> tuple[list[dict[str, int]], int]:
    """The score sheets and the team that completed the trip (or -1), from nothing but the plays."""
    teams = range(TEAMS_AT[players])
    plays: list[list[str]] = [[] for _ in teams]
    coups = [0 for _ in teams]
    caller = -1
    to_draw = len(deck(players)) - HAND_SIZE * players - 1
    for (seat, action), (_, following) in zip(log, [*log[1:], (0, ("end",))], strict=True):
        team = seat % len(teams)
        if action[0] == "claim":
            coups[team] += 1
        if action[0] == "extend":
            caller = team
        if action[0] == "play":
            plays[team].append(action[1])
        if following[0] in {"play", "discard"}:  # not: an answer to a hazard, a call at the end of the trip
            to_draw = max(0, to_draw - (2 if action[0] == "claim" else 1))
    km = [sum(DISTANCE_KM.get(card, 0) for card in plays[team]) for team in teams]
    last_team = log[-1][0] % len(teams)
    finished = log[-1][1] == ("finish",) or (log[-1][1][-1] in DISTANCE_KM and log[-1][1][0] == "play")
    target = TARGET_AT[players] if caller < 0 else EXTENDED_TARGET
    winner = last_team if finished and km[last_team] == target else -1
    sheets = []
    for team in teams:
        won = winner == team
        safeties = coups[team] + sum(card in SAFETIES for card in plays[team])
        sheets.append(
            {
                "distance": km[team],
                "safeties": 100 * safeties,
                "all_safeties": 300 * (safeties == 4),
                "coups_fourres": 300 * coups[team],
                "trip_completed": 400 * won,
                "delayed_action": 300 * (won and to_draw == 0),
                "safe_trip": 300 * (won and "DISTANCE_200" not in plays[team]),
                "extension": 200 * (caller >= 0 and (winner == caller) == (team == caller)),
                "shutout": 500 * (won and sum(km) == km[team]),
            }
        )
    return sheets, winner


def visible(record: Record, players: int, seat: int) -> dict[str, list[int]]:
    """The sections of the seat's observation, read off the record and the rule sheet."""
    teams = TEAMS_AT[players]
    sides = [(seat + place) % teams for place in range(teams)]
    kind = DECISIONS[record["phase"]]
    pending = record["pending_hazard"]
    tops = [-1, *(ID_OF[card] for card in (*BATTLE_HAZARDS, *HAZARD_OF_REMEDY, "ROLL"))]
    laid = [
        [card for card, count in zip(CARDS, record["tableau"][side], strict=True) if count] for side in sides
    ]
    in_sight = add(*record["tableau"], record["discard_pile"], record["hand"][seat])
    in_sight = add(in_sight, counts([CARDS[pending]] if pending >= 0 else []))
    return {
        "hand": record["hand"][seat],
        "discard_pile": record["discard_pile"],
        "draw_pile": [sum(map(len, streams_of(record, players)))],
        "phase": [int(kind == name) for name in DECISIONS[:3]],
        "to_act": [
            int(kind is not None and (seat + place) % players == record["seat"]) for place in range(players)
        ],
        "pending_hazard": [int(pending == ID_OF[hazard]) for hazard in HAZARDS],
        "target": [record["target"] // 25],
        "extension": [int(record["extension_team"] == side) for side in sides],
        "battle": [int(record["battle"][side] == top) for side in sides for top in tops],
        "moving": [
            int(rolls(record["battle"][side], cards)) for side, cards in zip(sides, laid, strict=True)
        ],
        "limited": [int(record["speed"][side] == ID_OF["SPEED_LIMIT"]) for side in sides],
        "km": [record["km"][side] // 25 for side in sides],
        "two_hundreds": [record["tableau"][side][ID_OF["DISTANCE_200"]] for side in sides],
        "safeties": [int(safety in cards) for cards in laid for safety in SAFETIES],
        "coups_fourres": [flag for side in sides for flag in record["coup_fourre"][side]],
        "hand_counts": [sum(record["hand"][(seat + place) % players]) for place in range(players)],
        "score": [min(record["score"][side] // 50, 127) for side in sides],
        "unseen": less(counts(deck(players)), in_sight),
    }


def rolls(battle: int, laid: list[str]) -> bool:
    top = CARDS[battle] if battle >= 0 else ""
    stopped = top in BATTLE_HAZARDS and SAFETY_AGAINST[top] not in laid
    return top == "ROLL" or ("RIGHT_OF_WAY" in laid and not stopped)


def concealed(record: Record, players: int, seat: int, longest: int) -> dict[str, list[int]]:
    """What the full state adds to the observation of the seat."""
    around = [(seat + place) % players for place in range(players)]
    streams = streams_of(record, players)
    coming = [[ID_OF[card] + 1 for card in streams[other]] for other in around]
    return {
        "other_hands": [count for other in around[1:] for count in record["hand"][other]],
        "streams": [number for stream in coming for number in stream + [0] * (longest - len(stream))],
    }
