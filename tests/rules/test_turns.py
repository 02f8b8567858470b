"""The turn and the tableau: 004:5, 004:7, 004:9, 004:11; rules 1.1 (the rest: `editions/test_all*.py`)."""

from __future__ import annotations

from tests.each import each
from tests.support import BREAKDOWNS, CARDS, DISTANCES, HAZARDS, PLAYERS, SAFETIES, Position


@each("players", PLAYERS)
def test_a_turn_begins_with_a_draw_of_one_card(players: int) -> None:
    """The next seat takes one card before it decides (004:5)."""
    position = Position("stream 1: repairs gasoline ...", "hand 0: stop", players=players)
    pile = position.pile_size
    position.do("discard stop")
    assert position.hand_of(1) == ["repairs"]
    assert position.pile_size == pile - 1


@each("card", ["roll", "speed_limit", "end_of_limit"])
def test_a_turn_is_a_play_of_one_card(card: str) -> None:
    """One remedy or hazard laid, and the turn is over (004:5)."""
    position = Position("speed 0: speed_limit", f"hand 0: {card} roll speed_limit")
    assert position.do(f"play {card}").seat == 1


def test_one_distance_card_is_a_turn_too() -> None:
    """The same holds for a distance card: a second one has to wait (004:5)."""
    position = Position("battle 0: roll", "hand 0: 50 50").do("play 50")
    assert (position.seat, position.hand_of(0)) == (1, ["50"])


@each("players", PLAYERS)
def test_everybody_always_holds_six_cards_at_the_end_of_a_turn(players: int) -> None:
    """While cards are left to draw, the hand that plays has seven cards and all others six (004:5)."""
    turns = 0
    for position in Position(players=players, dealt=True, seed=players).play_at_random(seed=2):
        if position.pile_size == 0 or position.phase == "round over":
            break
        expected = [6] * players
        expected[position.seat] += position.phase == "play"
        assert position.hand_sizes() == expected
        turns += 1
    assert turns > 20


def test_each_player_alone_builds_his_own_tableau() -> None:
    """Without partners nobody else profits from a card: the neighbour still needs his own Roll (004:7)."""
    position = Position("hand 0: roll", players=3).do("play roll")
    assert [position.is_moving(team) for team in range(3)] == [True, False, False]


def test_only_the_top_card_of_a_pile_shows() -> None:
    """A card laid on the battle or speed pile covers those before; they stay there without effect (004:7)."""
    position = Position("hand 0: stop speed_limit", "hand 1: roll end_of_limit", "battle 1: roll")
    position.do("play stop", "play roll")
    assert position.battle_top(1) == "roll"
    position.hand(0, "speed_limit").hand(1, "end_of_limit", "100")
    position.do("play speed_limit", "play end_of_limit")
    assert position.speed_top(1) == "end_of_limit"
    assert position.laid(1) == {"roll": 2, "stop": 1, "speed_limit": 1, "end_of_limit": 1}
    assert position.hand(0, "stop").do("discard stop").can("play 100")


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_hazards_and_remedies_are_laid_in_the_battle_area(hazard: str, remedy: str, safety: str) -> None:
    """All but the two cards about speed lie on the battle pile; the speed pile is not touched (004:9)."""
    position = Position("battle 1: roll", "speed 1: speed_limit", f"hand 0: {hazard}", f"hand 1: {remedy}")
    assert position.do(f"play {hazard}").battle_top(1) == hazard
    assert position.do(f"play {remedy}").battle_top(1) == remedy
    assert position.speed_top(1) == "speed_limit"


def test_stop_and_roll_are_laid_in_the_battle_area() -> None:
    """Stop and Roll are battle cards as well (004:9)."""
    position = Position("battle 1: roll", "hand 0: stop", "hand 1: roll")
    assert position.do("play stop").battle_top(1) == "stop"
    assert position.do("play roll").battle_top(1) == "roll"
    assert position.speed_top(1) is None


@each("safety", SAFETIES)
def test_safeties_are_laid_along_the_top(safety: str) -> None:
    """A safety lies apart: neither the battle nor the speed pile gets a new top (004:9)."""
    position = Position("battle 0: roll", f"hand 0: {safety}").speed(0, "speed_limit", "end_of_limit")
    position.do(f"play {safety}")
    assert (position.battle_top(0), position.speed_top(0)) == ("roll", "end_of_limit")
    assert position.laid(0)[safety] == 1


def test_what_a_player_who_has_not_started_may_lay() -> None:
    """Of all cards: a Roll, a safety, a Speed Limit against the other (004:11)."""
    assert Position().hand(0, *CARDS).plays() == {"roll", "speed_limit", *SAFETIES}


def test_what_a_rolling_player_may_lay_against_a_rolling_one() -> None:
    """Of all cards: every distance, every hazard, every safety, and no remedy (004:11)."""
    position = Position("battle 0: roll", "battle 1: roll").hand(0, *CARDS)
    assert position.plays() == {*DISTANCES, *HAZARDS, *SAFETIES}


def test_what_a_broken_down_and_limited_player_may_lay() -> None:
    """Of all cards: the remedy, the End of Limit, a safety; against a stopped one a Speed Limit (004:11)."""
    position = Position("battle 0: accident on roll", "speed 0: speed_limit", "battle 1: stop on roll")
    assert position.hand(0, *CARDS).plays() == {"repairs", "end_of_limit", "speed_limit", *SAFETIES}


def test_a_turn_offers_nothing_but_cards() -> None:
    """Without a hazard to answer or a trip completed there is nothing to claim, pass or extend (004:11)."""
    position = Position("battle 0: roll").hand(0, *SAFETIES)
    assert position.legal() == {f"{verb} {card}" for verb in ("play", "discard") for card in SAFETIES}
