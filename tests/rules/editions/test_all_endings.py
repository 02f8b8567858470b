"""Rules that editions share, parker's too: the end of a round, scoring, the match (rules 1.4, 1.5)."""

from __future__ import annotations

from tests.each import each
from tests.rules.editions.tables import (
    EDITIONS,
    ROLLING,
    TABLES,
    WITH_POINTS,
    WITHOUT_POINTS,
    at,
    every_table,
    in_editions,
    kms,
)
from tests.support import SAFETIES

PLAYED_OUT = ("dujardin_classic", "parker", "winning_moves")
ENDS_WITH_THE_TURN = ("dutch", *WITHOUT_POINTS)
EXTENDABLE = [(name, players) for name in WITH_POINTS for players in (2, 3)] + [
    (name, 6) for name in PLAYED_OUT
]
FINISHED = {"trip_completed": 400, "safe_trip": 300}
PAID_BY_BLANKS = ("dujardin_classic", "dutch")
PAID_TO_THE_WINNER = ("parker", "winning_moves")


# The end (1.4) --------------------------------------------------------------------------------------------


@every_table
def test_the_target_ends_the_round(name: str, players: int, teams: int) -> None:
    """The team that reaches it wins the trip, whoever lays the last card (000:219; 001:32; 002:156).

    Source: 004:7; 004:34.
    """
    for seat in range(players):
        position = at(name, players=players, teams=teams).finish_trip(seat)
        assert (position.phase, position.winner) == ("round over", seat % teams)
        assert position.round_winner() == seat % teams


@each(("name", "players", "teams"), [table for table in TABLES if table[0] in ENDS_WITH_THE_TURN])
def test_the_round_ends_with_the_turn_of_the_last_card(name: str, players: int, teams: int) -> None:
    """Hands are not played out (000:219; rules 1.4; E34, E54)."""
    for seat in range(players):
        position = at(name, f"to act: seat {seat}", f"hand {seat}: stop stop", players=players, teams=teams)
        position.draw_pile(1).do("discard stop")
        assert (position.phase, position.pile_size) == ("play", 0)
        following = position.seat
        assert following == (seat + 1) % players
        position.hand(following, "stop", "stop").do("discard stop")
        assert (position.phase, position.winner) == ("round over", None)


@in_editions(*ENDS_WITH_THE_TURN)
def test_the_last_card_drawn_in_an_extra_turn_ends_the_round_too(name: str) -> None:
    """By a safety or a coup fourré: that turn is finished first (000:219; E14, E18; rules 1.4)."""
    position = at(name, "hand 0: extra_tank stop", "hand 1: stop", players=3).draw_pile(1)
    position.do("play extra_tank")
    assert (position.phase, position.seat) == ("play", 0)
    assert position.do("discard stop").phase == "round over"
    position = at(name, "hand 0: flat_tire stop", "hand 1: stop", "hand 2: puncture_proof stop", players=3)
    position.draw_pile(2).battle(2, *ROLLING[name])
    position.do("play flat_tire against team 2", "claim")
    assert (position.phase, position.seat) == ("play", 2)
    assert position.do("discard stop").phase == "round over"


@each(("name", "players", "teams"), [table for table in TABLES if table[0] in PLAYED_OUT])
def test_hands_are_played_out(name: str, players: int, teams: int) -> None:
    """With the pile empty one card a turn, laid or discarded, until no hand is left.

    Who has none is skipped. Source: 002:156; FRC p. 16; E33, E50; scenario 68; 004:35; 004:37.
    """
    position = at(name, "battle 0: roll", "hand 0: 25 stop stop", players=players, teams=teams).draw_pile(0)
    position.hand(players - 1, "stop")
    seats = []
    while position.phase != "round over":
        seats.append(position.seat)
        position.do(min(position.legal(), key=lambda move: ("discard" in move, move)))
    assert seats == [0, players - 1, 0, 0]
    assert (position.winner, position.km_of(0), sum(position.hand_sizes())) == (None, 25, 0)


@in_editions(*PLAYED_OUT)
def test_a_trip_completed_in_the_play_out(name: str) -> None:
    """The finish goes before the emptiness of the hands, and is a delayed one (002:17; E37, E51)."""
    position = at(name, players=4).draw_pile(0).finish_trip(0)
    assert (position.winner, position.sheet(0)["delayed_action"]) == (0, 300)


# Points (1.5) ---------------------------------------------------------------------------------------------


