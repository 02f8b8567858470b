"""AIVAT's correction for chance in Mille Bornes: the value of each drawn card minus its expectation.

After Burch, Schmid, Moravcik, Morrill and Bowling, "AIVAT: A new variance reduction technique for agent
evaluation in imperfect information games", AAAI 2018. The value of a position is a small frozen network that
sees all hands.

**Why the corrected points have the same mean as the plain ones, for any network.** Imagine a referee who sees
all hands, all plays and all random numbers of the agents, but not the order of the cards to come. A round's
deck is shuffled by random numbers that nothing else uses, and no play depends on the order of the pile: so to
the referee all its orders are equally likely, at every moment. The position in the deck that a seat draws
from follows from the draws before (`deal.stream_to_draw_from`), which the referee knows; so the next card is
of type c with probability n(c) / n, where n(c) of the n cards in the pile are of that type. Streams do not
matter: each is a stretch of the same deck. Let v(c), the value after a card of type c was drawn, be any
function of what the referee sees then. Then

    luck of a draw = v(card that came) - sum over c of n(c) / n * v(c)

has expectation 0 given everything before it. Summed up over the draws of a match this is a martingale with
mean 0: a match ends after finitely many draws, by a rule that does not look ahead, and v is bounded. This
holds in each rotation of a deal, hence for the mean of the rotations too, although they share their cards.
The network must be fixed before the games are played; a good one reduces the spread, a bad one increases it,
and neither changes the mean.

Two corrections are left out: for the deal of the hands, whose luck cancels over the rotations; and for
decisions of agents with known probabilities, which is exactly 0 for agents that play one action with
probability 1, as most agents of the project do.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from millebornes_env.agents.policy.network import MAX_UNITS
from millebornes_env.arena.batch import Batch
from millebornes_env.arena.luck.full_view import (
    INPUTS_VERSION,
    cards_in_pile,
    list_ones,
    num_inputs,
    place_held,
    place_in_pile,
)
from millebornes_env.arena.luck.value_network import (
    MOST_ONES,
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
"""Points per unit of a network's value."""

MOST_DRAWS: Final = 8
"""Upper bound for the draws of one step; a coup fourré has two."""


@seldom
def count_draws(batch: Batch, rules: RulesRecord, game: int, action: int) -> None:
    """Add the luck of all draws of one step to the lead of the seat that acts after it, which drew.

    Args:
        batch: the games, the game before the step (from which the draws are repeated), and the value network.
        rules: rules of the table.
        game: index of the game.
        action: the action of the step.
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
    """Return the value after a draw minus its expectation, for the acting seat's team, in network units.

    Args:
        batch: the games, after the step.
        rules: rules of the table.
        game: index of the game.
        undrawn: int8[NUM_CARD_TYPES], cards of the acting seat from this draw and later ones.
        to_come: number of cards from later draws.
        drawn: card of this draw.
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
    """Draw and return the seat's next card."""
    owner = stream_to_draw_from(state, rules, seat)
    index = int(state.stream_next[owner]) if owner == seat else int(state.stream_end[owner]) - 1
    card = int(state.deck[index])
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
    """List the cards that the acting seat could have drawn, with their values.

    Args:
        state: the game after the draw.
        rules: rules of the table.
        undrawn: int8[NUM_CARD_TYPES], cards of the seat from this draw and later ones.
        to_come: number of cards from later draws.
        network: value network.
        left: int8[NUM_CARD_TYPES], overwritten with the cards of each type in the pile before the draw.
        values: float64[NUM_CARD_TYPES], overwritten where `left` is positive with the value of that draw.
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
    """Return the value if the acting seat draws a card of a type.

    Args:
        network: value network.
        sums: float32[MAX_UNITS], first layer before the draw.
        teams: teams at the table.
        card: the type.
        held: cards of the type in the hand before the draw.
        left: cards of the type in the pile before the draw, 1 or more.
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
