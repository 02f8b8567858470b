"""A decision and all that follows from it, stage by stage: for those who tell what has happened.

`turn.step` goes from one decision to the next at once; dice, cards and payments of turns in which nobody had
anything to decide cannot be seen there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from millebornes_env.compile import plain
from millebornes_env.wielerspel.rules import Rules, rules_array
from millebornes_env.wielerspel.state import RIDING, State
from millebornes_env.wielerspel.turn import answer, ride_one_stage


class Fallen(NamedTuple):
    """What chance has shown so far in a turn; 0, or NO_CARD, where nothing yet.

    Attributes:
        turn: turns before this one.
        white: the white die.
        card: the type of the chance card.
        yellow: the yellow die.
    """

    turn: int
    white: int
    card: int
    yellow: int


@cache
def _rules_in_python() -> tuple[Any, Any]:
    return plain(answer), plain(ride_one_stage)


def course(state: State, rules: Rules, action: int) -> Iterator[None]:
    """Carry out a legal action as `turn.step` does, stopping after each stage.

    Args:
        state: the race, changed in place; between two stages it may be looked at.
        rules: of the table.
        action: of the seat that decides.
    """
    record: Any = rules_array(rules)[0]
    answers, rides = _rules_in_python()
    answers(state, record, action)
    yield
    while int(state.phase) == RIDING:
        rides(state, record)
        yield


def fallen(state: State) -> Fallen:
    """What chance has shown so far in the present turn."""
    return Fallen(int(state.turn), int(state.white), int(state.card), int(state.yellow))
