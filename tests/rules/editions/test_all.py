"""Rules that editions share, parker's too: table, turn, movement, hazards, remedies (rules 1.1, 1.2)."""

from __future__ import annotations

from millebornes_env.games.millebornes.editions import edition
from tests.each import each
from tests.rules.editions.tables import (
    EDITIONS,
    ROLLING,
    TABLES,
    WITHOUT_POINTS,
    all_but,
    at,
    every_edition,
    every_table,
    in_editions,
    lay,
)
from tests.support import (
    BATTLE_HAZARDS,
    BREAKDOWNS,
    CARDS,
    DISTANCES,
    HAZARDS,
    REMEDIES,
    SAFETIES,
    SAFETY_AGAINST,
)

# The table (1.1) ------------------------------------------------------------------------------------------

FULL_DECK = (10, 10, 10, 12, 4, 3, 3, 3, 5, 4, 6, 6, 6, 14, 6, 1, 1, 1, 1)
PILES = {
    **{(name, 2): 89 for name in ("parker", "dujardin_classic", "dutch")},
    **{(name, 3): 83 for name in ("parker", "dujardin_classic", "dutch")},
    **{("winning_moves", 2): 90, ("winning_moves", 3): 84},
    **{(name, 2): 94 for name in ("dujardin", "dujardin_2014")},
    **{(name, 3): 88 for name in ("dujardin", "dujardin_2014")},
    **{(name, 4): 82 for name in EDITIONS},
    **{(name, 6): 70 for name in EDITIONS},
    **{(name, 8): 58 for name in ("dujardin", "dujardin_2014")},
}
"""Cards left to draw after the deal, by edition and players: the checks of rules 0.2."""


@every_table
def test_six_cards_each_and_the_rest_is_the_draw_pile(name: str, players: int, teams: int) -> None:
    """Six cards to each, the others face down (000:138-140; 001:40-44; 002:192; rules 0.2, 1.1; E56).

    Source: scenarios 2 3 4 6; 004:5.
    """
    position = at(name, players=players, teams=teams, dealt=True)
    assert sorted(position.hand_sizes()) == [6] * (players - 1) + [7]  # the first has drawn
    assert position.pile_size + 1 == PILES[name, players]
    assert position.discards.total() == 0


@every_table
def test_the_deck_of_a_table(name: str, players: int, teams: int) -> None:
    """The 106 cards; one of each hazard less for 2 and 3, in one edition but the Stop (000:134; 002:25; E57).

    FR01 and FR14 play with the whole deck at every table (001:27; 001:37-38; rules 0.2).
    Source: 002:37-57; 002:71; 002:90-107; FRC p. 17; scenarios 1 3; US A.
    """
    removed = [0] * 19
    if players <= 3 and name not in ("dujardin", "dujardin_2014"):
        removed[5:10] = [1, 1, 1, 0 if name == "winning_moves" else 1, 1]
    deck = at(name, players=players, teams=teams).deck
    assert [deck[card] for card in range(19)] == [n - r for n, r in zip(FULL_DECK, removed, strict=True)]


