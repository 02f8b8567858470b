"""`arnold_words`: sentences of the words, each pinned by a position."""

from __future__ import annotations

import random

import pytest

from tests.agents.arnold_cards import HAZARDS, SAFETIES, TOTALS
from tests.agents.arnold_words import Arnold, Evaluation, Side, Turn, divided

SIX_PLAIN = ["25", "50", "75", "75", "100", "100"]


def holding(*cards: str, **switches: bool) -> Arnold:
    """A hand that he does not start, its last card in the last slot."""
    arnold = Arnold(**switches)
    arnold.begin_hand(False, list(cards))
    return arnold


def going(miles: int = 300, **rest) -> Side:
    return Side(miles=miles, battle="ROLL", can_go=True, **rest)


def values(arnold: Arnold, me: Side, him: Side, *, play_mode: bool, target: int = 700) -> list[int]:
    """The values of all cards but safeties, as if all were to be evaluated."""
    turn = Turn(me, him, target, pile=50, roll=1)
    arnold.scan(turn)
    evaluation = Evaluation(arnold, turn, play_mode=play_mode)
    return [evaluation.value(card) for _, card in arnold.hand() if card not in SAFETIES]


def test_division_truncates_towards_zero():
    assert [divided(number, 2) for number in (-3, -1, 1, 3)] == [-1, 0, 0, 1]


def test_the_deck_has_101_cards():
    assert sum(TOTALS.values()) == 101


def test_played_cards_leave_a_hole_that_is_filled_from_the_lowest_slots():
    arnold = holding("25", "50", "75", "100", "200", "ROLL")
    arnold.draw("STOP")
    arnold.lay(3)
    assert arnold.slots == [None, "25", "50", "STOP", "100", "200", "ROLL"]
    arnold.lay(6)
    arnold.draw("GASOLINE")
    arnold.draw("REPAIRS")
    assert arnold.slots == ["GASOLINE", "25", "50", "STOP", "100", "200", "REPAIRS"]


def test_seen_counts_own_draws_and_what_the_opponent_lays_but_own_plays_not_again():
    arnold = holding("ROLL", "ROLL", "STOP")
    arnold.draw("ROLL")
    arnold.see("ROLL")
    arnold.lay(0)
    assert (arnold.seen["ROLL"], arnold.seen["STOP"]) == (4, 1)


@pytest.mark.parametrize(("starts", "gos"), [(True, 1 + 1 + 1), (False, 0)])
def test_gos_counts_the_dealt_cards_only_in_hands_that_he_starts(starts: bool, gos: int):
    arnold = Arnold()
    arnold.begin_hand(starts, ["STOP", "ACCIDENT", "DRIVING_ACE", "SPEED_LIMIT", "RIGHT_OF_WAY", "ROLL"])
    assert arnold.gos == gos
    arnold.draw("EXTRA_TANK")
    assert arnold.gos == gos + 2


@pytest.mark.parametrize(("carry_need", "need"), [(True, 4), (False, 2)])
def test_need_grows_by_2_per_stuck_turn_and_is_never_reset(carry_need: bool, need: int):
    arnold = holding(*SIX_PLAIN, carry_need=carry_need)
    arnold.decide(Side(miles=100, battle="FLAT_TIRE"), going(), 700, 50, 1)
    assert arnold.need["SPARE_TIRE"] == 4
    arnold.begin_hand(False, SIX_PLAIN)
    assert arnold.need["SPARE_TIRE"] == need


def test_threat_looks_at_the_100s_where_right_of_way_was_meant():
    waits = Side(miles=500, battle="GASOLINE")
    assert holding("100").threat(waits, 700)
    assert not holding("100", true_threat=True).threat(waits, 700)
    assert not holding("RIGHT_OF_WAY").threat(waits, 700)
    assert holding("RIGHT_OF_WAY", true_threat=True).threat(waits, 700)


def test_threat_a_battle_card_lies_there_whose_safety_has_been_seen():
    assert holding("PUNCTURE_PROOF").threat(Side(miles=675, battle="FLAT_TIRE"), 700)
    assert not holding("DRIVING_ACE").threat(Side(miles=675, battle="FLAT_TIRE"), 700)


def test_threat_the_distance_left_is_exactly_a_mile_card_not_all_copies_of_which_are_seen():
    arnold = holding("200", "200", "200", "200")
    assert [miles for miles in range(0, 700, 25) if arnold.threat(going(miles), 700)] == [600, 625, 650, 675]
    assert holding().threat(going(500), 700)
    assert not holding().threat(going(500, two_hundreds=2), 700)


def test_threat_if_it_is_75_or_more_and_p_is_limited_true_iff_no_100_is_seen():
    assert holding().threat(going(625, limited=True), 700)
    assert not holding("100").threat(going(625, limited=True), 700)
    assert holding("100").threat(going(650, limited=True), 700)


