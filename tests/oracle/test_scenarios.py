"""Checks of the oracle itself: the conformance scenarios, each in every edition that it names.

`test_scenario_NN_...` is scenario NN of the specification, section 3; a source such as "004:18" is a line
of a rule text, "E37" a ruling of the specification's section 2, "house" a convention of this project.
The scenarios about the table are in `test_tables.py`, those that count points in
`test_scoring.py`.
"""

from __future__ import annotations

import pytest

from tests.each import each
from tests.oracle.positions import (
    DE,
    DISTANCES,
    FILLER,
    FR01,
    FR14,
    FRC,
    NL,
    PK,
    can_play,
    display,
    editions,
    ended,
    laid,
    play,
    playable,
    table,
)

# Movement, hazards and remedies ---------------------------------------------------------------------------


@editions(NL, FRC, FR14, DE, PK)
def test_scenario_07_no_roll_no_distance(edition: str) -> None:
    """000:45; 002:184; 004:13: nothing in the battle area, no safety: no distance."""
    assert not playable(table(["DISTANCE_25"], [], edition=edition))


def test_scenario_08_free_start() -> None:
    """001:11-12: everybody rolls from the start; a Roll is not needed and cannot be laid (E25)."""
    game = table(["DISTANCE_100", "ROLL"], [FILLER], edition=FR01)
    assert game.is_moving(0)
    assert playable(game) == {"DISTANCE_100"}


@editions(NL, FRC, FR14, PK)
def test_scenario_09_no_battle_hazard_on_empty_pile(edition: str) -> None:
    """000:195; 004:18: no battle hazard on a team that does not move."""
    game = table(["ACCIDENT", "OUT_OF_GAS", "FLAT_TIRE", "STOP"], [FILLER], edition=edition)
    assert not playable(game)


@each("hazard", ["ACCIDENT", "OUT_OF_GAS", "FLAT_TIRE", "STOP"])
def test_scenario_10_hazard_opens_a_pile(hazard: str) -> None:
    """002:147: in the first turn a hazard goes on an opponent's empty pile and starts it."""
    game = table([hazard], [FILLER], edition=DE)
    play(game, f"{hazard} 1")
    assert game.teams[1].battle_pile == [hazard]
    assert not game.is_moving(1)


def test_scenario_12_no_opening_hazard() -> None:
    """002:98: a hazard on a Freie Fahrt: after the Werkstatt another Freie Fahrt, then a distance."""
    game = table(["REPAIRS", "DISTANCE_100", "ROLL"], [FILLER] * 3, edition=DE)
    display(game, 0, battle=("ROLL", "ACCIDENT"))
    play(game, "REPAIRS")
    game.step(("discard", FILLER))
    assert playable(game) == {"ROLL"}
    play(game, "ROLL")
    game.step(("discard", FILLER))
    assert can_play(game, "DISTANCE_100")


@editions()
def test_scenario_13_limit_on_empty_pile(edition: str) -> None:
    """001:92-94; 004:18; US play C; NL by REC (E36): a Speed Limit needs no moving target."""
    game = table(["SPEED_LIMIT"], [FILLER], edition=edition)
    play(game, "SPEED_LIMIT 1")
    assert game.teams[1].speed_pile == ["SPEED_LIMIT"]
    assert not game.teams[1].battle_pile


@editions()
def test_limit_on_a_stopped_team(edition: str) -> None:
    """001:104-107; rules 1.2 "Limit on stopped": it cumulates with a battle hazard (E29)."""
    game = table(["SPEED_LIMIT", "STOP"], [], edition=edition)
    display(game, 1, battle=("ROLL", "ACCIDENT"))
    assert playable(game) == {"SPEED_LIMIT"}  # 001:19, 002:61: no second battle hazard


@editions()
def test_scenario_15_limited(edition: str) -> None:
    """000:35; 004:24: under a Speed Limit only 25 and 50."""
    game = table(DISTANCES, [], edition=edition)
    display(game, 0, battle=("ROLL",), speed=("SPEED_LIMIT",))
    assert playable(game) == {"DISTANCE_25", "DISTANCE_50"}


