"""What a network that sees all hands is shown of a game of Mille Bornes: a list of ones; all else is 0.

Only the order of the cards to come is left out. Seats and teams are counted from the seat that decides: its
own first, then to the left. Every number is shown by a one of its own (how many cards of a type: a one for
each number from 1 on), so a card more or less moves a one, and the first layer of a network is a sum of
rows.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.arena.luck.value_network import MAX_UNITS, ValueNetwork, first_layer, value_of
from millebornes_env.engine.numba.compiling import kernel, rule, stack_array
from millebornes_env.games.millebornes.actions import around
from millebornes_env.games.millebornes.cards import (
    DECK_SIZE,
    DISTANCE_200,
    DRIVING_ACE,
    NUM_CARD_TYPES,
    NUM_SAFETIES,
)
from millebornes_env.games.millebornes.motion import is_limited, is_moving, team_of
from millebornes_env.games.millebornes.observation import battle_top_code, in_25s
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import Int8Array, State, StateArray

Int32Array = npt.NDArray[np.int32]

INPUTS_VERSION: Final = 1
"""Goes up when a network would be shown other things at the same places."""

NOTHING: Final = 0
"""A place that is never one: what stands for no cards of a type."""

HELD_LEVELS: Final = 5
"""Cards of a type in a hand; more count as that many."""
PILE_LEVELS: Final = 14
"""Cards of a type in the draw pile."""
_HAND_SIZES: Final = 8
_PILE_SIZES: Final = DECK_SIZE + 1
_BATTLE_TOPS: Final = 10
_OPENINGS: Final = 3
_KM: Final = 41  # 0 to 1,000 km in 25s
_TWO_HUNDREDS: Final = 5

# Where things are: what all tables have, then what each team has, then what each seat has.
_TARGET: Final = NOTHING + 1  # whether it is the longer one
_PILE_SIZE: Final = _TARGET + 1
_PILE: Final = _PILE_SIZE + _PILE_SIZES
_TEAMS: Final = _PILE + NUM_CARD_TYPES * PILE_LEVELS

_MOVING: Final = 0
_LIMITED: Final = 1
_EXTENSION: Final = 2
_BATTLE: Final = 3
_OPENING: Final = _BATTLE + _BATTLE_TOPS
_SAFETIES: Final = _OPENING + _OPENINGS
_COUPS: Final = _SAFETIES + NUM_SAFETIES
_LEFT: Final = _COUPS + NUM_SAFETIES
_DONE: Final = _LEFT + _KM
_LAID_200: Final = _DONE + _KM
_OF_A_TEAM: Final = _LAID_200 + _TWO_HUNDREDS

_HAND_SIZE: Final = 0
_HAND: Final = _HAND_SIZE + _HAND_SIZES
_OF_A_SEAT: Final = _HAND + NUM_CARD_TYPES * HELD_LEVELS

MOST_ONES: Final = 320
"""Of any table: 8 seats with 12 cards each, 4 teams, all types in the pile."""


@rule
def num_inputs(players: int, teams: int) -> int:
    """How many places there are at a table."""
    return _TEAMS + teams * _OF_A_TEAM + players * _OF_A_SEAT


@rule
def place_held(teams: int, place: int, card: int, count: int) -> int:
    """The place of so many cards of a type in the hand of a seat, so many places to the left."""
    if count <= 0:
        return NOTHING
    start = _TEAMS + teams * _OF_A_TEAM + place * _OF_A_SEAT + _HAND
    return start + card * HELD_LEVELS + min(count, HELD_LEVELS) - 1


@rule
def place_in_pile(card: int, count: int) -> int:
    """The place of so many cards of a type in the draw pile."""
    return NOTHING if count <= 0 else _PILE + card * PILE_LEVELS + min(count, PILE_LEVELS) - 1


@rule
def cards_in_pile(state: State, rules: RulesRecord, card: int) -> int:
    """Cards of the type in the draw pile: hidden, and in no hand."""
    count = int(state.hidden[card])
    for seat in range(rules.players):
        count -= int(state.hand[seat, card])
    return count


@rule
def list_ones(state: State, rules: RulesRecord, undrawn: Int8Array, to_come: int, ones: Int32Array) -> int:
    """List the places that are one, as the seat that decides sees the table with all hands open.

    Args:
        state: the game; a seat is to decide.
        rules: the table's.
        undrawn: int8[NUM_CARD_TYPES], cards in the deciding seat's hand that count as not drawn yet.
        to_come: how many of those still lie in the pile when the sizes of hand and pile are read: one less
            than all, if the value of drawing one is asked for; 0, if there are none.
        ones: int32[MOST_ONES], overwritten.

    Returns:
        How many are listed.
    """
    seat = int(state.seat)
    count = 0
    if rules.extended_target > 0 and int(state.target) == rules.extended_target:
        ones[count] = _TARGET
        count += 1
    ones[count] = _PILE_SIZE + int(state.draw_pile) + to_come
    count += 1
    for card in range(NUM_CARD_TYPES):
        left = cards_in_pile(state, rules, card) + int(undrawn[card])
        if left > 0:
            ones[count] = place_in_pile(card, left)
            count += 1
    own = team_of(rules, seat)
    for place in range(rules.teams):
        team = around(own + place, rules.teams)
        count = list_team(state, rules, team, _TEAMS + place * _OF_A_TEAM, ones, count)
    start = _TEAMS + rules.teams * _OF_A_TEAM
    for place in range(rules.players):
        other = around(seat + place, rules.players)
        size = int(state.hand_count[other]) - (to_come if place == 0 else 0)
        ones[count] = start + place * _OF_A_SEAT + _HAND_SIZE + min(size, _HAND_SIZES - 1)
        count += 1
        for card in range(NUM_CARD_TYPES):
            held = int(state.hand[other, card]) - (int(undrawn[card]) if place == 0 else 0)
            if held > 0:
                ones[count] = place_held(rules.teams, place, card, held)
                count += 1
    return count


@rule
def list_team(state: State, rules: RulesRecord, team: int, start: int, ones: Int32Array, count: int) -> int:
    """List what lies on the table of one team, from `start` on; how many are listed then."""
    if is_moving(state, rules, team):
        ones[count] = start + _MOVING
        count += 1
    if is_limited(state, team):
        ones[count] = start + _LIMITED
        count += 1
    if int(state.extension_team) == team:
        ones[count] = start + _EXTENSION
        count += 1
    ones[count] = start + _BATTLE + battle_top_code(int(state.battle[team]))
    ones[count + 1] = start + _OPENING + int(state.opening[team])
    left = min(max(in_25s(int(state.target)) - in_25s(int(state.km[team])), 0), _KM - 1)
    ones[count + 2] = start + _LEFT + left
    ones[count + 3] = start + _DONE + min(in_25s(int(state.km[team])), _KM - 1)
    ones[count + 4] = start + _LAID_200 + min(int(state.tableau[team, DISTANCE_200]), _TWO_HUNDREDS - 1)
    count += 5
    for safety in range(NUM_SAFETIES):
        if int(state.tableau[team, DRIVING_ACE + safety]) > 0:
            ones[count] = start + _SAFETIES + safety
            count += 1
        if int(state.coup_fourre[team, safety]) > 0:
            ones[count] = start + _COUPS + safety
            count += 1
    return count


@kernel
def write_values(
    states: StateArray, rules: RulesRecord, network: ValueNetwork, values: npt.NDArray[np.float32]
) -> None:
    """Write what games are worth to the seats that decide in them.

    Args:
        states: STATE[N]; a seat is to decide in each.
        rules: the table's.
        network: the value.
        values: float32[N], overwritten.
    """
    undrawn = stack_array(np.int8, NUM_CARD_TYPES)
    ones = stack_array(np.int32, MOST_ONES)
    sums = stack_array(np.float32, MAX_UNITS)
    for card in range(NUM_CARD_TYPES):
        undrawn[card] = 0
    for game in range(len(states)):
        first_layer(network, ones, list_ones(states[game], rules, undrawn, 0, ones), sums)
        values[game] = value_of(network, sums, NOTHING, NOTHING, NOTHING, NOTHING)


@kernel
def list_positions(states: StateArray, rules: RulesRecord, ones: npt.NDArray[np.int16]) -> None:
    """List the ones of games in which a seat is to decide.

    Args:
        states: STATE[N].
        rules: the table's.
        ones: int16[N, W], overwritten, with 0 behind those of a game; W is enough for all.
    """
    undrawn = stack_array(np.int8, NUM_CARD_TYPES)
    found = stack_array(np.int32, MOST_ONES)
    for card in range(NUM_CARD_TYPES):
        undrawn[card] = 0
    for game in range(len(states)):
        count = list_ones(states[game], rules, undrawn, 0, found)
        for number in range(ones.shape[1]):
            ones[game, number] = found[number] if number < count else NOTHING
