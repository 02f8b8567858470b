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

With lookahead (`Lookahead`), v(c) is the mean of what the network says right after the draw and of what it
says after all decisions up to the next draw (`value_ahead`). What those are follows from what the seats see
and remember and from their random numbers, all of which the referee sees; and the card that is drawn then is
averaged over, so that the order of the cards to come plays no part. So this v is a function like any other.
Where somebody else is asked in an agent's stead, it is a worse guess, and as unbiased. The first of two cards
that are drawn at once is valued by the network alone.

What is left out: the deal of the hands, whose luck rotations take off each other; and AIVAT's corrections for
decisions of agents whose probabilities are known. These are exactly 0 for agents that play one action with
probability 1, as champions do and most agents of the project.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from millebornes_env.arena.batch import Batch
from millebornes_env.arena.full_view import INPUTS_VERSION, num_inputs
from millebornes_env.arena.value_ahead import POINTS_OF_VALUE, draw_next, list_draws, value_of_decisions
from millebornes_env.compile import rule, seldom, stack_array
from millebornes_env.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.millebornes.motion import team_of
from millebornes_env.millebornes.rules import RulesRecord
from millebornes_env.millebornes.state import Int8Array

NUM_VARIATES: Final = 1
"""The luck of all draws together, in points."""

SAMPLE_AGENTS: Final[tuple[str, ...]] = ()
"""None: luck is in points already."""


MOST_DRAWS: Final = 8
"""Of one step: a coup fourré has two."""


@seldom
def count_deal(batch: Batch, rules: RulesRecord, game: int) -> None:
    """Count nothing: in duplicate deals every hand is dealt to every agent."""


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
        batch.variates[game, batch.role_of[game, team], 0] += moved


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
    looks_ahead = len(batch.ahead.is_known) > 0 and to_come == 0
    left = stack_array(np.int8, NUM_CARD_TYPES)
    values = stack_array(np.float64, NUM_CARD_TYPES)
    list_draws(batch.states[game], rules, undrawn, to_come, batch.network, left, values)
    expected = 0.0
    for card in range(NUM_CARD_TYPES):
        if left[card] > 0:
            if looks_ahead:
                is_known, later = value_of_decisions(batch, rules, game, drawn, card)
                values[card] = (values[card] + later) / 2 if is_known else values[card]
            expected += values[card] * int(left[card])
    return float(values[drawn]) - expected / size


__all__ = ["INPUTS_VERSION", "NUM_VARIATES", "SAMPLE_AGENTS", "count_deal", "count_draws", "num_inputs"]