@editions()
def test_scenario_16_end_of_limit(edition: str) -> None:
    """004:15; E26: an End of Limit only on a Speed Limit."""
    game = table(["END_OF_LIMIT"], [FILLER], edition=edition)
    assert not playable(game)
    display(game, 0, speed=("SPEED_LIMIT",))
    play(game, "END_OF_LIMIT")
    assert game.teams[0].speed_pile == ["SPEED_LIMIT", "END_OF_LIMIT"]
    assert not game.teams[0].is_limited()


@editions()
def test_scenario_17_no_limit_on_limit(edition: str) -> None:
    """002:61; E28: no Speed Limit on a Speed Limit, but one on an End of Limit."""
    game = table(["SPEED_LIMIT"], [], edition=edition)
    display(game, 1, speed=("SPEED_LIMIT",))
    assert not playable(game)
    display(game, 1, speed=("SPEED_LIMIT", "END_OF_LIMIT"))
    assert can_play(game, "SPEED_LIMIT", "1")


@editions(NL, FRC, DE, PK)
def test_scenario_18_roll_after_remedy(edition: str) -> None:
    """000:174; 002:98; 004:20: after the Spare Tire a Roll must be laid first."""
    game = table(["SPARE_TIRE", "DISTANCE_25", "ROLL"], [FILLER], edition=edition)
    display(game, 0, battle=("ROLL", "FLAT_TIRE"))
    assert playable(game) == {"SPARE_TIRE"}
    play(game, "SPARE_TIRE")
    game.step(("discard", FILLER))
    assert playable(game) == {"ROLL"}


@editions(FR14, FR01)
def test_scenario_19_remedy_alone(edition: str) -> None:
    """001:100-102; FR14 possibility 4: after the Spare Tire a distance; no Roll goes on it (E25)."""
    game = table(["SPARE_TIRE", "DISTANCE_25", "ROLL"], [FILLER], edition=edition)
    display(game, 0, battle=("ROLL", "FLAT_TIRE"))
    play(game, "SPARE_TIRE")
    game.step(("discard", FILLER))
    assert playable(game) == {"DISTANCE_25"}


@editions()
def test_scenario_20_stop(edition: str) -> None:
    """002:100; 000:19; 001:144-147; 004:18: a Roll answers a Stop and is enough; other remedies do not."""
    game = table(["ROLL", "SPARE_TIRE", "GASOLINE", "REPAIRS", "DISTANCE_25"], [FILLER], edition=edition)
    display(game, 0, battle=("ROLL", "STOP"))
    assert playable(game) == {"ROLL"}
    play(game, "ROLL")
    assert game.is_moving(0)


@editions()
def test_scenario_22_right_of_way_takes_both(edition: str) -> None:
    """000:73; 004:26; E3, E6: Stop and Speed Limit are discarded; a 200 in the same turn."""
    game = table(["RIGHT_OF_WAY", "DISTANCE_200"], [], edition=edition)
    display(game, 0, battle=("ROLL", "STOP"), speed=("END_OF_LIMIT", "SPEED_LIMIT"))
    play(game, "RIGHT_OF_WAY")
    assert game.discard_pile == ["STOP", "SPEED_LIMIT"]
    assert game.teams[0].battle_pile == ["ROLL"]
    assert game.teams[0].speed_pile == ["END_OF_LIMIT"]  # what lay beneath
    assert game.seat == 0
    assert can_play(game, "DISTANCE_200")


@editions()
def test_scenario_24_attack_on_right_of_way_after_remedy(edition: str) -> None:
    """004:26; E1, E36: with Right of Way a remedy means moving; open to Flat Tire, not to Stop or Limit."""
    game = table(["FLAT_TIRE", "STOP", "SPEED_LIMIT"], [], edition=edition)
    display(game, 1, battle=("ROLL", "OUT_OF_GAS", "GASOLINE"), safeties=("RIGHT_OF_WAY",))
    assert playable(game) == {"FLAT_TIRE"}


