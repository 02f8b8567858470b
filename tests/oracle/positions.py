"""Positions of the oracle, set up card by card, for its own tests."""

from __future__ import annotations

from collections.abc import Callable

from tests.each import Test, each
from tests.oracle.oracle import (
    DISTANCE_KM,
    TABLES,
    OracleRound,
)

# The columns of the specification's tables.
PK, FRC, NL, DE = "parker", "dujardin_classic", "dutch", "winning_moves"
FR01, FR14 = "dujardin", "dujardin_2014"
POINTS = (PK, FRC, NL, DE)  # the editions that count points
ALL_TABLES = [(edition, players, teams) for edition in TABLES for players, teams in TABLES[edition]]

FILLER = "END_OF_LIMIT"  # a card that can do nothing while no Speed Limit shows
DISTANCES = list(DISTANCE_KM)


def editions(*names: str) -> Callable[[Test], Test]:
    """Runs a test in these editions; without a name, in all."""
    return each("edition", names or tuple(TABLES))


def table(
    *hands: list[str], edition: str = PK, teams: int | None = None, pile: int = 20, **options: int
) -> OracleRound:
    """Sets up a table in the middle of nowhere: seat 0 has drawn already and is about to play.

    Args:
        *hands: The cards of each seat, as they are at this moment.
        edition: The edition.
        teams: The number of teams; as few as the edition allows if not given.
        pile: The number of cards left to draw, all of them fillers.
        **options: Options that differ from the edition's.
    """
    players = len(hands)
    number = teams or min(t for p, t in TABLES[edition] if p == players)
    game = OracleRound(edition, players, number, [[FILLER] * 7 for _ in hands], players - 1, options)
    game.hands = [list(hand) for hand in hands]
    game.streams = [[FILLER] * pile] + [[] for _ in hands[1:]]
    return game


def display(
    game: OracleRound,
    team: int,
    battle: tuple[str, ...] = (),
    speed: tuple[str, ...] = (),
    distance: tuple[str, ...] = (),
    safeties: tuple[str, ...] = (),
) -> None:
    """Lays out the display of a team."""
    game.teams[team].battle_pile = list(battle)
    game.teams[team].speed_pile = list(speed)
    game.teams[team].distance_pile = list(distance)
    game.teams[team].safeties = list(safeties)


def laid(km: int, *, with_200: bool = False) -> tuple[str, ...]:
    """Makes up distance cards that add up to this many km."""
    start = ("DISTANCE_200",) if with_200 else ()
    return start + ("DISTANCE_25",) * ((km - 200 * len(start)) // 25)


def play(game: OracleRound, *cards: str) -> None:
    """Plays cards in a row; a hazard is named with its target, as in "STOP 1"."""
    for card in cards:
        game.step(("play", *card.split()))


def can_play(game: OracleRound, *action: str) -> bool:
    """Tells whether the seat that decides may play this card (with its target, for a hazard)."""
    return ("play", *action) in game.legal_actions()


def playable(game: OracleRound) -> set[str]:
    """Lists the cards that the seat that decides may lay."""
    return {action[1] for action in game.legal_actions() if action[0] == "play"}


def ended(game: OracleRound, winner: int | None = None) -> OracleRound:
    """Declares a hand to be over, to count its points."""
    game.over, game.decision, game.seat, game.winner = True, None, None, winner
    return game


def total(game: OracleRound, team: int) -> int:
    """Adds up the points of a team."""
    return sum(game.score(team).values())
