"""Safeties: 004:17, 004:22; rules 1.3; rulings E17 to E24, E27."""

from __future__ import annotations

import pytest

from tests.support import BREAKDOWNS, SAFETIES, SAFETY_AGAINST, Position

PILES = [(), ("ROLL",), ("ROLL", "ACCIDENT"), ("ROLL", "STOP"), ("ROLL", "FLAT_TIRE", "SPARE_TIRE")]


@pytest.mark.parametrize("pile", PILES, ids="-".join)
@pytest.mark.parametrize("safety", SAFETIES)
def test_a_safety_is_laid_at_any_time(safety: str, pile: tuple[str, ...]) -> None:
    """Before the start, rolling, stopped, limited, with or without cards to draw (004:17; rules 1.3)."""
    position = Position().battle(0, *pile).speed(0, "SPEED_LIMIT").hand(0, safety, "ROLL")
    assert position.can(f"play {safety}")
    position.draw_pile(0).do(f"play {safety}")
    assert position.laid(0)[safety] == 1
    assert position.laid(1)[safety] == 0
    assert position.hand_of(0) == ["ROLL"]


@pytest.mark.parametrize(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_a_safety_corrects_the_corresponding_hazard(hazard: str, remedy: str, safety: str) -> None:
    """The hazard is cured: its remedy has nothing left to do, a Roll is all it takes (004:22, E27)."""
    position = Position().battle(0, "ROLL", hazard).hand(0, safety, remedy, "ROLL").do(f"play {safety}")
    assert position.seat == 0
    assert position.plays() == {"ROLL"}
    assert position.do("play ROLL").is_moving(0)


@pytest.mark.parametrize("safety", SAFETIES[:3])
def test_a_safety_corrects_no_other_hazard(safety: str) -> None:
    """Whoever has another breakdown, or stands at a Stop, still needs that one's remedy (004:22)."""
    for hazard, remedy in (*(pair[:2] for pair in BREAKDOWNS), ("STOP", "ROLL")):
        if SAFETY_AGAINST[hazard] == safety:
            continue
        position = Position().battle(0, "ROLL", hazard).hand(0, safety, "REPAIRS", "GASOLINE", "SPARE_TIRE")
        position.do(f"play {safety}").hand(0, remedy)
        assert position.battle_top(0) == hazard
        assert position.plays() == {remedy}


@pytest.mark.parametrize("safety", SAFETIES)
def test_a_safety_protects_from_all_later_hazards_of_its_kind(safety: str) -> None:
    """Once laid, its hazards can no longer be laid there (004:22)."""
    hazards = [hazard for hazard, answer in SAFETY_AGAINST.items() if answer == safety]
    position = Position().battle(0, "ROLL").hand(0, safety, "STOP").hand(1, *hazards)
    assert set(hazards) == position.turn(1).plays()
    assert not position.turn(0).do(f"play {safety}", "discard STOP").plays() & set(hazards)


def test_a_safety_protects_the_whole_team() -> None:
    """Partners share their safeties as they share the piles (004:7, 004:22)."""
    position = Position(4).battle(0, "ROLL").hand(2, "DRIVING_ACE", "STOP").turn(2)
    position.do("play DRIVING_ACE", "discard STOP")
    assert not position.hand(3, "ACCIDENT").plays()


@pytest.mark.parametrize(("hazard", "_remedy", "safety"), BREAKDOWNS)
def test_after_a_safety_played_normally_a_roll_must_be_laid(hazard: str, _remedy: str, safety: str) -> None:
    """The cured hazard counts like a remedy: no distance, and no attack, before a Roll (004:22, E22)."""
    position = Position().battle(0, "ROLL", hazard).hand(0, safety, "DISTANCE_25", "ROLL")
    position.do(f"play {safety}")
    assert position.plays() == {"ROLL"}
    assert position.turn(1).hand(1, "STOP").plays() == set()
    assert position.turn(0).do("play ROLL").hand(1, "GASOLINE").do("discard GASOLINE").plays() == {
        "DISTANCE_25"
    }


@pytest.mark.parametrize("safety", SAFETIES)
def test_a_safety_that_cures_nothing_costs_no_roll(safety: str) -> None:
    """Who rolls when he lays a safety rolls on and may drive in the same turn (E23)."""
    position = Position().battle(0, "ROLL").hand(0, safety, "DISTANCE_100").do(f"play {safety}")
    assert position.can("play DISTANCE_100")


@pytest.mark.parametrize("safety", SAFETIES)
def test_the_same_player_draws_another_card_and_plays_again(safety: str) -> None:
    """Whichever safety it is: one card from the pile at once, and the turn is still his (004:22)."""
    position = Position().battle(0, "ROLL").draws(0, "STOP").hand(0, safety, "DISTANCE_25")
    pile = position.pile_size
    position.do(f"play {safety}")
    assert (position.seat, position.phase) == (0, "play")
    assert position.hand_of(0) == ["DISTANCE_25", "STOP"]
    assert position.pile_size == pile - 1
    assert position.do("play DISTANCE_25").seat == 1


def test_a_further_safety_gives_a_further_draw_and_play() -> None:
    """All four in one turn, each with a card drawn before the next play (004:22, E19)."""
    position = Position().draws(0, *SAFETIES[1:], "ROLL").hand(0, SAFETIES[0], "STOP")
    pile = position.pile_size
    for count, safety in enumerate(SAFETIES, 1):
        position.do(f"play {safety}")
        assert position.pile_size == pile - count
        assert position.seat == 0
    assert position.hand_of(0) == ["STOP", "ROLL"]
    assert position.do("play ROLL").seat == 1


def test_a_safety_in_the_turn_won_by_a_coup_fourre() -> None:
    """It draws and plays again there, too (E19)."""
    position = Position().battle(1, "ROLL").hand(0, "FLAT_TIRE").hand(1, "PUNCTURE_PROOF", "EXTRA_TANK")
    position.do("play FLAT_TIRE", "claim", "play EXTRA_TANK")
    assert position.seat == 1
    assert position.hand_sizes()[1] == 3
    assert position.coups(1) == ["PUNCTURE_PROOF"]


def test_with_no_card_to_draw_a_safety_still_gives_another_play() -> None:
    """The empty pile takes away the draw, not the play (E17; rules 1.4)."""
    position = Position().draw_pile(0).hand(0, "EXTRA_TANK", "ROLL").hand(1, "STOP").do("play EXTRA_TANK")
    assert (position.seat, position.phase) == (0, "play")
    assert position.hand_of(0) == ["ROLL"]


def test_the_last_card_of_the_pile_may_be_the_extra_card() -> None:
    """It is drawn as usual and the turn is finished with it (E18)."""
    position = Position().draws(0, "ROLL").draw_pile(1).hand(0, "EXTRA_TANK").hand(1, "STOP")
    position.do("play EXTRA_TANK")
    assert (position.pile_size, position.hand_of(0), position.seat) == (0, ["ROLL"], 0)
    assert position.do("play ROLL").hand_of(1) == ["STOP"]


def test_a_safety_as_the_last_card_in_hand() -> None:
    """It is laid for its 100; with nothing left to play the other play is void (E20)."""
    position = Position().draw_pile(0).hand(0, "EXTRA_TANK").hand(1, "STOP").do("play EXTRA_TANK")
    assert position.seat == 1
    assert position.do("discard STOP").points() == [100, 0]


def test_a_safety_as_the_very_last_card_ends_the_round() -> None:
    """When no other hand has a card either, there is nobody to go on (E20, 004:37)."""
    position = Position().draw_pile(0).hand(0, "EXTRA_TANK").do("play EXTRA_TANK")
    assert position.phase == "round over"


@pytest.mark.parametrize(("hazard", "_remedy", "safety"), BREAKDOWNS)
def test_with_right_of_way_out_a_safety_sets_the_car_in_motion(
    hazard: str, _remedy: str, safety: str
) -> None:
    """No Roll is needed then: distances in the extra play (E24, E4)."""
    position = Position().battle(0, "ROLL", hazard).safety(0, "RIGHT_OF_WAY")
    position.hand(0, safety, "DISTANCE_100")
    assert not position.can("play DISTANCE_100")
    assert position.do(f"play {safety}").can("play DISTANCE_100")
