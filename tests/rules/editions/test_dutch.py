"""The Dutch rules, text 000: what they say otherwise than the others (see `test_all*.py` for the rest)."""

from __future__ import annotations

from tests.each import each
from tests.rules.editions.tables import at, kms
from tests.support import BREAKDOWNS, CARDS, HAZARDS, SAFETIES, Position


def dutch(*lines: str, **options: int) -> Position:
    return at("dutch", *lines, **options)


# The table ------------------------------------------------------------------------------------------------


@each(("players", "teams"), [(2, 2), (3, 3), (4, 2), (6, 2)])
def test_two_or_three_alone_four_in_pairs_six_in_threes(players: int, teams: int) -> None:
    """With 4 and with 6 there are two teams, with 2 and with 3 each plays for himself (000:126)."""
    assert dutch(players=players).rules.teams == teams


@each(("players", "counts"), [(2, [2, 2, 2, 4, 3]), (3, [2, 2, 2, 4, 3])])
def test_alone_one_of_each_hazard_is_taken_out(players: int, counts: list[int]) -> None:
    """Of every kind of hazard one, Stop and Limit too: 101 cards (000:134)."""
    position = dutch(players=players)
    assert [position.deck[CARDS.index(hazard)] for hazard in HAZARDS] == counts
    assert position.deck.total() == 101


def test_six_players_sit_alternately() -> None:
    """Seats A B A B A B, one display for each three; 1,000 km, no extension (000:126-128; 000:233; E58)."""
    position = dutch(players=6)
    assert (position.target, position.rules.extended_target, position.deck.total()) == (1000, 0, 106)
    for seat in range(6):
        position.turn(seat).battle(seat % 2, "roll").hand(seat, "25").do("play 25")
    assert (position.km_of(0), position.km_of(1)) == (75, 75)


@each("attacker", [0, 2, 4])
@each("responder", [1, 3, 5])
def test_any_of_the_three_may_answer(attacker: int, responder: int) -> None:
    """The one who holds the safety, even the seat right of the attacker; then his left (000:214; E11)."""
    position = dutch(
        f"to act: seat {attacker}",
        "battle 1: roll",
        f"hand {attacker}: accident",
        f"hand {responder}: driving_ace 25",
        players=6,
    )
    position.do("play accident")
    assert (position.phase, position.seat) == ("claim", responder)
    position.do("claim", "play 25")
    assert (position.km_of(1), position.seat) == (25, (responder + 1) % 6)


# Moving and attacking -------------------------------------------------------------------------------------


def test_right_of_way_starts_and_restarts_without_a_light() -> None:
    """It replaces the start card, lifts Stop and Limit, and saves the light after a remedy.

    Source: 000:73; 000:111-113. Neither a Stop nor a Limit can be laid then (000:115-116).
    """
    position = dutch("hand 0: right_of_way 25").do("play right_of_way")
    assert position.can("play 25")
    position.battle(0, "roll", "accident", "repairs")
    assert position.can("play 25")
    assert position.turn(1).hand(1, *HAZARDS).plays() == {"accident", "out_of_gas", "flat_tire"}


@each("pile", [(), ("roll", "stop"), ("roll", "accident"), ("roll", "accident", "repairs")])
def test_a_hazard_lies_on_a_light_only(pile: tuple[str, ...]) -> None:
    """On nothing else; the Limit, which has a pile of its own, may be laid any time (000:195; E36)."""
    assert dutch().battle(1, *pile).hand(0, *HAZARDS).plays() == {"speed_limit"}
    assert dutch("battle 1: roll").hand(0, *HAZARDS).plays() == set(HAZARDS)


def test_with_right_of_way_a_hazard_lies_on_the_last_remedy() -> None:
    """There it takes the place of the light (000:195; E36)."""
    position = dutch("safeties 1: right_of_way").battle(1, "roll", "out_of_gas", "gasoline")
    assert position.hand(0, *HAZARDS).plays() == {"accident", "out_of_gas", "flat_tire"}


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_after_each_attack_a_light_but_not_after_a_safety(hazard: str, remedy: str, safety: str) -> None:
    """The remedy wants a light on top, the safety does not (000:59; 000:172-174; 000:199-201)."""
    position = dutch(f"battle 0: {hazard} on roll", f"hand 0: {remedy} {safety} 25").do(f"play {remedy}")
    assert not position.turn(0).can("play 25")
    position = dutch(f"battle 0: {hazard} on roll", f"hand 0: {safety} 25").do(f"play {safety}")
    assert position.can("play 25")


