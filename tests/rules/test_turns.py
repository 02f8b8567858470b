"""The turn and the tableau: 004:5, 004:7, 004:9, 004:11; rules 1.1."""

from __future__ import annotations

import pytest

from tests.support import BREAKDOWNS, CARDS, HAZARDS, PLAYERS, SAFETIES, Position


@pytest.mark.parametrize("players", PLAYERS)
def test_a_turn_begins_with_a_draw_of_one_card(players: int) -> None:
    """The next seat takes one card before it decides (004:5)."""
    position = Position(players).draws(1, "REPAIRS", "GASOLINE").hand(0, "STOP")
    pile = position.pile_size
    position.do("discard STOP")
    assert position.hand_of(1) == ["REPAIRS"]
    assert position.pile_size == pile - 1


@pytest.mark.parametrize("card", ["ROLL", "SPEED_LIMIT", "END_OF_LIMIT"])
def test_a_turn_is_a_play_of_one_card(card: str) -> None:
    """One remedy or hazard laid, and the turn is over (004:5)."""
    position = Position().speed(0, "SPEED_LIMIT").hand(0, card, "ROLL", "SPEED_LIMIT")
    assert position.do(f"play {card}").seat == 1


def test_one_distance_card_is_a_turn_too() -> None:
    """The same holds for a distance card: a second one has to wait (004:5)."""
    position = Position().battle(0, "ROLL").hand(0, "DISTANCE_50", "DISTANCE_50").do("play DISTANCE_50")
    assert (position.seat, position.hand_of(0)) == (1, ["DISTANCE_50"])


@pytest.mark.parametrize("players", PLAYERS)
def test_everybody_always_holds_six_cards_at_the_end_of_a_turn(players: int) -> None:
    """While cards are left to draw, the hand that plays has seven cards and all others six (004:5)."""
    turns = 0
    for position in Position(players, dealt=True, seed=players).play_at_random(seed=2):
        if position.pile_size == 0 or position.phase == "round over":
            break
        expected = [6] * players
        expected[position.seat] += position.phase == "play"
        assert position.hand_sizes() == expected
        turns += 1
    assert turns > 20


@pytest.mark.parametrize("players", PLAYERS)
def test_the_turn_goes_to_the_left(players: int) -> None:
    """Seat after seat around the table, and the last is followed by the first (US; rules 1.1)."""
    position = Position(players)
    for seat in [*range(players), 0]:
        assert position.seat == seat
        position.hand(seat, "ROLL").do("discard ROLL")


