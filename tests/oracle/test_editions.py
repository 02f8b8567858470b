"""Checks of the oracle itself: what single editions do otherwise than the rest.

A source such as "002:147" is a line of a rule text, "E30" a ruling of the specification's section 2.
"""

from __future__ import annotations

from tests.each import each
from tests.oracle.positions import (
    DE,
    FILLER,
    FR01,
    FR14,
    FRC,
    NL,
    PK,
    can_play,
    display,
    editions,
    play,
    playable,
    table,
)

OPENINGS = [
    ("ACCIDENT", "REPAIRS", "DRIVING_ACE"),
    ("OUT_OF_GAS", "GASOLINE", "EXTRA_TANK"),
    ("FLAT_TIRE", "SPARE_TIRE", "PUNCTURE_PROOF"),
]

# winning_moves: a hazard may open an opponent's pile -------------------------------------------------------


@each(("hazard", "remedy"), [names[:2] for names in OPENINGS])
def test_opening_remedy_starts(hazard: str, remedy: str) -> None:
    """002:184: after the hazard that opened the pile the remedy alone starts, "ohne weitere Freie Fahrt"."""
    game = table([hazard], [remedy, "DISTANCE_100"], edition=DE)
    play(game, f"{hazard} 1")
    assert playable(game) == {remedy}
    play(game, remedy)
    game.step(("discard", FILLER))
    assert game.teams[1].battle_pile == [hazard, remedy]
    assert game.is_moving(1)
    assert can_play(game, "DISTANCE_100")


def test_e30_opening_stop() -> None:
    """002:100; E30: a Roll both cures the Stop that opened the pile and starts."""
    game = table(["STOP"], ["ROLL"], edition=DE)
    play(game, "STOP 1", "ROLL")
    assert game.is_moving(1)


def test_e30_a_limit_does_not_open() -> None:
    """E30, E29: a Speed Limit goes on the speed pile; its end starts nobody; a hazard may still open."""
    game = table(["SPEED_LIMIT", "ACCIDENT"], ["END_OF_LIMIT", "ROLL", "DISTANCE_25"], edition=DE)
    play(game, "SPEED_LIMIT 1")
    assert playable(game) == {"END_OF_LIMIT", "ROLL"}
    play(game, "END_OF_LIMIT")
    assert not game.is_moving(1)
    assert can_play(game, "ACCIDENT", "1")


@each(("hazard", "remedy", "safety"), OPENINGS)
def test_opening_hazard_cured_by_its_safety(hazard: str, remedy: str, safety: str) -> None:
    """E22, E31: the hazard leaves; the pile is empty again and not started."""
    game = table([hazard], [safety, "DISTANCE_25", "ROLL", remedy], edition=DE)
    play(game, f"{hazard} 1")
    game.step(("pass",))
    play(game, safety)
    assert game.discard_pile == [hazard]
    assert not game.teams[1].battle_pile
    assert not game.is_moving(1)
    assert playable(game) == {"ROLL"}


def test_e10_opening_hazard_parried() -> None:
    """E10: the position before was an empty pile: not started; only Vorfahrt starts."""
    game = table(["ACCIDENT"], ["DRIVING_ACE", "DISTANCE_25"], edition=DE)
    play(game, "ACCIDENT 1")
    game.step(("claim",))
    assert not game.teams[1].battle_pile
    assert not game.is_moving(1)
    game = table(["STOP"], ["RIGHT_OF_WAY", "DISTANCE_25"], edition=DE)
    play(game, "STOP 1")
    game.step(("claim",))
    assert can_play(game, "DISTANCE_25")


def test_hit_again_on_the_opening_remedy() -> None:
    """002:98, 002:184: cured by the remedy a Roll is needed; cured by the safety the opening remedy shows."""
    opened = ("ACCIDENT", "REPAIRS")
    game = table(["FLAT_TIRE"], ["SPARE_TIRE", "DISTANCE_25", "ROLL"], edition=DE)
    display(game, 1, battle=opened)
    play(game, "FLAT_TIRE 1", "SPARE_TIRE")
    assert not game.is_moving(1)
    game = table(["FLAT_TIRE"], ["PUNCTURE_PROOF", "DISTANCE_25"], edition=DE)
    display(game, 1, battle=opened)
    play(game, "FLAT_TIRE 1")
    game.step(("pass",))
    play(game, "PUNCTURE_PROOF")
    assert game.teams[1].battle_pile == list(opened)
    assert can_play(game, "DISTANCE_25")


def test_hazard_opens_in_any_turn_but_not_upon_a_hazard() -> None:
    """002:147, 002:61: whenever the pile is empty; directly on a hazard no second one."""
    game = table(["STOP"], [], edition=DE)
    display(game, 1, distance=("DISTANCE_25",))
    assert can_play(game, "STOP", "1")
    display(game, 1, battle=("ACCIDENT",))
    assert not can_play(game, "STOP", "1")


