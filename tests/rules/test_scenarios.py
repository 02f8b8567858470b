"""The conformance scenarios of the specification, section 3, in every edition that they name.

`test_scenario_NN_...` is scenario NN; `@columns` repeats its column "edition".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tests.each import Test, each
from tests.rules.editions.tables import EDITIONS, ROLLING, at, kms
from tests.support import BREAKDOWNS, CARDS, DISTANCES, HAZARDS, SAFETIES, Position

COLUMNS = {
    "NL": ("dutch",),
    "FRC": ("dujardin_classic",),
    "FR14": ("dujardin_2014",),
    "FR01": ("dujardin",),
    "FR": ("dujardin", "dujardin_2014"),
    "DE": ("winning_moves",),
    "US": ("parker",),
    "WP": ("parker",),
    "all": EDITIONS,
}


def columns(names: str) -> Callable[[Test], Test]:
    """Return a parameter `name` for each edition of these columns of the specification."""
    result = dict.fromkeys(edition for column in names.split() for edition in COLUMNS[column])
    return each("name", result)


@columns("all")
def test_scenario_01_the_full_deck(name: str) -> None:
    """106 cards: 46 distances, 18 hazards, 38 remedies, 4 safeties (002:41-107; rules 0.2)."""
    counts = [at(name, players=4).deck[card] for card in range(19)]
    assert counts == [10, 10, 10, 12, 4, 3, 3, 3, 5, 4, 6, 6, 6, 14, 6, 1, 1, 1, 1]
    assert [sum(counts[:5]), sum(counts[5:10]), sum(counts[10:15]), sum(counts[15:])] == [46, 18, 38, 4]


@columns("US FRC NL")
def test_scenario_02_two_players(name: str) -> None:
    """101 cards, six in each hand, 89 in the pile: 88 when the first has drawn (000:134; FRC p. 17; US A)."""
    position = at(name, dealt=True)
    assert position.deck.total() == 101
    assert sorted(position.hand_sizes()) == [6, 7]
    assert position.pile_size + 1 == 89


@columns("DE")
def test_scenario_03_two_players_keep_the_stops(name: str) -> None:
    """102 cards: Stop still 5, the breakdowns 2 each, Limit 3; 90 in the pile (002:25)."""
    position = at(name, dealt=True)
    assert [position.deck[CARDS.index(hazard)] for hazard in HAZARDS] == [2, 2, 2, 5, 3]
    assert (position.deck.total(), position.pile_size + 1) == (102, 90)


@columns("FR14 FR01")
def test_scenario_04_two_players_with_the_whole_deck(name: str) -> None:
    """106 cards, 94 in the pile, 1,000 km (001:32; FR14)."""
    position = at(name, dealt=True)
    assert (position.deck.total(), position.pile_size + 1, position.target) == (106, 94, 1000)


@columns("US FRC DE")
def test_scenario_06_six_players(name: str) -> None:
    """Three pairs, 700 km, an extension, 106 cards, 70 in the pile (002:33; FRC p. 17; US)."""
    position = at(name, players=6, dealt=True)
    assert (position.rules.teams, position.target, position.rules.extended_target) == (3, 700, 1000)
    assert (position.deck.total(), position.pile_size + 1) == (106, 70)


@columns("NL FRC FR14 DE US WP")
def test_scenario_07_no_roll_no_distance(name: str) -> None:
    """Nothing in the battle area and no safety: 25 is illegal (000:45; 002:184; 004:13)."""
    assert not at(name, "hand 0: 25").can("play 25")


@columns("FR01")
def test_scenario_08_everybody_rolls_from_the_start(name: str) -> None:
    """Nothing in the battle area and no safety: 100 is legal (001:11-12)."""
    assert at(name, "hand 0: 100").can("play 100")


@columns("NL FRC FR14 US WP")
def test_scenario_09_no_accident_on_an_empty_pile(name: str) -> None:
    """A team that has not started cannot be stopped (000:195; 004:18)."""
    assert not at(name, "hand 0: accident").can("play accident")


@columns("DE")
def test_scenario_10_an_accident_opens_the_pile(name: str) -> None:
    """In the first turn a hazard on A's empty pile is legal and becomes its top (002:147)."""
    assert at(name, "to act: seat 1", "hand 1: accident").do("play accident").battle_top(0) == "accident"