@pytest.mark.parametrize(("players", "partners"), [(4, (0, 2)), (6, (2, 5))])
def test_each_team_builds_one_tableau(players: int, partners: tuple[int, int]) -> None:
    """Partners lay on the same piles: one starts the car, the other drives on (004:7)."""
    first, second = partners
    team = first % (players // 2)
    position = Position(players).turn(first).hand(first, "ROLL").do("play ROLL")
    position.turn(second).hand(second, "DISTANCE_100").do("play DISTANCE_100")
    assert position.laid(team) == {"ROLL": 1, "DISTANCE_100": 1}
    assert [position.km_of(other) for other in range(position.rules.teams)].count(
        0
    ) == position.rules.teams - 1


def test_each_player_alone_builds_his_own_tableau() -> None:
    """Without partners nobody else profits from a card: the neighbour still needs his own Roll (004:7)."""
    position = Position(3).hand(0, "ROLL").do("play ROLL")
    assert [position.is_moving(team) for team in range(3)] == [True, False, False]


def test_only_the_top_card_of_a_pile_shows() -> None:
    """A card laid on the battle or speed pile covers those before; they stay there without effect (004:7)."""
    position = Position().hand(0, "STOP", "SPEED_LIMIT").hand(1, "ROLL", "END_OF_LIMIT").battle(1, "ROLL")
    position.do("play STOP", "play ROLL")
    assert position.battle_top(1) == "ROLL"
    position.hand(0, "SPEED_LIMIT").hand(1, "END_OF_LIMIT", "DISTANCE_100")
    position.do("play SPEED_LIMIT", "play END_OF_LIMIT")
    assert position.speed_top(1) == "END_OF_LIMIT"
    assert position.laid(1) == {"ROLL": 2, "STOP": 1, "SPEED_LIMIT": 1, "END_OF_LIMIT": 1}
    assert position.hand(0, "STOP").do("discard STOP").can("play DISTANCE_100")


@pytest.mark.parametrize(("hazard", "remedy", "_safety"), BREAKDOWNS)
def test_hazards_and_remedies_are_laid_in_the_battle_area(hazard: str, remedy: str, _safety: str) -> None:
    """All but the two cards about speed lie on the battle pile; the speed pile is not touched (004:9)."""
    position = Position().battle(1, "ROLL").speed(1, "SPEED_LIMIT").hand(0, hazard).hand(1, remedy)
    assert position.do(f"play {hazard}").battle_top(1) == hazard
    assert position.do(f"play {remedy}").battle_top(1) == remedy
    assert position.speed_top(1) == "SPEED_LIMIT"


def test_stop_and_roll_are_laid_in_the_battle_area() -> None:
    """Stop and Roll are battle cards as well (004:9)."""
    position = Position().battle(1, "ROLL").hand(0, "STOP").hand(1, "ROLL")
    assert position.do("play STOP").battle_top(1) == "STOP"
    assert position.do("play ROLL").battle_top(1) == "ROLL"
    assert position.speed_top(1) is None


def test_limit_and_end_of_limit_are_laid_in_an_area_of_their_own() -> None:
    """They lie beside the battle pile and leave it as it is (004:9)."""
    position = Position().battle(1, "ROLL").hand(0, "SPEED_LIMIT").hand(1, "END_OF_LIMIT")
    position.do("play SPEED_LIMIT")
    assert (position.battle_top(1), position.speed_top(1)) == ("ROLL", "SPEED_LIMIT")
    position.do("play END_OF_LIMIT")
    assert (position.battle_top(1), position.speed_top(1)) == ("ROLL", "END_OF_LIMIT")


@pytest.mark.parametrize("safety", SAFETIES)
def test_safeties_are_laid_along_the_top(safety: str) -> None:
    """A safety lies apart: neither the battle nor the speed pile gets a new top (004:9)."""
    position = Position().battle(0, "ROLL").speed(0, "SPEED_LIMIT", "END_OF_LIMIT").hand(0, safety)
    position.do(f"play {safety}")
    assert (position.battle_top(0), position.speed_top(0)) == ("ROLL", "END_OF_LIMIT")
    assert position.laid(0)[safety] == 1


def test_how_a_safety_lies_tells_a_coup_fourre() -> None:
    """A safety laid crosswise was a coup fourré; one played in turn lies upright (004:9)."""
    position = Position().battle(1, "ROLL").hand(0, "FLAT_TIRE").hand(1, "PUNCTURE_PROOF", "EXTRA_TANK")
    position.do("play FLAT_TIRE", "claim", "play EXTRA_TANK")
    assert position.coups(1) == ["PUNCTURE_PROOF"]
    assert position.coups(0) == []


def test_what_a_player_who_has_not_started_may_lay() -> None:
    """Of all cards: a Roll, a safety, a Speed Limit against the other (004:11)."""
    assert Position().hand(0, *CARDS).plays() == {"ROLL", "SPEED_LIMIT", *SAFETIES}


def test_what_a_rolling_player_may_lay_against_a_rolling_one() -> None:
    """Of all cards: every distance, every hazard, every safety, and no remedy (004:11)."""
    position = Position().battle(0, "ROLL").battle(1, "ROLL").hand(0, *CARDS)
    distances = {card for card in CARDS if card.startswith("DISTANCE")}
    assert position.plays() == {*distances, *HAZARDS, *SAFETIES}


def test_what_a_broken_down_and_limited_player_may_lay() -> None:
    """Of all cards: the remedy, the End of Limit, a safety; against a stopped one a Speed Limit (004:11)."""
    position = Position().battle(0, "ROLL", "ACCIDENT").speed(0, "SPEED_LIMIT").battle(1, "ROLL", "STOP")
    assert position.hand(0, *CARDS).plays() == {"REPAIRS", "END_OF_LIMIT", "SPEED_LIMIT", *SAFETIES}


def test_a_turn_offers_nothing_but_cards() -> None:
    """Without a hazard to answer or a trip completed there is nothing to claim, pass or extend (004:11)."""
    position = Position().battle(0, "ROLL").hand(0, *SAFETIES)
    assert position.legal() == {f"{verb} {card}" for verb in ("play", "discard") for card in SAFETIES}