@in_editions(*WITH_POINTS)
def test_distance_and_safeties_count_without_a_win(name: str) -> None:
    """1 for each km, 100 for each safety, 300 more for a coup fourré.

    Source: 000:215; 000:253-258; 002:115-117; 002:122; 002:129-130; 002:174; rules 1.5;
    FRC scoring; scenario 49.
    """
    position = at(name, "safeties 0: extra_tank driving_ace", players=3)
    position.safety(0, "puncture_proof", coup=True)
    kms(position, (325, 50, 25)).run_out()
    assert position.sheet(0) == {"distance": 325, "safeties": 300, "coups_fourres": 300}
    assert position.points() == [925, 50, 25]


@in_editions(*WITH_POINTS)
def test_all_four_safeties_bring_700(name: str) -> None:
    """300 on top of the four hundreds, if one side has laid them all (000:257; 002:124-127; rules 1.5).

    Source: scenario 52; US scoring.
    """
    assert at(name).safety(0, *SAFETIES).run_out().points() == [700, 0]
    assert at(name, f"safeties 1: {SAFETIES[3]}").safety(0, *SAFETIES[:3]).run_out().points() == [300, 100]


@in_editions(*WITH_POINTS)
@each("players", [2, 3, 4, 6])
def test_the_winner_of_the_trip(name: str, players: int) -> None:
    """400, and 300 if no 200 was laid; nothing of it to the others.

    Source: 000:239; 000:259; 000:261; 002:119-120; 002:136-138; rules 1.5; scenario 73; US scoring.
    """
    position = at(name, players=players)
    position = kms(position, [50] * position.rules.teams).finish_trip(0)
    assert position.sheet(0) == {"distance": position.target, **FINISHED}
    assert [position.sheet(team) for team in range(1, position.rules.teams)] == [{"distance": 50}] * (
        position.rules.teams - 1
    )
    with_200 = at(name, players=players)
    kms(with_200, [50] * with_200.rules.teams).km(0, 200, two_hundreds=1).finish_trip(0)
    assert with_200.sheet(0) == {"distance": with_200.target, "trip_completed": 400}


@in_editions(*WITH_POINTS)
def test_no_safe_trip_for_a_trip_not_completed(name: str) -> None:
    """Without the finish neither the 400 nor the 300 (E40; 002:119-120; 002:136-138; US scoring)."""
    assert kms(at(name), (675, 25)).run_out().points() == [675, 25]


@in_editions(*WITH_POINTS)
@each("left", [0, 1])
def test_a_delayed_finish(name: str, left: int) -> None:
    """300 if the pile was empty when the finishing card was laid, whoever drew its last card.

    Source: 000:221; 000:260; 002:17; 002:132-134; E37; scenario 65; US scoring.
    """
    position = at(name, "battle 1: roll", "hand 0: stop", "stream 1: 25 ...", players=4)
    position.km(0, 25).km(1, 975).draw_pile(1 + left).do("discard stop", "play 25")
    assert (position.winner, position.pile_size) == (1, left)
    assert position.sheet(1).get("delayed_action", 0) == (0 if left else 300)


@in_editions(*PAID_TO_THE_WINNER)
@each(
    ("players", "others", "points"),
    [
        (2, (0,), 500),
        (2, (25,), 0),
        (3, (0, 0), 500),
        (3, (25, 0), 0),
        (3, (0, 25), 0),
        (4, (0,), 500),
        (6, (0, 0), 500),
    ],
)
def test_a_shut_out_is_paid_to_the_winner_once(
    name: str, players: int, others: tuple[int, ...], points: int
) -> None:
    """If no opponent has laid a distance, and only if the trip was completed (002:140-143; E42).

    Source: scenarios 60 62; US scoring.
    """
    position = at(name, players=players)
    won = kms(position, (0, *others)).finish_trip(0)
    assert won.sheet(0).get("shutout", 0) == points
    not_won = kms(at(name, players=players), (675, *others)).run_out()
    assert not_won.points() == [675, *others]


@in_editions(*PAID_BY_BLANKS)
@each(
    ("players", "km", "points"),
    [
        (2, (300, 0), (500, 0)),
        (2, (300, 25), (0, 0)),
        (2, (0, 0), (0, 0)),
        (3, (300, 0, 0), (1000, 0, 0)),
        (3, (300, 200, 0), (500, 500, 0)),
        (3, (0, 25, 0), (0, 1000, 0)),
        (4, (0, 600), (0, 500)),
        (6, (300, 0), (500, 0)),
    ],
)
def test_each_blank_side_pays_every_placed_one(
    name: str, players: int, km: tuple[int, ...], points: tuple[int, ...]
) -> None:
    """500 for each, to all who have a distance, win or not; the blank among themselves get nothing.

    Source: 000:225-229; 000:263; rules 1.5; E42, E43.
    """
    position = at(name, players=players)
    teams = position.rules.teams
    kms(position, km).run_out()
    assert tuple(position.sheet(team).get("shutout", 0) for team in range(len(km))) == (
        points if len(km) == teams else (points[0] + 500, 0)  # six in three pairs: another blank side
    )


