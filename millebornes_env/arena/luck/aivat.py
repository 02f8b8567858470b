"""AIVAT's correction for chance in Mille Bornes: what each drawn card is worth, less what was expected.

After Burch, Schmid, Moravcik, Morrill and Bowling, "AIVAT: A new variance reduction technique for agent
evaluation in imperfect information games", AAAI 2018. The value of a position is a small frozen network that
sees all hands.

**Why the corrected points have the mean of the plain ones, whatever the network says.** Look at a game
through the eyes of a referee who sees all hands, all that was played and all random numbers of the agents,
but not the order of the cards to come. A round's deck is shuffled by random numbers that nothing else uses,
and nobody chose his plays by the order of the pile: so to the referee all its orders are equally likely, at
every moment. Which place of the deck a seat draws from follows from who drew before
(`deal.stream_to_draw_from`), which the referee knows; so the next card is of type c with probability n(c) /
n, where n(c) of the n cards in the pile are of that type. Streams change nothing in this: each is a stretch
of the same deck. With v(c), the value after a card of type c was drawn, any function of what the referee
sees then,

    luck of a draw = v(card that came) - sum over c of n(c) / n * v(c)

has expectation 0 given all that went before it. Summed up over the draws of a match this is a martingale, and
its mean is 0: a match ends after finitely many draws, by a rule that does not look ahead, and v is bounded.
That is so in each rotation of a deal, hence for the mean of the rotations too, however the same cards bind
them together. The network must be fixed before the games are played, as any is that stands in a file; a good
one makes the spread smaller, a bad one larger, and neither moves the mean.

What is left out: the deal of the hands, whose luck rotations take off each other; and AIVAT's corrections for
decisions of agents whose probabilities are known. These are exactly 0 for agents that play one action with
probability 1, as champions do and most agents of the project.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from millebornes_env.arena.batch import Batch
from millebornes_env.arena.luck.full_view import (
    INPUTS_VERSION,
    MOST_ONES,
    cards_in_pile,
    list_ones,
    num_inputs,
    place_held,
    place_in_pile,
)
from millebornes_env.arena.luck.value_network import (
    MAX_UNITS,
    Float32Array,
    ValueNetwork,
    first_layer,
    value_of,
)
from millebornes_env.arena.statistics import Float64Array
from millebornes_env.engine.numba.compiling import rule, seldom, stack_array
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.games.millebornes.deal import draw_card, stream_to_draw_from
from millebornes_env.games.millebornes.motion import team_of
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import Int8Array, State

POINTS_OF_VALUE: Final = 1000.0
"""Points in one unit of a network's value."""

MOST_DRAWS: Final = 8
"""Of one step: a coup fourré has two."""


@seldom
def count_draws(batch: Batch, rules: RulesRecord, game: int, action: int) -> None:
    """Add the luck of all draws of one step, all of which are the seat's that decides after it.

    The seat's lead over the mean of the others moves by the luck.

    Args:
        batch: the games, what the game was before the step (the cards that were drawn since are drawn from it
            here), and the network, which says what positions are worth in thousands of points.
        rules: the table's.
        game: in which the step was.
        action: that was carried out.
    """
    before, after = batch.before[0], batch.states[game]
    draws = int(before.draw_pile) - int(after.draw_pile)
    if draws == 0:
        return
    seat = int(after.seat)
    undrawn = stack_array(np.int8, NUM_CARD_TYPES)
    for card in range(NUM_CARD_TYPES):
        undrawn[card] = 0
    order = stack_array(np.int8, MOST_DRAWS)
    for draw in range(draws):
        order[draw] = draw_next(before, rules, seat)
        undrawn[order[draw]] += 1
    luck = 0.0
    for draw in range(draws):
        card = int(order[draw])
        luck += luck_of_draw(batch, rules, game, undrawn, draws - draw - 1, card)
        undrawn[card] -= 1
    share = POINTS_OF_VALUE * luck / rules.teams
    own = team_of(rules, seat)
    for team in range(rules.teams):
        moved = share * (rules.teams - 1) if team == own else -share
        batch.luck[game, batch.role_of[game, team]] += moved


@rule
def luck_of_draw(
    batch: Batch, rules: RulesRecord, game: int, undrawn: Int8Array, to_come: int, drawn: int
) -> float:
    """The value after a draw less its expectation, over the types of the cards in the pile.

    Args:
        batch: the games.
        rules: the table's.
        game: after the step.
        undrawn: int8[NUM_CARD_TYPES], the cards of the deciding seat that this draw and later ones brought.
        to_come: how many later ones brought.
        drawn: the card that this draw brought.

    Returns:
        The luck of the deciding seat's team, in the unit of the network.
    """
    size = int(batch.states[game].draw_pile) + to_come + 1
    if size == 1:
        return 0.0
    left = stack_array(np.int8, NUM_CARD_TYPES)
    values = stack_array(np.float64, NUM_CARD_TYPES)
    list_draws(batch.states[game], rules, undrawn, to_come, batch.network, left, values)
    expected = 0.0
    for card in range(NUM_CARD_TYPES):
        if left[card] > 0:
            expected += values[card] * int(left[card])
    return float(values[drawn]) - expected / size


@rule
def draw_next(state: State, rules: RulesRecord, seat: int) -> int:
    """Draw the seat's next card, and say which it is."""
    owner = stream_to_draw_from(state, rules, seat)
    place = int(state.stream_next[owner]) if owner == seat else int(state.stream_end[owner]) - 1
    card = int(state.deck[place])
    draw_card(state, rules, seat)
    return card


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


__all__ = ["INPUTS_VERSION", "POINTS_OF_VALUE", "count_draws", "num_inputs"]
