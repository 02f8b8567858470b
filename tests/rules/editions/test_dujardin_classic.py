"""Dujardin's classic booklet (FRC): what it says otherwise (the rest: `test_all*.py`)."""

from __future__ import annotations

from tests.each import each
from tests.rules.editions.tables import at, kms
from tests.support import BATTLE_HAZARDS, BREAKDOWNS, CARDS, HAZARDS, SAFETIES, Position


def frc(*lines: str, **options: int) -> Position:
    return at("dujardin_classic", *lines, **options)


# The table ------------------------------------------------------------------------------------------------


@each(
    ("players", "teams", "target", "extended", "deck"),
    [(2, 2, 700, 1000, 101), (3, 3, 700, 1000, 101), (4, 2, 1000, 0, 106), (6, 3, 700, 1000, 106)],
)
def test_the_tables(players: int, teams: int, target: int, extended: int, deck: int) -> None:
    """Alone with one of each hazard less, two pairs, three pairs (FRC p. 17; rules 0.2, 1.1)."""
    position = frc(players=players)
    assert (position.rules.teams, position.target, position.rules.extended_target) == (
        teams,
        target,
        extended,
    )
    assert position.deck.total() == deck
    hazards = [position.deck[CARDS.index(hazard)] for hazard in HAZARDS]
    assert hazards == ([2, 2, 2, 4, 3] if players < 4 else [3, 3, 3, 5, 4])


def test_six_sit_a_b_c_a_b_c() -> None:
    """Partners opposite, three seats apart (rules 1.1)."""
    position = frc("battle 1: roll", "to act: seat 4", "hand 4: 25", players=6).do("play 25")
    assert (position.km_of(1), position.seat) == (25, 5)


# Moving and attacking -------------------------------------------------------------------------------------


@each("pile", [(), *(("roll", hazard) for hazard in BATTLE_HAZARDS)])
def test_a_limit_on_who_stands(pile: tuple[str, ...]) -> None:
    """Before his start and under another hazard (FRC possibility 3, advice 7; rules 1.2)."""
    assert frc().battle(1, *pile).hand(0, *HAZARDS).plays() == {"speed_limit"}


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_on_the_last_remedy_of_who_has_the_right_of_way(hazard: str, remedy: str, safety: str) -> None:
    """A hazard may lie there as on a light (FRC p. 9; rules 1.2); without it not."""
    position = frc().battle(1, "roll", hazard, remedy).hand(0, *HAZARDS)
    assert position.plays() == {"speed_limit"}
    assert position.safety(1, "right_of_way").plays() == {"accident", "out_of_gas", "flat_tire"}


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_the_light_after_a_remedy_comes_on_a_later_turn(hazard: str, remedy: str, safety: str) -> None:
    """Remedy and light are two turns, and the distance a third (FRC; rules 1.2)."""
    position = frc(f"battle 0: {hazard} on roll", f"hand 0: {remedy} roll 25").do(f"play {remedy}")
    assert position.seat == 1
    position.turn(0).do("play roll")
    assert position.seat == 1
    assert position.turn(0).can("play 25")


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_a_safety_gives_the_light_back(hazard: str, remedy: str, safety: str) -> None:
    """Its hazard is removed and the light beneath shows again, in the same turn (rules 1.3; E22)."""
    position = frc(f"battle 0: {hazard} on roll", f"hand 0: {safety} 25").do(f"play {safety}")
    assert (position.battle_top(0), position.discards) == ("roll", {hazard: 1})
    assert position.can("play 25")


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_a_safety_against_a_hazard_on_a_remedy_shows_the_remedy(
    hazard: str, remedy: str, safety: str
) -> None:
    """With Right of Way out one was rolling on it, and rolls again (rules 1.3; E10, E22)."""
    position = frc("safeties 0: right_of_way", f"hand 0: {safety} 25")
    position.battle(0, "roll", "accident", "repairs", hazard)
    assert not position.can("play 25")
    position.do(f"play {safety}")
    assert (position.battle_top(0), position.can("play 25")) == ("repairs", True)


# With the shoe empty (FRC p. 16) --------------------------------------------------------------------------


def test_a_safety_gives_no_second_play_any_more() -> None:
    """Once the shoe is empty the turn is over with it (FRC p. 16; E17)."""
    position = frc("hand 0: extra_tank stop", "hand 1: stop", "hand 2: stop", players=3).draw_pile(0)
    position.do("play extra_tank")
    assert (position.seat, position.hand_of(0), position.laid(0)) == (1, ["stop"], {"extra_tank": 1})