def test_e25_roll_on_an_opening_remedy() -> None:
    """E25: a Roll may go on any remedy that shows, needed or not."""
    game = table(["ROLL"], [], edition=DE)
    display(game, 0, battle=("ACCIDENT", "REPAIRS"))
    assert can_play(game, "ROLL")


@editions(PK, FRC, NL, FR14)
def test_no_opening_elsewhere(edition: str) -> None:
    """000:195; 004:18: only winning_moves lets a hazard lie on an empty pile of a team that stands."""
    game = table(["ACCIDENT"], [], edition=edition)
    display(game, 1, safeties=("EXTRA_TANK",))
    assert not playable(game)


# dujardin and dujardin_2014 -------------------------------------------------------------------------------


def test_free_start_is_open_to_attack() -> None:
    """001:14-16, 001:96-98: he rolls with an empty pile, so he may be attacked; the remedy is enough."""
    game = table(["STOP", "ACCIDENT"], ["REPAIRS", "DISTANCE_25", "ROLL"], edition=FR01)
    play(game, "ACCIDENT 1")
    assert playable(game) == {"REPAIRS"}
    play(game, "REPAIRS")
    assert game.is_moving(1)
    assert can_play(game, "STOP", "1")


def test_free_start_safety_on_the_first_hazard() -> None:
    """001:164-166: the hazard leaves, the pile is empty, and he rolls on."""
    game = table(["ACCIDENT"], ["DRIVING_ACE", "DISTANCE_25"], edition=FR01)
    play(game, "ACCIDENT 1")
    game.step(("pass",))
    play(game, "DRIVING_ACE")
    assert can_play(game, "DISTANCE_25")


@each("battle", [(), ("ROLL",), ("ROLL", "ACCIDENT", "REPAIRS"), ("ROLL", "ACCIDENT")])
def test_e25_roll_only_on_a_stop(battle: tuple[str, ...]) -> None:
    """E25: FR01: a Roll only on a Stop; FR14: on nothing too."""
    for edition in (FR01, FR14):
        game = table(["ROLL"], [], edition=edition)
        display(game, 0, battle=battle)
        assert can_play(game, "ROLL") == (edition == FR14 and not battle)
        display(game, 0, battle=("ROLL", "STOP"))
        assert can_play(game, "ROLL")


@editions(FR01, FR14)
def test_e55_attack_on_a_remedy(edition: str) -> None:
    """001:96 "un adversaire qui roule"; E55: whose remedy shows rolls again and can be attacked."""
    game = table(["FLAT_TIRE", "STOP"], [], edition=edition)
    display(game, 1, battle=("ROLL", "OUT_OF_GAS", "GASOLINE"))
    assert playable(game) == {"FLAT_TIRE", "STOP"}


def test_e04_right_of_way_in_the_modern_editions() -> None:
    """001:184-188; E4: Véhicule Prioritaire leaves an Accident; after the Réparations the team rolls."""
    for edition in (FR01, FR14):
        game = table(["RIGHT_OF_WAY", "REPAIRS", "DISTANCE_25"], [FILLER], edition=edition)
        display(game, 0, battle=("ACCIDENT",))
        play(game, "RIGHT_OF_WAY")
        assert playable(game) == {"REPAIRS"}
        play(game, "REPAIRS")
        game.step(("discard", FILLER))
        assert can_play(game, "DISTANCE_25")


def test_e56_pairs_alternate() -> None:
    """001:30-36; E56: each of four pairs has one display; every player his own hand of six."""
    game = table(*([[FILLER] * 6] * 8), edition=FR14)
    assert len(game.teams) == 4
    assert [game.team_of(seat) for seat in range(8)] == [0, 1, 2, 3, 0, 1, 2, 3]
    for seat in range(8):
        assert game.seat == seat
        game.step(("discard", FILLER))
    assert all(len(hand) == 6 for hand in game.hands[1:])


# Safeties when nothing is left to draw ---------------------------------------------------------------------


@editions(FRC)
def test_frc_safety_in_the_play_out(edition: str) -> None:
    """FRC 16; E17: no extra play, but the hand goes on."""
    game = table(["EXTRA_TANK", FILLER], ["FLAT_TIRE"], pile=0, edition=edition)
    play(game, "EXTRA_TANK")
    game.step(("discard", "FLAT_TIRE"))
    assert game.seat == 0
    game.step(("discard", FILLER))
    assert game.over


@editions(FRC)
def test_e18_last_card_drawn_for_a_safety_in_the_play_out(edition: str) -> None:
    """E18: the last card of the pile replaces a safety: the extra play is given."""
    game = table(["EXTRA_TANK", "DRIVING_ACE"], [FILLER], pile=1, edition=edition)
    play(game, "EXTRA_TANK")
    assert game.seat == 0
    play(game, "DRIVING_ACE")
    assert game.seat == 1
