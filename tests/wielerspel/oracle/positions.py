"""Positions of the race, set up for the oracle's tests."""

from __future__ import annotations

from typing import Any

from tests.wielerspel.oracle.arc_en_ciel import ARC_EN_CIEL, BOARD, Card
from tests.wielerspel.oracle.chances import Scripted, whole_deck
from tests.wielerspel.oracle.race import Race

# Squares of the board.
START, FLAT, CHANCE, HEADWIND, EVENT, ESCAPE, SUPPLY, CLIMB, POLKA, GREEN = 0, 1, 3, 4, 6, 8, 12, 14, 15, 20
ROAD_WORKS, POLKA_3 = 23, 29

FILLER: Card = ("tail wind", 2)


def landing(
    to: int,
    *,
    die: int = 1,
    players: int = 3,
    yellow: int | None = None,
    card: Card = FILLER,
    owner: dict[int, int] | None = None,
    options: dict[str, Any] | None = None,
    **position: Any,
) -> Race:
    """Rides one turn, in which the rainbow rider lands on a square; the race is over after it (W9).

    Args:
        to: The square.
        die: The white die.
        players: The number of seats; in the peloton they are in this order.
        yellow: The yellow die; a turn that asks for it without it being given fails.
        card: The chance card on top.
        owner: Whose servants stand on which squares; they are taken from off the board.
        options: Numbers of the sheet that differ.
        **position: What differs from a fresh start, in the words of `Race.facts()`.
    """
    squares = [-1] * len(BOARD)
    off_board = [ARC_EN_CIEL["servants"]] * players
    for square, seat in (owner or {}).items():
        squares[square] = seat
        off_board[seat] -= 1
    seats = [seat for seat in range(players) if seat != position.get("escaped")]
    chance = Scripted(
        seats,
        whites=[die],
        yellows={} if yellow is None else {0: yellow},
        decks=[[card], whole_deck(ARC_EN_CIEL)],
    )
    sheet = ARC_EN_CIEL | {"max_turns": 1} | (options or {})
    facts = {"square": (to - die) % len(BOARD), "owner": squares, "off_board": off_board} | position
    return Race(players, sheet, chance, facts)


def asked(game: Race) -> tuple[int, str]:
    """Returns who has to decide what."""
    return game.seat, game.phase


def do(game: Race, *actions: str) -> Race:
    """Carries out these actions, one after the other."""
    for action in actions:
        game.do(action)
    return game


def pass_all(game: Race) -> Race:
    """Lets everybody pass in the auction."""
    while game.phase == "BID":
        game.do("pass")
    return game


def energy(game: Race) -> list[int]:
    """Returns the energy of each seat."""
    return [team.energy for team in game.teams]


def jerseys(**numbers: list[int]) -> dict[str, Any]:
    """Returns the jerseys of each seat as a part of a position, and the stacks that are left."""
    stacks = {kind: 12 - sum(numbers.get(kind, [])) for kind in ("rainbow", "green", "doubles", "triples")}
    return {"jerseys": numbers, "stacks": stacks}


def held(game: Race, kind: str) -> list[int]:
    """Returns the jersey cards of one kind that each seat holds."""
    return [getattr(team, kind) for team in game.teams]