def test_a_safety_that_draws_the_last_card_gives_a_second_play() -> None:
    """The shoe was not empty when it was laid (FRC p. 16; E18)."""
    position = frc("hand 0: extra_tank stop", "hand 1: stop").draw_pile(1).do("play extra_tank")
    assert (position.seat, position.pile_size, position.hand_sizes()[0]) == (0, 0, 2)


@each(
    ("players", "responder", "follows", "next_seat"),
    [(3, 2, 0, 1), (3, 2, 1, 0), (3, 1, 0, 1), (4, 3, 0, 1), (4, 3, 1, 0), (6, 4, 0, 1), (6, 4, 1, 5)],
)
def test_a_coup_fourre_is_still_allowed_but_gives_no_turn(
    players: int, responder: int, follows: int, next_seat: int
) -> None:
    """100 and 300, the hazard undone, and the turn goes to the left of the attacker (FRC p. 16; E15, E16).

    As an option to the left of who answered, as the sentence about the extra turn would have it.
    """
    position = frc(players=players, turn_follows_claim_when_empty=follows).draw_pile(0)
    team = responder % position.rules.teams
    for seat in range(players):
        position.hand(seat, "gasoline" if seat % 2 else "repairs")
    position.battle(team, "roll").hand(0, "flat_tire", "repairs").hand(responder, "puncture_proof", "roll")
    position.do(f"play flat_tire against team {team}", "claim")
    assert (position.seat, position.hand_of(responder)) == (next_seat, ["roll"])
    assert (position.coups(team), position.battle_top(team)) == (["puncture_proof"], "roll")
    position.run_out()
    assert position.sheet(team) == {"safeties": 100, "coups_fourres": 300}


def test_an_attacker_without_cards_is_followed_by_his_left_neighbour_too() -> None:
    """Also if the responder has none left either (E16, E20, E50)."""
    position = frc("battle 2: roll", "hand 0: flat_tire", "hand 1: stop", "hand 2: puncture_proof", players=3)
    position.draw_pile(0).do("play flat_tire against team 2", "claim")
    assert (position.seat, position.hand_sizes()) == (1, [0, 1, 0])
    assert position.do("discard stop").phase == "round over"


# Points ---------------------------------------------------------------------------------------------------


def test_all_four_safeties_are_700_instead_of_400() -> None:
    """Coups fourrés come on top (FRC scoring; rules 1.5)."""
    position = frc(players=4).safety(1, *SAFETIES[:3]).safety(1, SAFETIES[3], coup=True).run_out()
    assert position.points() == [0, 700 + 300]


@each(
    ("km", "points"),
    [
        ((300, 200, 0), (300 + 500, 200 + 500, 0)),
        ((300, 0, 0), (300 + 1000, 0, 0)),
        ((0, 0, 0), (0, 0, 0)),
        ((300, 200, 25), (300, 200, 25)),
    ],
)
@each("players", [3, 6])
def test_capot_without_a_winner(players: int, km: tuple[int, ...], points: tuple[int, ...]) -> None:
    """Each adversary of a blank side who is placed gets 500 (rules 1.5; E42, E43)."""
    assert kms(frc(players=players), km).run_out().points() == list(points)


def test_capot_of_both_opponents() -> None:
    """Paid for each of them: 700 + 400 + 1000, with a 200 laid (rules 1.5; E42)."""
    assert frc(players=3).km(0, 200, two_hundreds=1).finish_trip(0).points() == [2100, 0, 0]


@each("players", [3, 6])
def test_capot_and_a_failed_extension(players: int) -> None:
    """The blank third takes no capot money but its 200; the placed ones get 500 each for it.

    Source: FRC p. 18; E43, E47. The check of scenario 58 in rules 3: A has called, B is placed, C is blank.
    """
    position = (
        kms(frc(players=players).extended_by(0), (900, 300, 0)).safety(2, "extra_tank", coup=True).run_out()
    )
    assert position.points() == [900 + 500, 300 + 500 + 200, 200 + 100 + 300]


def test_couronnement() -> None:
    """300 for the trip completed after the shoe is empty (rules 1.5; E37)."""
    for pile, points in ((0, 300), (1, 0)):
        position = frc(players=4).km(1, 25).draw_pile(pile).finish_trip(0)
        assert position.sheet(0).get("delayed_action", 0) == points


def test_another_total_may_be_agreed() -> None:
    """5,000 generally, others allowed: an option (rules 1.5)."""
    position = frc(goal=3000)
    position.state.score[0] = 2900
    assert kms(position, (100, 25)).run_out().match_winner() == 0
    assert frc().rules.goal == 5000