@in_editions(*WITHOUT_POINTS)
def test_to_1000_km_alone_or_in_pairs(name: str) -> None:
    """2 to 4 each for himself, 4 to 8 in pairs, whatever the table (001:3; 001:30-36; FR14 preparation)."""
    for players, teams in edition(name).tables:
        position = at(name, players=players, teams=teams)
        assert teams in (players, players // 2)
        assert (position.rules.teams, position.target, position.rules.extended_target) == (teams, 1000, 0)


@each(("players", "target", "extended"), [(2, 700, 1000), (3, 700, 1000), (4, 1000, 0)])
@in_editions("parker", "dujardin_classic", "dutch", "winning_moves")
def test_700_km_alone_and_1000_in_two_teams(name: str, players: int, target: int, extended: int) -> None:
    """Each for himself 700, two teams 1000 without extension.

    Source: 000:122; 000:132; 000:233; 002:27-29; 002:156; rules 1.1; 004:30; US.
    """
    position = at(name, players=players)
    assert (position.target, position.rules.extended_target) == (target, extended)


@in_editions("parker", "dujardin_classic", "winning_moves")
def test_six_play_in_three_pairs_to_700_with_extension(name: str) -> None:
    """Three teams of two, the trip shortened to 700, with the extension (002:33; rules 1.1; 004:30; US)."""
    position = at(name, players=6)
    assert (position.rules.teams, position.target, position.rules.extended_target) == (3, 700, 1000)


@every_table
def test_teams_take_turns_around_the_table(name: str, players: int, teams: int) -> None:
    """Left of the dealer begins, then clockwise; partners never follow each other.

    Source: 000:140; 001:5-6; 001:49-50; 002:150; 002:190; 002:196; rules 1.1; US.
    """
    position = at(name, players=players, teams=teams, dealt=True)
    seats = []
    for _ in range(players):
        seats.append(position.seat)
        position.do(next(move for move in sorted(position.legal()) if move.startswith("discard")))
    first = (int(position.state.dealer) + 1) % players
    assert seats == [(first + turn) % players for turn in range(players)]
    assert position.seat == first
    assert all(one % teams != two % teams for one, two in zip(seats, [*seats[1:], seats[0]], strict=True))


TEAM_TABLES = [(name, players, teams) for name, players, teams in TABLES if players > teams]


@each(("name", "players", "teams"), TEAM_TABLES)
def test_a_team_has_one_display(name: str, players: int, teams: int) -> None:
    """A partner continues what another laid; attacks and safeties hold for all of them.

    Source: 000:128; 001:34-36; 001:74; 002:154; 002:186; rules 1.1; 004:7; 004:14; 004:22; US.
    """
    for seat in range(teams, players):  # seats of the second partners, and the third ones
        team = seat % teams
        position = at(name, f"to act: seat {team}", f"hand {team}: 25", players=players, teams=teams)
        position.battle(team, *ROLLING[name])
        position.do("play 25").turn(seat).hand(seat, "50").do("play 50")
        assert position.km_of(team) == 75
        position.battle(team, *ROLLING[name], "accident").turn(team).hand(team, "25")
        assert not position.plays()
        assert position.turn(seat).hand(seat, "repairs", "25").plays() == {"repairs"}
        position.safety(team, "extra_tank").turn(team + 1).hand(team + 1, "out_of_gas")
        assert not position.can(lay(position, "out_of_gas", team))


@each(("name", "players", "teams"), TABLES)
def test_every_opponent_may_be_attacked_and_nobody_else(name: str, players: int, teams: int) -> None:
    """A hazard is laid on another side's piles (000:17; 000:183; 001:14-16; 001:72; E59, E62; 004:16)."""
    for seat in range(players):
        position = at(name, players=players, teams=teams).turn(seat).hand(seat, *HAZARDS)
        for team in range(teams):
            position.battle(team, *ROLLING[name])
        opponents = [team for team in range(teams) if team != seat % teams]
        assert {f"play {card}" for card in position.plays()} == {
            lay(position, hazard, team) for hazard in HAZARDS for team in opponents
        }


# The turn (1.1) -------------------------------------------------------------------------------------------


@every_edition
def test_a_turn_is_one_card_drawn_and_one_laid_or_discarded(name: str) -> None:
    """Seven in hand, one of them goes: six again at its end.

    Source: 000:178-180; 000:185; 001:8-9; 002:148; 002:196.
    """
    position = at(name, players=3, dealt=True)
    for _ in range(6):
        seat, pile = position.seat, position.pile_size
        assert position.hand_sizes()[seat] == 7
        position.do(next(move for move in sorted(position.legal()) if move.startswith("discard")))
        assert position.hand_sizes()[seat] == 6
        assert position.pile_size == pile - 1


@every_edition
def test_any_card_may_be_discarded_at_any_time(name: str) -> None:
    """The decision for every edition: also when a card could be laid (000:184; 002:148; rules 1.2; E21).

    Source: FR14 possibility 6; scenario 46; 004:28.
    """
    position = at(name).battle(0, *ROLLING[name]).hand(0, *CARDS)
    assert position.plays()
    assert {f"discard {card}" for card in CARDS} <= position.legal()
    assert position.do("discard driving_ace").discards == {"driving_ace": 1}
    assert position.seat == 1


@every_edition
def test_who_is_attacked_may_attack(name: str) -> None:
    """One may attack although one is under attack oneself (001:17-18; 000:183; rules 1.2)."""
    position = at(name, "speed 0: speed_limit").battle(0, *ROLLING[name], "stop").battle(1, *ROLLING[name])
    assert position.hand(0, *HAZARDS).plays() == set(HAZARDS)


# Movement (1.2) -------------------------------------------------------------------------------------------


@every_edition
def test_distance_cards_add_up(name: str) -> None:
    """The number on the card is the kilometres come (000:9; 000:182; 001:77-84; 002:47; 002:180; 004:9)."""
    position = at(name).battle(0, *ROLLING[name])
    for card, total in zip(DISTANCES, (25, 75, 150, 250, 450), strict=True):
        position.turn(0).hand(0, card).do(f"play {card}")
        assert position.km_of(0) == total
    assert position.laid(0) == {**dict.fromkeys(DISTANCES, 1), **dict.fromkeys(ROLLING[name], 1)}


@all_but("dujardin")
def test_a_roll_comes_first(name: str) -> None:
    """Before a distance card can be laid a Roll must lie there (000:43-45; 000:172; 002:184; 002:198).

    Source: FR14 possibilities 1 and 2; scenario 7; 004:13; 004:18.
    """
    position = at(name).hand(0, *DISTANCES, *REMEDIES)
    assert position.plays() == {"roll"}
    position.do("play roll").turn(0).hand(0, *DISTANCES)
    assert position.plays() == set(DISTANCES)


@all_but("dujardin")
def test_of_the_safeties_right_of_way_alone_replaces_the_first_roll(name: str) -> None:
    """With Right of Way one starts at once, with another safety not (000:47; 000:113; 002:199; E31).

    Source: 002:152; 002:170; 004:26.
    """
    for safety in SAFETIES:
        position = at(name, f"hand 0: {safety} 100").do(f"play {safety}")
        assert position.can("play 100") == (safety == "right_of_way")


@every_edition
def test_no_second_roll_on_a_roll(name: str) -> None:
    """A Roll is laid only where it is asked for, not with Right of Way on a Roll either (E25).

    Source: scenario 48; 004:18.
    """
    for pile in ROLLING[name], (*ROLLING[name], "stop", "roll"):
        position = at(name, "hand 0: roll").battle(0, *pile)
        assert not position.plays()
        assert not position.safety(0, "right_of_way").plays()


@every_edition
def test_a_limit_leaves_25_and_50(name: str) -> None:
    """Nothing above 50 under a Speed Limit (000:35; 001:110-112; rules 1.2); its end lifts it (002:100).

    Source: scenarios 15 16; 004:24.
    """
    position = at(name, "speed 0: speed_limit").battle(0, *ROLLING[name]).hand(0, *DISTANCES, "end_of_limit")
    assert position.plays() == {"25", "50", "end_of_limit"}
    position.do("play end_of_limit").turn(0).hand(0, *DISTANCES, "end_of_limit")
    assert position.plays() == set(DISTANCES)
    assert position.speed_top(0) == "end_of_limit"


@every_edition
def test_the_limit_has_a_pile_of_its_own(name: str) -> None:
    """Limit and End of Limit lie on the speed pile and leave the battle pile alone, whatever it shows.

    Source: 000:65; 000:158; 001:57-67; 001:92-94; 002:59; E29, E36; scenario 13; 004:9; 004:15.
    """
    for pile in ((), ROLLING[name], *((*ROLLING[name], hazard) for hazard in BATTLE_HAZARDS)):
        position = at(name, "hand 0: speed_limit").battle(1, *pile).do("play speed_limit")
        assert (position.speed_top(1), position.battle_top(1)) == ("speed_limit", pile[-1] if pile else None)
        position.hand(1, "end_of_limit").do("play end_of_limit")
        assert (position.speed_top(1), position.battle_top(1)) == ("end_of_limit", pile[-1] if pile else None)


@every_edition
def test_a_limit_does_not_keep_battle_hazards_away(name: str) -> None:
    """The Limit cumulates with each of the four others (001:92-94; 001:104-107; E29)."""
    position = at(name, "speed 1: speed_limit").battle(1, *ROLLING[name]).hand(0, *HAZARDS)
    assert position.plays() == set(BATTLE_HAZARDS)


@every_edition
def test_no_hazard_on_a_hazard(name: str) -> None:
    """One attack on a pile at a time, no Limit on a Limit (001:19-21; 001:104-107; 002:61; E28).

    Source: scenario 17; 004:16.
    """
    for hazard in BATTLE_HAZARDS:
        position = at(name).battle(1, *ROLLING[name], hazard).hand(0, *HAZARDS)
        assert position.plays() == {"speed_limit"}
        assert not position.speed(1, "speed_limit").plays()
        # nor with Right of Way, which leaves the three breakdowns (E4)
        if hazard != "stop":
            assert not position.safety(1, "right_of_way").plays()


@every_edition
@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_each_breakdown_stops_until_its_remedy(name: str, hazard: str, remedy: str, safety: str) -> None:
    """It bars the way, and of all remedies its own alone can be laid on it.

    Source: 000:17; 000:29; 000:57; 000:104-107; 000:150; 000:199; 001:23-27; 001:100-102; 001:115-157;
    002:59; 002:98; E27; 004:14.
    """
    position = at(name, f"hand 0: {hazard}").battle(1, *ROLLING[name]).do(f"play {hazard}")
    assert position.battle_top(1) == hazard
    position.hand(1, *DISTANCES, *REMEDIES)
    assert position.plays() == {remedy}
    assert position.do(f"play {remedy}").battle_top(1) == remedy


@every_edition
def test_a_stop_takes_a_roll_and_no_more(name: str) -> None:
    """A Roll alone lifts it (000:17-19; 000:104; 001:136-147; 002:100; rules 1.2; scenario 20).

    Source: 004:14; 004:18.
    """
    position = at(name, "hand 0: stop")
    position.battle(1, *ROLLING[name]).do("play stop").hand(1, *DISTANCES, *REMEDIES)
    assert position.plays() == {"roll"}
    position.do("play roll").turn(1)
    assert position.plays() == set(DISTANCES)


@all_but("dujardin", "dujardin_2014")
@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_after_a_remedy_a_roll_is_needed(name: str, hazard: str, remedy: str, safety: str) -> None:
    """The remedy does not start the car, on whatever turn the Roll comes; till then no hazard lies on it.

    Source: 000:59; 000:172-174; 000:195; 000:201; 002:98; 004:18; 004:20; rules 1.2; E32; scenarios 12 18 26.
    """
    position = at(name, f"battle 0: {hazard} on roll", f"hand 0: {remedy} roll 25").do(f"play {remedy}")
    for _ in range(3):
        position.turn(1).hand(1, *BATTLE_HAZARDS)
        assert not position.plays()
        position.turn(0)
        assert position.plays() == {"roll"}
    assert position.do("play roll").turn(0).plays() == {"25"}


@in_editions("dujardin", "dujardin_2014")
@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_a_remedy_restarts_at_once(name: str, hazard: str, remedy: str, safety: str) -> None:
    """No light after it, and none can be laid: FR14 possibility 4; 001:100-102; E25. He rolls: E55.

    Source: scenario 19.
    """
    position = at(name, f"hand 0: {remedy} roll 25").battle(0, *ROLLING[name], hazard)
    position.do(f"play {remedy}").turn(0)
    assert position.plays() == {"25"}
    assert position.turn(1).hand(1, *HAZARDS).plays() == set(HAZARDS)


@every_edition
@each("hazard", HAZARDS)
def test_a_safety_protects_for_good(name: str, hazard: str) -> None:
    """Once it lies there its hazard cannot be laid any more, the others can.

    Source: 000:93; 000:115-116; 001:158-162; 001:172-188; 001:213-214; 002:109; 002:170; scenarios 47 74;
    004:16; 004:22; 004:26.
    """
    safety = SAFETY_AGAINST[hazard]
    position = at(name, f"safeties 1: {safety}").battle(1, *ROLLING[name]).hand(0, *HAZARDS)
    assert position.plays() == {other for other in HAZARDS if SAFETY_AGAINST[other] != safety}
    assert hazard not in position.plays()


@every_edition
def test_no_more_than_two_200s_to_a_display(name: str) -> None:
    """Two of them at most, whoever of the team has laid them (001:86-88; 002:49; rules 1.2; E60).

    Source: scenario 42; 004:24.
    """
    position = at(name, "hand 0: 200", "hand 2: 2x200", players=4, teams=2).battle(0, *ROLLING[name])
    position.do("play 200").turn(2).do("play 200").turn(2)
    assert not position.plays()
    assert not position.turn(0).hand(2).hand(0, "200").plays()
    assert position.turn(1).battle(1, *ROLLING[name]).hand(1, "200").can("play 200")


@every_table
def test_the_target_is_met_exactly(name: str, players: int, teams: int) -> None:
    """No card beyond it; the one that meets it completes the trip.

    Source: 000:235; 002:29; 002:79; 002:156; E63; rules 1.2 (cut in FR01, as FR14); scenarios 43 45.
    """
    position = at(name, players=players, teams=teams)
    position.battle(0, *ROLLING[name]).km(0, position.target - 75).hand(0, *DISTANCES)
    assert position.plays() == {"25", "50", "75"}
    position.do("play 75")
    assert position.phase == ("extension" if position.rules.extended_target else "round over")
    assert position.do(*["finish"] * (position.phase == "extension")).winner == 0


# Right of Way (1.3) ---------------------------------------------------------------------------------------


@every_edition
def test_right_of_way_lifts_stop_and_limit(name: str) -> None:
    """Both go to the discard pile and one drives on without a Roll (000:73; 001:164-166; 002:170; E3, E6).

    Source: FRC p. 10; scenario 22; 004:26.
    """
    position = at(name, "speed 0: speed_limit").battle(0, *ROLLING[name], "stop")
    position.hand(0, "right_of_way", *DISTANCES).do("play right_of_way")
    assert position.discards == {"stop": 1, "speed_limit": 1}
    assert position.plays() == set(DISTANCES)


@every_edition
@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_right_of_way_leaves_breakdowns_but_saves_the_roll(
    name: str, hazard: str, remedy: str, safety: str
) -> None:
    """The remedy is still needed, no Roll after it (002:170; 000:113; E4); a remedy that waits rolls (E5).

    Source: 004:26.
    """
    position = at(name, f"hand 0: right_of_way {remedy} 25 roll").battle(0, *ROLLING[name], hazard)
    assert position.do("play right_of_way").plays() == {remedy}
    assert position.do(f"play {remedy}").turn(0).can("play 25")
    position = at(name, "hand 0: right_of_way 25").battle(0, *ROLLING[name], hazard, remedy)
    assert position.do("play right_of_way").plays() == {"25"}


@every_edition
def test_with_right_of_way_one_is_attacked_whatever_shows(name: str) -> None:
    """Empty pile or waiting remedy: who may drive may be stopped (E1, E2, E36; FR14 possibility 3).

    Source: 000:195; FRC p. 9; scenarios 24 25; 004:26.
    """
    remedied = [(*ROLLING[name], hazard, remedy) for hazard, remedy, _ in BREAKDOWNS]
    for pile in ((), *remedied, (*ROLLING[name], "stop", "roll")):
        position = at(name, "safeties 1: right_of_way").battle(1, *pile).hand(0, *HAZARDS)
        assert position.plays() == {"accident", "out_of_gas", "flat_tire"}


@in_editions("dujardin", "winning_moves")
@each("players", [2, 3, 4, 6])
def test_a_hazard_may_open_the_pile_of_any_opponent(name: str, players: int) -> None:
    """All five, against who has not begun (001:14-16; 001:96-98; 002:147; scenario 10)."""
    position = at(name, players=players).hand(0, *HAZARDS)
    teams = range(1, position.rules.teams)
    assert len(position.plays()) == len(HAZARDS) * len(teams)
    for team in teams:
        other = at(name, "hand 0: accident", players=players)
        assert other.do(lay(other, "accident", team)).battle_top(team) == "accident"


@all_but("dujardin", "winning_moves")
@each("players", [2, 3, 4, 6])
def test_only_a_limit_may_be_laid_against_who_has_not_begun(name: str, players: int) -> None:
    """Hazards lie on a Roll only, the Limit apart (000:195; E36; FRC possibility 3; FR14 possibility 3).

    Source: FRC advice 7; scenario 9.
    """
    position = at(name, players=players).hand(0, *HAZARDS)
    assert {move.partition(" against ")[0] for move in position.plays()} == {"speed_limit"}
    assert len(position.plays()) == position.rules.teams - 1


def test_the_tables_are_those_of_the_specification() -> None:
    """At most four alone, teams of three in one edition only (000:126; 001:3; 001:30; 002:65; rules 1.1)."""
    assert len(TABLES) == 4 * 4 + 2 * 6
    assert max(players for _, players, teams in TABLES if players == teams) == 4
    assert [table for table in TABLES if table[1] == 3 * table[2]] == [("dutch", 6, 2)]
    assert {table for table in TABLES if table[2] == 4} == {
        (name, players, 4) for name in ("dujardin", "dujardin_2014") for players in (4, 8)
    }
