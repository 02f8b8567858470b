"""Winning Moves Deutschland, text 002: what it says otherwise than the others (see `test_all*.py`)."""

from __future__ import annotations

from tests.each import each
from tests.rules.editions.tables import at, kms, lay
from tests.support import BATTLE_HAZARDS, BREAKDOWNS, CARDS, DISTANCES, HAZARDS, REMEDIES, SAFETIES, Position


def meilen(*lines: str, **options: int) -> Position:
    return at("winning_moves", *lines, **options)


# The table ------------------------------------------------------------------------------------------------


def test_the_deck() -> None:
    """46 miles, 18 hazards, 38 remedies, 4 safeties: 106 (002:37-57; 002:71; 002:90-107)."""
    deck = meilen(players=4).deck
    assert [deck[card] for card in range(5)] == [10, 10, 10, 12, 4]
    assert {name: deck[CARDS.index(name)] for name in HAZARDS} == {
        **dict.fromkeys(("out_of_gas", "flat_tire", "accident"), 3),
        **{"speed_limit": 4, "stop": 5},
    }
    assert {name: deck[CARDS.index(name)] for name in REMEDIES} == dict.fromkeys(REMEDIES, 6) | {"roll": 14}
    assert {name: deck[CARDS.index(name)] for name in SAFETIES} == dict.fromkeys(SAFETIES, 1)
    assert deck.total() == 106


@each("players", [2, 3])
def test_alone_four_cards_are_taken_out_and_no_stop(players: int) -> None:
    """One Accident, Out of Gas, Flat Tire and Limit each; 700 miles; extension (002:25-29; 002:190)."""
    position = meilen(players=players)
    assert [position.deck[CARDS.index(hazard)] for hazard in HAZARDS] == [2, 2, 2, 5, 3]
    assert position.deck.total() == 102
    assert (position.rules.teams, position.target, position.rules.extended_target) == (players, 700, 1000)


@each(("players", "teams", "target", "extended"), [(4, 2, 1000, 0), (6, 3, 700, 1000)])
def test_four_and_six_play_in_pairs(players: int, teams: int, target: int, extended: int) -> None:
    """Partners opposite, an opponent always between them (002:31-33; 002:65; 002:156; 002:190)."""
    position = meilen(players=players)
    assert (position.rules.teams, position.target, position.rules.extended_target) == (
        teams,
        target,
        extended,
    )
    assert position.deck.total() == 106


# The first turn (002:196-199, 147-148) --------------------------------------------------------------------


def test_what_the_first_player_may_do() -> None:
    """A Roll, a safety, a hazard on an opponent, or a discard (002:147-148; 002:196-199)."""
    position = meilen().hand(0, *CARDS)
    assert position.plays() == {"roll", *SAFETIES, *HAZARDS}
    assert {f"discard {card}" for card in CARDS} <= position.legal()


def test_the_second_player_may_also_answer_or_go_on_attacking() -> None:
    """A remedy on his own pile, a hazard on one that has begun (002:150)."""
    position = meilen("hand 0: accident").do("play accident").hand(1, *CARDS)
    assert position.plays() == {"repairs", *SAFETIES, *HAZARDS}
    position = meilen("hand 0: roll").do("play roll").hand(1, *CARDS)
    assert position.plays() == {"roll", *SAFETIES, *HAZARDS}


def test_the_partner_goes_on_with_the_pile() -> None:
    """A mile on the partner's Roll or Right of Way; not if a hazard lies on it (002:152-154; 002:186)."""
    for start in ("roll", "right_of_way"):
        position = meilen(f"hand 0: {start}", "hand 1: accident", "hand 2: 25", "hand 3: stop", players=4)
        position.do(f"play {start}")
        if start == "right_of_way":
            position.do(min(move for move in position.legal() if move.startswith("discard")))
        without = position.turn(2).can("play 25")
        position.turn(1).do("play accident").turn(2)
        assert (without, position.can("play 25")) == (True, False)
    assert not meilen("safeties 0: extra_tank", "to act: seat 2", "hand 2: 25", players=4).plays()


@each(("any_safety", "starters"), [(0, {"right_of_way"}), (1, set(SAFETIES))])
def test_which_safety_lets_the_miles_begin(any_safety: int, starters: set[str]) -> None:
    """Right of Way only (002:152; 002:170); "a safety" taken literally is an option (002:199; E31)."""
    for safety in SAFETIES:
        position = meilen(f"hand 0: {safety} 25", any_safety_starts=any_safety).do(f"play {safety}")
        assert position.can("play 25") == (safety in starters)


