"""Players of several tastes, and rounds that they play from the deal to the end."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from millebornes_env.engine.batch import NO_GAME, Batch
from tests.laws.conversions import (
    CALLS,
    CLAIM_ID,
    DECISIONS,
    DISTANCES,
    FINISH_ID,
    FIRST_DISCARD_ID,
    HAZARDS,
    ID_OF,
    LIMIT,
    Log,
    Record,
    Table,
    legal_ids,
    new_games,
    num_ids,
    plain,
    to_oracle,
)
from tests.oracle.oracle import SAFETIES, SAFETY_AGAINST

# What each style likes to do, the best first; what it does not name it never does of its own accord.
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
"""The probability that a style acts at all; 0.1 for the others."""

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
"""The players at a table: one team of the first style, the others of the second."""


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
    """Return the team's style at a table where `lead` is the team of the mix's first style."""
    return MIXES[mix][0 if team == lead else 1]


def play_on(games: Batch, seed: int, mix: int) -> Iterator[tuple[Record, Log]]:
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


def mix_of(table: Table, seed: int) -> int:
    """The mix of a game, scattered: small seeds, which Hypothesis likes, must not all have the same."""
    return random.Random(f"{table}/{seed}").randrange(len(MIXES))


def walk(table: Table, seed: int, other: int = 0) -> Iterator[tuple[Batch, Record, Log]]:
    """Play one round from the deal, as `play_on` does; `other` players make other plays."""
    games = new_games(table, seed=seed)
    for record, log in play_on(games, seed, (mix_of(table, seed) + other) % len(MIXES)):
        yield games, record, log


def cards_laid(log: Log) -> list[tuple[int, str]]:
    """Return seat and card of each play and discard, in the order of the log."""
    laid = []
    for place, (seat, action) in enumerate(log):
        if action[0] == "claim":
            laid.append((seat, SAFETY_AGAINST[log[place - 1][1][1]]))
        elif len(action) > 1:
            laid.append((seat, action[1]))
    return laid
