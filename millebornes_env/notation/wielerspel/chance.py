"""The dice and cards that have fallen in a race, as records of it say them."""

from __future__ import annotations

from millebornes_env.games.wielerspel.course import Fallen, course, fallen
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.state import NO_CARD, State
from millebornes_env.notation.wielerspel.words import card_words


def chance(state: State, rules: Rules, action: int | None) -> list[str]:
    """Carry out an action and say which dice and cards fall: `["white 4", "card event_2"]`.

    Args:
        state: the race, changed in place.
        rules: of the table.
        action: a legal one; None: say what has fallen in this turn so far, and change nothing.
    """
    if action is None:
        now = fallen(state)
        return _between(Fallen(now.turn, 0, NO_CARD, 0), now, rules)
    result: list[str] = []
    before = fallen(state)
    for _ in course(state, rules, action):
        now = fallen(state)
        result += _between(before, now, rules)
        before = now
    return result


def _between(before: Fallen, now: Fallen, rules: Rules) -> list[str]:
    if now.turn != before.turn:
        before = Fallen(now.turn, 0, NO_CARD, 0)
    result = []
    if now.white != before.white:
        result.append(f"white {now.white}")
    if now.card != before.card:
        result.append(f"card {card_words(rules)[now.card]}")
    if now.yellow != before.yellow:
        result.append(f"yellow {now.yellow}")
    return result
