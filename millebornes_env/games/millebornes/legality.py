"""Legal actions: a check of one action, and the mask of all of them."""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.engine.numba.simd import set_of_numbers, write_set
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    FIRST_DISCARD,
    FIRST_FURTHER_HAZARD,
    PASS,
    card_of,
    is_discard,
    num_actions,
    opponent_of,
    play_action,
    target_team,
)
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    DRIVING_ACE,
    END_OF_LIMIT,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_DISTANCES,
    NUM_HAZARDS,
    NUM_SAFETIES,
    ROLL,
    SPEED_LIMIT,
    is_distance,
    is_hazard,
    is_remedy,
    is_safety,
    remedy_for,
)
from millebornes_env.games.millebornes.coup_fourre import can_claim
from millebornes_env.games.millebornes.distance import can_play_distance, is_within_limits
from millebornes_env.games.millebornes.ending import can_extend
from millebornes_env.games.millebornes.hazards import can_attack, can_be_attacked, can_hazard_land
from millebornes_env.games.millebornes.motion import is_limited, is_moving, is_stopped_by_hazard, team_of
from millebornes_env.games.millebornes.remedies import can_play_remedy, can_play_roll
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import CLAIM, EXTENSION, PLAY, Int8Array, State

SAFETIES: Final = ((1 << NUM_SAFETIES) - 1) << DRIVING_ACE
"""The set of all safeties."""


@rule
def can_lay(state: State, rules: RulesRecord, team: int, card: int, opponent: int) -> bool:
    """Return True if a member of the team who holds the card may lay it now.

    Rule: 004:12-18, the list of what a player may choose to play.

    Args:
        state: the game.
        rules: the table's rules.
        team: the acting team.
        card: the card to lay.
        opponent: the opponent to attack with a hazard; ignored for other cards.
    """
    if is_distance(card):
        return can_play_distance(state, rules, team, card)
    if is_hazard(card):
        return can_attack(state, rules, target_team(rules.teams, team, opponent), card)
    if is_remedy(card):
        return can_play_remedy(state, rules, team, card)
    return True  # a safety: at any time (004:17)


@seldom
def can_lay_any(state: State, rules: RulesRecord, seat: int) -> bool:
    """Return True if the seat holds a card that may be laid now."""
    return held_plays(state, rules, team_of(rules, seat), held_cards(state, seat)) != 0


@rule
def can_discard(state: State, rules: RulesRecord, seat: int) -> bool:
    """Return True if the seat may discard (any card in its hand, but see `is_discardable`).

    Rule: 004:28, always, even if a legal play is available.
    """
    return rules.discard_only_if_stuck == 0 or not can_lay_any(state, rules, seat)


@rule
def is_discardable(rules: RulesRecord, card: int) -> bool:
    """Return True if a card of this kind may be discarded (E21: safeties too, unless the field says no)."""
    return rules.discard_safeties == 1 or not is_safety(card)


@rule
def is_everybody_stuck(state: State, rules: RulesRecord) -> bool:
    """Return True if the round ends because the draw pile is empty and no hand holds a card that can be laid.

    Rule: only where the field says so; a rule of BSD mille, the computer game of 1982.
    """
    if rules.end_when_stuck == 0 or int(state.draw_pile) > 0:
        return False
    for seat in range(rules.players):
        if can_lay_any(state, rules, seat):
            return False
    return True


@rule
def is_legal(state: State, rules: RulesRecord, action: int) -> bool:
    """Return True if the action is legal for the seat to act."""
    if action < 0 or action >= num_actions(rules.teams):
        return False
    seat, phase = int(state.seat), int(state.phase)
    if action in (CLAIM_COUP_FOURRE, PASS):
        return phase == CLAIM and can_claim(state, rules, seat)
    if action in (EXTEND, FINISH):
        return phase == EXTENSION and can_extend(state, rules, seat)
    card = card_of(action)
    if phase != PLAY or card == NO_CARD or int(state.hand[seat, card]) == 0:
        return False
    if is_discard(action):
        return is_discardable(rules, card) and can_discard(state, rules, seat)
    return can_lay(state, rules, team_of(rules, seat), card, opponent_of(action))


