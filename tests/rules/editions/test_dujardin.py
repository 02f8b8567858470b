"""Dujardin's modern standard rule, text 001: what it says otherwise than the others (see `test_all*.py`)."""

from __future__ import annotations

from tests.each import each
from tests.rules.editions.tables import at, kms, lay
from tests.support import BATTLE_HAZARDS, BREAKDOWNS, CARDS, DISTANCES, HAZARDS, REMEDIES, SAFETIES, Position


def dujardin(*lines: str, **options: int) -> Position:
    return at("dujardin", *lines, **options)


# The table ------------------------------------------------------------------------------------------------


@each("players", [2, 3, 4])
def test_two_to_four_play_alone(players: int) -> None:
    """The standard rule is for 2 to 4, each for himself, to 1,000 (001:3; 001:32)."""
    position = dujardin(players=players)
    assert (position.rules.teams, position.target) == (players, 1000)


@each("players", [4, 6, 8])
def test_four_to_eight_play_in_pairs(players: int) -> None:
    """Teams of two, each with its own cards, on one common zone, taking alternate turns (001:30-36; E56)."""
    position = dujardin(players=players, teams=players // 2, dealt=True)
    assert (position.rules.teams, position.target) == (players // 2, 1000)
    assert sorted(position.hand_sizes()) == [6] * (players - 1) + [7]
    partner = (position.seat + players // 2) % players
    assert partner % position.rules.teams == position.seat % position.rules.teams


def test_the_deck_is_the_whole_one_at_every_table() -> None:
    """110 cards of which four are Mémo: 106, none taken out (001:27; 001:37-38; E57)."""
    assert [dujardin(players=players).deck.total() for players in (2, 3, 4, 6, 8)] == [106] * 5


def test_the_youngest_is_drawn_by_chance() -> None:
    """The rule does not say who begins; over many games every seat does (001:5; 001:49; rules 1.1)."""
    assert {dujardin(players=4, seed=seed, dealt=True).seat for seed in range(40)} == {0, 1, 2, 3}


# The five possibilities (001:8-29) ------------------------------------------------------------------------


def test_the_first_turn() -> None:
    """Distances and hazards at once, safeties always, a remedy only against its hazard (001:8-29)."""
    position = dujardin().hand(0, *CARDS)
    assert position.plays() == {*DISTANCES, *HAZARDS, *SAFETIES}


def test_possibility_1_a_distance_without_any_light() -> None:
    """Whoever has one may lay it and advances (001:9-12; 001:77-84)."""
    position = dujardin("hand 0: 200").do("play 200")
    assert (position.km_of(0), position.battle_top(0)) == (200, None)


@each("team", [1, 2, 3])
@each("hazard", HAZARDS)
def test_possibility_2_a_hazard_on_any_opponent(hazard: str, team: int) -> None:
    """From the first turn, since everybody rolls (001:14-16; 001:96-98)."""
    position = dujardin(f"hand 0: {hazard}", players=4)
    position.do(lay(position, hazard, team))
    assert (position.battle_top(team) or position.speed_top(team)) == hazard


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_possibility_3_the_remedy_of_an_opening_hazard(hazard: str, remedy: str, safety: str) -> None:
    """Laid over it, it ends the attack, and one rolls (001:23-27; 001:100-102; 001:115-157)."""
    position = dujardin(f"hand 0: {hazard}").do(f"play {hazard}").hand(1, *DISTANCES, *REMEDIES)
    assert position.plays() == {remedy}
    position.do(f"play {remedy}").turn(1)
    assert position.plays() == set(DISTANCES)


def test_possibility_3_the_green_light_answers_the_red_one_only() -> None:
    """It is laid on a Stop and nowhere else (001:136-147; E25)."""
    position = dujardin("hand 0: stop").do("play stop").hand(1, "roll", *DISTANCES)
    assert position.plays() == {"roll"}
    assert position.do("play roll").turn(1).plays() == set(DISTANCES)
    for pile in ((), ("stop", "roll"), ("accident",), ("accident", "repairs")):
        assert not dujardin("hand 0: roll").battle(0, *pile).plays()


def test_possibility_4_a_safety_and_another_play() -> None:
    """One draws another card and plays again at once (001:28-29; 001:168)."""
    position = dujardin("hand 0: extra_tank 25").draw_pile(9).do("play extra_tank")
    assert (position.seat, position.pile_size, position.can("play 25")) == (0, 8, True)


# Hazards --------------------------------------------------------------------------------------------------


@each("hazard", BATTLE_HAZARDS)
def test_a_second_attack_only_on_the_other_pile(hazard: str) -> None:
    """Not two on the battle pile, but a Limit besides (001:19-21; 001:92-94; 001:104-107)."""
    position = dujardin(f"battle 1: {hazard}").hand(0, *HAZARDS)
    assert position.plays() == {"speed_limit"}
    position = dujardin("speed 1: speed_limit").hand(0, *HAZARDS)
    assert position.plays() == set(BATTLE_HAZARDS)


def test_who_has_remedied_rolls_and_can_be_attacked_again() -> None:
    """He is again an opponent who rolls once his hazard is answered (001:96; E55)."""
    position = dujardin().battle(1, "accident", "repairs").hand(0, *HAZARDS)
    assert position.plays() == set(HAZARDS)
    position.do("play flat_tire").hand(1, "spare_tire", "25").do("play spare_tire").turn(1)
    assert position.can("play 25")


def test_the_limit_pile() -> None:
    """Limit and End of Limit lie apart from the battle pile (001:57-67; 001:110-112)."""
    position = dujardin("hand 0: speed_limit").do("play speed_limit")
    assert (position.speed_top(1), position.battle_top(1)) == ("speed_limit", None)
    position.hand(1, "end_of_limit", *DISTANCES)
    assert position.plays() == {"end_of_limit", "25", "50"}
    assert position.do("play end_of_limit").speed_top(1) == "end_of_limit"


# Safeties and coup fourré ---------------------------------------------------------------------------------


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_a_safety_cancels_an_opening_hazard(hazard: str, remedy: str, safety: str) -> None:
    """Nothing lies there any more, and one rolls as at the start (001:164-166)."""
    position = dujardin(f"battle 0: {hazard}", f"hand 0: {safety} 25").do(f"play {safety}")
    assert (position.battle_top(0), position.discards) == (None, {hazard: 1})
    assert position.can("play 25")


def test_right_of_way_wards_off_stop_and_limit() -> None:
    """The strongest card: neither can be laid any more, the three others can (001:184-188)."""
    assert dujardin("safeties 1: right_of_way").hand(0, *HAZARDS).plays() == {
        "accident",
        "out_of_gas",
        "flat_tire",
    }


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_a_coup_fourre_against_an_opening_hazard(hazard: str, remedy: str, safety: str) -> None:
    """Cancelled at once; one card to refill and one for the turn, in which one rolls (001:200-211; E10)."""
    position = dujardin(f"hand 0: {hazard}", f"hand 2: {safety} 25", players=3)
    position.do(f"play {hazard} against team 2", "claim")
    assert (position.seat, position.hand_sizes()[2], position.battle_top(2)) == (2, 3, None)
    assert position.do("play 25").seat == 0


def test_a_coup_fourre_is_marked() -> None:
    """It is laid crosswise, and protects to the end like any safety (001:213-217)."""
    position = dujardin("hand 0: stop", "hand 1: right_of_way").do("play stop", "claim")
    assert position.coups(1) == ["right_of_way"]
    assert not position.turn(0).hand(0, "stop", "speed_limit").plays()


@each(("players", "teams"), [(4, 2), (6, 3), (8, 4)])
def test_either_partner_answers(players: int, teams: int) -> None:
    """The zone is common: whichever of the pair holds the safety (001:34-36; 001:74; E11)."""
    for responder in (1, 1 + teams):
        position = dujardin(
            "hand 0: accident", f"hand {responder}: driving_ace 25", players=players, teams=teams
        )
        position.do(lay(position, "accident", 1), "claim", "play 25")
        assert (position.km_of(1), position.seat) == (25, (responder + 1) % players)


# The end --------------------------------------------------------------------------------------------------


@each(("players", "teams"), [(2, 2), (3, 3), (4, 4), (4, 2), (6, 3), (8, 4)])
def test_the_first_at_1000_wins(players: int, teams: int) -> None:
    """That is all there is to win (001:32; rules 1.5)."""
    position = dujardin(players=players, teams=teams).km(0, 975).finish_trip(players - 1)
    assert position.round_winner() == (players - 1) % teams == position.match_winner()
    assert position.totals() == [0] * teams


def test_with_the_pile_empty_the_nearest_wins() -> None:
    """As in FR14, when the turn is over (rules 1.4; E53)."""
    assert kms(dujardin(players=3), (300, 500, 25)).run_out().round_winner() == 1
    assert kms(dujardin(players=3), (300, 500, 500)).run_out().round_winner() is None


@each(("decide", "winner"), [(0, None), (1, 2)])
def test_more_safeties_decide_a_tie_only_as_an_option(decide: int, winner: int | None) -> None:
    """A tie is a shared win, unless the option says otherwise (E53)."""
    position = kms(dujardin(players=3, safeties_break_tie=decide), (300, 500, 500)).safety(2, "extra_tank")
    assert position.run_out().match_winner() == winner


def test_points_as_an_option() -> None:
    """Points, if counted, are counted as in the classic booklet (rules 1.5)."""
    position = (
        kms(dujardin(players=3, count_points=1), (300, 25, 0)).safety(0, "extra_tank", coup=True).run_out()
    )
    assert position.points() == [300 + 400 + 500, 25 + 500, 0]
