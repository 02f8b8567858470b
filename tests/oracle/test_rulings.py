"""Checks of the oracle itself: rulings that hold in several editions, and the house's conventions.

A source such as "004:18" is a line of a rule text, "E37" a ruling of the specification's section 2, "house" a
convention of this project. What one edition does alone is in `test_editions.py`.
"""

from __future__ import annotations

from tests.each import each
from tests.oracle.positions import (
    DE,
    FILLER,
    FRC,
    NL,
    PK,
    can_play,
    display,
    editions,
    laid,
    play,
    playable,
    table,
)

# Rulings of section 2 and house conventions beyond the scenarios ------------------------------------------


@editions(PK, FRC, NL, DE)
def test_e04_right_of_way_while_a_hazard_shows(edition: str) -> None:
    """E4: Right of Way leaves the Accident; after the Repairs no Roll is needed, but may be laid (E25)."""
    game = table(["RIGHT_OF_WAY", "REPAIRS", "DISTANCE_25", "ROLL"], [FILLER], edition=edition)
    display(game, 0, battle=("ROLL", "ACCIDENT"))
    play(game, "RIGHT_OF_WAY")
    assert not game.is_moving(0)
    assert playable(game) == {"REPAIRS"}
    play(game, "REPAIRS")
    game.step(("discard", FILLER))
    assert game.is_moving(0)
    assert {"DISTANCE_25", "ROLL"} <= playable(game)


@editions(PK, FRC, NL, DE)
def test_e05_right_of_way_on_a_remedy(edition: str) -> None:
    """E5: a remedy that waits for its Roll: Right of Way and the team moves at once."""
    game = table(["RIGHT_OF_WAY", "DISTANCE_25"], [FILLER], edition=edition)
    display(game, 0, battle=("ROLL", "ACCIDENT", "REPAIRS"))
    assert not can_play(game, "DISTANCE_25")
    play(game, "RIGHT_OF_WAY")
    assert can_play(game, "DISTANCE_25")


@editions()
def test_e07_coup_with_right_of_way_takes_the_stop_too(edition: str) -> None:
    """E7; 004:26: claimed against a Limit while a Stop lies: both go, one coup."""
    game = table(["SPEED_LIMIT"], ["RIGHT_OF_WAY"], edition=edition)
    display(game, 1, battle=("ROLL", "STOP"))
    play(game, "SPEED_LIMIT 1")
    game.step(("claim",))
    assert sorted(game.discard_pile) == ["SPEED_LIMIT", "STOP"]
    assert game.teams[1].battle_pile == ["ROLL"]
    assert len(game.teams[1].coups_fourres) == 1


@editions()
def test_e07_coup_against_the_stop_takes_the_limit_too(edition: str) -> None:
    """E7, E10: claimed against a Stop while a Limit lies: both go, the Roll beneath shows again."""
    game = table(["STOP"], ["RIGHT_OF_WAY", "DISTANCE_100"], edition=edition)
    display(game, 1, battle=("ROLL",), speed=("SPEED_LIMIT",))
    play(game, "STOP 1")
    game.step(("claim",))
    assert sorted(game.discard_pile) == ["SPEED_LIMIT", "STOP"]
    assert can_play(game, "DISTANCE_100")


@editions()
def test_e09_coup_against_limit_leaves_the_accident(edition: str) -> None:
    """E9: the Accident stays; the extra turn comes anyway."""
    game = table(["SPEED_LIMIT"], ["RIGHT_OF_WAY"], edition=edition)
    display(game, 1, battle=("ROLL", "ACCIDENT"))
    play(game, "SPEED_LIMIT 1")
    game.step(("claim",))
    assert not game.is_moving(1)
    assert game.seat == 1
    assert game.decision == "play"


@editions()
def test_e13_nobody_holds_it(edition: str) -> None:
    """E13: without a holder there is no decision; a holder in another team is not asked (E62)."""
    game = table(["ACCIDENT"], [FILLER], ["DRIVING_ACE"], edition=edition)
    display(game, 1, battle=("ROLL",))
    play(game, "ACCIDENT 1")
    assert game.decision == "play"
    assert game.teams[1].battle_pile == ["ROLL", "ACCIDENT"]


@editions(PK, DE)
@each(("pile", "drawn"), [(2, 2), (1, 1), (0, 0)])
def test_e14_coup_draws_what_there_is(edition: str, pile: int, drawn: int) -> None:
    """E14, E15: with one card or none to draw the coup stays legal and so does its extra play."""
    game = table(["FLAT_TIRE"], ["PUNCTURE_PROOF", FILLER], pile=pile, edition=edition)
    display(game, 1, battle=("ROLL",))
    play(game, "FLAT_TIRE 1")
    game.step(("claim",))
    assert len(game.hands[1]) == 1 + drawn
    assert game.seat == 1
    assert game.decision == "play"


