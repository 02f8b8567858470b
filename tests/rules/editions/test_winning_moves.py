"""Winning Moves Deutschland, text 002: what it says otherwise than the others (see `test_all*.py`)."""

from __future__ import annotations

from tests.each import each
from tests.rules.editions.tables import at, kms
from tests.support import BATTLE_HAZARDS, BREAKDOWNS, CARDS, DISTANCES, HAZARDS, REMEDIES, SAFETIES, Position


def meilen(*lines: str, **options: int) -> Position:
    return at("winning_moves", *lines, **options)


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
    """A mile on the partner's Roll or Right of Way; not if a hazard lies on it (002:152-154; 002:186).

    Source: scenario 71.
    """
    for start in ("roll", "right_of_way"):
        position = meilen(f"hand 0: {start}", "hand 1: accident", "hand 2: 25", "hand 3: stop", players=4)
        position.do(f"play {start}")
        if start == "right_of_way":
            position.do(min(move for move in position.legal() if move.startswith("discard")))
        without = position.turn(2).can("play 25")
        position.turn(1).do("play accident").turn(2)
        assert (without, position.can("play 25")) == (True, False)
    assert not meilen("safeties 0: extra_tank", "to act: seat 2", "hand 2: 25", players=4).plays()


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


# The end and the points -----------------------------------------------------------------------------------


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
