"""Helpers of rule-based agents: sets of actions, the best of them, and questions about the game.

A set of actions is an int: bit `action` is 1 where the action is in it. An agent goes through the set, says
of each action how much it likes it, and takes the one that it likes best; of two that it likes equally, that
with the lower id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from millebornes_env.agents.compiled.agent import NO_ACTION, Int64Array
from millebornes_env.engine.numba.compiling import rule, rule_of_rules, seldom
from millebornes_env.engine.numba.simd import lowest_in
from millebornes_env.games.millebornes.actions import CLAIM_COUP_FOURRE, FINISH
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    DISTANCE_75,
    DISTANCE_200,
    DRIVING_ACE,
    NUM_DISTANCES,
    RIGHT_OF_WAY,
    SPEED_LIMIT,
    STOP,
    is_battle_hazard,
    km_of,
    safety_against,
)
from millebornes_env.games.millebornes.distance import is_within_limits
from millebornes_env.games.millebornes.legality import legal_cards
from millebornes_env.games.millebornes.motion import has_safety, is_limited, is_moving, team_of
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import CLAIM, EXTENSION, State

LARGEST_KM: Final = 200
SMALL_KM: Final = 50
"""The largest distance that may be laid under a Speed Limit."""

_ACTION_BITS: Final = 6  # there are fewer than 64 actions
_LAST_ACTION: Final = (1 << _ACTION_BITS) - 1

LOWEST_RANK: Final = -(1 << 40)
"""Less than any `rank`."""


PlayScore = Callable[[State, RulesRecord, int, int, Int64Array], int]
"""`liking(state, rules, seat, action, options)`: how much an agent likes a legal action."""


# Sets of actions -------------------------------------------------------------------------------------------


@rule
def is_in(actions: int, action: int) -> bool:
    """Return True if the set contains the action (or card)."""
    return (actions >> action) & 1 == 1


@rule
def first_in(actions: int, action: int) -> int:
    """The lowest action of the set that is not below `action`; NO_ACTION if there is none."""
    left = actions >> action
    return action + lowest_in(left) if left != 0 else NO_ACTION


# Preferences -----------------------------------------------------------------------------------------------


@rule
def rank(action: int, play_score: int) -> int:
    """An action and how much it is liked in one number: the larger number is the action to take."""
    return (play_score << _ACTION_BITS) + (_LAST_ACTION - action)


@rule
def action_of(ranked: int) -> int:
    """The action of a `rank`."""
    return _LAST_ACTION - (ranked & _LAST_ACTION)


@rule_of_rules
def claim_or_best_play(
    play_score: PlayScore, state: State, rules: RulesRecord, seat: int, options: Int64Array
) -> int:
    """Claim every coup fourré, never extend a trip; else the card to lay or give away that is liked best."""
    phase = int(state.phase)
    if phase == CLAIM:
        return CLAIM_COUP_FOURRE
    if phase == EXTENSION:
        return FINISH
    legal = legal_cards(state, rules, seat)
    best = LOWEST_RANK
    action = first_in(legal, 0)
    while action != NO_ACTION:
        best = max(best, rank(action, play_score(state, rules, seat, action, options)))
        action = first_in(legal, action + 1)
    return action_of(best)


# What is hidden --------------------------------------------------------------------------------------------


@rule
def unseen_copies(state: State, seat: int, card: int) -> int:
    """Count the copies of the card in other hands and in the draw pile."""
    return int(state.hidden[card]) - int(state.hand[seat, card])


@rule
def cards_unseen(state: State, rules: RulesRecord, seat: int) -> int:
    """Count the cards in other hands and in the draw pile; at least 1, to divide by."""
    count = int(state.draw_pile) - int(state.hand_count[seat])
    for player in range(rules.players):
        count += int(state.hand_count[player])
    return max(count, 1)


@rule
def cards_held_by(state: State, rules: RulesRecord, team: int) -> int:
    """Count the cards in the hands of a team."""
    count = 0
    for player in range(team, rules.players, rules.teams):
        count += int(state.hand_count[player])
    return count


@rule
def hazards_to_come(state: State, seat: int, safety: int) -> int:
    """Count the hidden hazards that the safety protects from."""
    if safety == RIGHT_OF_WAY:
        return unseen_copies(state, seat, STOP) + unseen_copies(state, seat, SPEED_LIMIT)
    return unseen_copies(state, seat, hazard_under(safety))


@rule
def hazard_under(safety: int) -> int:
    """The hazard that a safety other than Right of Way protects from."""
    return safety - (DRIVING_ACE - ACCIDENT)


# The race --------------------------------------------------------------------------------------------------


@rule
def km_to_go(state: State, team: int) -> int:
    """Kilometres that the team has still to drive."""
    return int(state.target) - int(state.km[team])


@rule
def fits(state: State, rules: RulesRecord, team: int, card: int) -> bool:
    """Return True if the distance card would complete the trip of the team as it stands."""
    return is_within_limits(state, rules, team, card) and is_exact_finish(state, rules, team, card)


@rule
def is_exact_finish(state: State, rules: RulesRecord, team: int, card: int) -> bool:
    """Return True if the distance reaches the target exactly, or passes it where the rules allow that."""
    left = km_to_go(state, team)
    return km_of(card) == left or (rules.exact_finish == 0 and km_of(card) > left)


@rule
def can_finish(state: State, rules: RulesRecord, seat: int) -> bool:
    """Return True if the seat holds a card that completes the trip now."""
    team = team_of(rules, seat)
    if km_to_go(state, team) > LARGEST_KM or not is_moving(state, rules, team):
        return False
    for card in range(NUM_DISTANCES):
        if int(state.hand[seat, card]) > 0 and fits(state, rules, team, card):
            return True
    return False


@rule
def could_finish(state: State, rules: RulesRecord, seat: int, opponent: int) -> bool:
    """Return True if an opponent's next card could complete its trip, as far as the seat knows."""
    if km_to_go(state, opponent) > LARGEST_KM or not is_moving(state, rules, opponent):
        return False
    for card in range(NUM_DISTANCES):
        if unseen_copies(state, seat, card) > 0 and fits(state, rules, opponent, card):
            return True
    return False


