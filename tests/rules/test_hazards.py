"""Hazards: 004:16, 004:18, 004:20; rules 1.2; rulings E1, E2, E28, E59."""

from __future__ import annotations

import pytest

from tests.support import BATTLE_HAZARDS, BREAKDOWNS, HAZARDS, SAFETIES, SAFETY_AGAINST, Position

NOT_MOVING = [
    (),
    *(("ROLL", hazard) for hazard in BATTLE_HAZARDS),
    *(("ROLL", hazard, remedy) for hazard, remedy, _ in BREAKDOWNS),
]
ALL_PILES = [*NOT_MOVING, ("ROLL",), ("ROLL", "STOP", "ROLL"), ("ROLL", "ACCIDENT", "REPAIRS", "ROLL")]


def test_a_hazard_is_laid_on_the_opponent_s_roll() -> None:
    """Where the other side shows a Roll, each of the hazards may be laid (004:16)."""
    position = Position().battle(1, "ROLL").hand(0, *HAZARDS)
    assert position.plays() == set(HAZARDS)


@pytest.mark.parametrize("hazard", BATTLE_HAZARDS)
def test_a_battle_hazard_covers_the_roll_and_stops_the_opponent(hazard: str) -> None:
    """It becomes the top of his pile, and he lays no distance any more (004:16, 004:13)."""
    position = Position().battle(1, "ROLL").hand(0, hazard).hand(1, "DISTANCE_25").do(f"play {hazard}")
    assert position.battle_top(1) == hazard
    assert position.laid(1) == {"ROLL": 1, hazard: 1}
    assert position.seat == 1
    assert not position.can("play DISTANCE_25")


def test_who_has_not_started_may_attack() -> None:
    """It is the opponent's Roll that matters, not an own one (004:16)."""
    assert Position().battle(1, "ROLL").hand(0, "STOP").plays() == {"STOP"}
    assert not Position().battle(0, "ROLL").hand(0, "STOP").plays()


@pytest.mark.parametrize("pile", NOT_MOVING, ids="-".join)
def test_no_hazard_unless_the_opponent_is_moving(pile: tuple[str, ...]) -> None:
    """None on an empty pile, on a hazard, or on a remedy without its Roll (004:18; rules 1.2)."""
    position = Position().battle(1, *pile).hand(0, *BATTLE_HAZARDS)
    assert not position.plays()


@pytest.mark.parametrize("pile", ALL_PILES, ids="-".join)
def test_a_speed_limit_needs_no_moving_opponent(pile: tuple[str, ...]) -> None:
    """It is the exception: it may be laid on a stopped side and on one that has not begun (004:18; US C)."""
    position = Position().battle(1, *pile).hand(0, "SPEED_LIMIT")
    assert position.plays() == {"SPEED_LIMIT"}
    position.do("play SPEED_LIMIT")
    assert position.speed_top(1) == "SPEED_LIMIT"
    assert position.battle_top(1) == (pile[-1] if pile else None)


@pytest.mark.parametrize("safety", SAFETIES)
def test_a_safety_already_played_keeps_the_corresponding_hazard_away(safety: str) -> None:
    """The hazards it answers cannot be laid, all others can (004:16)."""
    position = Position().battle(1, "ROLL").safety(1, safety).hand(0, *HAZARDS)
    assert position.plays() == {hazard for hazard in HAZARDS if SAFETY_AGAINST[hazard] != safety}


def test_the_attackers_own_safeties_protect_nobody_else() -> None:
    """What counts is what the attacked side has played (004:16)."""
    position = Position().battle(1, "ROLL").safety(0, *SAFETIES).hand(0, *HAZARDS)
    assert position.plays() == set(HAZARDS)


def test_a_safety_in_the_hand_does_not_keep_a_hazard_away() -> None:
    """It has to lie on the table (004:16)."""
    position = Position().battle(1, "ROLL").hand(1, *SAFETIES).hand(0, *HAZARDS)
    assert position.plays() == set(HAZARDS)


@pytest.mark.parametrize("first", BATTLE_HAZARDS)
def test_no_hazard_on_a_hazard(first: str) -> None:
    """One at a time: while one shows, a second one finds no Roll (004:16; rules 1.2)."""
    position = Position(3).battle(2, "ROLL").hand(0, first).hand(1, *HAZARDS).do(f"play {first} at 2")
    assert position.plays() == {"SPEED_LIMIT at 0", "SPEED_LIMIT at 2"}


