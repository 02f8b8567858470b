"""Safeties: 004:17, 004:22; rules 1.3; rulings E17 to E24, E27."""

from __future__ import annotations

from tests.each import each
from tests.support import BREAKDOWNS, SAFETIES, SAFETY_AGAINST, Position

PILES = [(), ("roll",), ("roll", "accident"), ("roll", "stop"), ("roll", "flat_tire", "spare_tire")]


@each("pile", PILES)
@each("safety", SAFETIES)
def test_a_safety_is_laid_at_any_time(safety: str, pile: tuple[str, ...]) -> None:
    """Before the start, rolling, stopped, limited, with or without cards to draw (004:17; rules 1.3)."""
    position = Position("speed 0: speed_limit", f"hand 0: {safety} roll").battle(0, *pile)
    assert position.can(f"play {safety}")
    position.draw_pile(0).do(f"play {safety}")
    assert position.laid(0)[safety] == 1
    assert position.laid(1)[safety] == 0
    assert position.hand_of(0) == ["roll"]


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_a_safety_corrects_the_corresponding_hazard(hazard: str, remedy: str, safety: str) -> None:
    """The hazard is cured: its remedy has nothing left to do, a Roll is all it takes (004:22, E27)."""
    position = Position(f"battle 0: {hazard} on roll", f"hand 0: {safety} {remedy} roll").do(f"play {safety}")
    assert position.seat == 0
    assert position.plays() == {"roll"}
    assert position.do("play roll").is_moving(0)


@each("safety", SAFETIES[:3])
def test_a_safety_corrects_no_other_hazard(safety: str) -> None:
    """Whoever has another breakdown, or stands at a Stop, still needs that one's remedy (004:22)."""
    for hazard, remedy in (*(pair[:2] for pair in BREAKDOWNS), ("stop", "roll")):
        if SAFETY_AGAINST[hazard] == safety:
            continue
        position = Position(f"battle 0: {hazard} on roll", f"hand 0: {safety} repairs gasoline spare_tire")
        position.do(f"play {safety}").hand(0, remedy)
        assert position.battle_top(0) == hazard
        assert position.plays() == {remedy}


@each("safety", SAFETIES)
def test_a_safety_protects_from_all_later_hazards_of_its_kind(safety: str) -> None:
    """Once laid, its hazards can no longer be laid there (004:22)."""
    hazards = [hazard for hazard, answer in SAFETY_AGAINST.items() if answer == safety]
    position = Position("battle 0: roll", f"hand 0: {safety} stop").hand(1, *hazards)
    assert set(hazards) == position.turn(1).plays()
    assert not position.turn(0).do(f"play {safety}", "discard stop").plays() & set(hazards)


def test_a_safety_protects_the_whole_team() -> None:
    """Partners share their safeties as they share the piles (004:7, 004:22)."""
    position = Position("battle 0: roll", "hand 2: driving_ace stop", "to act: seat 2", players=4)
    position.do("play driving_ace", "discard stop")
    assert not position.hand(3, "accident").plays()


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_after_a_safety_played_normally_a_roll_must_be_laid(hazard: str, remedy: str, safety: str) -> None:
    """The cured hazard counts like a remedy: no distance, and no attack, before a Roll (004:22, E22)."""
    position = Position(f"battle 0: {hazard} on roll", f"hand 0: {safety} 25 roll")
    position.do(f"play {safety}")
    assert position.plays() == {"roll"}
    assert position.turn(1).hand(1, "stop").plays() == set()
    assert position.turn(0).do("play roll").hand(1, "gasoline").do("discard gasoline").plays() == {"25"}


@each("safety", SAFETIES)
def test_a_safety_that_cures_nothing_costs_no_roll(safety: str) -> None:
    """A team that rolls when it lays a safety rolls on and may drive in the same turn (E23)."""
    position = Position("battle 0: roll", f"hand 0: {safety} 100").do(f"play {safety}")
    assert position.can("play 100")


@each("safety", SAFETIES)
def test_the_same_player_draws_another_card_and_plays_again(safety: str) -> None:
    """Whichever safety it is: one card from the pile at once, and the turn is still his (004:22)."""
    position = Position("battle 0: roll", "stream 0: stop ...", f"hand 0: {safety} 25")
    pile = position.pile_size
    position.do(f"play {safety}")
    assert (position.seat, position.phase) == (0, "play")
    assert position.hand_of(0) == ["25", "stop"]
    assert position.pile_size == pile - 1
    assert position.do("play 25").seat == 1


def test_a_further_safety_gives_a_further_draw_and_play() -> None:
    """All four in one turn, each with a card drawn before the next play (004:22, E19)."""
    position = Position(f"hand 0: {SAFETIES[0]} stop").draws(0, *SAFETIES[1:], "roll")
    pile = position.pile_size
    for count, safety in enumerate(SAFETIES, 1):
        position.do(f"play {safety}")
        assert position.pile_size == pile - count
        assert position.seat == 0
    assert position.hand_of(0) == ["stop", "roll"]
    assert position.do("play roll").seat == 1


def test_a_safety_in_the_turn_won_by_a_coup_fourre() -> None:
    """It draws and plays again there, too (E19)."""
    position = Position("battle 1: roll", "hand 0: flat_tire", "hand 1: puncture_proof extra_tank")
    position.do("play flat_tire", "claim", "play extra_tank")
    assert position.seat == 1
    assert position.hand_sizes()[1] == 3
    assert position.coups(1) == ["puncture_proof"]


def test_with_no_card_to_draw_a_safety_still_gives_another_play() -> None:
    """The empty pile takes away the draw, not the play (E17; rules 1.4)."""
    position = Position("hand 0: extra_tank roll", "hand 1: stop").draw_pile(0).do("play extra_tank")
    assert (position.seat, position.phase) == (0, "play")
    assert position.hand_of(0) == ["roll"]


def test_the_last_card_of_the_pile_may_be_the_extra_card() -> None:
    """It is drawn as usual and the turn is finished with it (E18)."""
    position = Position("stream 0: roll ...", "hand 0: extra_tank", "hand 1: stop").draw_pile(1)
    position.do("play extra_tank")
    assert (position.pile_size, position.hand_of(0), position.seat) == (0, ["roll"], 0)
    assert position.do("play roll").hand_of(1) == ["stop"]


def test_a_safety_as_the_last_card_in_hand() -> None:
    """It is laid for its 100; with nothing left to play the other play is void (E20)."""
    position = Position("hand 0: extra_tank", "hand 1: stop").draw_pile(0).do("play extra_tank")
    assert position.seat == 1
    assert position.do("discard stop").points() == [100, 0]


def test_a_safety_as_the_very_last_card_ends_the_round() -> None:
    """When no other hand has a card either, there is nobody to go on (E20, 004:37)."""
    position = Position("hand 0: extra_tank").draw_pile(0).do("play extra_tank")
    assert position.phase == "round over"


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_with_right_of_way_out_a_safety_sets_the_car_in_motion(hazard: str, remedy: str, safety: str) -> None:
    """No Roll is needed then: distances in the extra play (E24, E4)."""
    position = Position(f"battle 0: {hazard} on roll", "safeties 0: right_of_way", f"hand 0: {safety} 100")
    assert not position.can("play 100")
    assert position.do(f"play {safety}").can("play 100")