def test_a_light_that_waited_does_not_come_back_with_another_safety() -> None:
    """A safety shows again what lay beneath its hazard, and no more (000:97; 000:174; E22)."""
    position = dutch("hand 0: extra_tank 25").battle(0, "roll", "accident", "repairs")
    assert not position.do("play extra_tank").can("play 25")


# Safeties and the lightning reaction ----------------------------------------------------------------------


@each("number", [1, 2, 3, 4])
def test_a_safety_held_from_the_start_costs_two_cards(number: int) -> None:
    """Two cards drawn in all and one more laid, be it held or just drawn; with more safeties, one more each.

    Source: 000:189-191; E35.
    """
    position = dutch("battle 1: roll", "hand 0: stop").draw_pile(20)
    position.hand(1, *SAFETIES[:number], *["stop"] * (4 - number), "25", "50")
    position.do("discard stop", *(f"play {safety}" for safety in SAFETIES[:number]), "play 25")
    assert position.hand_sizes()[1] == 6
    assert position.pile_size + 1 == 20 - (1 + number)


def test_a_lightning_reaction_lies_crosswise() -> None:
    """It stays marked, safeties side by side; 300 besides the 100 (000:144-146; 000:215)."""
    position = dutch("battle 1: roll", "hand 0: flat_tire", "hand 1: puncture_proof extra_tank stop")
    position.do("play flat_tire", "claim", "play extra_tank", "discard stop").run_out()
    assert position.coups(1) == ["puncture_proof"]
    assert position.sheet(1) == {"safeties": 200, "coups_fourres": 300}


def test_after_the_reaction_seven_cards_and_one_of_them_goes() -> None:
    """Two new cards make seven of five; one is laid or discarded (000:212-213)."""
    position = dutch("battle 1: roll", "hand 0: stop", "hand 1: right_of_way 5x gasoline")
    position.do("play stop", "claim")
    assert position.hand_sizes()[1] == 7
    assert position.do("discard gasoline").hand_sizes()[1] == 6


# The finish -----------------------------------------------------------------------------------------------


@each("players", [2, 3, 4, 6])
def test_the_round_ends_when_the_stock_is_empty(players: int) -> None:
    """With the turn that took its last card; hands are not played out (000:219; E34)."""
    position = dutch("hand 0: stop stop", players=players).draw_pile(1).do("discard stop")
    assert (position.seat, position.pile_size) == (1, 0)
    position.hand(1, "stop", "stop").do("discard stop")
    assert (position.phase, position.hand_sizes()[1]) == ("round over", 1)


@each("players", [2, 3])
def test_an_extended_round_goes_on_until_all_cards_are_played_out(players: int) -> None:
    """Or until one reaches 1000: the special rule goes before the general one (000:237; 000:219; E34)."""
    position = dutch("hand 0: stop stop", "hand 1: stop", players=players).extended_by(0).draw_pile(0)
    position.do("discard stop", "discard stop")
    assert (position.phase, position.seat) == ("play", 0)
    assert position.do("discard stop").phase == "round over"
    position = dutch("hand 0: stop", players=players).extended_by(0).draw_pile(0).do("discard stop")
    assert position.phase == "round over"


def test_an_extended_round_is_won_while_hands_are_played_out() -> None:
    """With the stock empty: a crowning stroke too (000:237; 000:221; E34, E37)."""
    position = dutch("hand 0: stop", "battle 1: roll", "hand 1: 25").extended_by(0).draw_pile(0).km(1, 975)
    position.do("discard stop", "play 25")
    assert (position.phase, position.winner, position.sheet(1)["delayed_action"]) == ("round over", 1, 300)


def test_the_extension_is_worth_calling_with_the_stock_empty() -> None:
    """A team that reaches 700 in the turn of the last card can still drive on (000:235-237; E34, E45)."""
    position = dutch("battle 0: roll", "hand 0: 25 200", "hand 1: stop stop").draw_pile(0).km(0, 675)
    position.do("play 25", "extend")
    assert (position.phase, position.seat) == ("play", 1)
    position.do("discard stop", "play 200")
    assert (position.phase, position.seat, position.km_of(0)) == ("play", 1, 900)


@each("attacked", [False, True])
def test_safeties_bring_no_other_play_while_hands_are_played_out(attacked: bool) -> None:
    """As in the French booklet, which the text is taken from (000:237; FRC p. 16; E15 to E17, E34)."""
    position = dutch("battle 2: roll", "hand 1: stop", "hand 2: stop", players=3).extended_by(0).draw_pile(0)
    if attacked:
        position.hand(0, "flat_tire").hand(2, "puncture_proof", "stop")
        position.do("play flat_tire against team 2", "claim")
    else:
        position.hand(0, "puncture_proof", "stop").do("play puncture_proof")
    assert (position.phase, position.seat) == ("play", 1)