@columns("DE")
def test_scenario_12_a_roll_after_repairs(name: str) -> None:
    """On an Accident that lay on a Roll: Repairs, then no 100 but a Roll, then the 100 (002:98)."""
    position = at(name, "battle 0: accident on roll", "hand 0: repairs roll 100")
    position.do("play repairs").turn(0)
    assert position.plays() == {"roll"}
    assert position.do("play roll").turn(0).can("play 100")


@columns("US FRC FR14 FR01 WP DE")
def test_scenario_13_a_limit_on_an_empty_pile(name: str) -> None:
    """A team that has not started can be limited (001:92-94; 004:18; US C)."""
    assert at(name, "hand 0: speed_limit").can("play speed_limit")


@columns("all")
def test_scenario_15_limited_and_rolling(name: str) -> None:
    """25 and 50, not 75, 100, 200 (000:35; 004:24)."""
    position = at(name, "battle 0: roll", "speed 0: speed_limit").hand(0, *DISTANCES)
    assert position.plays() == {"25", "50"}


@columns("all")
def test_scenario_16_end_of_limit(name: str) -> None:
    """Legal on a limit, illegal without one (004:15; E26)."""
    position = at(name, "hand 0: end_of_limit")
    assert not position.can("play end_of_limit")
    assert position.speed(0, "speed_limit").can("play end_of_limit")


@columns("all")
def test_scenario_17_no_second_limit(name: str) -> None:
    """A Speed Limit on a Speed Limit is illegal (002:61; E28)."""
    assert not at(name, "speed 1: speed_limit", "hand 0: speed_limit").can("play speed_limit")


@columns("NL FRC DE US WP")
def test_scenario_18_roll_after_the_spare_tire(name: str) -> None:
    """Next turn a distance is illegal, a Roll legal (000:174; 002:98; 004:20)."""
    position = at(name, "battle 0: flat_tire on roll", "hand 0: spare_tire roll 25")
    position.do("play spare_tire").hand(1, "stop").do("discard stop")
    assert position.seat == 0
    assert not position.can("play 25")
    assert position.can("play roll")


@columns("FR14 FR01")
def test_scenario_19_no_roll_after_the_spare_tire(name: str) -> None:
    """Next turn a distance is legal (001:100-102; FR14 possibility 4)."""
    position = at(name, "hand 0: spare_tire 25").battle(0, *ROLLING[name], "flat_tire")
    position.do("play spare_tire").hand(1, "stop").do("discard stop")
    assert position.seat == 0
    assert position.can("play 25")


@columns("all")
def test_scenario_20_stop(name: str) -> None:
    """A Roll is legal and enough; Spare Tire and Gasoline are illegal (000:19; 002:100; 004:14, 004:18)."""
    position = at(name, "hand 0: roll spare_tire gasoline").battle(0, *ROLLING[name], "stop")
    assert position.plays() == {"roll"}
    assert position.do("play roll").turn(0).hand(0, "25").can("play 25")


@columns("all")
def test_scenario_22_right_of_way_on_stop_and_limit(name: str) -> None:
    """Both are gone; in the extra play a 200 is legal (000:73; 004:26; FRC p. 10)."""
    position = at(name, "speed 0: speed_limit", "hand 0: right_of_way 200").battle(0, *ROLLING[name], "stop")
    position.do("play right_of_way")
    assert position.discards == {"stop": 1, "speed_limit": 1}
    assert position.can("play 200")


@columns("US FRC")
def test_scenario_24_right_of_way_on_a_remedy(name: str) -> None:
    """Its target on Gasoline: Flat Tire legal, Stop and Limit illegal (004:26; FRC p. 9; E1)."""
    position = at(name, "safeties 1: right_of_way").battle(1, "roll", "out_of_gas", "gasoline")
    assert position.hand(0, "flat_tire", "stop", "speed_limit").plays() == {"flat_tire"}


@columns("FR14")
def test_scenario_25_right_of_way_on_an_empty_pile(name: str) -> None:
    """Its target with nothing in the battle area: Accident legal (FR14 possibility 3; E2)."""
    assert at(name, "safeties 1: right_of_way", "hand 0: accident").can("play accident")


