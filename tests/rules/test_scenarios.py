"""The conformance scenarios of the specification, section 3, that apply to WP or US.

`test_scenario_NN_...` is scenario NN; its sources are those of this edition.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support import BREAKDOWNS, CARDS, DISTANCES, HAZARDS, SAFETIES, Position


def test_scenario_01_the_full_deck() -> None:
    """106 cards: 46 distances, 18 hazards, 38 remedies, 4 safeties (rules 0.2)."""
    counts = [Position(4).deck[card] for card in range(19)]
    assert sum(counts) == 106
    assert [sum(counts[:5]), sum(counts[5:10]), sum(counts[10:15]), sum(counts[15:])] == [46, 18, 38, 4]


def test_scenario_02_two_players() -> None:
    """101 cards, six in each hand, 89 in the pile: 88 when the first has drawn (US A)."""
    position = Position(2, dealt=True)
    assert position.deck.total() == 101
    assert sorted(position.hand_sizes()) == [6, 7]
    assert position.pile_size + 1 == 89


def test_scenario_06_six_players() -> None:
    """Three pairs, 700 km, an extension, 106 cards, 70 in the pile (US)."""
    position = Position(6, dealt=True)
    assert (position.rules.teams, position.target, position.rules.extended_target) == (3, 700, 1000)
    assert (position.deck.total(), position.pile_size + 1) == (106, 70)


def test_scenario_07_no_roll_no_distance() -> None:
    """Nothing in the battle area and no safety: 25 is illegal (004:13)."""
    assert not Position().hand(0, "DISTANCE_25").can("play DISTANCE_25")


def test_scenario_09_no_accident_on_an_empty_pile() -> None:
    """Who has not started cannot be stopped (004:18)."""
    assert not Position().hand(0, "ACCIDENT").can("play ACCIDENT")


def test_scenario_13_a_limit_on_an_empty_pile() -> None:
    """Who has not started can be limited (004:18; US C)."""
    assert Position().hand(0, "SPEED_LIMIT").can("play SPEED_LIMIT")


def test_scenario_15_limited_and_rolling() -> None:
    """25 and 50, not 75, 100, 200 (004:24)."""
    position = Position().battle(0, "ROLL").speed(0, "SPEED_LIMIT").hand(0, *DISTANCES)
    assert position.plays() == {"DISTANCE_25", "DISTANCE_50"}


def test_scenario_16_end_of_limit() -> None:
    """Legal on a limit, illegal without one (004:15)."""
    position = Position().hand(0, "END_OF_LIMIT")
    assert not position.can("play END_OF_LIMIT")
    assert position.speed(0, "SPEED_LIMIT").can("play END_OF_LIMIT")


def test_scenario_17_no_second_limit() -> None:
    """A Speed Limit on a Speed Limit is illegal (E28)."""
    assert not Position().speed(1, "SPEED_LIMIT").hand(0, "SPEED_LIMIT").can("play SPEED_LIMIT")


def test_scenario_18_roll_after_the_spare_tire() -> None:
    """Next turn a distance is illegal, a Roll legal (004:20)."""
    position = Position().battle(0, "ROLL", "FLAT_TIRE").hand(0, "SPARE_TIRE", "ROLL", "DISTANCE_25")
    position.do("play SPARE_TIRE").hand(1, "STOP").do("discard STOP")
    assert position.seat == 0
    assert not position.can("play DISTANCE_25")
    assert position.can("play ROLL")


def test_scenario_20_stop() -> None:
    """A Roll is legal and enough; Spare Tire and Gasoline are illegal (004:14, 004:18)."""
    position = Position().battle(0, "ROLL", "STOP").hand(0, "ROLL", "SPARE_TIRE", "GASOLINE")
    assert position.plays() == {"ROLL"}
    assert position.do("play ROLL").turn(0).hand(0, "DISTANCE_25").can("play DISTANCE_25")


def test_scenario_22_right_of_way_on_stop_and_limit() -> None:
    """Both are gone; in the extra play a 200 is legal (004:26)."""
    position = Position().battle(0, "ROLL", "STOP").speed(0, "SPEED_LIMIT")
    position.hand(0, "RIGHT_OF_WAY", "DISTANCE_200").do("play RIGHT_OF_WAY")
    assert position.discards == {"STOP": 1, "SPEED_LIMIT": 1}
    assert position.can("play DISTANCE_200")


def test_scenario_24_right_of_way_on_a_remedy() -> None:
    """Its target on Gasoline: Flat Tire legal, Stop and Limit illegal (004:26, E1)."""
    position = Position().battle(1, "ROLL", "OUT_OF_GAS", "GASOLINE").safety(1, "RIGHT_OF_WAY")
    assert position.hand(0, "FLAT_TIRE", "STOP", "SPEED_LIMIT").plays() == {"FLAT_TIRE"}


def test_scenario_26_no_attack_on_a_remedy() -> None:
    """Without Right of Way, on Gasoline that waits for its Roll: Flat Tire illegal (004:16)."""
    position = Position().battle(1, "ROLL", "OUT_OF_GAS", "GASOLINE").hand(0, "FLAT_TIRE")
    assert not position.can("play FLAT_TIRE")


def test_scenario_27_a_safety_in_the_turn() -> None:
    """Six in hand, 50 to draw; draw, Extra Tank, another card: six in hand, 48 to draw (004:22)."""
    position = Position().draw_pile(50).hand(0, "STOP")
    position.hand(1, "EXTRA_TANK", "ROLL", *["GASOLINE"] * 4).do("discard STOP", "play EXTRA_TANK")
    assert position.seat == 1
    position.do("play ROLL")
    assert position.hand_sizes()[1] == 6
    assert position.pile_size + 1 == 48  # seat 0 has drawn its next card


def test_scenario_28_two_safeties_and_a_distance() -> None:
    """Three cards fewer in the pile, six in hand (004:22)."""
    position = Position().draw_pile(50).battle(1, "ROLL").hand(0, "STOP")
    position.hand(1, "EXTRA_TANK", "DRIVING_ACE", "DISTANCE_25", *["GASOLINE"] * 3)
    position.do("discard STOP", "play EXTRA_TANK", "play DRIVING_ACE", "play DISTANCE_25")
    assert position.hand_sizes()[1] == 6
    assert position.pile_size + 1 == 50 - 3


def test_scenario_32_coup_fourre() -> None:
    """A's Flat Tire on C is claimed: discarded, two drawn, a distance laid; A is next, B is not (US)."""
    position = Position(3).battle(2, "ROLL").hand(0, "FLAT_TIRE").hand(1, "STOP")
    position.hand(2, "PUNCTURE_PROOF", "DISTANCE_25").do("play FLAT_TIRE at 2", "claim")
    assert position.discards == {"FLAT_TIRE": 1}
    assert position.hand_sizes()[2] == 1 + 2
    assert position.battle_top(2) == "ROLL"
    position.do("play DISTANCE_25")
    assert position.seat == 0
    assert position.hand_of(1) == ["STOP"]


