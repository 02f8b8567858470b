"""Which actions the rules allow: one action asked about, or all of them as a mask."""

from __future__ import annotations

from millebornes_env.compile import rule, seldom
from millebornes_env.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    FIRST_DISCARD,
    PASS,
    card_of,
    is_discard,
    num_actions,
    opponent_of,
    play_action,
    target_team,
)
from millebornes_env.millebornes.cards import (
    ACCIDENT,
    DRIVING_ACE,
    END_OF_LIMIT,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_DISTANCES,
    REPAIRS,
    RIGHT_OF_WAY,
    SPEED_LIMIT,
    is_distance,
    is_hazard,
    is_remedy,
    is_safety,
)
from millebornes_env.millebornes.coup_fourre import can_claim
from millebornes_env.millebornes.distance import can_play_distance, is_within_limits
from millebornes_env.millebornes.ending import can_extend
from millebornes_env.millebornes.hazards import can_attack, can_be_attacked, can_hazard_land
from millebornes_env.millebornes.motion import is_moving, team_of
from millebornes_env.millebornes.remedies import can_play_remedy
from millebornes_env.millebornes.rules import RulesRecord
from millebornes_env.millebornes.state import CLAIM, EXTENSION, PLAY, Int8Array, State


@rule
def can_lay(state: State, rules: RulesRecord, team: int, card: int, opponent: int) -> bool:
    """Whether a member of the team who holds the card may lay it now.

    Rule: 004:12-18, the list of what a player may choose to play.

    Args:
        state: the game.
        rules: the table's rules.
        team: whose turn it is.
        card: the card to lay.
        opponent: for a hazard, against which opponent; ignored otherwise.
    """
    if is_distance(card):
        return can_play_distance(state, rules, team, card)
    if is_hazard(card):
        return can_attack(state, rules, target_team(rules.teams, team, opponent), card)
    if is_remedy(card):
        return can_play_remedy(state, rules, team, card)
    return True  # a safety: at any time (004:17)


@rule
def can_lay_any(state: State, rules: RulesRecord, seat: int) -> bool:
    """Whether the seat holds a card that may be laid now."""
    team = team_of(rules, seat)
    for card in range(NUM_CARD_TYPES):
        if int(state.hand[seat, card]) == 0:
            continue
        targets = rules.teams - 1 if is_hazard(card) else 1
        for opponent in range(targets):
            if can_lay(state, rules, team, card, opponent):
                return True
    return False


@rule
def can_discard(state: State, rules: RulesRecord, seat: int) -> bool:
    """Whether the seat may discard (any card it holds, but see `is_discardable`).

    Rule: 004:28, always, even if a legal play is available.
    """
    return rules.discard_only_if_stuck == 0 or not can_lay_any(state, rules, seat)


@rule
def is_discardable(rules: RulesRecord, card: int) -> bool:
    """Whether a card of this kind may be discarded at all (E21: a safety may, unless the field says no)."""
    return rules.discard_safeties == 1 or not is_safety(card)


@seldom
def is_everybody_stuck(state: State, rules: RulesRecord) -> bool:
    """Whether the round ends because the draw pile is empty and no hand holds a card that can be laid.

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
    """Whether the rules allow the action to the seat that decides now."""
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


@rule
def write_mask(state: State, rules: RulesRecord, mask: Int8Array) -> None:
    """Write 1 at each action that the deciding seat may choose and 0 elsewhere.

    Args:
        state: the game.
        rules: the table's rules.
        mask: int8[num_actions], overwritten.
    """
    mask[:] = 0
    phase = int(state.phase)
    if phase == PLAY:
        write_mask_of_hand(state, rules, mask)
    elif phase == CLAIM:
        mask[CLAIM_COUP_FOURRE] = 1
        mask[PASS] = 1
    elif phase == EXTENSION:
        mask[EXTEND] = 1
        mask[FINISH] = 1


@rule
def write_mask_of_hand(state: State, rules: RulesRecord, mask: Int8Array) -> None:
    """Write 1 at each card of the hand that may be played or discarded.

    Asks the same questions as `can_lay`, kind by kind (a test compares the two on every action), because
    this is the hottest loop of the library: what all cards of a kind have in common is asked once.
    """
    seat = int(state.seat)
    team = team_of(rules, seat)
    if can_discard(state, rules, seat):
        for card in range(NUM_CARD_TYPES if rules.discard_safeties == 1 else DRIVING_ACE):
            mask[FIRST_DISCARD + card] = mask_value(state, seat, card)
    if is_moving(state, rules, team):
        for card in range(NUM_DISTANCES):
            if is_within_limits(state, rules, team, card):
                mask[card] = mask_value(state, seat, card)
    for opponent in range(rules.teams - 1):
        target = target_team(rules.teams, team, opponent)
        is_open = can_be_attacked(state, rules, target)
        for hazard in range(ACCIDENT, SPEED_LIMIT + 1):
            if can_hazard_land(state, rules, target, hazard, is_open):
                mask[play_action(hazard, opponent)] = mask_value(state, seat, hazard)
    for remedy in range(REPAIRS, END_OF_LIMIT + 1):
        if can_play_remedy(state, rules, team, remedy):
            mask[remedy] = mask_value(state, seat, remedy)
    for safety in range(DRIVING_ACE, RIGHT_OF_WAY + 1):
        mask[safety] = mask_value(state, seat, safety)


@rule
def mask_value(state: State, seat: int, card: int) -> int:
    """What the mask says of a card that may be played: 1 if the seat holds it, else 0."""
    return 1 if int(state.hand[seat, card]) > 0 else 0