@columns("US FRC NL WP")
def test_scenario_26_no_attack_on_a_remedy(name: str) -> None:
    """Without Right of Way, on Gasoline that waits for its Roll: Flat Tire illegal (000:195; 004:16)."""
    position = at(name, "hand 0: flat_tire").battle(1, "roll", "out_of_gas", "gasoline")
    assert not position.can("play flat_tire")


@columns("all")
def test_scenario_27_a_safety_in_the_turn(name: str) -> None:
    """Six in hand, 50 to draw; draw, Extra Tank, another card: six in hand, 48 to draw.

    Source: 001:29; 002:168; 004:22.
    """
    position = at(name, "hand 0: stop", "hand 1: extra_tank 25 4x gasoline")
    position.draw_pile(50).battle(1, *ROLLING[name]).do("discard stop", "play extra_tank")
    assert position.seat == 1
    position.do("play 25")
    assert position.hand_sizes()[1] == 6
    assert position.pile_size + 1 == 48  # seat 0 has drawn its next card


@columns("all")
def test_scenario_28_two_safeties_and_a_distance(name: str) -> None:
    """Three cards fewer in the pile, six in hand (004:22)."""
    position = at(name, "hand 0: stop", "hand 1: extra_tank driving_ace 25 3x gasoline")
    position.draw_pile(50).battle(1, *ROLLING[name])
    position.do("discard stop", "play extra_tank", "play driving_ace", "play 25")
    assert position.hand_sizes()[1] == 6
    assert position.pile_size + 1 == 50 - 3


@columns("NL")
def test_scenario_29_extra_tank_on_out_of_gas(name: str) -> None:
    """The hazard goes to the discard pile; a distance is legal in the extra play (000:97; 000:174)."""
    position = at(name, "battle 0: out_of_gas on roll", "hand 0: extra_tank 25")
    assert position.do("play extra_tank").discards == {"out_of_gas": 1}
    assert position.can("play 25")


@columns("FR14 FR01")
def test_scenario_31_extra_tank_restarts_at_once(name: str) -> None:
    """A distance is legal at once (001:164-166)."""
    position = at(name, "hand 0: extra_tank 25").battle(0, *ROLLING[name], "out_of_gas")
    assert position.do("play extra_tank").can("play 25")


@columns("US NL FRC DE FR")
def test_scenario_32_coup_fourre(name: str) -> None:
    """A's Flat Tire on C is claimed: discarded, two drawn, a distance laid; A is next, B is not.

    Source: 000:211-214; 001:200-211; 002:174; US.
    """
    position = at(name, "hand 0: flat_tire", "hand 1: stop", "hand 2: puncture_proof 25", players=3)
    position.battle(2, *ROLLING[name]).do("play flat_tire against team 2", "claim")
    assert position.discards == {"flat_tire": 1}
    assert position.hand_sizes()[2] == 1 + 2
    assert position.battle_top(2) == (ROLLING[name][0] if ROLLING[name] else None)
    position.do("play 25")
    assert position.seat == 0
    assert position.hand_of(1) == ["stop"]


@columns("all")
def test_scenario_34_coup_fourre_in_teams(name: str) -> None:
    """N E S W: E attacks N/S, S holds the safety, claims, draws two, plays; then W (US; E11)."""
    north, east, south, west = range(4)
    position = at(
        name,
        f"to act: seat {east}",
        f"hand {east}: flat_tire",
        f"hand {south}: puncture_proof stop",
        players=4,
        teams=2,
    )
    position.battle(north, *ROLLING[name]).do("play flat_tire", "claim")
    assert (position.seat, position.hand_sizes()[south]) == (south, 3)
    assert position.do("discard stop").seat == west


@columns("US")
def test_scenario_35_the_claim_lapses_with_the_draw(name: str) -> None:
    """Drawn first: no claim any more, and the safety is a normal one for 100 (US; E12)."""
    position = at(name, "battle 1: roll", "hand 0: flat_tire", "hand 1: puncture_proof stop", players=3)
    position.do("play flat_tire against team 1", "pass")
    assert position.seat == 1
    assert not position.legal() & {"claim", "pass"}
    position.do("play puncture_proof", "discard stop").run_out()
    assert position.sheet(1) == {"safeties": 100}