@editions()
def test_scenario_25_attack_on_right_of_way_with_empty_pile(edition: str) -> None:
    """FR14 possibility 3; E2: Right of Way and an empty battle area: moving, so open to attack."""
    game = table(["ACCIDENT"], [], edition=edition)
    display(game, 1, safeties=("RIGHT_OF_WAY",))
    assert game.is_moving(1)
    assert can_play(game, "ACCIDENT", "1")


@editions(PK, FRC, NL, DE)
def test_scenario_26_no_attack_on_remedy(edition: str) -> None:
    """004:16; 000:195: without Right of Way a remedy that waits for its Roll is no target."""
    game = table(["FLAT_TIRE"], [], edition=edition)
    display(game, 1, battle=("ROLL", "OUT_OF_GAS", "GASOLINE"))
    assert not playable(game)


# Safeties and coups fourrés -------------------------------------------------------------------------------


@editions()
def test_scenario_27_safety_draws_and_plays_again(edition: str) -> None:
    """001:29; 002:168; 004:22; E35: six in hand, 50 to draw; with the safety six in hand, 48 to draw."""
    game = table([FILLER] * 6, ["EXTRA_TANK"] + [FILLER] * 5, pile=50, edition=edition)
    game.step(("discard", FILLER))
    play(game, "EXTRA_TANK")
    assert game.seat == 1
    assert game.pile_size() == 48
    game.step(("discard", FILLER))
    assert game.seat == 0
    assert len(game.hands[1]) == 6


@editions()
def test_scenario_28_two_safeties_then_distance(edition: str) -> None:
    """004:22; E19, E35: two safeties and a distance in one turn take three cards from the pile."""
    hand = ["EXTRA_TANK", "DRIVING_ACE", "DISTANCE_25"] + [FILLER] * 3
    game = table([FILLER], hand, pile=21, edition=edition)
    display(game, 1, battle=("ROLL",))
    game.step(("discard", FILLER))
    play(game, "EXTRA_TANK", "DRIVING_ACE")
    assert game.pile_size() == 21 - 3
    play(game, "DISTANCE_25")
    assert len(game.hands[1]) == 6
    assert game.seat == 0


@editions(NL, FRC, DE, FR14, FR01)
@each(
    ("hazard", "safety"),
    [("OUT_OF_GAS", "EXTRA_TANK"), ("ACCIDENT", "DRIVING_ACE"), ("FLAT_TIRE", "PUNCTURE_PROOF")],
)
def test_scenario_29_and_31_safety_cures(edition: str, hazard: str, safety: str) -> None:
    """000:97, 000:174; 001:164-166; E22: the hazard is discarded; a Roll shows again; a distance at once."""
    game = table([safety, "DISTANCE_25"], [FILLER], edition=edition)
    display(game, 0, battle=("ROLL", hazard), speed=("SPEED_LIMIT",))
    play(game, safety)
    assert game.discard_pile == [hazard]
    assert game.teams[0].battle_pile == ["ROLL"]
    assert game.teams[0].speed_pile == ["SPEED_LIMIT"]
    assert can_play(game, "DISTANCE_25")


@editions()
def test_scenario_32_coup_fourre(edition: str) -> None:
    """000:211-214; 001:200-211; 002:174: A attacks C, who draws two and plays; B loses his turn; then A."""
    game = table(
        ["FLAT_TIRE", FILLER], [FILLER] * 6, ["PUNCTURE_PROOF", "DISTANCE_100"], edition=edition, teams=3
    )
    display(game, 2, battle=("ROLL",))
    play(game, "FLAT_TIRE 2")
    assert (game.decision, game.seat, game.pending_hazard) == ("claim", 2, "FLAT_TIRE")
    assert game.legal_actions() == {("claim",), ("pass",)}
    assert game.teams[2].battle_pile == ["ROLL"]
    game.step(("claim",))
    assert game.discard_pile == ["FLAT_TIRE"]
    assert game.teams[2].battle_pile == ["ROLL"]
    assert len(game.hands[2]) == 3
    assert game.seat == 2
    assert game.pending_hazard is None
    play(game, "DISTANCE_100")
    assert game.seat == 0
    assert len(game.hands[1]) == 6
    assert game.teams[2].coups_fourres == ["PUNCTURE_PROOF"] == game.teams[2].safeties


