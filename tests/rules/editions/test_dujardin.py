"""Dujardin's modern standard rule, text 001: what it says otherwise than the others (see `test_all*.py`)."""

from __future__ import annotations

from tests.rules.editions.tables import at, kms
from tests.support import CARDS, DISTANCES, HAZARDS, SAFETIES, Position


def dujardin(*lines: str, **options: int) -> Position:
    return at("dujardin", *lines, **options)


# The table ------------------------------------------------------------------------------------------------


def test_the_youngest_is_drawn_by_chance() -> None:
    """The rule does not say who begins; over many games every seat does (001:5; 001:49; rules 1.1)."""
    assert {dujardin(players=4, seed=seed, dealt=True).seat for seed in range(40)} == {0, 1, 2, 3}


# The five possibilities (001:8-29) ------------------------------------------------------------------------


def test_the_first_turn() -> None:
    """Distances and hazards at once, safeties always, a remedy only against its hazard (001:8-29)."""
    position = dujardin().hand(0, *CARDS)
    assert position.plays() == {*DISTANCES, *HAZARDS, *SAFETIES}


def test_possibility_1_a_distance_without_any_light() -> None:
    """Whoever has one may lay it and advances (001:9-12; 001:77-84; scenario 8)."""
    position = dujardin("hand 0: 200").do("play 200")
    assert (position.km_of(0), position.battle_top(0)) == (200, None)


# The end --------------------------------------------------------------------------------------------------


def test_points_as_an_option() -> None:
    """Points, if counted, are counted as in the classic booklet (rules 1.5)."""
    position = (
        kms(dujardin(players=3, count_points=1), (300, 25, 0)).safety(0, "extra_tank", coup=True).run_out()
    )
    assert position.points() == [300 + 400 + 500, 25 + 500, 0]
