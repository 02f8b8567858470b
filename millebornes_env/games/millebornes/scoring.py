"""The score sheet of a round, line by line.

Rule: US, scoring (rules 1.5); `write_lines` fills in all lines.
"""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.cards import DISTANCE_200, DRIVING_ACE, NUM_SAFETIES, RIGHT_OF_WAY
from millebornes_env.games.millebornes.motion import has_safety
from millebornes_env.games.millebornes.rules import EVERY_PLACED_TEAM, RulesRecord
from millebornes_env.games.millebornes.state import (
    ALL_SAFETIES_LINE,
    COUPS_FOURRES_LINE,
    DELAYED_ACTION_LINE,
    DISTANCE_LINE,
    EXTENSION_LINE,
    NO_TEAM,
    NUM_SCORE_LINES,
    SAFE_TRIP_LINE,
    SAFETIES_LINE,
    SHUTOUT_LINE,
    TRIP_COMPLETED_LINE,
    State,
)


@rule
def safeties_laid(state: State, team: int) -> int:
    """Count the safeties that the team has laid."""
    count = 0
    for safety in range(DRIVING_ACE, RIGHT_OF_WAY + 1):
        if has_safety(state, team, safety):
            count += 1
    return count


@rule
def coups_fourres(state: State, team: int) -> int:
    """Count the safeties that the team has laid as coups fourrés."""
    count = 0
    for safety in range(NUM_SAFETIES):
        count += int(state.coup_fourre[team, safety])
    return count


@rule
def points_for_all_safeties(state: State, rules: RulesRecord, team: int) -> int:
    """Return 300 if all four safeties were laid by one team."""
    return rules.points_all_safeties if safeties_laid(state, team) == NUM_SAFETIES else 0


@rule
def points_for_delayed_action(state: State, rules: RulesRecord, team: int) -> int:
    """Return 300 for the winner if the draw pile was empty when the finishing card was laid (E37, E38)."""
    delayed = int(state.winner) == team and int(state.draw_pile) == 0
    return rules.points_delayed_action if delayed else 0


@rule
def points_for_safe_trip(state: State, rules: RulesRecord, team: int) -> int:
    """Return 300 for a winner who laid no 200 in the whole trip (E39, E40)."""
    safe = int(state.winner) == team and int(state.tableau[team, DISTANCE_200]) == 0
    return rules.points_safe_trip if safe else 0


@rule
def points_for_extension(state: State, rules: RulesRecord, team: int) -> int:
    """Return 200 for a caller who completes the longer trip, else 200 for each opponent (US C; E47)."""
    caller = int(state.extension_team)
    if caller == NO_TEAM:
        return 0
    if caller == int(state.winner):
        return rules.points_extension if team == caller else 0
    return rules.points_extension_failed if team != caller else 0


@rule
def blank_opponents(state: State, rules: RulesRecord, team: int) -> int:
    """Count the other teams that have laid no distance card."""
    count = 0
    for other in range(rules.teams):
        if other != team and int(state.km[other]) == 0:
            count += 1
    return count


@rule
def points_for_shutout(state: State, rules: RulesRecord, team: int) -> int:
    """Return 500 for the winner if no opponent laid a distance card, judged at the end (E41, E42).

    Where `shutout_for` is EVERY_PLACED_TEAM: 500 for each blank opponent, to each team not blank (E43).
    """
    blank = blank_opponents(state, rules, team)
    if rules.shutout_for == EVERY_PLACED_TEAM:
        return rules.points_shutout * blank if int(state.km[team]) > 0 else 0
    shut_out = int(state.winner) == team and blank == rules.teams - 1
    return rules.points_shutout if shut_out else 0


@rule
def forfeits_bonuses(state: State, rules: RulesRecord, team: int) -> bool:
    """Return True if the team called an extension, did not complete it, and so scores nothing but its km.

    Rule: 002:29, "überhaupt keine Bonuspunkte". Ruling E48: taken so strictly only where the field says so;
    else the caller loses no more than the bonuses of the trip that he did not complete.
    """
    if rules.failed_extension_forfeits_bonuses == 0:
        return False
    return int(state.extension_team) == team and int(state.winner) != team


@rule
def fill_score_sheet(state: State, rules: RulesRecord) -> None:
    """Write every team's lines and add them to the totals."""
    if rules.count_points == 0:
        return
    for team in range(rules.teams):
        write_lines(state, rules, team)
        state.score[team] = int(state.score[team]) + round_score(state, team)


@rule
def write_lines(state: State, rules: RulesRecord, team: int) -> None:
    """Write one team's lines; they are all 0 until then."""
    sheet = state.score_sheet[team]
    sheet[DISTANCE_LINE] = state.km[team]
    if forfeits_bonuses(state, rules, team):
        return
    sheet[SAFETIES_LINE] = rules.points_per_safety * safeties_laid(state, team)
    sheet[ALL_SAFETIES_LINE] = points_for_all_safeties(state, rules, team)
    sheet[COUPS_FOURRES_LINE] = rules.points_per_coup_fourre * coups_fourres(state, team)
    sheet[TRIP_COMPLETED_LINE] = rules.points_trip_completed if int(state.winner) == team else 0
    sheet[DELAYED_ACTION_LINE] = points_for_delayed_action(state, rules, team)
    sheet[SAFE_TRIP_LINE] = points_for_safe_trip(state, rules, team)
    sheet[EXTENSION_LINE] = points_for_extension(state, rules, team)
    sheet[SHUTOUT_LINE] = points_for_shutout(state, rules, team)


@rule
def round_score(state: State, team: int) -> int:
    """Return the team's points in the last finished round."""
    points = 0
    for line in range(NUM_SCORE_LINES):
        points += int(state.score_sheet[team, line])
    return points