@editions()
@each(("holder", "following"), [(1, 2), (3, 0)])
def test_scenario_34_coup_fourre_in_teams(edition: str, holder: int, following: int) -> None:
    """E11: seat 0 attacks the team of seats 1 and 3; the holder answers, draws two; then his left."""
    hands = [["FLAT_TIRE"], [FILLER], [FILLER], [FILLER]]
    hands[holder] = ["PUNCTURE_PROOF"]
    game = table(*hands, edition=edition, teams=2)
    display(game, 1, battle=("ROLL",))
    play(game, "FLAT_TIRE 1")
    assert game.seat == holder
    game.step(("claim",))
    assert len(game.hands[holder]) == 2
    game.step(("discard", FILLER))
    assert game.seat == following


@editions()
def test_scenario_35_claim_lapses_with_the_draw(edition: str) -> None:
    """US coup fourré; E12: passed and drawn, the safety is a normal one, without the 300."""
    game = table(["FLAT_TIRE"], ["PUNCTURE_PROOF", "DISTANCE_25", "ROLL", "SPARE_TIRE"], edition=edition)
    display(game, 1, battle=("ROLL",))
    play(game, "FLAT_TIRE 1")
    game.step(("pass",))
    assert game.decision == "play"
    assert game.seat == 1
    assert ("claim",) not in game.legal_actions()
    play(game, "PUNCTURE_PROOF")
    assert not game.teams[1].coups_fourres
    if edition == PK:  # E22: a Roll is needed
        assert game.teams[1].battle_pile == ["ROLL", "FLAT_TIRE"]
        assert playable(game) == {"ROLL"}
    else:
        assert game.teams[1].battle_pile == ["ROLL"]
        assert playable(game) == {"DISTANCE_25"}
    assert ended(game).score(1)["coups_fourres"] == 0


@editions()
def test_scenario_36_right_of_way_against_limit(edition: str) -> None:
    """000:113; E8: Right of Way claimed against a Limit also starts a team that had not started."""
    game = table(["SPEED_LIMIT"], ["RIGHT_OF_WAY", "DISTANCE_200"], edition=edition)
    play(game, "SPEED_LIMIT 1")
    game.step(("claim",))
    assert game.discard_pile == ["SPEED_LIMIT"]
    assert not game.teams[1].speed_pile
    assert can_play(game, "DISTANCE_200")


@editions(FRC)
def test_scenario_40_no_second_play_when_the_pile_is_empty(edition: str) -> None:
    """FRC 16; E17: a safety laid after the pile is used up gives no second play; the turn passes."""
    game = table(["EXTRA_TANK", FILLER], [FILLER], pile=0, edition=edition)
    play(game, "EXTRA_TANK")
    assert game.seat == 1
    assert game.teams[0].safeties == ["EXTRA_TANK"]


@editions()
def test_scenario_47_driving_ace_out(edition: str) -> None:
    """000:93; 001:182-183; 004:16: no Accident on a team with the Driving Ace."""
    game = table(["ACCIDENT", "FLAT_TIRE"], [], edition=edition)
    display(game, 1, battle=("ROLL",), safeties=("DRIVING_ACE",))
    assert playable(game) == {"FLAT_TIRE"}


@editions()
def test_scenario_74_no_coup_fourre_twice(edition: str) -> None:
    """001:182; 004:16: with the safety out the hazard is illegal, so nothing can be claimed."""
    game = table(["ACCIDENT"], [], edition=edition)
    display(game, 1, battle=("ROLL",), safeties=("DRIVING_ACE",))
    with pytest.raises(ValueError, match="illegal"):
        play(game, "ACCIDENT 1")


