"""Events of a race from one decision to the next, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from millebornes_env.games.wielerspel.actions import action_name
from millebornes_env.games.wielerspel.course import TurnChance, chance_of_turn, course
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.state import NO_CARD, NO_SEAT, State
from millebornes_env.render.wielerspel.facts import Facts, facts_of_state, name_of_kind, square_in_words
from millebornes_env.render.wielerspel.text import arrows

_JERSEYS: Final = ("a rainbow jersey", "a green jersey", "a card of 2 polka dots", "a card of 3 polka dots")


def describe_event(state: State, rules: Rules, action: int) -> list[str]:
    """Apply a legal action, and describe it and the public events up to the next decision, in lines."""
    lines = [f"player_{int(state.seat)}: {action_name(action)}"]
    facts, chance, shuffles = facts_of_state(state, rules), chance_of_turn(state), int(state.shuffles)
    for _ in course(state, rules, action):
        now, chance_now = facts_of_state(state, rules), chance_of_turn(state)
        if chance_now.turn != chance.turn:
            chance = TurnChance(chance_now.turn, 0, NO_CARD, 0)
        lines += _dice_and_cards(chance, chance_now, int(state.roller), facts, now, rules)
        if int(state.shuffles) != shuffles:
            lines.append("the chance cards are shuffled again")
        lines += [*_escape(facts, now, rules), *_teams(facts, now), *_squares(facts, now, rules)]
        lines += _order(facts, now)
        facts, chance, shuffles = now, chance_now, int(state.shuffles)
    return lines


def _dice_and_cards(
    before: TurnChance, now: TurnChance, roller: int, old: Facts, new: Facts, rules: Rules
) -> Iterator[str]:
    if now.white != before.white:
        line = ", over the line" if new.square < old.square else ""
        yield f"player_{roller} rolls {now.white}{line}: {square_in_words(new.square, rules)}"
    if now.card != before.card:
        card = rules.deck[now.card]
        yield f"chance card: {name_of_kind(card.kind)}" + (f" {card.number}" if card.number else "")
    if now.yellow != before.yellow:
        yield f"the yellow die shows {now.yellow}"
    if old.rainbow_lap != new.rainbow_lap and new.rainbow_lap:
        yield "this is a rainbow lap"


def _escape(old: Facts, new: Facts, rules: Rules) -> Iterator[str]:
    if old.escaped == NO_SEAT != new.escaped:
        yield f"player_{new.escaped} escapes by {arrows(new.lead)}"
    elif old.escaped != NO_SEAT == new.escaped:
        if old.escaped not in new.out:
            yield f"player_{old.escaped} is caught and rides last"
    elif old.lead != new.lead:
        yield f"player_{new.escaped} is away by {arrows(new.lead)}"


def _teams(old: Facts, new: Facts) -> Iterator[str]:
    """Describe retired servants, jerseys, energy paid and gained, and seats that have left the race."""
    changes: dict[int, list[int]] = {}
    for seat, (before, now) in enumerate(zip(old.teams, new.teams, strict=True)):
        difference = now.energy - before.energy
        if now.retired > before.retired:
            yield f"a servant of player_{seat} retires: {difference:+d} energy"
        elif difference and seat not in new.out:
            changes.setdefault(difference, []).append(seat)
        gained = [a - b for a, b in zip(now.jerseys, before.jerseys, strict=True)]
        if min(gained) >= 0:
            for name, cards in zip(_JERSEYS, gained, strict=True):
                if cards:
                    yield f"player_{seat} takes {name}"
    for difference, seats in changes.items():
        verb = "pay" if difference < 0 else "gain"
        yield f"{_all(seats)} {verb}{'s' if len(seats) == 1 else ''} {abs(difference)} energy"
    for seat in new.out:
        if seat not in old.out:
            yield f"player_{seat} is exhausted and leaves the race"


def _squares(old: Facts, new: Facts, rules: Rules) -> Iterator[str]:
    for square, owner in enumerate(new.owners):
        if owner not in (NO_SEAT, old.owners[square]):
            yield f"player_{owner} holds {square_in_words(square, rules)}"


def _order(old: Facts, new: Facts) -> Iterator[str]:
    """Describe the peloton if its order has changed."""
    if set(old.peloton) == set(new.peloton) and old.peloton != new.peloton:
        yield f"peloton: {_all(new.peloton)}"


def _all(seats: Sequence[int]) -> str:
    return ", ".join(f"player_{seat}" for seat in seats)
