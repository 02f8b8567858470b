"""Laws of a decision and of a step: mask, observation, and the changes that an action may make.

The laws of a single record are in `games.millebornes.audit`. These need more: the record before the step,
the action, or a second way to find the same answer.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.laws import NO_VIOLATION, Register, require
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    FIRST_FURTHER_HAZARD,
    PASS,
    around,
    card_of,
    is_discard,
)
from millebornes_env.games.millebornes.audit import MESSAGES
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    NO_CARD,
    NUM_CARD_TYPES,
    SPEED_LIMIT,
    is_distance,
    is_hazard,
    is_safety,
    km_of,
    safety_against,
)
from millebornes_env.games.millebornes.ending import are_hands_played_out
from millebornes_env.games.millebornes.motion import has_safety, team_of
from millebornes_env.games.millebornes.rules import RulesRecord, deck_size
from millebornes_env.games.millebornes.scoring import round_score
from millebornes_env.games.millebornes.state import CLAIM, EXTENSION, PLAY, ROUND_OVER, Int8Array, State

_register = Register(MESSAGES)
_named = _register.name

# A decision
MASK_IS_NOT_LEGALITY: Final = _named("the mask differs from what is_legal says of each action")
NOTHING_LEGAL: Final = _named("no action is legal")
OBSERVATION_OUT_OF_BOUNDS: Final = _named("a number of the observation lies outside its section's bounds")
HIDDEN_CARDS_SHOW: Final = _named("redealing the hidden cards changes what the seat sees or may do")
REDEAL_IS_NO_GAME: Final = _named("redealing the hidden cards makes a state that no deal leads to")
# A step
WRONG_CARD_LEFT_HAND: Final = _named(
    "a hand lost a card other than the one played, or gained one that was not drawn"
)
WRONG_NUMBER_DRAWN: Final = _named("the number of cards drawn is not what the rules say")
WRONG_KM_GAIN: Final = _named("km changed by something other than the distance card laid")
WRONG_TABLEAU_CHANGE: Final = _named(
    "a tableau lost a card that nothing removes, or gained one that was not laid"
)
DISCARD_CAME_BACK: Final = _named("a discarded card came back")
WRONG_SCORE_CHANGE: Final = _named("score changed by something other than the score sheet")
WRONG_NEXT_SEAT: Final = _named("the turn passed to the wrong seat")
ROUND_AFTER_LAST_TURN: Final = _named("the round goes on after the turn that emptied the draw pile")
ROUND_TOO_LONG: Final = _named("the round takes more steps than its cards allow")
OTHER_ROUND: Final = _named("key, dealer, round_number or episode changed within a round")
# Rounds and episodes
WRONG_REWARDS: Final = _named(
    "rewards do not sum to 0, differ between partners, or are paid before the end of a round"
)
WRONG_END_OF_EPISODE: Final = _named(
    "the engine ended an episode that goes on, or went on with one that is over"
)
WRONG_DEAL: Final = _named("a round was dealt wrongly")

ALL_MESSAGES: Final = _register.messages
"""Messages of all violations by number: first those of the audit, then those of decisions and steps."""


@rule
def choice_violation(state: State, mask: Int8Array, found: int) -> int:
    """Return `found` if it is a violation, else the first law of the game's own that the mask breaks."""
    return require(found, NOTHING_LEGAL, is_anything_legal(mask))


@rule
def is_anything_legal(mask: Int8Array) -> bool:
    """A round in progress has a legal action."""
    union = 0
    for action in range(len(mask)):
        union |= int(mask[action])
    return union == 1


# Steps ----------------------------------------------------------------------------------------------------