@in_editions(*PAID_BY_BLANKS)
def test_the_winner_is_paid_for_blank_sides_too(name: str) -> None:
    """On top of 400 and 300, with a placed third who gets the same 500 (000:227; 000:263; E42)."""
    position = kms(at(name, players=3), (0, 25, 0)).finish_trip(0)
    assert position.points() == [700 + 400 + 300 + 500, 25 + 500, 0]


# The extension (1.1, 1.5) ---------------------------------------------------------------------------------


@each(("name", "players"), EXTENDABLE)
def test_who_reaches_700_may_extend_to_1000(name: str, players: int) -> None:
    """At once, on reaching exactly 700; the turn goes to the left (000:233-237; 002:29; 002:33; E44).

    Source: US C.
    """
    position = at(name, "battle 0: roll", "hand 0: 50", players=players).km(0, 650).do("play 50")
    assert (position.phase, position.seat, position.legal()) == ("extension", 0, {"extend", "finish"})
    position.do("extend")
    assert (position.phase, position.seat, position.target, position.caller) == ("play", 1, 1000, 0)
    position.battle(1, "roll").km(1, 675).hand(1, "25", "200").turn(1)
    position.do("play 25")  # passing 700 is nothing any more: no second call (E49)
    assert (position.phase, position.winner) == ("play", None)


@each(("name", "players"), EXTENDABLE)
def test_an_extension_won(name: str, players: int) -> None:
    """200 besides the 400 and the 300 for a trip that is without a 200 to its end.

    Source: 000:243; 000:262; 002:29; E39; scenario 54; US C; rules 1.5.
    """
    position = at(name, players=players)
    kms(position, [25] * position.rules.teams).extended_by(0).finish_trip(0)
    assert position.sheet(0) == {"distance": 1000, **FINISHED, "extension": 200}
    position = at(name, players=players).extended_by(0)
    kms(position, [25] * position.rules.teams).km(0, 775, two_hundreds=1).finish_trip(0)
    assert position.sheet(0) == {"distance": 1000, "trip_completed": 400, "extension": 200}


@in_editions("parker", "dujardin_classic", "dutch")
@each("players", [2, 3])
def test_an_extension_lost_pays_each_opponent(name: str, players: int) -> None:
    """The caller has lost the 400; 200 to his opponents, whether one of them arrives or not.

    Source: 000:239-245; E47; rules 1.5. Safeties and coups stay his (E48); FRC p. 18; scenario 57; US C.
    """
    position = at(name, "safeties 0: extra_tank!", players=players).extended_by(0)
    kms(position, (900, *[300] * (players - 1))).run_out()
    assert position.points() == [900 + 400, *[300 + 200] * (players - 1)]
    position = kms(at(name, players=players).extended_by(0), (900, *[300] * (players - 1))).finish_trip(1)
    assert position.points() == [900, 1000 + 400 + 300 + 200, *[300 + 200] * (players - 2)]


@in_editions(*PAID_BY_BLANKS)
def test_a_failed_extension_among_three(name: str) -> None:
    """200 to each opponent, a blank one too, who takes no 500; the placed ones get 500 each for it.

    Source: 000:245; 000:227; FRC p. 18; E43, E47; scenario 58.
    """
    position = kms(at(name, "safeties 2: extra_tank!", players=3).extended_by(0), (900, 300, 0)).run_out()
    assert position.points() == [900 + 500, 300 + 500 + 200, 200 + 100 + 300]
    assert kms(at(name, players=3).extended_by(0), (700, 0, 0)).run_out().points() == [1700, 200, 200]


@each(("name", "players"), EXTENDABLE)
def test_an_extension_is_called_in_an_extra_turn_too(name: str, players: int) -> None:
    """After a safety as after a coup fourré; then play goes on to the left (E46)."""
    position = at(name, "battle 0: roll", "hand 0: extra_tank 25", players=players).km(0, 675)
    position.do("play extra_tank", "play 25", "extend")
    assert position.seat == 1
    position = at(
        name, "battle 1: roll", "hand 0: stop", "hand 1: right_of_way", "stream 1: 25 75 ...", players=players
    )
    position.km(1, 675)
    position.do("play stop" if players == 2 else "play stop against team 1", "claim", "play 25", "extend")
    assert (position.seat, position.caller) == (2 % players, 1)