def test_scenario_34_coup_fourre_in_teams() -> None:
    """N E S W: E attacks N/S, S holds the safety, claims, draws two, plays; then W (US; E11)."""
    north, east, south, west = range(4)
    position = Position(4).turn(east).battle(north, "ROLL").hand(east, "FLAT_TIRE")
    position.hand(south, "PUNCTURE_PROOF", "STOP").do("play FLAT_TIRE", "claim")
    assert (position.seat, position.hand_sizes()[south]) == (south, 3)
    assert position.do("discard STOP").seat == west


def test_scenario_35_the_claim_lapses_with_the_draw() -> None:
    """Drawn first: no claim any more, and the safety is a normal one for 100 (US; E12)."""
    position = Position(3).battle(1, "ROLL").hand(0, "FLAT_TIRE").hand(1, "PUNCTURE_PROOF", "STOP")
    position.do("play FLAT_TIRE at 1", "pass")
    assert position.seat == 1
    assert not position.legal() & {"claim", "pass"}
    position.do("play PUNCTURE_PROOF", "discard STOP").run_out()
    assert position.sheet(1) == {"safeties": 100}


def test_scenario_36_right_of_way_against_a_limit() -> None:
    """Claimed with an empty battle pile: Limit discarded, Right of Way out, a distance may follow (E8)."""
    position = Position().hand(0, "SPEED_LIMIT").hand(1, "RIGHT_OF_WAY", "DISTANCE_100")
    position.do("play SPEED_LIMIT", "claim")
    assert position.discards == {"SPEED_LIMIT": 1}
    assert position.laid(1) == {"RIGHT_OF_WAY": 1}
    assert position.can("play DISTANCE_100")


def test_scenario_42_a_third_200() -> None:
    """Two 200s lie there: another one is illegal (004:24)."""
    position = Position().battle(0, "ROLL").km(0, 400, two_hundreds=2).hand(0, "DISTANCE_200")
    assert not position.can("play DISTANCE_200")


def test_scenario_43_950_of_1000() -> None:
    """25 and 50 are legal, 75, 100, 200 illegal (004:30)."""
    position = Position(4).battle(0, "ROLL").km(0, 950).hand(0, *DISTANCES)
    assert position.plays() == {"DISTANCE_25", "DISTANCE_50"}


def test_scenario_45_675_of_700() -> None:
    """25 ends the round or extends it; 50 is illegal (US C; 004:30)."""
    position = Position().battle(0, "ROLL").km(0, 675).hand(0, "DISTANCE_25", "DISTANCE_50")
    assert position.plays() == {"DISTANCE_25"}
    assert position.do("play DISTANCE_25").legal() == {"extend", "finish"}