def test_the_reading_that_ends_an_extended_round_too_is_an_option() -> None:
    """The general rule without an exception (000:219; E34)."""
    position = dutch(play_out_after_extension=0).extended_by(0).draw_pile(0)
    assert position.hand(0, "stop").hand(1, "stop").do("discard stop").phase == "round over"


def test_the_crowning_stroke() -> None:
    """Arriving in the turn of the last card brings 300 (000:221; 000:260; E34, E37)."""
    for pile, points in ((1, 300), (2, 0)):
        position = dutch("battle 1: roll", "hand 0: stop", "stream 1: 25 ...", players=4)
        position.draw_pile(pile).km(1, 975).km(0, 25).do("discard stop", "play 25")
        assert position.sheet(1).get("delayed_action", 0) == points


def test_the_crowning_stroke_after_a_safety_that_takes_the_last_card() -> None:
    """The last card of the stock may come as the extra one (000:221; E18)."""
    position = dutch("battle 0: roll", "hand 0: extra_tank", "stream 0: 25 ...", players=4)
    position.draw_pile(1).km(0, 975).do("play extra_tank", "play 25")
    assert position.sheet(0)["delayed_action"] == 300


# Points ---------------------------------------------------------------------------------------------------


@each(("km", "points"), [((300, 0, 0), (1000, 0, 0)), ((300, 200, 0), (500, 500, 0)), ((0, 0, 0), (0, 0, 0))])
def test_alone_one_is_paid_for_each_who_is_not_placed(km: tuple[int, ...], points: tuple[int, ...]) -> None:
    """Not placed is who has laid no distance; each placed rider gets 500 for each (000:225-227; E42, E43)."""
    position = kms(dutch(players=3), km).run_out()
    assert tuple(position.sheet(team).get("shutout", 0) for team in range(3)) == points


@each("players", [4, 6])
def test_in_teams_one_is_paid_for_the_team_not_for_its_riders(players: int) -> None:
    """500 for the other team, be it of two or three (000:229)."""
    assert kms(dutch(players=players), (25, 0)).run_out().points() == [525, 0]


def test_whoever_reaches_1000_wins_an_extended_trip() -> None:
    """The 400 go to who arrives first, whether he called or not; the caller has lost his (000:237-241)."""
    position = kms(dutch(players=3).extended_by(0), (700, 0, 25)).finish_trip(1)
    assert position.sheet(0) == {"distance": 700}
    assert position.sheet(1) == {"distance": 1000, "trip_completed": 400, "safe_trip": 300, "extension": 200}
    assert position.sheet(2) == {"distance": 25, "extension": 200}


@each("km", [(900, 300, 0), (700, 0, 0)])
def test_a_failed_extension_among_three(km: tuple[int, ...]) -> None:
    """200 to each opponent, a blank one too, who takes no 500 (000:245; 000:227; E43, E47)."""
    position = kms(dutch(players=3).extended_by(0), km).run_out()
    blanks = [length == 0 for length in km]
    for team in range(3):
        placed = not blanks[team]
        paid_by = sum(blanks) - blanks[team] if placed else 0
        assert position.points()[team] == km[team] + 500 * paid_by + 200 * (team != 0)


def test_a_declined_extension_keeps_the_400() -> None:
    """A team that stops at 700 keeps them (000:235; 000:241)."""
    position = dutch().km(1, 25).finish_trip(0)
    assert position.points() == [700 + 400 + 300, 25]


def test_a_whole_score_sheet() -> None:
    """Every line of the list at once (000:253-263)."""
    position = dutch().extended_by(0).safety(0, *SAFETIES[:2], coup=True).safety(0, *SAFETIES[2:])
    position.draw_pile(0).finish_trip(0)
    assert position.sheet(0) == {
        **{"distance": 1000, "safeties": 400, "all_safeties": 300, "coups_fourres": 600},
        **{"trip_completed": 400, "delayed_action": 300, "safe_trip": 300, "extension": 200, "shutout": 500},
    }
    assert position.totals() == [4000, 0]


def test_the_championship() -> None:
    """Several rounds, to 5,000 reached or passed (000:249)."""
    position = dutch()
    position.state.score[0] = 4000
    kms(position, (500, 0)).run_out()
    assert (position.totals(), position.match_winner()) == ([5000, 0], 0)