@in_editions(*WITH_POINTS)
def test_a_whole_score_sheet(name: str) -> None:
    """Every line of the list at once (000:253-263; 002:115-143; 002:29; US scoring)."""
    position = at(name).extended_by(0).safety(0, *SAFETIES[:2], coup=True).safety(0, *SAFETIES[2:])
    position.draw_pile(0).finish_trip(0)
    assert position.sheet(0) == {
        **{"distance": 1000, "safeties": 400, "all_safeties": 300, "coups_fourres": 600, **FINISHED},
        **{"delayed_action": 300, "extension": 200, "shutout": 500},
    }
    assert position.totals() == [4000, 0]


@in_editions(*WITH_POINTS)
def test_an_extension_with_the_pile_empty(name: str) -> None:
    """It may still be called (E45); shut-out and delayed action are judged at its end (E38, E41).

    Source: 002:140-143.
    """
    position = at(name, "battle 0: roll", "hand 0: 25").draw_pile(0).km(0, 675)
    assert position.do("play 25").can("extend")
    position = kms(at(name).extended_by(0).draw_pile(0), (0, 0)).finish_trip(0)
    lines = {"distance": 1000, **FINISHED, "extension": 200, "delayed_action": 300, "shutout": 500}
    assert position.sheet(0) == lines
    position = at(name).extended_by(0).km(1, 25).finish_trip(0)
    assert "shutout" not in position.sheet(0)


@each(("name", "players", "teams"), TABLES)
def test_no_extension_where_the_trip_is_long(name: str, players: int, teams: int) -> None:
    """With a target of 1,000 the round is over there (000:233; 001:32; E44; rules 1.1)."""
    position = at(name, players=players, teams=teams)
    if position.target == 1000:
        position.battle(0, *ROLLING[name]).km(0, 975).hand(0, "25").do("play 25")
        assert position.phase == "round over"
    else:
        assert position.rules.extended_target == 1000


# The match (1.5) ------------------------------------------------------------------------------------------


@in_editions(*WITH_POINTS)
def test_5000_points_decide_the_match(name: str) -> None:
    """Reached or passed, over several rounds; with two beyond it the higher total, with equal ones another.

    Source: 000:249; 002:21; 002:81; E52; rules 1.5; scenario 69.
    """
    for before, after in (((4599, 0), None), ((4600, 0), 0), ((4600, 4675), 1), ((4600, 4650), None)):
        position = at(name)
        position.state.score[0], position.state.score[1] = before
        kms(position, (400, 350)).run_out()
        assert position.match_winner() == after


@every_table
def test_the_deal_moves_to_the_left(name: str, players: int, teams: int) -> None:
    """The left neighbour of the dealer deals next, and his own left neighbour begins (002:150; rules 1.1).

    Source: FRC pp. 6-7; scenario 70.
    """
    position = at(name, players=players, teams=teams)
    for dealer in range(players):
        position.state.dealer = dealer
        position.run_out().next_round().empty_hands()
        following = (dealer + 1) % players
        assert (int(position.state.dealer), position.seat) == (following, (following + 1) % players)


@in_editions(*WITHOUT_POINTS)
@each(
    ("players", "teams", "km", "winner"),
    [
        (2, 2, (300, 350), 1),
        (3, 3, (300, 350, 375), 2),
        (3, 3, (350, 300, 350), None),
        (4, 4, (0, 25, 0, 0), 1),
        (4, 2, (500, 475), 0),
        (8, 4, (100, 100, 100, 125), 3),
        (2, 2, (0, 0), None),
    ],
)
def test_without_points_the_nearest_wins(
    name: str, players: int, teams: int, km: tuple[int, ...], winner: int | None
) -> None:
    """With the pile empty and nobody at 1,000; as near as another: a shared win (rules 1.4, 1.5; E53)."""
    position = kms(at(name, players=players, teams=teams).safety(0, *SAFETIES, coup=True), km).run_out()
    assert (position.winner, position.round_winner(), position.match_winner()) == (None, winner, winner)
    assert position.points() == [0] * teams == position.totals()


@in_editions(*WITHOUT_POINTS)
def test_without_points_the_first_to_arrive_wins_all(name: str) -> None:
    """A single game, won or lost, without a bonus for anything (001:32; rules 1.4, 1.5)."""
    position = at(name, players=3).km(1, 975).draw_pile(0).finish_trip(2)
    assert (position.winner, position.round_winner(), position.match_winner()) == (2, 2, 2)
    assert position.points() == [0, 0, 0]


def test_the_editions_with_and_without_points() -> None:
    """Four count, two do not (rules 1.5)."""
    assert [name for name in EDITIONS if at(name).rules.count_points] == sorted(WITH_POINTS)
