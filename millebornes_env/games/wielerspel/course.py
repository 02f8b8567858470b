"""An action and its consequences stage by stage, for descriptions of events.

`turn.step` goes from one decision to the next, and hides dice, cards and payments of turns without a
decision. The stages here are those of `turn.ride`, in plain Python; `tests/notation/test_game_records.py`
compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from millebornes_env.engine.numba.compiling import plain
from millebornes_env.games.wielerspel import start_line, turn
from millebornes_env.games.wielerspel.peloton import race_leader
from millebornes_env.games.wielerspel.rules import Rules, rules_array
from millebornes_env.games.wielerspel.state import (
    AUCTION,
    BIDS,
    ESCAPE_CHOICE,
    JERSEYS_AFTER_THE_SQUARE,
    JERSEYS_AT_THE_LINE,
    JERSEYS_BEFORE_THE_DIE,
    PAYMENTS,
    POSITIONS,
    RETIREMENT,
    RIDING,
    SERVANT,
    SQUARE,
    SUPPLY_AT_THE_LINE,
    TURN_BEGINS,
    TURN_ENDS,
    WHITE_DIE,
    State,
)

Stage = Callable[[Any, Any], Any]


class TurnChance(NamedTuple):
    """The dice and the card shown so far in a turn; 0 or NO_CARD if not yet.

    Attributes:
        turn: index of the turn, from 0.
        white: the white die.
        card: the type of the chance card.
        yellow: the yellow die.
    """

    turn: int
    white: int
    card: int
    yellow: int


def course(state: State, rules: Rules, action: int) -> Iterator[None]:
    """Apply a legal action as `turn.step` does, yielding after each stage.

    Args:
        state: the race, changed in place; it may be read between two stages.
        rules: the table's rules.
        action: the action of the seat to act.
    """
    record: Any = rules_array(rules)[0]
    answer, stages = _in_python()
    answer(state, record, action)
    yield
    while int(state.phase) == RIDING:
        stages[int(state.stage)](state, record)
        yield


def chance_of_turn(state: State) -> TurnChance:
    """Return the dice and the card shown so far in the current turn."""
    return TurnChance(int(state.turn), int(state.white), int(state.card), int(state.yellow))


@cache
def _in_python() -> tuple[Callable[[Any, Any, int], Any], Mapping[int, Stage]]:
    """Return the function that applies a decision and those for each stage of a turn, as plain Python."""
    ask_about_jerseys, leader = plain(turn.ask_about_jerseys), plain(race_leader)
    begin_lap = plain(start_line.begin_lap)

    def supply(state: Any, rules: Any) -> None:
        begin_lap(state, rules)
        state.stage = SQUARE

    def jerseys_of_leader(state: Any, rules: Any) -> None:
        ask_about_jerseys(state, rules, leader(state))

    def jerseys_of_roller(state: Any, rules: Any) -> None:
        ask_about_jerseys(state, rules, int(state.roller))

    return plain(turn.answer), {
        TURN_BEGINS: plain(turn.ask_escaped_rider),
        JERSEYS_BEFORE_THE_DIE: jerseys_of_leader,
        WHITE_DIE: plain(turn.move_rainbow_rider),
        JERSEYS_AT_THE_LINE: jerseys_of_roller,
        SUPPLY_AT_THE_LINE: supply,
        SQUARE: plain(turn.land),
        JERSEYS_AFTER_THE_SQUARE: jerseys_of_roller,
        PAYMENTS: plain(turn.collect_payments),
        RETIREMENT: plain(turn.force_retirement),
        POSITIONS: plain(turn.settle_positions),
        ESCAPE_CHOICE: plain(turn.ask_about_escape),
        AUCTION: plain(turn.begin_auction),
        BIDS: plain(turn.ask_for_bid),
        SERVANT: plain(turn.put_servant),
        TURN_ENDS: plain(turn.end_turn),
    }
