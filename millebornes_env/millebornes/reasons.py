"""Why an action is not legal, in words, for a person who knows the game."""

from __future__ import annotations

from millebornes_env.compile import plain
from millebornes_env.millebornes.actions import card_of, is_discard, opponent_of, target_team
from millebornes_env.millebornes.cards import (
    CARD_NAMES,
    DISTANCE_50,
    END_OF_LIMIT,
    KM,
    NO_CARD,
    ROLL,
    SPEED_LIMIT,
    hazard_of,
    is_distance,
    is_hazard,
    safety_against,
)
from millebornes_env.millebornes.hazards import can_be_attacked
from millebornes_env.millebornes.legality import is_discardable
from millebornes_env.millebornes.motion import has_safety, is_limited, is_moving
from millebornes_env.millebornes.rules import Rules, rules_record
from millebornes_env.millebornes.state import PHASE_NAMES, PLAY, State


def reason_against(state: State, rules: Rules, action: int) -> str:
    """Why an action is not legal, for a person who knows the game.

    Args:
        state: the game; only what the deciding seat can see of it is asked about.
        rules: the table's.
        action: an id of the table that is not legal now.

    Returns:
        Half a sentence: "team 0 is not rolling".
    """
    phase, card, seat = int(state.phase), card_of(action), int(state.seat)
    if phase != PLAY or card == NO_CARD:
        return f"what is to be decided is {PHASE_NAMES[phase]!r}"
    if int(state.hand[seat, card]) == 0:
        return f"the hand holds no {CARD_NAMES[card]}"
    if is_discard(action):
        if not plain(is_discardable)(rules_record(rules), card):
            return "this table allows no discard of a safety"
        return "this table allows a discard only when no card can be laid"
    team = seat % rules.teams
    if is_distance(card):
        return _reason_of_distance(state, rules, team, card)
    if is_hazard(card):
        return _reason_of_hazard(state, rules, target_team(rules.teams, team, opponent_of(action)), card)
    if card == ROLL:
        return f"a Roll goes {_where_roll_goes(rules)}"
    if card == END_OF_LIMIT:
        return f"no Speed limit shows on team {team}'s speed pile"
    return f"no {CARD_NAMES[hazard_of(card)]} stops team {team}"


def _where_roll_goes(rules: Rules) -> str:
    places = ["on a Stop"]
    if rules.start_needs_roll:
        places.insert(0, "on an empty battle pile")
    if rules.roll_after_remedy:
        places.append("on a remedy")
    if rules.roll_after_safety:
        places.append("on a hazard that a safety has cured")
    return " or ".join(filter(None, [", ".join(places[:-1]), places[-1]]))


def _reason_of_distance(state: State, rules: Rules, team: int, card: int) -> str:
    if not plain(is_moving)(state, rules_record(rules), team):
        return f"team {team} is not rolling"
    if plain(is_limited)(state, team) and card > DISTANCE_50:
        return f"team {team} is under a Speed limit: 25 and 50 km only"
    if int(state.km[team]) + int(KM[card]) > int(state.target):
        return f"team {team} has gone {int(state.km[team])} of {int(state.target)} km: not beyond the target"
    return f"team {team} has laid {rules.max_200} cards of 200 km already"


def _reason_of_hazard(state: State, rules: Rules, target: int, card: int) -> str:
    safety = safety_against(card)
    if plain(has_safety)(state, target, safety):
        return f"team {target} is protected by {CARD_NAMES[safety]}"
    if card == SPEED_LIMIT:
        if not plain(is_limited)(state, target):
            return f"team {target} has a hazard already, and this table allows one at a time"
        return f"team {target} is under a Speed limit already"
    record = rules_record(rules)
    if plain(can_be_attacked)(state, record, target):
        return f"team {target} is under a Speed limit, and this table allows one hazard at a time"
    if plain(is_moving)(state, record, target):
        return f"no Roll shows on team {target}'s battle pile"
    return f"team {target} is not rolling"
