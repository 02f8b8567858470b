"""What a position is worth by a network, before a draw, and after the decisions that follow one.

A network that judges a position right after a draw has to guess what the seat will do with the card. Where
it is known who decides, that need not be guessed: a copy of the game is played on, by the agents themselves,
until a card is drawn again, and the network says what it is worth just before that: a depth-limited lookahead
to the next chance node.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from millebornes_env.agents import observation_reader
from millebornes_env.arena.batch import Batch, Lookahead, choose_next
from millebornes_env.arena.full_view import (
    MOST_ONES,
    cards_in_pile,
    list_ones,
    place_held,
    place_in_pile,
)
from millebornes_env.arena.statistics import Float64Array
from millebornes_env.arena.value_network import MAX_UNITS, Float32Array, ValueNetwork, first_layer, value_of
from millebornes_env.compile import rule, seldom, stack_array
from millebornes_env.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.millebornes.deal import draw_card, stream_to_draw_from
from millebornes_env.millebornes.motion import team_of
from millebornes_env.millebornes.rulebook import is_legal, is_round_over, step
from millebornes_env.millebornes.rules import RulesRecord
from millebornes_env.millebornes.scoring import round_score
from millebornes_env.millebornes.state import Int8Array, State

POINTS_OF_VALUE: Final = 1000.0
"""Points in one unit of a network's value."""

_MOST_DECISIONS: Final = 128  # that are tried: more than the last hands of all seats hold cards
_BOTH: Final = 2  # the draws of a coup fourré
_ONE: Final = 1


# Before a draw ----------------------------------------------------------------------------------------------


@rule
def draw_next(state: State, rules: RulesRecord, seat: int) -> int:
    """Draw the seat's next card, and say which it is."""
    owner = stream_to_draw_from(state, rules, seat)
    place = int(state.stream_next[owner]) if owner == seat else int(state.stream_end[owner]) - 1
    card = int(state.deck[place])
    draw_card(state, rules, seat)
    return card


@rule
def value_if_drawn(
    network: ValueNetwork, sums: Float32Array, teams: int, card: int, held: int, left: int
) -> float:
    """The value if the deciding seat draws a card of the type.

    Args:
        network: the value.
        sums: float32[MAX_UNITS], the first layer before the draw.
        teams: at the table.
        card: the type.
        held: cards of the type in the hand before the draw.
        left: in the pile before it, 1 or more.
    """
    return value_of(
        network,
        sums,
        place_held(teams, 0, card, held),
        place_held(teams, 0, card, held + 1),
        place_in_pile(card, left),
        place_in_pile(card, left - 1),
    )


@seldom
def list_draws(
    state: State,
    rules: RulesRecord,
    undrawn: Int8Array,
    to_come: int,
    network: ValueNetwork,
    left: Int8Array,
    values: Float64Array,
) -> None:
    """List which cards the deciding seat could have drawn, and what each of them is worth.

    Args:
        state: the game after the draw.
        rules: the table's.
        undrawn: int8[NUM_CARD_TYPES], the cards of the seat that this draw and later ones brought.
        to_come: how many later ones brought.
        network: the value.
        left: int8[NUM_CARD_TYPES], overwritten: cards of each type in the pile before the draw.
        values: float64[NUM_CARD_TYPES], overwritten where there are any: the value if one of them is drawn.
    """
    ones = stack_array(np.int32, MOST_ONES)
    sums = stack_array(np.float32, MAX_UNITS)
    first_layer(network, ones, list_ones(state, rules, undrawn, to_come, ones), sums)
    seat = int(state.seat)
    for card in range(NUM_CARD_TYPES):
        count = cards_in_pile(state, rules, card) + int(undrawn[card])
        left[card] = count
        if count > 0:
            held = int(state.hand[seat, card]) - int(undrawn[card])
            values[card] = value_if_drawn(network, sums, rules.teams, card, held, count)


@seldom
def value_before_draw(state: State, rules: RulesRecord, undrawn: Int8Array, network: ValueNetwork) -> float:
    """The mean value over all cards that the deciding seat could have drawn last.

    Args:
        state: the game after the draw.
        rules: the table's.
        undrawn: int8[NUM_CARD_TYPES], 1 for the card that it brought.
        network: the value.
    """
    left = stack_array(np.int8, NUM_CARD_TYPES)
    values = stack_array(np.float64, NUM_CARD_TYPES)
    list_draws(state, rules, undrawn, 0, network, left, values)
    total = 0.0
    for card in range(NUM_CARD_TYPES):
        if left[card] > 0:
            total += int(left[card]) * values[card]
    return total / (int(state.draw_pile) + 1)


