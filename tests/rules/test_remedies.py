"""Remedies and Roll: 004:14, 004:15, 004:18, 004:20; rules 1.2; rulings E25, E26, E27.

The rest is in `editions/test_all*.py`.
"""

from __future__ import annotations

from tests.each import each
from tests.support import BREAKDOWNS, Position


@each("pile", [(), ("roll",), ("roll", "stop", "roll"), *(("roll", h, r) for h, r, _ in BREAKDOWNS)])
def test_no_remedy_without_its_hazard(pile: tuple[str, ...]) -> None:
    """If no hazard shows, none of the three remedies can be laid (E27; 004:14)."""
    position = Position("hand 0: repairs gasoline spare_tire").battle(0, *pile)
    assert not position.plays()


def test_remedies_are_for_the_own_hazards() -> None:
    """Nobody repairs an opponent's car, or lifts his limit (004:14, 004:15)."""
    position = Position("battle 0: roll", "battle 1: accident on roll", "speed 1: speed_limit")
    assert not position.hand(0, "repairs", "end_of_limit").plays()


@each("speed", [(), ("speed_limit", "end_of_limit")])
def test_no_end_of_limit_without_a_limit(speed: tuple[str, ...]) -> None:
    """Neither on an empty speed pile nor on another End of Limit (E26; 004:15)."""
    assert not Position("battle 0: roll", "hand 0: end_of_limit").speed(0, *speed).plays()


def test_a_roll_lifts_no_speed_limit() -> None:
    """The two piles are remedied apart: a limit is lifted by its own card only (004:9, 004:15)."""
    position = Position("battle 0: stop on roll", "speed 0: speed_limit", "hand 0: roll").do("play roll")
    assert position.speed_top(0) == "speed_limit"
    assert not position.turn(0).hand(0, "75").plays()