# A hazard opens the pile ----------------------------------------------------------------------------------


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_after_an_opening_hazard_the_remedy_starts(hazard: str, remedy: str, safety: str) -> None:
    """Without a Roll, even on later turns, and he can be attacked then (002:147; 002:184)."""
    position = meilen(f"hand 0: {hazard}").do(f"play {hazard}").hand(1, *DISTANCES, *REMEDIES)
    assert position.plays() == {remedy}
    position.do(f"play {remedy}").turn(1)
    assert position.plays() >= set(DISTANCES)
    position.do("play 25").turn(1)
    assert position.can("play 50")
    assert position.turn(0).hand(0, *HAZARDS).plays() == set(HAZARDS)


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_after_a_later_hazard_remedy_and_roll_are_needed(hazard: str, remedy: str, safety: str) -> None:
    """Only the first one is so cheap, on whatever turn the Roll comes (002:98; 002:184; E32)."""
    for pile in (("roll",), ("accident", "repairs"), ("stop", "roll")):
        position = meilen(f"hand 0: {remedy} 25 roll").battle(0, *pile, hazard).do(f"play {remedy}")
        for _ in range(3):
            assert position.turn(0).plays() == {"roll"}
        assert position.do("play roll").turn(0).plays() == {"25"}


def test_an_opening_stop_takes_a_roll_which_starts() -> None:
    """The Roll answers it and starts (002:100; 002:184; E30)."""
    position = meilen("hand 0: stop").do("play stop").hand(1, *DISTANCES, *REMEDIES)
    assert position.plays() == {"roll"}
    assert position.do("play roll").turn(1).plays() == set(DISTANCES)


def test_an_opening_limit_is_no_beginning() -> None:
    """It lies on the speed pile: after its end the Roll is still needed (002:100; 002:147; E30)."""
    position = meilen("hand 0: speed_limit").do("play speed_limit").hand(1, "end_of_limit", "25", "roll")
    assert position.plays() == {"end_of_limit", "roll"}
    assert position.do("play end_of_limit").turn(1).plays() == {"roll"}


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
@each("answer", ["claim", "pass"])
def test_an_opening_hazard_undone_by_its_safety_leaves_nothing(
    hazard: str, remedy: str, safety: str, answer: str
) -> None:
    """By coup fourré or later, the pile is as empty as before and wants its Roll (002:109; 002:174; E10)."""
    position = meilen(f"hand 0: {hazard}", f"hand 1: {safety} 25 roll").do(f"play {hazard}", answer)
    if answer == "pass":
        position.do(f"play {safety}")
    assert (position.battle_top(1), position.discards) == (None, {hazard: 1})
    assert {"play 25", "play roll"} & position.legal() == {"play roll"}
    position.do("play roll").turn(1)
    assert position.can("play 25")
    again = meilen(f"safeties 1: {safety}").battle(1).hand(0, *HAZARDS)
    assert again.plays() == set(HAZARDS) - {hazard}  # it may be opened by another one


def test_the_remedy_of_an_opening_hazard_shows_again() -> None:
    """A coup fourré, or a safety, against the next hazard restores that start (002:184; E10)."""
    for answer in ("claim", "pass"):
        position = meilen("hand 0: flat_tire", "hand 1: puncture_proof 25").battle(1, "accident", "repairs")
        position.do("play flat_tire", answer)
        if answer == "pass":
            assert not position.can("play 25")
            position.do("play puncture_proof")
        assert (position.battle_top(1), position.can("play 25")) == ("repairs", True)


def test_right_of_way_takes_an_opening_stop_away_and_starts() -> None:
    """It gives safety from the Stop, and no Roll is needed (002:152; 002:170; E3)."""
    position = meilen("battle 0: stop", "hand 0: right_of_way 25").do("play right_of_way")
    assert (position.battle_top(0), position.can("play 25")) == (None, True)


def test_only_an_empty_pile_is_opened() -> None:
    """A remedy that waits for its Roll is as closed as a hazard (002:61; 002:147)."""
    for pile in (("roll", "accident", "repairs"), ("roll", "stop"), ("accident",)):
        assert meilen().battle(1, *pile).hand(0, *BATTLE_HAZARDS).plays() == set()


# Hazards --------------------------------------------------------------------------------------------------


@each(("single_pile", "limited"), [(0, set(BATTLE_HAZARDS)), (1, set())])
def test_no_second_hazard_on_a_pile(single_pile: int, limited: set[str]) -> None:
    """The Limit has its own pile; taken literally, as an option, there is one for all (002:61; E29)."""
    position = meilen("speed 1: speed_limit", "battle 1: roll", one_hazard_at_a_time=single_pile)
    assert position.hand(0, *HAZARDS).plays() == limited
    position = meilen("battle 1: stop on roll", one_hazard_at_a_time=single_pile)
    assert position.hand(0, *HAZARDS).plays() == (set() if single_pile else {"speed_limit"})