def test_no_speed_limit_on_a_speed_limit() -> None:
    """A limited side cannot be limited twice; once freed, it can again (E28; rules 1.2)."""
    position = Position().battle(1, "ROLL").speed(1, "SPEED_LIMIT").hand(0, "SPEED_LIMIT")
    assert not position.plays()
    assert position.speed(1, "SPEED_LIMIT", "END_OF_LIMIT").plays() == {"SPEED_LIMIT"}


def test_a_speed_limit_does_not_keep_other_hazards_away() -> None:
    """The two piles are apart: a limited side that rolls is open to the four others (004:9, 004:16)."""
    position = Position().battle(1, "ROLL").speed(1, "SPEED_LIMIT").hand(0, *HAZARDS)
    assert position.plays() == set(BATTLE_HAZARDS)


@pytest.mark.parametrize(
    ("pile", "safeties", "moves"),
    [
        *((pile, (), False) for pile in NOT_MOVING),
        *((pile, (), True) for pile in ALL_PILES if pile not in NOT_MOVING),
        *((("ROLL", hazard), ("RIGHT_OF_WAY",), False) for hazard, _, _ in BREAKDOWNS),
        *((("ROLL", hazard, remedy), ("RIGHT_OF_WAY",), True) for hazard, remedy, _ in BREAKDOWNS),
        *((("ROLL", hazard), (safety,), False) for hazard, _, safety in BREAKDOWNS),
        *((("ROLL", hazard), (safety, "RIGHT_OF_WAY"), True) for hazard, _, safety in BREAKDOWNS),
        ((), ("RIGHT_OF_WAY",), True),
        (("ROLL",), ("RIGHT_OF_WAY",), True),
    ],
)
def test_who_can_be_stopped_is_who_could_drive(
    pile: tuple[str, ...], safeties: tuple[str, ...], moves: bool
) -> None:
    """Moving is one thing for both: open to a battle hazard is who may lay a distance card (E1)."""
    position = Position().battle(0, *pile).safety(0, *safeties)
    hazards = [hazard for hazard in BATTLE_HAZARDS if SAFETY_AGAINST[hazard] not in safeties]
    assert position.is_moving(0) == moves
    assert position.hand(0, "DISTANCE_25").can("play DISTANCE_25") == moves
    assert position.turn(1).hand(1, *BATTLE_HAZARDS).plays() == set(hazards if moves else ())


def test_a_hazard_is_laid_against_any_opponent_but_never_against_the_own_side() -> None:
    """With several sides the attacker chooses among those that can be hit (E59; 004:16)."""
    position = Position(3)
    for team in range(3):
        position.battle(team, "ROLL")
    for seat, targets in ((0, {1, 2}), (1, {0, 2}), (2, {0, 1})):
        assert position.turn(seat).hand(seat, "STOP").plays() == {f"STOP at {team}" for team in targets}
        position.hand(seat)


@pytest.mark.parametrize("target", [1, 2])
def test_only_the_chosen_opponent_is_hit(target: int) -> None:
    """The hazard lies on one tableau; the others stay as they are (E59)."""
    position = Position(6).battle(0, "ROLL").battle(1, "ROLL").battle(2, "ROLL").hand(3, "STOP").turn(3)
    position.do(f"play STOP at {target}")
    assert [position.battle_top(team) for team in range(3)] == [
        "STOP" if team == target else "ROLL" for team in range(3)
    ]


def test_the_legality_of_a_hazard_is_judged_for_each_opponent() -> None:
    """One is protected, one stopped: the card may still hit the one that can be hit (E59, 004:16)."""
    position = Position(3).battle(1, "ROLL", "STOP").battle(2, "ROLL").safety(2, "DRIVING_ACE")
    assert position.hand(0, "ACCIDENT", "FLAT_TIRE").plays() == {"FLAT_TIRE at 2"}


def test_in_two_pairs_the_hazard_hits_the_other_pair() -> None:
    """Whichever partner lays it, the opponents' common tableau is hit (004:7, 004:16)."""
    for seat in range(4):
        position = Position(4).battle(0, "ROLL").battle(1, "ROLL").turn(seat).hand(seat, "STOP")
        position.do("play STOP")
        assert position.battle_top(1 - seat % 2) == "STOP"
        assert position.battle_top(seat % 2) == "ROLL"
