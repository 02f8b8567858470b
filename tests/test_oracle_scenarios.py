"""Checks of the oracle itself: the conformance scenarios that bear on WP or US.

`test_scenario_NN_...` is scenario NN of the specification, section 3; a source such as "004:18" is a line
of a rule text, "E37" a ruling of the specification's section 2, "house" a convention of this project.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.oracle import (
    FULL_DECK,
    SAFETIES,
    SAFETY_AGAINST,
    OracleRound,
    deck,
    match_winner,
    next_dealer,
)
from tests.oracle_positions import (
    DISTANCES,
    FILLER,
    can_play,
    display,
    ended,
    laid,
    playable,
    table,
    total,
)

# The scenarios of section 3 -------------------------------------------------------------------------------


def test_scenario_01_full_deck() -> None:
    """Rules 0.2; 002:41-107: 106 cards; 46 distances, 18 hazards, 38 remedies, 4 safeties."""
    cards = Counter(deck(4))
    assert cards == Counter(FULL_DECK)
    assert cards.total() == 106
    assert sum(cards[card] for card in DISTANCES) == 46
    assert sum(cards[card] for card in SAFETY_AGAINST) == 18
    assert sum(cards[card] for card in SAFETIES) == 4


@pytest.mark.parametrize("players", [2, 3])
def test_scenario_02_reduced_deck(players: int) -> None:
    """US rule A; 000:134; FRC 17: one of each hazard out, 101 cards; six in hand; 89 or 83 in the pile."""
    cards = deck(players)
    assert Counter(FULL_DECK) - Counter(cards) == Counter(SAFETY_AGAINST.keys())
    assert len(cards) == 101
    game = OracleRound(players, [cards[seat::players] for seat in range(players)], dealer=0)
    assert [len(hand) for hand in game.hands] == [6, 7] + [6] * (players - 2)  # seat 1 has drawn
    assert game.pile_size() + 1 == 101 - 6 * players
    assert game.target == 700


def test_scenario_06_six_players() -> None:
    """002:33; FRC 17: three teams of two, target 700, extension possible, 106 cards, 70 in the pile."""
    game = OracleRound(6, [deck(6)[seat::6] for seat in range(6)], dealer=5)
    assert len(game.teams) == 3
    assert game.target == 700
    assert game.pile_size() + 1 == 70
    assert [game.team_of(seat) for seat in range(6)] == [0, 1, 2, 0, 1, 2]
    game.hands[0] = ["DISTANCE_25"]
    display(game, 0, battle=("ROLL",), distance=laid(675))
    game.step(("play", "DISTANCE_25"))
    assert game.legal_actions() == {("extend",), ("finish",)}


def test_four_players() -> None:
    """Rules 1.1: two teams of two, 106 cards, 82 in the pile, target 1000."""
    game = OracleRound(4, [deck(4)[seat::4] for seat in range(4)], dealer=3)
    assert len(deck(4)) == 106
    assert game.pile_size() + 1 == 82
    assert len(game.teams) == 2
    assert game.target == 1000


def test_scenario_07_no_roll_no_distance() -> None:
    """000:45; 002:184; 004:13: nothing in the battle area, no safety: no distance."""
    assert not playable(table(["DISTANCE_25"], []))


def test_scenario_09_no_battle_hazard_on_empty_pile() -> None:
    """000:195; 004:18: no battle hazard on a team that does not move."""
    game = table(["ACCIDENT", "OUT_OF_GAS", "FLAT_TIRE", "STOP"], [FILLER])
    assert not playable(game)


def test_scenario_13_limit_on_empty_pile() -> None:
    """004:18; US play C: a Speed Limit needs no moving target."""
    game = table(["SPEED_LIMIT"], [FILLER])
    assert can_play(game, "SPEED_LIMIT", "1")
    game.step(("play", "SPEED_LIMIT", "1"))
    assert game.teams[1].speed_pile == ["SPEED_LIMIT"]
    assert not game.teams[1].battle_pile


def test_scenario_15_limited() -> None:
    """000:35; 004:24: under a Speed Limit only 25 and 50."""
    game = table(DISTANCES, [])
    display(game, 0, battle=("ROLL",), speed=("SPEED_LIMIT",))
    assert playable(game) == {"DISTANCE_25", "DISTANCE_50"}


def test_scenario_16_end_of_limit() -> None:
    """004:15: an End of Limit only on a Speed Limit."""
    game = table(["END_OF_LIMIT"], [FILLER])
    assert not playable(game)
    display(game, 0, speed=("SPEED_LIMIT",))
    game.step(("play", "END_OF_LIMIT"))
    assert game.teams[0].speed_pile == ["SPEED_LIMIT", "END_OF_LIMIT"]
    assert not game.teams[0].is_limited()


def test_scenario_17_no_limit_on_limit() -> None:
    """002:61; E28: no Speed Limit on a Speed Limit, but one on an End of Limit."""
    game = table(["SPEED_LIMIT"], [])
    display(game, 1, speed=("SPEED_LIMIT",))
    assert not playable(game)
    display(game, 1, speed=("SPEED_LIMIT", "END_OF_LIMIT"))
    assert can_play(game, "SPEED_LIMIT", "1")


def test_scenario_18_roll_after_remedy() -> None:
    """000:174; 002:98; 004:20: after the Spare Tire a Roll must be laid first."""
    game = table(["SPARE_TIRE", "DISTANCE_25", "ROLL"], [FILLER])
    display(game, 0, battle=("ROLL", "FLAT_TIRE"))
    assert playable(game) == {"SPARE_TIRE"}
    game.step(("play", "SPARE_TIRE"))
    game.step(("discard", FILLER))
    assert game.seat == 0
    assert playable(game) == {"ROLL"}


def test_scenario_20_stop() -> None:
    """002:100; 000:19; 004:18: a Roll answers a Stop and is enough; other remedies do not."""
    game = table(["ROLL", "SPARE_TIRE", "GASOLINE", "REPAIRS", "DISTANCE_25"], [FILLER])
    display(game, 0, battle=("ROLL", "STOP"))
    assert playable(game) == {"ROLL"}
    game.step(("play", "ROLL"))
    assert game.is_moving(0)


def test_scenario_22_right_of_way_takes_both() -> None:
    """000:73; 004:26; E3, E6: Stop and Speed Limit are discarded; a 200 in the same turn."""
    game = table(["RIGHT_OF_WAY", "DISTANCE_200"], [])
    display(game, 0, battle=("ROLL", "STOP"), speed=("SPEED_LIMIT",))
    game.step(("play", "RIGHT_OF_WAY"))
    assert game.discard_pile == ["STOP", "SPEED_LIMIT"]
    assert game.teams[0].battle_pile == ["ROLL"]
    assert not game.teams[0].speed_pile
    assert game.seat == 0
    assert can_play(game, "DISTANCE_200")


def test_scenario_24_attack_on_right_of_way_after_remedy() -> None:
    """004:26; E1: with Right of Way a remedy means moving; open to Flat Tire, not to Stop or Limit."""
    game = table(["FLAT_TIRE", "STOP", "SPEED_LIMIT"], [])
    display(game, 1, battle=("ROLL", "OUT_OF_GAS", "GASOLINE"), safeties=("RIGHT_OF_WAY",))
    assert playable(game) == {"FLAT_TIRE"}


def test_scenario_26_no_attack_on_remedy() -> None:
    """004:16; 000:195: without Right of Way a remedy that waits for its Roll is no target."""
    game = table(["FLAT_TIRE"], [])
    display(game, 1, battle=("ROLL", "OUT_OF_GAS", "GASOLINE"))
    assert not playable(game)


def test_scenario_27_safety_draws_and_plays_again() -> None:
    """004:22: six in hand, 50 to draw; draw, safety, draw, card: six in hand, 48 to draw."""
    game = table([FILLER] * 6, ["EXTRA_TANK"] + [FILLER] * 5, pile=50)
    game.step(("discard", FILLER))
    game.step(("play", "EXTRA_TANK"))
    assert game.seat == 1
    assert game.pile_size() == 48
    game.step(("discard", FILLER))
    assert game.seat == 0
    assert len(game.hands[1]) == 6


def test_scenario_28_two_safeties_then_distance() -> None:
    """004:22: two safeties and a distance in one turn take three cards from the pile."""
    game = table([FILLER], ["EXTRA_TANK", "DRIVING_ACE", "DISTANCE_25"] + [FILLER] * 3, pile=21)
    display(game, 1, battle=("ROLL",))
    game.step(("discard", FILLER))
    for card in ("EXTRA_TANK", "DRIVING_ACE"):
        game.step(("play", card))
    assert game.pile_size() == 21 - 3
    game.step(("play", "DISTANCE_25"))
    assert len(game.hands[1]) == 6
    assert game.seat == 0


def test_scenario_32_coup_fourre() -> None:
    """US; 000:211-214; 002:174: A attacks C, who claims, draws two and plays; B loses his turn, A is next."""
    game = table(["FLAT_TIRE", FILLER], [FILLER] * 6, ["PUNCTURE_PROOF", "DISTANCE_100"])
    display(game, 2, battle=("ROLL",))
    game.step(("play", "FLAT_TIRE", "2"))
    assert (game.decision, game.seat, game.pending_hazard) == ("claim", 2, "FLAT_TIRE")
    assert game.legal_actions() == {("claim",), ("pass",)}
    assert game.teams[2].battle_pile == ["ROLL"]
    game.step(("claim",))
    assert game.discard_pile == ["FLAT_TIRE"]
    assert game.teams[2].battle_pile == ["ROLL"]
    assert len(game.hands[2]) == 3
    assert game.seat == 2
    assert game.pending_hazard is None
    game.step(("play", "DISTANCE_100"))
    assert game.seat == 0
    assert len(game.hands[1]) == 6
    assert game.teams[2].coups_fourres == ["PUNCTURE_PROOF"] == game.teams[2].safeties


def test_scenario_34_coup_fourre_in_teams() -> None:
    """E11, seats E=0 S=1 W=2 N=3: E attacks N/S, S holds the safety, claims, draws two; then W."""
    game = table(["FLAT_TIRE"], ["PUNCTURE_PROOF"], [FILLER], [FILLER])
    display(game, 1, battle=("ROLL",))
    game.step(("play", "FLAT_TIRE", "1"))
    assert game.seat == 1
    game.step(("claim",))
    assert len(game.hands[1]) == 2
    game.step(("discard", FILLER))
    assert game.seat == 2


def test_coup_fourre_by_the_partner_across() -> None:
    """E11; US: any member of the attacked team may answer; play goes on at the left of the one who did."""
    game = table(["FLAT_TIRE"], [FILLER], [FILLER], ["PUNCTURE_PROOF"])
    display(game, 1, battle=("ROLL",))
    game.step(("play", "FLAT_TIRE", "1"))
    assert game.seat == 3
    game.step(("claim",))
    game.step(("discard", FILLER))
    assert game.seat == 0


def test_scenario_35_claim_lapses_with_the_draw() -> None:
    """US coup fourré; E12, E22: passed and drawn, the safety is a normal one and a Roll is needed."""
    game = table(["FLAT_TIRE"], ["PUNCTURE_PROOF", "DISTANCE_25", "ROLL", "SPARE_TIRE"])
    display(game, 1, battle=("ROLL",))
    game.step(("play", "FLAT_TIRE", "1"))
    game.step(("pass",))
    assert game.decision == "play"
    assert game.seat == 1
    assert ("claim",) not in game.legal_actions()
    game.step(("play", "PUNCTURE_PROOF"))
    assert not game.teams[1].coups_fourres
    assert game.teams[1].battle_pile == ["ROLL", "FLAT_TIRE"]
    assert playable(game) == {"ROLL"}
    assert total(ended(game), 1) == 100


def test_scenario_36_right_of_way_against_limit() -> None:
    """000:113; E8: Right of Way claimed against a Limit also starts a team that had not started."""
    game = table(["SPEED_LIMIT"], ["RIGHT_OF_WAY", "DISTANCE_200"])
    game.step(("play", "SPEED_LIMIT", "1"))
    game.step(("claim",))
    assert game.discard_pile == ["SPEED_LIMIT"]
    assert not game.teams[1].speed_pile
    assert can_play(game, "DISTANCE_200")


def test_scenario_42_two_200s() -> None:
    """004:24; 001:86-88: a third 200 is illegal."""
    game = table(["DISTANCE_200"], [])
    display(game, 0, battle=("ROLL",), distance=("DISTANCE_200",))
    assert can_play(game, "DISTANCE_200")
    display(game, 0, battle=("ROLL",), distance=("DISTANCE_200", "DISTANCE_200"))
    assert not can_play(game, "DISTANCE_200")


def test_scenario_43_exact_1000() -> None:
    """004:30; 002:156: with 950 of 1000 only 25 and 50."""
    game = table(DISTANCES, [], [], [])
    display(game, 0, battle=("ROLL",), distance=laid(950))
    assert playable(game) == {"DISTANCE_25", "DISTANCE_50"}
    game.step(("play", "DISTANCE_50"))
    assert game.over
    assert game.winner == 0
    assert not game.legal_actions()


def test_scenario_45_exact_700() -> None:
    """US C; 004:30: with 675 of 700 only 25, and it ends the hand or extends it."""
    game = table(["DISTANCE_25", "DISTANCE_50"], [FILLER])
    display(game, 0, battle=("ROLL",), distance=laid(675))
    assert playable(game) == {"DISTANCE_25"}
    game.step(("play", "DISTANCE_25"))
    assert (game.decision, game.seat) == ("extension", 0)
    game.step(("extend",))
    assert (game.target, game.extension_caller, game.seat, game.decision) == (1000, 0, 1, "play")


def test_scenario_46_discard_anything() -> None:
    """004:28; E21: any card may be discarded although one can be played, safeties too."""
    hand = ["DISTANCE_25", "ROLL", "EXTRA_TANK", "STOP"]
    game = table(hand, [])
    display(game, 0, battle=("ROLL",))
    assert {("discard", card) for card in hand} | {("play", "DISTANCE_25")} <= game.legal_actions()
    game.step(("discard", "EXTRA_TANK"))
    assert game.discard_pile == ["EXTRA_TANK"]
    assert game.seat == 1


def test_scenario_47_driving_ace_out() -> None:
    """000:93; 004:16: no Accident on a team with the Driving Ace."""
    game = table(["ACCIDENT", "FLAT_TIRE"], [])
    display(game, 1, battle=("ROLL",), safeties=("DRIVING_ACE",))
    assert playable(game) == {"FLAT_TIRE"}


def test_scenario_48_no_roll_on_roll() -> None:
    """004:18; E25: no Roll on a Roll."""
    game = table(["ROLL"], [])
    assert can_play(game, "ROLL")
    display(game, 0, battle=("ROLL",))
    assert not can_play(game, "ROLL")


def test_scenario_52_all_safeties_two_coups() -> None:
    """US hint G; 000:257-258: 400 + 300 + 600."""
    game = table([], [])
    display(game, 0, safeties=SAFETIES)
    game.teams[0].coups_fourres = ["EXTRA_TANK", "DRIVING_ACE"]
    assert total(ended(game), 0) == 1300
    assert game.score(0)["all_safeties"] == 300


def test_scenario_54_extension_succeeds() -> None:
    """000:235-245; US C: 1000 + 400 + 300 safe + 200 extension + 100 = 2000 against 450."""
    game = table(["DISTANCE_25"], [FILLER])
    game.target, game.extension_caller = 1000, 0
    display(game, 0, battle=("ROLL",), distance=laid(975), safeties=("EXTRA_TANK",))
    display(game, 1, distance=laid(450))
    game.step(("play", "DISTANCE_25"))
    assert game.over
    assert (total(game, 0), total(game, 1)) == (2000, 450)


def test_scenario_57_extension_fails() -> None:
    """FRC 18; US C: the cards run out, the caller has his 900, the opponent 300 + 200."""
    game = table([FILLER], [], pile=0)
    game.target, game.extension_caller = 1000, 0
    display(game, 0, distance=laid(900))
    display(game, 1, distance=laid(300))
    game.step(("discard", FILLER))
    assert game.over
    assert game.winner is None
    assert (total(game, 0), total(game, 1)) == (900, 500)


def test_scenario_60_no_shutout_without_winner() -> None:
    """002:140; US: nobody finished, 300 and 200 and a blank third: the distances only."""
    game = ended(table([], [], []))
    display(game, 0, distance=laid(300))
    display(game, 1, distance=laid(200))
    assert [total(game, team) for team in range(3)] == [300, 200, 0]


def test_scenario_62_shutout_once() -> None:
    """US scoring; E42: both opponents blank: 700 + 400 + 500 = 1600, the 500 once."""
    game = table(["DISTANCE_25"], [FILLER], [FILLER])
    display(game, 0, battle=("ROLL",), distance=laid(675, with_200=True))
    game.step(("play", "DISTANCE_25"))
    game.step(("finish",))
    assert total(game, 0) == 1600
    assert game.score(0)["shutout"] == 500


def test_e42_no_shutout_while_one_opponent_has_moved() -> None:
    """E42: all opponents must be blank."""
    game = table(["DISTANCE_25"], [FILLER], [FILLER])
    display(game, 0, battle=("ROLL",), distance=laid(675))
    display(game, 1, distance=laid(25))
    game.step(("play", "DISTANCE_25"))
    game.step(("finish",))
    assert game.score(0)["shutout"] == 0


def test_three_safeties_of_four() -> None:
    """Rules 1.5: three safeties are 300 points and no bonus."""
    game = ended(table([], []))
    display(game, 0, safeties=SAFETIES[:3])
    assert total(game, 0) == 300


def test_scenario_65_delayed_action() -> None:
    """002:17; E37: who draws the last card and finishes in that turn has the delayed action."""
    game = table([FILLER], ["DISTANCE_25"], pile=1)
    display(game, 1, battle=("ROLL",), distance=laid(675, with_200=True))
    game.step(("discard", FILLER))
    assert game.pile_size() == 0
    game.step(("play", "DISTANCE_25"))
    game.step(("finish",))
    assert game.score(1)["delayed_action"] == 300


def test_scenario_68_play_out() -> None:
    """004:35, 004:37: no pile, three cards each: one discard per turn until both hands are empty."""
    game = table([FILLER] * 3, [FILLER] * 3, pile=0)
    seats = []
    while not game.over:
        seats.append(game.seat)
        game.step(("discard", FILLER))
    assert seats == [0, 1, 0, 1, 0, 1]
    assert game.winner is None


def test_scenario_69_match() -> None:
    """US winning; E52: the higher total wins; equal highest totals or nobody at 5000: another hand."""
    assert match_winner([5100, 5250]) == 1
    assert match_winner([5000, 4995]) == 0
    assert match_winner([4995, 4000]) is None
    assert match_winner([5100, 5100, 5000]) is None


def test_scenario_70_dealer_moves_left() -> None:
    """Rules 1.1 (REC from FRC 6-7): the left neighbour deals next; the dealer's left starts."""
    assert next_dealer(0, 3) == 1
    assert next_dealer(2, 3) == 0
    assert OracleRound(3, [deck(3)[seat::3] for seat in range(3)], dealer=2).seat == 0


def test_scenario_73_extension_declined() -> None:
    """002:156; US: at exactly 700 without an extension the hand ends, 400."""
    game = table(["DISTANCE_25"], [FILLER])
    display(game, 0, battle=("ROLL",), distance=laid(675))
    game.step(("play", "DISTANCE_25"))
    game.step(("finish",))
    assert game.over
    assert game.winner == 0
    assert game.score(0)["trip_completed"] == 400
    assert game.score(0)["extension"] == 0 == game.score(1)["extension"]


def test_scenario_74_no_coup_fourre_twice() -> None:
    """001:182; 004:16: with the safety out the hazard is illegal, so nothing can be claimed."""
    game = table(["ACCIDENT"], [])
    display(game, 1, battle=("ROLL",), safeties=("DRIVING_ACE",))
    with pytest.raises(ValueError, match="illegal"):
        game.step(("play", "ACCIDENT", "1"))