@each("team", [1, 2])
def test_in_three_teams_each_may_be_opened(team: int) -> None:
    """By any opponent, whichever partner it is (002:33; 002:147; 002:154)."""
    position = meilen("to act: seat 3", "hand 3: out_of_gas", players=6)
    assert position.do(lay(position, "out_of_gas", team)).battle_top(team) == "out_of_gas"
    assert position.seat == 4


def test_two_200s_for_the_whole_display() -> None:
    """The two of "each player" are those of each display: partners share them (002:49; E60)."""
    position = meilen("battle 0: roll", players=4).km(0, 400, two_hundreds=2)
    for seat in (0, 2):
        assert not position.turn(seat).hand(seat, "200").plays()


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_with_right_of_way_a_remedy_is_enough(hazard: str, remedy: str, safety: str) -> None:
    """No Roll after the other hazards any more (002:170)."""
    position = meilen("safeties 0: right_of_way", f"battle 0: {hazard} on roll", f"hand 0: {remedy} 25")
    assert position.do(f"play {remedy}").turn(0).can("play 25")


def test_safeties_lie_beside_the_pile_upright_or_crosswise() -> None:
    """A lightning action can be seen, and scores 300 besides its 100 (002:129-130; 002:174-176)."""
    position = meilen("battle 1: roll", "hand 0: stop", "hand 1: right_of_way extra_tank stop")
    position.do("play stop", "claim", "play extra_tank", "discard stop").run_out()
    assert position.coups(1) == ["right_of_way"]
    assert position.sheet(1) == {"safeties": 200, "coups_fourres": 300}


# The end and the points -----------------------------------------------------------------------------------


@each("players", [2, 3, 4, 6])
def test_cards_are_played_out_by_turns(players: int) -> None:
    """After the last card is taken, one laid or discarded a turn until the hands are gone (002:156; E33)."""
    position = meilen("battle 0: roll", "hand 0: 25 50", "hand 1: stop end_of_limit", players=players)
    position.draw_pile(0).do("play 25", "discard end_of_limit", "play 50")
    assert (position.phase, position.seat, position.km_of(0)) == ("play", 1, 75)
    assert position.do("discard stop").phase == "round over"


def test_a_delayed_victory() -> None:
    """700 or 1,000 reached after the pile was used up (002:17; 002:132-134; E37)."""
    for players in (2, 4):
        position = meilen(players=players).km(1, 25).draw_pile(0).finish_trip(0)
        assert position.sheet(0)["delayed_action"] == 300


@each(("strict", "caller"), [(0, 900 + 100 + 300), (1, 900)])
@each("players", [2, 3, 6])
def test_a_failed_extension(players: int, strict: int, caller: int) -> None:
    """No bonus of the trip to the caller, nothing to the others (002:29); safeties are an option (E48)."""
    position = meilen("safeties 0: extra_tank!", players=players, failed_extension_forfeits_bonuses=strict)
    position.extended_by(0)
    others = [0] * (position.rules.teams - 1)
    assert kms(position, (900, *others)).run_out().points() == [caller, *others]


def test_an_extension_won_by_another() -> None:
    """He has won the stage and is paid so, without the 200 (002:29; 002:119)."""
    position = kms(meilen(players=3).extended_by(0), (900, 0, 25)).finish_trip(1)
    assert position.points() == [900, 1000 + 400 + 300, 25]


@each(("km", "points"), [((0, 0), 500), ((25, 0), 0), ((0, 25), 0)])
def test_a_win_before_the_opponents_have_a_mile(km: tuple[int, int], points: int) -> None:
    """500 once, only if none of them has laid one (002:140-143; E42)."""
    position = kms(meilen(players=3), (0, *km)).finish_trip(0)
    assert position.sheet(0).get("shutout", 0) == points
    assert [position.points()[team] for team in (1, 2)] == list(km)


def test_a_shut_out_in_an_extension_is_judged_at_its_end() -> None:
    """A team without one at 700 may have one at 1,000 (002:140-143; E41)."""
    position = meilen("battle 0: roll", "hand 0: 25").km(0, 675).do("play 25", "extend")
    assert "shutout" not in position.km(1, 25).finish_trip(0).sheet(0)


def test_a_whole_score_sheet() -> None:
    """Every line at once (002:115-143; 002:29)."""
    position = meilen().extended_by(0).safety(0, *SAFETIES[:3]).safety(0, SAFETIES[3], coup=True)
    position.draw_pile(0).finish_trip(0)
    assert position.sheet(0) == {
        **{"distance": 1000, "safeties": 400, "all_safeties": 300, "coups_fourres": 300},
        **{"trip_completed": 400, "delayed_action": 300, "safe_trip": 300, "extension": 200, "shutout": 500},
    }
