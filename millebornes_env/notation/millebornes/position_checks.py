"""Checks of positions, with messages that name the line that the rules make impossible.

`audit.first_violation` finds the same problems and more, but names fields, not lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from millebornes_env.errors import NotationError
from millebornes_env.games.millebornes.audit.reachability import below_is_a_card_to_attack_on
from millebornes_env.games.millebornes.cards import (
    DISTANCE_200,
    END_OF_LIMIT,
    NO_CARD,
    NUM_CARD_TYPES,
    RIGHT_OF_WAY,
    SPEED_LIMIT,
    STOP,
    is_battle_hazard,
    is_distance,
    is_safety,
    safety_against,
)
from millebornes_env.games.millebornes.ending import can_extend
from millebornes_env.games.millebornes.hazards import can_attack
from millebornes_env.games.millebornes.motion import has_safety, is_limited, is_moving
from millebornes_env.games.millebornes.rules import Rules, RulesRecord, rules_record
from millebornes_env.games.millebornes.scoring import write_lines
from millebornes_env.games.millebornes.state import (
    CLAIM,
    EXTENSION,
    PHASE_NAMES,
    PLAY,
    ROUND_OVER,
    SCORE_LINES,
    new_states,
)
from millebornes_env.notation.lines import AND_OTHERS, CARD_WORDS, Line
from millebornes_env.notation.millebornes.deal_rest import CARDS_OF_A_TURN, full_hand


def check_position(lines: Mapping[str, Line], rules: Rules, state: Any) -> None:
    """Raise an error that names the line if the record made from the lines is impossible."""
    for team in range(rules.teams):
        _check_trip(lines, rules, state, team)
        _check_battle(lines, rules, state, team)
        _check_covered(lines, state, team)
    for seat in range(rules.players):
        _check_hand(lines, rules, state, seat)
    _check_decision(lines, rules, state)
    if int(state.phase) == CLAIM:
        _check_pending(lines["pending"], rules, state)
    if int(state.phase) == ROUND_OVER:
        _check_score_sheets(lines, rules, state)


def _check_trip(lines: Mapping[str, Line], rules: Rules, state: Any, team: int) -> None:
    line = lines.get(f"distance {team}")
    if line is None:
        return
    if int(state.tableau[team, DISTANCE_200]) > rules.max_200:
        raise line.error(f"a team may lay {rules.max_200} of the 200s")
    km, target = int(state.km[team]), int(state.target)
    if rules.exact_finish and km > target:
        raise line.error(f"that makes {km} km, and the trip is of {target}: it must be met exactly")
    offered = int(state.phase) == EXTENSION and int(state.seat) % rules.teams == team
    if km >= target and not offered and int(state.phase) != ROUND_OVER:
        say = f"'to act: round over' and 'winner: {team}'"
        if rules.extended_target > km and "extension" not in lines:
            say += f", or 'to act: seat {team}, extension' if the team has not decided on it"
        raise line.error(f"that makes {km} km, and the trip of {target} is completed: write {say}")


def _check_battle(lines: Mapping[str, Line], rules: Rules, state: Any, team: int) -> None:
    line, top, below = lines.get(f"battle {team}"), int(state.battle[team]), int(state.battle_below[team])
    if line is not None and is_battle_hazard(top):
        safety = int(safety_against(top))
        if state.tableau[team, safety] and (top == STOP or not rules.roll_after_safety):
            raise line.error(f"team {team} has laid {CARD_WORDS[safety]}, which takes {CARD_WORDS[top]} away")
        record = rules_record(rules)
        if below != NO_CARD and not below_is_a_card_to_attack_on(state, record, team):
            raise line.error(f"a team with {CARD_WORDS[below]} is not moving: no hazard can be laid on it")
    line = lines.get(f"speed {team}")
    if line is not None and int(state.speed[team]) == SPEED_LIMIT and state.tableau[team, RIGHT_OF_WAY]:
        raise line.error(f"team {team} has laid right_of_way, which takes a speed_limit away")


def _check_covered(lines: Mapping[str, Line], state: Any, team: int) -> None:
    line = lines.get(f"covered {team}")
    if line is None:
        return
    for card in range(NUM_CARD_TYPES):
        if not state.tableau[team, card] or is_distance(card) or is_safety(card):
            continue
        pile = "speed" if card in (SPEED_LIMIT, END_OF_LIMIT) else "battle"
        if int(state[pile][team]) == NO_CARD:
            raise line.error(
                f"there is no card on {CARD_WORDS[card]}: name the top of that pile in '{pile} {team}'"
            )


def _check_hand(lines: Mapping[str, Line], rules: Rules, state: Any, seat: int) -> None:
    line, held, most = lines.get(f"hand {seat}"), int(state.hand_count[seat]), full_hand(rules, state, seat)
    if int(state.phase) == ROUND_OVER and seat == int(state.seat):
        most = rules.hand_limit + CARDS_OF_A_TURN  # a round that was broken off, by an illegal play
    if line is not None and held > most:
        raise line.error(
            f"these are {held} cards, and this seat can hold {most} "
            f"({rules.hand_limit} are dealt; only the seat to play has drawn one more)"
        )


def _check_decision(lines: Mapping[str, Line], rules: Rules, state: Any) -> None:
    seat, phase = int(state.seat), int(state.phase)
    line = lines.get("to act")
    hazard = int(state.pending_hazard)
    if (phase == CLAIM) != (hazard != NO_CARD):
        if phase == CLAIM:
            raise _refusal(line, "a claim answers a hazard: write 'pending: stop by seat 0 against team 1'")
        raise lines["pending"].error(
            f"it waits for a claim, and the decision is {PHASE_NAMES[phase]}: write 'to act: seat {seat}, "
            "claim', or put the hazard on its pile"
        )
    if phase == CLAIM:
        safety = CARD_WORDS[safety_against(hazard)]
        if seat % rules.teams != int(state.pending_team):
            raise _refusal(
                line,
                f"seat {seat} is not of team {int(state.pending_team)}, which the hazard is laid against",
            )
        if not state.hand[seat, safety_against(hazard)]:
            raise (line or lines["pending"]).error(
                f"seat {seat} does not hold {safety}, so it has no decision: put it into 'hand {seat}', or "
                "put the hazard on its pile"
            )
    if phase == EXTENSION and not can_extend(state, rules_record(rules), seat):
        raise _refusal(line, _why_no_extension(rules, state, seat))
    if phase == PLAY and not int(state.hand_count[seat]):
        raise _refusal(
            lines.get(f"hand {seat}", line),
            f"seat {seat} is to play and has no cards: write its hand, such as "
            f"'hand {seat}: roll {AND_OTHERS}' ({AND_OTHERS!r}: filled up with other cards)",
        )


def _check_pending(line: Line, rules: Rules, state: Any) -> None:
    """Raise if the rules do not allow the hazard against that team (004:16, 004:18)."""
    record, team, hazard = rules_record(rules), int(state.pending_team), int(state.pending_hazard)
    if not can_attack(state, record, team, hazard):
        raise line.error(
            f"{CARD_WORDS[hazard]} cannot be laid: {_why_no_attack(state, record, team, hazard)}"
        )


def _why_no_attack(state: Any, record: RulesRecord, team: int, hazard: int) -> str:
    """Return the rule that keeps the hazard away, checked in the order of `can_hazard_land`."""
    top = CARD_WORDS[int(state.battle[team])]
    if has_safety(state, team, safety_against(hazard)):
        return f"team {team} has laid {CARD_WORDS[safety_against(hazard)]}"
    if hazard == SPEED_LIMIT and is_limited(state, team):
        return f"speed_limit is on the speed pile of team {team} already"
    if hazard == SPEED_LIMIT:
        return f"{top} stops team {team}, and in this edition it has one hazard at a time"
    if record.one_hazard_at_a_time and is_limited(state, team):
        return f"team {team} has a speed_limit, and in this edition it has one hazard at a time"
    if int(state.battle[team]) == NO_CARD:
        return (
            f"team {team} has no card on its battle pile and is not moving yet: write 'battle {team}: roll'"
        )
    if is_moving(state, record, team):
        return f"team {team} rolls on {top}, and in this edition a battle hazard is laid on a roll only"
    return f"team {team} is not moving: {top} shows on its battle pile"


def _why_no_extension(rules: Rules, state: Any, seat: int) -> str:
    team = seat % rules.teams
    if not rules.extended_target:
        return "there is no extension at this table"
    if int(state.extension_team) >= 0:
        return "the extension has been called already"
    return (
        f"team {team} has {int(state.km[team])} of {int(state.target)} km: the decision comes when it has "
        "completed them, before the longer trip is done"
    )


def _check_score_sheets(lines: Mapping[str, Line], rules: Rules, state: Any) -> None:
    """Compare the score sheets with the rules; a round that was broken off has no sheets."""
    if not state.score_sheet.any():
        return
    correct = new_states(1)
    correct[0] = state
    correct["score_sheet"] = 0
    for team in range(rules.teams):
        if rules.count_points:
            write_lines(correct[0], rules_record(rules), team)
        for item, name in enumerate(SCORE_LINES):
            written, due = int(state.score_sheet[team, item]), int(correct["score_sheet"][0, team, item])
            if written != due:
                raise _refusal(
                    lines.get(f"score sheet {team}"),
                    f"{name} of team {team} is {written}; by the rules and the cards in play it is {due}",
                )
        if int(state.score[team]) < int(state.score_sheet[team].sum()):
            raise _refusal(
                lines.get("scores"), f"team {team} has fewer points in the match than in this round of it"
            )


def _refusal(line: Line | None, problem: str) -> NotationError:
    return NotationError(problem) if line is None else line.error(problem)
