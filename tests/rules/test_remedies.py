"""Remedies and Roll: 004:14, 004:15, 004:18, 004:20; rules 1.2; rulings E25, E26, E27."""

from __future__ import annotations

from tests.each import each
from tests.support import BATTLE_HAZARDS, BREAKDOWNS, REMEDIES, Position


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_a_remedy_is_laid_on_the_corresponding_hazard(hazard: str, remedy: str, safety: str) -> None:
    """On each breakdown its own remedy, and no other card of the kind, Roll included (004:14)."""
    position = Position(f"battle 0: {hazard} on roll").hand(0, *REMEDIES)
    assert position.plays() == {remedy}
    assert position.do(f"play {remedy}").battle_top(0) == remedy


def test_a_roll_is_the_remedy_for_a_stop() -> None:
    """A Stop takes a Roll and nothing else, and with it the player moves again (004:14; rules 1.2)."""
    position = Position("battle 0: stop on roll").hand(0, *REMEDIES)
    assert position.plays() == {"roll"}
    assert position.do("play roll").is_moving(0)


@each("pile", [(), ("roll",), ("roll", "stop", "roll"), *(("roll", h, r) for h, r, _ in BREAKDOWNS)])
def test_no_remedy_without_its_hazard(pile: tuple[str, ...]) -> None:
    """If no hazard shows, none of the three remedies can be laid (E27; 004:14)."""
    position = Position("hand 0: repairs gasoline spare_tire").battle(0, *pile)
    assert not position.plays()


def test_remedies_are_for_the_own_hazards() -> None:
    """Nobody repairs an opponent's car, or lifts his limit (004:14, 004:15)."""
    position = Position("battle 0: roll", "battle 1: accident on roll", "speed 1: speed_limit")
    assert not position.hand(0, "repairs", "end_of_limit").plays()


def test_a_partner_may_lay_the_remedy() -> None:
    """The team's pile is every member's own (004:7, 004:14)."""
    position = Position("battle 0: accident on roll", "to act: seat 2", "hand 2: repairs", players=4)
    position.do("play repairs")
    assert position.battle_top(0) == "repairs"


@each("pile", [(), ("roll",), ("roll", "accident")])
def test_an_end_of_limit_is_laid_on_a_speed_limit(pile: tuple[str, ...]) -> None:
    """Whatever the battle pile shows, it covers the limit and lifts it (004:15)."""
    position = Position("speed 0: speed_limit", "hand 0: end_of_limit").battle(0, *pile)
    assert position.do("play end_of_limit").speed_top(0) == "end_of_limit"
    assert position.battle_top(0) == (pile[-1] if pile else None)


@each("speed", [(), ("speed_limit", "end_of_limit")])
def test_no_end_of_limit_without_a_limit(speed: tuple[str, ...]) -> None:
    """Neither on an empty speed pile nor on another End of Limit (E26; 004:15)."""
    assert not Position("battle 0: roll", "hand 0: end_of_limit").speed(0, *speed).plays()


def test_a_roll_is_laid_if_the_battle_area_is_empty() -> None:
    """It is how everybody starts (004:18; rules 1.2)."""
    position = Position("hand 0: roll").do("play roll")
    assert position.battle_top(0) == "roll"
    assert position.is_moving(0)


def test_a_roll_is_laid_if_a_stop_is_showing() -> None:
    """It covers the Stop (004:18)."""
    position = Position("battle 0: stop on roll", "hand 0: roll").do("play roll")
    assert position.laid(0) == {"roll": 2, "stop": 1}
    assert position.battle_top(0) == "roll"


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_a_roll_is_laid_if_a_remedy_is_showing(hazard: str, remedy: str, safety: str) -> None:
    """After each of the three remedies (004:18)."""
    position = Position("hand 0: roll").battle(0, "roll", hazard, remedy).do("play roll")
    assert position.battle_top(0) == "roll"
    assert position.is_moving(0)


@each("pile", [("roll",), *(("roll", hazard) for hazard in BATTLE_HAZARDS[:3])])
def test_a_roll_is_laid_nowhere_else(pile: tuple[str, ...]) -> None:
    """Not on a Roll, and not on a breakdown that has no remedy yet (E25; 004:18)."""
    assert not Position("hand 0: roll").battle(0, *pile).plays()


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_after_a_remedy_the_next_thing_is_a_roll(hazard: str, remedy: str, safety: str) -> None:
    """Accident, Out of Gas, Flat Tire: remedy, then a Roll in a later turn, then distances (004:20)."""
    position = Position("battle 0: roll", "to act: seat 1", f"hand 1: {hazard}", f"hand 0: {remedy} roll 25")
    position.do(f"play {hazard}")
    assert position.plays() == {remedy}
    position.do(f"play {remedy}").hand(1, "stop").do("discard stop")
    assert position.plays() == {"roll"}
    position.do("play roll").hand(1, "stop").do("discard stop")
    assert position.plays() == {"25"}


def test_a_roll_lifts_no_speed_limit() -> None:
    """The two piles are remedied apart: a limit is lifted by its own card only (004:9, 004:15)."""
    position = Position("battle 0: stop on roll", "speed 0: speed_limit", "hand 0: roll").do("play roll")
    assert position.speed_top(0) == "speed_limit"
    assert not position.turn(0).hand(0, "75").plays()