def test_scenario_46_discards() -> None:
    """With a distance that could be laid, any card may be discarded (004:28)."""
    position = Position().battle(0, "ROLL").hand(0, "DISTANCE_25", "STOP", "ROLL")
    assert position.can("play DISTANCE_25")
    assert {"discard DISTANCE_25", "discard STOP", "discard ROLL"} <= position.legal()


def test_scenario_47_driving_ace() -> None:
    """It is out: an Accident is illegal (004:16)."""
    position = Position().battle(1, "ROLL").safety(1, "DRIVING_ACE").hand(0, "ACCIDENT")
    assert not position.can("play ACCIDENT")


def test_scenario_48_roll_on_roll() -> None:
    """Illegal (004:18)."""
    assert not Position().battle(0, "ROLL").hand(0, "ROLL").can("play ROLL")


def test_scenario_52_all_safeties() -> None:
    """All four, two of them as coups: 400 + 300 + 600 (US, hint G)."""
    position = Position().safety(0, *SAFETIES[:2], coup=True).safety(0, *SAFETIES[2:]).run_out()
    assert position.points() == [1300, 0]


def test_scenario_54_extension_won() -> None:
    """1000 + 400 + 300 + 200 + 100 = 2000 against 450, the distance (US C)."""
    position = Position().battle(0, "ROLL").km(0, 650).km(1, 450).safety(0, "EXTRA_TANK")
    position.hand(0, "DISTANCE_50").do("play DISTANCE_50", "extend").finish_trip(0)
    assert position.points() == [2000, 450]


def test_scenario_57_extension_lost() -> None:
    """The cards run out: 900, and 300 + 200 for the opponent (US C)."""
    position = Position().battle(0, "ROLL").km(0, 650).hand(0, "DISTANCE_50")
    position.do("play DISTANCE_50", "extend").km(0, 900).km(1, 300).run_out()
    assert position.points() == [900, 500]


def test_scenario_60_nobody_arrives() -> None:
    """300, 200 and a blank third: no shut-out for anybody (US)."""
    assert Position(3).km(0, 300).km(1, 200).run_out().points() == [300, 200, 0]


def test_scenario_62_both_opponents_blank() -> None:
    """700 + 400 + 500 = 1600, with a 200 laid and cards to draw (US scoring; E42)."""
    position = Position(3).km(0, 200, two_hundreds=1).finish_trip(0)
    assert position.points() == [1600, 0, 0]


def test_scenario_65_delayed_action() -> None:
    """He draws the last card and finishes with it, or with another one: 300 (E37)."""
    for last, hand in (("DISTANCE_25", ()), ("STOP", ("DISTANCE_25",))):
        position = Position().draw_pile(1).battle(1, "ROLL").km(1, 675).hand(0, "STOP").hand(1, *hand)
        position.draws(1, last).do("discard STOP", "play DISTANCE_25", "finish")
        assert position.sheet(1)["delayed_action"] == 300


def test_scenario_68_play_out() -> None:
    """No card to draw, three in each hand, nothing to lay: one discard per turn to the end (004:37)."""
    position = Position().draw_pile(0).hand(0, *["STOP"] * 2, "REPAIRS").hand(1, *["GASOLINE"] * 3)
    seats = []
    while position.phase != "round over":
        assert not position.plays()
        seats.append(position.seat)
        position.do(min(position.legal()))
    assert seats == [0, 1, 0, 1, 0, 1]


def test_scenario_69_both_beyond_5000() -> None:
    """5100 against 5250: the second wins (US, winning the game)."""
    position = Position()
    position.state.score[0], position.state.score[1] = 4700, 4800
    position.km(0, 400).km(1, 450).run_out()
    assert position.totals() == [5100, 5250]
    assert position.match_winner() == 1


@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_scenario_70_the_dealer(players: int) -> None:
    """The dealer's left neighbour deals next, and his own left neighbour begins (rules 1.1)."""
    position = Position(players)
    position.state.dealer = players - 1
    position.run_out().next_round()
    assert (int(position.state.dealer), position.seat) == (0, 1)


def test_scenario_73_extension_declined() -> None:
    """At exactly 700 the round ends, with the 400 and without a word of the extension (US C)."""
    position = Position().km(1, 25).finish_trip(0)
    assert position.sheet(0) == {"distance": 700, "trip_completed": 400, "safe_trip": 300}
    assert position.sheet(1) == {"distance": 25}


def test_scenario_74_no_second_coup() -> None:
    """The safety is out, so the hazard is illegal and nothing can be parried (004:16)."""
    for hazard, _, safety in (*BREAKDOWNS, ("STOP", "", "RIGHT_OF_WAY"), ("SPEED_LIMIT", "", "RIGHT_OF_WAY")):
        position = Position().battle(1, "ROLL").safety(1, safety).hand(0, *HAZARDS)
        assert not position.can(f"play {hazard}")


def test_the_names_of_the_cards_are_those_of_the_deck() -> None:
    """The scenarios speak of 19 kinds of cards, and there are no others (rules 0.2)."""
    assert Counter(CARDS).total() == 19 == len(Position().deck)