@editions(PK, DE)
def test_e15_coup_with_the_last_card(edition: str) -> None:
    """E15, E20; house: the last card claimed, no pile: no extra play; the responder's left is next."""
    game = table(["FLAT_TIRE", FILLER], [FILLER], ["PUNCTURE_PROOF"], pile=0, edition=edition)
    display(game, 2, battle=("ROLL",))
    play(game, "FLAT_TIRE 2")
    game.step(("claim",))
    assert game.seat == 0


@editions(PK, DE)
def test_e17_safety_with_empty_pile(edition: str) -> None:
    """E17, E20: an extra play without a draw; void when the safety was the last card."""
    game = table(["EXTRA_TANK", "DRIVING_ACE"], [FILLER], pile=0, edition=edition)
    play(game, "EXTRA_TANK")
    assert game.seat == 0
    play(game, "DRIVING_ACE")
    assert game.seat == 1


@editions(PK)
def test_e22_cured_hazard(edition: str) -> None:
    """E22; 004:22; house: it stays, needs a Roll, takes no remedy, and is no target without Right of Way."""
    game = table(["FLAT_TIRE"], ["SPARE_TIRE", "ROLL", "OUT_OF_GAS"], edition=edition)
    display(game, 1, battle=("ROLL", "ACCIDENT"), safeties=("DRIVING_ACE",))
    assert not game.is_moving(1)
    assert not playable(game)
    game.step(("discard", "FLAT_TIRE"))
    assert playable(game) == {"ROLL"}
    play(game, "ROLL")
    assert game.is_moving(1)


@editions(PK)
def test_e24_cured_hazard_with_right_of_way(edition: str) -> None:
    """E24, E2; house: moving at once, open to attack, and a Roll may be laid."""
    game = table(["FLAT_TIRE"], ["ROLL"], edition=edition)
    display(game, 1, battle=("ROLL", "ACCIDENT"), safeties=("RIGHT_OF_WAY", "DRIVING_ACE"))
    assert game.is_moving(1)
    assert can_play(game, "FLAT_TIRE", "1")
    game.step(("discard", "FLAT_TIRE"))
    assert can_play(game, "ROLL")


@editions(PK)
def test_right_of_way_leaves_a_cured_hazard(edition: str) -> None:
    """House "cured hazard": it is not a Stop, so it stays; moving at once (E5)."""
    game = table(["RIGHT_OF_WAY"], [], edition=edition)
    display(game, 0, battle=("ROLL", "ACCIDENT"), safeties=("DRIVING_ACE",))
    play(game, "RIGHT_OF_WAY")
    assert game.teams[0].battle_pile == ["ROLL", "ACCIDENT"]
    assert game.is_moving(0)
    assert not game.discard_pile


@editions(PK, FRC, NL, DE)
def test_e25_roll_on_each_remedy(edition: str) -> None:
    """004:18, E25, E27: a Roll on every remedy; a remedy on nothing but its own hazard."""
    game = table(["ROLL", "REPAIRS", "GASOLINE", "SPARE_TIRE"], [], edition=edition)
    pairs = (("ACCIDENT", "REPAIRS"), ("OUT_OF_GAS", "GASOLINE"), ("FLAT_TIRE", "SPARE_TIRE"))
    for hazard, remedy in pairs:
        display(game, 0, battle=("ROLL", hazard))
        assert playable(game) == {remedy}
        display(game, 0, battle=("ROLL", hazard, remedy))
        assert playable(game) == {"ROLL"}


@editions(PK, FRC, NL, DE)
def test_e46_extension_in_the_extra_turn_of_a_coup(edition: str) -> None:
    """E46: the offer is the same; then play goes on at the left of the one who reached 700."""
    game = table(["FLAT_TIRE", FILLER], [FILLER], ["PUNCTURE_PROOF", "DISTANCE_25"], edition=edition)
    display(game, 2, battle=("ROLL",), distance=laid(675))
    for action in (("play", "FLAT_TIRE", "2"), ("claim",), ("play", "DISTANCE_25"), ("extend",)):
        game.step(action)
    assert game.seat == 0
    assert game.extension_caller == 2


@editions(PK, FRC, DE)
def test_e50_seats_without_cards_are_skipped(edition: str) -> None:
    """E50: uneven hands in the play-out; a lone player goes on alone."""
    game = table([FILLER] * 3, [FILLER], [], pile=0, edition=edition)
    seats = []
    while not game.over:
        seats.append(game.seat)
        game.step(("discard", FILLER))
    assert seats == [0, 1, 0, 0]


