"""The hook `notation.describe_chance` of the race: dice and cards for records."""

from __future__ import annotations

from millebornes_env.games.wielerspel.course import TurnChance, chance_of_turn, course
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.state import NO_CARD, State
from millebornes_env.notation.wielerspel.words import card_words


def describe_chance(state: State, rules: Rules, action: int | None) -> list[str]:
    """Apply an action and describe the dice and cards, such as `["white 4", "card event_2"]`.

    Args:
        state: the race, changed in place.
        rules: the table's rules.
        action: a legal action; None to describe this turn so far without changing the state.
    """
    if action is None:
        now = chance_of_turn(state)
        return _between(TurnChance(now.turn, 0, NO_CARD, 0), now, rules)
    result: list[str] = []
    before = chance_of_turn(state)
    for _ in course(state, rules, action):
        now = chance_of_turn(state)
        result += _between(before, now, rules)
        before = now
    return result


def _between(before: TurnChance, now: TurnChance, rules: Rules) -> list[str]:
    if now.turn != before.turn:
        before = TurnChance(now.turn, 0, NO_CARD, 0)
    result = []
    if now.white != before.white:
        result.append(f"white {now.white}")
    if now.card != before.card:
        result.append(f"card {card_words(rules)[now.card]}")
    if now.yellow != before.yellow:
        result.append(f"yellow {now.yellow}")
    return result
