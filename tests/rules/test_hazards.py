"""Hazards: 004:16, 004:18, 004:20; rules 1.2; rulings E1, E2, E28, E59.

The rest is in `editions/test_all*.py`.
"""

from __future__ import annotations

from tests.each import each
from tests.support import BATTLE_HAZARDS, BREAKDOWNS, HAZARDS, SAFETIES, SAFETY_AGAINST, Position

NOT_MOVING = [
    (),
    *(("roll", hazard) for hazard in BATTLE_HAZARDS),
    *(("roll", hazard, remedy) for hazard, remedy, _ in BREAKDOWNS),
]
ALL_PILES = [*NOT_MOVING, ("roll",), ("roll", "stop", "roll"), ("roll", "accident", "repairs", "roll")]


def test_a_hazard_is_laid_on_the_opponent_s_roll() -> None:
    """If the other side shows a Roll, each of the hazards may be laid (004:16)."""
    position = Position("battle 1: roll").hand(0, *HAZARDS)
    assert position.plays() == set(HAZARDS)


@each("hazard", BATTLE_HAZARDS)
def test_a_battle_hazard_covers_the_roll_and_stops_the_opponent(hazard: str) -> None:
    """It becomes the top of his pile, and he lays no distance any more (004:16, 004:13)."""
    position = Position("battle 1: roll", f"hand 0: {hazard}", "hand 1: 25").do(f"play {hazard}")
    assert position.battle_top(1) == hazard
    assert position.laid(1) == {"roll": 1, hazard: 1}
    assert position.seat == 1
    assert not position.can("play 25")


def test_who_has_not_started_may_attack() -> None:
    """It is the opponent's Roll that matters, not an own one (004:16)."""
    assert Position("battle 1: roll", "hand 0: stop").plays() == {"stop"}
    assert not Position("battle 0: roll", "hand 0: stop").plays()


@each("pile", NOT_MOVING)
def test_no_hazard_unless_the_opponent_is_moving(pile: tuple[str, ...]) -> None:
    """None on an empty pile, on a hazard, or on a remedy without its Roll (004:18; rules 1.2)."""
    position = Position().battle(1, *pile).hand(0, *BATTLE_HAZARDS)
    assert not position.plays()


@each("pile", ALL_PILES)
def test_a_speed_limit_needs_no_moving_opponent(pile: tuple[str, ...]) -> None:
    """It is the exception: it may be laid on a stopped side and on one that has not begun (004:18; US C)."""
    position = Position("hand 0: speed_limit").battle(1, *pile)
    assert position.plays() == {"speed_limit"}
    position.do("play speed_limit")
    assert position.speed_top(1) == "speed_limit"
    assert position.battle_top(1) == (pile[-1] if pile else None)


def test_the_attackers_own_safeties_protect_nobody_else() -> None:
    """Only the safeties of the attacked side count (004:16)."""
    position = Position("battle 1: roll").safety(0, *SAFETIES).hand(0, *HAZARDS)
    assert position.plays() == set(HAZARDS)


def test_a_safety_in_the_hand_does_not_keep_a_hazard_away() -> None:
    """It has to lie on the table (004:16)."""
    position = Position("battle 1: roll").hand(1, *SAFETIES).hand(0, *HAZARDS)
    assert position.plays() == set(HAZARDS)


def test_no_speed_limit_on_a_speed_limit() -> None:
    """A limited side cannot be limited twice; once freed, it can again (E28; rules 1.2)."""
    position = Position("battle 1: roll", "speed 1: speed_limit", "hand 0: speed_limit")
    assert not position.plays()
    assert position.speed(1, "speed_limit", "end_of_limit").plays() == {"speed_limit"}


def test_a_speed_limit_does_not_keep_other_hazards_away() -> None:
    """The two piles are apart: a limited side that rolls is open to the four others (004:9, 004:16)."""
    position = Position("battle 1: roll", "speed 1: speed_limit").hand(0, *HAZARDS)
    assert position.plays() == set(BATTLE_HAZARDS)


@each(
    ("pile", "safeties", "moves"),
    [
        *((pile, (), False) for pile in NOT_MOVING),
        *((pile, (), True) for pile in ALL_PILES if pile not in NOT_MOVING),
        *((("roll", hazard), ("right_of_way",), False) for hazard, _, _ in BREAKDOWNS),
        *((("roll", hazard, remedy), ("right_of_way",), True) for hazard, remedy, _ in BREAKDOWNS),
        *((("roll", hazard), (safety,), False) for hazard, _, safety in BREAKDOWNS),
        *((("roll", hazard), (safety, "right_of_way"), True) for hazard, _, safety in BREAKDOWNS),
        ((), ("right_of_way",), True),
        (("roll",), ("right_of_way",), True),
    ],
)
def test_who_can_be_stopped_is_who_could_drive(
    pile: tuple[str, ...], safeties: tuple[str, ...], moves: bool
) -> None:
    """Moving is one thing for both: open to a battle hazard is who may lay a distance card (E1)."""
    position = Position().battle(0, *pile).safety(0, *safeties)
    hazards = [hazard for hazard in BATTLE_HAZARDS if SAFETY_AGAINST[hazard] not in safeties]
    assert position.is_moving(0) == moves
    assert position.hand(0, "25").can("play 25") == moves
    assert position.turn(1).hand(1, *BATTLE_HAZARDS).plays() == set(hazards if moves else ())


@each("target", [1, 2])
def test_only_the_chosen_opponent_is_hit(target: int) -> None:
    """The hazard lies on one tableau; the others stay as they are (E59)."""
    position = Position(
        "battle 0: roll", "battle 1: roll", "battle 2: roll", "hand 3: stop", "to act: seat 3", players=6
    )
    position.do(f"play stop against team {target}")
    assert [position.battle_top(team) for team in range(3)] == [
        "stop" if team == target else "roll" for team in range(3)
    ]


def test_the_legality_of_a_hazard_is_judged_for_each_opponent() -> None:
    """One is protected, one stopped: the card may still hit the one that can be hit (E59, 004:16)."""
    position = Position("battle 1: stop on roll", "battle 2: roll", "safeties 2: driving_ace", players=3)
    assert position.hand(0, "accident", "flat_tire").plays() == {"flat_tire against team 2"}