@editions()
def test_e59_choice_of_the_target(edition: str) -> None:
    """E59: each team that can be hit is a target of its own; never one's own team."""
    game = table(["STOP"], [], [], edition=edition)
    for team in range(3):
        display(game, team, battle=("ROLL",))
    assert {a for a in game.legal_actions() if a[0] == "play"} == {
        ("play", "STOP", "1"),
        ("play", "STOP", "2"),
    }


@editions()
def test_e61_chain_of_coups(edition: str) -> None:
    """E61: in his extra turn the responder attacks and is answered; order follows the last responder."""
    game = table(
        ["FLAT_TIRE", FILLER], ["DRIVING_ACE", FILLER], ["PUNCTURE_PROOF", "ACCIDENT"], edition=edition
    )
    for team in range(3):
        display(game, team, battle=("ROLL",))
    for action in (("play", "FLAT_TIRE", "2"), ("claim",), ("play", "ACCIDENT", "1"), ("claim",)):
        game.step(action)
    assert game.seat == 1
    game.step(("discard", FILLER))
    assert game.seat == 2


@editions()
def test_draws_come_from_the_streams(edition: str) -> None:
    """House: the first card of the own stream, else the last of the nearest non-empty one to the left."""
    game = table([FILLER], [FILLER], [FILLER], pile=0, edition=edition)
    game.streams = [["ROLL", "STOP", "ACCIDENT"], ["REPAIRS", "GASOLINE"], []]
    drawn = []
    for _ in range(5):
        game.step(("discard", FILLER))
        assert game.seat is not None
        drawn.append(game.hands[game.seat][-1])
        game.hands[game.seat] = [FILLER]
    # Seats 1, 2, 0, 1, 2: seat 2 has no stream, seat 0 is nearest to its left; then seat 1 empties its own.
    assert drawn == ["REPAIRS", "ACCIDENT", "ROLL", "GASOLINE", "STOP"]


@editions(FRC)
@each(("pile", "seat", "drawn"), [(2, 2, 2), (1, 2, 1), (0, 1, 0)])
def test_e16_coup_when_the_pile_is_empty(edition: str, pile: int, seat: int, drawn: int) -> None:
    """FRC; E14 to E16: with nothing to draw the coup has no extra play; the attacker's left is next."""
    game = table(["FLAT_TIRE", FILLER], [FILLER], ["PUNCTURE_PROOF", FILLER], pile=pile, edition=edition)
    display(game, 2, battle=("ROLL",))
    play(game, "FLAT_TIRE 2")
    game.step(("claim",))
    assert game.seat == seat
    assert len(game.hands[2]) == 1 + drawn
    assert game.teams[2].coups_fourres == ["PUNCTURE_PROOF"]


@editions()
def test_claim_discards_the_parried_hazard_first(edition: str) -> None:
    """House: the parried hazard, then what Right of Way removes: the battle card, then the Speed Limit."""
    game = table(["SPEED_LIMIT"], ["RIGHT_OF_WAY"], edition=edition)
    display(game, 1, battle=("ROLL", "STOP"))
    play(game, "SPEED_LIMIT 1")
    game.step(("claim",))
    assert game.discard_pile == ["SPEED_LIMIT", "STOP"]
    game = table(["STOP"], ["RIGHT_OF_WAY"], edition=edition)
    display(game, 1, battle=("ROLL",), speed=("SPEED_LIMIT",))
    play(game, "STOP 1")
    game.step(("claim",))
    assert game.discard_pile == ["STOP", "SPEED_LIMIT"]


@editions()
def test_e27_remedy_without_its_hazard(edition: str) -> None:
    """E27: a remedy goes on its own hazard only; it ends no other one."""
    game = table(["REPAIRS", "GASOLINE", "SPARE_TIRE"], [], edition=edition)
    assert not playable(game)
    for hazard, remedy in (("ACCIDENT", "REPAIRS"), ("OUT_OF_GAS", "GASOLINE"), ("FLAT_TIRE", "SPARE_TIRE")):
        display(game, 0, battle=("ROLL", hazard))
        assert playable(game) == {remedy}


@editions()
def test_attack_under_attack(edition: str) -> None:
    """001:17-18: one who is attacked may attack."""
    game = table(["STOP"], [], edition=edition)
    display(game, 0, battle=("ROLL", "ACCIDENT"))
    display(game, 1, battle=("ROLL",))
    assert can_play(game, "STOP", "1")
