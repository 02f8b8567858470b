"""Safeties: 004:17, 004:22; rules 1.3; rulings E17 to E24, E27 (the rest: `editions/test_all*.py`)."""

from __future__ import annotations

from tests.each import each
from tests.support import BREAKDOWNS, SAFETIES, Position

PILES = [(), ("roll",), ("roll", "accident"), ("roll", "stop"), ("roll", "flat_tire", "spare_tire")]


@each("pile", PILES)
@each("safety", SAFETIES)
def test_a_safety_is_laid_at_any_time(safety: str, pile: tuple[str, ...]) -> None:
    """Before the start, rolling, stopped, limited, with or without cards to draw (004:17; rules 1.3)."""
    position = Position("speed 0: speed_limit", f"hand 0: {safety} roll").battle(0, *pile)
    assert position.can(f"play {safety}")
    position.draw_pile(0).do(f"play {safety}")
    assert position.laid(0)[safety] == 1
    assert position.laid(1)[safety] == 0
    assert position.hand_of(0) == ["roll"]


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_a_safety_corrects_the_corresponding_hazard(hazard: str, remedy: str, safety: str) -> None:
    """The hazard is cured: its remedy has nothing left to do, a Roll is all it takes (004:22, E27)."""
    position = Position(f"battle 0: {hazard} on roll", f"hand 0: {safety} {remedy} roll").do(f"play {safety}")
    assert position.seat == 0
    assert position.plays() == {"roll"}
    assert position.do("play roll").is_moving(0)


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_after_a_safety_played_normally_a_roll_must_be_laid(hazard: str, remedy: str, safety: str) -> None:
    """The cured hazard counts like a remedy: no distance, and no attack, before a Roll (004:22, E22)."""
    position = Position(f"battle 0: {hazard} on roll", f"hand 0: {safety} 25 roll")
    position.do(f"play {safety}")
    assert position.plays() == {"roll"}
    assert position.turn(1).hand(1, "stop").plays() == set()
    assert position.turn(0).do("play roll").hand(1, "gasoline").do("discard gasoline").plays() == {"25"}


@each("safety", SAFETIES)
def test_a_safety_that_cures_nothing_costs_no_roll(safety: str) -> None:
    """A team that rolls when it lays a safety rolls on and may drive in the same turn (E23)."""
    position = Position("battle 0: roll", f"hand 0: {safety} 100").do(f"play {safety}")
    assert position.can("play 100")


@each("safety", SAFETIES)
def test_the_same_player_draws_another_card_and_plays_again(safety: str) -> None:
    """Whichever safety it is: one card from the pile at once, and the turn is still his (004:22)."""
    position = Position("battle 0: roll", "stream 0: stop ...", f"hand 0: {safety} 25")
    pile = position.pile_size
    position.do(f"play {safety}")
    assert (position.seat, position.phase) == (0, "play")
    assert position.hand_of(0) == ["25", "stop"]
    assert position.pile_size == pile - 1
    assert position.do("play 25").seat == 1


def test_a_safety_as_the_very_last_card_ends_the_round() -> None:
    """When no other hand has a card either, there is nobody to go on (E20, 004:37)."""
    position = Position("hand 0: extra_tank").draw_pile(0).do("play extra_tank")
    assert position.phase == "round over"


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_with_right_of_way_out_a_safety_sets_the_car_in_motion(hazard: str, remedy: str, safety: str) -> None:
    """No Roll is needed then: distances in the extra play (E24, E4)."""
    position = Position(f"battle 0: {hazard} on roll", "safeties 0: right_of_way", f"hand 0: {safety} 100")
    assert not position.can("play 100")
    assert position.do(f"play {safety}").can("play 100")
