"""Distance cards: 004:9, 004:13, 004:24, 004:30; rules 1.2 (the rest: `editions/test_all*.py`)."""

from __future__ import annotations

from tests.each import each
from tests.support import BREAKDOWNS, DISTANCES, PLAYERS, Position

UP_TO_50 = {"25", "50"}


def test_200s_are_kept_apart_from_the_others() -> None:
    """The number of 200s laid can be told at any time (004:9)."""
    position = Position("battle 0: roll", "hand 0: 200").km(0, 100).do("play 200")
    assert position.laid(0)["200"] == 1


@each(
    "pile",
    [
        (),
        *(("roll", hazard) for hazard, _, _ in BREAKDOWNS),
        *(("roll", hazard, remedy) for hazard, remedy, _ in BREAKDOWNS),
        ("roll", "stop"),
    ],
)
def test_without_a_roll_showing_no_distance_card_is_laid(pile: tuple[str, ...]) -> None:
    """On nothing, on a hazard, on a remedy: not one distance card, though a Roll lie beneath (004:13)."""
    assert not Position().battle(0, *pile).hand(0, *DISTANCES).plays()


def test_distance_cards_go_on_the_own_tableau_only() -> None:
    """The opponent's Roll moves nobody else, and nobody lays distances for him (004:13)."""
    assert not Position("battle 1: roll").hand(0, *DISTANCES).plays()


def test_the_limit_of_another_team_limits_nobody_else() -> None:
    """A Speed Limit counts for the tableau it lies on (004:24)."""
    position = Position("battle 0: roll", "speed 1: speed_limit").hand(0, *DISTANCES)
    assert position.plays() == set(DISTANCES)


def test_the_two_200s_are_counted_anew_in_every_round() -> None:
    """The cap holds for one round: in the next, two more may be laid (004:24)."""
    position = Position().km(0, 400, two_hundreds=2).run_out().next_round()
    position.turn(0).battle(0, "roll").hand(0, "200")
    assert position.can("play 200")


@each("players", PLAYERS)
@each(
    ("missing", "may"),
    [
        (25, {"25"}),
        (50, UP_TO_50),
        (75, UP_TO_50 | {"75"}),
        (100, set(DISTANCES) - {"200"}),
        (175, set(DISTANCES) - {"200"}),
        (200, set(DISTANCES)),
    ],
)
def test_no_distance_card_passes_the_race_goal(players: int, missing: int, may: set[str]) -> None:
    """A card that would take the total beyond 700 or 1000 may not be laid; one that meets it may (004:30)."""
    position = Position("battle 0: roll", players=players)
    assert position.km(0, position.target - missing).hand(0, *DISTANCES).plays() == may


def test_after_an_extension_the_goal_is_the_longer_one() -> None:
    """Beyond 700, up to 1000 exactly (004:30; US C)."""
    position = Position("battle 0: roll").extended_by(1).km(0, 650).hand(0, *DISTANCES)
    assert position.plays() == set(DISTANCES)
    assert position.km(0, 950).plays() == UP_TO_50
