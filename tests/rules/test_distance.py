"""Distance cards: 004:9, 004:13, 004:24, 004:30; rules 1.2."""

from __future__ import annotations

from tests.each import each
from tests.support import BREAKDOWNS, DISTANCES, PLAYERS, Position

UP_TO_50 = {"25", "50"}


@each(("card", "length"), list(zip(DISTANCES, (25, 50, 75, 100, 200), strict=True)))
def test_distance_cards_count_by_their_value(card: str, length: int) -> None:
    """The distance area adds up what is printed on its cards (004:9)."""
    position = Position("battle 0: roll", f"hand 0: {card}").km(0, 300).do(f"play {card}")
    assert position.km_of(0) == 300 + length
    assert position.laid(0)[card] >= 1
    assert position.km_of(1) == 0


def test_200s_are_kept_apart_from_the_others() -> None:
    """The number of 200s laid can be told at any time (004:9)."""
    position = Position("battle 0: roll", "hand 0: 200").km(0, 100).do("play 200")
    assert position.laid(0)["200"] == 1


def test_a_distance_card_is_laid_if_a_roll_is_showing() -> None:
    """On a Roll every distance card may be laid (004:13)."""
    assert Position("battle 0: roll").hand(0, *DISTANCES).plays() == set(DISTANCES)


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


def test_under_a_speed_limit_only_25_and_50_are_laid() -> None:
    """A limited player is confined to the two shortest cards (004:24; rules 1.2)."""
    position = Position("battle 0: roll", "speed 0: speed_limit").hand(0, *DISTANCES)
    assert position.plays() == UP_TO_50


def test_an_end_of_limit_frees_all_distances_again() -> None:
    """Only a Speed Limit that shows limits the speed (004:24, 004:15)."""
    position = Position("battle 0: roll").speed(0, "speed_limit", "end_of_limit").hand(0, *DISTANCES)
    assert position.plays() == set(DISTANCES)


def test_the_limit_of_another_team_limits_nobody_else() -> None:
    """A Speed Limit counts for the tableau it lies on (004:24)."""
    position = Position("battle 0: roll", "speed 1: speed_limit").hand(0, *DISTANCES)
    assert position.plays() == set(DISTANCES)


@each(("laid", "may"), [(0, True), (1, True), (2, False)])
def test_no_more_than_two_200s(laid: int, may: bool) -> None:
    """The second 200 of a round is allowed, the third is not (004:24)."""
    position = Position("battle 0: roll", players=4).km(0, 200 * laid, two_hundreds=laid).hand(0, *DISTANCES)
    assert position.can("play 200") == may
    assert position.can("play 100")


def test_the_two_200s_are_a_team_s_not_a_player_s() -> None:
    """Those of a partner count; those of the opponents do not (004:24; rules 1.2)."""
    position = Position("battle 0: roll", "battle 1: roll", players=4).km(0, 400, two_hundreds=2)
    assert not position.turn(2).hand(2, "200").can("play 200")
    assert position.turn(1).hand(1, "200").can("play 200")


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
