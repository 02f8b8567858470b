"""Luck that can be counted: the cards that each team drew, less what it could expect to draw.

Given all hands, every card of the draw pile is as likely as another to be drawn next; so the number of cards
of a type that a team draws, less its expectation, has mean 0 whatever is played. A weighted sum of these
differences, the weights being fixed beforehand, can be taken off a score without bias (the idea of MIVAT:
White and Bowling, "Learning a value analysis tool for agent evaluation", IJCAI 2009). That is so for who
does not know the cards to come: a cheat could draw more when good ones lie on top.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.arena.batch import Batch
from millebornes_env.compile import rule, seldom
from millebornes_env.millebornes.actions import CLAIM_COUP_FOURRE, card_of
from millebornes_env.millebornes.cards import NO_CARD, NUM_CARD_TYPES, safety_against
from millebornes_env.millebornes.motion import team_of
from millebornes_env.millebornes.rules import RulesRecord, card_count, deck_size
from millebornes_env.millebornes.state import State

NUM_VARIATES: Final = NUM_CARD_TYPES
"""One for each card type."""

SAMPLE_AGENTS: Final = ("greedy", "arnold")
"""The agents whose games say what luck is worth at a table, whoever plays the tournament."""


@seldom
def count_deal(batch: Batch, rules: RulesRecord, game: int) -> None:
    """Add the luck of a deal, the first draw included.

    Args:
        batch: the games.
        rules: the table's.
        game: which of them was just dealt.
    """
    state, role_of, variates = batch.states[game], batch.role_of[game], batch.variates[game]
    size = deck_size(rules)
    for seat in range(rules.players):
        role = int(role_of[team_of(rules, seat)])
        drawn = int(state.hand_count[seat])
        for card in range(NUM_CARD_TYPES):
            variates[role, card] += int(state.hand[seat, card]) - drawn * card_count(rules, card) / size


@seldom
def count_draws(batch: Batch, rules: RulesRecord, game: int, action: int) -> None:
    """Add the luck of all draws of one step.

    Args:
        batch: the games, and what the game was before the step.
        rules: the table's.
        game: in which the step was.
        action: that was carried out.
    """
    before, after = batch.before[0], batch.states[game]
    role_of, variates = batch.role_of[game], batch.variates[game]
    if int(before.draw_pile) == int(after.draw_pile):
        return
    left = card_that_left(before, action)
    for seat in range(rules.players):
        gone = left if seat == int(before.seat) else NO_CARD
        drawn = int(after.hand_count[seat]) - int(before.hand_count[seat]) + (0 if gone == NO_CARD else 1)
        if drawn == 0:
            continue
        role = int(role_of[team_of(rules, seat)])
        for card in range(NUM_CARD_TYPES):
            came = int(after.hand[seat, card]) - int(before.hand[seat, card]) + (1 if card == gone else 0)
            variates[role, card] += came - drawn * in_pile(before, rules, card) / int(before.draw_pile)


@rule
def card_that_left(before: State, action: int) -> int:
    """The card that the acting seat gave out of its hand, or NO_CARD."""
    if action == CLAIM_COUP_FOURRE:
        return safety_against(int(before.pending_hazard))
    return card_of(action)


@rule
def in_pile(state: State, rules: RulesRecord, card: int) -> int:
    """Cards of the type in the draw pile: hidden, and in no hand."""
    count = int(state.hidden[card])
    for seat in range(rules.players):
        count -= int(state.hand[seat, card])
    return count
