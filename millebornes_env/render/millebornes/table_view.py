"""The table of Mille Bornes as plain values, for drawings and for the page.

Names, words for actions and legal actions are left to the callers.
"""

from __future__ import annotations

from typing import Any, Final

from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.cards import DRIVING_ACE, NO_CARD, NUM_CARD_TYPES, NUM_DISTANCES
from millebornes_env.games.millebornes.motion import is_cured_by_safety, is_limited, is_moving
from millebornes_env.games.millebornes.rules import Rules, rules_record
from millebornes_env.games.millebornes.scoring import round_score
from millebornes_env.games.millebornes.state import (
    CLAIM,
    EXTENSION,
    NO_TEAM,
    PLAY,
    ROUND_OVER,
    SCORE_LINES,
    State,
)
from millebornes_env.games.millebornes.winning import has_won_round

ALL: Final = "all"
"""The observer that sees every hand."""

_ASKS: Final = {PLAY: "play", CLAIM: "coup_fourre", EXTENSION: "extension", ROUND_OVER: None}


def table_view(state: State, rules: Rules, observer: int | str | None = ALL) -> dict[str, Any]:
    """Return the table as an observer sees it.

    Args:
        state: a record of `STATE`.
        rules: the table's rules.
        observer: a seat to show its hand, "all" to show every hand, None to show no hand.

    Returns:
        A dictionary ready for JSON, with cards as ids, and None for no card or no seat.
    """
    is_over = int(state.phase) == ROUND_OVER
    return {
        "players": rules.players,
        "teams": rules.teams,
        "round_number": int(state.round_number),
        "target": int(state.target),
        "extended": int(state.extension_team) != NO_TEAM,
        "draw_pile": int(state.draw_pile),
        "discard_top": _card(state.discard_top),
        "to_act": None if is_over else int(state.seat),
        "asks": _ASKS[int(state.phase)],
        "pending": _pending(state),
        "over": is_over,
        "winners": _winners(state, rules) if is_over else [],
        "counts_points": bool(rules.count_points),
        "seats": [_seat(state, rules, seat, observer) for seat in range(rules.players)],
        "sides": [_side(state, rules, team) for team in range(rules.teams)],
        "sheet": score_sheet(state, rules) if is_over and rules.count_points else None,
    }


def score_sheet(state: State, rules: Rules) -> list[dict[str, Any]]:
    """Return the score sheet of the last finished round: lines with each team's points, and the sum."""
    lines = [
        {
            "line": name,
            "title": name.replace("_", " ").replace("coups fourres", "coups fourrés"),
            "points": [int(state.score_sheet[team, line]) for team in range(rules.teams)],
        }
        for line, name in enumerate(SCORE_LINES)
    ]
    total = [int(plain(round_score)(state, team)) for team in range(rules.teams)]
    return [*lines, {"line": "round", "title": "round", "points": total}]


def _winners(state: State, rules: Rules) -> list[int]:
    if rulebook.was_broken_off(state, rules):
        return []
    record = rules_record(rules)
    return [team for team in range(rules.teams) if plain(has_won_round)(state, record, team)]


def _card(card: Any) -> int | None:
    return None if int(card) == NO_CARD else int(card)


def _pending(state: State) -> dict[str, int] | None:
    """Return the pending hazard, or None."""
    if int(state.phase) != CLAIM:
        return None
    names = {"card": state.pending_hazard, "team": state.pending_team, "by": state.attacker}
    return {name: int(value) for name, value in names.items()}


def _seat(state: State, rules: Rules, seat: int, observer: int | str | None) -> dict[str, Any]:
    hand = [card for card in range(NUM_CARD_TYPES) for _ in range(int(state.hand[seat, card]))]
    sees = observer == ALL or (observer is not None and observer == seat)
    return {
        "seat": seat,
        "team": seat % rules.teams,
        "hand": hand if sees else None,
        "hand_size": int(state.hand_count[seat]),
    }


def _side(state: State, rules: Rules, team: int) -> dict[str, Any]:
    record, laid = rules_record(rules), state.tableau[team]
    battle = [card for card in (int(state.battle_below[team]), int(state.battle[team])) if card != NO_CARD]
    return {
        "team": team,
        "seats": list(range(team, rules.players, rules.teams)),
        "km": int(state.km[team]),
        "battle": battle,
        "speed": [] if int(state.speed[team]) == NO_CARD else [int(state.speed[team])],
        "distances": {str(card): int(laid[card]) for card in range(NUM_DISTANCES) if int(laid[card])},
        "safeties": [
            {"card": card, "coup_fourre": bool(state.coup_fourre[team, card - DRIVING_ACE])}
            for card in range(DRIVING_ACE, NUM_CARD_TYPES)
            if int(laid[card])
        ],
        "score": int(state.score[team]),
        "can_drive": bool(plain(is_moving)(state, record, team)),
        "limited": bool(plain(is_limited)(state, team)),
        "pending": int(state.pending_hazard) if _is_attacked(state, team) else None,
        "cured": bool(plain(is_cured_by_safety)(state, team)),
    }


def _is_attacked(state: State, team: int) -> bool:
    """Return True if the team may still answer a hazard."""
    return int(state.phase) == CLAIM and int(state.pending_team) == team
