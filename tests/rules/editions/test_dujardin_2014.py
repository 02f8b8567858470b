"""Dujardin, Le Grand Classique of 2014 (FR14): what it says otherwise (the rest: `test_all*.py`)."""

from __future__ import annotations

from tests.each import each
from tests.rules.editions.tables import at, kms, lay
from tests.support import BATTLE_HAZARDS, BREAKDOWNS, CARDS, DISTANCES, HAZARDS, REMEDIES, SAFETIES, Position

BREAKDOWN_HAZARDS = {"accident", "out_of_gas", "flat_tire"}


def fr14(*lines: str, **options: int) -> Position:
    return at("dujardin_2014", *lines, **options)


# The table ------------------------------------------------------------------------------------------------


@each(
    ("players", "teams", "alone"),
    [(2, None, True), (3, None, True), (4, None, True), (4, 2, False), (6, None, False), (8, None, False)],
)
def test_two_to_four_alone_four_to_eight_in_pairs(players: int, teams: int | None, alone: bool) -> None:
    """Each table to 1,000 km, with the 106 cards (FR14 preparation; rules 0.2, 1.1)."""
    position = fr14(players=players, teams=teams)
    assert position.rules.teams == (players if alone else players // 2)
    assert (position.target, position.rules.extended_target, position.deck.total()) == (1000, 0, 106)


def test_each_of_a_pair_has_a_hand_of_six() -> None:
    """Partners hold cards of their own and take their team's turns in alternation (FR14; E56)."""
    position = fr14(players=8, dealt=True)
    assert sorted(position.hand_sizes()) == [6] * 7 + [7]
    turns = []
    for _ in range(8):
        turns.append((position.seat % 4, position.seat))
        position.do(min(move for move in position.legal() if move.startswith("discard")))
    assert sorted(turns) == [(seat % 4, seat) for seat in (0, 4, 1, 5, 2, 6, 3, 7)]
    assert [team for team, _ in turns[:4]] == [team for team, _ in turns[4:]]


# The six possibilities ------------------------------------------------------------------------------------


def test_possibility_1_a_green_light_to_start() -> None:
    """Nothing of one's own but the light and safeties can be laid before it (FR14 possibility 1)."""
    position = fr14().hand(0, *CARDS)
    assert position.plays() == {"roll", "speed_limit", *SAFETIES}
    assert position.do("play roll").turn(0).plays() == {"speed_limit", *SAFETIES, *DISTANCES}


def test_possibility_2_a_distance_with_the_light_or_the_right_of_way() -> None:
    """Vehicule Prioritaire replaces the light, another safety does not (FR14 possibility 2; E31)."""
    for safety in SAFETIES:
        position = fr14(f"safeties 0: {safety}").hand(0, *DISTANCES)
        assert position.plays() == (set(DISTANCES) if safety == "right_of_way" else set())
    assert fr14("battle 0: roll").hand(0, *DISTANCES).plays() == set(DISTANCES)


def test_possibility_3_an_attack_on_who_rolls() -> None:
    """On a green light, or where Vehicule Prioritaire is out; else a Limit only (FR14 possibility 3; E2)."""
    assert fr14().hand(0, *HAZARDS).plays() == {"speed_limit"}
    assert fr14("battle 1: roll").hand(0, *HAZARDS).plays() == set(HAZARDS)
    assert fr14("safeties 1: right_of_way").hand(0, *HAZARDS).plays() == BREAKDOWN_HAZARDS
    for hazard in BATTLE_HAZARDS:
        assert fr14(f"battle 1: {hazard} on roll").hand(0, *HAZARDS).plays() == {"speed_limit"}


@each("team", [1, 2, 3])
def test_possibility_3_a_limit_before_the_start(team: int) -> None:
    """It may be laid against who has not started yet (FR14 possibility 3; rules 1.2)."""
    position = fr14("hand 0: speed_limit", players=4)
    assert position.do(lay(position, "speed_limit", team)).speed_top(team) == "speed_limit"


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_possibility_4_a_remedy_and_no_light(hazard: str, remedy: str, safety: str) -> None:
    """The next turn already one drives (FR14 possibility 4)."""
    position = fr14(f"battle 0: {hazard} on roll").hand(0, *DISTANCES, *REMEDIES)
    assert position.plays() == {remedy}
    position.do(f"play {remedy}").turn(0)
    assert position.plays() == set(DISTANCES)


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_the_variant_with_a_light_after_a_remedy(hazard: str, remedy: str, safety: str) -> None:
    """The sheet offers the older rule as a variant: an option here (FR14 variant; rules 1.5)."""
    position = fr14(f"battle 0: {hazard} on roll", f"hand 0: {remedy} roll 25", roll_after_remedy=1)
    position.do(f"play {remedy}").turn(0)
    assert position.plays() == {"roll"}
    assert position.do("play roll").turn(0).plays() == {"25"}


def test_possibility_5_a_safety_and_another_turn() -> None:
    """One draws and plays again (FR14 possibility 5)."""
    position = fr14("hand 0: extra_tank roll").draw_pile(9).do("play extra_tank")
    assert (position.seat, position.pile_size, position.can("play roll")) == (0, 8, True)


def test_possibility_6_a_discard() -> None:
    """Allowed always here; as an option only to who can lay nothing (FR14 possibility 6; rules 1.2)."""
    hand = ("roll", "stop")
    assert fr14().hand(0, *hand).legal() == {"play roll", "discard roll", "discard stop"}
    strict = fr14(discard_only_if_stuck=1)
    assert strict.hand(0, *hand).legal() == {"play roll"}
    assert strict.hand(0, "stop").legal() == {"discard stop"}


# What is decided for it -----------------------------------------------------------------------------------


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
@each("literal", [0, 1])
def test_who_has_remedied_can_be_attacked(hazard: str, remedy: str, safety: str, literal: int) -> None:
    """He rolls; taken literally, as an option, only a green light on top can be attacked (E55)."""
    position = fr14(attack_needs_roll=literal).battle(1, "roll", hazard, remedy).hand(0, *HAZARDS)
    assert position.plays() == ({"speed_limit"} if literal else set(HAZARDS))
    assert position.is_moving(1)
    assert position.safety(1, "right_of_way").plays() == BREAKDOWN_HAZARDS


@each(
    ("pile", "legal"),
    [
        ((), True),
        (("roll", "stop"), True),
        (("roll",), False),
        (("roll", "accident"), False),
        (("roll", "accident", "repairs"), False),
        (("roll", "out_of_gas", "gasoline"), False),
        (("roll", "flat_tire", "spare_tire"), False),
    ],
)
def test_a_green_light_on_nothing_or_on_a_stop(pile: tuple[str, ...], legal: bool) -> None:
    """Nowhere else is it asked for (E25)."""
    assert fr14("hand 0: roll").battle(0, *pile).can("play roll") == legal


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_a_safety_cancels_its_hazard_at_once(hazard: str, remedy: str, safety: str) -> None:
    """The light beneath shows again (FR14 possibility 5; rules 1.3; E22)."""
    position = fr14(f"battle 0: {hazard} on roll").hand(0, safety, *DISTANCES).do(f"play {safety}")
    assert (position.battle_top(0), position.plays()) == ("roll", set(DISTANCES))


def test_a_safety_cancels_a_hazard_on_a_remedy_and_shows_it_again() -> None:
    """The team was already rolling on the card beneath, without a light (E10, E22; FR14 possibility 4)."""
    position = fr14()
    position.battle(0, "roll", "accident", "repairs", "flat_tire").hand(0, "puncture_proof", *DISTANCES)
    assert not position.is_moving(0)
    position.do("play puncture_proof")
    assert (position.battle_top(0), position.plays()) == ("repairs", set(DISTANCES))


def test_a_breakdown_with_the_right_of_way_before_the_start() -> None:
    """A team hit in this way and cured by a safety is as before: no light, but driving (E2, E10)."""
    position = fr14("safeties 1: right_of_way", "hand 0: accident", "hand 1: driving_ace 25")
    position.do("play accident", "pass", "play driving_ace")
    assert (position.battle_top(1), position.can("play 25")) == (None, True)


@each(("players", "teams"), [(2, 2), (3, 3), (4, 4), (4, 2), (6, 3), (8, 4)])
def test_the_pile_empty_ends_the_game(players: int, teams: int) -> None:
    """When the turn is over; the nearest to 1,000 wins (rules 1.4; E54)."""
    position = (
        kms(fr14(players=players, teams=teams), [25] * (teams - 1) + [50])
        .draw_pile(1)
        .hand(0, "stop", "stop")
    )
    position.do("discard stop").hand(1, "stop", "stop")
    assert position.phase == "play"
    position.do("discard stop")
    assert (position.phase, position.round_winner()) == ("round over", teams - 1)


def test_a_pile_without_distances_does_not_end_it() -> None:
    """Nobody can see that none is left in it (E54)."""
    rest = (("repairs", "spare_tire", "roll"), ("end_of_limit", "gasoline"))
    position = fr14("hand 0: stop", "hand 1: stop").draw_pile(5).draws(0, *rest[0]).draws(1, *rest[1])
    for left, seat in ((4, 1), (3, 0), (2, 1)):
        position.do("discard stop" if position.can("discard stop") else min(position.legal()))
        assert (position.phase, position.pile_size, position.seat) == ("play", left, seat)
    assert not set(DISTANCES) & {*position.hand_of(0), *position.hand_of(1)}


@each(("decide", "winner"), [(0, None), (1, 0)])
def test_a_tie_is_a_shared_win(decide: int, winner: int | None) -> None:
    """As an option more safeties decide it, among those who are equally near (E53)."""
    position = kms(fr14(players=3, safeties_break_tie=decide), (500, 500, 400)).safety(0, "extra_tank")
    position.safety(2, "driving_ace", "puncture_proof").run_out()
    assert (position.round_winner(), position.match_winner()) == (winner, winner)


def test_a_single_game_without_points() -> None:
    """Won or lost; a coup fourré brings nothing but its turn (rules 1.3, 1.5)."""
    position = fr14().safety(0, *SAFETIES, coup=True).finish_trip(1)
    assert (position.points(), position.match_winner()) == ([0, 0], 1)