def test_extend_no_if_fewer_than_two_own_safeties_known_or_the_opponent_has_0_miles():
    assert not holding("EXTRA_TANK").extends(going(700), going(100), 60)
    assert holding("EXTRA_TANK", "DRIVING_ACE").extends(going(700), going(100), 60)
    assert holding("EXTRA_TANK").extends(going(700, safeties={"DRIVING_ACE"}), going(100), 60)
    assert not holding("EXTRA_TANK", "DRIVING_ACE").extends(going(700), going(0), 60)
    assert not holding("EXTRA_TANK", "DRIVING_ACE").extends(going(700), going(525), 60)


def test_extend_all_mile_cards_in_hand_count_also_the_one_just_played():
    him = going(100, safeties={"RIGHT_OF_WAY"})
    arnold = holding("EXTRA_TANK", "DRIVING_ACE", "STOP", "STOP", "200", "100")
    assert not arnold.extend(him, 233)
    assert arnold.extend(him, 234)
    arnold.lay(6)
    assert [arnold.extends(going(700), him, pile) for pile in (233, 234)] == [False, True]


def test_a_safety_answering_the_hazard_now_in_force_is_played_at_once():
    arnold = holding("100", "RIGHT_OF_WAY", "GASOLINE")
    assert arnold.decide(going(limited=True), going(), 700, 50, 1) == ("play", "RIGHT_OF_WAY")
    arnold = holding("RIGHT_OF_WAY", "EXTRA_TANK", "GASOLINE")
    assert arnold.decide(Side(battle="OUT_OF_GAS"), going(), 700, 50, 1) == ("play", "EXTRA_TANK")


def test_a_safety_is_played_when_the_opponent_could_finish_with_the_next_card():
    assert holding("100", "EXTRA_TANK").decide(going(), going(650), 700, 50, 1) == ("play", "EXTRA_TANK")
    assert holding("100", "EXTRA_TANK").decide(going(), going(150), 700, 50, 1) == ("play", "100")


def test_a_safety_is_played_before_finishing_unless_a_stopper_is_held():
    hand = ["100", "EXTRA_TANK"]
    assert holding(*hand).decide(going(600), going(150), 700, 50, 1) == ("play", "EXTRA_TANK")
    assert holding(*hand, "STOP").decide(going(600), going(150), 700, 50, 1) == ("play", "100")
    # Extended instead: the finisher is not kept, and no safety is wasted.
    arnold = holding(*hand, "DRIVING_ACE")
    assert arnold.decide(going(600), going(150), 700, 50, 1) == ("play", "100")
    assert arnold.extends(going(700), going(150), 50)


def test_a_safety_is_played_when_all_copies_of_its_hazard_are_seen():
    arnold = holding("EXTRA_TANK", "100")
    arnold.see("OUT_OF_GAS")
    assert arnold.decide(going(), going(), 700, 50, 1) == ("play", "100")
    arnold.see("OUT_OF_GAS")
    assert arnold.decide(going(), going(), 700, 50, 1) == ("play", "EXTRA_TANK")


@pytest.mark.parametrize(("miles", "pile", "lays"), [(100, 29, "75"), (100, 28, "EXTRA_TANK"), (0, 36, "75")])
def test_a_safety_is_played_when_deck_size_minus_random_minus_7_is_below_25(miles, pile, lays):
    arnold = holding("EXTRA_TANK", "75")
    assert arnold.decide(Side(miles=miles), Side(miles=100, battle="STOP"), 700, pile, 4)[1] == lays
    arnold = holding("EXTRA_TANK", "75")
    assert arnold.decide(Side(miles=0), Side(miles=100, battle="STOP"), 700, 35, 4)[1] == "EXTRA_TANK"


def test_the_last_slot_wins_ties():
    arnold = holding("100", "75", "100", "75")
    arnold.decide(going(), going(), 700, 50, 1)
    assert arnold.slots == [None, None, None, "100", "75", None, "75"]
    arnold = holding("75", "100", "75", "100", "100", "100")
    arnold.decide(Side(), going(), 700, 50, 1)
    assert arnold.slots[1:] == ["75", "100", None, "100", "100", "100"]


def test_if_the_lowest_is_a_safety_it_is_played_instead():
    arnold = holding("DRIVING_ACE", "EXTRA_TANK")
    assert arnold.decide(going(), Side(miles=100), 700, 50, 1) == ("play", "EXTRA_TANK")


def test_a_25_or_50_is_not_played_if_close_to_the_target():
    hand = ["25", "REPAIRS", "75"]
    assert holding(*hand).decide(going(600), going(), 700, 50, 1) == ("play", "75")
    assert holding(*hand[:2]).decide(going(600), going(), 700, 0, 1) == ("play", "25")
    assert holding(*hand[:2]).decide(going(600), going(), 700, 50, 1) == ("discard", "REPAIRS")
    assert holding("50", "REPAIRS").decide(going(625), going(), 700, 50, 1) == ("play", "50")
    assert holding("50", "REPAIRS").decide(going(600), going(), 700, 50, 1) == ("discard", "REPAIRS")


def test_the_first_withheld_25_sends_the_whole_evaluation_into_discard_mode_in_debian():
    hand = ["25", "REPAIRS", "75"]
    assert holding(*hand, debian=True).decide(going(600), going(), 700, 50, 1) == ("discard", "REPAIRS")
    # Cards playable stay at 101, and the last slot wins ties.
    assert holding("25", "75", debian=True).decide(going(600), going(), 700, 50, 1) == ("discard", "75")