@seldom
def value_before_both(
    state: State, rules: RulesRecord, first: int, undrawn: Int8Array, network: ValueNetwork
) -> float:
    """The mean value over all pairs of cards that the deciding seat could have drawn last.

    Args:
        state: the game after both draws; the hand is changed, and changed back.
        rules: the table's.
        first: the card that the first draw brought.
        undrawn: int8[NUM_CARD_TYPES], 1 for the card that the second one brought.
        network: the value.
    """
    seat, total = int(state.seat), 0.0
    hand = state.hand[seat]
    hand[first] -= 1
    for card in range(NUM_CARD_TYPES):
        left = cards_in_pile(state, rules, card) + int(undrawn[card])
        if left > 0:
            hand[card] += 1
            total += left * value_before_draw(state, rules, undrawn, network)
            hand[card] -= 1
    hand[first] += 1
    return total / (int(state.draw_pile) + _BOTH)


# After the decisions that follow one ------------------------------------------------------------------------


@seldom
def value_of_decisions(
    batch: Batch, rules: RulesRecord, game: int, drawn: int, card: int
) -> tuple[bool, float]:
    """The value for the deciding seat's team once all have decided that decide before the next draw.

    The order of the cards to come plays no part: where one was drawn on the way, all that could have come
    count. When no card is left the round is played to its end.

    Args:
        batch: the games, and who would decide what; two teams.
        rules: the table's.
        game: after a draw.
        drawn: the card that the draw brought.
        card: what it brings here instead.

    Returns:
        Whether it is known, and the value, in thousands of points. It is not known where nobody says what a
        seat would do, or it would be illegal.
    """
    ahead = batch.ahead
    copy_game(batch, game, ahead)
    state = ahead.states[0]
    hand = state.hand[int(state.seat)]
    hand[drawn] -= 1
    hand[card] += 1
    own = team_of(rules, int(state.seat))
    for _ in range(_MOST_DECISIONS):
        role = int(batch.role_of[game, team_of(rules, int(state.seat))])
        if not ahead.is_known[role]:
            return False, 0.0
        action = choose_next(
            observation_reader, ahead, rules, 0, ahead.roles.choose[role], ahead.roles.options[role]
        )
        if not is_legal(state, rules, action):
            return False, 0.0
        ahead.states[1] = state
        step(state, rules, action)
        if is_round_over(state):
            lead = round_score(state, own) - round_score(state, 1 - own)
            return True, lead / POINTS_OF_VALUE
        draws = int(ahead.states[1].draw_pile) - int(state.draw_pile)
        if draws > _BOTH:
            return False, 0.0
        if draws > 0:
            value = value_before_draws(ahead.states[1], state, rules, draws, batch.network)
            return True, value if team_of(rules, int(state.seat)) == own else -value
    return False, 0.0


@rule
def copy_game(batch: Batch, game: int, ahead: Lookahead) -> None:
    """Copy a game, and what its agents remember, to where decisions are tried."""
    ahead.states[0] = batch.states[game]
    ahead.rounds[0] = batch.rounds[game]
    for seat in range(batch.memories.shape[1]):
        for number in range(batch.memories.shape[2]):  # one by one: a slice would need memory
            ahead.memories[0, seat, number] = batch.memories[game, seat, number]


@rule
def value_before_draws(
    before: State, after: State, rules: RulesRecord, draws: int, network: ValueNetwork
) -> float:
    """The value, for the seat that decides after a step, before it drew one card or two in that step.

    Args:
        before: the game before the step; the cards are drawn from it here.
        after: the same after it.
        rules: the table's.
        draws: 1 or 2.
        network: the value.
    """
    undrawn = stack_array(np.int8, NUM_CARD_TYPES)
    for card in range(NUM_CARD_TYPES):
        undrawn[card] = 0
    seat = int(after.seat)
    first = draw_next(before, rules, seat)
    if draws == _ONE:
        undrawn[first] = 1
        return value_before_draw(after, rules, undrawn, network)
    undrawn[draw_next(before, rules, seat)] = 1
    return value_before_both(after, rules, first, undrawn, network)
