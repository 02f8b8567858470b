"""The deal and the draw: the shuffled deck, the seats' streams, taking a card.

The cards to come are in streams, one for each seat, so that an extra turn does not shift the draws of other
seats: each seat draws the same cards whatever is played, which makes comparisons of two players far more
precise. A stream is a part of the shuffled deck, so the distribution is that of a common pile.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.chance import random_below, random_word
from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.millebornes.actions import around
from millebornes_env.games.millebornes.cards import DECK_SIZE, NO_CARD, NUM_CARD_TYPES, NUM_SAFETIES
from millebornes_env.games.millebornes.rules import RulesRecord, card_count
from millebornes_env.games.millebornes.state import BY_ROLL, NO_SEAT, NO_TEAM, NUM_SCORE_LINES, PLAY, State

# Counters of a round's random numbers: the shuffle takes 1 .. DECK_SIZE - 1.
_DEALER_COUNTER: Final = DECK_SIZE


@rule
def round_key(state: State) -> tuple[int, int]:
    """Return the key of this round's random numbers: a function of the game's key, episode and round."""
    key_0, key_1 = int(state.key[0]), int(state.key[1])
    episode_key = random_word(key_0, key_1, int(state.episode))
    return episode_key, random_word(key_1, episode_key, int(state.round_number))


@rule
def draw_first_dealer(state: State, rules: RulesRecord) -> int:
    """Return the seat that deals the first round of an episode.

    Ruling: no sheet says who deals first (rules 1.1); it is drawn by chance, so that no seat is favoured.
    """
    key_0, key_1 = round_key(state)
    return random_below(key_0, key_1, _DEALER_COUNTER, rules.players)


@rule
def shuffle_deck(state: State, rules: RulesRecord) -> int:
    """Write the shuffled cards of this table into `state.deck`, and return their number.

    Rule: 004:5, the deck is shuffled; rules 0.2 for what is in it.
    """
    size = 0
    for card in range(NUM_CARD_TYPES):
        for _ in range(card_count(rules, card)):
            state.deck[size] = card
            size += 1
    for index in range(size, DECK_SIZE):
        state.deck[index] = NO_CARD
    key_0, key_1 = round_key(state)
    for last in range(size - 1, 0, -1):
        other = random_below(key_0, key_1, last, last + 1)
        card = state.deck[last]
        state.deck[last] = state.deck[other]
        state.deck[other] = card
    return size


@rule
def clear_table(state: State, rules: RulesRecord) -> None:
    """Take all cards from hands, piles and tableaux, and clear pending decisions."""
    state.phase = PLAY
    state.pending_hazard = NO_CARD
    state.pending_team = NO_TEAM
    state.attacker = NO_SEAT
    state.target = rules.target
    state.extension_team = NO_TEAM
    state.winner = NO_TEAM
    state.discard_top = NO_CARD
    for card in range(NUM_CARD_TYPES):
        state.discard_pile[card] = 0
        state.hidden[card] = card_count(rules, card)
    for seat in range(rules.players):
        for card in range(NUM_CARD_TYPES):
            state.hand[seat, card] = 0
        state.hand_count[seat] = 0
    for team in range(rules.teams):
        clear_tableau(state, team)


@rule
def clear_tableau(state: State, team: int) -> None:
    """Take all cards from one team's piles."""
    state.km[team] = 0
    state.battle[team] = NO_CARD
    state.battle_below[team] = NO_CARD
    state.speed[team] = NO_CARD
    state.opening[team] = BY_ROLL
    for safety in range(NUM_SAFETIES):
        state.coup_fourre[team, safety] = 0
    for card in range(NUM_CARD_TYPES):
        state.tableau[team, card] = 0
    for line in range(NUM_SCORE_LINES):
        state.score_sheet[team, line] = 0


@seldom
def deal_round(state: State, rules: RulesRecord) -> None:
    """Shuffle, give each seat its stream and from it a hand, and let the seat left of the dealer begin.

    Rule: 004:5, six cards each, the rest is the draw pile; rules 1.1, left of the dealer plays first.
    """
    clear_table(state, rules)
    size = shuffle_deck(state, rules)
    for seat in range(rules.players):
        state.stream_next[seat] = seat * size // rules.players
        state.stream_end[seat] = (seat + 1) * size // rules.players
    state.draw_pile = size
    for seat in range(rules.players):
        for _ in range(rules.hand_limit):
            draw_card(state, rules, seat)
    state.seat = around(int(state.dealer) + 1, rules.players)


@rule
def stream_to_draw_from(state: State, rules: RulesRecord, seat: int) -> int:
    """Return the seat whose stream has the next card: the seat itself, else the nearest to the left.

    Precondition: the draw pile is not empty.
    """
    owner = seat
    while int(state.stream_next[owner]) == int(state.stream_end[owner]):
        owner = around(owner + 1, rules.players)
    return owner


@rule
def draw_card(state: State, rules: RulesRecord, seat: int) -> None:
    """Take one card from the draw pile into the seat's hand; nothing happens when the pile is empty.

    Rule: 004:5, each turn begins with a draw. Ruling E14: draw what there is.
    The own stream is drawn from its front; another seat's, when the own has run out, from its end.
    """
    if int(state.draw_pile) == 0:
        return
    owner = stream_to_draw_from(state, rules, seat)
    if owner == seat:
        index = int(state.stream_next[owner])
        state.stream_next[owner] = index + 1
    else:
        index = int(state.stream_end[owner]) - 1
        state.stream_end[owner] = index
    state.draw_pile = int(state.draw_pile) - 1
    take_into_hand(state, seat, int(state.deck[index]))
    state.deck[index] = NO_CARD


@rule
def take_into_hand(state: State, seat: int, card: int) -> None:
    """Put the card into the seat's hand."""
    state.hand[seat, card] = int(state.hand[seat, card]) + 1
    state.hand_count[seat] = int(state.hand_count[seat]) + 1


@rule
def take_from_hand(state: State, seat: int, card: int) -> None:
    """Take the card out of the seat's hand and show it: all see it from now on."""
    state.hand[seat, card] = int(state.hand[seat, card]) - 1
    state.hand_count[seat] = int(state.hand_count[seat]) - 1
    state.hidden[card] = int(state.hidden[card]) - 1


@rule
def discard(state: State, card: int) -> None:
    """Put the card on the discard pile.

    Rule: 004:5, discarded cards are dead and cannot be taken for any reason.
    """
    state.discard_pile[card] = int(state.discard_pile[card]) + 1
    state.discard_top = card


@rule
def lay_on_tableau(state: State, team: int, card: int) -> None:
    """Count the card among those in the team's piles."""
    state.tableau[team, card] = int(state.tableau[team, card]) + 1


@rule
def discard_from_tableau(state: State, team: int, card: int) -> None:
    """Move a card from the team's piles to the discard pile."""
    state.tableau[team, card] = int(state.tableau[team, card]) - 1
    discard(state, card)