# Distances, discards and the end --------------------------------------------------------------------------


@editions()
def test_scenario_42_two_200s(edition: str) -> None:
    """001:86-88; 002:49; 004:24; NL by REC: a third 200 is illegal."""
    game = table(["DISTANCE_200"], [], edition=edition)
    display(game, 0, battle=("ROLL",), distance=("DISTANCE_200",))
    assert can_play(game, "DISTANCE_200")
    display(game, 0, battle=("ROLL",), distance=("DISTANCE_200", "DISTANCE_200"))
    assert not can_play(game, "DISTANCE_200")


@editions()
def test_scenario_43_exact_1000(edition: str) -> None:
    """004:30; 002:156; FRC 13: with 950 of 1000 only 25 and 50; 1000 ends the hand."""
    game = table(DISTANCES, [], [], [], edition=edition)
    display(game, 0, battle=("ROLL",), distance=laid(950))
    assert playable(game) == {"DISTANCE_25", "DISTANCE_50"}
    play(game, "DISTANCE_50")
    assert game.over
    assert game.winner == 0
    assert not game.legal_actions()


@editions(PK, FRC, NL, DE)
def test_scenario_45_exact_700(edition: str) -> None:
    """US C; 000:233-235; 002:29; 004:30: with 675 of 700 only 25, and it ends the hand or extends it."""
    game = table(["DISTANCE_25", "DISTANCE_50"], [FILLER], edition=edition)
    display(game, 0, battle=("ROLL",), distance=laid(675))
    assert playable(game) == {"DISTANCE_25"}
    play(game, "DISTANCE_25")
    assert (game.decision, game.seat) == ("extension", 0)
    game.step(("extend",))
    assert (game.target, game.extension_caller, game.seat, game.decision) == (1000, 0, 1, "play")


@editions()
def test_scenario_46_discard_anything(edition: str) -> None:
    """004:28; rules 1.2 REC; E21: any card may be discarded although one can be played, safeties too."""
    hand = ["DISTANCE_25", "ROLL", "EXTRA_TANK", "STOP"]
    game = table(hand, [], edition=edition)
    display(game, 0, battle=("ROLL",))
    assert {("discard", card) for card in hand} | {("play", "DISTANCE_25")} <= game.legal_actions()
    game.step(("discard", "EXTRA_TANK"))
    assert game.discard_pile == ["EXTRA_TANK"]
    assert game.seat == 1


@editions()
def test_scenario_48_no_roll_on_roll(edition: str) -> None:
    """004:18; E25: no Roll on a Roll; with Right of Way one on nothing, where a start needs it."""
    game = table(["ROLL"], [], edition=edition)
    display(game, 0, battle=("ROLL",))
    assert not can_play(game, "ROLL")
    display(game, 0, safeties=("RIGHT_OF_WAY",))
    assert can_play(game, "ROLL") == (edition != FR01)


@editions(PK, DE, FRC)
def test_scenario_68_play_out(edition: str) -> None:
    """002:156; 004:35-37; E33: no pile, three cards each: one per turn until both hands are empty."""
    game = table([FILLER] * 3, [FILLER] * 3, pile=0, edition=edition)
    seats = []
    while not game.over:
        seats.append(game.seat)
        game.step(("discard", FILLER))
    assert seats == [0, 1, 0, 1, 0, 1]
    assert game.winner is None


def test_scenario_71_partner_goes_on() -> None:
    """002:152: the partner has opened with a Freie Fahrt, or laid Vorfahrt: a distance on the shared pile."""
    for card in ("ROLL", "RIGHT_OF_WAY"):
        game = table([card, FILLER], [FILLER], ["DISTANCE_100"], [FILLER], edition=DE)
        play(game, card)
        while game.seat != 2:
            game.step(("discard", FILLER))
        play(game, "DISTANCE_100")
        assert game.teams[0].km == 100