def test_values_of_miles():
    cards = ["25", "50", "75", "100", "200", "200"]
    assert values(holding(*cards), going(0), going(), play_mode=True) == [2, 5, 10, 13, 26, 26]
    assert values(holding(*cards), going(0, limited=True), going(), play_mode=True)[:5] == [4, 7, 8, 11, 24]
    assert values(holding(*cards), going(two_hundreds=1), going(), play_mode=True)[4:] == [26, 0]
    # Exactly reaching the target: 40 for the first such card; beyond it: the card index.
    cards = ["25", "50", "50", "100", "200"]
    assert values(holding(*cards), going(650), going(), play_mode=True) == [2, 40, 1, 3, 4]
    assert values(holding(*cards), going(950), going(), play_mode=True, target=1000) == [2, 40, 1, 0, 0]


def test_the_low_card_exception_holds_at_most_once_per_evaluation():
    assert values(holding("25", "50", "50"), Side(), going(), play_mode=False) == [2, 20, 5]
    assert values(holding("25", "25"), Side(miles=100), going(), play_mode=False) == [10, 2]
    assert values(holding("50", "RIGHT_OF_WAY"), Side(), going(), play_mode=False) == [5]


def test_values_of_remedies():
    arnold = holding("GASOLINE", "GASOLINE", "END_OF_LIMIT", "ROLL", "ROLL")
    # Gas: 6 x 2 + 2, /4 and /1. End: 6 x 3 + 1. Go: 3 x 10 + 2, /4 and /1 in both modes.
    assert values(arnold, Side(), going(), play_mode=False) == [14 // 4, 14, 19, 8, 32]
    assert values(arnold, Side(battle="OUT_OF_GAS"), going(), play_mode=True) == [14, 14, 19, 8, 32]
    arnold.see("OUT_OF_GAS")  # 1 + n > 2 for the first copy only
    assert values(arnold, Side(), going(), play_mode=False)[:2] == [0, 13]
    assert values(holding("REPAIRS", "DRIVING_ACE"), Side(), going(), play_mode=False) == [1]
    arnold.played.add("RIGHT_OF_WAY")
    assert values(arnold, Side(), going(), play_mode=False)[2:] == [-1, -1, -1]


def test_values_of_hazards():
    cards = ["OUT_OF_GAS", "STOP", "SPEED_LIMIT", "ACCIDENT"]
    # Gas-out 4 x (2 + 0 + 2), Stop 4 x 4, Limit: 1 for the stopper, Crash like Gas-out.
    assert values(holding(*cards), going(), going(), play_mode=True) == [16, 16, 1, 16]
    # He has 0 miles and cannot go: +5 each, 5 - 5 for Stop; Limit 3 x 5 + 5; divided by 1, 2, 3, 4.
    him = Side(battle="STOP")
    assert values(holding(*cards), going(), him, play_mode=False) == [21, 16 // 2, 20 // 3, 21 // 4]
    # Knowing the safety: base 3 and +3; with Q4 switched off 4 and +3 (and 3 without it).
    cards = ["OUT_OF_GAS", "EXTRA_TANK", "ACCIDENT"]
    assert values(holding(*cards), going(), going(), play_mode=True) == [15, 16]
    assert values(holding(*cards, reversed_base=False), going(), going(), play_mode=True) == [19, 12]


def test_every_decision_is_one_of_the_hand_and_plays_are_playable():
    chance = random.Random(1982)
    deck = [card for card, total in TOTALS.items() for _ in range(total)]
    for _ in range(3000):
        cards = chance.sample(deck, 47)
        arnold = Arnold(debian=chance.random() < 0.5, true_threat=chance.random() < 0.5)
        arnold.begin_hand(chance.random() < 0.5, cards[:6])
        for card in cards[7 : 7 + chance.randrange(40)]:
            arnold.see(card)
        arnold.draw(cards[6])
        sides = []
        for _ in range(2):
            safeties = set(chance.sample(SAFETIES, chance.randrange(3))) - set(arnold.slots)
            battle = chance.choice(
                [None, "ROLL", "GASOLINE", *HAZARDS[: 3 + ("RIGHT_OF_WAY" not in safeties)]]
            )
            limited = chance.random() < 0.3 and "RIGHT_OF_WAY" not in safeties
            can_go = battle == "ROLL" or ("RIGHT_OF_WAY" in safeties and battle not in HAZARDS)
            safeties -= {SAFETIES[HAZARDS.index(battle)]} if battle in HAZARDS else set()
            miles = chance.randrange(0, 700, 25)
            sides.append(Side(miles, battle, limited, can_go, safeties, min(2, miles // 200)))
        held = list(arnold.slots)
        verb, card = arnold.decide(*sides, 700, chance.randrange(60), chance.randint(1, 10))
        assert card in held
        assert verb == "play" or card not in SAFETIES
        assert sum(slot is not None for slot in arnold.slots) == 6