@rule
def step_violation(before: State, after: State, rules: RulesRecord, action: int, steps: int) -> int:
    """Return the first law that the last of `steps` steps of a round breaks, or NO_VIOLATION."""
    shown = shown_card(before, action)
    drawn = int(before.draw_pile) - int(after.draw_pile)
    result = require(
        NO_VIOLATION, WRONG_CARD_LEFT_HAND, only_the_shown_card_left(before, after, rules, shown, drawn)
    )
    result = require(result, WRONG_NUMBER_DRAWN, drawn == draws_due(before, after, action, shown))
    result = require(result, WRONG_KM_GAIN, km_grew_by_the_card(before, after, rules, action))
    result = require(
        result, WRONG_TABLEAU_CHANGE, tableaux_changed_by_the_rules(before, after, rules, action)
    )
    result = require(result, DISCARD_CAME_BACK, discards_stayed(before, after))
    result = require(result, WRONG_SCORE_CHANGE, totals_grew_by_the_sheet(before, after, rules))
    result = require(result, WRONG_NEXT_SEAT, turn_passed_as_it_should(before, after, rules, action, shown))
    result = require(
        result, ROUND_AFTER_LAST_TURN, last_turn_was_the_last(before, after, rules, action, shown)
    )
    result = require(result, ROUND_TOO_LONG, steps <= longest_round(rules))
    return require(result, OTHER_ROUND, round_is_the_same(before, after))


@rule
def shown_card(before: State, action: int) -> int:
    """Return the card that the action takes from the hand, or NO_CARD."""
    if action == CLAIM_COUP_FOURRE:
        return safety_against(int(before.pending_hazard))
    return card_of(action)


@rule
def is_laid(action: int) -> bool:
    """Return True if the action lays a card."""
    return not is_discard(action) and (action < CLAIM_COUP_FOURRE or action >= FIRST_FURTHER_HAZARD)


@rule
def only_the_shown_card_left(before: State, after: State, rules: RulesRecord, shown: int, drawn: int) -> bool:
    """Only the shown card left the seat's hand; all hands together gained as many cards as were drawn."""
    gained, lost = 0, 0
    for seat in range(rules.players):
        for card in range(NUM_CARD_TYPES):
            change = int(after.hand[seat, card]) - int(before.hand[seat, card])
            gained += change
            lost += 1 if change < 0 else 0
    if shown == NO_CARD:
        return lost == 0 and gained == drawn
    seat = int(before.seat)
    change = int(after.hand[seat, shown]) - int(before.hand[seat, shown])
    return lost == (1 if change < 0 else 0) and change >= -1 and gained == drawn - 1


@rule
def draws_due(before: State, after: State, action: int, shown: int) -> int:
    """Count the cards to draw from the pile: two after a claim, one after a safety or for the next seat."""
    due = 1 if int(after.phase) == PLAY else 0
    if action == CLAIM_COUP_FOURRE:
        due = 2
    elif is_laid(action) and is_safety(shown):
        due = 1
    return min(due, int(before.draw_pile))


@rule
def km_grew_by_the_card(before: State, after: State, rules: RulesRecord, action: int) -> bool:
    """Km change only by the distance card that the team lays."""
    team = team_of(rules, int(before.seat))
    for other in range(rules.teams):
        km = int(before.km[other])
        if other == team and is_distance(action):
            km += km_of(action)
        if km != int(after.km[other]):
            return False
    return True


@rule
def tableaux_changed_by_the_rules(before: State, after: State, rules: RulesRecord, action: int) -> bool:
    """Only a visible hazard leaves a tableau, for the safety against it; at most one card is added."""
    gained, lost = 0, 0
    for team in range(rules.teams):
        for card in range(NUM_CARD_TYPES):
            change = int(after.tableau[team, card]) - int(before.tableau[team, card])
            gained += max(change, 0)
            lost += max(-change, 0)
        lost -= removed_hazards(before, after, team)
    held_back = int(after.pending_hazard) != NO_CARD
    laid = action in (CLAIM_COUP_FOURRE, PASS) or (is_laid(action) and not held_back)
    return lost == 0 and gained == (1 if laid else 0)


@rule
def removed_hazards(before: State, after: State, team: int) -> int:
    """Count the visible hazards that left the team's tableau for a safety that it has now."""
    removed = 0
    for hazard in range(ACCIDENT, SPEED_LIMIT + 1):
        showed = int(before.battle[team]) == hazard or int(before.speed[team]) == hazard
        change = int(before.tableau[team, hazard]) - int(after.tableau[team, hazard])
        if showed and change == 1 and has_safety(after, team, safety_against(hazard)):
            removed += 1
    return removed


