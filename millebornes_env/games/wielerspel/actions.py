"""Action ids and their meaning: one fixed space for all boards and all numbers of players.

| ids | action |
|---|---|
| 0 | give up the escape |
| 1 | pay for the lead |
| 2 | escape, or ride further away |
| 3 | stay: do not escape |
| 4 | retire a servant who is off the board |
| 5 | pass in the auction |
| 6 | exchange green jerseys for a rainbow jersey |
| 7 | exchange polka-dot jerseys for a rainbow jersey |
| 8 | keep the jerseys |
| 9 .. 68 | bid `id - 8` |
| 69 .. 111 | retire the servant on square `id - 69` |
| 112 .. 154 | move the servant from square `id - 112` |
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.squares import MAX_SQUARES, NO_SQUARE

MOST_ENERGY: Final = 60
"""003:40: nobody can ever have more; so no bid is higher."""

GIVE_UP: Final = 0
PAY: Final = 1
ESCAPE: Final = 2
STAY: Final = 3
RETIRE: Final = 4
PASS: Final = 5
EXCHANGE_GREEN: Final = 6
EXCHANGE_POLKA_DOT: Final = 7
KEEP: Final = 8
_BEFORE_BIDS: Final = 8
FIRST_RETIRE_FROM: Final = _BEFORE_BIDS + MOST_ENERGY + 1
FIRST_MOVE: Final = FIRST_RETIRE_FROM + MAX_SQUARES
NUM_ACTIONS: Final = FIRST_MOVE + MAX_SQUARES

_NAMES: Final = (
    "give up",
    "pay",
    "escape",
    "stay",
    "retire",
    "pass",
    "exchange green",
    "exchange polka",
    "keep",
)


@rule
def bid_action(amount: int) -> int:
    """Return the id of bidding an amount of energy, 1 or more."""
    return _BEFORE_BIDS + amount


@rule
def bid_of(action: int) -> int:
    """Return the energy that the action bids, or 0 if it is not a bid."""
    return action - _BEFORE_BIDS if _BEFORE_BIDS < action < FIRST_RETIRE_FROM else 0


@rule
def retire_action(square: int) -> int:
    """Return the id of retiring the servant on the square, or with NO_SQUARE one off the board."""
    return RETIRE if square == NO_SQUARE else FIRST_RETIRE_FROM + square


@rule
def is_retirement(action: int) -> bool:
    """Return True if the action retires a servant."""
    return action == RETIRE or FIRST_RETIRE_FROM <= action < FIRST_MOVE


@rule
def move_action(square: int) -> int:
    """Return the id of moving the servant who stands on the square."""
    return FIRST_MOVE + square


@rule
def is_move(action: int) -> bool:
    """Return True if the action moves a servant."""
    return FIRST_MOVE <= action < NUM_ACTIONS


@rule
def square_of(action: int) -> int:
    """Return the square of the servant who is retired or moved, or NO_SQUARE."""
    if FIRST_RETIRE_FROM <= action < FIRST_MOVE:
        return action - FIRST_RETIRE_FROM
    if is_move(action):
        return action - FIRST_MOVE
    return NO_SQUARE


def action_name(action: int) -> str:
    """Name the action in words: "pay", "bid 7", "retire 12".

    The name of an unknown id says so, for error messages.
    """
    if not 0 <= action < NUM_ACTIONS:
        return f"action {action}, which is not in 0..{NUM_ACTIONS - 1}"
    if action < len(_NAMES):
        return _NAMES[action]
    if bid_of(action) > 0:
        return f"bid {bid_of(action)}"
    return f"{'move' if is_move(action) else 'retire'} {square_of(action)}"