# Sets of actions -------------------------------------------------------------------------------------------
#
# A set of cards or actions is an int: bit `action` is 1 if the action is in the set. These functions follow
# the rules of `can_lay` kind by kind (a test compares the two on every action), because this is the hottest
# code of the library: conditions shared by all cards of a kind are evaluated once.


@rule
def legal_actions(state: State, rules: RulesRecord, seat: int) -> int:
    """Return all legal actions of the seat to act; the empty set when the round is over."""
    phase = int(state.phase)
    if phase == PLAY:
        return legal_cards(state, rules, seat)
    if phase == CLAIM:
        return (1 << CLAIM_COUP_FOURRE) | (1 << PASS)
    if phase == EXTENSION:
        return (1 << EXTEND) | (1 << FINISH)
    return 0


@rule
def legal_cards(state: State, rules: RulesRecord, seat: int) -> int:
    """Return the cards that the seat to play may lay or discard."""
    held = held_cards(state, seat)
    plays = held_plays(state, rules, team_of(rules, seat), held)
    if rules.discard_only_if_stuck == 1 and plays != 0:
        return plays
    if rules.discard_safeties == 0:
        held &= ~SAFETIES
    return plays | (held << FIRST_DISCARD)


@rule
def held_cards(state: State, seat: int) -> int:
    """Return the set of the cards in the seat's hand."""
    return set_of_numbers(state.hand[seat], 0, NUM_CARD_TYPES)


@rule
def held_plays(state: State, rules: RulesRecord, team: int, held: int) -> int:
    """Return the legal plays with cards of a set; further opponents have ids of their own."""
    plays = held & (distances_to_lay(state, rules, team) | remedies_to_lay(state, rules, team) | SAFETIES)
    for opponent in range(rules.teams - 1):
        hazards = held & hazards_to_lay(state, rules, target_team(rules.teams, team, opponent))
        plays |= (hazards >> ACCIDENT) << play_action(ACCIDENT, opponent)
    return plays


@rule
def distances_to_lay(state: State, rules: RulesRecord, team: int) -> int:
    """Return the distances that the team may lay (004:13)."""
    if not is_moving(state, rules, team):
        return 0
    cards = 0
    for card in range(NUM_DISTANCES):
        cards |= only_if(is_within_limits(state, rules, team, card), card)
    return cards


@rule
def remedies_to_lay(state: State, rules: RulesRecord, team: int) -> int:
    """Return the remedies that the team may lay on its piles (004:14, 004:15, 004:18)."""
    cards = only_if(is_limited(state, team), END_OF_LIMIT) | only_if(can_play_roll(state, rules, team), ROLL)
    if is_stopped_by_hazard(state, team):
        cards |= 1 << remedy_for(int(state.battle[team]))
    return cards


@rule
def hazards_to_lay(state: State, rules: RulesRecord, team: int) -> int:
    """Return the hazards that may be laid against the team (004:16)."""
    is_open = can_be_attacked(state, rules, team)
    cards = 0
    for hazard in range(ACCIDENT, SPEED_LIMIT + 1):
        cards |= only_if(can_hazard_land(state, rules, team, hazard, is_open), hazard)
    return cards


@rule
def only_if(condition: bool, card: int) -> int:
    """Return the set of one card, or an empty one."""
    return 1 << card if condition else 0


@rule
def write_mask(state: State, rules: RulesRecord, mask: Int8Array) -> None:
    """Write 1 for legal actions of the seat to act and 0 for others.

    Args:
        state: the game.
        rules: the table's rules.
        mask: int8[num_actions], overwritten; padding is 0.
    """
    actions = legal_actions(state, rules, int(state.seat))
    write_set(mask, 0, actions, FIRST_FURTHER_HAZARD)
    for first in range(FIRST_FURTHER_HAZARD, len(mask), NUM_HAZARDS):
        write_set(mask, first, actions >> first, NUM_HAZARDS)