@columns("all")
def test_scenario_36_right_of_way_against_a_limit(name: str) -> None:
    """Claimed with an empty battle pile: Limit discarded, Right of Way out, a distance may follow.

    Source: 000:113; FRC pp. 10-11; E8.
    """
    position = at(name, "hand 0: speed_limit", "hand 1: right_of_way 100")
    position.do("play speed_limit", "claim")
    assert position.discards == {"speed_limit": 1}
    assert position.laid(1) == {"right_of_way": 1}
    assert position.can("play 100")


@columns("FRC")
def test_scenario_40_a_safety_with_the_pile_empty(name: str) -> None:
    """It gives no second play: the turn passes (FRC p. 16; E17)."""
    position = at(name, "hand 0: extra_tank stop", "hand 1: stop").draw_pile(0).do("play extra_tank")
    assert (position.seat, position.hand_of(0)) == (1, ["stop"])


@columns("FRC FR14 FR01 DE US WP")
def test_scenario_42_a_third_200(name: str) -> None:
    """Two 200s lie there: another one is illegal (001:86-88; 002:49; 004:24)."""
    position = at(name, "hand 0: 200").battle(0, *ROLLING[name]).km(0, 400, two_hundreds=2)
    assert not position.can("play 200")
    assert position.km(0, 200, two_hundreds=1).can("play 200")


@columns("all")
def test_scenario_43_950_of_1000(name: str) -> None:
    """25 and 50 are legal, 75, 100, 200 illegal (002:156; 004:30; FRC p. 13)."""
    position = at(name, players=4).battle(0, *ROLLING[name]).km(0, 950).hand(0, *DISTANCES)
    assert position.plays() == {"25", "50"}


@columns("US")
def test_scenario_45_675_of_700(name: str) -> None:
    """25 ends the round or extends it; 50 is illegal (US C; 004:30)."""
    position = at(name, "battle 0: roll", "hand 0: 25 50").km(0, 675)
    assert position.plays() == {"25"}
    assert position.do("play 25").legal() == {"extend", "finish"}


@columns("WP")
def test_scenario_46_discards(name: str) -> None:
    """With a distance that could be laid, any card may be discarded (004:28)."""
    position = at(name, "battle 0: roll", "hand 0: 25 stop roll")
    assert position.can("play 25")
    assert {"discard 25", "discard stop", "discard roll"} <= position.legal()


@columns("all")
def test_scenario_47_driving_ace(name: str) -> None:
    """It is out: an Accident is illegal (000:93; 001:182-183; 004:16)."""
    position = at(name, "safeties 1: driving_ace", "hand 0: accident flat_tire").battle(1, *ROLLING[name])
    assert position.plays() == {"flat_tire"}


@columns("WP")
def test_scenario_48_roll_on_roll(name: str) -> None:
    """Illegal (004:18)."""
    assert not at(name, "battle 0: roll", "hand 0: roll").can("play roll")


@columns("FRC")
def test_scenario_49_nobody_finishes(name: str) -> None:
    """350 km, two safeties, one a coup: 850; 825 km and a safety: 925 (FRC, first scoring example)."""
    position = at(name, "safeties 0: extra_tank!", players=4).safety(0, "driving_ace")
    kms(position.safety(1, "puncture_proof"), (350, 825)).run_out()
    assert position.points() == [850, 925]


@columns("US NL FRC DE")
def test_scenario_52_all_safeties(name: str) -> None:
    """All four, two of them as coups: 400 + 300 + 600 (000:257-258; US, hint G)."""
    position = at(name).safety(0, *SAFETIES[:2], coup=True).safety(0, *SAFETIES[2:]).run_out()
    assert position.points() == [1300, 0]


@columns("US FRC NL")
def test_scenario_54_extension_won(name: str) -> None:
    """1000 + 400 + 300 + 200 + 100 = 2000 against 450, the distance (000:235-245; US C)."""
    position = at(name, "battle 0: roll", "safeties 0: extra_tank", "hand 0: 50").km(0, 650).km(1, 450)
    position.do("play 50", "extend").finish_trip(0)
    assert position.points() == [2000, 450]


@columns("US FRC")
def test_scenario_57_extension_lost(name: str) -> None:
    """The cards run out: 900, and 300 + 200 for the opponent (FRC p. 18; US C)."""
    position = at(name, "battle 0: roll", "hand 0: 50").km(0, 650)
    position.do("play 50", "extend").km(0, 900).km(1, 300).run_out()
    assert position.points() == [900, 500]