@rule
def discards_stayed(before: State, after: State) -> bool:
    """Discarded cards are dead (004:5)."""
    least = 0
    for card in range(NUM_CARD_TYPES):
        least = min(least, int(after.discard_pile[card]) - int(before.discard_pile[card]))
    return least == 0


@rule
def totals_grew_by_the_sheet(before: State, after: State, rules: RulesRecord) -> bool:
    """The totals change only when the score sheet is filled in, by its points."""
    for team in range(rules.teams):
        if int(after.score[team]) - int(before.score[team]) != round_score(after, team):
            return False
    return True


@rule
def turn_passed_as_it_should(
    before: State, after: State, rules: RulesRecord, action: int, shown: int
) -> bool:
    """The next to act is the same seat, the attacked team, or the next seat left with cards (004:5)."""
    seat = int(before.seat)
    if int(after.phase) == CLAIM:
        return (
            is_laid(action) and is_hazard(shown) and team_of(rules, int(after.seat)) != team_of(rules, seat)
        )
    if int(after.phase) == EXTENSION:
        return is_distance(action) and int(after.seat) == seat
    if int(after.phase) == ROUND_OVER:
        return True
    pile_was_empty = int(before.draw_pile) == 0
    owner = int(before.attacker) if int(before.phase) == CLAIM else seat
    if action == CLAIM_COUP_FOURRE:
        if not pile_was_empty:
            return int(after.seat) == seat
        if rules.replay_after_claim_when_empty == 1 and int(after.hand_count[seat]) > 0:
            return int(after.seat) == seat
        owner = seat if rules.replay_after_claim_when_empty or rules.turn_follows_claim_when_empty else owner
    elif is_laid(action) and is_safety(shown):
        replay = not pile_was_empty or rules.replay_after_safety_when_empty == 1
        if replay and int(after.hand_count[seat]) > 0:
            return int(after.seat) == seat
    following = around(owner + 1, rules.players)
    while pile_was_empty and int(after.hand_count[following]) == 0:
        following = around(following + 1, rules.players)
    return int(after.seat) == following


@rule
def last_turn_was_the_last(before: State, after: State, rules: RulesRecord, action: int, shown: int) -> bool:
    """If hands are not played out, a turn that ends with an empty pile ends the round (000:219)."""
    if int(before.draw_pile) > 0 or int(after.phase) != PLAY or are_hands_played_out(after, rules):
        return True
    if action == CLAIM_COUP_FOURRE:
        return rules.replay_after_claim_when_empty == 1
    return is_laid(action) and is_safety(shown) and rules.replay_after_safety_when_empty == 1


@rule
def round_is_the_same(before: State, after: State) -> bool:
    """A step changes neither the key of the random numbers nor the dealer, round or episode."""
    different = (int(before.key[0]) ^ int(after.key[0])) | (int(before.key[1]) ^ int(after.key[1]))
    different |= int(before.dealer) ^ int(after.dealer)
    different |= int(before.episode) ^ int(after.episode)
    return different | (int(before.round_number) ^ int(after.round_number)) == 0


@rule
def longest_round(rules: RulesRecord) -> int:
    """Return the most steps of a round: each shows a card, passes a claim, or answers on the extension."""
    hazards = 0
    for hazard in range(ACCIDENT, SPEED_LIMIT + 1):
        hazards += int(rules.deck[hazard])
    return deck_size(rules) + hazards + 1


@rule
def is_freshly_dealt(state: State, rules: RulesRecord) -> bool:
    """The seat left of the dealer is to play and has drawn; all other cards but the hands are in the pile."""
    left = deck_size(rules) - rules.hand_limit * rules.players - 1
    first = around(int(state.dealer) + 1, rules.players)
    return int(state.draw_pile) == left and int(state.seat) == first and int(state.phase) == PLAY
