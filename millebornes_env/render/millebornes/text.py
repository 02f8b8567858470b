"""The table of one game as text."""

from __future__ import annotations

from collections.abc import Sequence

from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.millebornes.cards import (
    CARD_NAMES,
    DRIVING_ACE,
    KM,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_DISTANCES,
    RIGHT_OF_WAY,
)
from millebornes_env.games.millebornes.motion import is_moving
from millebornes_env.games.millebornes.rules import Rules, rules_record
from millebornes_env.games.millebornes.state import (
    CLAIM,
    EXTENSION,
    NO_TEAM,
    PHASE_NAMES,
    ROUND_OVER,
    State,
)
from millebornes_env.render.millebornes.table_view import score_sheet
from millebornes_env.render.names import road


def draw_game(state: State, rules: Rules, observer: int | None = None) -> str:
    """Draw the table in several lines, with the hand of the observer (None: with all hands)."""
    lines = [_headline(state, rules)]
    for team in range(rules.teams):
        lines += _draw_team(state, rules, team)
    for seat in range(rules.players):
        marker = ">" if seat == state.seat and state.phase != ROUND_OVER else " "
        shown = (
            _draw_hand(state, seat) if observer in (None, seat) else f"{int(state.hand_count[seat])} cards"
        )
        lines.append(f"{marker} player_{seat} (team {seat % rules.teams}): {shown}")
    lines.append(_question(state))
    return "\n".join(lines)


def _headline(state: State, rules: Rules) -> str:
    top = int(state.discard_top)
    parts = [
        f"round {int(state.round_number) + 1}",
        f"trip: {int(state.target)} km" + (" (extended)" if state.extension_team != NO_TEAM else ""),
        f"{int(state.draw_pile)} cards to draw",
        f"discard pile: {CARD_NAMES[top] if top != NO_CARD else 'empty'}",
    ]
    return "  |  ".join(parts)


def _draw_team(state: State, rules: Rules, team: int) -> list[str]:
    km, moving = int(state.km[team]), plain(is_moving)(state, rules_record(rules), team)
    has_points = rules.count_points and (state.round_number or state.phase == ROUND_OVER)
    return [
        f"team {team}  {road(km, int(state.target))} {km:4d} km  {'rolling' if moving else 'stopped'}"
        + (f"  {int(state.score[team])} points" if has_points else ""),
        f"        battle: {_pile(int(state.battle[team])):13s} speed: {_pile(int(state.speed[team])):13s} "
        f"distance: {_distance(state, team)}",
        f"        safeties: {_safeties(state, team)}",
    ]


def _pile(card: int) -> str:
    return "empty" if card == NO_CARD else CARD_NAMES[card]


def _distance(state: State, team: int) -> str:
    counts = [(KM[card], int(state.tableau[team, card])) for card in range(NUM_DISTANCES)]
    return " ".join(f"{count}x{km}" for km, count in counts if count) or "none"


def _safeties(state: State, team: int) -> str:
    names = []
    for safety in range(DRIVING_ACE, RIGHT_OF_WAY + 1):
        if state.tableau[team, safety]:
            coup = " (coup fourré)" if state.coup_fourre[team, safety - DRIVING_ACE] else ""
            names.append(CARD_NAMES[safety] + coup)
    return ", ".join(names) or "none"


def _draw_hand(state: State, seat: int) -> str:
    cards = []
    for card in range(NUM_CARD_TYPES):
        cards += [CARD_NAMES[card]] * int(state.hand[seat, card])
    return ", ".join(cards) or "no cards"


def _question(state: State) -> str:
    seat, phase = int(state.seat), int(state.phase)
    if phase == ROUND_OVER:
        return "The round is over."
    if phase == CLAIM:
        hazard = CARD_NAMES[int(state.pending_hazard)]
        return f"player_{seat}: {hazard} was laid by player_{int(state.attacker)}; claim the coup fourré?"
    if phase == EXTENSION:
        return f"player_{seat}: {int(state.target)} km done; extend the trip?"
    return f"player_{seat} to {PHASE_NAMES[phase]}."


def draw_score_sheet(state: State, rules: Rules, names: Sequence[str] | None = None) -> str:
    """Draw the score sheet of the last finished round: a line for each item, a column for each team."""
    columns = [f"team {team}" for team in range(rules.teams)] if names is None else list(names)
    rows = [("", columns), *((line["title"], line["points"]) for line in score_sheet(state, rules))]
    width, widths = max(len(title) for title, _ in rows), [max(8, len(column) + 2) for column in columns]
    return "\n".join(
        f"{title:{width}s}" + "".join(f"{cell:>{wide}}" for cell, wide in zip(cells, widths, strict=True))
        for title, cells in rows
    )


def draw_end(state: State, rules: Rules) -> str:
    """Return the text below the table at the end of a round: the score sheet, if points are counted."""
    return draw_score_sheet(state, rules) if rules.count_points else ""
