"""What is wrong with a batch of game records: for states that come from outside, and for tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.millebornes.cards import (
    ACCIDENT,
    DECK_SIZE,
    END_OF_LIMIT,
    KM,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_DISTANCES,
    REPAIRS,
    RIGHT_OF_WAY,
    ROLL,
    SPEED_LIMIT,
    STOP,
)
from millebornes_env.millebornes.editions import Rules, card_count, deck_size
from millebornes_env.millebornes.state import CLAIM, PHASE_NAMES, StateArray

_BATTLE: Final = (NO_CARD, *range(ACCIDENT, STOP + 1), *range(REPAIRS, ROLL + 1))
_SPEED: Final = (NO_CARD, SPEED_LIMIT, END_OF_LIMIT)

Bad = Any  # bool[N]: NumPy types what `any` returns more loosely than it is


def first_problem(states: StateArray, rules: Rules) -> tuple[int, str] | None:
    """The first game whose record cannot be a game of this table.

    Args:
        states: `STATE[N]`.
        rules: the table's rules.

    Returns:
        Its number and what is wrong with it; None if nothing is.
    """
    found: tuple[int, str] | None = None
    for bad, what in _checks(np.asarray(states), rules):
        if bad.any():
            game = int(np.flatnonzero(bad)[0])
            if found is None or game < found[0]:
                found = game, what
            if game == 0:
                break
    return found


def _checks(states: npt.NDArray[Any], rules: Rules) -> Iterator[tuple[Bad, str]]:
    """Which games fail, and at what, check by check."""
    seats, teams = rules.players, rules.teams
    for name, count in (("seat", seats), ("dealer", seats), ("phase", len(PHASE_NAMES))):
        yield _outside(states[name], 0, count - 1), f"{name} is not one of 0 to {count - 1}"
    for name, count in (("extension_team", teams), ("winner", teams), ("pending_team", teams)):
        yield _outside(states[name], -1, count - 1), f"{name} is not a team of this table, nor -1"
    yield _outside(states["attacker"], -1, seats - 1), "attacker is not a seat of this table, nor -1"
    yield _outside(states["pending_hazard"], NO_CARD, SPEED_LIMIT), "pending_hazard is no hazard"
    asked = states["phase"] == CLAIM
    yield asked != (states["pending_hazard"] != NO_CARD), "a claim is asked for without a hazard, or unasked"
    yield ~np.isin(states["target"], (rules.target, rules.extended_target)), "target is not the table's"
    yield from _card_checks(states, rules)
    yield from _pile_checks(states, rules)


def _card_checks(states: npt.NDArray[Any], rules: Rules) -> Iterator[tuple[Bad, str]]:
    seats, teams = rules.players, rules.teams
    first, end = (states[name].astype(np.int64) for name in ("stream_next", "stream_end"))
    unsound = (first < 0) | (end > DECK_SIZE) | (first > end)
    yield unsound[:, :seats].any(axis=1), "a stream does not lie in the deck"
    yield _outside(states["deck"], 0, RIGHT_OF_WAY).any(axis=1), "the deck holds a card that there is not"
    for name in ("hand", "tableau", "discard_pile", "hidden"):
        negative = states[name].reshape(len(states), -1) < 0
        yield negative.any(axis=1), f"{name} has fewer than no cards"
    place = np.arange(DECK_SIZE)
    left = np.zeros((len(states), DECK_SIZE), np.bool_)
    for seat in range(seats):
        left |= (place >= first[:, seat, None]) & (place < end[:, seat, None])
    to_come = np.stack([(left & (states["deck"] == card)).sum(axis=1) for card in range(NUM_CARD_TYPES)], 1)
    hands = states["hand"][:, :seats].astype(np.int64)
    pending = states["pending_hazard"][:, None] == np.arange(NUM_CARD_TYPES)
    hidden = to_come + hands.sum(axis=1)
    shown = states["tableau"][:, :teams].astype(np.int64).sum(axis=1) + states["discard_pile"] + pending
    counts = np.array([card_count(rules, card) for card in range(NUM_CARD_TYPES)])
    size = deck_size(rules)
    yield (hidden + shown != counts).any(axis=1), f"the cards are not those of this table's {size}"
    yield (states["hidden"] != hidden).any(axis=1), "hidden is not what hands and draw pile hold"
    yield states["draw_pile"] != left.sum(axis=1), "draw_pile is not what is left in the streams"
    yield (states["hand_count"][:, :seats] != hands.sum(axis=2)).any(axis=1), "hand_count is not the hand's"


def _pile_checks(states: npt.NDArray[Any], rules: Rules) -> Iterator[tuple[Bad, str]]:
    teams = rules.teams
    for name, known in (("battle", _BATTLE), ("battle_below", _BATTLE), ("speed", _SPEED)):
        piles = states[name][:, :teams]
        yield (~np.isin(piles, known)).any(axis=1), f"{name} shows a card that never lies there"
        laid = np.take_along_axis(states["tableau"][:, :teams], np.maximum(piles, 0)[:, :, None], axis=2)
        missing = (piles != NO_CARD) & (laid[:, :, 0] < 1)
        if name != "battle_below":  # what once lay below may be gone
            yield missing.any(axis=1), f"{name} shows a card that the tableau does not hold"
    distance = (states["tableau"][:, :teams, :NUM_DISTANCES] * KM).sum(axis=2)
    yield (states["km"][:, :teams] != distance).any(axis=1), "km is not the sum of the distance cards"


def _outside(values: npt.NDArray[Any], lowest: int, highest: int) -> Bad:
    return (values < lowest) | (values > highest)
