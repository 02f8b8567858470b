"""Distance cards: when they may be laid, and the trip they add up to."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.cards import DISTANCE_50, DISTANCE_200, km_of
from millebornes_env.games.millebornes.deal import lay_on_tableau
from millebornes_env.games.millebornes.motion import is_limited, is_moving
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import State


@rule
def can_play_distance(state: State, rules: RulesRecord, team: int, card: int) -> bool:
    """Return True if the team may lay the distance card now.

    Rule: 004:13, if a Roll is showing (`motion.is_moving`).
    """
    return is_moving(state, rules, team) and is_within_limits(state, rules, team, card)


@rule
def is_within_limits(state: State, rules: RulesRecord, team: int, card: int) -> bool:
    """Return True if a moving team may lay the distance card.

    Rule: 004:24, under a Speed Limit only 25 and 50; two 200s at most in a round.
    Rule: 004:30, never beyond the target.
    """
    if is_limited(state, team) and card > DISTANCE_50:
        return False
    if card == DISTANCE_200 and int(state.tableau[team, DISTANCE_200]) >= rules.max_200:
        return False
    return rules.exact_finish == 0 or int(state.km[team]) + km_of(card) <= int(state.target)


@rule
def play_distance(state: State, team: int, card: int) -> None:
    """Lay the distance card on the team's distance pile (004:9)."""
    lay_on_tableau(state, team, card)
    state.km[team] = int(state.km[team]) + km_of(card)


@rule
def has_completed_trip(state: State, team: int) -> bool:
    """Return True if the team has reached the target (004:34)."""
    return int(state.km[team]) >= int(state.target)
