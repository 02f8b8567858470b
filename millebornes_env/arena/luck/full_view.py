"""Inputs of a value network that sees all hands of Mille Bornes: the list of inputs that are 1, all others 0.

Only the order of the cards to come is left out. Seats and teams are counted from the acting seat to the left.
Numbers are one-hot (for a count of cards, an input for each number from 1 on), so one card more or less moves
a single 1, and the first layer of a network is a sum of rows.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.policy.network import MAX_UNITS
from millebornes_env.arena.luck.value_network import MOST_ONES, ValueNetwork, first_layer, value_of
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
"""Version of the inputs; increased when the meaning of an index changes."""

NOTHING: Final = 0
"""Index of an input that is never 1: no cards of a type."""

HELD_LEVELS: Final = 5
"""Most cards of a type in a hand; more are clipped."""
PILE_LEVELS: Final = 14
"""Most cards of a type in the draw pile; more are clipped."""
_HAND_SIZES: Final = 8
_PILE_SIZES: Final = DECK_SIZE + 1
_BATTLE_TOPS: Final = 10
_OPENINGS: Final = 3
_KM: Final = 41  # 0 to 1,000 km in 25s
_TWO_HUNDREDS: Final = 5

# Indices: first the inputs of the table, then those of each team, then those of each seat.
_TARGET: Final = NOTHING + 1  # 1 if the target is the longer one
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


@rule
def num_inputs(players: int, teams: int) -> int:
    """Return the number of inputs for a table."""
    return _TEAMS + teams * _OF_A_TEAM + players * _OF_A_SEAT


@rule
def place_held(teams: int, offset: int, card: int, count: int) -> int:
    """Return the input for `count` cards of a type in the hand of the seat `offset` seats to the left."""
    if count <= 0:
        return NOTHING
    start = _TEAMS + teams * _OF_A_TEAM + offset * _OF_A_SEAT + _HAND
    return start + card * HELD_LEVELS + min(count, HELD_LEVELS) - 1


@rule
def place_in_pile(card: int, count: int) -> int:
    """Return the input for `count` cards of a type in the draw pile."""
    return NOTHING if count <= 0 else _PILE + card * PILE_LEVELS + min(count, PILE_LEVELS) - 1


@rule
def cards_in_pile(state: State, rules: RulesRecord, card: int) -> int:
    """Return the cards of a type in the draw pile: hidden, and in no hand."""
    count = int(state.hidden[card])
    for seat in range(rules.players):
        count -= int(state.hand[seat, card])
    return count


@rule
def list_ones(state: State, rules: RulesRecord, undrawn: Int8Array, to_come: int, ones: Int32Array) -> int:
    """List the inputs that are 1, from the view of the acting seat with all hands open; return their number.

    Args:
        state: the game; a seat is to act.
        rules: rules of the table.
        undrawn: int8[NUM_CARD_TYPES], cards in the acting seat's hand that count as not drawn yet.
        to_come: number of these cards that count as in the pile for the sizes of hand and pile: all but the
            one drawn, or 0 without such cards.
        ones: int32[MOST_ONES], overwritten.
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
    for offset in range(rules.teams):
        team = around(own + offset, rules.teams)
        count = list_team(state, rules, team, _TEAMS + offset * _OF_A_TEAM, ones, count)
    start = _TEAMS + rules.teams * _OF_A_TEAM
    for offset in range(rules.players):
        other = around(seat + offset, rules.players)
        size = int(state.hand_count[other]) - (to_come if offset == 0 else 0)
        ones[count] = start + offset * _OF_A_SEAT + _HAND_SIZE + min(size, _HAND_SIZES - 1)
        count += 1
        for card in range(NUM_CARD_TYPES):
            held = int(state.hand[other, card]) - (int(undrawn[card]) if offset == 0 else 0)
            if held > 0:
                ones[count] = place_held(rules.teams, offset, card, held)
                count += 1
    return count


@rule
def list_team(state: State, rules: RulesRecord, team: int, start: int, ones: Int32Array, count: int) -> int:
    """List the inputs of a team's tableau, from `start` on; return the new number of ones."""
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
    """Write the values of games for their acting seats.

    Args:
        states: STATE[N]; a seat is to act in each.
        rules: rules of the table.
        network: value network.
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
    """List the ones of games in which a seat is to act.

    Args:
        states: STATE[N].
        rules: rules of the table.
        ones: int16[N, W], overwritten, padded with 0; W must be large enough.
    """
    undrawn = stack_array(np.int8, NUM_CARD_TYPES)
    listed = stack_array(np.int32, MOST_ONES)
    for card in range(NUM_CARD_TYPES):
        undrawn[card] = 0
    for game in range(len(states)):
        count = list_ones(states[game], rules, undrawn, 0, listed)
        for number in range(ones.shape[1]):
            ones[game, number] = listed[number] if number < count else NOTHING