@columns("US DE")
def test_scenario_60_nobody_arrives(name: str) -> None:
    """300, 200 and a blank third: no shut-out for anybody (002:140; US)."""
    assert kms(at(name, players=3), (300, 200, 0)).run_out().points() == [300, 200, 0]


@columns("US")
def test_scenario_62_both_opponents_blank(name: str) -> None:
    """700 + 400 + 500 = 1600, with a 200 laid and cards to draw (US scoring; E42)."""
    position = at(name, players=3).km(0, 200, two_hundreds=1).finish_trip(0)
    assert position.points() == [1600, 0, 0]


@columns("US FRC DE")
def test_scenario_65_delayed_action(name: str) -> None:
    """He draws the last card and finishes with it, or with another one: 300 (002:17; E37)."""
    for last, hand in (("25", ()), ("stop", ("25",))):
        position = at(name, "battle 1: roll", "hand 0: stop", f"stream 1: {last} ...")
        position.draw_pile(1).km(1, 675).hand(1, *hand).do("discard stop", "play 25", "finish")
        assert position.sheet(1)["delayed_action"] == 300


@columns("WP US")
def test_scenario_68_play_out(name: str) -> None:
    """No card to draw, three in each hand, nothing to lay: one discard per turn to the end (004:37)."""
    position = at(name, "hand 0: 2x stop repairs", "hand 1: 3x gasoline").draw_pile(0)
    seats = []
    while position.phase != "round over":
        assert not position.plays()
        seats.append(position.seat)
        position.do(min(position.legal()))
    assert seats == [0, 1, 0, 1, 0, 1]


@columns("US")
def test_scenario_69_both_beyond_5000(name: str) -> None:
    """5100 against 5250: the second wins (US, winning the game)."""
    position = at(name)
    position.state.score[0], position.state.score[1] = 4700, 4800
    kms(position, (400, 450)).run_out()
    assert position.totals() == [5100, 5250]
    assert position.match_winner() == 1


@columns("FRC")
@each("players", [2, 3, 4, 6])
def test_scenario_70_the_dealer(name: str, players: int) -> None:
    """The dealer's left neighbour deals next, and his own left neighbour begins (FRC pp. 6-7; rules 1.1)."""
    position = at(name, players=players)
    position.state.dealer = players - 1
    position.run_out().next_round()
    assert (int(position.state.dealer), position.seat) == (0, 1)


@columns("DE")
def test_scenario_71_the_partner_goes_on(name: str) -> None:
    """The partner opened with a Roll and no hazard lies on it: the third player may lay miles (002:152)."""
    position = at(name, "hand 0: roll", "hand 1: stop", "hand 2: 100", players=4)
    position.do("play roll", "discard stop")
    assert (position.seat, position.can("play 100")) == (2, True)
    position = at(name, "hand 0: roll", "hand 1: stop", "hand 2: 100", players=4)
    position.do("play roll", "play stop")
    assert (position.seat, position.can("play 100")) == (2, False)


@columns("US")
def test_scenario_73_extension_declined(name: str) -> None:
    """At exactly 700 the round ends, with the 400 and without a word of the extension (002:156; US C)."""
    position = at(name).km(1, 25).finish_trip(0)
    assert position.sheet(0) == {"distance": 700, "trip_completed": 400, "safe_trip": 300}
    assert position.sheet(1) == {"distance": 25}


@columns("all")
def test_scenario_74_no_second_coup(name: str) -> None:
    """The safety is out, so the hazard is illegal and nothing can be parried (001:182; 004:16)."""
    for hazard, _, safety in (*BREAKDOWNS, ("stop", "", "right_of_way"), ("speed_limit", "", "right_of_way")):
        position = at(name, f"safeties 1: {safety}").battle(1, *ROLLING[name]).hand(0, *HAZARDS)
        assert not position.can(f"play {hazard}")


def test_the_names_of_the_cards_are_those_of_the_deck() -> None:
    """The scenarios speak of 19 kinds of cards, and there are no others (rules 0.2)."""
    assert Counter(CARDS).total() == 19 == len(Position().deck)