@seldom
def is_threatened(state: State, rules: RulesRecord, seat: int) -> bool:
    """Return True if any opponent's next card could complete its trip."""
    team = team_of(rules, seat)
    for other in range(rules.teams):
        if other != team and could_finish(state, rules, seat, other):
            return True
    return False


@rule
def cures(state: State, team: int, safety: int) -> bool:
    """Return True if the safety answers a hazard on top of a pile of the team."""
    top = int(state.battle[team])
    if is_battle_hazard(top) and safety_against(top) == safety:
        return True
    return safety == RIGHT_OF_WAY and is_limited(state, team)


@rule
def has_in_reach(state: State, rules: RulesRecord, seat: int, safety: int) -> bool:
    """Return True if the seat holds the safety or its team has played it."""
    return int(state.hand[seat, safety]) > 0 or has_safety(state, team_of(rules, seat), safety)


@rule
def is_too_late_to_limit(state: State, team: int) -> bool:
    """Return True if a Speed Limit no longer hurts the team: a small card finishes its trip."""
    return km_to_go(state, team) <= SMALL_KM


@rule
def is_useless_distance(state: State, rules: RulesRecord, team: int, card: int) -> bool:
    """Return True if the team can never play the distance card on this trip."""
    if card == DISTANCE_200 and int(state.tableau[team, DISTANCE_200]) >= rules.max_200:
        return True
    return rules.exact_finish == 1 and km_of(card) > km_to_go(state, team)


@rule
def large_distances_held(state: State, rules: RulesRecord, seat: int) -> int:
    """Count the distance cards that the seat could play without a Speed Limit."""
    team = team_of(rules, seat)
    count = 0
    for card in range(DISTANCE_75, DISTANCE_200 + 1):
        if not is_useless_distance(state, rules, team, card):
            count += int(state.hand[seat, card])
    return count
