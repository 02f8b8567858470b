"""Reasons why an action is illegal, in words.

`reason_of` finds the reason and is also compiled, so that a page without Python has the same messages.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import plain, rule
from millebornes_env.games.millebornes.actions import card_of, is_discard, opponent_of, target_team
from millebornes_env.games.millebornes.cards import (
    CARD_NAMES,
    DISTANCE_50,
    END_OF_LIMIT,
    NO_CARD,
    ROLL,
    SPEED_LIMIT,
    hazard_of,
    is_distance,
    is_hazard,
    is_remedy,
    km_of,
    safety_against,
)
from millebornes_env.games.millebornes.hazards import can_be_attacked
from millebornes_env.games.millebornes.legality import is_discardable
from millebornes_env.games.millebornes.motion import has_safety, is_limited, is_moving, team_of
from millebornes_env.games.millebornes.rules import Rules, RulesRecord, rules_record
from millebornes_env.games.millebornes.state import PHASE_NAMES, PLAY, State

REASONS: Final = (
    "the decision is '{phase}'",
    "the hand holds no {card}",
    "this table allows no discard of a safety",
    "this table allows a discard only when no card can be laid",
    "team {team} is not rolling",
    "team {team} is under a Speed limit: 25 and 50 km only",
    "team {team} has gone {km} of {trip} km: not beyond the target",
    "team {team} has laid {max_200} cards of 200 km already",
    "team {target} is protected by {safety}",
    "team {target} has a hazard already, and this table allows one at a time",
    "team {target} is under a Speed limit already",
    "team {target} is under a Speed limit, and this table allows one hazard at a time",
    "no Roll shows on team {target}'s battle pile",
    "team {target} is not rolling",
    "a Roll goes {roll_goes}",
    "no Speed limit shows on team {team}'s speed pile",
    "no {hazard} stops team {team}",
)
"""Half a sentence for each reason, with names in braces: the acting seat's `team`, the `target` of a hazard
(a team), the `card`, the `safety` against it or the `hazard` that it answers, ...
"""

(
    OTHER_DECISION,
    NOT_IN_HAND,
    SAFETY_IS_KEPT,
    A_CARD_CAN_BE_LAID,
    NOT_ROLLING,
    LIMITED,
    BEYOND_TARGET,
    TOO_MANY_200S,
    PROTECTED,
    HAS_A_HAZARD,
    LIMITED_ALREADY,
    LIMITED_AND_ONE_HAZARD,
    NO_ROLL_SHOWS,
    TARGET_NOT_ROLLING,
    NO_PLACE_FOR_ROLL,
    NO_LIMIT_SHOWS,
    NOTHING_TO_MEND,
) = range(len(REASONS))


# The reason ------------------------------------------------------------------------------------------------


@rule
def reason_of(state: State, rules: RulesRecord, action: int) -> int:
    """Return the reason why an action is illegal: an index of `REASONS`.

    Args:
        state: the game; only information visible to the acting seat is used.
        rules: the table's rules.
        action: an action id of the table that is illegal now.
    """
    card, seat = card_of(action), int(state.seat)
    if int(state.phase) != PLAY or card == NO_CARD:
        return OTHER_DECISION
    if int(state.hand[seat, card]) == 0:
        return NOT_IN_HAND
    if is_discard(action):
        return A_CARD_CAN_BE_LAID if is_discardable(rules, card) else SAFETY_IS_KEPT
    team = team_of(rules, seat)
    if is_distance(card):
        return reason_of_distance(state, rules, team, card)
    if is_hazard(card):
        return reason_of_hazard(state, rules, target_team(rules.teams, team, opponent_of(action)), card)
    if card == ROLL:
        return NO_PLACE_FOR_ROLL
    return NO_LIMIT_SHOWS if card == END_OF_LIMIT else NOTHING_TO_MEND


@rule
def reason_of_distance(state: State, rules: RulesRecord, team: int, card: int) -> int:
    """Return the reason why the team cannot lay a distance card that the seat holds."""
    if not is_moving(state, rules, team):
        return NOT_ROLLING
    if is_limited(state, team) and card > DISTANCE_50:
        return LIMITED
    if rules.exact_finish and int(state.km[team]) + km_of(card) > int(state.target):
        return BEYOND_TARGET
    return TOO_MANY_200S


@rule
def reason_of_hazard(state: State, rules: RulesRecord, target: int, card: int) -> int:
    """Return the reason why a hazard that the seat holds cannot be laid against a team."""
    if has_safety(state, target, safety_against(card)):
        return PROTECTED
    if card == SPEED_LIMIT:
        return LIMITED_ALREADY if is_limited(state, target) else HAS_A_HAZARD
    if can_be_attacked(state, rules, target):
        return LIMITED_AND_ONE_HAZARD
    return NO_ROLL_SHOWS if is_moving(state, rules, target) else TARGET_NOT_ROLLING


# In words --------------------------------------------------------------------------------------------------


def reason_against(state: State, rules: Rules, action: int) -> str:
    """Say why an action is illegal.

    Args:
        state: the game; only information visible to the acting seat is used.
        rules: the table's rules.
        action: an action id of the table that is illegal now.

    Returns:
        Half a sentence: "team 0 is not rolling".
    """
    card, team = card_of(action), int(state.seat) % rules.teams
    is_card = card != NO_CARD
    return REASONS[plain(reason_of)(state, rules_record(rules), action)].format(
        phase=PHASE_NAMES[int(state.phase)],
        card=CARD_NAMES[card] if is_card else "",
        team=team,
        target=target_team(rules.teams, team, opponent_of(action)),
        km=int(state.km[team]),
        trip=int(state.target),
        max_200=rules.max_200,
        safety=CARD_NAMES[safety_against(card)] if is_card and is_hazard(card) else "",
        hazard=CARD_NAMES[hazard_of(card)] if is_card and is_remedy(card) else "",
        roll_goes=where_roll_goes(rules),
    )


def where_roll_goes(rules: Rules) -> str:
    """Describe where these rules allow a Roll: "on an empty battle pile or on a Stop"."""
    places = ["on a Stop"]
    if rules.start_needs_roll:
        places.insert(0, "on an empty battle pile")
    if rules.roll_after_remedy:
        places.append("on a remedy")
    if rules.roll_after_safety:
        places.append("on a hazard that a safety has cured")
    return " or ".join(filter(None, [", ".join(places[:-1]), places[-1]]))
